"""A result as text: the verdict, why it is or is not confirmatory, and what every number rests on."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from lacre.analyses.reasons import Reason, render
from lacre.broker.outcomes import ReadPlanned, ResultShown
from lacre.broker.parts import Undecidable
from lacre.errors import printable
from lacre.report import analysis_text, gate_text, history, told, versions_text, words
from lacre.report.draws_text import draw_lines
from lacre.report.page import Cell, Column, Page, Row
from lacre.report.reasoned import verdict
from lacre.report.told import Document
from lacre.rules.answers import Infeasible, ReadDecision, Shortfall, SubmissionFacts
from lacre.rules.overlap_words import overlaps_text
from lacre.text import N_, _, ngettext

CUSTODY: Mapping[str, str] = MappingProxyType(
    {
        "self-held": N_(
            "self-held. One person has the data and the key, and can look without a trace. The ledger "
            "proves the order of things and what was declared."
        ),
        "second keyholder": N_(
            "second keyholder, as declared. It is sealed to a recipient that is not this ledger's. Only both together "
            "can look without a trace if that recipient is somebody else, and if whoever sealed it kept no copy of the "
            "files: the ledger can see neither, and an identity given with --identity is no proof of a second person."
        ),
        "open": N_(
            "open. Its files stand in the ledger as they are, and in every copy of it, so that anybody can compute the "
            "result again."
        ),
        "service": N_(
            "service. The custodian's broker alone can open it, and its operator can look without a trace."
        ),
    }
)

GRADES: Mapping[str, str] = MappingProxyType(
    {
        "self-held": N_("self-held"),
        "second keyholder": N_("second keyholder"),
        "service": N_("service"),
    }
)
"""A custody grade by its name alone."""

MOST_NAMES = 100
"""Names of unused columns that a page lists: a header may have a million."""

UNCHECKED: Mapping[str, str] = MappingProxyType(
    {
        "ids": N_(
            "Not checked here, for want of the fingerprint key or the pool's fingerprints: whether the "
            "submission's ids are those of the pool. That is found out before anything is spent."
        ),
        "overlaps": N_(
            "Not checked here, for want of the pools' fingerprints: which cases other pools share. That is found "
            "out before anything is spent."
        ),
    }
)


def result_page(shown: ResultShown) -> Page:
    """Write a result for people."""
    document = shown.document
    page = Page()
    page.heading(f"{shown.name}  ", verdict(shown.state))
    page.say(standing(document["pool"], decision_of(document)))
    if shown.finished is not None:
        page.say(
            _("This finished the read at entry {entry}, which had crashed.").format(entry=shown.finished)
        )
    if shown.withdrawn is not None:
        page.say(
            Cell(_("Withdrawn: "), "bold red"),
            _("the study was withdrawn at entry {entry}. {words}").format(
                entry=shown.withdrawn.entry, words=words.said(shown.withdrawn.text)
            ),
        )
    if document["standing"] == "guarda":
        gate_text.verdicts(page, shown)
    else:
        for analysis in document["analyses"]:
            analysis_text.analysis(page, analysis)
        versions_text.versions(page, document)
        thresholds(page, document)
    errata(page, shown)
    remarks(page, shown)
    page.gap()
    notes(page, document)
    _foot(page, shown)
    return page


def thresholds(page: Page, document: Document) -> None:
    """Say which thresholds were used, and which entry froze each."""
    used = document.get("thresholds", ())
    if not used:
        return
    page.gap()
    for each in used:
        name = ":".join(filter(None, (each["system"], each["name"])))
        value = told.value(each["value"], "score")
        said = (
            _("Threshold {name}: {value}, fixed in the plan.")
            if each["entry"] is None
            else _("Threshold {name}: {value}, frozen at entry {entry}.")
        )
        page.say(said.format(name=printable(name), value=value, entry=each["entry"]))


def brief_page(shown: ResultShown) -> Page:
    """Write what a result comes to: its verdict, its standing, and its criteria without their groups."""
    page = Page()
    document = shown.document
    page.heading(f"{shown.name}  ", verdict(shown.state))
    page.say(standing(document["pool"], decision_of(document)))
    if document["standing"] == "guarda":
        gate_text.verdicts(page, shown)
    else:
        for analysis in document["analyses"]:
            analysis_text.heading(page, analysis)
            analysis_text.summary(page, analysis["criteria"], analysis["estimates"])
    page.gap()
    page.say(now_words(shown))
    return page


def standing(pool: str, decision: ReadDecision) -> str:
    """Say whether the result of a read of `pool` is confirmatory, and why or why not."""
    read_class = decision.read_class
    if read_class == "erratum":
        return _(
            "Exploratory: this is erratum {number} of a result on {pool}; {why}. So it never reads PASS."
        ).format(number=decision.number, pool=pool, why=history.exploratory(decision.exploratory))
    if decision.confirmatory:
        if read_class == "teste":
            return _("Confirmatory: the first read of {pool}, by a plan registered before it.").format(
                pool=pool
            )
        if read_class == "corpus":
            return _(
                "Confirmatory: by a plan registered before the labels of {pool}, which stands as it was then; and they "
                "were committed before the scores."
            ).format(pool=pool)
        if read_class == "guarda":
            return _(
                "Confirmatory: read {number} of {pool}, within its budget and by a plan registered before it."
            ).format(pool=pool, number=decision.number)
        return _(
            "Confirmatory: the first submission of its system to {pool}, by a plan registered before it."
        ).format(pool=pool)
    reasons = []
    if decision.exploratory:
        reasons.append(
            _("Exploratory: this is read {read} of {pool}, in class {read_class}; {why}.").format(
                read=decision.number,
                pool=pool,
                read_class=read_class,
                why=history.exploratory(decision.exploratory),
            )
        )
    if decision.retrospective:
        reasons.append(
            _("Retrospective: somebody had seen these cases before, so nothing here is confirmatory.")
        )
    if not reasons:
        reasons.append(
            _(
                "Not confirmatory: {pool} was read in class {read_class}, which rehearses and proves nothing."
            ).format(pool=pool, read_class=read_class)
        )
    return " ".join(reasons)


# --- the other numbers, and what was said ------------------------------------------------------------------


def errata(page: Page, shown: ResultShown) -> None:
    """Write both numbers side by side, of a result whose labels were corrected, and of what corrects one."""
    if shown.corrects is not None:
        page.heading(_("Beside {result}, whose labels this corrects").format(result=shown.corrects.name))
        _corrected(page, shown.document.get("erratum", {}).get("changed", {}))
        both = (shown.corrects.document, shown.document)
        side_by_side(page, both, (shown.corrects.name, shown.name))
    for each in shown.errata:
        page.heading(_("Erratum {number}, at entry {entry}").format(number=each.number, entry=each.read))
        page.say(_("{time} UTC: {words}").format(time=words.moment(each.time), words=words.said(each.reason)))
        if each.document is None:
            page.say(_("It gave no result."))
            continue
        name = f"{shown.study}@{each.result}"
        page.say(name, "  ", verdict(each.document["state"]))
        _corrected(page, each.changed)
        side_by_side(page, (shown.document, each.document), (shown.name, name))


def _corrected(page: Page, changed: Mapping[str, int]) -> None:
    if not changed:
        page.say(_("No label was another than before."))
    for column, count in changed.items():
        said = ngettext("{column}: {n} cell was corrected", "{column}: {n} cells were corrected", count)
        page.say(said.format(column=printable(column), n=count))


def side_by_side(page: Page, both: tuple[Document, Document], names: tuple[str, str]) -> None:
    """Write the criteria of two results in one table, each with its value, interval and verdict."""
    first, second = ({_key(a, c): c for a in each["analyses"] for c in a["criteria"]} for each in both)
    columns = [
        Column(_("criterion, result"), wraps=True, names=True),
        Column(_("observed"), right=True),
        Column(_("interval"), right=True),
        Column(_("verdict"), wraps=True),
    ]
    rows: list[Row] = []
    for key in dict.fromkeys((*first, *second)):
        rows.append([Cell(" ".join(filter(None, (f"{key[0]}.{key[1]}", key[2]))), "bold"), "", "", ""])
        for name, found in zip(names, (first.get(key), second.get(key)), strict=True):
            if found is not None:
                rows.append([name, *told.observed(found), _verdicts(found)])
    page.table(columns, rows)


def _verdicts(criterion: Document) -> Cell:
    """Return a criterion's verdict, and what its numbers alone come to where that is another."""
    cell = verdict(criterion["state"])
    computed = criterion.get("computed", criterion["state"])
    if computed == criterion["state"]:
        return cell
    return Cell(_("{state} (computed: {computed})").format(state=cell.text, computed=computed), cell.style)


