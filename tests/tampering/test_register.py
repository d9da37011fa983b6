"""Every file of a published register: changed, dropped, swapped, repeated, inserted, cut off, older, another's."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from tests.tampering.life import ENTRIES
from tests.tampering.trees import OPERATIONS, Tree
from tests.unit.publish.conftest import held

from lacre.audit.audit import audit
from lacre.audit.files import HeldFiles
from lacre.audit.heads import Memory
from lacre.audit.register import RegisterSource
from lacre.audit.report import AuditReport
from lacre.ledger.keys import PrivateKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.tampering.forging import Forger, Predicate
    from tests.tampering.life import Life
    from tests.tampering.tally import Tally
    from tests.tampering.trees import Files


def audited(files: Files, memories: Sequence[Memory] = ()) -> AuditReport:
    """Audit a register in memory."""
    return audit(RegisterSource(HeldFiles(files)), memories=memories)


def test_the_register_as_it_was_is_sound(register: Files, life: Life) -> None:
    report = audited(register)
    assert report.ok
    assert report.entries == ENTRIES
    assert {path.partition("/")[0] for path in register} == {
        "checkpoint",
        "tile",
        "documents",
        "alpha",
        "beta",
        "faces",
        "gamma",
        "judge",
    }
    assert len(register) > len(life.kinds()) * 3 / 4


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_file(register: Files, life: Life, tally: Tally, operation: str) -> None:
    tree = Tree(life, register)
    for path in sorted(register):
        for what, files, entries in tree.changed(path, operation):
            tally.judge(what, partial(audited, files), entries=entries)


def test_every_file_of_an_older_register(register: Files, life: Life, tally: Tally) -> None:
    """Put among the files of the newer one, in place of what is there or beside it.

    What a register once held and still hashes the same is a partial tile of then, which C2SP wants kept: with it
    the history is the same.
    """
    now = audited(register)
    for moment in life.moments[:-1]:
        older = held(moment.registry)
        for path, data in older.items():
            if register.get(path) == data:
                continue
            files = {**register, path: data}
            if path.startswith("tile/"):
                tally.unchanged(f"{path} of then", audited(files), now)
            else:
                tally.judge(f"{path} of {moment.size}", partial(audited, files))


def test_an_older_checkpoint_in_a_register_that_grew(
    register: Files, life: Life, forger: Forger, tally: Tally
) -> None:
    """A register that was extended holds the partial tiles of then. With the checkpoint of then it is the register
    of then, and an export under way: only a newer receipt shows that it was taken back."""
    grown: dict[str, bytes] = {}
    for moment in life.moments:
        grown |= {path: data for path, data in held(moment.registry).items() if path.startswith("tile/")}
    grown |= register
    tally.unchanged("grown", audited(grown), audited(register))
    history = forger.history()
    for moment in life.moments[:-1]:
        if moment.size < life.kinds().index("erase"):
            continue  # a text of then is gone, and an entry beyond its checkpoint says so
        taken_back = {**grown, "checkpoint": (moment.registry / "checkpoint").read_bytes()}
        assert audited(taken_back).ok
        for size in {moment.size + 1, ENTRIES}:
            kept = Memory.parse("kept", history.receipt(moment.size, size))
            tally.judge(
                f"checkpoint of {moment.size} against a receipt of {size}",
                partial(audited, taken_back, [kept]),
                entries={moment.size},
                codes={"memory-shrunk"},
            )


def test_every_file_of_another_ledger_and_of_a_fork(
    register: Files, life: Life, forger: Forger, tally: Tally
) -> None:
    """Signed with the very keys of this one."""

    def elsewhere(index: int, predicate: Predicate) -> None:
        if index == 0:
            predicate["time"] = "2020-01-01T00:00:00.000000Z"

    def fork(index: int, predicate: Predicate) -> None:
        if index == ENTRIES - 8:
            predicate["time"] = "2020-01-01T00:00:00.000000Z"

    for name, edit in (("another ledger", elsewhere), ("a fork", fork)):
        files = forger.rewritten(edit).files()
        assert audited({**register, **files}).ok
        for path, data in files.items():
            assert data != register[path]
            tally.judge(f"{path} of {name}", partial(audited, {**register, path: data}))


def test_checkpoints_signed_again(register: Files, life: Life, forger: Forger, tally: Tally) -> None:
    """By a key that is not enrolled, by each other one that is or was, and by one of the two it needs."""
    history = forger.history()
    needed = history.signers()
    assert len(needed) == 2
    every = [*forger.keys.values(), PrivateKey.from_seed(b"\x07" * 32)]
    for number, key in enumerate(every):
        files = {**register, "checkpoint": history.checkpoint(by=[key])}
        code = "checkpoint-half-signed" if key in needed else "checkpoint-invalid"
        tally.judge(f"key {number}", partial(audited, files), codes={code})
    both = {**register, "checkpoint": history.checkpoint(by=needed[::-1])}
    tally.unchanged("in the other order", audited(both), audited(register))
