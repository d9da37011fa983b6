"""What the broker works with, and the moves every verb is made of: view, ask, sign, enter, remember."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cache, lru_cache
from heapq import merge
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Engine

from lacre.broker.signers import Signers
from lacre.errors import FormatError, LacreError, NotRemembered, StoreCorrupt, TextNotUnicode
from lacre.ledger.checkpoint import Checkpoint
from lacre.ledger.envelope import PAYLOAD_ENTRY, PAYLOAD_REQUEST, Envelope
from lacre.ledger.keys import PrivateKey
from lacre.ledger.statement import Statement
from lacre.pools.cores import leave_no_core
from lacre.pools.identities import Passphrases, read_identities
from lacre.pools.keyring import FINGERPRINT, IDENTITY, Keyring, is_closed, lets_others_in, open_fingerprint
from lacre.pools.seal import Identity
from lacre.pools.vault import Vault
from lacre.protocol.document import from_canonical
from lacre.protocol.models import Protocol as Plan
from lacre.rules.answers import Decision, Facts
from lacre.rules.decide import check_bound, decide
from lacre.rules.record import (
    TEXT_MEDIA,
    Answered,
    Recorded,
    answered_statement,
    columns_of,
    parse_entry,
)
from lacre.rules.requests import Bound, Request, decode_request
from lacre.rules.state import Protocols, State, fold
from lacre.store.discover import Layout
from lacre.store.memory import Memory
from lacre.store.reader import SALT_SIZE, Columns, Reader, document_digest, snapshot
from lacre.store.writer import Transaction, Writer
from lacre.text import _

Clock = Callable[[], datetime]
Entropy = Callable[[int], bytes]
Progress = Callable[[str, int, int | None], None]

NONCE_BYTES = 16


def _none_given() -> tuple[Identity, ...]:
    return ()


def _none_known(_file: Path) -> tuple[str, ...]:
    return ()


class OpenKeys(Protocol):
    """Gives the ledger's keys, the same each time, and looks at the folder anew once it was cleared."""

    def __call__(self) -> Keyring:
        """Return the keys."""

    def cache_clear(self) -> None:
        """Forget them."""

    def passphrase(self) -> str | None:
        """Return what closed keys are opened with, asking for it if need be."""


@dataclass(frozen=True, slots=True)
class Desk:
    """The ledger's parts as one broker holds them; made by `lacre.handle.making`."""

    layout: Layout
    engine: Engine
    writer: Writer
    memory: Memory
    open_keys: OpenKeys
    signers: Signers
    vault: Vault
    state_folder: Path
    clock: Clock
    entropy: Entropy
    progress: Progress
    passphrases: Passphrases = _none_known
    """Gives what to try on a closed identity file that somebody gave, beside the passphrase of the keys."""
    open_given: Callable[[], tuple[Identity, ...]] = _none_given

    @property
    def keys(self) -> Keyring:
        """The keys; a passphrase is asked for when the first closed one is needed."""
        return self.open_keys()

    def with_identities(self, files: Sequence[Path]) -> "Desk":
        """The same desk, which opens pools with the identities in these age identity files, too."""
        if not files:
            return self
        given = cache(lambda: tuple(one for file in files for one in self._read(file)))
        return replace(self, open_given=given)

    def _read(self, file: Path) -> tuple[Identity, ...]:
        return read_identities(file, lambda path: chain([self.keys.passphrase], self.passphrases(path)))

    def identities(self) -> tuple[Identity, ...]:
        """What opens pools here: the ledger's own identity, if its file is here, and those that were given."""
        leave_no_core()
        keys = self.keys
        own = (keys.identity,) if (keys.folder / IDENTITY).is_file() else ()
        return (*own, *self.open_given())

    def fingerprint_key(self) -> bytes | None:
        """The key that cases are recognised by; None where it is not here, or closed to an identity that is not.

        That of a ledger with a passphrase is closed to the ledger's own identity, which may have been given.
        """
        keys = self.keys
        path = keys.folder / FINGERPRINT
        if not path.is_file():
            return None
        content = keys.contents()[FINGERPRINT]
        if not is_closed(content) or (keys.folder / IDENTITY).is_file():
            return keys.fingerprint
        fitting = next((one for one in self.open_given() if one.decrypt(content) is not None), None)
        return None if fitting is None else open_fingerprint(content, lambda: fitting, path)

    def person(self, state: State) -> PrivateKey:
        """The key that signs a request which is judged on `state`."""
        return self.signers.person(state)

    @contextmanager
    def snapshot(self) -> Iterator[Reader]:
        """One consistent look at the ledger."""
        with snapshot(self.engine) as reader:
            yield reader

    def view(self, study: str) -> State:
        """The state of `study` (and of the ledger) as it stands now."""
        with self.snapshot() as reader:
            return view(reader, study)

    def now(self) -> str:
        """The broker's clock, in UTC to the microsecond, in the form entries carry."""
        return timestamp(self.clock())


