"""An audit as text: what was found, the history in words, and the story of one result."""

from collections.abc import Mapping, Sequence

from lacre.audit.findings import Noted
from lacre.audit.report import AuditReport, ErasedTold
from lacre.audit.story import AmendedTold, GrownTold, HandedTold, PartTold, ReadTold, SealTold, Story
from lacre.report import history, words
from lacre.report.draws_text import draw_lines
from lacre.report.page import Cell, Column, Page, Row
from lacre.report.result_text import custody, shortfalls, standing
from lacre.rules.answers import ReadDecision
from lacre.rules.custody import grade_of
from lacre.rules.remarks import Remark
from lacre.rules.requests import HANDS_OUT
from lacre.text import _, ngettext

MOST_LINES = 200
"""Entries that a page lists; a longer history is cut at its beginning, and `lacre log` has all of it."""


def audit_page(report: AuditReport) -> Page:
    """Write an audit for people."""
    page = brief_page(report)
    if report.story is not None:
        story(page, report.story, report.names)
    else:
        _history(page, report)
        _custody(page, report)
    page.gap()
    rollback = _(
        "A rollback is noticed by what this machine remembers, its state intact, and by receipts kept elsewhere."
    )
    if report.published:
        rollback = _(
            "A rollback is noticed by receipts, checkpoints and registers kept elsewhere (--memory)."
        )
    page.say(
        _(
            "Derived from the signed entries alone; what only the broker saw (rows, shared cases) is as "
            "the broker declared it. {rollback} What was seen before the ledger was begun, no ledger shows."
        ).format(rollback=rollback)
    )
    return page


def brief_page(report: AuditReport) -> Page:
    """Write an audit without the history."""
    page = Page()
    _verdict(page, report)
    noted(page, report)
    return page


def noted(page: Page, report: AuditReport) -> None:
    """List what was found, and what was odd."""
    _noted(page, _("Findings"), report.findings, "red")
    _noted(page, _("Warnings, which are no findings"), report.warnings, "yellow")
    _erased(page, report.erased)


def _custody(page: Page, report: AuditReport) -> None:
    """Say of every pool who can look at it."""
    if report.ledger is None:
        return
    pools: dict[str, list[str]] = {}
    for slug, study in report.ledger.studies.items():
        for pool in study.holds if report.scope.study in {None, slug} else ():
            pools.setdefault(grade_of(pool, report.ledger.recipient), []).append(f"{slug}/{pool.name}")
    if pools:
        page.gap()
    for held, names in pools.items():
        page.say(_("Custody of {pools}: {grade}").format(pools=words.listing(names), grade=custody(held)))


def _verdict(page: Page, report: AuditReport) -> None:
    if report.ok:
        verdict = Cell(_("sound"), "bold green")
    else:
        count = len(report.findings)
        verdict = Cell(ngettext("{n} finding", "{n} findings", count).format(n=count), "bold red")
    page.heading(_("Audit: "), verdict)
    page.say(
        ngettext("{n} entry, root {root}", "{n} entries, root {root}", report.entries).format(
            n=report.entries, root=report.root
        )
    )


def _noted(page: Page, title: str, noted: Sequence[Noted], style: str) -> None:
    if not noted:
        return
    page.heading(title)
    columns = [Column(_("entry"), right=True), Column(_("code")), Column(_("what"), wraps=True)]
    rows: list[Row] = [
        [Cell("–" if each.entry is None else str(each.entry), "bold"), Cell(each.code, style), each.message]
        for each in noted
    ]
    page.table(columns, rows)


def _erased(page: Page, erased: Sequence[ErasedTold]) -> None:
    """Say which texts are gone by an entry, and so are not missing."""
    if not erased:
        return
    page.heading(_("Erased, which is no finding"))
    for each in erased:
        said = _("The {what} of entry {named}, by entry {entry}: sha256:{digest}")
        page.say(
            said.format(what=each.what, named=each.named, entry=each.entry, digest=each.digest), indent=1
        )


