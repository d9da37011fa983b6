"""What an entry did, in one line of words."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from lacre.errors import printable
from lacre.report import words
from lacre.report.page import Cell, Column, Page, Row
from lacre.rules.record import Answered, Genesis, Recorded, Result
from lacre.rules.requests import (
    Read,
    ReadDecision,
    Register,
    Seal,
    SealDecision,
    SealFacts,
)
from lacre.text import N_, _, ngettext

EXPLORATORY: Mapping[str, str] = MappingProxyType(
    {
        "not-the-registered-pool": N_("not on the unread pool its analyses are registered for"),
        "later-submission": N_("not the first submission of its system"),
    }
)


def what(recorded: Recorded) -> str:
    """Say what the entry did; names and words of people are shown, never obeyed."""
    content = recorded.content
    if isinstance(content, Genesis):
        return _("began the ledger {origin}").format(origin=printable(content.origin))
    if isinstance(content, Result):
        standing = _("confirmatory") if content.confirmatory else _("not confirmatory")
        return _("result of entry {read}: {state}, {standing}").format(
            read=content.read, state=content.state, standing=standing
        )
    return _answer(content)


def by(recorded: Recorded) -> str | None:
    """Return the key that asked for the entry, or None where nobody did."""
    return recorded.content.by if isinstance(recorded.content, Answered) else None


def table(page: Page, entries: Sequence[Recorded], names: Mapping[str, str], *, studies: bool = True) -> None:
    """Write entries, one line each, with the study of each unless all are of one."""
    columns = [Column(_("entry"), right=True), Column(_("time (UTC)"))]
    columns += [Column(_("study"))] if studies else []
    columns += [Column(_("by"), wraps=True), Column(_("what"), wraps=True)]
    rows: list[Row] = []
    for recorded in entries:
        asked = by(recorded)
        row = [Cell(str(recorded.index), "bold"), Cell(words.moment(recorded.time))]
        row += [Cell(recorded.study or "")] if studies else []
        rows.append([*row, words.who(asked, names) if asked else "", what(recorded)])
    page.table(columns, rows)


def exploratory(codes: Sequence[str]) -> str:
    """Say why a read is exploratory."""
    return "; ".join(_(EXPLORATORY[code]) if code in EXPLORATORY else printable(code) for code in codes)


def _answer(content: Answered) -> str:
    request, decision = content.request, content.decision
    if isinstance(request, Register):
        return _("registered the protocol sha256:{digest}…").format(digest=words.short(request.protocol))
    if isinstance(request, Seal):
        assert isinstance(decision, SealDecision)
        assert isinstance(content.facts, SealFacts)
        return _seal(request, content.facts, decision)
    assert isinstance(decision, ReadDecision)
    return _read(request, decision)


def _seal(request: Seal, facts: SealFacts, decision: SealDecision) -> str:
    rows = sum(facts.rows.values())
    said = ngettext(
        "sealed {pool}: {rows} row as declared by the broker",
        "sealed {pool}: {rows} rows as declared by the broker",
        rows,
    ).format(pool=printable(request.pool), rows=rows)
    parts = [said, _("counts as {standing}").format(standing=printable(decision.standing))]
    if decision.shortfall:
        parts.append(_("fewer than planned"))
    return ", ".join(parts)


def _read(request: Read, decision: ReadDecision) -> str:
    pool = printable(request.pool)
    if request.purpose == "inputs":
        return _("handed out ids and inputs of {pool}, number {number}").format(
            pool=pool, number=decision.number
        )
    if request.finishes is not None:
        return _("went on with the read of {pool} at entry {entry}, which had crashed").format(
            pool=pool, entry=request.finishes
        )
    said = _("read {pool}, class {read_class}, number {number}").format(
        pool=pool, read_class=decision.read_class, number=decision.number
    )
    return _("{said}: makes {pool} dev").format(said=said, pool=pool) if decision.burns else said
