"""A study's whole life, with an entry of every kind: it audits clean, and whatever is changed in it is found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from lacre.audit.audit import audit
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.envelope import PAYLOAD_ENTRY, Envelope
from lacre.ledger.keys import PrivateKey
from lacre.ledger.merkle import leaf_hash, root
from lacre.ledger.statement import Statement
from lacre.protocol.difference import difference
from lacre.protocol.document import canonical, parse, protocol_hash
from lacre.rules.answers import (
    AmendDecision,
    AmendFacts,
    Engine,
    EraseFacts,
    ErratumFacts,
    KeyDecision,
    NoFacts,
    ReadDecision,
    ReadFacts,
    RewrapDecision,
    SealDecision,
    SealFacts,
    WordsDecision,
)
from lacre.rules.changes import difference_document
from lacre.rules.custody import covers
from lacre.rules.record import Answered, parse_entry
from lacre.rules.requests import Amend, Deviate, Erase, Erratum, KeyChange, Rewrap, SealedRecord, Withdraw

from .conftest import LOG, ORIGIN, RECIPIENT, Builder, digest, protocol_text

if TYPE_CHECKING:
    from .conftest import Held

ENGINE = Engine(lacre="0.1.0", statistics="1")
READER, NEXT_BROKER, NEXT_LOG = (PrivateKey.from_seed(bytes([number]) * 32) for number in (21, 22, 23))
STRANGER = PrivateKey.from_seed(b"\x07" * 32)
TITLE = ("title: Errors by sex", "title: Errors, by sex")
BAR = ("max_group_gap: 0.1", "max_group_gap: 0.2")


def amend(builder: Builder, *changes: tuple[str, str], **more: Any) -> int:
    """Amend `one` by replacing words of its protocol."""
    study = builder.state("one").study
    assert study is not None
    text = protocol_text("one")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    plan = parse(text.encode())
    builder.protocols[protocol_hash(plan)] = plan
    builder.put(canonical(plan), "protocol")
    builder.put(difference_document(difference(study.in_force.protocol, plan)), "difference")
    return builder.enter(
        Amend,
        AmendFacts(engine=ENGINE),
        protocol=protocol_hash(plan),
        replaces=study.in_force.protocol_hash,
        reason=builder.words(f"why {len(builder.datas)}"),
        **more,
    )


def erratum(builder: Builder, corrects: int, read: int, **more: Any) -> int:
    """Score the result at `corrects`, which the read at `read` gave, again."""
    content = parse_entry(read, builder.datas[read]).content
    asked: Any = content.request  # type: ignore[union-attr] # a read is answered
    mark = ("erratum", len(builder.datas))
    return builder.enter(
        Erratum,
        ErratumFacts(engine=ENGINE, rows={"cases": 100}),
        pool="teste",
        protocol=asked.protocol,
        analyses=asked.analyses,
        submissions=asked.submissions,
        corrects=corrects,
        records=(SealedRecord(table="cases", format="csv", hmac=digest("hmac", *mark)),),
        ciphertext=digest("ciphertext", *mark),
        wrapped_key=digest("key", *mark),
        recipients=("age1own",),
        reason=builder.words("two labels were swapped"),
        **more,
    )


def rewrap(builder: Builder, *recipients: str) -> int:
    """Hand `teste` of `one` over, whole."""
    study = builder.state("one").study
    assert study is not None
    pool = study.pools["teste"]
    return builder.enter(
        Rewrap,
        NoFacts(),
        pool="teste",
        recipients=recipients,
        wrapped_key=digest("keyset", len(builder.datas)),
        covers=covers(pool.wrapped_keys),
        reason=builder.words("she left"),
    )


def key(builder: Builder, action: str, public: PrivateKey, **more: Any) -> int:
    """Change who may act."""
    fields = {"action": action, "public": public.public.raw.hex(), **more}
    return builder.enter(KeyChange, NoFacts(), study=None, **fields)


def whole(until: int | None = None) -> Builder:
    """Every kind of entry that a ledger of sealed pools can have, with the number of each beside it."""
    builder = Builder()
    builder.genesis()  # 0
    builder.register("one")  # 1
    builder.seal("one", "teste")  # 2
    key(builder, "enrol", READER, roles=("registrant",), name=builder.words("Rui"))  # 3
    builder.seal("one", "teste", replaces=2, reason=builder.words("the wrong file"))  # 4
    amend(builder, TITLE)  # 5
    key(builder, "rotate", NEXT_LOG, replaces=LOG.public.keyid)  # 6
    key(builder, "rotate", NEXT_BROKER, replaces=builder.broker.public.keyid)  # 7
    builder.broker = NEXT_BROKER
    in_force = protocol_hash(parse(protocol_text("one").replace(*TITLE).encode()))
    request = builder.read_request("one", "teste", protocol=in_force, reason=builder.words("table 2"))
    builder.keep(request)
    builder.answer(builder.ask(request, READER), ReadFacts(engine=ENGINE))  # 8
    builder.result("one", 8, "FAIL")  # 9
    if until == 10:
        return builder
    builder.enter(Deviate, NoFacts(), about=9, text=builder.words("the clinic was closed on Mondays"))  # 10
    erratum(builder, 9, 8)  # 11
    builder.result("one", 11, "PASS")  # 12
    rewrap(builder, "age1other", "age1third")  # 13
    amend(builder, TITLE, BAR, accept_burn=True)  # 14
    key(builder, "revoke", READER, reason=builder.words("she left"))  # 15
    key(builder, "revoke", LOG)  # 16
    builder.log = NEXT_LOG
    builder.enter(Withdraw, NoFacts(), reason=builder.words("consent was withdrawn"))  # 17
    named = next(k for k, document in builder.documents.items() if document.body == b"Rui")
    builder.enter(Erase, EraseFacts(named=3), study=None, digest=named)  # 18
    del builder.documents[named]
    return builder


ENTRIES = 19
KINDS = {
    1: "register", 2: "seal", 3: "key", 5: "amend", 8: "read", 9: "result", 10: "deviate", 11: "erratum",
    13: "rewrap", 17: "withdraw", 18: "erase",
}  # fmt: skip


@pytest.fixture(scope="module")
def _life() -> Builder:
    return whole()


@pytest.fixture
def life(_life: Builder) -> Builder:
    """The whole life, to be written on."""
    return _life.fork()


@pytest.fixture
def kept(life: Builder) -> Held:
    """The whole life as a source."""
    return life.held()


def test_a_whole_life_audits_clean(kept: Held) -> None:
    report = audit(kept)
    assert [(each.code, each.entry, each.message) for each in report.findings] == []
    assert report.warnings == ()
    assert report.entries == ENTRIES
    assert {index: each.kind for index, each in enumerate(report.history) if index in KINDS} == KINDS
    assert replace(kept, on_site=False).found() == set()


@pytest.mark.parametrize("index", range(ENTRIES))
def test_a_byte_changed_in_any_kind_of_entry_is_found_there(kept: Held, index: int) -> None:
    data = kept.datas[index]
    for position in range(index, len(data), 131):  # prime: it falls on every part of the base64
        changed = data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]
        report = audit(kept.with_entry(index, changed))
        assert index in {each.entry for each in report.findings}, position


@pytest.mark.parametrize("index", range(1, ENTRIES))
def test_an_entry_of_any_kind_left_out_is_found(kept: Held, index: int) -> None:
    """Also where the rest is numbered anew: requests were signed over the history they stood on."""
    assert kept.with_datas([*kept.datas[:index], *kept.datas[index + 1 :]]).found()


def test_a_story_s_custody_goes_by_all_hands_since_the_seal() -> None:
    """Sealed to another alone, and handed to the ledger's own afterwards, which then holds data and key."""
    builder = Builder()
    builder.genesis()
    builder.register("one")
    builder.seal("one", "teste", recipients=("age1other",))
    builder.result("one", builder.read("one", "teste"))
    for custody in ("second keyholder", "self-held"):
        report = audit(builder.held(), study="one", entry=4)
        assert report.ok
        assert report.story is not None
        assert report.story.custody == custody
        rewrap(builder, RECIPIENT)


