"""How the demo's steps are told: as text, with what each command prints behind a rule, and as JSON."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lacre.audit.report import AuditReport
from lacre.broker.outcomes import ResultShown
from lacre.demo.story import Step
from lacre.report import audit_text, result_text
from lacre.report.chosen import chosen
from lacre.report.json import as_json
from lacre.report.page import Cell, Page
from lacre.report.plan_text import receipt_note
from lacre.report.text import as_text
from lacre.text import _

BRIEF: Mapping[type[Any], Callable[[Any], Page]] = MappingProxyType(
    {ResultShown: result_text.brief_page, AuditReport: audit_text.brief_page}
)
RULE = "│ "
INDENT = 2


def step(number: int, taken: Step, *, width: int, colour: bool) -> str:
    """Return a step as text: its title, the command, and what that printed."""
    page = Page()
    page.gap()
    page.heading(f"{number}. {taken.title}")
    page.say(taken.about)
    page.say(Cell(f"$ {taken.command}", "bold"), indent=1)
    inner = width - INDENT - len(RULE)
    lines = _printed(taken, inner, colour=colour).splitlines()
    return page.render(width, colour=colour) + "".join(
        f"{' ' * INDENT}{RULE}{line}".rstrip() + "\n" for line in lines
    )


def moral(kept: Path | None, *, width: int, colour: bool) -> str:
    """Return what the story comes to."""
    page = Page()
    page.gap()
    page.heading(_("What this shows, and what it does not"))
    page.say(
        _(
            "No step can be taken back, or put elsewhere, without an audit noticing, as long as this "
            "machine's memory is intact or somebody else keeps a receipt; until then the owner of a ledger "
            "could still rewrite the whole of it. What was seen before the ledger was begun, no ledger can "
            "know: here the counts had been published, so the plan says so, and no result of it is called "
            "confirmatory."
        )
    )
    page.gap()
    if kept is not None:
        page.say(_("The ledger is left in {folder}: `lacre status --ledger {folder}`.").format(folder=kept))
    page.say(_("Your own study: `lacre init`, then `lacre new fairness > protocol.yaml`."))
    return page.render(width, colour=colour)


def document(steps: Sequence[Step]) -> dict[str, Any]:
    """Return the story as JSON values."""
    return {"demo": [_document(taken) for taken in steps]}


def _printed(taken: Step, width: int, *, colour: bool) -> str:
    if taken.refusal is not None:
        page = Page()
        page.block(f"lacre: {taken.refusal.message}\n{taken.refusal.way_out}", indent=0)
        return page.render(width, colour=colour)
    if taken.brief:
        return chosen(BRIEF, taken.outcome)(taken.outcome).render(width, colour=colour)
    note = "" if taken.receipt is None else receipt_note(taken.receipt)
    return as_text(taken.outcome, note=note, width=width, colour=colour)


def _document(taken: Step) -> dict[str, Any]:
    refusal = taken.refusal
    error = None
    if refusal is not None:
        error = {"code": refusal.code, "message": refusal.message, "way_out": refusal.way_out}
    return {
        "title": taken.title,
        "command": taken.command,
        "error": error,
        "outcome": None if taken.outcome is None else as_json(taken.outcome),
    }
