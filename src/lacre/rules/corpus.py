"""An open pool: committed in parts, in its order, and read by whoever likes (rules 3, 4, 12 and 15)."""

from collections.abc import Mapping, Sequence

from lacre.errors import (
    AnalysisNotDeclared,
    CorpusExposes,
    CorpusIncomplete,
    CorpusLabelsEarly,
    CorpusOfOthers,
    CorpusReadOtherwise,
    CorpusTakesNothing,
    PartCommitted,
    PartForeign,
    PartHoldsOthers,
    PartNotDeclared,
    PartOutOfOrder,
    PartTablesDiffer,
    PoolNotOpen,
    RecordInvalid,
    RequestOutdated,
    RunsOneAnalysis,
    ScoresBeforeLabels,
    VersionAddsNothing,
    VersionBeyondDraw,
    VersionDropsCases,
    VersionLabelsEarly,
)
from lacre.protocol.models import Protocol
from lacre.protocol.pools import Pool, part_of, parts_of, tables_of_part
from lacre.rules.answers import Overlap, PartDecision, PartFacts, Shortfall
from lacre.rules.changes import reads_the_same, uses
from lacre.rules.common import (
    declared_pool,
    known_of,
    require_in_force,
    require_open,
    require_role,
    require_study,
)
from lacre.rules.overlap_words import overlaps_text
from lacre.rules.requests import CommitPart, Read
from lacre.rules.state import CorpusState, State, StudyState
from lacre.rules.thresholds import require_frozen
from lacre.rules.wire import moment
from lacre.text import _

AMENDED_SINCE_LABELS = "amended-since-labels"


def decide_part(state: State, request: CommitPart, by: str, facts: PartFacts) -> PartDecision:
    """Whether one part of an open pool may be committed: in order, once, and holding nothing of a later part."""
    require_role(state, by, "registrant")
    study = require_study(state, request.study)
    require_open(study)
    require_in_force(study, request.protocol)
    check_turn(study, request.pool, request.part)
    _check_tables(study, request, facts)
    if facts.misplaced:
        raise PartHoldsOthers(part=request.part, columns=", ".join(facts.misplaced))
    if facts.foreign:
        raise PartForeign(part=request.part, pool=request.pool, count=facts.foreign)
    if study.corpus is not None and study.corpus.version > 1:
        _check_grown(study, study.corpus, request, facts)
    elif facts.grown is not None:
        raise RecordInvalid(what=_("entry"), why=_("it compares versions of a corpus that has one"))
    if facts.early:
        time = moment(study.registered.time)
        raise CorpusLabelsEarly(pool=request.pool, count=facts.early, time=time)
    if facts.disordered:
        raise ScoresBeforeLabels(pool=request.pool, count=facts.disordered)
    if (request.part == "cases") != (request.fingerprints is not None):
        raise RecordInvalid(what=_("request"), why=_("fingerprints come with the cases, and with them alone"))
    shortfall: tuple[Shortfall, ...] = ()
    if request.part == "cases":
        _check_unseen(study, request.pool, facts)
        planned = study.in_force.protocol.pools[request.pool].planned
        shortfall = tuple(
            Shortfall(table=table, planned=count, rows=facts.rows[table])
            for table, count in planned.items()
            if table in facts.rows and facts.rows[table] < count
        )
    return PartDecision(shortfall=shortfall, known=known_of(study))


def check_turn(study: StudyState, name: str, part: str) -> None:
    """Rule 4, what needs no look at the files: each part once, after the one before it, and as the first was read."""
    pool = declared_pool(study, name)
    if pool.open is None:
        raise PoolNotOpen(pool=name)
    parts = parts_of(pool)
    if part not in parts:
        raise PartNotDeclared(part=part, pool=name, parts=", ".join(parts))
    made = study.corpus.part(part) if study.corpus is not None else None
    if made is not None:
        raise PartCommitted(part=part, pool=name, entry=made.entry, time=moment(made.time), study=study.slug)
    first = next_part(study, pool)
    if first != part:
        raise PartOutOfOrder(part=part, pool=name, first=first, study=study.slug)
    if study.corpus is not None:
        _require_same_reading(study, study.corpus)


def next_part(study: StudyState, pool: Pool) -> str | None:
    """The part of an open pool that is to be committed next; None once all of them stand."""
    corpus = study.corpus
    done = {made.request.part for made in corpus.of_version(corpus.version)} if corpus is not None else set()
    return next((part for part in parts_of(pool) if part not in done), None)


def _check_tables(study: StudyState, request: CommitPart, facts: PartFacts) -> None:
    """Rule 2: a part comes with each table that has columns of it, and with no other.

    Once a corpus grew, a table that has no case to be labelled stays away: one without rows cannot be given.
    """
    protocol = study.in_force.protocol
    declared = set(tables_of_part(protocol.pools[request.pool], protocol.tables, request.part))
    given = {file.table for file in request.files}
    grew = study.corpus is not None and study.corpus.version > 1 and request.part != "cases"
    asked = {table for table in declared if table in given or table in facts.absent} if grew else declared
    if not asked <= given <= declared or facts.rows.keys() != given:
        raise PartTablesDiffer(
            part=request.part,
            declared=", ".join(sorted(declared)),
            missing=", ".join(sorted(declared - given)) or "-",
            unknown=", ".join(sorted(given - declared)) or "-",
        )


