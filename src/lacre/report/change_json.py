"""What the verbs that change a study answer, and what is told of changes ever after, as JSON values."""

from typing import Any

from lacre.audit.story import Story
from lacre.broker import outcomes
from lacre.broker.parts import ErratumShown
from lacre.report.deviations_text import what
from lacre.report.values import PRESENTED, Document, wires
from lacre.rules.changes import difference_value
from lacre.rules.deviations import Departure
from lacre.rules.remarks import Remark, Text
from lacre.rules.state import StudyState


def planned(plan: outcomes.AmendmentPlanned) -> Document:
    """Return what an amendment would do."""
    return {"dry_run": True, **_amendment(plan)}


def amended(amendment: outcomes.Amended) -> Document:
    """Return an amendment, with its receipt."""
    return {
        **_amendment(amendment),
        "entry": amendment.entry,
        "time": amendment.time,
        "receipt": amendment.receipt.decode(),
        "warnings": list(amendment.warnings),
    }


def _amendment(plan: outcomes.AmendmentPlanned) -> Document:
    return {
        "study": plan.study,
        "version": plan.version,
        "protocol": PRESENTED + plan.protocol_hash,
        "replaces": PRESENTED + plan.replaces,
        "changes": difference_value(plan.changes),
        "known": wires(plan.known),
        "burns": list(plan.burns),
        "reseal": list(plan.reseal),
        "closed": list(plan.closed),
        "infeasible": wires(plan.infeasible),
    }


def deviated(deviation: outcomes.Deviated) -> Document:
    """Return a deviation that was put on record."""
    return {
        "study": deviation.study,
        "entry": deviation.entry,
        "time": deviation.time,
        "about": deviation.about,
        "words": deviation.words,
        "known": wires(deviation.known),
        "warnings": list(deviation.warnings),
    }


def withdrawn(withdrawal: outcomes.Withdrawn) -> Document:
    """Return a withdrawal."""
    return {
        "study": withdrawal.study,
        "entry": withdrawal.entry,
        "time": withdrawal.time,
        "reason": withdrawal.reason,
        "known": wires(withdrawal.known),
        "unread": list(withdrawal.unread),
        "warnings": list(withdrawal.warnings),
    }


def deviations(table: outcomes.Deviations) -> Document:
    """Return the deviations of a study."""
    return {"study": table.study, "deviations": [_departure(row, table) for row in table.rows]}


def _departure(row: Departure, table: outcomes.Deviations) -> Document:
    return {
        "entry": row.entry,
        "time": row.time,
        "by": row.by,
        "name": table.names.get(row.by),
        "kind": row.kind,
        "what": what(row),
        "pool": row.pool,
        "about": row.about,
        "result": row.result,
        "version": row.version,
        "changes": difference_value(row.changes),
        "exploratory": list(row.codes) if row.kind == "read" else [],
        "review": list(row.codes) if row.kind == "review" else [],
        "burns": list(row.burns),
        "infeasible": wires(row.infeasible),
        "overlaps": wires(row.overlaps),
        "others": list(row.others),
        "known": wires(row.known),
        "words": None if row.words is None else text(table.texts[row.words]),
    }


def beside(shown: outcomes.ResultShown) -> Document:
    """Return what is told beside a result: what was said of it, and its other numbers."""
    return {
        "version": shown.version,
        "amended": list(shown.amended),
        "deviations": [remark(each) for each in shown.deviations],
        "withdrawn": None if shown.withdrawn is None else remark(shown.withdrawn),
        "corrects": None
        if shown.corrects is None
        else {"result": shown.corrects.name, **numbers(shown.corrects.document)},
        "errata": [_erratum(each, shown.study) for each in shown.errata],
    }


def _erratum(each: ErratumShown, study: str) -> Document:
    return {
        "read": each.read,
        "time": each.time,
        "number": each.number,
        "reason": text(each.reason),
        "result": None if each.result is None else f"{study}@{each.result}",
        "changed": dict(each.changed),
        **(numbers(each.document) if each.document is not None else {"state": None, "analyses": []}),
    }


def numbers(document: Any) -> Document:
    """Return what a result comes to: its states, and the numbers of its criteria."""
    kept = ("id", "system", "metric", "state", "computed", "value", "low", "high", "threshold")
    return {
        "state": document["state"],
        "analyses": [
            {
                "id": analysis["id"],
                "state": analysis["state"],
                "criteria": [
                    {name: criterion.get(name) for name in kept} for criterion in analysis["criteria"]
                ],
            }
            for analysis in document["analyses"]
        ],
    }


def told(story: Story) -> Document:
    """Return what became of the plan around a result, and what was said of it."""
    return {
        "amendments": [
            {
                "entry": each.entry,
                "time": each.time,
                "by": each.by,
                "version": each.version,
                "protocol": PRESENTED + each.protocol,
                "known": wires(each.known),
                "burns": list(each.burns),
                "why": text(each.why),
                "when": each.when,
            }
            for each in story.amendments
        ],
        "deviations": [remark(each) for each in story.deviations],
        "withdrawn": None if story.withdrawn is None else remark(story.withdrawn),
    }


def remark(said: Remark) -> Document:
    """Return a deviation or a withdrawal as it is shown."""
    return {
        "entry": said.entry,
        "time": said.time,
        "by": said.by,
        "about": said.about,
        "words": text(said.text),
    }


def text(found: Text) -> Document:
    """Return a text: its salted digest, its words if they are there, and the entry that took them out if one did."""
    return {"digest": found.digest, "words": found.words, "erased": found.erased}


def study(state: StudyState) -> Document:
    """Return what became of a study's plan: its versions, its deviations, and its withdrawal."""
    return {
        "versions": [
            {
                "version": number,
                "entry": version.entry,
                "time": version.time,
                "protocol": PRESENTED + version.protocol_hash,
                "reason": version.reason,
                "known": [] if version.amended is None else wires(version.amended.known),
                "burns": [] if version.amended is None else list(version.amended.burns),
            }
            for number, version in enumerate(state.versions, 1)
        ],
        "deviations": [
            {"entry": each.entry, "time": each.time, "by": each.by, "about": each.about, "text": each.text}
            for each in state.deviations
        ],
        "withdrawn": None
        if state.withdrawn is None
        else {
            "entry": state.withdrawn.entry,
            "time": state.withdrawn.time,
            "by": state.withdrawn.by,
            "reason": state.withdrawn.text,
        },
    }
