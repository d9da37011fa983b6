"""Entries dropped, swapped, repeated and replayed by whoever has the log's keys: the tree is made right for them.

Nodes, tiles and checkpoint are what the entries give; no request is signed again, since people's keys are not the
log's. It is done to the published register, which takes anything; the database itself refuses a nonce that it has.
"""

from __future__ import annotations

import shutil
from functools import partial
from typing import TYPE_CHECKING

import pytest
from tests.tampering.forging import Forger, History
from tests.tampering.life import ENTRIES, entries_of
from tests.tampering.test_register import audited

from lacre import api
from lacre.audit.heads import Memory
from lacre.rules.record import Result, parse_entry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.tampering.forging import Predicate
    from tests.tampering.life import Life
    from tests.tampering.tally import Tally
    from tests.tampering.trees import Files

    from lacre.audit.report import AuditReport

LATE = range(ENTRIES - 1, ENTRIES + 2)


@pytest.fixture(scope="module")
def foreign(forger: Forger) -> list[bytes]:
    """Another ledger, of the same people with the same keys, that lived the same life."""

    def elsewhere(index: int, predicate: Predicate) -> None:
        if index == 0:
            predicate["time"] = "2020-01-01T00:00:00.000000Z"

    return forger.rewritten(elsewhere).datas


@pytest.fixture(scope="module")
def forked(life: Life, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, list[bytes]]:
    """A copy of the ledger as it was some entries ago, that went on by itself: where, and its entries."""
    moment = life.moments[-3]
    folder = tmp_path_factory.mktemp("fork")
    shutil.copytree(life.root, folder / ".lacre")
    shutil.copyfile(moment.database, folder / ".lacre" / "ledger.db")
    with api.open(folder, state=folder / "state") as ledger:
        for number in range(ENTRIES - moment.size):
            if number == 2:
                ledger.rotate("broker")
            else:
                ledger.deviate(("beta", "alpha")[number % 2], f"elsewhere {number}")
    return moment.size, entries_of(folder / ".lacre" / "ledger.db")


class Log:
    """Puts other entries into the register, whose documents are all there."""

    def __init__(self, register: Files, life: Life) -> None:
        self.register = {path: data for path, data in register.items() if not path.startswith("tile/")}
        self._keys = life.keys
        self._signers = History(life.datas, life.keys).signers()

    def audit(self, datas: Sequence[bytes], memories: Sequence[Memory] = ()) -> AuditReport:
        files = History(list(datas), self._keys).files(self._signers)
        return audited({**self.register, **files}, memories)


@pytest.fixture(scope="module")
def log(register: Files, life: Life) -> Log:
    return Log(register, life)


def is_result(data: bytes) -> bool:
    return isinstance(parse_entry(0, data).content, Result)


def test_every_entry_dropped_and_the_rest_numbered_anew(log: Log, life: Life, tally: Tally) -> None:
    """But for the last: without it the ledger is an older copy of itself, which is for memories to find."""
    for index in range(1, ENTRIES - 1):
        datas = [*life.datas[:index], *life.datas[index + 1 :]]
        tally.judge(f"without {index}", partial(log.audit, datas), entries=range(index, ENTRIES))


def test_every_entry_swapped_with_the_next(log: Log, life: Life, tally: Tally) -> None:
    for index in range(1, ENTRIES - 1):
        swapped = [life.datas[index + 1], life.datas[index]]
        datas = [*life.datas[:index], *swapped, *life.datas[index + 2 :]]
        tally.judge(f"{index} and the next", partial(log.audit, datas), entries=range(index, ENTRIES))


def test_every_entry_repeated_after_itself_and_at_the_end(log: Log, life: Life, tally: Tally) -> None:
    for index in range(ENTRIES):
        tally.judge(
            f"{index} at the end",
            partial(log.audit, [*life.datas, life.datas[index]]),
            entries={ENTRIES},
            codes=() if is_result(life.datas[index]) or not index else {"nonce-repeated"},
        )
        if index % 3 == 0 and index:
            tally.judge(
                f"{index} twice",
                partial(log.audit, [*life.datas[: index + 1], *life.datas[index:]]),
                entries={index + 1},
            )