@pytest.mark.parametrize("index", [3, 6, 7, 10, 13, 15, 16, 17])
def test_an_entry_that_is_repeated_is_found(life: Builder, index: int) -> None:
    """The very bytes of an entry, once more at the end: its nonce was used."""
    life.datas.append(life.datas[index])
    assert ("nonce-repeated", ENTRIES) in life.found()


def test_each_document_of_each_kind_is_missed(kept: Held) -> None:
    for name in kept.documents_:
        without = kept.copy()
        del without.documents_[name]
        found = {code for code, _entry in without.found()}
        assert "document-missing" in found, kept.documents_[name]


def test_each_blob_of_each_kind_is_missed(kept: Held) -> None:
    for name in kept.blobs:
        without = kept.copy()
        del without.blobs[name]
        assert "blob-missing" in {code for code, _entry in without.found()}, name


# --- erasures


def test_what_is_erased_is_told_and_not_missed(life: Builder) -> None:
    named = life.words("table 2")
    del life.documents[named]
    assert ("document-missing", 8) in life.found()
    life.enter(Erase, EraseFacts(named=8), study=None, digest=named)
    assert life.found() == set()


def test_what_is_erased_and_still_there_is_found(life: Builder) -> None:
    named = life.words("table 2")
    life.enter(Erase, EraseFacts(named=8), study=None, digest=named)
    assert life.found() == {("document-not-erased", ENTRIES)}


