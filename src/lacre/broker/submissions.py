"""What systems submit: read, typed, matched against the pool's ids without opening it, and kept encrypted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lacre.analyses.judge_cases import check_bins
from lacre.broker.blanks import left_undecided
from lacre.broker.desk import Desk, Progress
from lacre.broker.files import parse_given
from lacre.broker.ingest import (
    PoolTable,
    Raw,
    contents,
    load,
    outside,
    raws_of,
    read_submission_tables,
    records_of,
)
from lacre.broker.parts import Undecidable
from lacre.errors import (
    FingerprintKeyClosed,
    ForeignCases,
    KeyMissing,
    SubmissionMissing,
    SubmissionNotAsked,
    TableError,
    TableNotSubmitted,
)
from lacre.pools import vault
from lacre.pools.exposure import match_submission_ids
from lacre.pools.keyring import FINGERPRINT
from lacre.pools.prints import Prints
from lacre.pools.seal import Context
from lacre.protocol.models import Protocol
from lacre.rules.answers import SubmissionFacts
from lacre.rules.requests import Submitted
from lacre.rules.state import PoolState, State
from lacre.rules.submitting import Wanted


@dataclass(frozen=True, slots=True)
class Submission:
    """One system's files, read and typed."""

    system: str
    tables: Mapping[str, PoolTable]

    @property
    def raws(self) -> tuple[Raw, ...]:
        """The files, by table as declared, then as given."""
        return tuple(raw for table in self.tables.values() for raw in table.raws)


def load_submissions(
    desk: Desk, protocol: Protocol, want: Wanted, specs: Sequence[str], what: Sequence[str]
) -> tuple[Submission, ...]:
    """Read and type what was given for `what`; `SubmissionMissing` names what was not."""
    systems, tables = want.systems, want.tables
    if not tables and specs:
        raise SubmissionNotAsked(analyses=", ".join(what))
    _refuse_others(protocol, want, specs, what)
    given = parse_given(specs, tables, [system for system in systems if system])
    missing = [
        ":".join(filter(None, (system, table)))
        for system in systems
        for table in tables
        if not any(g.system == system and g.table == table for g in given)
    ]
    if missing:
        raise SubmissionMissing(missing=", ".join(missing))
    return tuple(
        Submission(system, _read(protocol, load([g for g in given if g.system == system]), desk.progress))
        for system in systems
    )


def _refuse_others(protocol: Protocol, want: Wanted, specs: Sequence[str], what: Sequence[str]) -> None:
    """Refuse files for tables that are declared, of which this read takes nothing from a submission."""
    for spec in specs:
        system, mark, rest = spec.partition(":")
        named, found, _file = (rest if mark and system in want.systems else spec).partition("=")
        if found and named in protocol.tables and named not in want.tables and want.tables:
            asked = ", ".join(want.tables)
            raise TableNotSubmitted(analyses=", ".join(what), table=named, file=spec, tables=asked)


def _read(protocol: Protocol, raws: Sequence[Raw], progress: Progress) -> dict[str, PoolTable]:
    """Read the files of one submission; what is refused is mended in them, since the plan is registered."""
    try:
        tables = read_submission_tables(protocol, raws, progress)
    except TableError as error:
        raise error.of_submission() from error
    for name, table in tables.items():
        check_bins(protocol, name, table.typed)
    return tables


def outside_of(protocol: Protocol, submission: Submission) -> dict[str, int]:
    """Count a submission's cells whose value is not a declared one; `NothingDeclared` for a whole column."""
    found = outside(protocol, submission.tables)
    return {":".join(filter(None, (submission.system, label))): count for label, count in found.items()}


def undecidable(
    protocol: Protocol,
    analyses: Sequence[str],
    submissions: Sequence[Submission],
    facts: Sequence[SubmissionFacts],
) -> Iterator[Undecidable]:
    """The criteria that a submission leaves undecided: more of it is blank than may be left out, or may abstain.

    Counted over all rows of the pool, as far as `facts` tell how many it has, whatever is excluded of them.
    """
    absent = {(each.system, each.table): each.absent for each in facts}
    for name in analyses:
        plan = protocol.analyses[name]
        for submission in submissions:
            table = submission.tables.get(plan.table)
            if table is None:
                continue
            declared, beyond = protocol.tables[plan.table], absent.get((submission.system, plan.table), 0)
            for each in left_undecided(plan, declared, table.typed, submission.system, beyond):
                yield Undecidable(name, each.criterion, submission.system, each.count, each.rows, each.limit)