def _key(analysis: Document, criterion: Document) -> tuple[str, str, str]:
    return analysis["id"], criterion["id"], criterion.get("system") or ""


def remarks(page: Page, shown: ResultShown) -> None:
    """Write what people put on record about a result."""
    for each in shown.deviations:
        title = (
            _("Deviation, entry {entry}")
            if each.about is None
            else _("Deviation, entry {entry}, about entry {about}")
        )
        page.heading(title.format(entry=each.entry, about=each.about))
        page.say(_("{time} UTC").format(time=words.moment(each.time)))
        page.block("\n".join(words.said_lines(each.text)))


# --- what holds for the whole result -----------------------------------------------------------------------


def notes(page: Page, document: Document) -> None:
    """Write what holds for the verdict as a whole."""
    said = {note["code"] for analysis in document["analyses"] for note in analysis["notes"]}
    criteria = sum(len(analysis["criteria"]) for analysis in document["analyses"])
    if criteria > 1 and "criteria-uncorrected" not in said:
        page.say(_("All criteria must pass, which needs no correction; a FAIL of any is uncorrected."))
    for code in document.get("review", ()):
        if code not in said:
            page.say(_("Review: {why}").format(why=render(Reason(code))))


def _foot(page: Page, shown: ResultShown) -> None:
    document = shown.document
    for line in (*shortfalls(shown.shortfall), *draw_lines(shown.draws)):
        page.say(line)
    ignored(page, shown.ignored)
    page.say(now_words(shown))
    say_custody(page, shown.custody)
    page.say(_("Anchors: {anchors}").format(anchors=anchors()))
    for line in plan_words(shown):
        page.say(line)
    page.say(_("Engine: {engine}").format(engine=engine_words(document)))
    warnings(page, shown.warnings)


