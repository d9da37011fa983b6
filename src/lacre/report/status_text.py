"""Where things stand, as text: the ledger, a study, the log, an entry."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from lacre.broker.outcomes import EntryShown, LedgerStatus, Log, StudyShown
from lacre.errors import printable
from lacre.protocol.difference import render
from lacre.report import corpus_text, evidence_text, history, words
from lacre.report.next_steps import next_steps
from lacre.report.page import Cell, Column, Page, Row
from lacre.report.plan_text import analyses
from lacre.report.result_text import custody, grade_name, warnings
from lacre.rules.answers import AmendDecision
from lacre.rules.changes import difference_of
from lacre.rules.deviations import Departure
from lacre.rules.history import Key, ReadMade
from lacre.rules.record import Answered, Genesis, Recorded
from lacre.rules.requests import CONTENT_CLASSES, Erratum
from lacre.rules.state import CorpusState, PoolState, StudyState
from lacre.text import N_, _, ngettext

_TEXTS: Mapping[str, str] = MappingProxyType(
    {
        "name": N_("Name: {words}"),
        "text": N_("Words: {words}"),
        "reason": N_("Reason given: {words}"),
        "accept_infeasible": N_("Why criteria were kept of which PASS or FAIL is out of reach: {words}"),
    }
)
"""The fields of requests that name a text, and how it is introduced."""


def status_page(status: LedgerStatus) -> Page:
    """Write the ledger's studies and what comes next in each."""
    page = Page()
    page.heading(
        ngettext("Ledger {origin}, {count} entry", "Ledger {origin}, {count} entries", status.size).format(
            origin=status.origin, count=status.size
        )
    )
    page.say(_("In {folder}").format(folder=status.folder))
    page.say(_("Root: {root}").format(root=status.root))
    page.say(_("Genesis: {genesis}").format(genesis=status.genesis))
    for verifier in status.verifier_keys or (status.verifier_key,):
        page.say(_("Checkpoints are verified with: {key}").format(key=verifier))
    for key in status.keys:
        page.say(_key(key, status), indent=1)
    warnings(page, status.warnings)
    if not status.studies:
        page.gap()
        page.say(_("There is no study yet: `lacre register PROTOCOL`."))
    for study in status.studies:
        _study(page, study, status.recipient, status.departures.get(study.slug, ()))
        grades = status.custody.get(study.slug, {})
        if grades:
            page.say(_("Custody: {grades}").format(grades=_graded(grades)))
    return page


def _key(key: Key, status: LedgerStatus) -> str:
    told = [words.listing(sorted(key.roles))]
    if key.keyid in status.erased:
        told.append(_("the name was erased by entry {entry}").format(entry=status.erased[key.keyid]))
    if key.revoked is not None:
        told.append(_("revoked at entry {entry}").format(entry=key.revoked))
    return f"{words.who(key.keyid, status.names)}: {'; '.join(told)}"


def study_page(shown: StudyShown) -> Page:
    """Write one study, whole."""
    page = Page()
    protocol = shown.study.in_force.protocol
    warnings(page, shown.warnings)
    _study(page, shown.study, shown.recipient, shown.departures)
    _versions(page, shown)
    _said(page, shown)
    evidence_text.on_record(page, shown.study)
    page.gap()
    page.say(protocol.title)
    page.say(protocol.question)
    if protocol.data.retrospective:
        page.say(_("Prior exposure: {words}").format(words=protocol.data.prior_exposure))
    for name, grade in shown.custody.items():
        page.say(_("Custody of {pool}: {grade}").format(pool=name, grade=custody(grade)))
    analyses(page, protocol)
    page.heading(_("Entries"))
    history.table(page, shown.entries, shown.names, studies=False)
    return page


def log_page(log: Log) -> Page:
    """Write entries, one line each."""
    page = Page()
    warnings(page, log.warnings)
    history.table(page, log.entries, log.names)
    if any(log.custody.values()):
        page.gap()
    for study, grades in log.custody.items():
        if grades:
            page.say(_("Custody in {study}: {grades}").format(study=printable(study), grades=_graded(grades)))
    return page


def _graded(grades: Mapping[str, str]) -> str:
    """Pools, each with its custody grade."""
    return "; ".join(f"{printable(pool)} {grade_name(grade)}" for pool, grade in grades.items())


