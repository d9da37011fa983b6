"""A ledger of many entries, written by the broker's own moves, many of them in one transaction.

Studies have twenty entries each: a registration, two seals, the inputs of one of them handed out, and sixteen
remarks; the blobs of their pools hold a few bytes, since an audit only hashes them.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from tests.studies import plan

from lacre.api import init
from lacre.broker.desk import Desk, enter, put_text, remember, salted_text, view
from lacre.broker.register import engine
from lacre.handle.making import OpenedKeys, make_desk, quiet
from lacre.ledger.envelope import PAYLOAD_REQUEST, Envelope
from lacre.protocol.document import canonical, parse, protocol_hash
from lacre.protocol.models import Protocol
from lacre.rules.answers import Facts, NoFacts, ReadFacts, RegisterFacts, SealFacts
from lacre.rules.record import PROTOCOL_MEDIA
from lacre.rules.requests import Deviate, Read, Register, Request, Seal, SealedRecord
from lacre.rules.state import State, step
from lacre.store.discover import BlobKind, ledger_at
from lacre.store.writer import Transaction

ENTRIES_A_STUDY = 20
_AT_ONCE = 2000  # entries in one transaction


def protocol_of(study: str) -> Protocol:
    """The plan of a study."""
    text = plan(study, columns={"note": "{type: text, is: input}"}, pools={"dev": "", "teste": ""})
    return parse(text.encode())


def desk_at(folder: Path, state: Path) -> Desk:
    """The parts of the ledger in `folder`."""
    layout = ledger_at(folder)
    return make_desk(layout, OpenedKeys(layout, None, None), quiet, state)


def make_ledger(folder: Path, state: Path, entries: int) -> Path:
    """Make a ledger of at least `entries` entries, whole studies after the genesis; return its folder."""
    init(folder, state=state, name="").close()
    desk = desk_at(folder, state)
    steps = (one for number in range(-(-entries // ENTRIES_A_STUDY)) for one in _Study(desk, number).steps())
    while batch := list(islice(steps, _AT_ONCE)):
        with desk.writer.transaction() as tx:
            for one in batch:
                one(tx)
        remember(desk, tx)
    desk.engine.dispose()
    return folder


class _Study:
    """Writes the entries of one study; requests name the head as it was when the study began."""

    def __init__(self, desk: Desk, number: int) -> None:
        self._desk, self._slug = desk, f"study-{number:05d}"
        self._protocol = protocol_of(self._slug)
        self._hash = protocol_hash(self._protocol)
        self._state: State | None = None
        self._seen: dict[str, Any] = {}

    def steps(self) -> Iterator[Any]:
        """What writes each entry, in order."""
        yield self._register
        yield lambda tx: self._seal(tx, "dev")
        yield lambda tx: self._seal(tx, "teste")
        yield self._hand_out
        for _ in range(ENTRIES_A_STUDY - 4):
            yield self._remark

    def _enter(self, tx: Transaction, kind: type[Request], facts: Facts, **fields: Any) -> None:
        if self._state is None:
            self._state = view(tx, self._slug)
            self._seen = {"size": tx.size, "root": tx.root_at(tx.size).hex()}
        fields |= {"study": self._slug, "genesis": self._state.genesis, "seen": self._seen}
        request = kind.model_validate({**fields, "nonce": self._desk.entropy(16).hex()})
        signed = Envelope.sign(PAYLOAD_REQUEST, request.encode(), [self._desk.person(self._state)])
        self._state = step(self._state, enter(self._desk, tx, self._state, signed, facts))

    def _register(self, tx: Transaction) -> None:
        tx.put_document(canonical(self._protocol), PROTOCOL_MEDIA)
        self._enter(tx, Register, RegisterFacts(engine=engine()), protocol=self._hash)

    def _seal(self, tx: Transaction, pool: str) -> None:
        names: dict[str, BlobKind] = {"ciphertext": "pool", "wrapped_key": "key", "fingerprints": "prints"}
        kept = {
            name: self._desk.vault.put(self._slug, pool, kind, [self._desk.entropy(64)])
            for name, kind in names.items()
        }
        record = SealedRecord(table="cases", format="csv", hmac=self._desk.entropy(32).hex())
        assert self._state is not None
        self._enter(
            tx, Seal, SealFacts(rows={"cases": 1000}), pool=pool, protocol=self._hash, records=(record,),
            recipients=(self._state.recipient,), **kept,
        )  # fmt: skip

    def _hand_out(self, tx: Transaction) -> None:
        assert self._state is not None
        assert self._state.study is not None
        ciphertext = self._state.study.pools["teste"].sealed.request.ciphertext
        self._enter(
            tx, Read, ReadFacts(engine=engine()), purpose="inputs", pool="teste", protocol=self._hash,
            ciphertext=ciphertext,
        )  # fmt: skip

    def _remark(self, tx: Transaction) -> None:
        text = salted_text(self._desk, f"A remark on {self._slug}.")
        put_text(tx, text)
        self._enter(tx, Deviate, NoFacts(), text=text.digest)