def _check_unseen(study: StudyState, pool: str, facts: PartFacts) -> None:
    """Rule 12: what is committed in the open is exposed from then on, so it is of no pool that is to stay apart."""
    kept_apart = [
        overlap
        for overlap in facts.shared
        if overlap.bars and overlap.pool in study.pools and study.pools[overlap.pool].standing != "dev"
    ]
    barred: Sequence[Overlap] = (*kept_apart, *facts.exposes)
    if barred:
        raise CorpusExposes(pool=pool, overlaps=overlaps_text(barred))


def _check_grown(study: StudyState, corpus: CorpusState, request: CommitPart, facts: PartFacts) -> None:
    """Rule 13: hold a part of a later version against the version before, and against what was drawn."""
    grown = facts.grown
    if grown is None:
        raise RecordInvalid(
            what=_("entry"), why=_("it does not say what it has beside the version before it")
        )
    if request.part == "cases":
        if grown.dropped or grown.changed:
            raise VersionDropsCases(pool=corpus.name, dropped=grown.dropped, changed=grown.changed)
        if not grown.added:
            raise VersionAddsNothing(pool=corpus.name, study=study.slug)
        return
    # Scores come again of all that were drawn, or of none, whose old ones stand: a few would be chosen ones.
    none = request.part == "scores" and grown.unlabelled == corpus.rebalances[-1].facts.drawn
    if grown.undrawn or grown.dropped or (grown.unlabelled and not none):
        lacking = grown.unlabelled + grown.dropped
        raise VersionBeyondDraw(
            part=request.part, undrawn=grown.undrawn, unlabelled=lacking, study=study.slug
        )
    if facts.early:
        raise VersionLabelsEarly(count=facts.early, time=moment(corpus.rebalances[-1].time))


def reads_as_committed(study: StudyState, corpus: CorpusState, after: Protocol) -> bool:
    """Whether the files of an open pool are read, and parted, under the plan `after` as they were committed."""
    version = study.version(corpus.declared_by)
    return (
        version is not None
        and reads_the_same(version.protocol, after, corpus.name)
        and _parts(version.protocol, corpus.name) == _parts(after, corpus.name)
    )


def _require_same_reading(study: StudyState, corpus: CorpusState) -> None:
    """Rule 2: what was committed as declared then must still be as declared now, its parts included."""
    if not reads_as_committed(study, corpus, study.in_force.protocol):
        raise CorpusReadOtherwise(pool=corpus.name, entry=corpus.since, amended=study.in_force.entry)


def _parts(protocol: Protocol, name: str) -> Mapping[str, object]:
    """Which column of an open pool is of which part, and in what order they come."""
    pool = protocol.pools[name]
    held = {
        table: {each: part_of(column) for each, column in protocol.tables[table].columns.items()}
        for table in pool.tables
    }
    return {"order": parts_of(pool), "columns": held}


# --- reading -----------------------------------------------------------------------------------------------


def run_of_corpus(study: StudyState, request: Read) -> tuple[int, tuple[str, ...]]:
    """Whether an analysis may run on an open pool: the number of the read, and why its result is exploratory.

    It is once the plan was amended, in what the analysis uses, after labels stood: whoever has seen them can fit
    a plan to them (rule 15).
    """
    protocol, name = study.in_force.protocol, request.pool
    if len(request.analyses) != 1:
        raise RunsOneAnalysis(count=len(request.analyses))
    (analysis,) = request.analyses
    if analysis not in protocol.analyses:
        raise AnalysisNotDeclared(analysis=analysis, declared=", ".join(protocol.analyses))
    if protocol.analyses[analysis].pool != name:
        raise CorpusOfOthers(analysis=analysis, pool=name, own=protocol.analyses[analysis].pool)
    if request.submissions or request.rung or request.ciphertext or request.accept_dev:
        raise CorpusTakesNothing(pool=name)
    corpus = whole_corpus(study, name)
    if request.parts != corpus.entries:
        raise RequestOutdated(pool=name, entry=corpus.parts[-1].entry)
    require_frozen(study, protocol, request.analyses)
    number = len(corpus.of_class("corpus")) + 1
    return number, ((AMENDED_SINCE_LABELS,) if amended_since_labels(study, corpus, request.analyses) else ())


def whole_corpus(study: StudyState, name: str) -> CorpusState:
    """Rule 4: an open pool is read once all its parts stand."""
    pool, corpus = declared_pool(study, name), study.corpus
    missing = next_part(study, pool)
    if corpus is None or missing is not None:
        parts = parts_of(pool)
        first = missing or parts[0]
        left = parts[parts.index(first) :]
        raise CorpusIncomplete(pool=name, missing=", ".join(left), first=first, study=study.slug)
    _require_same_reading(study, corpus)
    return corpus


def amended_since_labels(study: StudyState, corpus: CorpusState, analyses: Sequence[str]) -> bool:
    """Rule 15: whether what the analyses use is another than when the first labels were committed."""
    labels = next((made for made in corpus.parts if made.request.part == "labels"), corpus.parts[0])
    before = study.version(labels.request.protocol)
    if before is None or any(name not in before.protocol.analyses for name in analyses):
        return True
    now = study.in_force.protocol
    return uses(before.protocol, corpus.name, analyses) != uses(now, corpus.name, analyses)
