"""An open pool: its parts committed as documents beside the log, and read again; nothing is encrypted."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from typing import Any

from lacre.analyses.families import check_unit
from lacre.analyses.judge_cases import check_bins
from lacre.broker.desk import (
    BLANK,
    Desk,
    answered,
    ask_beforehand,
    enter,
    remember,
    sign_request,
    view,
    warnings_of,
)
from lacre.broker.files import parse_given, require_tables
from lacre.broker.groundwork import PartKept
from lacre.broker.ingest import PoolTable, Raw, digests, load, outside
from lacre.broker.overlaps import Gathered, gather, still_fresh
from lacre.canonical import sha256_hex
from lacre.errors import CorpusDocumentChanged, CorpusFileTooLarge, cells_untold
from lacre.pools.exposure import fingerprint
from lacre.pools.held import hold
from lacre.pools.met import met_elsewhere, person_key, remember as remember_cases
from lacre.pools.prints import Prints
from lacre.protocol.models import Protocol
from lacre.protocol.pools import tables_of_part
from lacre.rules.answers import Grown, PartDecision, PartFacts
from lacre.rules.common import declared_pool, require_study
from lacre.rules.corpus import check_turn, next_part
from lacre.rules.history import PartMade
from lacre.rules.rebalance import redrawn
from lacre.rules.record import CORPUS_MEDIA, MOST_DOCUMENT
from lacre.rules.requests import CommitPart, OpenFile
from lacre.rules.state import CorpusState, State, StudyState
from lacre.store.reader import Reader
from lacre.tables.formats import Format
from lacre.tables.parts import PartCounts, PartFile, PartRead, count_part, dated_after, read_part
from lacre.tables.versions import GrownCounts, count_version, keys_in, standing
from lacre.text import N_, ngettext

POOL = "corpus"
"""The one role of an open pool, which is its name."""


@dataclass(frozen=True, slots=True)
class _Ready:
    """A part's files, read, typed, and held against the parts before it; of the cases, with their fingerprints."""

    raws: tuple[Raw, ...]
    files: tuple[PartFile, ...]
    read: PartRead
    counts: PartCounts
    outside: Mapping[str, int]
    grown: GrownCounts | None = None
    prints: Prints | None = None
    personal: Prints | None = None

    @property
    def named(self) -> tuple[OpenFile, ...]:
        """The files as the request names them."""
        return tuple(
            OpenFile(table=raw.table, format=raw.format.value, sha256=raw.content.sha256) for raw in self.raws
        )


def commit_part(desk: Desk, study: str, part: str, files: Sequence[str]) -> PartKept:
    """Commit to the `cases`, `labels` or `scores` of an open pool, given as `[TABLE=]FILE` (rules 2, 3, 4 and 12).

    The files stand in the ledger as they are, and go out with every copy of it. Raises what the law refuses, before
    anything is kept, `CorpusFileTooLarge`, and what reading does.
    """
    state = desk.view(study)
    known = require_study(state, study)
    protocol = known.in_force.protocol
    pool = declared_pool(known, POOL)
    check_turn(known, POOL, part)
    ready = _read(desk, state, known, part, files)
    fields: dict[str, Any] = {
        "study": study,
        "pool": POOL,
        "part": part,
        "protocol": known.in_force.protocol_hash,
        "files": ready.named,
    }
    gathered, facts = _facts(desk, desk.snapshot(), state, study, ready)
    blank = BLANK if ready.prints is not None else None
    ask_beforehand(desk, state, CommitPart, facts, **fields, fingerprints=blank)
    fingerprints = _keep_prints(desk, study, ready)
    signed = sign_request(desk, CommitPart, **fields, fingerprints=fingerprints)
    with desk.writer.transaction() as tx:
        state = view(tx, study)
        if gathered is not None and not still_fresh(tx, gathered):
            gathered, facts = _facts(desk, nullcontext(tx), state, study, ready)
        for file in ready.files:
            tx.put_document(file.data, CORPUS_MEDIA)
        last = tx.last_time
        made = enter(desk, tx, state, signed, facts)
    remember(desk, tx)
    if ready.personal is not None:
        remember_cases(desk.state_folder, state.genesis, ready.personal)
    decision = answered(made).decision
    assert isinstance(decision, PartDecision)
    return PartKept(
        study=study,
        pool=POOL,
        part=part,
        entry=made.index,
        time=made.time,
        reason=pool.open or "",
        rows=facts.rows,
        absent=facts.absent,
        undeclared={name: table.undeclared for name, table in ready.read.tables.items()},
        outside=ready.outside,
        files=tuple(file.sha256 for file in ready.named),
        shortfall=decision.shortfall,
        overlaps=(*facts.shared, *facts.exposed),
        remembered=facts.remembered,
        next=next_part(require_study(desk.view(study), study), pool),
        warnings=(*warnings_of(desk, made, last), *_dated_ahead(protocol, ready.read, made.time)),
    )