@pytest.mark.parametrize("named", [7, 3])
def test_an_erasure_of_what_nobody_named_there_is_found(life: Builder, named: int) -> None:
    life.enter(Erase, EraseFacts(named=named), study=None, digest=life.words("table 2"))
    assert ("erasure-of-nothing", ENTRIES) in life.found()


def test_a_second_erasure_of_the_same_is_found(life: Builder) -> None:
    first = parse_entry(18, life.datas[18]).content
    assert isinstance(first, Answered)
    assert isinstance(first.request, Erase)
    life.enter(Erase, EraseFacts(named=3), study=None, digest=first.request.digest)
    assert life.found() == {("erasure-of-nothing", ENTRIES)}


def test_a_result_is_not_erased_by_words_of_its_digest(life: Builder) -> None:
    """A deviation whose words are said to have the digest of a result lets nobody erase the result."""
    result = parse_entry(9, life.datas[9]).content
    digest_of_result = result.result  # type: ignore[union-attr] # entry 9 is a result
    early = whole(until=10)
    early.enter(Deviate, NoFacts(), text=digest_of_result)
    early.enter(Erase, EraseFacts(named=10), study=None, digest=digest_of_result)
    del early.documents[digest_of_result]
    assert ("document-missing", 9) in early.found()


def test_a_protocol_is_not_erased(life: Builder) -> None:
    """Only texts under salted digests may go; a plan that someone 'erases' is missing."""
    plan = next(k for k, document in life.documents.items() if b"Errors, by sex" in document.body)
    life.enter(Erase, EraseFacts(named=5), study=None, digest=plan)
    del life.documents[plan]
    found = life.found()
    assert ("erasure-of-nothing", ENTRIES) in found
    assert any(code == "document-missing" for code, _entry in found)


# --- keys, as of the entry's index


def resigned(builder: Builder, index: int, by: PrivateKey) -> None:
    """Have an entry signed by another broker."""
    payload = Envelope.decode(builder.datas[index]).payload
    builder.datas[index] = Envelope.sign(PAYLOAD_ENTRY, payload, [by]).encode()


def test_the_old_broker_signs_nothing_after_its_rotation(life: Builder) -> None:
    old = whole_broker()
    resigned(life, ENTRIES - 1, old)
    assert life.found() == {("signer-unknown", ENTRIES - 1)}


def test_the_new_broker_signs_nothing_before_its_rotation(life: Builder) -> None:
    resigned(life, 4, NEXT_BROKER)
    assert ("signer-unknown", 4) in life.found()


def whole_broker() -> PrivateKey:
    return Builder().broker


def test_a_revoked_key_asks_for_nothing(life: Builder) -> None:
    """What it asked for before stands: entry 8 is its own, and nothing is found there."""
    decision = WordsDecision(known=known(life))
    request = Deviate(text=life.words("by someone who left"), **life.bound("one"))
    life.answer(life.ask(request, READER), NoFacts(), decision)
    assert life.found() == {("law-broken", ENTRIES)}


