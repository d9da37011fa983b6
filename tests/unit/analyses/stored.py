"""Results as the ledger keeps them: evaluated by the engine on tables that a test made, and read back."""

from collections.abc import Mapping, Sequence
from typing import Any

from lacre.analyses import analyse, conclude
from lacre.analyses.given import Given
from lacre.broker import evaluate as evaluating
from lacre.broker.evaluate import evaluate
from lacre.broker.evidence import Evidence
from lacre.canonical import canonical_json, parse_canonical
from lacre.protocol.models import Protocol
from lacre.rules.answers import Engine, ReadDecision
from lacre.rules.gating import verdicts_alone
from lacre.rules.history import Version
from lacre.rules.requests import Read
from lacre.tables.columns import TypedTable

FIRST = ReadDecision(read_class="teste", number=1, confirmatory=True)
GATE = ReadDecision(read_class="guarda", number=1, confirmatory=True)
ENGINE = Engine(lacre="0.1.0", statistics="1")


def evaluated(
    protocol: Protocol, name: str, tables: Mapping[str, TypedTable], decision: ReadDecision = FIRST
) -> dict[str, Any]:
    """The result of one analysis of the pool `teste`, of which every system sees the same tables."""
    version = Version("0" * 64, protocol, 1, "2026-01-01T00:00:00+00:00", "1")
    request = Read.model_construct(pool="teste", analyses=(name,), rung=None)
    return kept(evaluate(version, request, tables, [], Evidence(), decision, ENGINE))


def given_to(name: str, given: Given, decision: ReadDecision = FIRST) -> dict[str, Any]:
    """The same, where each system sees its own tables; as far as it is computed again from itself."""
    results: Sequence[Any] = conclude([name], [analyse(name, given)], given.protocol)
    documents = [evaluating._settled(each.as_json(), decision) for each in results]
    if decision.read_class == "guarda":
        documents = [verdicts_alone(each) for each in documents]
    return kept(
        {
            "standing": decision.read_class,
            "review": list(decision.review),
            "analyses": documents,
            **evaluating._thresholds(given.protocol, [name], Evidence()),
            **({} if given.rung is None else {"rung": given.rung}),
        }
    )


def kept(document: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = parse_canonical(canonical_json(document))
    return found
