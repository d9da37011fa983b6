"""The locked remedy: a corpus grows under a flagged paradox, as often as registered; nothing else moves (rule 13)."""

from lacre.errors import (
    RebalanceAmended,
    RebalanceNeedsParadox,
    RebalanceNeedsResult,
    RebalanceNotRegistered,
    RebalancesSpent,
    RecordInvalid,
)
from lacre.rules.answers import RebalanceDecision, RebalanceFacts
from lacre.rules.common import known_of, require_in_force, require_open, require_role, require_study
from lacre.rules.corpus import amended_since_labels, whole_corpus
from lacre.rules.history import ReadMade, Rebalanced
from lacre.rules.requests import Read, Rebalance
from lacre.rules.state import CorpusState, State, StudyState
from lacre.text import _


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
    if not facts.paradoxes:
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


def flagging_analysis(study: StudyState, made: Rebalanced) -> str:
    """The analysis whose result a rebalance answers."""
    found = study.result_read(made.request.result)
    assert found is not None, "the law lets no other corpus grow"
    return found[1].request.analyses[0]


def _answered_read(study: StudyState, corpus: CorpusState, result: int) -> ReadMade:
    found = next((read for read in results_of(corpus, corpus.version) if read.result == result), None)
    if found is None:
        raise RebalanceNeedsResult(study=study.slug, version=corpus.version)
    return found
