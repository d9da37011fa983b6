"""`register`: put a validated protocol in the ledger, before any data exists."""

from collections.abc import Sequence
from pathlib import Path

from lacre.broker.desk import (
    Desk,
    answered,
    clock_warnings,
    enter,
    remember,
    sign_request,
    view,
)
from lacre.broker.files import parse_given
from lacre.broker.outcomes import Checked, Registered
from lacre.durable import read_given
from lacre.ledger.merkle import inclusion_proof
from lacre.ledger.proof import Receipt
from lacre.protocol.document import canonical, parse, protocol_hash
from lacre.protocol.models import Protocol
from lacre.protocol.strict_yaml import MAX_BYTES
from lacre.rules.record import PROTOCOL_MEDIA
from lacre.rules.requests import Engine, Register, RegisterFacts
from lacre.stats import VERSION as STATISTICS
from lacre.version import VERSION


def engine() -> Engine:
    """What computes here."""
    return Engine(lacre=VERSION, statistics=STATISTICS)


def load_protocol(source: str | Path | bytes) -> tuple[str, Protocol]:
    """The protocol of a file (or of its bytes), with a name to show."""
    if isinstance(source, bytes):
        return "protocol", parse(source)
    path = Path(source)
    return path.name, parse(read_given(path, most=MAX_BYTES), path.name)


def check(source: str | Path | bytes, files: Sequence[str] = ()) -> Checked:
    """Validate a protocol and say what its criteria need; touches no ledger.

    `files` are read as the protocol declares its tables, so that a plan can be tried on cases that are no
    secret before it is registered.
    """
    from lacre.analyses.feasibility import requirements

    name, protocol = load_protocol(source)
    rows, odd = _try(protocol, files) if files else ({}, {})
    return Checked(name, protocol, protocol_hash(protocol), requirements(protocol), rows, odd)


def _try(protocol: Protocol, files: Sequence[str]) -> tuple[dict[str, int], dict[str, int]]:
    from lacre.broker.ingest import check_units, load, outside, read_pool_tables

    raws = load(parse_given(files, tuple(protocol.tables)))
    tables = read_pool_tables(protocol, raws, lambda *_progress: None)
    check_units(protocol, tables)
    return {name: table.typed.rows for name, table in tables.items()}, outside(protocol, tables)


def register(desk: Desk, source: str | Path | bytes) -> Registered:
    """Register a protocol as a new study and give its receipt (rule 1)."""
    _name, protocol = load_protocol(source)
    digest = protocol_hash(protocol)
    study = protocol.study
    signed = sign_request(desk, Register, study=study, protocol=digest)
    with desk.writer.transaction() as tx:
        tx.put_document(canonical(protocol), PROTOCOL_MEDIA)
        before = tx.entry(tx.size - 1).time
        made = enter(desk, tx, view(tx, study), signed, RegisterFacts(engine=engine()))
    remember(desk, tx)
    return Registered(
        study=study,
        entry=made.index,
        time=answered(made).time,
        protocol_hash=digest,
        receipt=receipt(desk, made.index),
        warnings=clock_warnings(made, before),
    )


def receipt(desk: Desk, index: int) -> bytes:
    """A C2SP tlog-proof that the entry at `index` stands in the tree of the latest checkpoint."""
    with desk.snapshot() as reader:
        checkpoint = reader.checkpoint()
        assert checkpoint is not None
        hashes = inclusion_proof(index, reader.size, reader.subtree)
        return Receipt(index, hashes, checkpoint).format()
