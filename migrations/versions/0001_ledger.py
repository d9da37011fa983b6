"""The ledger: entries, the tree's nodes, documents, and the latest checkpoint.

Revision: 0001, the first.

The triggers stop accidents; what proves the history is the tree and its checkpoints. `INSERT OR REPLACE`
deletes the row in its way without asking a DELETE trigger (unless `recursive_triggers` is on, which another
program need not know), so the triggers before an INSERT look for that row themselves.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_tables()
    make_indexes()
    keep("entries")
    keep("nodes")
    keep("documents")
    refuse(
        "entries_in_order",
        "INSERT ON entries",
        'NEW."index" IS NOT (SELECT coalesce(max("index") + 1, 0) FROM entries)',
        "an entry follows the last one",
    )
    refuse(
        "entries_nonce_once",
        "INSERT ON entries",
        "EXISTS (SELECT 1 FROM entries WHERE nonce = NEW.nonce)",
        "a nonce is used once",
    )
    refuse(
        "entries_teste_once",
        "INSERT ON entries",
        "NEW.kind = 'read' AND NEW.read_class = 'teste' AND NEW.finishes IS NULL"
        " AND EXISTS (SELECT 1 FROM entries WHERE study = NEW.study AND pool = NEW.pool"
        " AND kind = 'read' AND read_class = 'teste' AND finishes IS NULL)",
        "a pool has one first read",
    )
    refuse(
        "nodes_once",
        "INSERT ON nodes",
        "EXISTS (SELECT 1 FROM nodes WHERE level = NEW.level AND position = NEW.position)",
        "a node is written once",
    )
    refuse(
        "documents_once",
        "INSERT ON documents",
        "EXISTS (SELECT 1 FROM documents WHERE digest = NEW.digest)",
        "a document is written once",
    )
    refuse(
        "checkpoint_once",
        "INSERT ON checkpoint",
        "EXISTS (SELECT 1 FROM checkpoint)",
        "there is one checkpoint",
    )
    refuse("checkpoint_grows", "UPDATE ON checkpoint", "NEW.size <= OLD.size", "a checkpoint only grows")
    refuse("checkpoint_stays", "DELETE ON checkpoint", "1", "the checkpoint stays")
    op.execute("PRAGMA application_id = 1818321778")


def make_tables() -> None:
    op.create_table(
        "entries",
        sa.Column(
            "index", sa.Integer, sa.CheckConstraint('"index" >= 0'), primary_key=True, autoincrement=False
        ),
        sa.Column("envelope", sa.LargeBinary, nullable=False),
        sa.Column("leaf_hash", sa.LargeBinary, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("time", sa.Text, nullable=False),
        sa.Column("study", sa.Text),
        sa.Column("pool", sa.Text),
        sa.Column("read_class", sa.Text),
        sa.Column("previous", sa.Integer),
        sa.Column("nonce", sa.Text),
        sa.Column("finishes", sa.Integer),
        sqlite_strict=True,
    )
    op.create_table(
        "nodes",
        sa.Column(
            "level", sa.Integer, sa.CheckConstraint("level >= 1"), primary_key=True, autoincrement=False
        ),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("hash", sa.LargeBinary, nullable=False),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "documents",
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("media", sa.Text, nullable=False),
        sa.Column("salt", sa.LargeBinary),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "checkpoint",
        sa.Column("id", sa.Integer, sa.CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("note", sa.LargeBinary, nullable=False),
        sqlite_strict=True,
    )


def make_indexes() -> None:
    op.create_index("entries_study", "entries", ["study", "index"])
    op.create_index("entries_keys", "entries", ["kind"], sqlite_where=sa.text("kind IN ('genesis', 'key')"))
    op.create_index("entries_nonce", "entries", ["nonce"], unique=True)
    first_read = sa.text("kind = 'read' AND read_class = 'teste' AND finishes IS NULL")
    op.create_index("entries_teste", "entries", ["study", "pool"], unique=True, sqlite_where=first_read)


def keep(table: str) -> None:
    refuse(f"{table}_unchanged", f"UPDATE ON {table}", "1", f"{table} do not change")
    refuse(f"{table}_undeleted", f"DELETE ON {table}", "1", f"{table} are not deleted")


def refuse(name: str, what: str, when: str, why: str) -> None:
    said = f"{name}, {why}"
    op.execute(f"CREATE TRIGGER {name} BEFORE {what} WHEN {when} BEGIN SELECT RAISE(ABORT, '{said}'); END")
