"""The tables of a ledger's database, as the code asks them; the migrations make them, with their triggers.

The signed envelopes are the record. Every other column of `entries`, every node and the checkpoint's size can
be derived from them, and the audit does.
"""

from sqlalchemy import CheckConstraint, Column, Index, Integer, LargeBinary, MetaData, Table, Text, text

SCHEMA = "0002"
"""The revision this code reads and writes: the head of the migrations. Revisions sort as text."""

APPLICATION_ID = 0x6C616372
"""`lacr`: what `PRAGMA application_id` holds in a ledger's database."""

KEY_KINDS = "kind IN ('genesis', 'key')"
"""The entries every fold reads. Written out, since SQLite uses a partial index only for its very words."""

metadata = MetaData()

entries = Table(
    "entries",
    metadata,
    Column("index", Integer, CheckConstraint('"index" >= 0'), primary_key=True, autoincrement=False),
    Column("envelope", LargeBinary, nullable=False),
    Column("leaf_hash", LargeBinary, nullable=False),
    Column("kind", Text, nullable=False),
    Column("time", Text, nullable=False),
    Column("study", Text),
    Column("pool", Text),
    Column("read_class", Text),
    Column("previous", Integer),
    Column("nonce", Text),
    Column("finishes", Integer),
    Column("erases", Text),
    Index("entries_study", "study", "index"),
    Index("entries_keys", "kind", sqlite_where=text(KEY_KINDS)),
    Index("entries_nonce", "nonce", unique=True),
    # Rule 6: whatever asks for a first read, and however often at once, meets this index.
    Index(
        "entries_teste",
        "study",
        "pool",
        unique=True,
        sqlite_where=text("kind = 'read' AND read_class = 'teste' AND finishes IS NULL"),
    ),
    Index("entries_erases", "erases", sqlite_where=text("erases IS NOT NULL")),
    sqlite_strict=True,
)

nodes = Table(
    "nodes",
    metadata,
    Column("level", Integer, CheckConstraint("level >= 1"), primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("hash", LargeBinary, nullable=False),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)

# Without a rowid, since INSERT OR REPLACE over a rowid would be one more way to overwrite a row.
documents = Table(
    "documents",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("media", Text, nullable=False),
    Column("salt", LargeBinary),
    Column("body", LargeBinary, nullable=False),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)

checkpoint = Table(
    "checkpoint",
    metadata,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    Column("size", Integer, nullable=False),
    Column("note", LargeBinary, nullable=False),
    sqlite_strict=True,
)
