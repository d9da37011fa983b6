"""Two processes on one study: whatever the other does between what one found and what it writes, the law holds.

For each ordered pair of writing verbs the first is stopped right before its write transaction, where all that it
found and signed is already old; the second runs whole; then the first goes on. The second cannot tell that there is
another, and succeeds. The first is decided on within its transaction: it is refused, and leaves nothing, or it is as
the law has it on what stands by then, which the audit derives again. What the law cannot derive again, the facts that
were found outside the ledger, have pairs of their own (`FACTS`).

A verb to come joins by a line in `VERBS`.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest
from tests.secrets.canaries import CANARY

from lacre.store.memory import Memory
from lacre.store.writer import Writer

Shell = Any
Document = dict[str, Any]


class Verb(NamedTuple):
    """What is typed, and whether of a study whose `teste` was read, of one where it was not, or of either."""

    line: str
    read: bool | None = None


VERBS = {
    "reveal": Verb("reveal small --submission predictions.csv", read=False),
    "reveal-dev": Verb("reveal small --submission predictions.csv --accept-dev"),
    "run": Verb("run small rehearsal --submission dev-predictions.csv"),
    "inputs": Verb("inputs small teste -o inputs-{turn}.csv"),
    "seal": Verb("seal small contraste contraste.csv"),
    "replace": Verb("seal small teste others.csv --replace --reason again", read=False),
    "rewrap": Verb("rewrap small teste --recipient {custodian} --recipient {own}"),
    "amend": Verb("amend amended.yaml --reason again --yes --accept-burn"),
    "deviate": Verb("deviate small words"),
    "withdraw": Verb("withdraw small --reason over --yes"),
    "erratum": Verb("erratum small@{result} corrected.csv --reason swapped", read=True),
    "erase": Verb("erase @0 --which name --yes", read=False),
    "rotate-broker": Verb("key rotate broker", read=False),
    "rotate-person": Verb("key rotate person", read=False),
    "rotate-log": Verb("key rotate log", read=False),
    "register": Verb("register other.yaml", read=False),
}
"""What writes to one study, or to the ledger that it is in."""

PAIRS = [
    (read, first) for read in (False, True) for first, verb in VERBS.items() if verb.read in (None, read)
]
BROKEN = {
    "internal",
    "not-remembered",
    "ledger-rolled-back",
    "ledger-forked",
    "nonce-repeated",
    "read-unfinished",
}
"""What no other process's doing is to bring about."""

FACTS = {
    "shared-with-a-seal": (
        [],
        "seal small contraste contraste.csv",
        "seal small guarda contraste.csv",
        "shared-cases",
    ),
    "exposed-before-the-seal": (
        ["register other.yaml"],
        "seal other teste dev.csv",
        "run small rehearsal --submission dev-predictions.csv",
        "shared-cases",
    ),
    "exposed-before-the-reveal": (
        ["register other.yaml", "seal other teste contraste.csv", "seal small contraste contraste.csv"],
        "reveal other --submission contraste-predictions.csv --accept-exposure",
        "run small rehearsal --pool contraste --submission contraste-predictions.csv --accept-exposure",
        "shared-cases",
    ),
    "sealed-before-the-read": (
        ["register other.yaml", "seal small contraste contraste.csv"],
        "run small rehearsal --pool contraste --submission contraste-predictions.csv",
        "seal other teste contraste.csv",
        "exposes-sealed-pool",
    ),
}
"""What went before, two lines that are each granted alone, and how the first is refused since the other came first."""


class Prepared(NamedTuple):
    """A ledger to be copied, and what the lines of the table name."""

    shell: Shell
    named: dict[str, str]
    entries: int

    def copy(self, to: Path) -> Shell:
        """Copy the ledger with its machine's memory."""
        shutil.copytree(self.shell.folder.parent, to)
        return replace(
            self.shell,
            folder=to / "work",
            environment={**self.shell.environment, "XDG_STATE_HOME": str(to / "state")},
        )

    def words(self, verb: str, turn: int) -> Sequence[str]:
        return [*VERBS[verb].line.format(turn=turn, **self.named).split(), "--json"]


@pytest.fixture(scope="module")
def prepared(shells: Callable[[], Shell]) -> dict[bool, Prepared]:
    """The same study before and after the one reveal."""
    return {read: _prepare(shells(), read=read) for read in (False, True)}