def recognising_key(desk: Desk) -> bytes:
    """The key that cases are recognised by. Raises `KeyMissing` or `FingerprintKeyClosed` where it is not at hand."""
    key = desk.fingerprint_key()
    if key is None:
        path = desk.keys.folder / FINGERPRINT
        raise FingerprintKeyClosed(path=str(path)) if path.is_file() else KeyMissing(path=str(path))
    return key


def match_ids(
    desk: Desk, state: State, protocol: Protocol, prints: Prints, submissions: Sequence[Submission]
) -> list[SubmissionFacts]:
    """Count, by the pool's fingerprints, the cases a submission leaves out; refuse cases of no such pool.

    Raises `KeyMissing` or `FingerprintKeyClosed` where the key that cases are recognised by is not at hand.
    """
    if not submissions:
        return []
    key = recognising_key(desk)
    facts = []
    for submission in submissions:
        for name, table in submission.tables.items():
            matched = match_submission_ids(
                prints,
                name,
                protocol.tables[name],
                table.typed,
                study=protocol.study,
                genesis=state.genesis,
                key=key,
            )
            if matched.unknown:
                raise ForeignCases(table=name, unknown=matched.unknown, known=matched.known)
            facts.append(
                SubmissionFacts(
                    system=submission.system,
                    table=name,
                    rows=table.typed.rows,
                    absent=matched.absent,
                )
            )
    return facts


def context_of(state: State, study: str, pool: PoolState, system: str | None = None) -> Context:
    """What a blob of this pool is bound to."""
    return Context(state.genesis, study, pool.name, pool.sealed.request.protocol, system)


def keep(
    desk: Desk, state: State, study: str, pool: PoolState, submissions: Sequence[Submission]
) -> tuple[Submitted, ...]:
    """Keep submissions encrypted beside the pool; the digests go into the request."""
    kept = []
    for submission in submissions:
        raws = submission.raws
        sealed = vault.seal_submission(
            desk.vault,
            context_of(state, study, pool, submission.system),
            contents(raws),
            recipients=pool.recipients,
            entropy=desk.entropy,
        )
        kept.append(submitted(submission.system, raws, sealed))
    return tuple(kept)


def submitted(system: str, raws: Sequence[Raw], sealed: vault.SealedSubmission) -> Submitted:
    """An encrypted submission as a request names it."""
    return Submitted(
        system=system,
        records=records_of(raws, sealed.records),
        blob=sealed.ciphertext,
        wrapped_key=sealed.wrapped_key,
    )


def kept_submission(submitted: Submitted, pool: PoolState) -> vault.SealedSubmission:
    """A submission, on record or about to be, in the vault's terms."""
    wrapped_key = pool.wrapped_keys.get(submitted.blob, submitted.wrapped_key)
    return vault.SealedSubmission(
        submitted.blob,
        wrapped_key,
        tuple(vault.Record(r.table, r.hmac) for r in submitted.records),
        pool.recipients,
        keyset=wrapped_key in pool.keysets,
    )


def same_submissions(
    desk: Desk,
    state: State,
    study: str,
    pool: PoolState,
    kept: Sequence[Submitted],
    given: Sequence[Submission],
) -> bool:
    """Whether the files given now are those kept with an earlier read (rule 16)."""
    if [s.system for s in kept] != [s.system for s in given]:
        return False
    return all(
        _written_alike(old, new)
        and vault.submission_matches(
            desk.vault,
            context_of(state, study, pool, new.system),
            kept_submission(old, pool),
            contents(new.raws),
            desk.identities(),
        )
        for old, new in zip(kept, given, strict=True)
    )


def _written_alike(kept: Submitted, given: Submission) -> bool:
    # The same bytes read in another way are another submission.
    before = sorted((record.table, record.format) for record in kept.records)
    return before == sorted((raw.table, raw.format.value) for raw in given.raws)


def reopen(
    desk: Desk,
    protocol: Protocol,
    state: State,
    pool: PoolState,
    kept: Sequence[Submitted],
    blobs: vault.Blobs | None = None,
) -> tuple[Submission, ...]:
    """Read encrypted submissions: those kept with a read that is to be finished, or those in `blobs`."""
    submissions = []
    for submitted in kept:
        opened = vault.open_submission(
            blobs or desk.vault,
            context_of(state, protocol.study, pool, submitted.system),
            kept_submission(submitted, pool),
            desk.identities(),
        )
        raws = raws_of(opened, submitted.records)
        submissions.append(Submission(submitted.system, _read(protocol, raws, desk.progress)))
    return tuple(submissions)
