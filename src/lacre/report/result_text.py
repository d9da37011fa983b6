"""A result as text: the verdict, why it is or is not confirmatory, and what every number rests on."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from lacre.analyses.reasons import Reason, render
from lacre.broker.outcomes import ReadPlanned, ResultShown
from lacre.errors import printable
from lacre.report import history, words
from lacre.report.page import Cell, Column, Page, Row
from lacre.rules.requests import ReadDecision, Shortfall
from lacre.text import N_, _, ngettext

CUSTODY: Mapping[str, str] = MappingProxyType(
    {
        "self-held": N_(
            "self-held: one person has the data and the key, and can look without a trace. The ledger "
            "proves the order of things and what was declared."
        ),
        "second keyholder": N_(
            "second keyholder: sealed to someone else's recipient, so that only both together can look "
            "without a trace."
        ),
        "service": N_(
            "service: the custodian's broker alone can open it, and its operator can look without a trace."
        ),
    }
)
LEFT_OUT: Mapping[str, str] = MappingProxyType(
    {
        "excluded": N_("excluded as registered, by {column}"),
        "attribute-missing": N_("{column} is missing"),
        "attribute-undeclared": N_("{column} holds a value that is not declared"),
        "label-missing": N_("the label {column} is missing"),
        "label-undeclared": N_("the label {column} holds a value that is not declared"),
        "prediction-undeclared": N_("the prediction {column} holds a value that is not declared"),
        "cluster-missing": N_("the cluster {column} is missing"),
    }
)

Document = Mapping[str, Any]
Rates = Mapping[tuple[str, str | None, frozenset[tuple[str, str]]], Document]
"""Estimates by metric, system and group."""


def result_page(shown: ResultShown) -> Page:
    """Write a result for people."""
    document = shown.document
    page = Page()
    state = shown.state
    page.heading(f"{shown.name}  ", Cell(words.state(state), words.STATE_STYLES.get(state, "")))
    page.say(standing(document["pool"], _decision(document)))
    if shown.finished is not None:
        page.say(
            _("This finished the read at entry {entry}, which had crashed.").format(entry=shown.finished)
        )
    for analysis in document["analyses"]:
        _analysis(page, analysis)
    page.gap()
    _notes(page, document)
    _foot(page, shown)
    return page


def brief_page(shown: ResultShown) -> Page:
    """Write what a result comes to: its verdict, its standing, and its criteria without their groups."""
    page = Page()
    document = shown.document
    page.heading(f"{shown.name}  ", _verdict(shown.state))
    page.say(standing(document["pool"], _decision(document)))
    for analysis in document["analyses"]:
        page.heading(f"{analysis['id']} ({words.kind(analysis['kind'])})  ", _verdict(analysis["state"]))
        _summary(page, analysis["criteria"])
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


# --- one analysis ------------------------------------------------------------------------------------------


def _analysis(page: Page, analysis: Document) -> None:
    state = analysis["state"]
    page.heading(f"{analysis['id']} ({words.kind(analysis['kind'])})  ", _verdict(state))
    if analysis.get("computed", state) != state:
        page.say(_("Computed {computed}; what its read allows is {state}.").format(
            computed=words.state(analysis["computed"]), state=words.state(state)), indent=1)  # fmt: skip
    criteria = analysis["criteria"]
    if criteria:
        _summary(page, criteria)
    rates = _rates(analysis["estimates"])
    for criterion in criteria:
        _criterion(page, criterion, rates)
    _calibration(page, analysis.get("calibration", ()))
    _left_out(page, analysis["left_out"])
    for note in analysis["notes"]:
        page.say(_("Note: {note}").format(note=_reason(note)), indent=1)


def _summary(page: Page, criteria: Sequence[Document]) -> None:
    systems = any(each.get("system") for each in criteria)
    columns = [Column(_("criterion")), Column(_("rule"), wraps=True), Column(_("observed"), right=True),
               Column(_("interval"), right=True), Column(_("verdict"))]  # fmt: skip
    rows: list[Row] = []
    for each in criteria:
        limit = each["threshold"]
        row: list[str | Cell] = [
            Cell(each["id"], "bold"),
            words.rule(each["metric"], each.get("by", ()), each.get("rule", ""), limit),
            words.percent(each["value"], apart_from=limit),
            words.interval(each["low"], each["high"], apart_from=limit),
            _verdict(each["state"]),
        ]
        if systems:
            row.insert(1, each.get("system") or "")
        rows.append(row)
    if systems:
        columns.insert(1, Column(_("system")))
    page.table(columns, rows)


def _criterion(page: Page, criterion: Document, rates: Rates) -> None:
    page.gap()
    system = f" ({criterion['system']})" if criterion.get("system") else ""
    page.say(Cell(criterion["id"] + system, "bold"), "  ", _verdict(criterion["state"]), indent=1)
    page.say(_reason(criterion["reason"]), indent=1)
    lines = criterion.get("groups", ())
    if lines:
        _groups(page, criterion, lines, rates)
    left_out = criterion.get("left_out", ())
    if left_out:
        total = sum(each["count"] for each in left_out)
        reasons = "; ".join(_left_out_words(each) for each in left_out)
        said = ngettext(
            "{count} case is left out: {reasons}.", "{count} cases are left out: {reasons}.", total
        )
        page.say(said.format(count=total, reasons=reasons), indent=1)


def _groups(
    page: Page,
    criterion: Document,
    lines: Sequence[Document],
    rates: Rates,
) -> None:
    missing = any(line["missing"] for line in lines)
    columns = [Column(_("group"), wraps=True), Column(words.metric(criterion["metric"]), right=True),
               Column(_("of"), right=True)]  # fmt: skip
    columns += [Column(_("unpredicted"), right=True)] if missing else []
    columns += [Column(_("rate"), right=True), Column(_("interval"), right=True), Column("")]
    rows: list[Row] = []
    for line in lines:
        rate = _rate(rates, criterion, line)
        counts = [_count(line["numerator"]), _count(line["denominator"])]
        counts += [_count(line["missing"])] if missing else []
        rows.append([words.group(line["group"]), *counts, _value(line, rate), _interval(line), _aside(line)])
    page.table(columns, rows, indent=2)
    _explain_groups(page, criterion, lines, rates)


def _explain_groups(
    page: Page,
    criterion: Document,
    lines: Sequence[Document],
    rates: Rates,
) -> None:
    found = [_rate(rates, criterion, line) for line in lines]
    example = next((rate for rate in found if rate.get("confidence")), None)
    if example is not None:
        groups = example.get("simultaneous", len(lines))
        page.say(
            ngettext(
                "The interval holds at {confidence} ({method}).",
                "The intervals hold for all {count} declared groups at once at {confidence} ({method}).",
                groups,
            ).format(
                count=groups,
                confidence=words.percent(example["confidence"]),
                method=_method(example["method"]),
            ),
            indent=2,
        )
    bound = next((rate["zero_bound"] for rate in found if rate.get("zero_bound")), None)
    if bound is not None:
        page.say(
            _(
                "“up to” stands where no case was counted: the one-sided bound at {confidence}, by the rule "
                "of three."
            )
            .format(confidence=words.percent(bound["confidence"])),
            indent=2,
        )  # fmt: skip


def _value(line: Document, rate: Document) -> str:
    if rate.get("zero_bound"):
        return _("up to {bound}").format(bound=words.percent(rate["zero_bound"]["rule_of_three"]))
    if line["value"] == 0 and line["high"]:
        return _("up to {bound}").format(bound=words.percent(line["high"]))
    return words.percent(line["value"])


def _interval(line: Document) -> str:
    return words.interval(line["low"], line["high"])


def _aside(line: Document) -> Cell:
    """Say of a group only what its verdict adds: that it is decided, or why it cannot be."""
    state, code = line["state"], line["reason"]["code"]
    if code in ("within", "beyond", "open"):
        return _verdict(state)
    return Cell(_reason(line["reason"]), words.STATE_STYLES.get(state, ""))


def _calibration(page: Page, errors: Sequence[Document]) -> None:
    if not errors:
        return
    page.gap()
    page.say(Cell(_("expected calibration error"), "bold"),
             _(", {bins} bins; it decides nothing").format(bins=errors[0]["bins"]), indent=1)  # fmt: skip
    systems = any(each.get("system") for each in errors)
    columns = [Column(_("group"), wraps=True), Column(_("cases"), right=True), Column(_("error"), right=True)]
    rows = [
        [words.group(each["group"]), _count(each["cases"]), _number(each["expected_calibration_error"])]
        for each in errors
    ]
    if systems:
        columns.insert(1, Column(_("system")))
        rows = [[row[0], each.get("system") or "", *row[1:]] for row, each in zip(rows, errors, strict=True)]
    page.table(columns, rows, indent=2)


def _left_out(page: Page, left_out: Sequence[Document]) -> None:
    counted = [each for each in left_out if each["count"]]
    if not counted:
        return
    page.gap()
    page.say(_("Left out or blank, each reason by itself:"), indent=1)
    for each in counted:
        page.say(_left_out_words(each), indent=2)


def _left_out_words(each: Document) -> str:
    column = printable(str(each.get("column", "")))
    template = LEFT_OUT.get(each["reason"])
    why = _(template).format(column=column) if template else f"{printable(each['reason'])} {column}".strip()
    system = f" ({printable(each['system'])})" if each.get("system") else ""
    return f"{each['count']}: {why}{system}"


# --- what holds for the whole result -----------------------------------------------------------------------


def _notes(page: Page, document: Document) -> None:
    said = {note["code"] for analysis in document["analyses"] for note in analysis["notes"]}
    if "criteria-uncorrected" not in said:
        page.say(_("All criteria must pass, which needs no correction; a FAIL of any is uncorrected."))
    for code in document.get("review", ()):
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
    page.say(_("Protocol: {protocol}").format(protocol=document["protocol"]))
    parts = {name: str(engine.get(name)) for name in ("lacre", "statistics", "numpy", "scipy")}
    page.say(
        _("Engine: lacre {lacre}, statistics {statistics}, numpy {numpy}, scipy {scipy}").format(**parts)
    )
    warnings(page, shown.warnings)


def _now(shown: ResultShown) -> str:
    document = shown.document
    return _("{pool} counts as {now} today; this was read {read} of it, in class {read_class}.").format(
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
            page.say(_("Not used, of {table}: {columns}").format(
                table=printable(table) or _("the submission"), columns=words.listing(names)))  # fmt: skip


def warnings(page: Page, said: Sequence[str]) -> None:
    """Pass on what was odd and no reason to refuse."""
    for warning in said:
        page.say(Cell(_("Warning: "), "yellow"), warning)


def plan_page(planned: ReadPlanned) -> Page:
    """Write what a read would be."""
    decision = planned.decision
    page = Page()
    page.heading(_("{study}: this read of {pool} would be allowed; nothing was read").format(
        study=planned.study, pool=planned.pool))  # fmt: skip
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
    return page


# --- small pieces ------------------------------------------------------------------------------------------


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


def _rates(estimates: Sequence[Document]) -> Rates:
    return {(each["metric"], each["system"], frozenset(each["group"].items())): each for each in estimates}


def _rate(rates: Rates, criterion: Document, line: Document) -> Document:
    return rates.get((criterion["metric"], criterion.get("system"), frozenset(line["group"].items())), {})


def _verdict(state: str) -> Cell:
    return Cell(words.state(state), words.STATE_STYLES.get(state, ""))


def _reason(stored: Mapping[str, Any] | None) -> str:
    return "" if stored is None else render(Reason.from_json(stored))


def _method(name: str) -> str:
    return printable(name.replace("_", " ").replace("-", " "))


def _count(value: int | None) -> str:
    return "–" if value is None else str(value)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
