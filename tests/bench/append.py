"""How long one more entry takes in a running process, beside bare SQLite commits of the same bytes.

The ledger has 10,000 entries in studies of twenty. An append is what follows on a signed request: the ledger is locked
and held against the machine's memory, the study folded, the law asked, entry and checkpoint signed, all of it
committed, and the memory flushed. Here the requests are for the inputs of a pool, twenty for one study after the
other. Bare SQLite is the standard library's driver with the same pragmas, on a copy of the same database: the rows
that an append wrote (the entry, its nodes of the tree, and the checkpoint), in one transaction of their own.

The second line is a whole verb, `deviate`, which also looks at the study and signs the request, and keeps a text.
"""

import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from tests.bench.ledgers import ENTRIES_A_STUDY, desk_at, make_ledger
from tests.bench.measured import Measured

from lacre.broker.desk import Desk, answered, put_on_record, sign_request
from lacre.broker.deviate import deviate
from lacre.broker.register import engine
from lacre.ledger.envelope import Envelope
from lacre.rules.answers import ReadFacts
from lacre.rules.record import parse_entry
from lacre.rules.requests import Deviate, Read
from lacre.store.engine import PRAGMAS

Rows = Sequence[tuple[str, Sequence[Any]]]

REMARK = "One more remark, about as long as remarks are."
BAR = 0.35


def run(entries: int = 10_000, appends: int = 300) -> list[Measured]:
    """Time each in turn with its peer, `appends` times, after one that is not counted; the medians are told."""
    with TemporaryDirectory() as place:
        folder, state, copy = (Path(place) / name for name in ("work", "state", "bare.db"))
        folder.mkdir()
        make_ledger(folder, state, entries)
        database = folder / ".lacre" / "ledger.db"
        shutil.copyfile(database, copy)
        desk, source, bare = desk_at(folder, state), _open(database), _open(copy)
        try:
            slugs = [f"study-{number // ENTRIES_A_STUDY:05d}" for number in range(appends + 1)]
            peer = f"SQLite {sqlite3.sqlite_version}: bare commits of the same bytes"
            found = []
            for name, bar, actions in (
                ("append", BAR, (_append(desk, slug) for slug in slugs)),
                ("the whole of `deviate`", None, (_deviate(desk, slug) for slug in slugs)),
            ):
                rate, bare_rate = _rates(actions, source, bare)
                label = f"{name}, at {entries:,} entries"
                found.append(Measured(label, "entries/s", rate, peer, bare_rate, rate / bare_rate, bar))
            return found
        finally:
            desk.engine.dispose()
            source.close()
            bare.close()


def _append(desk: Desk, slug: str) -> Callable[[], object]:
    study = desk.view(slug).study
    assert study is not None
    signed: Envelope = sign_request(
        desk, Read, purpose="inputs", study=slug, pool="teste", protocol=study.in_force.protocol_hash,
        ciphertext=study.pools["teste"].sealed.request.ciphertext,
    )  # fmt: skip
    facts = ReadFacts(engine=engine())
    return lambda: put_on_record(desk, slug, signed, facts)


def _deviate(desk: Desk, slug: str) -> Callable[[], object]:
    return lambda: deviate(desk, slug, REMARK)


def _rates(
    actions: Iterator[Callable[[], object]], source: sqlite3.Connection, bare: sqlite3.Connection
) -> tuple[float, float]:
    """How often in a second each action can be taken, and its rows be written by bare SQLite."""
    ours, theirs = [], []
    for action in actions:
        ours.append(_seconds(action))
        rows = _last_written(source)
        theirs.append(_seconds(lambda: _write(bare, rows)))  # noqa: B023 - called at once
    return 1 / median(ours[1:]), 1 / median(theirs[1:])


def _seconds(action: Callable[[], object]) -> float:
    started = perf_counter()
    action()
    return perf_counter() - started


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _last_written(source: sqlite3.Connection) -> Rows:
    """The statements, with their values, that write again what the last append wrote."""
    entry = source.execute('SELECT * FROM entries ORDER BY "index" DESC LIMIT 1').fetchone()
    made = parse_entry(entry[0], entry[1])
    rows = [(_insert("entries", entry), entry)]
    asked = answered(made).request
    if isinstance(asked, Deviate):
        document = source.execute("SELECT * FROM documents WHERE digest = ?", (asked.text,)).fetchone()
        rows.append((_insert("documents", document), document))
    # RFC 6962: an entry that makes the size a multiple of 2^level completes one node at that level.
    size = made.index + 1
    for level in range(1, size.bit_length()):
        if size % (1 << level) == 0:
            at = (level, (size >> level) - 1)
            node = source.execute("SELECT * FROM nodes WHERE level = ? AND position = ?", at).fetchone()
            rows.append((_insert("nodes", node), node))
    checkpoint = source.execute("SELECT size, note FROM checkpoint").fetchone()
    return [*rows, ("UPDATE checkpoint SET size = ?, note = ?", checkpoint)]


def _insert(table: str, values: Sequence[Any]) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})"


def _write(bare: sqlite3.Connection, rows: Rows) -> None:
    bare.execute("BEGIN IMMEDIATE")
    for statement, values in rows:
        bare.execute(statement, values)
    bare.execute("COMMIT")
