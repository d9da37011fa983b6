"""An open pool as text: a part that was committed, and its line in the table of pools."""

from lacre.broker.groundwork import PartKept
from lacre.errors import printable
from lacre.report import words
from lacre.report.page import Cell, Page
from lacre.report.result_text import ignored, outside, say_custody, shortfalls, warnings
from lacre.rules.custody import OPEN
from lacre.rules.overlap_words import overlap_text
from lacre.rules.state import CorpusState
from lacre.text import _, ngettext


def kept_page(made: PartKept) -> Page:
    """Write that one part of an open pool was committed."""
    page = Page()
    said = _("The {part} of {pool} of {study} are committed, in the open")
    page.heading(said.format(part=words.part(made.part), pool=made.pool, study=made.study))
    page.say(words.on_record(made.entry, made.time))
    page.say(_("Open because: {reason}").format(reason=printable(made.reason)))
    for table, rows in made.rows.items():
        page.say(ngettext("{table}: {rows} row", "{table}: {rows} rows", rows).format(table=table, rows=rows))
    for table, count in made.absent.items():
        blank = ngettext(
            "{table}: {count} case has no row, and counts as blank.",
            "{table}: {count} cases have no row, and count as blank.",
            count,
        )
        page.say(Cell(_("Warning: "), "yellow"), blank.format(table=table, count=count))
    for line in shortfalls(made.shortfall):
        page.say(line)
    ignored(page, made.undeclared)
    outside(page, made.outside)
    for found in made.overlaps:
        page.say(_("Shared with another pool: {overlap}.").format(overlap=overlap_text(found)))
    if made.remembered:
        page.say(
            ngettext(
                "{count} of its cases was read before on this machine: results will read retrospective.",
                "{count} of its cases were read before on this machine: results will read retrospective.",
                made.remembered,
            ).format(count=made.remembered)
        )
    for digest in made.files:
        page.say(f"sha256:{digest}")
    say_custody(page, OPEN)
    then = "run" if made.next is None else "commit"
    what = "ANALYSIS" if made.next is None else f"{made.next} FILE"
    page.say(_("Next: {step}").format(step=f"lacre {then} {made.study} {what}"))
    warnings(page, made.warnings)
    return page


def committed(corpus: CorpusState) -> str:
    """Say at which entries the parts of an open pool were committed."""
    return ", ".join(
        _("{part} at {entry}").format(part=words.part(made.request.part), entry=made.entry)
        for made in corpus.parts
    )
