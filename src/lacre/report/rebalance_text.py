"""A corpus that is let grow, as text and as JSON."""

from lacre.broker.groundwork import Rebalanced
from lacre.errors import printable
from lacre.report import words
from lacre.report.page import Page
from lacre.report.result_text import warnings
from lacre.report.values import Document
from lacre.text import _, ngettext


def rebalanced_json(made: Rebalanced) -> Document:
    """Return a rebalance."""
    return {
        "study": made.study,
        "pool": made.pool,
        "analysis": made.analysis,
        "result": f"{made.study}@{made.result}",
        "version": made.version,
        "left": made.left,
        "paradoxes": [{"dimension": dimension, "bin": name} for dimension, name in made.paradoxes],
        "population": made.population,
        "rows": made.rows,
        "file": str(made.path),
        "entry": made.entry,
        "time": made.time,
        "dry_run": made.entry is None,
        "again": made.again,
        "warnings": list(made.warnings),
    }


def rebalanced_page(made: Rebalanced) -> Page:
    """Write a rebalance, and what comes next."""
    page = Page()
    if made.again:
        said = _("Version {version} of the corpus of {study} is under way; the same cases were drawn")
    elif made.entry is None:
        said = _("The corpus of {study} may grow: version {version} would be begun")
    else:
        said = _("The corpus of {study} grows: version {version} is begun")
    page.heading(said.format(study=made.study, version=made.version))
    if made.entry is not None and made.time is not None:
        page.say(words.on_record(made.entry, made.time))
    for dimension, name in made.paradoxes:
        page.say(
            _(
                "Paradox in {result}: {dimension}, where {bin} holds most cases of the human and of the judge."
            ).format(
                result=f"{made.study}@{made.result}", dimension=printable(dimension), bin=printable(name)
            )
        )
    page.say(
        ngettext(
            "Of {population} old cases {rows} is labelled again; drawn by the registered seed.",
            "Of {population} old cases {rows} are labelled again; drawn by the registered seed.",
            made.rows,
        ).format(population=made.population, rows=made.rows)
    )
    if made.entry is not None:
        page.say(_("They are in {file}, without labels or scores.").format(file=made.path))
    if made.left:
        said = ngettext("It may grow {n} more time.", "It may grow {n} more times.", made.left)
        page.say(said.format(n=made.left))
    else:
        page.say(_("It may not grow again."))
    page.gap()
    page.say(
        _(
            "No bin, bar, weight or dimension moves, and every version's number is reported with every later one. "
            "Next, in this order:"
        )
    )
    if made.entry is None:
        page.block(f"lacre rebalance {made.study} -o {words.shell_word(str(made.path))}")
    for part, what in (
        ("cases", _("all old cases, unchanged, and the new ones")),
        ("labels", _("of the new cases and of those drawn, written from now on")),
        ("scores", _("of the same cases, after their labels")),
    ):
        page.block(f"lacre commit {made.study} {part} FILE")
        page.say(what, indent=3)
    page.block(f"lacre run {made.study} {words.shell_word(made.analysis)}")
    warnings(page, made.warnings)
    return page