def _history(page: Page, report: AuditReport) -> None:
    page.heading(_("History"))
    hidden = len(report.history) - MOST_LINES
    if hidden > 0:
        said = ngettext(
            "{n} earlier entry: see `lacre log`.", "{n} earlier entries: see `lacre log`.", hidden
        )
        page.say(said.format(n=hidden), indent=1)
    history.table(page, report.history[-MOST_LINES:], report.names)


def story(page: Page, told: Story, names: Mapping[str, str]) -> None:
    """Write the history of one result: each step with its time, then what it adds up to."""
    page.heading(_("The story of {result}").format(result=told.name))
    columns = [Column(_("entry"), right=True), Column(_("time (UTC)")), Column(_("what"), wraps=True)]
    steps = [
        (told.registration.entry, told.registration.time, _registered(told, names)),
        *((seal.entry, seal.time, _sealed(told, seal, names)) for seal in (told.seal,) if seal is not None),
        *((each.entry, each.time, _part(each, told, names)) for each in told.parts),
        *((each.entry, each.time, _grown(each, told, names)) for each in told.versions),
        (
            told.result.entry,
            told.result.time,
            _("This is the result: {state}.").format(state=told.result.state),
        ),
        *((read.entry, read.time, _read(read, told, names)) for read in told.reads),
        *((each.entry, each.time, _handed(each, told, names)) for each in told.handed),
        *((each.entry, each.time, _amended(each, names)) for each in told.amendments),
        *((each.entry, each.time, _remarked(each, told, names)) for each in _remarks(told)),
    ]
    page.table(columns, [_step(*each) for each in sorted(steps)])
    page.gap()
    page.say(Cell(told.result.state, words.STATE_STYLES.get(told.result.state, "")), ". ", _why(told))
    drawn = told.seal.draws if told.seal is not None else ()
    for line in (*shortfalls(told.shortfall), *draw_lines(drawn)):
        page.say(line)
    page.say(_counts(told))
    said = _("Custody up to entry {last}: {grade}") if told.left_out else _("Custody: {grade}")
    page.say(said.format(last=told.last, grade=custody(told.custody)))


def _step(entry: int, time: str, what: str) -> Row:
    return [Cell(str(entry), "bold"), words.moment(time), what]


def _registered(told: Story, names: Mapping[str, str]) -> str:
    registration = told.registration
    return _("{who} registered {study}, protocol sha256:{digest}….").format(
        who=words.who(registration.by, names),
        study=told.study,
        digest=words.short(registration.protocol),
    )


def _grown(each: GrownTold, told: Story, names: Mapping[str, str]) -> str:
    return _("{who} began version {version} of {pool}, since {result} flags a paradox.").format(
        who=words.who(each.by, names),
        version=each.version,
        pool=told.pool,
        result=f"{told.study}@{each.result}",
    )


def _part(each: PartTold, told: Story, names: Mapping[str, str]) -> str:
    said = ngettext(
        "{who} committed the {part} of {pool} in the open: {rows} row.",
        "{who} committed the {part} of {pool} in the open: {rows} rows.",
        each.rows,
    )
    return said.format(
        who=words.who(each.by, names), part=words.part(each.part), pool=told.pool, rows=each.rows
    )


def _sealed(told: Story, seal: SealTold, names: Mapping[str, str]) -> str:
    said = _("{who} sealed {pool}, which then counted as {standing}.").format(
        who=words.who(seal.by, names), pool=told.pool, standing=seal.standing
    )
    if told.replaced:
        said += " " + _("That took the place of the seal at entry {entry}.").format(entry=told.replaced[-1])
    if seal.remembered:
        count = seal.remembered
        met = ngettext(
            "{n} case had been read before on the broker's machine.",
            "{n} cases had been read before on the broker's machine.",
            count,
        )
        said = f"{said} {met.format(n=count)}"
    return said


def _handed(each: HandedTold, told: Story, names: Mapping[str, str]) -> str:
    return _("{who} handed {pool} to {recipients}; nothing was read.").format(
        who=words.who(each.by, names), pool=told.pool, recipients=words.listing(each.recipients)
    )


def _amended(each: AmendedTold, names: Mapping[str, str]) -> str:
    said = _("{who} amended the plan (version {version}): {why}. Known then: {known}.").format(
        who=words.who(each.by, names),
        version=each.version,
        why=words.said(each.why).rstrip("."),
        known=words.known(each.known),
    )
    if each.burns:
        said += " " + _("From here on {pool} counts as dev.").format(pool=words.listing(each.burns))
    return said


