"""A process that writes to a ledger, for the tests of races and crashes: worker.py FOLDER VERB NAME COUNT.

It says each entry's index once the entry is committed and remembered.
"""

import sys
import time
from pathlib import Path

from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.keys import PrivateKey
from lacre.store.engine import open_ledger
from lacre.store.memory import Memory
from lacre.store.reader import Columns, Reader
from lacre.store.writer import Writer

KEY = PrivateKey.from_seed(bytes(range(32)))


def sign(ledger: Reader) -> bytes:
    checkpoint = Checkpoint("lacre/test", ledger.size, ledger.root_at(ledger.size))
    return SignedCheckpoint.sign(checkpoint, [KEY]).note


def append(writer: Writer, memory: Memory, folder: Path, name: str, count: int) -> None:
    """Append entries one by one, and look at the ledger after each as an audit does."""
    engine = open_ledger(folder / "ledger.db")
    for turn in range(count):
        with writer.transaction() as tx:
            added = tx.append(f"{name} {turn}".encode(), Columns(kind="seal", time="t", study=name))
        growth = tx.growth()
        assert growth is not None
        memory.advance(engine, growth)
        print(added.index, flush=True)
        with memory.snapshot(engine) as reader:
            assert reader.entry(added.index).envelope == f"{name} {turn}".encode()


def hang(writer: Writer, name: str, count: int) -> None:
    """Write more than SQLite keeps in memory, so that the file itself is changed, and never commit."""
    with writer.transaction() as tx:
        for turn in range(count):
            tx.append(f"{name} {turn}".encode().ljust(60_000), Columns(kind="seal", time="t"))
        print("written", flush=True)
        time.sleep(60)


def recover(writer: Writer, memory: Memory, genesis: str) -> None:
    """Append what is remembered of a ledger beyond its end."""
    with memory.kept(genesis) as kept, writer.recovery(kept.known) as tx:
        print("begun", flush=True)
        for index, envelope in enumerate(kept.entries(tx.size), tx.size):
            tx.append(envelope, Columns(kind="seal", time="t", study="s", nonce=f"nonce-s-{index}"))


def main(place: str, verb: str, name: str, count: str) -> None:
    folder = Path(place)
    memory = Memory(folder / "state")
    writer = Writer(open_ledger(folder / "ledger.db"), sign, memory)
    if verb == "append":
        append(writer, memory, folder, name, int(count))
    elif verb == "recover":
        recover(writer, memory, name)
    else:
        hang(writer, name, int(count))


if __name__ == "__main__":
    main(*sys.argv[1:])
