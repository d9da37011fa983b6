"""Run the registered analyses over an opened pool and write down the result."""

from collections.abc import Mapping, Sequence
from typing import Any

from lacre.analyses import analyse, conclude, merge
from lacre.analyses.reasons import Reason
from lacre.broker.submissions import Submission
from lacre.errors import cells_untold
from lacre.protocol.models import Protocol
from lacre.rules.reading import UNNAMED
from lacre.rules.requests import Engine, ReadDecision
from lacre.rules.verdicts import settle, settled_reason, worst
from lacre.tables.columns import TypedTable
from lacre.tables.join import join_submission


@cells_untold
def evaluate(
    protocol: Protocol,
    protocol_hash: str,
    pool: str,
    analyses: Sequence[str],
    tables: Mapping[str, TypedTable],
    submissions: Sequence[Submission],
    decision: ReadDecision,
    engine: Engine,
) -> dict[str, Any]:
    """The result's document: all of it can be recomputed from the same inputs, byte for byte."""
    by_system = {submission.system: submission for submission in submissions}
    results = []
    for name in analyses:
        plan = protocol.analyses[name]
        per_system = []
        # What is predicted in the pool itself needs no submission, and is a declared system's all the same.
        for system in plan.systems or tuple(protocol.systems) or (UNNAMED,):
            table = _joined(tables[plan.table], by_system.get(system), plan.table)
            per_system.append(analyse(name, plan, protocol, table, system=system, review=decision.review))
        results.append(merge(per_system))
    concluded = conclude(analyses, results, protocol)
    documents = [_settled(result.as_json(), decision) for result in concluded]
    state = worst(document["state"] for document in documents)
    return {
        "study": protocol.study,
        "protocol": f"sha256:{protocol_hash}",
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
    }


def _joined(table: TypedTable, submission: Submission | None, name: str) -> TypedTable:
    given = None if submission is None else submission.tables.get(name)
    return table if given is None else join_submission(table, given.typed)


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
