"""What a result says of itself, held against its read: all that can be known without opening a pool."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lacre.audit.findings import Finding, finding
from lacre.canonical import parse_canonical
from lacre.errors import NotCanonical
from lacre.protocol.models import Protocol
from lacre.rules.drawing import NOT_SEALED, absent_of
from lacre.rules.history import ReadMade
from lacre.rules.named import RESULT
from lacre.rules.record import Recorded, Result
from lacre.rules.requests import Erratum
from lacre.rules.state import ANALYSED, CorpusState, PoolState, StudyState
from lacre.rules.thresholds import Frozen, frozen_for
from lacre.rules.verdicts import SEVERITY, settle, worst
from lacre.text import _

REVIEW = "MANUAL_REVIEW"


@dataclass(frozen=True, slots=True)
class GivenBefore:
    """What the entries before a read give it: thresholds, and how many drawn cases each analysis does without."""

    frozen: Frozen
    absent: Mapping[str, int]


def check_place(
    recorded: Recorded, result: Result, pool: PoolState | CorpusState, read: ReadMade
) -> Iterator[Finding]:
    """Hold a result's entry against the read it names (rules 6, 15, 16)."""
    if pool.name != result.pool:
        yield _misplaced(recorded, _("that is a read of {pool}").format(pool=pool.name))
    if read.request.purpose not in {*ANALYSED, "erratum"}:
        yield _misplaced(recorded, _("that read was not to be analysed, and has no result"))
    if result.confirmatory != read.decision.confirmatory:
        yield _misplaced(recorded, _("its read decides whether it is confirmatory, and decided otherwise"))
    allowed = settle(result.computed or result.state, read.decision)
    if allowed != result.state:
        what = _("the entry")
        yield finding("result-state", recorded.index, what=what, stated=result.state, expected=allowed)


def check_document(
    recorded: Recorded,
    result: Result,
    protocol_hash: str,
    read: ReadMade,
    given: GivenBefore | None,
    body: bytes,
) -> Iterator[Finding]:
    """Hold a result's document against its entry, its read, and the protocol's analyses.

    `given` is what the entries before the read give it; None where that is not known.
    """
    try:
        document = parse_canonical(body)
    except NotCanonical as error:
        document, trouble = None, error.message
    else:
        trouble = _("it is not a record")
    if not isinstance(document, dict):
        yield finding(
            "document-invalid", recorded.index, what=_(RESULT.name), digest=result.result, why=trouble
        )
        return
    for path, expected in _expected(result, protocol_hash, read).items():
        stated = _at(document, path)
        if stated != expected or type(stated) is not type(expected):
            yield _differs(recorded, path, stated, expected)
    yield from _check_erratum(recorded, document, read)
    yield from _check_analyses(recorded, result, document, read)
    if given is not None:
        yield from _check_thresholds(recorded, document, given.frozen)
        if read.read_class != "guarda":
            yield from _check_absent(recorded, document, given.absent)


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


def _check_erratum(recorded: Recorded, document: dict[str, Any], read: ReadMade) -> Iterator[Finding]:
    """Rule 17: the result of an erratum says which one it corrects, and how many cells; no other says it."""
    stated = document.get("erratum")
    if not isinstance(read.request, Erratum):
        if "erratum" in document:
            yield _differs(recorded, "erratum", stated, None)
        return
    found = stated if isinstance(stated, dict) else {}
    corrects = f"{read.request.study}@{read.request.corrects}"
    if found.get("corrects") != corrects:
        yield _differs(recorded, "erratum.corrects", found.get("corrects"), corrects)
    changed = found.get("changed")
    counts = changed.values() if isinstance(changed, dict) else [None]
    if not all(type(count) is int and count > 0 for count in counts):
        yield _differs(recorded, "erratum.changed", changed, _("counts of cells"))
    # A column is told as TABLE.COLUMN, and only tables that were given can have changed.
    tables = tuple(f"{record.table}." for record in read.request.records)
    for column in changed if isinstance(changed, dict) else ():
        if not str(column).startswith(tables):
            yield _differs(recorded, "erratum.changed", column, ", ".join(tables))


def given_before(study: StudyState, protocol: Protocol, read: ReadMade) -> GivenBefore:
    """Return what a read is given by the entries before its first attempt.

    An erratum has the thresholds of the read that it corrects.
    """
    first = read.first_attempt
    if isinstance(read.request, Erratum):
        corrected = study.result_read(read.request.corrects)
        first = first if corrected is None else corrected[1].first_attempt
    draws = {name: protocol.analyses[name].drawn() for name in read.request.analyses}
    return GivenBefore(
        frozen_for(study, protocol, read.request.analyses, first),
        {name: absent_of(study, protocol, each) for name, each in draws.items() if each is not None},
    )