def _read(desk: Desk, state: State, study: StudyState, part: str, specs: Sequence[str]) -> _Ready:
    protocol = study.in_force.protocol
    tables = tables_of_part(protocol.pools[POOL], protocol.tables, part)
    given = parse_given(specs, tables)
    if part == "cases" or study.corpus is None or study.corpus.version == 1:
        require_tables(given, tables)
    raws = load(given)
    for raw in raws:
        if raw.content.size > MOST_DOCUMENT:
            raise CorpusFileTooLarge(file=raw.name or raw.table, most=MOST_DOCUMENT >> 20)
    files = tuple(PartFile(raw.table, raw.format, raw.content.read(), raw.name) for raw in raws)
    desk.progress(N_("reading"), 0, len(files))
    read = read_part(protocol, part, files)
    counts, grown = _counted(desk, study, part, read)
    held = {
        name: PoolTable(tuple(raw for raw in raws if raw.table == name), typed)
        for name, typed in read.tables.items()
    }
    for name, table in read.tables.items():
        check_bins(protocol, name, table)
    found = outside(protocol, held)
    if part != "cases":
        return _Ready(raws, files, read, counts, found, grown)
    _check_units(protocol, read)
    of_ledger, of_person = desk.keys.fingerprint, person_key(desk.state_folder, desk.entropy)
    prints, personal = (
        fingerprint(
            read.tables, protocol, study=study.slug, genesis=state.genesis, key=key, files=digests(raws)
        )
        for key in (of_ledger, of_person)
    )
    return _Ready(raws, files, read, counts, found, grown, prints, personal)


def _counted(
    desk: Desk, study: StudyState, part: str, read: PartRead
) -> tuple[PartCounts, GrownCounts | None]:
    protocol, corpus, registered = study.in_force.protocol, study.corpus, study.registered.time
    if corpus is None:
        return count_part(protocol, part, read, {}, registered), None
    versions = open_versions(desk, corpus, protocol)
    if corpus.version == 1:
        return count_part(protocol, part, read, versions[0], registered), None
    last = corpus.rebalances[-1]
    drawn = redrawn(study, corpus, corpus.version, keys_in(standing(versions[:-1])["cases"]))
    return count_version(protocol, part, read, versions, drawn, last.time)


@cells_untold
def _check_units(protocol: Protocol, read: PartRead) -> None:
    """Refuse cases in which a unit repeats, where no row of theirs is yet to be dropped. Raises `UnitRepeated`."""
    for name, table in read.tables.items():
        if not protocol.tables[name].exclude:
            check_unit(protocol.tables[name], table)


def _facts(
    desk: Desk, snapshot: AbstractContextManager[Reader], state: State, slug: str, ready: _Ready
) -> tuple[Gathered | None, PartFacts]:
    counts = ready.counts
    found: dict[str, Any] = {
        "rows": dict(counts.rows),
        "undeclared": dict(counts.undeclared),
        "absent": dict(counts.absent),
        "foreign": counts.foreign,
        "misplaced": counts.misplaced,
        "early": counts.early,
        "disordered": counts.disordered,
        "grown": None if ready.grown is None else Grown(**asdict(ready.grown)),
    }
    if ready.prints is None or ready.personal is None:
        return None, PartFacts(**found)
    gathered = gather(desk, snapshot, require_study(state, slug), POOL, ready.prints)
    return gathered, PartFacts(
        **found,
        shared=gathered.shared,
        exposed=gathered.exposed,
        exposes=gathered.exposes,
        remembered=met_elsewhere(desk.state_folder, state.genesis, ready.personal),
    )


def _keep_prints(desk: Desk, study: str, ready: _Ready) -> str | None:
    """Keep the fingerprints of the cases, before the entry that names them; return their digest."""
    if ready.prints is None or ready.personal is None:
        return None
    digest = desk.vault.put(study, POOL, "prints", [ready.prints.encode()])
    hold(desk.state_folder, digest, ready.personal)
    return digest


def _dated_ahead(protocol: Protocol, read: PartRead, now: str) -> tuple[str, ...]:
    """Say how many labels or scores are dated after `now`, an entry's time."""
    count = sum(dated_after(protocol.tables[name], table, now) for name, table in read.tables.items())
    if not count:
        return ()
    said = ngettext(
        "{count} row is dated later than now: what comes first is as true as the dates.",
        "{count} rows are dated later than now: what comes first is as true as the dates.",
        count,
    )
    return (said.format(count=count),)


# --- opening -----------------------------------------------------------------------------------------------


def open_versions(desk: Desk, corpus: CorpusState, protocol: Protocol) -> list[dict[str, PartRead]]:
    """Read the parts of each version out of the ledger. Raises `DocumentMissing`, `CorpusDocumentChanged`."""
    return [
        {
            made.request.part: read_part(protocol, made.request.part, files_of(desk, corpus, made))
            for made in parts
        }
        for parts in (corpus.of_version(version) for version in range(1, corpus.version + 1))
    ]


def files_of(desk: Desk, corpus: CorpusState, made: PartMade) -> list[PartFile]:
    """Return the files of a part, out of the ledger. Raises `DocumentMissing`, `CorpusDocumentChanged`."""
    with desk.snapshot() as reader:
        return [
            PartFile(file.table, Format(file.format), _document(reader, corpus, file.sha256))
            for file in made.request.files
        ]


def _document(reader: Reader, corpus: CorpusState, digest: str) -> bytes:
    body = reader.require_document(digest).body
    if sha256_hex(body) != digest:
        raise CorpusDocumentChanged(digest=digest[:12], pool=corpus.name)
    return body