def test_every_entry_of_another_ledger(log: Log, life: Life, foreign: list[bytes], tally: Tally) -> None:
    """In the place of this ledger's own, and at the end. A result names no ledger, and the same read of the same
    study gave the very same bytes there: put in its own place, that is no change at all."""
    same = log.audit(life.datas)
    assert same.ok
    for index in range(1, ENTRIES):
        if foreign[index] == life.datas[index]:
            assert is_result(life.datas[index])
            tally.unchanged(f"{index} in its place", log.audit([*life.datas[:index], *foreign[index:index + 1],
                                                                *life.datas[index + 1 :]]), same)  # fmt: skip
        else:
            tally.judge(
                f"{index} in its place",
                partial(log.audit, [*life.datas[:index], foreign[index], *life.datas[index + 1 :]]),
                entries={index},
                codes={"request-foreign"},
            )
        tally.judge(
            f"{index} at the end",
            partial(log.audit, [*life.datas, foreign[index]]),
            entries={ENTRIES},
        )
    tally.judge(
        "its genesis",
        lambda: log.audit([foreign[0], *life.datas[1:]]),
        entries={1},
        codes={"request-foreign"},
    )
    tally.judge(
        "its genesis at the end",
        lambda: log.audit([*life.datas, foreign[0]]),
        entries={ENTRIES},
        codes={"genesis-repeated"},
    )


def test_every_entry_of_a_fork(log: Log, life: Life, forked: tuple[int, list[bytes]], tally: Tally) -> None:
    """In the place of this ledger's own, with what follows of either, and at the end."""
    size, others = forked
    assert others[:size] == life.datas[:size]
    for index in range(size, ENTRIES):
        later = range(index, ENTRIES)
        if index < ENTRIES - 1:
            datas = [*life.datas[:index], others[index], *life.datas[index + 1 :]]
            tally.judge(f"{index} in its place", partial(log.audit, datas), entries=later)
        tally.judge(
            f"{index} at the end",
            partial(log.audit, [*life.datas, others[index]]),
            entries={ENTRIES},
        )
        if index > size:
            tally.judge(
                f"the fork from {index} on",
                partial(log.audit, [*life.datas[:index], *others[index:]]),
                entries=later,
            )


def test_what_was_asked_on_the_common_history_may_be_granted_in_either_fork(
    log: Log, life: Life, tmp_path: Path, tally: Tally
) -> None:
    """A request is bound to what its signer had seen, and to its study's last entry. An owner who asked for a key to
    be enrolled asked it of every history that goes on from there: whoever keeps the log can grant it in one, and in
    the other. Neither history is false by itself; that there are two is for memories to find."""
    size = life.moments[-3].size
    shutil.copytree(life.root, tmp_path / "fork" / ".lacre")
    shutil.copyfile(life.moments[-3].database, tmp_path / "fork" / ".lacre" / "ledger.db")
    with api.open(tmp_path / "fork", state=tmp_path / "state") as ledger:
        ledger.enrol(api.new_key(tmp_path / "key.pem").public, "registrant", name="Eva")
    granted = entries_of(tmp_path / "fork" / ".lacre" / "ledger.db")[size]
    # What is there of documents is of the longer history; of what is signed, nothing is found.
    found = {each.code for each in log.audit([*life.datas[:size], granted]).findings}
    assert found <= {"document-missing", "document-unnamed", "file-unknown"}
    kept = Memory.parse("kept", Forger(life.datas, life.keys).history().receipt(size, size + 1))
    tally.judge(
        "granted", lambda: log.audit([*life.datas[:size], granted], [kept]), codes={"memory-rewritten"}
    )