def _remarks(told: Story) -> tuple[Remark, ...]:
    return told.deviations if told.withdrawn is None else (*told.deviations, told.withdrawn)


def _remarked(each: Remark, told: Story, names: Mapping[str, str]) -> str:
    who, text = words.who(each.by, names), words.said(each.text)
    if each is told.withdrawn:
        return _("{who} withdrew the study: {words}").format(who=who, words=text)
    if each.about is None:
        return _("{who} put a deviation on record: {words}").format(who=who, words=text)
    return _("{who} put a deviation on record, about entry {entry}: {words}").format(
        who=who, entry=each.about, words=text
    )


def _read(read: ReadTold, told: Story, names: Mapping[str, str]) -> str:
    who = words.who(read.by, names)
    if read.purpose == "relabel":
        return _("{who} looked up cases of {pool} to be labelled again, and was handed no label.").format(
            who=who, pool=told.pool
        )
    if read.purpose == "inputs":
        return _("{who} was handed ids and inputs of {pool}, and no label.").format(who=who, pool=told.pool)
    if read.finishes is not None:
        said = _("{who} went on with the read at entry {entry}, which had crashed.").format(
            who=who, entry=read.finishes
        )
    elif read.corrects is not None:
        said = _(
            "{who} scored the result at entry {entry} again on corrected labels, number {number}."
        ).format(who=who, entry=read.corrects, number=read.number)
    else:
        said = _("{who} read {pool}: class {read_class}, number {number}.").format(
            who=who, pool=told.pool, read_class=read.read_class, number=read.number
        )
    if read.burns:
        said += " " + _("From here on {pool} counts as dev.").format(pool=told.pool)
    if read.when != "itself" and read.result is not None:
        said += " " + _("Its result is {state}, at entry {entry}.").format(
            state=read.state, entry=read.result
        )
    elif read.when != "itself":
        said += " " + _("It gave no result.")
    return said


def _why(told: Story) -> str:
    own = next(read for read in told.reads if read.when == "itself")
    result = told.result
    return standing(
        pool=told.pool,
        decision=ReadDecision.model_validate(
            {
                "read_class": own.read_class,
                "number": own.number,
                "confirmatory": result.confirmatory,
                "exploratory": result.exploratory,
                "retrospective": result.retrospective,
                "review": result.review,
            }
        ),
    )


def _counts(told: Story) -> str:
    later = [read for read in told.reads if read.when == "after" and read.purpose not in HANDS_OUT]
    if told.left_out:
        said = _open_end(told)
        if not later:
            return said
    else:
        said = _("Today {pool} counts as {now}.").format(pool=told.pool, now=told.now)
        if not later:
            return said + " " + _("It was not read again.")
    errata = [read for read in later if read.corrects is not None]
    if len(errata) == len(later):
        again = ngettext(
            "It was read once after that, by an erratum.",
            "It was read {n} times after that, by errata.",
            len(later),
        )
    else:
        again = ngettext("It was read once after that.", "It was read {n} times after that.", len(later))
        if errata:
            of_these = ngettext(
                "One of these reads was an erratum.", "{n} of these reads were errata.", len(errata)
            )
            again = f"{again} {of_these.format(n=len(errata))}"
    return f"{said} {again.format(n=len(later))}"


def _open_end(told: Story) -> str:
    """Say how far the story is shown, where later entries are left out that may be of the study."""
    return ngettext(
        "Up to entry {last}, the last of {study} that is shown, {pool} counts as {now}. After it {n} entry is "
        "left out, which may be of {study}: what {pool} counts as today, and whether it was read later, is "
        "not shown.",
        "Up to entry {last}, the last of {study} that is shown, {pool} counts as {now}. After it {n} entries are "
        "left out, and any may be of {study}: what {pool} counts as today, and whether it was read later, is "
        "not shown.",
        told.left_out,
    ).format(last=told.last, study=told.study, pool=told.pool, now=told.now, n=told.left_out)