def entry_page(shown: EntryShown) -> Page:
    """Write one entry: what it did, its bytes' digests, and what they say."""
    recorded = shown.recorded
    page = Page()
    warnings(page, shown.warnings)
    page.heading(_("Entry {index}: {what}").format(index=recorded.index, what=history.what(recorded)))
    page.say(_("{time} UTC").format(time=words.moment(recorded.time)))
    asked = history.by(recorded)
    if asked is not None:
        page.say(_("Asked by {who} ({keyid})").format(who=words.who(asked, shown.names), keyid=asked))
    page.say(_("Leaf hash: {digest}").format(digest=recorded.leaf_hash.hex()))
    for signature in recorded.envelope.signatures:
        who = words.who(signature.keyid, shown.names)
        page.say(_("Signed by {who} ({keyid})").format(who=who, keyid=signature.keyid))
    for digest, body in shown.documents.items():
        if body is not None:
            size = ngettext("{n} byte", "{n} bytes", len(body)).format(n=len(body))
        else:
            size = words.said(shown.texts[digest]) if digest in shown.texts else _("missing")
        page.say(_("Document {digest}: {size}").format(digest=digest, size=size))
    if isinstance(recorded.content, Answered):
        _texts(page, recorded.content, shown)
    elif isinstance(recorded.content, Genesis):
        for text in shown.texts.values():
            page.say(_(_TEXTS["name"]).format(words=words.said(text)))
    for title, said in _content(recorded):
        page.heading(title)
        page.block(json.dumps(said, indent=2, ensure_ascii=False, sort_keys=True))
    return page


def _texts(page: Page, content: Answered, shown: EntryShown) -> None:
    """Write what people said in an entry, and what an amendment changed."""
    for field, template in _TEXTS.items():
        digest = getattr(content.request, field, None)
        if digest is None or digest not in shown.texts:
            continue
        lines = words.said_lines(shown.texts[digest])
        page.say(_(template).format(words=lines[0] if len(lines) == 1 else ""))
        if len(lines) > 1:
            page.block("\n".join(lines))
    decision = content.decision
    difference = shown.documents.get(decision.difference) if isinstance(decision, AmendDecision) else None
    if difference is not None:
        page.heading(_("What it changed"))
        page.block(render(difference_of(difference)))


def _content(recorded: Recorded) -> list[tuple[str, Any]]:
    """Return the parts of what an entry says; the signed request within it is opened."""
    content = recorded.content
    if not isinstance(content, Answered):
        return [(_("It says"), content.as_json())]
    return [
        (_("The request"), content.request.as_json()),
        (_("What the broker found, as it declared it"), content.facts.as_json()),
        (_("What the law decided"), content.decision.as_json()),
    ]


def _versions(page: Page, shown: StudyShown) -> None:
    """List the versions of an amended plan, each with why and what was known."""
    versions = shown.study.versions
    if len(versions) == 1:
        return
    page.heading(_("Versions of the plan"))
    columns = [
        Column(_("version"), right=True),
        Column(_("entry"), right=True),
        Column(_("time (UTC)")),
        Column(_("why"), wraps=True),
        Column(_("known then"), wraps=True),
        Column(_("burnt"), wraps=True),
    ]
    rows: list[Row] = []
    for number, version in enumerate(versions, 1):
        first = [Cell(str(number), "bold"), Cell(str(version.entry)), Cell(words.moment(version.time))]
        if version.amended is None or version.reason is None:
            rows.append([*first, _("registered"), "–", "–"])
            continue
        text = shown.texts.get(version.reason)
        why = "–" if text is None else words.said(text)
        burnt = words.listing(version.amended.burns) if version.amended.burns else "–"
        rows.append([*first, why, words.known(version.amended.known), burnt])
    page.table(columns, rows)


def _said(page: Page, shown: StudyShown) -> None:
    """Write the deviations and the withdrawal of a study, whole."""
    study = shown.study
    for each in (*study.deviations, *([study.withdrawn] if study.withdrawn else ())):
        if each is study.withdrawn:
            title = _("Withdrawn")
        elif each.about is None:
            title = _("Deviation")
        else:
            title = _("Deviation of entry {entry}").format(entry=each.about)
        page.heading(title)
        page.say(words.on_record(each.entry, each.time))
        if each.text in shown.texts:
            page.block("\n".join(words.said_lines(shown.texts[each.text])))
        page.say(_("Known then: {known}.").format(known=words.known(each.decision.known)), indent=1)