def _check_absent(
    recorded: Recorded, document: dict[str, Any], absent: Mapping[str, int]
) -> Iterator[Finding]:
    """Rule 14: drawn cases that never were sealed are left out of what weighs by their draw, and counted."""
    for analysis in _records(document.get("analyses")):
        name = str(analysis.get("id"))
        left_out = _records(analysis.get("left_out"))
        told = sorted({str(each.get("count")) for each in left_out if each.get("reason") == NOT_SEALED})
        expected = [str(absent[name])] if absent.get(name) else []
        if told != expected:
            stated, wanted = (", ".join(each) or "-" for each in (told, expected))
            yield _differs(recorded, f"{name}.left_out.{NOT_SEALED}", stated, wanted)


def _check_thresholds(recorded: Recorded, document: dict[str, Any], frozen: Frozen) -> Iterator[Finding]:
    """Rule 8: calibrated thresholds are those that were frozen last before the read, each by the entry named."""
    told = {
        (str(each.get("name")), str(each.get("system") or "")): (each.get("value"), each.get("entry"))
        for each in _records(document.get("thresholds"))
        if each.get("entry") is not None
    }
    known = {key: (float(each.value), made.entry) for key, (each, made) in frozen.items()}
    for key in dict.fromkeys((*known, *told)):
        stated, expected = told.get(key, (None, None)), known.get(key, (None, None))
        for name, one, other in zip(("value", "entry"), stated, expected, strict=True):
            if one != other or isinstance(one, bool):
                yield _differs(recorded, ".".join(filter(None, ("thresholds", *key, name))), one, other)


def _check_analyses(
    recorded: Recorded, result: Result, document: dict[str, Any], read: ReadMade
) -> Iterator[Finding]:
    analyses = _records(document.get("analyses"))
    named = [str(each.get("id")) for each in analyses]
    if named != list(read.request.analyses):
        asked = ", ".join(read.request.analyses)
        yield _differs(recorded, "analyses", ", ".join(named), asked)
    for name, analysis in zip(named, analyses, strict=True):
        if analysis.get("confirmatory") is not read.decision.confirmatory:
            what = f"{name}.confirmatory"
            yield _differs(recorded, what, analysis.get("confirmatory"), read.decision.confirmatory)
        yield from _check_settled(recorded, name, analysis, read)
        criteria = _records(analysis.get("criteria"))
        for criterion in criteria:
            what = f"{name}.{criterion.get('id')}"
            yield from _check_settled(recorded, what, criterion, read)
            for group in _records(criterion.get("groups")):
                yield from _check_settled(recorded, what, group, read)
        if criteria and analysis.get("computed") != REVIEW:  # an analysis may ask for one by itself
            yield from _check_worst(recorded, name, analysis.get("computed"), criteria, "computed")
    whole = _("all analyses together")
    yield from _check_worst(recorded, whole, document.get("state"), analyses, "state")
    if result.computed is not None:
        yield from _check_worst(recorded, whole, result.computed, analyses, "computed")


def _check_settled(
    recorded: Recorded, what: str, judged: dict[str, Any], read: ReadMade
) -> Iterator[Finding]:
    """Rules 15 and 16: a state is what its read allows of what was computed."""
    allowed = settle(str(judged.get("computed")), read.decision)
    if judged.get("state") != allowed:
        yield finding("result-state", recorded.index, what=what, stated=judged.get("state"), expected=allowed)


def _check_worst(
    recorded: Recorded, what: str, stated: object, parts: list[dict[str, Any]], key: str
) -> Iterator[Finding]:
    """A whole reads as the worst of its parts does."""
    states = [state for each in parts if (state := str(each.get(key))) in SEVERITY]
    expected = worst(states) if states else "-"
    if stated != expected:
        yield finding("result-state", recorded.index, what=what, stated=stated, expected=expected)


def _records(value: object) -> list[dict[str, Any]]:
    items = value if isinstance(value, list) else []
    return [each if isinstance(each, dict) else {} for each in items]


def _differs(recorded: Recorded, what: str, stated: object, expected: object) -> Finding:
    return finding("result-differs", recorded.index, what=what, stated=stated, expected=expected)


def _at(document: dict[str, Any], path: str) -> Any:
    value: Any = document
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _misplaced(recorded: Recorded, why: str) -> Finding:
    return finding("result-misplaced", recorded.index, why=why)