def timestamp(moment: datetime) -> str:
    """`moment` in the one form entries carry, whose text order is time order."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@lru_cache(maxsize=64)
def _protocol(body: bytes) -> Plan:
    return from_canonical(body)


def protocols_of(reader: Reader) -> Protocols:
    """Find protocols among the ledger's documents."""

    def find(protocol_hash: str) -> Plan:
        return _protocol(reader.require_document(protocol_hash).body)

    return find


@lru_cache(maxsize=2048)
def _parsed(index: int, envelope: bytes) -> Recorded:
    # An entry never changes, and each verb looks at those of its study before it writes and again while it does.
    return parse_entry(index, envelope)


def recorded(reader: Reader, index: int) -> Recorded:
    """The entry at `index`, parsed."""
    return _parsed(index, reader.entry(index).envelope)


@dataclass(frozen=True, slots=True)
class _Viewed:
    """A study's state as it was last looked at, and the last of the entries that it was folded from."""

    state: State
    index: int
    envelope: bytes


_VIEWS_KEPT = 64
_viewed: OrderedDict[tuple[str | None, str], _Viewed] = OrderedDict()
"""By genesis hash and study. A log grows at its end alone, so that a state goes on from where it stood.

Of the process and not of one desk, as what it saves is the same for all: states are frozen, and the last entry that
one was folded from must still stand in the ledger that is looked at.
"""


def view(reader: Reader, study: str) -> State:
    """Fold the key entries and those of `study`."""
    utf8(study)
    at = reader.genesis(), study
    before = _viewed.pop(at, None)
    entries = reader.study_entries(study, start=before.index if before else 0)
    if before is not None and not (entries and entries[0].envelope == before.envelope):
        before, entries = None, reader.study_entries(study)  # another copy of the ledger took its place
    parsed = [_parsed(stored.index, stored.envelope) for stored in (entries[1:] if before else entries)]
    protocols = protocols_of(reader)
    state = fold(parsed, protocols, replace(before.state, protocols=protocols) if before else None)
    if not state.keys:
        raise _no_genesis(reader)
    if state.study is not None:
        _viewed[at] = _Viewed(state, entries[-1].index, entries[-1].envelope)
        while len(_viewed) > _VIEWS_KEPT:
            _viewed.popitem(last=False)
    near = get_close_matches(study, reader.studies(), n=1) if state.study is None and study else []
    # The next free index counts other studies' entries too.
    return replace(state, next_index=reader.size, near=near[0] if near else None)


def view_all(reader: Reader, entries: Iterable[Recorded]) -> dict[str, State]:
    """Fold every study of `entries`, which are all of the ledger's: by name, in the order of registration."""
    of_ledger: list[Recorded] = []
    of_studies: dict[str, list[Recorded]] = {}
    for each in entries:
        if each.study is None:
            of_ledger.append(each)
        else:
            of_studies.setdefault(each.study, []).append(each)
    protocols = protocols_of(reader)
    folded = {
        slug: fold(merge(of_ledger, own, key=attrgetter("index")), protocols)
        for slug, own in of_studies.items()
    }
    return {slug: replace(state, next_index=reader.size) for slug, state in folded.items()}


BLANK = "0" * 64
"""A digest that is not known yet, in a request that is only put to the law beforehand."""


def ask_beforehand(desk: Desk, state: State, kind: type[Request], facts: Facts, **fields: Any) -> Decision:
    """What the law says of a request that is not signed yet: its refusal passes through, and costs nothing."""
    unbound = {"genesis": state.genesis, "seen": {"size": 0, "root": BLANK}, "nonce": BLANK[:32]}
    blank = kind.model_validate({**fields, **unbound})
    return decide(state, blank, desk.person(state).public.keyid, facts)


def _no_genesis(reader: Reader) -> StoreCorrupt:
    return StoreCorrupt(path=reader.path, why=_("its first entry is no genesis"))


def sign_request(desk: Desk, kind: type[Bound], **fields: Any) -> Envelope:
    """Make a request bound to this ledger's history and sign it with the person's key."""
    with desk.snapshot() as reader:
        seen = _head_of(reader)
        genesis = reader.genesis()
        if genesis is None:
            raise _no_genesis(reader)
        person = desk.person(desk.signers.state(reader))
    nonce = fields.pop("nonce", None) or new_nonce(desk)
    request = kind.model_validate({"genesis": genesis, "seen": seen, "nonce": nonce, **fields})
    return Envelope.sign(PAYLOAD_REQUEST, request.encode(), [person])


