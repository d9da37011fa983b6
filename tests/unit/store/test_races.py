"""Many processes at once, and processes that are killed: no entry lost, none torn, and no false alarm."""

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lacre.ledger import merkle
from lacre.store.engine import open_ledger
from lacre.store.memory import Memory
from lacre.store.reader import snapshot

if TYPE_CHECKING:
    from .conftest import Place

WORKER = Path(__file__).with_name("worker.py")


def start(folder: Path, verb: str, name: str, count: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, str(WORKER), str(folder), verb, name, str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def sound_entries(folder: Path) -> list[bytes]:
    """Return the envelopes of a ledger that extends its memory and has the nodes and checkpoint of them."""
    engine = open_ledger(folder / "ledger.db")
    with Memory(folder / "state").snapshot(engine) as reader:
        envelopes = [entry.envelope for entry in reader.entries()]
        note = reader.checkpoint() or b"\n0"
        assert reader.integrity() == ()
        assert reader.root_at(reader.size) == merkle.root(map(merkle.leaf_hash, envelopes))
        assert (len(envelopes), int(note.split(b"\n")[1])) == (reader.size, reader.size)
    engine.dispose()
    return envelopes


def test_eight_processes_append_at_once(place: "Place") -> None:
    place.append(b"genesis")
    workers = {f"w{number}": start(place.folder, "append", f"w{number}", 8) for number in range(8)}
    said = {name: worker.communicate() for name, worker in workers.items()}
    assert [errors for _output, errors in said.values()] == [b""] * 8
    envelopes = sound_entries(place.folder)
    assert sorted(envelopes) == sorted(
        [b"genesis"] + [f"{name} {turn}".encode() for name in said for turn in range(8)]
    )
    for name, (output, _errors) in said.items():
        assert [envelopes[int(index)] for index in output.split()] == [
            f"{name} {turn}".encode() for turn in range(8)
        ]
    known = place.memory.recall(place.engine)
    assert known is not None
    assert known.size == 65


def test_a_transaction_that_is_killed_was_never_there(place: "Place") -> None:
    """The file is changed, its journal beside it; whoever opens it next undoes that, a mere reader too."""
    place.append(b"genesis")
    before = place.path.stat().st_size
    with start(place.folder, "hang", "w", 60) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"written\n"
        worker.kill()
    journal = place.path.with_name("ledger.db-journal")
    assert journal.exists()
    assert place.path.stat().st_size > before
    with snapshot(place.engine) as reader:
        assert reader.size == 1
    assert not journal.exists()
    assert sound_entries(place.folder) == [b"genesis"]
    place.append(b"one")
    assert sound_entries(place.folder) == [b"genesis", b"one"]


@pytest.mark.parametrize("moment", [0.005, 0.02, 0.05])
def test_what_was_said_to_be_written_survives_a_kill(place: "Place", moment: float) -> None:
    place.append(b"genesis")
    with start(place.folder, "append", "w", 10_000) as worker:
        assert worker.stdout is not None
        said = worker.stdout.readline()
        time.sleep(moment)
        worker.kill()
        said += worker.stdout.read()
    envelopes = sound_entries(place.folder)
    acknowledged = said.count(b"\n")
    assert acknowledged >= 1
    assert envelopes[: acknowledged + 1] == [b"genesis"] + [
        f"w {turn}".encode() for turn in range(acknowledged)
    ]
    place.append(b"after")
    assert sound_entries(place.folder) == [*envelopes, b"after"]
