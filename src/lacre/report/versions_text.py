"""What a result on a corpus that grew says of its other versions: every number, and the changes by cell."""

from collections.abc import Iterator

from lacre.errors import printable
from lacre.report import reasoned, told
from lacre.report.page import Column, Page, Row
from lacre.report.told import Document
from lacre.text import _, ngettext


def versions(page: Page, document: Document) -> None:
    """Write the numbers of a corpus's earlier versions, and what changed since the last; nothing of a first version."""
    corpus = document.get("corpus")
    if corpus is None:
        return
    page.gap()
    page.heading(title(corpus))
    page.say(stand())
    page.table(number_columns(), number_rows(document))
    for change in corpus["changes"]:
        page.gap()
        if "note" in change:
            for indent, line in enumerate(untold(change), 1):
                page.say(line, indent=indent)
            continue
        page.say(cells_title(change), indent=1)
        page.table(cell_columns(change), cell_rows(change), indent=2)
        for line in moved(change):
            page.say(line, indent=2)


# --- every version's numbers -------------------------------------------------------------------------------


def title(corpus: Document) -> str:
    """Return the heading of what is said of versions."""
    return _("Versions of the corpus: this is version {version}").format(version=corpus["version"])


def stand() -> str:
    """Say what the numbers of earlier versions count for."""
    return _("A corpus grows under a flagged paradox alone, and every version's number stands.")


def number_columns() -> list[Column]:
    """Return the columns of the table of all versions' numbers."""
    return [
        Column(_("version"), right=True),
        Column(_("result")),
        Column(_("dimension"), wraps=True, names=True),
        Column(_("agree"), right=True),
        Column(_("kappa"), right=True),
        Column(_("interval"), right=True),
        Column(_("verdict")),
    ]


def number_rows(document: Document) -> list[Row]:
    """Return a line for each dimension of each version, this one's last."""
    corpus = document["corpus"]
    rows = [
        _number(str(each["version"]), f"{document['study']}@{each['result']}", number, each["state"])
        for each in corpus["earlier"]
        for number in each["numbers"]
    ]
    rows += [
        [str(each["version"]), f"{document['study']}@{each['result']}", *[told.NONE] * 4, each["state"]]
        for each in corpus["earlier"]
        if not each["numbers"]
    ]
    rows += [
        _number(str(corpus["version"]), _("this one"), line, analysis["state"])
        for analysis in document["analyses"]
        for line in analysis.get("tables", {}).get("judge_agreement", ())
        if not line["group"] and not line.get("withheld")
    ]
    return rows


def _number(version: str, result: str, line: Document, state: str) -> Row:
    agree = _("{agree} of {n}").format(agree=line["agree"], n=line["n"])
    kappa = told.value(line["kappa"], "kappa")
    interval = told.interval(line["kappa_low"], line["kappa_high"], "kappa")
    return [version, result, printable(line["dimension"]), agree, kappa, interval, state]


# --- what changed since the version before -----------------------------------------------------------------


def untold(change: Document) -> list[str]:
    """Return the dimension of which no change is told, and why."""
    return [printable(change["dimension"]), reasoned.reason(change["note"])]


def cells_title(change: Document) -> str:
    """Return what is said above a dimension's table of cells."""
    said = _("{dimension}: cells of human (rows) by judge (columns), before → now")
    return said.format(dimension=printable(change["dimension"]))


def cell_columns(change: Document) -> list[Column]:
    """Return the columns of a dimension's cells: the bins of the judge's scores."""
    return [Column(_("human \\ judge")), *(Column(printable(name), right=True) for name in change["bins"])]


def cell_rows(change: Document) -> list[Row]:
    """Return the lines of a dimension's cells: the bins of the human's labels, each cell before and now."""
    return [
        [printable(name), *(f"{was} → {now}" for was, now in zip(before, after, strict=True))]
        for name, before, after in zip(change["bins"], change["before"], change["after"], strict=True)
    ]


def moved(change: Document) -> Iterator[str]:
    """Say how the cases that were labelled again moved into agreement, or out of it."""
    yield ngettext(
        "{n} old case was labelled again; labels that changed: {labels}, scores that changed: {scores}.",
        "{n} old cases were labelled again; labels that changed: {labels}, scores that changed: {scores}.",
        change["relabelled"],
    ).format(n=change["relabelled"], labels=change["labels_changed"], scores=change["scores_changed"])
    yield _(
        "Of them agreed before and agree now: {aa}; agreed and differ now: {ad}; differed and agree now: {da}; "
        "differed and still differ: {dd}."
    ).format(
        aa=change["agreed_agrees"],
        ad=change["agreed_differs"],
        da=change["differed_agrees"],
        dd=change["differed_differs"],
    )