def _head_of(reader: Reader) -> dict[str, Any]:
    """The head that a request names as seen: the signed one, which a writer holds against the tree itself."""
    note, size = reader.checkpoint(), reader.size
    with suppress(FormatError):
        said = None if note is None else Checkpoint.of_note(note)
        if said is not None and said.size == size:
            return {"size": size, "root": said.root.hex()}
    return {"size": size, "root": reader.root_at(size).hex()}


def new_nonce(desk: Desk) -> str:
    """A nonce that no request used before."""
    return desk.entropy(NONCE_BYTES).hex()


def enter(desk: Desk, tx: Transaction, state: State, signed: Envelope, facts: Facts) -> Recorded:
    """Decide on a signed request and append its entry within `tx`; the law's refusal passes through."""
    request = decode_request(signed.payload)
    check_bound(state, request)
    decision = decide(state, request, signed.signatures[0].keyid, facts)
    statement = answered_statement(
        time=desk.now(), previous=state.last, request=signed, facts=facts, decision=decision
    )
    return append(desk, tx, statement)


def put_on_record(
    desk: Desk,
    study: str,
    signed: Envelope,
    facts: Facts,
    *texts: "SaltedText | None",
    documents: Sequence[tuple[bytes, str]] = (),
) -> tuple[Recorded, tuple[str, ...]]:
    """Enter a signed request with the texts and documents (body, media type) it names, and remember it.

    Returns the entry, and what was odd about it. `study` is empty for what is the whole ledger's.
    """
    with desk.writer.transaction() as tx:
        for body, media in documents:
            tx.put_document(body, media)
        for text in texts:
            if text is not None:
                put_text(tx, text)
        before = tx.last_time
        made = enter(desk, tx, view(tx, study), signed, facts)
    remember(desk, tx)
    return made, warnings_of(desk, made, before)


def append(desk: Desk, tx: Transaction, statement: Statement) -> Recorded:
    """Sign `statement` as the broker and append it."""
    broker = desk.signers.broker(desk.signers.state(tx))
    data = Envelope.sign(PAYLOAD_ENTRY, statement.encode(), [broker]).encode()
    made = parse_entry(tx.size, data)
    tx.append(data, Columns(**columns_of(made)))
    return made


def remember(desk: Desk, committed: Transaction) -> None:
    """Fsync into this machine's memory what was just committed (rule 18: before anything is decrypted).

    Raises `NotRemembered`, which says that the entry stands all the same.
    """
    growth = committed.growth()
    if growth is None:
        return
    try:
        desk.memory.advance(desk.engine, growth)
    except LacreError as error:
        raise NotRemembered(entry=growth.size - 1, why=error.message, next=error.way_out) from error


@dataclass(frozen=True, slots=True)
class SaltedText:
    """Free text as it is kept: under a salted digest, so that it can be erased and the log still stand."""

    salt: bytes
    body: bytes

    @property
    def digest(self) -> str:
        """SHA-256 of salt and body: what an entry names."""
        return document_digest(self.body, self.salt)


def utf8(text: str) -> bytes:
    """The bytes of a text that somebody typed; `TextNotUnicode` for what came as no Unicode."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise TextNotUnicode(text=text) from None


def salted_text(desk: Desk, text: str) -> SaltedText:
    """Salt a text before a request names it."""
    return SaltedText(desk.entropy(SALT_SIZE), utf8(text))


def put_text(tx: Transaction, text: SaltedText) -> None:
    """Keep a salted text as a document."""
    tx.put_document(text.body, TEXT_MEDIA, text.salt)


def names_of(reader: Reader, state: State) -> dict[str, str]:
    """The names people gave with their keys, by keyid, where they are still on record."""
    names = {}
    for key in state.keys.values():
        document = reader.document(key.name) if key.name else None
        if document is not None:
            names[key.keyid] = document.body.decode("utf-8", "replace")
    return names


def key_warning(path: Path) -> str:
    """Say that a key file lets others in."""
    said = _("Others than you can read {path}: take their rights away (chmod go= {path}).")
    return said.format(path=path)


def warnings_of(desk: Desk, made: Recorded, previous: str | None) -> tuple[str, ...]:
    """What was odd about a request that was just answered: the clock, and the mode of the key file that was given."""
    given = desk.keys.given
    if given is None or not given.is_file() or not lets_others_in(given):
        return clock_warnings(made, previous)
    return (*clock_warnings(made, previous), key_warning(given))


def clock_warnings(made: Recorded, previous: str | None) -> tuple[str, ...]:
    """Rule 19: say when this entry's time is before that of the one it follows."""
    if previous is not None and made.time < previous:
        return (_("The clock stands before the previous entry's ({time}).").format(time=previous),)
    return ()


def answered(made: Recorded) -> Answered:
    """The content of an entry that answers a request."""
    assert isinstance(made.content, Answered)
    return made.content
