"""Where things stand, as text: the ledger, a study, the log, an entry."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from lacre.broker.outcomes import EntryShown, LedgerStatus, Log, StudyShown
from lacre.errors import printable
from lacre.report import history, words
from lacre.report.page import Cell, Column, Page
from lacre.report.plan_text import analyses
from lacre.report.result_text import custody, warnings
from lacre.rules.reading import may_finish
from lacre.rules.record import Answered, Recorded
from lacre.rules.requests import CONTENT_CLASSES
from lacre.rules.state import PoolState, ReadMade, StudyState
from lacre.text import N_, _, ngettext

_TEXTS: Mapping[str, str] = MappingProxyType(
    {
        "reason": N_("Reason given: {words}"),
        "accept_infeasible": N_("Why criteria that can only come out one way were kept: {words}"),
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
    page.say(_("Checkpoints are verified with: {key}").format(key=status.verifier_key))
    for key in status.keys:
        page.say(
            _("{who}: {roles}").format(
                who=words.who(key.keyid, status.names), roles=words.listing(sorted(key.roles))
            ),
            indent=1,
        )
    warnings(page, status.warnings)
    if not status.studies:
        page.gap()
        page.say(_("There is no study yet: `lacre register PROTOCOL`."))
    for study in status.studies:
        _study(page, study)
    return page


def study_page(shown: StudyShown) -> Page:
    """Write one study, whole."""
    page = Page()
    protocol = shown.study.in_force.protocol
    _study(page, shown.study)
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
    history.table(page, log.entries, log.names)
    return page


def entry_page(shown: EntryShown) -> Page:
    """Write one entry: what it did, its bytes' digests, and what they say."""
    recorded = shown.recorded
    page = Page()
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
        size = (
            _("missing") if body is None else ngettext("{n} byte", "{n} bytes", len(body)).format(n=len(body))
        )
        page.say(_("Document {digest}: {size}").format(digest=digest, size=size))
    request = recorded.content.request if isinstance(recorded.content, Answered) else None
    for field, template in _TEXTS.items():
        text = shown.documents.get(getattr(request, field, None) or "")
        if text is not None:
            page.say(_(template).format(words=text.decode("utf-8", "replace")))
    for title, said in _content(recorded):
        page.heading(title)
        page.block(json.dumps(said, indent=2, ensure_ascii=False, sort_keys=True))
    return page


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


def _study(page: Page, study: StudyState) -> None:
    page.heading(study.slug)
    registered = study.registered
    time = words.moment(registered.time)
    page.say(_("Registered at entry {entry}, {time} UTC").format(entry=registered.entry, time=time))
    page.say(_("Protocol sha256:{digest}").format(digest=study.in_force.protocol_hash))
    columns = [
        Column(_("pool")),
        Column(_("counts as")),
        Column(_("rows"), right=True),
        Column(_("sealed at")),
        Column(_("reads"), right=True),
        Column(_("results"), wraps=True),
    ]
    page.table(columns, [_pool(name, study.pools.get(name)) for name in study.in_force.protocol.pools])
    for line in next_steps(study):
        page.say(_("Next: {step}").format(step=line))


def _pool(name: str, pool: PoolState | None) -> list[str | Cell]:
    if pool is None:
        return [Cell(name, "bold"), _("not sealed"), "", "", "", ""]
    standing = pool.standing
    if pool.burned is not None:
        standing = _("{standing}, since entry {entry}").format(standing=standing, entry=pool.burned)
    rows = sum(pool.sealed.facts.rows.values())
    content = pool.of_class(*CONTENT_CLASSES)
    results = ", ".join(_result(read) for read in pool.reads if read.result is not None)
    sealed = _("entry {entry}").format(entry=pool.sealed.entry)
    return [Cell(name, "bold"), standing, str(rows), sealed, str(len(content)), results]


def _result(read: ReadMade) -> str:
    name = f"@{read.result} {read.state}"
    return _("{result} (confirmatory)").format(result=name) if read.decision.confirmatory else name


def next_steps(study: StudyState) -> list[str]:
    """Say what the protocol still asks for."""
    steps = []
    protocol = study.in_force.protocol
    for name, pool in protocol.pools.items():
        if name not in study.pools and pool.open is None:
            steps.append(f"lacre seal {study.slug} {name} FILE")
    teste = study.pools.get("teste")
    if teste is not None and teste.unread:
        steps.append(f"lacre reveal {study.slug} --submission FILE")
    for pool_state in study.pools.values():
        steps.extend(
            _("the same `lacre {verb}` again, to finish the read at entry {entry}").format(
                verb=read.request.purpose, entry=read.entry
            )
            for read in pool_state.unfinished
            if may_finish(read, read.request.purpose, read.request.analyses)
        )
    return [printable(step) for step in steps]
