"""The law replayed: on what stood before each entry, `decide` must come to the decision the entry records."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from lacre.audit.findings import Noted, finding, warned
from lacre.audit.results import check_place
from lacre.errors import LacreError, LawError, RecordInvalid
from lacre.rules.answers import Decision
from lacre.rules.decide import decide
from lacre.rules.history import ReadMade
from lacre.rules.record import Answered, Recorded, Result
from lacre.rules.state import CorpusState, PoolState, Protocols, State, StudyState, step

_REFUSED = frozenset({"law-broken", "out-of-place"})
"""What is found where the law gives no decision at all."""


@dataclass(slots=True)
class Line:
    """One study as it was followed so far.

    `lost` is the entry because of which its state is no longer known, if there is one.
    """

    slug: str
    state: StudyState | None = None
    last: int | None = None
    lost: int | None = None


class Law:
    """Follows the studies of a ledger, each from entry to entry, in log order."""

    def __init__(self, protocols: Protocols) -> None:
        self.ledger = State(protocols)
        self.lines: dict[str, Line] = {}
        self.unread: set[int] = set()
        self.left_out: set[int] = set()

    def begin(self, genesis: Recorded) -> None:
        """Take the genesis: the ledger's identity and its first keys."""
        self.ledger = step(self.ledger, genesis)

    def pass_over(self, index: int) -> None:
        """Take note of an entry that cannot be read: whichever study it belongs to is lost with it."""
        self.unread.add(index)

    def leave_out(self, index: int) -> None:
        """Take note of an entry that this copy of the log does not show."""
        self.left_out.add(index)

    def line(self, study: str) -> Line:
        """Return the study as it was followed so far."""
        return self.lines.setdefault(study, Line(study))

    def read_of(self, result: Result) -> tuple[PoolState | CorpusState, ReadMade] | None:
        """Return the read a result names, where it is known."""
        line = self.line(result.study)
        return line.state.read_at(result.read) if line.state is not None and line.lost is None else None

    def follow(self, recorded: Recorded, study: str, *, judge: bool = True) -> Iterator[Noted]:
        """Follow `study` to its next entry; with `judge` false, only along the chain of its entries."""
        line = self.line(study)
        yield from self._check_previous(line, recorded)
        if judge and line.lost is None:
            yield from self._replay(line, recorded)
        line.last = recorded.index

    def follow_ledger(self, recorded: Recorded) -> Iterator[Noted]:
        """Follow an entry of no study: all studies are judged by the keys as they are after it."""
        if not isinstance(recorded.content, Answered):
            return
        if recorded.content.previous is not None:
            stated = _told(recorded.content.previous)
            yield finding("previous-wrong", recorded.index, stated=stated, expected=_told(None))
        judged, noted = _judge(replace(self.ledger, next_index=recorded.index), recorded, recorded.content)
        yield from noted
        if judged is None or any(each.code in _REFUSED for each in noted):
            return  # a key that the law refuses is not enrolled, whatever the entry says
        self.ledger = step(self.ledger, judged)

    def _check_previous(self, line: Line, recorded: Recorded) -> Iterator[Noted]:
        stated = None if not isinstance(recorded.content, Answered | Result) else recorded.content.previous
        if stated == line.last:
            return
        # A later entry of the study than the last that was read, which cannot be read itself, came between.
        last = -1 if line.last is None else line.last
        if stated is not None and stated > last and stated in self.unread:
            yield from self._lose(line, recorded, stated)
            return
        if stated is not None and stated > last and stated in self.left_out:
            yield finding("entry-redacted", recorded.index, index=stated)
            yield from self._lose(line, recorded, stated)
            return
        yield finding("previous-wrong", recorded.index, stated=_told(stated), expected=_told(line.last))

    def _lose(self, line: Line, recorded: Recorded, cause: int) -> Iterator[Noted]:
        if line.lost is None:
            line.lost = cause
            yield warned("law-not-replayed", recorded.index, study=line.slug, cause=cause)

    def _replay(self, line: Line, recorded: Recorded) -> Iterator[Noted]:
        state = replace(self.ledger, study=line.state, next_index=recorded.index, last=line.last)
        refused = False
        if isinstance(recorded.content, Answered):
            judged, noted = _judge(state, recorded, recorded.content)
            yield from noted
            if judged is None:
                yield from self._lose(line, recorded, recorded.index)
                return
            refused = bool(noted)
            recorded = judged
        else:
            yield from self._judge_result(recorded)
        try:
            line.state = step(state, recorded).study
        except LacreError as error:
            if not refused:
                yield finding("out-of-place", recorded.index, why=error.fields.get("why", error.message))
            if line.state is None:
                yield from self._lose(line, recorded, recorded.index)

    def _judge_result(self, recorded: Recorded) -> Iterator[Noted]:
        if isinstance(recorded.content, Result):
            found = self.read_of(recorded.content)
            if found is not None:
                yield from check_place(recorded, recorded.content, *found)


def _judge(state: State, recorded: Recorded, content: Answered) -> tuple[Recorded | None, list[Noted]]:
    """Decide again. Returns the entry as the law has it, or None where there is no protocol to judge by.

    Where the law refuses, the entry goes on as recorded, so that what follows from it is not found again and
    again; where it decides otherwise, as the law has it.
    """
    try:
        decision = decide(state, content.request, content.by, content.facts)
    except LawError as error:
        return recorded, [
            finding("law-broken", recorded.index, rule=error.rule, law=error.code, why=error.message)
        ]
    except RecordInvalid as error:
        return recorded, [finding("out-of-place", recorded.index, why=error.fields["why"])]
    except LacreError:
        return None, []
    if decision == content.decision:
        return recorded, []
    told = _differences(decision, content.decision)
    return (
        replace(recorded, content=replace(content, decision=decision)),
        [finding("decision-differs", recorded.index, differences=told)],
    )


def _differences(lawful: Decision, stated: Decision) -> str:
    law, said = lawful.as_json(), stated.as_json()
    return ", ".join(
        f"{key}: {_told(law.get(key))} (recorded: {_told(said.get(key))})"
        for key in sorted(law.keys() | said.keys())
        if law.get(key) != said.get(key)
    )


def _told(value: Any) -> str:
    return "-" if value is None else str(value)