def anchors() -> str:
    """Say who else is known to hold a checkpoint."""
    return _("none; no checkpoint of this ledger is known to be held by anyone else.")


def plan_words(shown: ResultShown) -> list[str]:
    """Say by which plan a result was made, and whether it is still in force."""
    said = [_("Protocol {protocol}").format(protocol=shown.document["protocol"])]
    if shown.amended:
        said.append(
            _("That is version {version} of the plan, which was amended since at {entries}.").format(
                version=shown.version, entries=_entries(shown.amended)
            )
        )
    return said


def engine_words(document: Document) -> str:
    """Return what a result was computed with."""
    parts = {name: str(document["engine"].get(name)) for name in ("lacre", "statistics", "numpy", "scipy")}
    return _("lacre {lacre}, statistics {statistics}, numpy {numpy}, scipy {scipy}").format(**parts)


def _entries(entries: Sequence[int]) -> str:
    said = ngettext("entry {entries}", "entries {entries}", len(entries))
    return said.format(entries=", ".join(map(str, entries)))


def now_words(shown: ResultShown) -> str:
    """Say which read of its pool gave a result, and what the pool counts as today."""
    document = shown.document
    fields = {
        "pool": document["pool"],
        "now": shown.now,
        "read": document["read"],
        "class": document["standing"],
    }
    # A teste that was read and not burned must not be taken for one that is unread.
    spent = document["pool"] == shown.now == "teste"
    if shown.corrects is not None:
        said = (
            _("Erratum {read} of {result}. Today {pool} counts as {now}, and its one reveal is spent.")
            if spent
            else _("Erratum {read} of {result}. Today {pool} counts as {now}.")
        )
        return said.format(result=shown.corrects.name, **fields)
    said = (
        _(
            "Read {read} of {pool}, in class {class}. Today {pool} counts as {now}, and its one reveal is spent."
        )
        if spent
        else _("Read {read} of {pool}, in class {class}. Today {pool} counts as {now}.")
    )
    return said.format(**fields)


def custody(grade: str) -> str:
    """Return a custody grade, and who can look at the data without a trace."""
    return _(CUSTODY[grade]) if grade in CUSTODY else printable(grade)


def grade_name(grade: str) -> str:
    """Return the name of a custody grade."""
    return _(GRADES[grade]) if grade in GRADES else printable(grade)


def say_custody(page: Page, grade: str) -> None:
    """Say what a pool's custody grade is, as whatever is reported of a pool does."""
    page.say(_("Custody: {grade}").format(grade=custody(grade)))


def shortfalls(found: Sequence[Shortfall]) -> list[str]:
    """Say where a pool holds fewer rows than planned: a deviation by itself."""
    return [
        ngettext(
            "Deviation: {table} holds {rows} row, and {planned} were planned.",
            "Deviation: {table} holds {rows} rows, and {planned} were planned.",
            each.rows,
        ).format(table=printable(each.table), rows=each.rows, planned=each.planned)
        for each in found
    ]


def ignored(page: Page, columns: Mapping[str, Sequence[str]]) -> None:
    """List the columns of files that the protocol does not use."""
    for table, names in columns.items():
        if names:
            file = printable(table) or _("the submission")
            listed = words.listing(names[:MOST_NAMES])
            if len(names) > MOST_NAMES:
                more = _("{listed} and {count} more (--json lists all)")
                listed = more.format(listed=listed, count=len(names) - MOST_NAMES)
            page.say(_("Not used, of {table}: {columns}").format(table=file, columns=listed))


