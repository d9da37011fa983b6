"""Run the registered analyses over an opened pool and write down the result."""

from collections.abc import Mapping, Sequence
from typing import Any

from lacre.analyses import analyse, conclude
from lacre.analyses.given import Given
from lacre.analyses.reasons import Reason
from lacre.broker.evidence import Evidence
from lacre.broker.submissions import Submission
from lacre.errors import cells_untold
from lacre.protocol.grammar import as_float
from lacre.protocol.models import Protocol
from lacre.protocol.thresholds import FixedThreshold
from lacre.rules.answers import Engine, ReadDecision
from lacre.rules.gating import share_of, verdicts_alone
from lacre.rules.history import Version
from lacre.rules.requests import ReadLike
from lacre.rules.systems import UNNAMED
from lacre.rules.verdicts import settle, settled_reason, worst
from lacre.tables.columns import TypedTable
from lacre.tables.join import join_submission


@cells_untold
def evaluate(
    version: Version,
    request: ReadLike,
    tables: Mapping[str, TypedTable],
    submissions: Sequence[Submission],
    evidence: Evidence,
    decision: ReadDecision,
    engine: Engine,
) -> dict[str, Any]:
    """The result's document: all of it can be recomputed from the same inputs, byte for byte."""
    protocol, pool = version.protocol, request.pool
    given = Given(
        protocol,
        joined(protocol, tables, submissions),
        thresholds=evidence.thresholds,
        draws=evidence.draws,
        relabelled=evidence.relabelled,
        share=share_of(protocol, pool, decision.read_class),
        rung=evidence.rung,
        review=decision.review,
    )
    results = [analyse(name, given) for name in request.analyses]
    concluded = conclude(request.analyses, results, protocol, evidence.floors)
    documents = [_settled(result.as_json(), decision) for result in concluded]
    state = worst(document["state"] for document in documents)
    if decision.read_class == "guarda":
        documents = [verdicts_alone(document) for document in documents]
    return {
        "study": protocol.study,
        "protocol": f"sha256:{version.protocol_hash}",
        "pool": pool,
        "standing": decision.read_class,
        "read": decision.number,
        "confirmatory": decision.confirmatory,
        "retrospective": decision.retrospective,
        "exploratory": list(decision.exploratory),
        "review": list(decision.review),
        "state": state,
        "analyses": documents,
        "engine": _engine(engine),
        **_thresholds(protocol, request.analyses, evidence),
        **({} if given.rung is None else {"rung": given.rung}),
    }


def _thresholds(protocol: Protocol, analyses: Sequence[str], evidence: Evidence) -> dict[str, Any]:
    """The thresholds that were used, and the entry that froze each; nothing where none was."""
    used = dict.fromkeys(name for each in analyses for name in sorted(protocol.analyses[each].thresholds()))
    told: list[dict[str, Any]] = []
    for name in used:
        registered = protocol.thresholds[name]
        if isinstance(registered, FixedThreshold):
            told.append({"name": name, "system": None, "value": as_float(registered.fixed), "entry": None})
    for (name, system), (frozen, made) in evidence.frozen.items():
        told.append(
            {"name": name, "system": system or None, "value": float(frozen.value), "entry": made.entry}
        )
    return {"thresholds": told} if told else {}


def joined(
    protocol: Protocol, tables: Mapping[str, TypedTable], submissions: Sequence[Submission]
) -> dict[tuple[str, str], TypedTable]:
    """Each table as each system sees it.

    What is predicted in the pool itself needs no submission, and is a declared system's all the same.
    """
    by_system = {submission.system: submission.tables for submission in submissions}
    return {
        (system, name): join_submission(table, by_system[system][name].typed)
        if name in by_system.get(system, ())
        else table
        for system in (*protocol.systems, UNNAMED)
        for name, table in tables.items()
    }


def _settled(document: dict[str, Any], decision: ReadDecision) -> dict[str, Any]:
    """Rules 15 and 16 on one analysis: its states are those its read allows, beside what was computed."""
    return {
        **_allowed(document, decision),
        "confirmatory": decision.confirmatory,
        "criteria": [
            {
                **_allowed(criterion, decision),
                "groups": [_allowed(group, decision) for group in criterion["groups"]],
            }
            for criterion in document["criteria"]
        ],
    }


def _allowed(judged: dict[str, Any], decision: ReadDecision) -> dict[str, Any]:
    computed = judged["state"]
    reason = settled_reason(computed, decision)
    changed = {} if reason is None or "reason" not in judged else {"reason": Reason(reason).as_json()}
    return {**judged, "computed": computed, "state": settle(computed, decision), **changed}


def _engine(engine: Engine) -> dict[str, Any]:
    from importlib.metadata import version

    return {
        "lacre": engine.lacre,
        "statistics": engine.statistics,
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "seed": None,
    }
