"""One analysis of a result as HTML: its criteria with their reasons, and every stratum drawn and in a table."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from lacre.analyses.reasons import Reason, render
from lacre.errors import printable
from lacre.report import analysis_text, reasoned, told, words
from lacre.report.html import kinds_html
from lacre.report.html.figures import Group, group_figure, one_plot, single
from lacre.report.html.markup import Element, Node, el
from lacre.report.html.sheet import Sheet, Written, capital, group_column, paragraphs, state, verdict_column
from lacre.report.page import Cell, Column, Row
from lacre.report.told import Document
from lacre.text import N_, _, ngettext

MOST_DRAWN = 80
"""Rows that are drawn; a longer table stands by itself."""

_WHOLE: Mapping[str, str] = MappingProxyType(
    {
        "difference": N_("differences"),
        "ratio": N_("ratios"),
        "score": N_("scores"),
        "kappa": N_("agreement beyond chance"),
        "number": N_("numbers"),
    }
)
"""What estimates that are of no group are called, where they are no shares."""

_OF_BOUNDS = ("worst_group_max", "worst_group_min")


def analysis(sheet: Sheet, document: Document, *, alone: bool = False) -> Element:
    """Return one analysis, whole; where it stands `alone`, its criteria are listed already."""
    parts: list[Node | None] = [
        sheet.heading(
            2, f"{printable(document['id'])} ({words.kind(document['kind'])})  ", state(document["state"])
        ),
        computed(document),
    ]
    criteria = document["criteria"]
    if len(criteria) > 1 and not alone:
        of_all = [document["estimates"]] * len(criteria)
        caption = _("Criteria of {analysis}").format(analysis=document["id"])
        parts.append(summary(sheet, caption, criteria, of_all))
    pairs = (document.get("tables") or {}).get("paired")
    rates = _Rates([each for each in document["estimates"] if not pairs or each["metric"] != "difference"])
    for criterion in criteria:
        parts += _criterion(sheet, criterion, rates)
    parts += kinds_html.tables(sheet, document)
    parts += _estimates(sheet, rates)
    parts += _calibration(sheet, document.get("calibration") or ())
    parts += _left_out(sheet, document)
    parts += _notes(sheet, document.get("notes") or ())
    return el("section", parts)


def summary(
    sheet: Sheet,
    caption: str,
    criteria: Sequence[Document],
    estimates: Sequence[Sequence[Document]],
    *,
    of: Sequence[str] = (),
) -> Element:
    """Return a table with a line for each criterion, beside it the `estimates` of the analysis it is of.

    `of` names that analysis, where they are of several.

    The verdict stands second, where a narrow screen still shows it.
    """
    systems = sheet.systems
    columns = [
        Column(_("criterion"), wraps=True, names=True),
        verdict_column(),
        *([Column(_("analysis"), wraps=True)] if of else []),
        *([Column(_("system"))] if systems else []),
        Column(_("rule"), wraps=True),
        Column(_("observed"), right=True),
        Column(_("interval"), right=True),
    ]
    rows: list[Row] = [
        [
            Cell(each["id"]),
            each["state"],
            *([of[place]] if of else []),
            *([each.get("system") or ""] if systems else []),
            told.rule(each),
            *told.observed(each, estimates[place]),
        ]
        for place, each in enumerate(criteria)
    ]
    return sheet.table(caption, columns, rows)


def computed(document: Document) -> Element | None:
    """Say what the numbers alone would have given, where the read allows less."""
    found = document.get("computed", document["state"])
    if found == document["state"]:
        return None
    said = _("Computed {computed}; what its read allows is {state}.")
    return el("p", said.format(computed=found, state=document["state"]))


# --- one criterion -----------------------------------------------------------------------------------------


class _Rates:
    """Estimates by what a criterion's line says of them, and which of them stand in a criterion's table."""

    def __init__(self, estimates: Sequence[Document]) -> None:
        self.all = estimates
        self._found: dict[tuple[object, ...], list[Document]] = {}
        for each in estimates:
            key = (each["metric"], each.get("system") or "", frozenset(each["group"].items()))
            self._found.setdefault(key, []).append(each)
        self.told: set[tuple[str, str, frozenset[str], frozenset[tuple[str, str]]]] = set()

    def of(self, criterion: Document, line: Document) -> Document:
        """Return the estimate that a line is of, or nothing: of several, the one with the line's bounds."""
        group = frozenset(line["group"].items())
        known = (criterion.get("details") or {}).items()
        found = [
            each
            for each in self._found.get((criterion["metric"], criterion.get("system") or "", group), ())
            if not each.get("versus") and (each.get("details") or {}).items() <= known
        ]
        return max(found, key=lambda each: (_same(each, line), len(each.get("details") or ())), default={})

    def tell(self, criterion: Document) -> None:
        """Note that the table of a criterion has these."""
        for line in criterion.get("groups") or ():
            if found := self.of(criterion, line):
                self.told.add(self.family(found))

    @staticmethod
    def family(estimate: Document) -> tuple[str, str, frozenset[str], frozenset[tuple[str, str]]]:
        """Return what is the same for all estimates of one table."""
        details = frozenset((name, str(each)) for name, each in (estimate.get("details") or {}).items())
        return estimate["metric"], estimate.get("system") or "", frozenset(estimate["group"]), details


def _same(estimate: Document, line: Document) -> bool:
    return bool(estimate.get("low") == line["low"] and estimate.get("high") == line["high"])


