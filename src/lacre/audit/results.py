"""What a result says of itself, held against its read: all that can be known without opening a pool."""

from collections.abc import Iterator
from typing import Any

from lacre.audit.documents import RESULT
from lacre.audit.findings import Finding, finding
from lacre.canonical import parse_canonical
from lacre.errors import NotCanonical
from lacre.rules.record import Recorded, Result
from lacre.rules.state import PoolState, ReadMade
from lacre.rules.verdicts import settle
from lacre.text import _

SEVERITY = ("FAIL", "MANUAL_REVIEW", "INSUFFICIENT_EVIDENCE", "PASS")
"""Of several states the first of these that occurs counts."""


def check_place(recorded: Recorded, result: Result, pool: PoolState, read: ReadMade) -> Iterator[Finding]:
    """Hold a result's entry against the read it names (rules 6, 15, 16)."""
    if pool.name != result.pool:
        yield _misplaced(recorded, _("that is a read of {pool}").format(pool=pool.name))
    if read.request.purpose == "inputs":
        yield _misplaced(recorded, _("that read handed out inputs, and has no result"))
    if result.confirmatory != read.decision.confirmatory:
        yield _misplaced(recorded, _("its read decides whether it is confirmatory, and decided otherwise"))
    allowed = settle(result.state, read.decision)
    if allowed != result.state:
        what = _("the entry")
        yield finding("result-state", recorded.index, what=what, stated=result.state, expected=allowed)


def check_document(
    recorded: Recorded, result: Result, protocol_hash: str, read: ReadMade, body: bytes
) -> Iterator[Finding]:
    """Hold a result's document against its entry, its read, and the protocol's analyses."""
    try:
        document = parse_canonical(body)
    except NotCanonical as error:
        document, trouble = None, error.message
    else:
        trouble = _("it is not a record")
    if not isinstance(document, dict):
        yield finding("document-invalid", recorded.index, what=_(RESULT.name), digest=result.result, why=trouble)
        return
    for path, expected in _expected(result, protocol_hash, read).items():
        stated = _at(document, path)
        if stated != expected or type(stated) is not type(expected):
            yield finding("result-differs", recorded.index, what=path, stated=stated, expected=expected)
    yield from _check_analyses(recorded, document, read)


def _expected(result: Result, protocol_hash: str, read: ReadMade) -> dict[str, Any]:
    decision = read.decision
    return {
        "study": result.study,
        "protocol": f"sha256:{protocol_hash}",
        "pool": result.pool,
        "standing": decision.read_class,
        "read": decision.number,
        "confirmatory": result.confirmatory,
        "retrospective": decision.retrospective,
        "exploratory": list(decision.exploratory),
        "review": list(decision.review),
        "state": result.state,
        "engine.lacre": read.engine.lacre,
        "engine.statistics": read.engine.statistics,
    }


def _check_analyses(recorded: Recorded, document: dict[str, Any], read: ReadMade) -> Iterator[Finding]:
    listed = document.get("analyses")
    analyses = [each if isinstance(each, dict) else {} for each in listed] if isinstance(listed, list) else []
    named = [str(each.get("id")) for each in analyses]
    if named != list(read.request.analyses):
        asked = ", ".join(read.request.analyses)
        yield finding("result-differs", recorded.index, what="analyses", stated=", ".join(named), expected=asked)
    for name, analysis in zip(named, analyses, strict=True):
        if analysis.get("confirmatory") is not read.decision.confirmatory:
            yield finding("result-differs", recorded.index, what=f"{name}.confirmatory",
                          stated=analysis.get("confirmatory"), expected=read.decision.confirmatory)  # fmt: skip
        stated = str(analysis.get("state"))
        allowed = settle(str(analysis.get("computed")), read.decision)
        if stated != allowed:
            yield finding("result-state", recorded.index, what=name, stated=stated, expected=allowed)
    states = {str(each.get("state")) for each in analyses}
    worst = next((state for state in SEVERITY if state in states), "-")
    if document.get("state") != worst:
        what = _("all analyses together")
        yield finding("result-state", recorded.index, what=what, stated=document.get("state"), expected=worst)


def _at(document: dict[str, Any], path: str) -> Any:
    value: Any = document
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _misplaced(recorded: Recorded, why: str) -> Finding:
    return finding("result-misplaced", recorded.index, why=why)
