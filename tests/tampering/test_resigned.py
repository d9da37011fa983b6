"""Entries and requests signed again by other keys, with everything that follows made right for it.

Columns, tree, nodes and checkpoint are what the entries give, the log's own keys sign the checkpoint, and each
later request is bound to the history as it now is: so nothing but the rule in question is there to find it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.tampering.forging import key_changes
from tests.tampering.life import ENTRIES
from tests.tampering.place import put_history

from lacre.ledger.envelope import PAYLOAD_ENTRY, Envelope, Signature
from lacre.ledger.keys import PrivateKey
from lacre.rules.record import Answered

if TYPE_CHECKING:
    from tests.tampering.forging import Forger, History
    from tests.tampering.place import Place
    from tests.tampering.tally import Tally

STRANGER = PrivateKey.from_seed(b"\x07" * 32)


def put(place: Place, history: History) -> None:
    with place.changing() as database:
        put_history(database, history.datas, history.nodes(), history.checkpoint())


def keys_of(forger: Forger, role: str) -> list[tuple[int, int, PrivateKey]]:
    """The keys of a role: enrolled by which entry, revoked by which (or past the last), and the key."""
    found = [each for each in key_changes(forger.datas).keys.values() if role in each.roles]
    return [
        (each.enrolled, ENTRIES if each.revoked is None else each.revoked, forger.keys[each.keyid])
        for each in found
    ]


def test_every_entry_by_a_key_that_is_not_enrolled(place: Place, forger: Forger, tally: Tally) -> None:
    for index in range(1, ENTRIES):
        put(place, forger.rewritten(entry_by={index: STRANGER}))
        report = tally.judge(f"entry {index}", place.audit, entries={index}, codes={"signer-unknown"})
        assert [(each.code, each.entry) for each in report.findings] == [("signer-unknown", index)]


@pytest.mark.parametrize("role", ["owner", "registrant", "log", "broker"])
def test_every_entry_by_a_key_of_another_role_or_of_another_time(
    place: Place, forger: Forger, tally: Tally, role: str
) -> None:
    """The broker's own key before it was enrolled, and after it was revoked: a key is judged at the entry's index."""
    for number, (_enrolled, _revoked, key) in enumerate(keys_of(forger, role)):
        for index in range(1 + number, ENTRIES, 1 if role == "broker" else 9):
            if Envelope.decode(forger.datas[index]).signatures[0].keyid == key.public.keyid:
                continue  # it is the one that signed
            put(place, forger.rewritten(entry_by={index: key}))
            report = tally.judge(f"{role} {number}, entry {index}", place.audit,
                                 entries={index}, codes={"signer-unknown"})  # fmt: skip
            assert [(each.code, each.entry) for each in report.findings] == [("signer-unknown", index)]


def test_every_entry_in_the_name_of_the_broker(place: Place, forger: Forger, tally: Tally) -> None:
    """A stranger's signature under the broker's key id."""
    for index in range(1, ENTRIES, 3):
        (signature,) = Envelope.decode(forger.datas[index]).signatures
        history = forger.rewritten(entry_by={index: STRANGER})
        forged = Envelope.decode(history.datas[index])
        named = (Signature(signature.keyid, forged.signatures[0].sig),)
        data = Envelope(PAYLOAD_ENTRY, forged.payload, named).encode()
        put(
            place,
            type(forger)(
                [*history.datas[:index], data, *history.datas[index + 1 :]], forger.keys
            ).rewritten(),
        )
        tally.judge(f"entry {index}", place.audit, entries={index}, codes={"signature-wrong"})


def answered(forger: Forger) -> list[int]:
    return [index for index in range(ENTRIES) if isinstance(forger.recorded(index).content, Answered)]


def test_every_request_by_a_key_that_is_not_enrolled(place: Place, forger: Forger, tally: Tally) -> None:
    for index in answered(forger):
        put(place, forger.rewritten(request_by={index: STRANGER}))
        tally.judge(f"request {index}", place.audit, entries={index}, codes={"requester-unknown"})


@pytest.mark.parametrize("role", ["registrant", "log", "broker"])
def test_every_request_by_a_key_without_the_role_or_after_its_revocation(
    place: Place, forger: Forger, tally: Tally, role: str
) -> None:
    """Rui's key could ask for some of it while it was enrolled; the keys of the log and the broker for nothing."""
    numbered = enumerate(keys_of(forger, role))
    keys = [(number, *each) for number, each in numbered if each[0] or role != "registrant"]
    for number, _enrolled, revoked, key in keys:
        indexes = [index for index in answered(forger) if role != "registrant" or index > revoked]
        for index in indexes[number :: 1 if role == "registrant" else 9]:
            put(place, forger.rewritten(request_by={index: key}))
            tally.judge(f"{role} {number}, request {index}", place.audit,
                        entries={index}, codes={"law-broken", "requester-unknown"})  # fmt: skip


def test_the_genesis_by_others(place: Place, forger: Forger, tally: Tally) -> None:
    for key in (
        STRANGER,
        *(key for role in ("owner", "log", "broker") for _on, _off, key in keys_of(forger, role)),
    ):
        put(place, forger.rewritten(entry_by={0: key}))
        tally.judge("genesis", place.audit, entries={0}, codes={"genesis-unsigned"})


def test_the_checkpoint_by_others(place: Place, forger: Forger, tally: Tally) -> None:
    """And by one alone of the two keys that the log has at this size."""
    history = forger.history()
    needed = history.signers()
    assert len(needed) == 2
    for number, key in enumerate([STRANGER, *forger.keys.values()]):
        with place.changing() as database:
            put_history(database, history.datas, history.nodes(), history.checkpoint(by=[key]))
        code = "checkpoint-half-signed" if key in needed else "checkpoint-invalid"
        tally.judge(f"key {number}", place.audit, codes={code})
