"""A gate's verdicts as text: which criteria pass, what that means for the release, the reads that are left."""

from lacre.broker.outcomes import ResultShown
from lacre.report import words
from lacre.report.page import Cell, Column, Page, Row
from lacre.report.reasoned import verdict
from lacre.text import _, ngettext


def verdicts(page: Page, shown: ResultShown) -> None:
    """Write what a gate answers: which criteria pass, what that means for the release, and the reads that are left."""
    document = shown.document
    for analysis in document["analyses"]:
        page.heading(f"{analysis['id']} ({words.kind(analysis['kind'])})  ", verdict(analysis["state"]))
        systems = any(each.get("system") for each in analysis["criteria"])
        columns = [
            Column(_("criterion"), wraps=True),
            *([Column(_("system"))] if systems else []),
            Column(_("verdict")),
        ]
        rows: list[Row] = [
            [
                Cell(each["id"], "bold"),
                *([each.get("system") or ""] if systems else []),
                verdict(each["state"]),
            ]
            for each in analysis["criteria"]
        ]
        page.table(columns, rows)
    page.gap()
    if shown.state == "PASS":
        page.say(Cell(_("Not vetoed: "), "bold green"), _("every criterion passes."))
    else:
        page.say(Cell(_("Vetoed: "), "bold red"), _("a release passes only if every criterion does."))
    page.say(_("guarda answers verdicts alone: no value, bound or count leaves it."))
    if shown.reads_left is not None:
        said = ngettext("{count} read is left.", "{count} reads are left.", shown.reads_left)
        page.say(said.format(count=shown.reads_left))