def _study(page: Page, study: StudyState, own: str, departures: Sequence[Departure]) -> None:
    page.heading(study.slug)
    registered = study.registered
    time = words.moment(registered.time)
    page.say(_("Registered at entry {entry}, {time} UTC").format(entry=registered.entry, time=time))
    if study.withdrawn is not None:
        time = words.moment(study.withdrawn.time)
        said = _("at entry {entry}, {time} UTC; nothing more is done in it.")
        page.say(Cell(_("Withdrawn "), "bold red"), said.format(entry=study.withdrawn.entry, time=time))
    if len(study.versions) > 1:
        page.say(
            _("Version {version} of the plan is in force, since the amendment at entry {entry}").format(
                version=len(study.versions), entry=study.in_force.entry
            )
        )
    page.say(_("Protocol sha256:{digest}").format(digest=study.in_force.protocol_hash))
    columns = [
        Column(_("pool")),
        Column(_("counts as")),
        Column(_("rows"), right=True),
        Column(_("sealed at")),
        Column(_("reads"), right=True),
        Column(_("results"), wraps=True),
    ]
    names = dict.fromkeys((*study.in_force.protocol.pools, *(pool.name for pool in study.holds)))
    page.table(columns, [_pool(name, study) for name in names])
    if departures:
        said = _("Departures on record: {n} (`lacre show {study} --deviations`)")
        page.say(said.format(n=len(departures), study=study.slug))
    for line in next_steps(study, own, departures):
        page.say(_("Next: {step}").format(step=line))


def _pool(name: str, study: StudyState) -> list[str | Cell]:
    pool = study.holding(name)
    if isinstance(pool, CorpusState):
        held, reads = sum(pool.cases.facts.rows.values()), len(pool.of_class("corpus"))
        at, stands = corpus_text.committed(pool), _standing(pool, study)
        return [Cell(name, "bold"), stands, str(held), at, str(reads), _results(pool)]
    declared = study.in_force.protocol.pools.get(name)
    if pool is None and declared is not None and declared.open is not None:
        return [Cell(name, "bold"), _("not committed"), "", "", "", ""]
    if pool is None:
        return [Cell(name, "bold"), _("not sealed"), "", "", "", ""]
    rows = sum(pool.sealed.facts.rows.values())
    sealed = _("entry {entry}").format(entry=pool.sealed.entry)
    if pool.replaced:
        before = ", ".join(str(each.entry) for each in pool.replaced)
        sealed = _("{sealed}, in place of {before}").format(sealed=sealed, before=before)
    if pool.handed:
        sealed = _("{sealed}, in other hands since {entry}").format(
            sealed=sealed, entry=pool.handed[-1].entry
        )
    return [
        Cell(name, "bold"),
        _standing(pool, study),
        str(rows),
        sealed,
        _reads(pool, study),
        _results(pool),
    ]


def _results(pool: PoolState | CorpusState) -> str:
    # A read that began earlier may have its result later.
    ended = sorted((read.result, at) for at, read in enumerate(pool.reads) if read.result is not None)
    return ", ".join(_result(pool.reads[at]) for _entry, at in ended)


def _reads(pool: PoolState, study: StudyState) -> str:
    """How often a pool was read; of `guarda`, of how many times that it may be."""
    content = len(pool.of_class(*CONTENT_CLASSES, "guarda"))
    declared = study.in_force.protocol.pools.get(pool.name)
    most = declared.max_reads if declared is not None and pool.name == "guarda" else None
    return str(content) if most is None else _("{count} of {most}").format(count=content, most=most)


def _standing(pool: PoolState | CorpusState, study: StudyState) -> str:
    if pool.name not in study.in_force.protocol.pools:
        return _("{standing}, no longer declared").format(standing=pool.standing)
    if isinstance(pool, CorpusState) or pool.burned is None:
        return pool.standing
    amended = any(version.entry == pool.burned for version in study.versions)
    said = (
        _("{standing}, since the amendment at entry {entry}")
        if amended
        else _("{standing}, since entry {entry}")
    )
    return said.format(standing=pool.standing, entry=pool.burned)


def _result(read: ReadMade) -> str:
    name = f"@{read.result} {read.state}"
    if isinstance(read.request, Erratum):
        return _("{result} (erratum of @{entry})").format(result=name, entry=read.request.corrects)
    return _("{result} (confirmatory)").format(result=name) if read.decision.confirmatory else name
