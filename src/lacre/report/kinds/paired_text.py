"""The paired differences of a result as text: discordant counts, the interval, p, and what these could show."""

from collections.abc import Sequence

from lacre.errors import printable
from lacre.report import words
from lacre.report.methods import method
from lacre.report.page import Cell, Column, Page, Row
from lacre.report.reasoned import reason
from lacre.report.told import Document
from lacre.text import _, ngettext


def paired(page: Page, document: Document) -> None:
    """Write the table "paired" of an analysis, where it has one: variants against the baseline, then systems."""
    rows: Sequence[Document] = document.get("tables", {}).get("paired", ())
    variants = [row for row in rows if not row.get("systems")]
    systems = [row for row in rows if row.get("systems")]
    if variants:
        page.gap()
        baseline = next((row["baseline"] for row in variants if row.get("baseline")), "")
        page.say(Cell(_("paired variants"), "bold"), indent=1)
        said = _("A difference is the variant's share less that of {baseline}, in points.")
        page.say(said.format(baseline=printable(baseline)), indent=1)
        _table(page, variants, _("lost"), _("gained"))
        page.say(_("Lost: detected in the baseline alone; gained: in the variant alone."), indent=2)
    if systems:
        page.gap()
        page.say(Cell(_("paired systems"), "bold"), indent=1)
        page.say(_("A difference is the first system's share less the second's, in points."), indent=1)
        _table(page, systems, _("first only"), _("second only"))


def _table(page: Page, rows: Sequence[Document], first: str, second: str) -> None:
    shown = [row for row in rows if not row.get("withheld")]
    apart = any(row.get("system") for row in rows)
    adjusted = any(row.get("p_adjusted") != row.get("p") for row in shown)
    columns = [
        Column(_("compared"), wraps=True, names=True),
        *([Column(_("system"))] if apart else []),
        Column(_("pairs"), right=True),
        Column(first, right=True),
        Column(second, right=True),
        Column(_("difference"), right=True),
        Column("p", right=True),
        *([Column(_("adjusted"), right=True)] if adjusted else []),
        Column(_("power"), right=True, spare=True),
    ]
    page.table(columns, [_row(row, apart=apart, adjusted=adjusted) for row in rows])
    for row in rows:
        if row.get("withheld"):
            page.say(_("{what}: withheld").format(what=_compared(row)), indent=2)
        elif row.get("note"):
            page.say(_("{what}: {why}").format(what=_compared(row), why=reason(row["note"])), indent=2)
    if shown:
        explain(page, shown)


def _row(row: Document, *, apart: bool, adjusted: bool) -> Row:
    system = [printable(row.get("system") or "")] if apart else []
    if row.get("withheld"):
        return [_compared(row), *system, *["–"] * (7 if adjusted else 6)]
    difference = points(row["difference"])
    if row["low"] is not None and row["high"] is not None:
        difference = _("{value} ({low} to {high})").format(
            value=difference, low=points(row["low"]), high=points(row["high"])
        )
    return [
        _compared(row),
        *system,
        str(row["pairs"]),
        str(row["first_only"]),
        str(row["second_only"]),
        difference,
        p_value(row["p"]),
        *([p_value(row["p_adjusted"])] if adjusted else []),
        words.rate(row["power"]),
    ]


def _compared(row: Document) -> str:
    names = [printable(name) for name in row.get("systems") or ()]
    variant = row.get("variant") or words.group(row.get("group", {}))
    return f"{names[0]} – {names[1]} ({printable(variant)})" if names else printable(variant)


def explain(page: Page, rows: Sequence[Document]) -> None:
    """Say what the intervals, the tests and the power beside them are."""
    example = rows[0]
    confidence, family = words.percent(example["confidence"]), example["simultaneous"]
    for name in dict.fromkeys(row["method"] for row in rows if row["method"]):
        said = ngettext(
            "The comparison's interval holds at {confidence} ({method}).",
            "The intervals hold for the {count} comparisons together, at {confidence} ({method}).",
            family,
        )
        page.say(said.format(count=family, confidence=confidence, method=method(name)), indent=2)
    for test in dict.fromkeys(row["test"] for row in rows):
        page.say(_("p: {test}, two-sided.").format(test=test_words(test)), indent=2)
        said = (
            _(
                "Power: to find that clusters that tend to one side go three to one. With fewer than {needed} of "
                "them nothing is found, whatever their direction."
            )
            if test == "sign_flips"
            else _(
                "Power: to find that the pairs that differ go three to one. With fewer than {needed} of them "
                "nothing is found, whatever their direction."
            )
        )
        page.say(said.format(needed=next(row["needed"] for row in rows if row["test"] == test)), indent=2)


def points(difference: float | None) -> str:
    """Return a difference of shares in percentage points, with its sign."""
    if difference is None:
        return "–"
    shown = f"{100 * difference:+.1f}"
    if not float(shown):
        shown = f"{100 * difference:+.2g}" if difference else "0"
    return shown.replace("-", "−")


def p_value(p: float | None) -> str:
    """Return a p value to two digits; of a very small one, that it is small."""
    if p is None:
        return "–"
    return f"{p:.2g}" if p >= 0.0001 else "<0.0001"


def test_words(test: str) -> str:
    """Return the name of a test of no difference."""
    return {
        "mcnemar_exact": _("McNemar's exact test"),
        "mcnemar_mid_p": _("McNemar's test, mid-p"),
        "mcnemar_asymptotic": _("McNemar's asymptotic test"),
        "mcnemar_continuity": _("McNemar's test with continuity correction"),
        "sign_flips": _("sign flips of whole clusters"),
    }.get(test, printable(test))
