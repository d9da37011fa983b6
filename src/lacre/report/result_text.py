"""A result as text: the verdict, why it is or is not confirmatory, and what every number rests on."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from lacre.analyses.reasons import Reason, render
from lacre.broker.outcomes import ReadPlanned, ResultShown
from lacre.errors import printable
from lacre.report import analysis_text, history, words
from lacre.report.analysis_text import Document, verdict
from lacre.report.page import Cell, Page
from lacre.rules.requests import ReadDecision, Shortfall
from lacre.text import N_, _, ngettext

CUSTODY: Mapping[str, str] = MappingProxyType(
    {
        "self-held": N_(
            "self-held. One person has the data and the key, and can look without a trace. The ledger "
            "proves the order of things and what was declared."
        ),
        "second keyholder": N_(
            "second keyholder. It is sealed to someone else's recipient, so that only both together can look "
            "without a trace."
        ),
        "service": N_(
            "service. The custodian's broker alone can open it, and its operator can look without a trace."
        ),
    }
)


def result_page(shown: ResultShown) -> Page:
    """Write a result for people."""
    document = shown.document
    page = Page()
    page.heading(f"{shown.name}  ", verdict(shown.state))
    page.say(standing(document["pool"], _decision(document)))
    if shown.finished is not None:
        page.say(
            _("This finished the read at entry {entry}, which had crashed.").format(entry=shown.finished)
        )
    for analysis in document["analyses"]:
        analysis_text.analysis(page, analysis)
    page.gap()
    _notes(page, document)
    _foot(page, shown)
    return page


def brief_page(shown: ResultShown) -> Page:
    """Write what a result comes to: its verdict, its standing, and its criteria without their groups."""
    page = Page()
    document = shown.document
    page.heading(f"{shown.name}  ", verdict(shown.state))
    page.say(standing(document["pool"], _decision(document)))
    for analysis in document["analyses"]:
        analysis_text.heading(page, analysis)
        analysis_text.summary(page, analysis["criteria"])
    page.gap()
    page.say(_now(shown))
    return page


def standing(pool: str, decision: ReadDecision) -> str:
    """Say whether the result of a read of `pool` is confirmatory, and why or why not."""
    read_class = decision.read_class
    if decision.confirmatory:
        if read_class == "teste":
            return _("Confirmatory: the first read of {pool}, by a plan registered before it.").format(
                pool=pool
            )
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


# --- what holds for the whole result -----------------------------------------------------------------------


def _notes(page: Page, document: Document) -> None:
    said = {note["code"] for analysis in document["analyses"] for note in analysis["notes"]}
    criteria = sum(len(analysis["criteria"]) for analysis in document["analyses"])
    if criteria > 1 and "criteria-uncorrected" not in said:
        page.say(_("All criteria must pass, which needs no correction; a FAIL of any is uncorrected."))
    for code in document.get("review", ()):
        if code not in said:
            page.say(_("Review: {why}").format(why=render(Reason(code))))


def _foot(page: Page, shown: ResultShown) -> None:
    document = shown.document
    engine = document["engine"]
    for line in shortfalls(shown.shortfall):
        page.say(line)
    ignored(page, shown.ignored)
    page.say(_now(shown))
    page.say(_("Custody: {grade}").format(grade=custody(shown.custody)))
    page.say(_("Anchors: none; no checkpoint of this ledger is known to be held by anyone else."))
    page.say(_("Protocol {protocol}").format(protocol=document["protocol"]))
    parts = {name: str(engine.get(name)) for name in ("lacre", "statistics", "numpy", "scipy")}
    page.say(
        _("Engine: lacre {lacre}, statistics {statistics}, numpy {numpy}, scipy {scipy}").format(**parts)
    )
    warnings(page, shown.warnings)


def _now(shown: ResultShown) -> str:
    document = shown.document
    return _("Read {read} of {pool}, in class {read_class}. Today {pool} counts as {now}.").format(
        pool=document["pool"], now=shown.now, read=document["read"], read_class=document["standing"]
    )


def custody(grade: str) -> str:
    """Return a custody grade, and who can look at the data without a trace."""
    return _(CUSTODY[grade]) if grade in CUSTODY else printable(grade)


def shortfalls(found: Sequence[Shortfall]) -> list[str]:
    """Say where a pool holds fewer rows than planned: a deviation by itself."""
    return [
        _("Deviation: {table} holds {rows} rows, and {planned} were planned.").format(
            table=printable(each.table), rows=each.rows, planned=each.planned
        )
        for each in found
    ]


def ignored(page: Page, columns: Mapping[str, Sequence[str]]) -> None:
    """List the columns of files that the protocol does not use."""
    for table, names in columns.items():
        if names:
            file = printable(table) or _("the submission")
            page.say(_("Not used, of {table}: {columns}").format(table=file, columns=words.listing(names)))


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


def plan_page(planned: ReadPlanned) -> Page:
    """Write what a read would be."""
    decision = planned.decision
    page = Page()
    allowed = _("{study}: this read of {pool} would be allowed; nothing was read")
    page.heading(allowed.format(study=planned.study, pool=planned.pool))
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
    page.say(standing(planned.pool, decision))
    for facts in planned.submissions:
        page.say(
            _(
                "Submission {name}: {rows} rows; {absent} cases of the pool have none and count as blank."
            ).format(
                name=printable(":".join(filter(None, (facts.system, facts.table)))),
                rows=facts.rows,
                absent=facts.absent,
            )
        )
    ignored(page, planned.ignored)
    outside(page, planned.outside)
    return page


def _decision(document: Document) -> ReadDecision:
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
