"""`init`: make a ledger, its keys and its first entry, the genesis."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lacre.broker.desk import SaltedText, timestamp, utf8
from lacre.broker.outcomes import LedgerMade
from lacre.broker.signers import Signers
from lacre.errors import LacreError, NotRemembered, OriginInvalid
from lacre.ledger.envelope import PAYLOAD_ENTRY, Envelope
from lacre.ledger.note import VerifierKey, is_key_name
from lacre.pools.keyring import Keyring
from lacre.rules.record import LAW, TEXT_MEDIA, FirstKey, Genesis, genesis_statement
from lacre.store.discover import FOLDER, Layout, create_layout
from lacre.store.engine import create_ledger, make_engine
from lacre.store.memory import Growth, Memory
from lacre.store.reader import SALT_SIZE, Columns
from lacre.store.writer import Writer

LEDGER_ID_BYTES = 32
MAX_ORIGIN = 128  # characters; the genesis and each checkpoint carry it


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a new ledger is asked to be."""

    folder: Path
    origin: str | None
    name: str | None
    passphrase: str | None


def init(
    wanted: Wanted, *, state_folder: Path, clock: Callable[[], datetime], entropy: Callable[[int], bytes]
) -> LedgerMade:
    """Make the ledger whole or not at all; `LedgerExists` where one is.

    `NotRemembered` says that it stands, and is not in this machine's memory yet.
    """
    ledger_id = entropy(LEDGER_ID_BYTES).hex()
    origin = wanted.origin or f"lacre/{ledger_id[:8]}"
    if not is_key_name(origin) or len(origin) > MAX_ORIGIN:
        raise OriginInvalid(origin=origin)
    memory = Memory(state_folder)
    memory.require_writable()
    with create_layout(wanted.folder) as layout:
        keys = Keyring.create(layout.keys, wanted.passphrase, entropy)
        name = SaltedText(entropy(SALT_SIZE), utf8(wanted.name)) if wanted.name else None
        genesis = Genesis(
            law=LAW,
            time=timestamp(clock()),
            ledger=ledger_id,
            origin=origin,
            keys=_first_keys(keys, name),
            recipient=keys.identity.recipient,
        )
        growth = _write(layout, keys, genesis, name, memory)
    final = Layout(wanted.folder.absolute() / FOLDER)
    engine = make_engine(final.database)
    try:
        memory.advance(engine, growth)
    except LacreError as error:
        raise NotRemembered(entry=growth.size - 1, why=error.message, next=error.way_out) from error
    finally:
        engine.dispose()
    return LedgerMade(
        folder=final.root,
        origin=origin,
        genesis=growth.genesis,
        verifier_key=VerifierKey(origin, keys.log.public).format(),
        passphrase=bool(wanted.passphrase),
        name=wanted.name or None,
    )


def _first_keys(keys: Keyring, name: SaltedText | None) -> tuple[FirstKey, ...]:
    """A person's key with every role a lone user needs, the broker's, and the log's."""
    named = name.digest if name else None
    return (
        FirstKey(public=keys.person.public.raw.hex(), roles=("owner", "registrant", "custodian"), name=named),
        FirstKey(public=keys.broker.public.raw.hex(), roles=("broker",)),
        FirstKey(public=keys.log.public.raw.hex(), roles=("log",)),
    )


def _write(
    layout: Layout, keys: Keyring, genesis: Genesis, name: SaltedText | None, memory: Memory
) -> Growth:
    """Write entry 0, signed by the person and the broker both."""
    data = Envelope.sign(
        PAYLOAD_ENTRY, genesis_statement(genesis).encode(), [keys.person, keys.broker]
    ).encode()
    engine = create_ledger(layout.database)
    try:
        writer = Writer(engine, Signers(lambda: keys).sign_checkpoint, memory)
        with writer.transaction() as tx:
            tx.append(data, Columns(kind="genesis", time=genesis.time))
            if name is not None:
                tx.put_document(name.body, TEXT_MEDIA, name.salt)
    finally:
        engine.dispose()
    growth = tx.growth()
    assert growth is not None
    return growth
