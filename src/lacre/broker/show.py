"""`status`, `log`, `show`: where things stand, from the entries alone; nothing is read from a pool."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine

from lacre.broker.desk import Desk, names_of, recorded, view
from lacre.broker.names import split_name
from lacre.broker.outcomes import EntryShown, LedgerStatus, Log, ResultShown, StudyShown
from lacre.canonical import parse_canonical
from lacre.errors import DocumentMissing, LawError, NotAResult, NotOfStudy, StoreError
from lacre.ledger.keys import PublicKey
from lacre.ledger.note import VerifierKey
from lacre.pools.keyring import Keyring
from lacre.rules.common import require_study
from lacre.rules.custody import grade
from lacre.rules.named import named_by
from lacre.rules.record import Answered, Recorded, Result, parse_entry
from lacre.rules.state import State
from lacre.store.memory import compare
from lacre.store.reader import Reader, snapshot
from lacre.text import _


def status(desk: Desk) -> LedgerStatus:
    """The ledger and every study in it."""
    behind = _Behind(desk)
    with desk.snapshot() as reader:
        state = view(reader, "")
        studies = [view(reader, slug).study for slug in reader.studies()]
        size = reader.size
        return LedgerStatus(
            folder=desk.layout.root,
            origin=state.origin,
            genesis=state.genesis,
            verifier_key=verifier_key(state),
            size=size,
            root=reader.root_at(size).hex(),
            keys=tuple(state.keys.values()),
            names=names_of(reader, state),
            studies=tuple(study for study in studies if study is not None),
            warnings=(*behind.warnings(reader), *_key_warnings(desk)),
        )


class _Behind:
    """What this machine remembers of the ledger, looked at before the snapshot it is compared with."""

    def __init__(self, desk: Desk) -> None:
        self._known = None
        self._damage: tuple[str, ...] = ()
        try:
            self._known = desk.memory.recall(desk.engine)
        except StoreError as error:
            self._damage = (f"{error.message} {error.way_out}",)

    def warnings(self, reader: Reader) -> tuple[str, ...]:
        """Say when the ledger is older than the memory, or another; rule 18 refuses to write to it then."""
        if self._known is not None:
            try:
                compare(reader, self._known.size, self._known.root)
            except LawError as error:
                return (f"{error.message} {error.way_out}",)
        return self._damage


def _key_warnings(desk: Desk) -> tuple[str, ...]:
    said = _("Others than you can read {path}: take their rights away (chmod go= {path}).")
    keys = Keyring(desk.layout.keys)
    return tuple(said.format(path=path) for path in keys.readable_by_others())


def log(desk: Desk, study: str | None = None) -> Log:
    """The entries, of one study or of all, in log order."""
    with desk.snapshot() as reader:
        if study is not None:
            require_study(view(reader, study), study)
            entries = tuple(r for r in _of_study(reader, study) if r.study == study)
        else:
            entries = tuple(parse_entry(e.index, e.envelope) for e in reader.entries(0, reader.size))
        return Log(entries, names_of(reader, view(reader, "")))


def show(desk: Desk, what: str | None = None) -> LedgerStatus | StudyShown | ResultShown | EntryShown:
    """The ledger, a `STUDY`, a result `STUDY@ENTRY`, or any entry by `@ENTRY` or its number."""
    if what is None:
        return status(desk)
    study, entry = split_name(what, "show")
    if entry is None:
        return _show_study(desk, study)
    with desk.snapshot() as reader:
        found = recorded(reader, entry)
        if study and found.study != study:
            raise NotOfStudy(entry=entry, study=study)
        if not isinstance(found.content, Result):
            return _show_entry(reader, found)
    return shown(desk, found.study or study, entry)


def shown(
    desk: Desk,
    study: str,
    entry: int,
    *,
    ignored: Mapping[str, tuple[str, ...]] | None = None,
    finished: int | None = None,
    warnings: tuple[str, ...] = (),
) -> ResultShown:
    """The result at `entry` as it is shown now; `NotAResult` where there is none of this study."""
    with desk.snapshot() as reader:
        state = view(reader, study)
        known = require_study(state, study)
        content = recorded(reader, entry).content
        if not isinstance(content, Result) or content.study != study:
            raise NotAResult(study=study, entry=entry)
        stored = reader.document(content.result)
    if stored is None:
        raise DocumentMissing(digest=content.result)
    pool = known.pools[content.pool]
    document: dict[str, Any] = parse_canonical(stored.body)
    return ResultShown(
        name=f"{study}@{entry}",
        entry=entry,
        study=study,
        document=document,
        now=pool.standing,
        custody=grade(pool.sealed.request.recipients, state.recipient),
        language=known.in_force.protocol.language,
        shortfall=pool.sealed.decision.shortfall,
        ignored=dict(ignored or {}),
        finished=finished,
        warnings=warnings,
    )


def origin_of(engine: Engine) -> str:
    """The name of the log, from its genesis."""
    with snapshot(engine) as reader:
        return view(reader, "").origin


def verifier_key(state: State) -> str:
    """The key that checkpoints are verified with, in the signed-note form."""
    log_key = next(key for key in state.keys.values() if "log" in key.roles)
    return VerifierKey(state.origin, PublicKey(bytes.fromhex(log_key.public))).format()


def _of_study(reader: Reader, study: str) -> list[Recorded]:
    return [parse_entry(stored.index, stored.envelope) for stored in reader.study_entries(study)]


def _show_study(desk: Desk, slug: str) -> StudyShown:
    with desk.snapshot() as reader:
        state = view(reader, slug)
        study = require_study(state, slug)
        custody = {
            name: grade(pool.sealed.request.recipients, state.recipient) for name, pool in study.pools.items()
        }
        entries = tuple(r for r in _of_study(reader, slug) if r.study == slug)
        return StudyShown(study, entries, names_of(reader, state), custody)


def _show_entry(reader: Reader, found: Recorded) -> EntryShown:
    digests = _documents_of(found)
    bodies = {}
    for digest in digests:
        document = reader.document(digest)
        bodies[digest] = document.body if document is not None else None
    return EntryShown(found, names_of(reader, view(reader, "")), bodies)


def _documents_of(found: Recorded) -> tuple[str, ...]:
    if not isinstance(found.content, Answered):
        return ()
    digests = [getattr(found.content.request, "protocol", None), *(each.digest for each in named_by(found))]
    return tuple(dict.fromkeys(digest for digest in digests if digest is not None))
