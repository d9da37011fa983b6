"""What an entry did, in one line of words."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from lacre.errors import printable
from lacre.report import words
from lacre.report.page import Cell, Column, Page, Row
from lacre.rules.answers import (
    AmendDecision,
    CalibrateDecision,
    CalibrateFacts,
    CommitFacts,
    Decision,
    KeyDecision,
    PartFacts,
    ReadDecision,
    RebalanceDecision,
    RegisterFacts,
    RewrapDecision,
    SampleFacts,
    SealDecision,
    SealFacts,
)
from lacre.rules.record import Answered, Genesis, Recorded, Result
from lacre.rules.requests import (
    Amend,
    Calibrate,
    Commit,
    CommitPart,
    Deviate,
    Erase,
    Erratum,
    KeyChange,
    Read,
    Rebalance,
    Register,
    Rewrap,
    Sample,
    Seal,
    Withdraw,
)
from lacre.text import N_, _, ngettext

EXPLORATORY: Mapping[str, str] = MappingProxyType(
    {
        "not-the-registered-pool": N_("not on the unread pool its analyses are registered for"),
        "later-submission": N_("not the first submission of its system"),
        "amended-since-read": N_("the plan was amended after these cases were first read"),
        "amended-since-labels": N_("the plan was amended after the labels were committed"),
        "recalibrated-since-read": N_("a threshold was calibrated anew after these cases were first read"),
        "label-erratum": N_(
            "the same submissions were scored again on labels corrected after the first result"
        ),
    }
)


def what(recorded: Recorded, errata: Collection[int] = ()) -> str:
    """Say what the entry did; names and words of people are shown, never obeyed.

    `errata` are the entries known to be errata, by which their results are told from those of other reads.
    """
    content = recorded.content
    if isinstance(content, Genesis):
        return _("began the ledger {origin}").format(origin=printable(content.origin))
    if isinstance(content, Result):
        standing = _("confirmatory") if content.confirmatory else _("not confirmatory")
        said = (
            _("result of the erratum at entry {read}: {state}, {standing}")
            if content.read in errata
            else _("result of entry {read}: {state}, {standing}")
        )
        return said.format(read=content.read, state=content.state, standing=standing)
    return _answer(content)


def errata_among(entries: Iterable[Recorded]) -> frozenset[int]:
    """Return the entries that are errata."""
    return frozenset(each.index for each in entries if each.kind == "erratum")


def by(recorded: Recorded) -> str | None:
    """Return the key that asked for the entry, or None where nobody did."""
    return recorded.content.by if isinstance(recorded.content, Answered) else None


def table(page: Page, entries: Sequence[Recorded], names: Mapping[str, str], *, studies: bool = True) -> None:
    """Write entries, one line each, with the study of each unless all are of one."""
    columns = [Column(_("entry"), right=True), Column(_("time (UTC)"))]
    columns += [Column(_("study"))] if studies else []
    columns += [Column(_("by"), wraps=True), Column(_("what"), wraps=True)]
    rows: list[Row] = []
    errata = errata_among(entries)
    for recorded in entries:
        asked = by(recorded)
        row = [Cell(str(recorded.index), "bold"), Cell(words.moment(recorded.time))]
        row += [Cell(recorded.study or "")] if studies else []
        rows.append([*row, words.who(asked, names) if asked else "", what(recorded, errata)])
    page.table(columns, rows)


def exploratory(codes: Sequence[str]) -> str:
    """Say why a read is exploratory."""
    return "; ".join(_(EXPLORATORY[code]) if code in EXPLORATORY else printable(code) for code in codes)


def _answer(content: Answered) -> str:
    request = content.request
    match request:
        case KeyChange() | Erase():
            return _of_ledger(request, content.decision)
        case Register():
            assert isinstance(content.facts, RegisterFacts)
            return _register(request, content.facts)
        case Amend() | Deviate() | Withdraw():
            return _change(request, content)
        case Seal():
            assert isinstance(content.decision, SealDecision)
            assert isinstance(content.facts, SealFacts)
            return _seal(request, content.facts, content.decision)
        case Rebalance():
            assert isinstance(content.decision, RebalanceDecision)
            return _("began version {version} of {pool}, since @{result} flags a paradox").format(
                version=content.decision.version, pool=request.pool, result=request.result
            )
        case Calibrate() | Sample() | Commit() | CommitPart():
            return _evidence(request, content)
        case Rewrap():
            assert isinstance(content.decision, RewrapDecision)
            return _("handed {pool} to other recipients, custody: {grade}").format(
                pool=printable(request.pool), grade=printable(content.decision.custody)
            )
    assert isinstance(content.decision, ReadDecision)
    return (
        _read(request, content.decision) if isinstance(request, Read) else _erratum(request, content.decision)
    )


def _of_ledger(request: KeyChange | Erase, decision: Decision) -> str:
    """What was done to the whole ledger: to its keys, or to a text."""
    if isinstance(request, Erase):
        return _("took out the text {digest}…, which stays named").format(digest=words.short(request.digest))
    assert isinstance(decision, KeyDecision)
    roles = words.listing(decision.roles)
    new, old = (words.short(keyid or "") for keyid in (decision.enrols, decision.revokes))
    if request.action == "enrol":
        return _("enrolled the key {key}… as {roles}").format(key=new, roles=roles)
    if request.action == "revoke":
        return _("revoked the key {key}…").format(key=old)
    if decision.revokes is None:
        return _("let the key {key}… sign checkpoints beside the old one").format(key=new)
    return _("put the key {key}… in the place of {old}…, as {roles}").format(key=new, old=old, roles=roles)


def _change(request: Amend | Deviate | Withdraw, content: Answered) -> str:
    if isinstance(request, Withdraw):
        return _("withdrew the study")
    if isinstance(request, Deviate):
        if request.about is None:
            return _("put a deviation on record")
        return _("put a deviation on record, about entry {entry}").format(entry=request.about)
    decision = content.decision
    assert isinstance(decision, AmendDecision)
    assert isinstance(content.facts, RegisterFacts)
    said = _("amended the plan: version {version}, protocol sha256:{digest}…").format(
        version=decision.version, digest=words.short(request.protocol)
    )
    said = _one_way(said, content.facts)
    if not decision.burns:
        return said
    return _("{said}: makes {pool} dev").format(said=said, pool=words.listing(decision.burns))


def _evidence(request: Calibrate | Sample | Commit | CommitPart, content: Answered) -> str:
    """What was put on record for later results to rest on."""
    match request, content.facts:
        case Calibrate(), CalibrateFacts() as facts:
            names = words.listing(list(dict.fromkeys(each.name for each in facts.thresholds)))
            said = _("froze thresholds from the read at entry {read}: {names}").format(
                read=request.read, names=names
            )
            burns = content.decision.burns if isinstance(content.decision, CalibrateDecision) else ()
            return (
                _("{said}: makes {pool} dev").format(said=said, pool=words.listing(burns)) if burns else said
            )
        case Sample(), SampleFacts() as facts:
            drawn = sum(each.drawn for each in facts.strata)
            population = sum(each.population for each in facts.strata)
            return _("drew {drawn} of {population} cases as {name} is registered").format(
                drawn=drawn, population=population, name=printable(request.draw)
            )
        case Commit(), CommitFacts() as facts:
            return ngettext(
                "committed {rows} second label of {pool}, drawn as {name}",
                "committed {rows} second labels of {pool}, drawn as {name}",
                facts.rows,
            ).format(rows=facts.rows, pool=printable(request.pool), name=printable(request.draw))
        case CommitPart(), PartFacts() as facts:
            rows = sum(facts.rows.values())
            return ngettext(
                "committed the {part} of {pool} in the open: {rows} row",
                "committed the {part} of {pool} in the open: {rows} rows",
                rows,
            ).format(part=words.part(request.part), pool=printable(request.pool), rows=rows)
    return ""


def _erratum(request: Erratum, decision: ReadDecision) -> str:
    return _(
        "scored the result at entry {entry} again on corrected labels of {pool}, number {number}"
    ).format(entry=request.corrects, pool=printable(request.pool), number=decision.number)


def _register(request: Register, facts: RegisterFacts) -> str:
    said = _("registered the protocol sha256:{digest}…").format(digest=words.short(request.protocol))
    return _one_way(said, facts)


def _one_way(said: str, facts: RegisterFacts) -> str:
    one_way = len(facts.infeasible or ())
    if not one_way:
        return said
    return ngettext(
        "{said}, of which PASS or FAIL is out of reach for {count} criterion",
        "{said}, of which PASS or FAIL is out of reach for {count} criteria",
        one_way,
    ).format(said=said, count=one_way)


def _seal(request: Seal, facts: SealFacts, decision: SealDecision) -> str:
    rows = sum(facts.rows.values())
    said = ngettext(
        "sealed {pool}: {rows} row as declared by the broker",
        "sealed {pool}: {rows} rows as declared by the broker",
        rows,
    )
    if request.replaces is not None:
        said = ngettext(
            "sealed {pool} again, in place of entry {replaces}: {rows} row as declared by the broker",
            "sealed {pool} again, in place of entry {replaces}: {rows} rows as declared by the broker",
            rows,
        )
    said = said.format(pool=printable(request.pool), rows=rows, replaces=request.replaces)
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
    if request.purpose == "relabel":
        return _("looked up cases of {pool} to be labelled again, number {number}").format(
            pool=pool, number=decision.number
        )
    if request.purpose == "calibrate":
        return _("read {pool} to calibrate {names}, number {number}").format(
            pool=pool, names=words.listing(request.thresholds or ()), number=decision.number
        )
    if request.finishes is not None:
        return _("went on with the read of {pool} at entry {entry}, which had crashed").format(
            pool=pool, entry=request.finishes
        )
    said = _("read {pool}, class {read_class}, number {number}").format(
        pool=pool, read_class=decision.read_class, number=decision.number
    )
    return _("{said}: makes {pool} dev").format(said=said, pool=pool) if decision.burns else said
