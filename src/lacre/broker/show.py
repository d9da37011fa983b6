"""`status`, `log`, `show`: where things stand, from the entries alone; nothing is read from a pool."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from lacre.broker.beside import result_shown
from lacre.broker.desk import Desk, key_warning, names_of, recorded, view, view_all
from lacre.broker.deviations import departures_of, reads_elsewhere
from lacre.broker.names import split_name
from lacre.broker.outcomes import EntryShown, LedgerStatus, Log, ResultShown, StudyShown
from lacre.broker.parts import Background
from lacre.broker.texts import texts_named
from lacre.errors import LawError, NotAResult, NotOfStudy, StoreError
from lacre.pools.keyring import Keyring
from lacre.rules.common import require_study
from lacre.rules.custody import grade_of
from lacre.rules.keys import log_verifiers
from lacre.rules.named import named_by
from lacre.rules.record import Answered, Recorded, Result, parse_entry
from lacre.rules.state import State, StudyState
from lacre.store.memory import compare
from lacre.store.reader import Reader

MOST_ENTRIES = 200
"""Entries of a study that its results carry along; `log` has all of a longer one."""


def status(desk: Desk) -> LedgerStatus:
    """The ledger and every study in it."""
    behind = _Behind(desk)
    with desk.snapshot() as reader:
        state = view(reader, "")
        studies = [each.study for each in view_all(reader, _all(reader)).values()]
        size = reader.size
        reads = tuple(reads_elsewhere(reader, ""))
        return LedgerStatus(
            folder=desk.layout.root,
            origin=state.origin,
            genesis=state.genesis,
            verifier_key=next(reversed(verifier_keys(state)), ""),
            size=size,
            root=reader.root_at(size).hex(),
            keys=tuple(state.keys.values()),
            names=names_of(reader, state),
            studies=tuple(study for study in studies if study is not None),
            custody={study.slug: _custody(study, state) for study in studies if study is not None},
            warnings=(*behind.warnings(reader), *_key_warnings(desk)),
            verifier_keys=verifier_keys(state),
            erased=erased_names(reader, state),
            recipient=state.recipient,
            departures={
                study.slug: departures_of(reader, study.slug, reads) for study in studies if study is not None
            },
        )


def _custody(study: StudyState, state: State) -> dict[str, str]:
    """The custody grade of each pool, through all the hands it went."""
    return {pool.name: grade_of(pool, state.recipient) for pool in study.holds}


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
    keys = Keyring(desk.layout.keys)
    return tuple(key_warning(path) for path in keys.readable_by_others())


def log(desk: Desk, study: str | None = None) -> Log:
    """The entries, of one study or of all, in log order."""
    behind = _Behind(desk)
    with desk.snapshot() as reader:
        if study is not None:
            states = {study: view(reader, study)}
            require_study(states[study], study)
            entries = tuple(r for r in _of_study(reader, study) if r.study == study)
        else:
            entries = tuple(_all(reader))
            states = view_all(reader, entries)
        custody = {slug: _custody(require_study(state, slug), state) for slug, state in states.items()}
        return Log(entries, names_of(reader, view(reader, "")), custody, behind.warnings(reader))


def show(desk: Desk, what: str | None = None) -> LedgerStatus | StudyShown | ResultShown | EntryShown:
    """The ledger, a `STUDY`, a result `STUDY@ENTRY`, or any entry by `@ENTRY` or its number."""
    if what is None:
        return status(desk)
    study, entry = split_name(what, "show")
    if entry is None:
        return _show_study(desk, study)
    behind = _Behind(desk)
    with desk.snapshot() as reader:
        warnings = behind.warnings(reader)
        if study:
            require_study(view(reader, study), study)
        found = recorded(reader, entry)
        if study and found.study != study:
            raise NotOfStudy(entry=entry, study=study)
        if not isinstance(found.content, Result):
            return _show_entry(reader, found, warnings)
    return shown(desk, found.study or study, entry, warnings=warnings)


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
        found = result_shown(reader, known, entry, state.recipient)
        background = _background(reader, state, known, found)
    return replace(
        found, ignored=dict(ignored or {}), finished=finished, warnings=warnings, background=background
    )


def _background(reader: Reader, state: State, study: StudyState, found: ResultShown) -> Background:
    """What a whole report of a result tells besides: its first entry and its last ones, and its plan then."""
    stored = reader.study_entries(study.slug)
    kept = [each for each in stored if each.study == study.slug]
    left_out = max(len(kept) - MOST_ENTRIES, 0)
    told = [kept[0], *kept[left_out + 1 :]]
    if left_out and found.entry < told[1].index:
        told, left_out = [kept[0], *(e for e in kept if e.index == found.entry), *told[1:]], left_out - 1
    return Background(
        protocol=study.versions[found.version - 1].protocol,
        entries=tuple(parse_entry(each.index, each.envelope) for each in told),
        left_out=left_out,
        names=names_of(reader, state),
        verifier_key=next(reversed(verifier_keys(state)), ""),
    )


def verifier_keys(state: State) -> tuple[str, ...]:
    """The keys that checkpoints are verified with from here on, in the signed-note form, the newest last.

    They are two while one is taking the other's place: either of them verifies.
    """
    at_next = log_verifiers(state.origin, state.keys.values(), state.next_index + 1)
    return tuple(key.format() for key in at_next)


def erased_names(reader: Reader, state: State) -> dict[str, int]:
    """Of keys whose names were erased, the entry that did it, by keyid."""
    erasures = reader.erasures()
    named = {key.keyid: key.name for key in state.keys.values() if key.name is not None}
    return {keyid: erasures[name] for keyid, name in named.items() if name in erasures}


def _all(reader: Reader) -> Iterator[Recorded]:
    return (parse_entry(stored.index, stored.envelope) for stored in reader.entries())


def _of_study(reader: Reader, study: str) -> list[Recorded]:
    return [parse_entry(stored.index, stored.envelope) for stored in reader.study_entries(study)]


def _show_study(desk: Desk, slug: str) -> StudyShown:
    behind = _Behind(desk)
    with desk.snapshot() as reader:
        state = view(reader, slug)
        study = require_study(state, slug)
        custody = _custody(study, state)
        entries = tuple(r for r in _of_study(reader, slug) if r.study == slug)
        texts = texts_named(reader, entries)
        departures = departures_of(reader, slug, reads_elsewhere(reader, slug))
        names, warnings = names_of(reader, state), behind.warnings(reader)
        return StudyShown(study, entries, names, custody, texts, state.recipient, departures, warnings)


def _show_entry(reader: Reader, found: Recorded, warnings: tuple[str, ...]) -> EntryShown:
    digests = _documents_of(found)
    bodies = {}
    for digest in digests:
        document = reader.document(digest)
        bodies[digest] = document.body if document is not None else None
    texts = texts_named(reader, [found])
    return EntryShown(found, names_of(reader, view(reader, "")), bodies, texts, warnings)


def _documents_of(found: Recorded) -> tuple[str, ...]:
    request = found.content.request if isinstance(found.content, Answered) else None
    digests = [getattr(request, "protocol", None), *(each.digest for each in named_by(found))]
    return tuple(dict.fromkeys(digest for digest in digests if digest is not None))
