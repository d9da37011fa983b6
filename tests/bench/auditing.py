"""How fast a long ledger is audited, beside the bare verification of every Ed25519 signature in it.

The audit is the whole of it, from opening the ledger on: database, tree, documents, blobs, law, memory. The bare work
is the same library's verification of the same signatures, in one loop, keys decoded and messages made beforehand. Where
there is a second processor the audit uses it, as users have it; the bare loop is one thread.
"""

import os
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import cryptography
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from tests.bench.ledgers import desk_at, make_ledger
from tests.bench.measured import Measured

import lacre
from lacre.ledger.envelope import Envelope
from lacre.ledger.keys import PublicKey
from lacre.rules.record import Answered, Genesis, parse_entry

BAR = 0.6
Check = tuple[Ed25519PublicKey, bytes, bytes]


def run(entries: int = 10_000, rounds: int = 5) -> Measured:
    """Audit a ledger of `entries` entries `rounds` times, each time beside the bare work; the medians are told."""
    with TemporaryDirectory() as place:
        folder, state = Path(place) / "work", Path(place) / "state"
        folder.mkdir()
        make_ledger(folder, state, entries)
        checks = _checks(folder, state)
        ours, theirs = [], []
        for _round in range(rounds):
            ours.append(_audit(folder, state))
            theirs.append(_verify(checks))
    rate, bare = len(checks) / median(ours), len(checks) / median(theirs)
    return Measured(
        f"audit of {entries:,} entries ({len(os.sched_getaffinity(0))} processors)", "signatures/s", rate,
        f"cryptography {cryptography.__version__}: bare verification, one thread", bare, rate / bare, BAR,
    )  # fmt: skip


def _checks(folder: Path, state: Path) -> list[Check]:
    """Every signature of the ledger, with its key and what it was made over."""
    desk = desk_at(folder, state)
    found: list[Check] = []
    keys: dict[str, Ed25519PublicKey] = {}
    with desk.snapshot() as reader:
        for stored in reader.entries():
            entry = parse_entry(stored.index, stored.envelope)
            if isinstance(entry.content, Genesis):
                raws = [bytes.fromhex(key.public) for key in entry.content.keys]
                keys = {PublicKey(raw).keyid: Ed25519PublicKey.from_public_bytes(raw) for raw in raws}
            found += _of(entry.envelope, keys)
            if isinstance(entry.content, Answered):
                found += _of(entry.content.request_envelope, keys)
    desk.engine.dispose()
    return found


def _of(envelope: Envelope, keys: dict[str, Ed25519PublicKey]) -> list[Check]:
    message = envelope.signed_bytes()
    return [(keys[signature.keyid], signature.sig, message) for signature in envelope.signatures]


def _audit(folder: Path, state: Path) -> float:
    started = perf_counter()
    with lacre.open(folder, state=state) as ledger:
        report = ledger.audit()
    assert report.ok, report.findings
    return perf_counter() - started


def _verify(checks: list[Check]) -> float:
    started = perf_counter()
    for key, signature, message in checks:
        key.verify(signature, message)
    return perf_counter() - started
