"""Verification as text: errors of each group, ratios, the thresholds groups need, and the rungs side by side."""

from collections.abc import Sequence

from lacre.errors import printable
from lacre.report import told, words
from lacre.report.methods import method
from lacre.report.page import Cell, Column, Page, Row
from lacre.report.reasoned import events_of, explain, reason, value_of, verdict
from lacre.report.told import Document
from lacre.text import _

RATES = ("false_match", "false_non_match")


def verification(page: Page, document: Document) -> None:
    """Write a verification's own tables; of several rungs those of the last, and all rungs side by side."""
    tables = document.get("tables", {})
    rungs: Sequence[Document] = tables.get("rungs", ())
    for system in dict.fromkeys(row.get("system") for row in rungs):
        own = [row for row in rungs if row.get("system") == system]
        ran = [row for row in own if row["ran"]]
        if ran:
            at = {"system": system, "rung": ran[-1]["rung"]}
            _groups(page, document, [row for row in tables.get("groups", ()) if _is(row, at)], at)
            _targets(page, [row for row in tables.get("targets", ()) if _is(row, at)], at)
        _between(page, document, system)
        if any(row.get("rung") for row in own):
            _ladder(page, own, system)


def _is(row: Document, at: Document) -> bool:
    return bool(row.get("system") == at["system"] and row.get("rung") == at["rung"])


def _title(page: Page, title: str, *names: str | None) -> None:
    page.gap()
    shown = [printable(name) for name in names if name]
    page.say(Cell(title, "bold"), f" ({', '.join(shown)})" if shown else "", indent=1)


# --- errors at the common threshold ------------------------------------------------------------------------


def _groups(page: Page, document: Document, rows: Sequence[Document], at: Document) -> None:
    rates = {
        (each["metric"], frozenset(each["group"].items())): each
        for each in document["estimates"]
        if each["system"] == at["system"] and each.get("details", {}).get("rung") == at["rung"]
    }
    for metric, title in ((RATES[0], _("false matches")), (RATES[1], _("false non-matches"))):
        _title(page, title, at["system"], at["rung"])
        keys = [frozenset(row["group"].items()) for row in rows]
        found = [rates.get((metric, key), {}) for key in keys]
        beside = [rates.get((f"{metric}_beside", key), {}) for key in keys]
        methods = dict.fromkeys(method(each["method"]) for each in beside if each.get("method"))
        columns = [
            Column(_("group"), wraps=True, names=True),
            Column(_("events"), right=True),
            Column(_("rate"), right=True),
            Column(_("interval"), right=True),
            *([Column(_("beside"), right=True)] if methods else []),
            Column(_("abstained"), right=True),
        ]
        lines: list[Row] = [
            [
                words.group(row["group"]),
                *_rate(each),
                *([words.interval(other.get("low"), other.get("high"))] if methods else []),
                _abstained(row, metric),
            ]
            for row, each, other in zip(rows, found, beside, strict=True)
        ]
        page.table(columns, lines, indent=2)
        for row, each in zip(rows, found, strict=True):
            if each.get("value") is None and each.get("note"):
                said = _("{group}: {why}").format(group=words.group(row["group"]), why=reason(each["note"]))
                page.say(said, indent=2)
        known = [each for each in found if each.get("value") is not None]
        explain(page, [each for each in known if each["group"]] or known)
        if methods:
            page.say(_("Beside it: {method}.").format(method="; ".join(methods)), indent=2)


def _rate(each: Document) -> list[str]:
    if each.get("value") is None:
        return ["–"] * 3
    return [events_of(each), value_of(each, each), words.interval(each["low"], each["high"])]


def _abstained(row: Document, metric: str) -> str:
    name = "abstained_impostor" if metric == RATES[0] else "abstained_genuine"
    return "–" if row.get(name) is None else str(row[name])


# --- the thresholds that groups need -----------------------------------------------------------------------


