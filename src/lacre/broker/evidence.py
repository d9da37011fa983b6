"""What analyses are given beside the tables of their read: thresholds that were frozen, draws, second labels."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lacre.analyses.floors import Floor, floors_of
from lacre.analyses.given import Drawn, Frozen
from lacre.broker.beside import result_document
from lacre.broker.desk import Desk, Progress, recorded
from lacre.broker.drawn import drawn_as_registered
from lacre.broker.ingest import Raw, raws_of
from lacre.broker.submissions import context_of
from lacre.errors import cells_untold
from lacre.pools import vault
from lacre.protocol.models import Protocol
from lacre.protocol.tables import Table
from lacre.rules.answers import FrozenThreshold
from lacre.rules.drawing import relabels_needed, relabels_of
from lacre.rules.history import Calibrated, Committed
from lacre.rules.record import Result
from lacre.rules.state import CorpusState, PoolState, State, StudyState
from lacre.rules.thresholds import frozen_for
from lacre.tables.columns import TypedTable
from lacre.tables.join import concat
from lacre.tables.read import read_table
from lacre.text import N_


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was on record before a read; `frozen` are thresholds with the calibration that froze each.

    `rung` is the mitigation by training that its systems went through. `floors` are those of labels that earlier
    results on the same cases told.
    """

    frozen: Mapping[tuple[str, str], tuple[FrozenThreshold, Calibrated]] = field(default_factory=dict)
    draws: Mapping[str, Drawn] = field(default_factory=dict)
    relabelled: Mapping[str, TypedTable] = field(default_factory=dict)
    rung: str | None = None
    floors: tuple[Floor, ...] = ()

    @property
    def thresholds(self) -> dict[tuple[str, str], Frozen]:
        """The thresholds as analyses take them."""
        return {key: Frozen(float(each.value), made.entry) for key, (each, made) in self.frozen.items()}


def evidence_for(
    desk: Desk,
    state: State,
    study: StudyState,
    pool: PoolState | CorpusState,
    protocol: Protocol,
    analyses: Sequence[str],
    before: int,
) -> Evidence:
    """Gather what the analyses of a read, whose first attempt is the entry `before`, rest on; its entry stands."""
    draws = drawn_as_registered(study, protocol, before)
    relabelled = {}
    for name in relabels_needed(protocol, tuple(analyses)):
        assert isinstance(pool, PoolState), "no plan has cases of an open pool labelled again"
        committed = relabels_of(study, protocol, pool, name, before)
        if committed is not None:
            relabelled[name] = open_relabels(desk, state, study, pool, protocol, committed)
    frozen = frozen_for(study, protocol, analyses, before)
    return Evidence(frozen, draws, relabelled, floors=tuple(_floors(desk, study, pool, before)))


def _floors(desk: Desk, study: StudyState, pool: PoolState | CorpusState, before: int) -> Iterator[Floor]:
    """The floors that earlier results told of the labels of these cases, oldest first."""
    with desk.snapshot() as reader:
        for read in pool.reads:
            version = study.version(read.request.protocol)
            if read.result is None or not pool.since < read.entry < before or version is None:
                continue
            content = recorded(reader, read.result).content
            assert isinstance(content, Result)
            yield from floors_of(version.protocol, result_document(reader, content.result)["analyses"])


def relabels_context(draw: str) -> str:
    """What stands in place of a system's name where second labels are kept; no system can be called so."""
    return f"relabels {draw}"


@cells_untold
def open_relabels(
    desk: Desk,
    state: State,
    study: StudyState,
    pool: PoolState,
    protocol: Protocol,
    committed: Committed,
) -> TypedTable:
    """Decrypt and type second labels."""
    request = committed.request
    opened = vault.open_submission(
        desk.vault,
        context_of(state, study.slug, pool, relabels_context(request.draw)),
        kept_relabels(pool, committed),
        desk.identities(),
    )
    return read_relabels(protocol, request.draw, raws_of(opened, request.records), desk.progress)


def relabel_table(protocol: Protocol, draw: str, keep: Collection[str] = ()) -> Table:
    """The form of a file with second labels: key, the columns that are labelled again, when they were, and `keep`."""
    declared, again = protocol.tables[draw], (*protocol.relabel[draw].columns, *keep)
    kept = {
        name: column
        for name, column in declared.columns.items()
        if name in again or name in declared.key or "labelled" in column.is_
    }
    return declared.model_copy(update={"columns": kept, "exclude": [], "unit": None, "cluster": []})


def read_relabels(
    protocol: Protocol, draw: str, raws: Sequence[Raw], progress: Progress, keep: Collection[str] = ()
) -> TypedTable:
    """Type files with second labels, with the columns in `keep` beside them, which have to be there.

    Raises what `read_table` does.
    """
    form, parts = relabel_table(protocol, draw, keep), []
    for done, raw in enumerate(raws):
        progress(N_("reading"), done, len(raws))
        parts.append(
            read_table(raw.content.read(), form, draw, raw.format, only="pool", file=raw.name, keep=keep)
        )
    return concat(parts)


def kept_relabels(pool: PoolState, committed: Committed) -> vault.SealedSubmission:
    """Second labels on record, in the vault's terms."""
    request = committed.request
    wrapped_key = pool.wrapped_keys.get(request.blob, request.wrapped_key)
    return vault.SealedSubmission(
        request.blob,
        wrapped_key,
        tuple(vault.Record(r.table, r.hmac) for r in request.records),
        pool.recipients,
        keyset=wrapped_key in pool.keysets,
    )