def outside(page: Page, columns: Mapping[str, int]) -> None:
    """Count the cells of files whose value is not a declared one."""
    for column, count in columns.items():
        page.say(
            Cell(_("Warning: "), "yellow"),
            ngettext(
                "{column} holds a value in {count} row that the protocol does not declare.",
                "{column} holds values in {count} rows that the protocol does not declare.",
                count,
            ).format(column=printable(column), count=count),
        )


def warnings(page: Page, said: Sequence[str]) -> None:
    """Pass on what was odd and no reason to refuse."""
    for warning in said:
        page.say(Cell(_("Warning: "), "yellow"), warning)


def kept_infeasible(page: Page, criteria: Sequence[Infeasible]) -> None:
    """Warn of criteria that were kept although they decide nothing."""
    for each in criteria:
        page.say(
            Cell(_("Warning: "), "yellow"),
            _("PASS or FAIL is out of reach of {name}; it is kept for the reason given.").format(
                name=printable(f"{each.analysis}.{each.criterion}")
            ),
        )


def plan_page(planned: ReadPlanned) -> Page:
    """Write what a read would be."""
    decision = planned.decision
    page = Page()
    allowed = _("{study}: this read of {pool} would be allowed; nothing was read")
    page.heading(allowed.format(study=planned.study, pool=planned.pool))
    if planned.by is not None:
        names = {planned.by: planned.name} if planned.name else {}
        page.say(_("Asked by {who} ({keyid})").format(who=words.who(planned.by, names), keyid=planned.by))
    if planned.reason is not None:
        page.say(_("Reason given: {words}").format(words=planned.reason))
    if planned.finishes is not None:
        page.say(
            _("It would finish the read at entry {entry}, which crashed.").format(entry=planned.finishes)
        )
    page.say(
        _("Class {read_class}, number {number}.").format(
            read_class=decision.read_class, number=decision.number
        )
    )
    if decision.burns:
        page.say(_("It would make {pool} dev, for good.").format(pool=planned.pool))
    if planned.exposes:
        page.say(
            _("It would expose {overlaps}, sealed and unread.").format(
                overlaps=overlaps_text(planned.exposes)
            )
        )
    page.say(standing(planned.pool, decision))
    gate_text.planned(page, planned)
    say_custody(page, planned.custody)
    planned_submissions(page, planned.submissions)
    ignored(page, planned.ignored)
    outside(page, planned.outside)
    if planned.outside:
        page.say(
            _(
                "In a prediction that counts as none: as either outcome, in the bounds, unless the plan says what a "
                "blank is."
            )
        )
    for each in planned.undecidable:
        page.say(Cell(_("Warning: "), "yellow"), _undecidable(each))
    unchecked(page, planned.unchecked)
    return page


def _undecidable(each: Undecidable) -> str:
    said = ngettext(
        "{name} could only be INSUFFICIENT_EVIDENCE: {count} of {rows} case has no declared prediction, and at most "
        "{limit} may be left out. Mend the submission before the read is spent.",
        "{name} could only be INSUFFICIENT_EVIDENCE: {count} of {rows} cases have no declared prediction, and at most "
        "{limit} may be left out. Mend the submission before the read is spent.",
        each.rows,
    )
    name = " ".join(filter(None, (f"{each.analysis}.{each.criterion}", each.system)))
    return said.format(
        name=printable(name), count=each.count, rows=each.rows, limit=words.percent(each.limit)
    )


def planned_submissions(page: Page, submissions: Sequence[SubmissionFacts]) -> None:
    """Say of each submission how many of the pool's cases it answers."""
    for facts in submissions:
        rows = ngettext("Submission {name}: {rows} row.", "Submission {name}: {rows} rows.", facts.rows)
        absent = ngettext(
            "{absent} case of the pool has none, and counts as without a prediction: as either outcome, in the "
            "bounds, unless the plan says what a blank is.",
            "{absent} cases of the pool have none, and count as without a prediction: as either outcome, in the "
            "bounds, unless the plan says what a blank is.",
            facts.absent,
        )
        name = printable(":".join(filter(None, (facts.system, facts.table))))
        said = f"{rows} {absent}" if facts.absent else f"{rows} {_('No case of the pool is without one.')}"
        page.say(said.format(name=name, rows=facts.rows, absent=facts.absent))


def unchecked(page: Page, codes: tuple[str, ...]) -> None:
    """Say what could not be checked."""
    for code in codes:
        page.say(_(UNCHECKED[code]))


def decision_of(document: Document) -> ReadDecision:
    """Read back from a result's document how its read was classed."""
    return ReadDecision.model_validate(
        {
            "read_class": document["standing"],
            "number": document["read"],
            "confirmatory": document["confirmatory"],
            "exploratory": tuple(document.get("exploratory", ())),
            "retrospective": document.get("retrospective", False),
            "review": tuple(document.get("review", ())),
        }
    )
