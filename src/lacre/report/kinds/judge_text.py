"""Human-vs-judge agreement of one rater as text: kappa with all it must be read with, marginals, the table of bins."""

from collections.abc import Iterator, Sequence

from lacre.errors import printable
from lacre.report import told, words
from lacre.report.methods import method
from lacre.report.page import Cell, Column, Page, Row
from lacre.report.reasoned import reason
from lacre.report.told import Document
from lacre.text import _


def judge(page: Page, document: Document) -> None:
    """Write the table "judge_agreement" of an analysis, where it has one."""
    rows: Sequence[Document] = document.get("tables", {}).get("judge_agreement", ())
    if not rows:
        return
    page.gap()
    page.say(Cell(words.kind("judge_agreement"), "bold"), indent=1)
    page.table(columns(rows), [agreement_row(row) for row in rows])
    for line in explained(rows):
        page.say(line, indent=2)
    for dimension, found in by_dimension(rows).items():
        shown = [row for row in found if row.get("counts") and row.get("bins")]
        if shown:
            page.gap()
            said = _("{dimension}: marginals, how many cases each put into each bin")
            page.say(said.format(dimension=dimension), indent=2)
            page.table(marginal_columns(shown[0]), [*marginal_rows(shown)], indent=2)
        for row in shown:
            if not row.get("group"):
                page.gap()
                said = _("{dimension}: the human's label by row, the judge's score by column")
                page.say(said.format(dimension=dimension), indent=2)
                page.table(count_columns(row), count_rows(row), indent=2)


def by_dimension(rows: Sequence[Document]) -> dict[str, list[Document]]:
    """Return the lines of each dimension, pooled ones first."""
    found: dict[str, list[Document]] = {}
    for row in rows:
        found.setdefault(printable(str(row.get("dimension", ""))), []).append(row)
    return found


def called(row: Document) -> str:
    """Return what a line is of; one of a group says that it is a diagnostic."""
    name = printable(str(row.get("dimension", "")))
    if not row.get("group"):
        return _("{dimension}, pooled").format(dimension=name)
    return _("{dimension}, {group} (diagnostic)").format(dimension=name, group=words.group(row["group"]))


# --- agreement beside kappa --------------------------------------------------------------------------------


def columns(rows: Sequence[Document]) -> list[Column]:
    """Return the columns of the table of coefficients."""
    gwet = next((row["gwet_name"] for row in rows if row.get("gwet_name")), "ac2")
    return [
        Column(_("dimension"), wraps=True, names=True),
        Column(_("cases"), right=True),
        Column(_("raw agreement"), right=True),
        Column(_("kappa"), right=True),
        Column(words.metric(gwet), right=True),
        Column(_("PABAK"), right=True),
    ]


def agreement_row(row: Document) -> Row:
    """Return a line of that table: every coefficient with its interval."""
    if row.get("withheld"):
        return [called(row), *[told.NONE] * 5]
    return [
        called(row),
        told.count(row.get("n")),
        within(row, "raw", "share"),
        within(row, "kappa"),
        within(row, "gwet"),
        within(row, "pabak"),
    ]


def within(row: Document, name: str, kind: str = "kappa") -> str:
    """Return a number with its interval, never without."""
    if row.get(name) is None:
        return told.NONE
    interval = told.interval(row.get(f"{name}_low"), row.get(f"{name}_high"), kind)
    value = told.value(row[name], kind)
    return _("{value} ({interval})").format(value=value, interval=interval)


def explained(rows: Sequence[Document]) -> Iterator[str]:
    """Say how the intervals were made, why some are missing, and what diagnostics and the target are for."""
    example = next((row for row in rows if row.get("kappa_method")), None)
    if example is not None:
        said = _("Intervals hold at {confidence}: raw agreement's by {raw}; the others' by {method}.")
        yield said.format(
            confidence=words.percent(example.get("confidence")),
            raw=method(example.get("raw_method") or told.NONE),
            method=method(example["kappa_method"]),
        )
    if any(row.get("group") for row in rows):
        yield _("Lines of a group are diagnostics: the pooled kappa alone may decide.")
    for row in rows:
        notes = [row.get(f"{name}_note") for name in ("raw", "kappa", "gwet", "pabak")]
        whys = dict.fromkeys(reason(note, "kappa") for note in notes if note is not None)
        for why in whys:
            yield _("{what}: {why}").format(what=called(row), why=why)
        if row.get("undefined_resamples"):
            said = _(
                "{what}: resamples in which kappa is undefined, and which its interval leaves out: {count}."
            )
            yield said.format(what=called(row), count=row["undefined_resamples"])


# --- marginals ---------------------------------------------------------------------------------------------


def marginal_columns(row: Document) -> list[Column]:
    """Return the columns of a dimension's marginals."""
    bins = [Column(printable(each), right=True) for each in row["bins"]]
    return [Column(_("whose"), wraps=True, names=True), *bins]


def marginal_rows(rows: Sequence[Document]) -> Iterator[Row]:
    """Return the human's and the judge's marginal of each line, and the pooled one's indexes."""
    for row in rows:
        whose = _("all")
        if row.get("group"):
            whose = _("{group} (diagnostic)").format(group=words.group(row["group"]))
        human, judged = marginals(row)
        yield [_("{whose}: human").format(whose=whose), *map(told.count, human)]
        yield [_("{whose}: judge").format(whose=whose), *map(told.count, judged)]
        indexes = (
            (_("{whose}: prevalence index"), "prevalence_index"),
            (_("{whose}: bias index"), "bias_index"),
        )
        for template, name in indexes:
            if row.get(name) is not None:
                yield [template.format(whose=whose), *(told.value(each, "kappa") for each in row[name])]


def marginals(row: Document) -> tuple[list[int], list[int]]:
    """Return how many cases the human and the judge put into each bin."""
    counts = row["counts"]
    return [sum(each) for each in counts], [sum(each) for each in zip(*counts, strict=True)]


# --- the table of bins -------------------------------------------------------------------------------------


def count_columns(row: Document) -> list[Column]:
    """Return the columns of a dimension's table: the bins of the judge's scores, and how many there are in all."""
    bins = [Column(printable(each), right=True) for each in row["bins"]]
    return [Column(_("human \\ judge"), wraps=True, names=True), *bins, Column(_("all"), right=True)]


def count_rows(row: Document) -> list[Row]:
    """Return the lines of a dimension's table: the bins of the human's labels, and how many there are in all."""
    lines: list[Row] = [
        [printable(name), *map(told.count, counts), told.count(sum(counts))]
        for name, counts in zip(row["bins"], row["counts"], strict=True)
    ]
    judged = marginals(row)[1]
    return [*lines, [_("all"), *map(told.count, judged), told.count(sum(judged))]]