def _targets(page: Page, rows: Sequence[Document], at: Document) -> None:
    shown = [row for row in rows if not row.get("withheld")]
    for target, rate in dict.fromkeys((row["target"], row["at"]) for row in shown):
        asked = f"{words.metric(target)}: {words.percent(rate)}"
        _title(page, _("threshold that each group needs"), asked, at["system"], at["rung"])
        other = _("false non-matches") if target == RATES[0] else _("false matches")
        columns = [
            Column(_("group"), wraps=True, names=True),
            Column(_("threshold"), right=True),
            Column(_("attained"), right=True),
            Column(other, right=True),
            Column(_("interval"), right=True),
        ]
        own = [row for row in shown if (row["target"], row["at"]) == (target, rate)]
        page.table(columns, [_target(row) for row in own], indent=2)
        for row in own:
            if row["unresolved"] and row["cases"]:
                said = _("{group}: unresolved at {count} comparisons, which show no such rate.")
                page.say(said.format(group=words.group(row["group"]), count=row["cases"]), indent=2)


def _target(row: Document) -> Row:
    events = (
        "–"
        if row["events"] is None
        else _("{events} of {cases}").format(events=row["events"], cases=row["cases"])
    )
    rate = words.rate(row["other_rate"])
    if row["other_rate"] == 0 and row["other_high"]:
        rate = told.up_to(row["other_high"])
    return [
        words.group(row["group"]),
        told.value(row["threshold"], "score"),
        events,
        rate,
        words.interval(row["other_low"], row["other_high"]),
    ]


# --- between groups ----------------------------------------------------------------------------------------

FORMS = {"max_min": "max/min", "max_gm": "max/GM"}


def _between(page: Page, document: Document, system: str | None) -> None:
    rows = [
        each
        for each in document["estimates"]
        if each["system"] == system
        and (each["metric"].endswith("_ratio") or each["metric"] == "threshold_distance")
    ]
    if not rows:
        return
    _title(page, _("between groups"), system)
    ladder = any(each.get("details", {}).get("rung") for each in rows)
    columns = [
        Column(_("what"), wraps=True, names=True),
        *([Column(_("mitigation"), wraps=True)] if ladder else []),
        Column(_("observed"), right=True),
        Column(_("interval"), right=True),
    ]
    lines: list[Row] = []
    for each in rows:
        details = each.get("details", {})
        scale, unit = each.get("scale") or "ratio", each.get("unit")
        lines.append(
            [
                _what(each, details),
                *([printable(str(details.get("rung", "")))] if ladder else []),
                told.value(each["value"], scale, unit),
                told.interval(each["low"], each["high"], scale, unit),
            ]
        )
    page.table(columns, lines, indent=2)
    page.say(
        _(
            "max/GM: the largest rate over the geometric mean of all. A group without errors leaves a ratio open."
        ),
        indent=2,
    )


def _what(each: Document, details: Document) -> str:
    if each["metric"] == "threshold_distance":
        rate = words.percent(details.get("at"))
        return _("thresholds apart, {target} of {rate}").format(
            target=words.metric(str(details.get("target"))), rate=rate
        )
    name = words.metric(each["metric"].removesuffix("_ratio"))
    form = str(details.get("form", ""))
    said = f"{name}, {FORMS.get(form, printable(form))}"
    if not each.get("versus"):
        return said
    return f"{said}: {words.group(each['group'])} / {words.group(each['versus'])}"


# --- the ladder --------------------------------------------------------------------------------------------


def _ladder(page: Page, rungs: Sequence[Document], system: str | None) -> None:
    _title(page, _("mitigations, in the registered order"), system)
    columns = [
        Column(_("mitigation"), wraps=True, names=True),
        Column(_("criterion"), wraps=True),
        Column(_("observed"), right=True),
        Column(_("interval"), right=True),
        Column(_("verdict")),
    ]
    lines: list[Row] = []
    for rung in rungs:
        name = printable(rung["rung"] or "")
        if not rung["criteria"]:
            lines.append([name, "", "", "", _("not run")])
        lines += [
            [name, printable(each["id"]), *told.observed(each), verdict(each["state"])]
            for each in rung["criteria"]
        ]
    page.table(columns, lines, indent=2)
    for rung in rungs:
        if rung.get("reason"):
            page.say(f"{printable(rung['rung'] or '')}: {reason(rung['reason'])}", indent=2)
