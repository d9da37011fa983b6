"""A study of one judge as tests make it: its protocol, and tables of labels and scores, on dev."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.studies import HEAD, typed

from lacre.analyses import analyse
from lacre.analyses.given import Given
from lacre.analyses.result import AnalysisResult
from lacre.protocol.document import parse
from lacre.protocol.models import Protocol

RIVALS = re.compile(
    r"inter[-‐\s_]?(rater|annotator|coder|observer|judge)|reliab|confiab|fiabil"
    r"|inter[-‐\s]?(avaliador|anotador|observador|codificador|evaluador|juez|jueces|ju[ií]z)"
    r"|entre\s+(os\s+|los\s+)?(avaliadores|anotadores|observadores|codificadores|evaluadores|jueces|ju[ií]zes)",
    re.IGNORECASE,
)
"""Names of what this is not: several raters held against each other, or a property of the labels."""

DIGEST = "sha256:" + "4" * 64
SHARE = {"type": "number", "min": 0, "max": 1}
COLUMNS: dict[str, Any] = {
    "id": {"type": "text"},
    "locale": {"type": "category", "values": ["en", "es", "pt"]},
    "essay": {"type": "text"},
    "human": SHARE,
    "judge": SHARE,
}
THIRDS = {"low": [0, "1/3"], "middle": ["1/3", "2/3"], "high": ["2/3", 1]}
PLAN: dict[str, Any] = {
    "kind": "judge_agreement",
    "pool": "dev",
    "table": "cases",
    "bins": "degree",
    "weights": "linear",
    "dimensions": {"truth": {"human": "human", "judge": "judge"}},
    "bootstrap": {"resamples": 1000, "seed": 5},
}


def document_of(
    plan: Mapping[str, Any] | None = None, table: Mapping[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """Return a protocol as its document; a key of `plan` that is None is left out."""
    whole = {key: value for key, value in {**PLAN, **(plan or {})}.items() if value is not None}
    return {
        **HEAD,
        "systems": {"judge": {"version": "1", "digest": DIGEST}},
        "tables": {"cases": {"key": "id", "columns": COLUMNS, **(table or {})}},
        "pools": {"dev": {"tables": ["cases"]}},
        "bins": {"degree": THIRDS},
        "analyses": {"judge": whole},
        **more,
    }


def protocol_of(
    plan: Mapping[str, Any] | None = None, table: Mapping[str, Any] | None = None, **more: Any
) -> Protocol:
    """Return a protocol."""
    return parse(json.dumps(document_of(plan, table, **more)).encode())


def run(protocol: Protocol, rows: Sequence[Mapping[str, Any]], name: str = "judge") -> AnalysisResult:
    """Compute an analysis of rows."""
    (system,) = protocol.analyses[name].systems or tuple(protocol.systems)
    return analyse(name, Given.of_one(protocol, "cases", typed(protocol, rows), system))


def rows_of(table: Sequence[Sequence[int]], values: Sequence[Any], **more: Any) -> list[dict[str, Any]]:
    """Return the cases of a table of bins, each bin with a value that lies in it."""
    return [
        {"human": values[place], "judge": values[other], **more}
        for place, row in enumerate(table)
        for other, count in enumerate(row)
        for _ in range(count)
    ]