def _prepare(shell: Shell, *, read: bool) -> Prepared:
    shell.write_small()
    protocol = shell.folder / "protocol.yaml"
    before, analyses = protocol.read_text().split("analyses:")
    more = (
        "dev: {tables: [cases]}",
        "contraste: {tables: [cases]}",
        "guarda: {tables: [cases], max_reads: 3}",
    )
    pools = before.replace("  teste: {", "".join(f"  {each}\n" for each in more) + "  teste: {")
    plan = f"{pools}analyses:{analyses}{analyses.replace('parity', 'rehearsal').replace('teste', 'dev')}"
    protocol.write_text(plan)
    (shell.folder / "amended.yaml").write_text(plan.replace("max_group_gap: 0.5", "max_group_gap: 0.4"))
    shell.write_other("other")
    for name in ("dev", "contraste", "others"):
        shell.write_cases(name)
    predictions = (shell.folder / "predictions.csv").read_text()
    for pool in ("dev", "contraste"):
        own = predictions.replace("\n", f"\n{pool}-").removesuffix(f"{pool}-")
        (shell.folder / f"{pool}-predictions.csv").write_text(own)
    cases = (shell.folder / "cases.csv").read_text()
    (shell.folder / "corrected.csv").write_text(
        cases.replace(f"3,3,{CANARY},1,female", f"3,3,{CANARY},0,female")
    )
    shell.json("init")
    shell.json("register", "protocol.yaml")
    shell.json("seal", "small", "teste", "cases.csv")
    shell.json("seal", "small", "dev", "dev.csv")
    named = {
        "custodian": shell.json("key", "new", "custodian.txt", "--identity")["recipient"],
        "own": shell.json("show", "small")["pools"]["teste"]["recipients"][0],
        "result": "",
    }
    if read:
        result = shell.json("reveal", "small", "--submission", "predictions.csv")["result"]
        named["result"] = result.partition("@")[2]
    return Prepared(shell, named, _sound(shell))


BEFORE_IT_WRITES = (Writer, "transaction")
BEFORE_IT_REMEMBERS = (Memory, "advance")


@contextmanager
def stopped(place: tuple[type, str], act: Callable[[], None]) -> Iterator[None]:
    """Have the next call of a method wait until `act` is done."""
    left = [act]
    go_on = getattr(*place)

    def wait(*given: Any) -> Any:
        if left:
            left.pop()()
        return go_on(*given)

    with mock.patch.object(*place, wait):
        yield
    assert not left, "there was nothing to stop"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("read", "first"), PAIRS, ids=[f"{name}-{'read' if r else 'unread'}" for r, name in PAIRS]
)
def test_what_another_did_meanwhile_is_met_in_the_transaction(
    prepared: dict[bool, Prepared], tmp_path: Path, read: bool, first: str
) -> None:
    ready = prepared[read]
    for second in (name for state, name in PAIRS if state == read):
        shell = ready.copy(tmp_path / f"after-{second}")
        ran = interleaved(shell, ready.words(first, 1), ready.words(second, 2))
        written = [_written(*each) for each in zip((first, second), ran, strict=True)]
        assert written[1], (second, ran[1].out)
        assert _sound(shell) == ready.entries + sum(written)


@pytest.mark.parametrize("pair", FACTS)
def test_facts_that_grew_old_are_gathered_again(
    prepared: dict[bool, Prepared], tmp_path: Path, pair: str
) -> None:
    """Rule 12 on what another seal or read changed since this one's overlaps were found."""
    before, first, second, code = FACTS[pair]
    shell = prepared[False].copy(tmp_path / "met")
    for line in before:
        shell.json(*line.split())
    alone = Prepared(shell, {}, 0).copy(tmp_path / "alone")
    assert "error" not in alone.lacre(*first.split(), "--json").document, (
        "there is nothing against it by itself"
    )
    met = interleaved(shell, [*first.split(), "--json"], [*second.split(), "--json"])
    assert met[0].document["error"]["code"] == code
    assert _written(second, met[1])
    _sound(shell)


@pytest.mark.parametrize(
    ("read", "first"), PAIRS, ids=[f"{name}-{'read' if r else 'unread'}" for r, name in PAIRS]
)
def test_a_memory_that_is_late_takes_nothing_back(
    prepared: dict[bool, Prepared], tmp_path: Path, read: bool, first: str
) -> None:
    """The first has committed, and remembers that after the second committed and remembered: the largest wins."""
    ready = prepared[read]
    for second in ("deviate", "amend") if read else ("deviate", "erase"):
        shell = ready.copy(tmp_path / f"after-{second}")
        ran = interleaved(shell, ready.words(first, 1), ready.words(second, 2), BEFORE_IT_REMEMBERS)
        written = [_written(*each) for each in zip((first, second), ran, strict=True)]
        assert written[0], (second, ran[0].out)
        assert _sound(shell) == ready.entries + sum(written)


def interleaved(
    shell: Shell, first: Sequence[str], second: Sequence[str], place: tuple[type, str] = BEFORE_IT_WRITES
) -> tuple[Any, Any]:
    """Call the first, and the second while the first stands where it writes, or remembers what it wrote."""
    ran: list[Any] = []
    with stopped(place, lambda: ran.append(shell.lacre(*second))):
        ran.append(shell.lacre(*first))
    return ran[1], ran[0]


def _written(verb: str, ran: Any) -> int:
    """How many entries a call made."""
    assert ran.err == "", verb
    assert ran.status in {0, 1, 2, 3, 4}, (verb, ran.out)
    if "error" in ran.document:
        assert ran.document["error"]["code"] not in BROKEN, (verb, ran.out)
        return 0
    return 2 if "result" in ran.document else 1


def _sound(shell: Shell) -> int:
    """Audit a ledger and hold its memory against it; return the number of entries."""
    report = shell.json("audit")
    assert (report["ok"], report["findings"], report["warnings"]) == (True, [], [])
    (folder,) = (Path(shell.environment["XDG_STATE_HOME"]) / "lacre" / "ledgers").iterdir()
    known = Memory(folder.parents[1]).remembered(folder.name)
    assert known is not None
    assert (known.size, known.root.hex()) == (report["entries"], report["root"])
    return known.size