def _criterion(sheet: Sheet, criterion: Document, rates: _Rates) -> list[Node | None]:
    system = f" ({sheet.system(criterion)})" if sheet.system(criterion) else ""
    parts: list[Node | None] = [
        sheet.heading(3, printable(criterion["id"]), system, "  ", state(criterion["state"])),
        el("p", told.rule(criterion)),
        *paragraphs(
            [
                reasoned.reason(each, told.scale_of(criterion), criterion.get("unit"))
                for each in (criterion["reason"], criterion.get("note"))
                if each
            ]
        ),
        computed(criterion),
    ]
    if criterion.get("rule") not in _OF_BOUNDS and not single(criterion):
        parts += one_plot(sheet, criterion)
    lines = criterion.get("groups") or ()
    if lines:
        rates.tell(criterion)
        found = [rates.of(criterion, line) for line in lines]
        groups = [Group.of_line(criterion, line, rate) for line, rate in zip(lines, found, strict=True)]
        caption = _("{criterion}: {metric} by group").format(
            criterion=criterion["id"], metric=words.metric(criterion["metric"])
        )
        held = [criterion] if told.held_to(criterion) is not None or single(criterion) else []
        parts += group_figure(sheet, caption, groups, bars=held, drawn=len(lines) <= MOST_DRAWN)
        # What is said of intervals is said of those that stand here.
        parts += _explained(
            sheet, [rate for rate, line in zip(found, lines, strict=True) if rate and _same(rate, line)]
        )
    left_out = criterion.get("left_out") or ()
    if left_out:
        total = sum(each["count"] for each in left_out)
        said = ngettext("{count} case is left out of this", "{count} cases are left out of this", total)
        whys = "; ".join(analysis_text.left_out_words(each) for each in left_out)
        parts.append(el("p", said.format(count=total), f" ({whys})."))
    return parts


def _explained(sheet: Sheet, found: Sequence[Document]) -> list[Node]:
    page = Written(sheet, 4, "")
    reasoned.explain(page, found)
    return page.nodes


# --- every estimate ----------------------------------------------------------------------------------------


def _estimates(sheet: Sheet, rates: _Rates) -> list[Node]:
    """Return the estimates that no criterion's table has, one figure for each metric and set of attributes."""
    scales = {each["metric"]: each for each in rates.all if each.get("scale")}
    families: dict[tuple[object, ...], list[Document]] = {}
    for each in rates.all:
        if rates.family(each) in rates.told:
            continue
        known = {**each, **_scale(scales.get(each["metric"], {}), each)}
        metric, system, by, details = rates.family(each)
        alone = not by and not each.get("versus")
        key = (system, known["scale"], known["unit"], *(() if alone else (metric, by, details)))
        families.setdefault(key, []).append(known)
    if not families:
        return []
    title = _("The other estimates") if rates.told else _("Estimates")
    parts: list[Node] = [sheet.heading(3, title)]
    for found in families.values():
        caption = _family_caption(sheet, found)
        groups = [Group.of_estimate(each) for each in found]
        parts.append(sheet.heading(4, capital(caption)))
        whole = not any(each["group"] or each.get("versus") for each in found)
        what = _("number") if whole else ""
        parts += group_figure(sheet, caption, groups, drawn=len(found) <= MOST_DRAWN, what=what)
        parts += _explained(sheet, found)
    return parts


def _scale(sibling: Document, each: Document) -> dict[str, object]:
    """Return the scale of an estimate; one that is withheld does not say it, but its metric has one."""
    by_itself = each.get("scale") or sibling.get("scale") or "share"
    return {"scale": by_itself, "unit": each.get("unit") or sibling.get("unit")}


def _family_caption(sheet: Sheet, found: Sequence[Document]) -> str:
    first = found[0]
    by = list(dict.fromkeys(name for each in found for name in each["group"]))
    if not by and not first.get("versus"):
        said = _(_WHOLE.get(first["scale"], N_("everybody")))
    else:
        said = words.metric(first["metric"])
        if by:
            said = _("{metric} by {by}").format(metric=said, by=" × ".join(map(printable, by)))
        more = told.details(first)
        said = f"{said}, {more}" if more else said
    return f"{said} ({sheet.system(first)})" if sheet.system(first) else said


# --- the rest ----------------------------------------------------------------------------------------------


def _calibration(sheet: Sheet, errors: Sequence[Document]) -> list[Node]:
    if not errors:
        return []
    systems = sheet.systems
    columns = [
        group_column(),
        *([Column(_("system"))] if systems else []),
        Column(_("cases"), right=True),
        Column(_("left out"), right=True),
        Column(_("error"), right=True),
    ]
    rows: list[Row] = [
        [
            words.group(each["group"]),
            *([each.get("system") or ""] if systems else []),
            told.count(each["cases"]),
            told.count(each["left_out"]),
            told.value(each["expected_calibration_error"], "kappa"),
        ]
        for each in errors
    ]
    title = _("expected calibration error")
    caption = _("expected calibration error, {bins} bins").format(bins=errors[0]["bins"])
    return [sheet.heading(3, capital(title)), sheet.table(caption, columns, rows)]


def _left_out(sheet: Sheet, document: Mapping[str, object]) -> list[Node]:
    found = document.get("left_out") or ()
    assert isinstance(found, Sequence)
    counted = [each for each in found if each["count"]]
    if not counted:
        return []
    return [
        sheet.heading(3, _("Left out")),
        el("p", _("Left out, each reason counted by itself:")),
        el("ul", [el("li", analysis_text.left_out_words(each)) for each in counted]),
    ]


def _notes(sheet: Sheet, notes: Sequence[Document]) -> list[Node]:
    if not notes:
        return []
    return [
        sheet.heading(3, _("Notes")),
        el("ul", [el("li", reasoned.reason(note)) for note in notes]),
    ]


def review(document: Document) -> list[str]:
    """Return what holds for the verdict as a whole."""
    return [render(Reason(code)) for code in document.get("review") or ()]