def known(builder: Builder) -> Any:
    content = parse_entry(17, builder.datas[17]).content
    assert isinstance(content, Answered)
    assert isinstance(content.decision, WordsDecision)
    return content.decision.known


def test_a_key_that_enrols_itself_is_not_enrolled(life: Builder) -> None:
    """The law refuses who is no owner, and what the key then signs is a stranger's."""
    public = STRANGER.public
    decision = KeyDecision(enrols=public.keyid, roles=("owner",))
    request = KeyChange.model_validate(
        {**unowned(life), "action": "enrol", "public": public.raw.hex(), "roles": ("owner",)}
    )
    life.answer(life.ask(request, STRANGER), NoFacts(), decision)
    life.enter(Deviate, NoFacts(), key=STRANGER, text=life.words("hello"), decision=WordsDecision())
    found = life.found()
    assert {("requester-unknown", ENTRIES), ("law-broken", ENTRIES), ("law-broken", ENTRIES + 1)} <= found


def unowned(builder: Builder) -> dict[str, Any]:
    bound = builder.bound("-")
    del bound["study"]
    return bound


@pytest.mark.parametrize(
    ("size", "old", "new"),
    [(6, True, False), (7, True, True), (8, True, True), (16, True, True), (17, False, True),
     (ENTRIES, False, True)],
)  # fmt: skip
def test_checkpoints_are_signed_by_every_log_key_of_their_size(
    life: Builder, size: int, old: bool, new: bool
) -> None:
    """The old key signs up to entry 15 and no more, the new one from entry 6 on: in between both must."""
    datas = life.datas[:size]
    head = Checkpoint(ORIGIN, size, root(map(leaf_hash, datas)))
    for signers in ((LOG,), (NEXT_LOG,), (LOG, NEXT_LOG), (NEXT_LOG, LOG), (LOG, STRANGER, NEXT_LOG)):
        note = SignedCheckpoint.sign(head, signers).note
        found = {code for code, _entry in replace(life.held().with_datas(datas), note=note).found()}
        lacking = (old and LOG not in signers) + (new and NEXT_LOG not in signers)
        valid = (old and LOG in signers) or (new and NEXT_LOG in signers)
        assert ("checkpoint-invalid" in found) == (not valid), signers
        assert ("checkpoint-half-signed" in found) == (valid and lacking > 0), signers


# --- decisions that the law does not come to


FORGED: dict[int, Any] = {
    5: AmendDecision(version=3, difference="0" * 64),
    6: KeyDecision(enrols=NEXT_LOG.public.keyid, roles=("owner",)),
    8: ReadDecision(read_class="dev", number=1),
    11: ReadDecision(read_class="erratum", number=1, confirmatory=True),
    13: RewrapDecision(custody="second keyholder"),
    14: AmendDecision(version=3, difference="1" * 64),
    15: KeyDecision(),
    17: WordsDecision(),
}


@pytest.mark.parametrize("index", FORGED)
def test_a_decision_the_law_does_not_come_to_is_found(life: Builder, index: int) -> None:
    """Whoever holds the broker's key writes another decision: the law, replayed, does not agree."""
    payload = Envelope.decode(life.datas[index]).payload
    said = Statement.decode(payload)
    changed = {**said.predicate, "decision": FORGED[index].as_json()}
    signer = life.broker if index > 7 else whole_broker()
    forged = Statement(said.kind, said.subjects, changed).encode()
    life.datas[index] = Envelope.sign(PAYLOAD_ENTRY, forged, [signer]).encode()
    assert ("decision-differs", index) in life.found()


def test_what_goes_on_in_a_withdrawn_study_is_found(life: Builder) -> None:
    study = life.state("one").study
    assert study is not None
    request = life.seal_request("one", "dev", protocol=study.in_force.protocol_hash)
    life.answer(life.ask(request), SealFacts(rows={"cases": 1}), SealDecision(standing="dev"))
    assert life.found() == {("law-broken", ENTRIES)}
