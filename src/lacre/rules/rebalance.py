"""The locked remedy: a corpus grows under a flagged paradox, as often as registered; nothing else moves (rule 13)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from typing import Any

from lacre.errors import (
    RebalanceAmended,
    RebalanceNeedsParadox,
    RebalanceNeedsResult,
    RebalanceNotRegistered,
    RebalancesSpent,
    RecordInvalid,
)
from lacre.protocol.models import Protocol
from lacre.rules.answers import RebalanceDecision, RebalanceFacts
from lacre.rules.common import known_of, require_in_force, require_open, require_role, require_study
from lacre.rules.corpus import AMENDED_SINCE_LABELS, amended_since_labels, whole_corpus
from lacre.rules.history import ReadMade, Rebalanced
from lacre.rules.requests import Read, Rebalance
from lacre.rules.state import CorpusState, State, StudyState
from lacre.text import _

SHARE = Fraction(1, 10)
"""The share of the old cases that is labelled again, rounded up to a whole case: that of agreement with oneself."""

JUDGE = "judge_agreement"
"""The kind of analysis that flags paradoxes, and the table of its results in which it does."""

DRAW = "lacre-relabel-v1"


def decide_rebalance(state: State, request: Rebalance, by: str, facts: RebalanceFacts) -> RebalanceDecision:
    """Whether the corpus may grow: on a paradox that its latest result flags, and under the plan as it was."""
    require_role(state, by, "registrant")
    study = require_study(state, request.study)
    require_open(study)
    require_in_force(study, request.protocol)
    corpus = rebalanced_corpus(study, request.pool)
    read = _answered_read(study, corpus, request.result)
    if amended_since_labels(study, corpus, read.request.analyses):
        raise RebalanceAmended(pool=corpus.name)
    if not as_registered(read):
        raise RebalanceNeedsResult(study=study.slug, version=corpus.version)
    flagging = study.in_force.protocol.analyses[read.request.analyses[0]]
    if not facts.paradoxes or flagging.kind != JUDGE:
        raise RebalanceNeedsParadox(study=study.slug, entry=request.result)
    if not 0 < facts.drawn <= facts.population:
        raise RecordInvalid(what=_("entry"), why=_("more cases are drawn than there are, or none"))
    return RebalanceDecision(version=corpus.version + 1, known=known_of(study))


def rebalanced_corpus(study: StudyState, name: str) -> CorpusState:
    """Return the corpus that may grow once more, whatever its results say."""
    protocol = study.in_force.protocol
    if "rebalance" not in protocol.remedies or protocol.max_rebalances is None:
        raise RebalanceNotRegistered(study=study.slug)
    corpus = whole_corpus(study, name)
    if len(corpus.rebalances) >= protocol.max_rebalances:
        raise RebalancesSpent(study=study.slug, count=len(corpus.rebalances))
    return corpus


def results_of(corpus: CorpusState, version: int) -> tuple[ReadMade, ...]:
    """The reads of a version that have a result, in order."""
    return tuple(
        read
        for read in corpus.reads
        if read.read_class == "corpus"
        and read.result is not None
        and isinstance(read.request, Read)
        and corpus.version_of(read.request.parts or ()) == version
    )


def as_registered(read: ReadMade) -> bool:
    """Whether a read was made under the plan that the labels were written under, in what its analysis uses."""
    return AMENDED_SINCE_LABELS not in read.decision.exploratory


def flagging_plan(study: StudyState, made: Rebalanced) -> tuple[Protocol, str]:
    """The plan that a rebalance was made under, and the analysis whose result it answers."""
    found, version = study.result_read(made.request.result), study.version(made.request.protocol)
    assert found is not None, "the law lets no other corpus grow"
    assert version is not None, "nor under a plan that never was in force"
    return version.protocol, found[1].request.analyses[0]


def _answered_read(study: StudyState, corpus: CorpusState, result: int) -> ReadMade:
    found = next((read for read in results_of(corpus, corpus.version) if read.result == result), None)
    if found is None:
        raise RebalanceNeedsResult(study=study.slug, version=corpus.version)
    return found


def flagged(document: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the paradoxes of pooled kappas that a result flags: analysis, dimension, and the bin that holds most.

    A line that disclosure control withholds flags none.
    """
    return [
        (analysis["id"], row["dimension"], row["paradox"]["bin"])
        for analysis in document["analyses"]
        for row in analysis.get("tables", {}).get(JUDGE, ())
        if row.get("paradox") is not None and not row["group"]
    ]


def drawn_again(protocol: Protocol, analysis: str, keys: Sequence[str], version: int) -> frozenset[str]:
    """Return which of the old cases, by their `keys`, are labelled again for `version`: `SHARE` of them, rounded up.

    They are the first in the order of SHA-256 over `lacre-relabel-v1`, the seed, no stratum, and the key, each after
    its length in 8 bytes: the draw of a share by `lacre.stats.draws`, under the seed of the analysis's bootstrap plus
    the version's number, so that each version draws anew.
    """
    seed = protocol.analyses[analysis].bootstrap.seed + version  # type: ignore[attr-defined]  # a judge's plan has one
    head = b"".join(map(_field, (DRAW, str(seed), "")))
    order = sorted(keys, key=lambda key: sha256(head + _field(key)).digest())
    return frozenset(order[: -(-len(keys) * SHARE.numerator // SHARE.denominator)])


def redrawn(
    study: StudyState, corpus: CorpusState, version: int, keys_of: Callable[[str], Iterable[str]]
) -> dict[str, frozenset[str]]:
    """Return the old cases that are labelled again for a later `version`, by table.

    They are drawn by the plan the corpus was let grow under, whatever is in force since: whoever could amend the seed
    afterwards would choose them. `keys_of` gives the keys of a table's cases in the version before.
    """
    plan, analysis = flagging_plan(study, corpus.rebalances[version - 2])
    table = plan.analyses[analysis].table
    return {table: drawn_again(plan, analysis, list(keys_of(table)), version)}


def _field(text: str) -> bytes:
    data = text.encode()
    return len(data).to_bytes(8, "big") + data
