"""What a broker, or someone with other keys, writes against the law: each is found, at its entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.audit.conftest import protocol_text

from lacre.audit.audit import audit
from lacre.audit.heads import Memory
from lacre.ledger.envelope import PAYLOAD_ENTRY, PAYLOAD_REQUEST, Envelope, Signature
from lacre.ledger.keys import PrivateKey
from lacre.ledger.statement import Statement
from lacre.protocol.document import parse, protocol_hash
from lacre.rules.answers import (
    Engine,
    Gated,
    NoFacts,
    Overlap,
    ReadDecision,
    ReadFacts,
    RegisterDecision,
    RegisterFacts,
    SealDecision,
    SealFacts,
)
from lacre.rules.record import Answered, FirstKey, parse_entry
from lacre.rules.requests import Deviate, Register

if TYPE_CHECKING:
    from tests.unit.audit.conftest import Builder

STRANGER = PrivateKey.from_seed(b"\x07" * 32)
ENGINE = Engine(lacre="0.1.0", statistics="1")
FACTS = ReadFacts(engine=ENGINE)


def lawful(**changed: Any) -> ReadDecision:
    """What the law decides of a third content read of the small ledger's `one`, as rules 6 and 15 have it.

    `teste` was read twice, so this read is its third, of class dev, and no longer of the registered pool.
    """
    fields = {"read_class": "dev", "number": 3, "exploratory": ("not-the-registered-pool",)}
    return ReadDecision.model_validate({**fields, **changed})


def statement(builder: Builder, index: int) -> Statement:
    return Statement.decode(Envelope.decode(builder.datas[index]).payload)


def asked(builder: Builder, index: int) -> Answered:
    content = parse_entry(index, builder.datas[index]).content
    assert isinstance(content, Answered)
    return content


# --- signatures


def test_signed_by_a_key_that_is_not_enrolled(builder: Builder) -> None:
    index = builder.later()
    payload = statement(builder, index).encode()
    builder.datas[index] = Envelope.sign(PAYLOAD_ENTRY, payload, [STRANGER]).encode()
    assert builder.found() == {("signer-unknown", index)}


def test_signed_by_an_enrolled_key_that_is_no_broker(builder: Builder) -> None:
    index = builder.later()
    payload = statement(builder, index).encode()
    builder.datas[index] = Envelope.sign(PAYLOAD_ENTRY, payload, [builder.person]).encode()
    assert builder.found() == {("signer-unknown", index)}


def test_signed_by_a_stranger_in_the_brokers_name(builder: Builder) -> None:
    index = builder.later()
    signed = Envelope.sign(PAYLOAD_ENTRY, statement(builder, index).encode(), [STRANGER])
    signature = Signature(builder.broker.public.keyid, signed.signatures[0].sig)
    builder.datas[index] = Envelope(signed.payload_type, signed.payload, (signature,)).encode()
    assert builder.found() == {("signature-wrong", index)}


def test_signed_twice(builder: Builder) -> None:
    index = builder.later()
    payload = statement(builder, index).encode()
    builder.datas[index] = Envelope.sign(PAYLOAD_ENTRY, payload, [builder.broker, builder.person]).encode()
    assert builder.found() == {("signatures-many", index)}


def test_a_request_by_a_stranger(builder: Builder) -> None:
    request = builder.ask(builder.read_request("one", "teste", accept_dev=True), STRANGER)
    index = builder.answer(request, FACTS, lawful())
    assert builder.found() == {("requester-unknown", index), ("law-broken", index)}


def test_a_request_by_a_key_without_the_role(builder: Builder) -> None:
    request = builder.ask(builder.read_request("one", "teste", accept_dev=True), builder.log)
    index = builder.answer(request, FACTS, lawful())
    report = audit(builder.held())
    assert [(each.code, each.entry, each.fields["law"]) for each in report.findings] == [
        ("law-broken", index, "key-not-entitled")
    ]


def test_a_request_that_its_key_did_not_sign(builder: Builder) -> None:
    signed = builder.ask(builder.read_request("one", "teste", accept_dev=True), STRANGER)
    signature = Signature(builder.person.public.keyid, signed.signatures[0].sig)
    request = Envelope(PAYLOAD_REQUEST, signed.payload, (signature,))
    index = builder.answer(request, FACTS)
    assert builder.found() == {("request-signature-wrong", index)}


# --- bound to its history


def test_a_request_for_another_ledger(builder: Builder) -> None:
    index = builder.later(genesis="ab" * 32)
    assert builder.found() == {("request-foreign", index)}


def test_an_entry_of_another_ledger_with_the_same_keys(builder: Builder) -> None:
    other = builder.empty()
    other.genesis(name="Ana Souza, elsewhere")
    other.register("three")
    builder.datas.append(other.datas[1])
    builder.documents |= {key: each for key, each in other.documents.items() if b"three" in each.body}
    assert builder.found() == {("request-foreign", 13)}


def test_an_entry_of_a_fork(builder: Builder) -> None:
    """Of two continuations of one ledger, an entry of the one is put into the other."""
    fork = builder.fork()
    fork.register("three")
    fork.register("four")
    builder.register("five")
    builder.datas.append(fork.datas[14])
    builder.documents |= fork.documents
    assert ("request-unbound", 14) in builder.found()


def test_a_request_that_saw_more_than_there_was(builder: Builder) -> None:
    index = builder.later(seen={"size": 20, "root": "ab" * 32})
    assert builder.found() == {("request-unbound", index)}


def test_a_request_that_saw_another_history(builder: Builder) -> None:
    index = builder.later(seen={"size": 5, "root": "ab" * 32})
    assert builder.found() == {("request-unbound", index)}


def test_a_request_may_have_seen_an_older_prefix_and_even_nothing(builder: Builder) -> None:
    empty = {"size": 0, "root": digest_of_nothing()}
    builder.enter(Deviate, NoFacts(), text=builder.words("said early, entered late"), seen=empty)
    assert builder.found() == set()


def digest_of_nothing() -> str:
    """SHA-256 of the empty string (FIPS 180-4; the root of the empty tree of RFC 6962)."""
    return "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_a_request_used_twice(builder: Builder) -> None:
    nonce = asked(builder, 8).request.nonce
    index = builder.later(nonce=nonce)
    assert builder.found() == {("nonce-repeated", index)}


def test_an_entry_repeated(builder: Builder) -> None:
    builder.datas.append(builder.datas[8])
    assert {("nonce-repeated", 13), ("previous-wrong", 13)} <= builder.found()


@pytest.mark.parametrize("previous", [None, 4, 9, 12, 500])
def test_another_entry_before_than_the_studys_last(builder: Builder, previous: Any) -> None:
    request = builder.ask(builder.read_request("one", "teste", accept_dev=True))
    index = builder.answer(request, FACTS, previous=previous)
    assert builder.found() == {("previous-wrong", index)}


@pytest.mark.parametrize("time", ["2026-13-01T00:00:00.000000Z", "2026-02-30T00:00:00.000000Z"])
def test_a_time_that_is_none(builder: Builder, time: Any) -> None:
    request = builder.ask(builder.read_request("one", "teste", accept_dev=True))
    index = builder.answer(request, FACTS, time=time)
    assert builder.found() == {("time-invalid", index)}


@pytest.mark.parametrize(
    "change",
    [{"law": 2}, {"more": 1}, {"time": "now"}, {"decision": {}}, {"facts": {}}, {"request": {}}],
)
def test_a_predicate_that_is_not_of_its_kind(builder: Builder, change: Any) -> None:
    index = builder.later()
    was = statement(builder, index)
    builder.datas.pop()
    builder.write(Statement(was.kind, was.subjects, {**was.predicate, **change}))
    assert builder.found() >= {("entry-invalid", index)}


def test_subjects_that_are_not_of_its_content(builder: Builder) -> None:
    index = builder.later()
    was = statement(builder, index)
    builder.datas.pop()
    builder.write(Statement(was.kind, statement(builder, 2).subjects, was.predicate))
    assert ("entry-invalid", index) in builder.found()


# --- the genesis


def test_a_second_genesis(builder: Builder) -> None:
    index = builder.genesis(name="Rui")
    assert ("genesis-repeated", index) in builder.found()


@pytest.mark.parametrize(
    "names",
    [("person",), ("broker",), ("person", "broker", "log"), ("person", "broker", "stranger"), ("log",)],
)
def test_a_genesis_not_signed_by_exactly_those_who_must(fresh: Builder, names: tuple[str, ...]) -> None:
    keys = {"person": fresh.person, "broker": fresh.broker, "log": fresh.log, "stranger": STRANGER}
    fresh.genesis()
    payload = statement(fresh, 0).encode()
    fresh.datas = [Envelope.sign(PAYLOAD_ENTRY, payload, [keys[name] for name in names]).encode()]
    assert fresh.found() == {("genesis-unsigned", 0)}


def test_a_genesis_signed_in_anothers_name(fresh: Builder) -> None:
    fresh.genesis()
    payload = statement(fresh, 0).encode()
    signed = Envelope.sign(PAYLOAD_ENTRY, payload, [STRANGER, fresh.broker])
    first = Signature(fresh.person.public.keyid, signed.signatures[0].sig)
    fresh.datas = [Envelope(PAYLOAD_ENTRY, payload, (first, signed.signatures[1])).encode()]
    assert fresh.found() == {("genesis-unsigned", 0)}


def enrolled(key: PrivateKey, role: Any) -> FirstKey:
    return FirstKey(public=key.public.raw.hex(), roles=(role,))


def test_a_genesis_that_enrols_a_key_twice(fresh: Builder) -> None:
    first = [enrolled(fresh.person, "owner"), enrolled(fresh.broker, "broker"), enrolled(fresh.log, "log")]
    fresh.genesis(keys=(*first, first[2]))
    fresh.documents = {}
    assert fresh.found() == {("genesis-keys", 0)}


def test_a_genesis_without_a_log_key(fresh: Builder) -> None:
    fresh.genesis(keys=(enrolled(fresh.person, "owner"), enrolled(fresh.broker, "broker")))
    fresh.documents = {}
    assert fresh.found() == {("genesis-keys", 0), ("checkpoint-invalid", None)}


def test_no_genesis(builder: Builder) -> None:
    builder.datas = builder.datas[1:]
    report = audit(builder.held())
    assert ("genesis-missing", 0) in {(each.code, each.entry) for each in report.findings}
    assert "keys-unknown" in {each.code for each in report.warnings}


def test_no_entries(fresh: Builder) -> None:
    assert ("ledger-empty", None) in fresh.found()


# --- the law


def law(builder: Builder) -> list[tuple[int | None, int, str]]:
    findings = audit(builder.held()).findings
    assert {each.code for each in findings} == {"law-broken"}
    return [(each.entry, each.fields["rule"], each.fields["law"]) for each in findings]


def test_a_second_reveal_that_did_not_say_accept_dev(builder: Builder) -> None:
    index = builder.read("one", "teste", decision=lawful())
    assert law(builder) == [(index, 6, "teste-already-read")]


def test_a_study_registered_twice(builder: Builder) -> None:
    first = asked(builder, 1).request
    assert isinstance(first, Register)
    protocol = first.protocol
    request = builder.ask(Register(protocol=protocol, **builder.bound("one")))
    index = builder.answer(request, RegisterFacts(engine=ENGINE), RegisterDecision(version=1))
    assert law(builder) == [(index, 1, "study-already-registered")]


def test_a_seal_before_the_registration(builder: Builder) -> None:
    request = builder.seal_request("three", "teste")
    builder.keep(request)
    facts = SealFacts(rows={"cases": 100})
    index = builder.answer(builder.ask(request), facts, SealDecision(standing="teste"))
    assert law(builder) == [(index, 1, "study-not-registered")]


def test_a_pool_sealed_twice(builder: Builder) -> None:
    request = builder.seal_request("one", "teste")
    builder.keep(request)
    facts = SealFacts(rows={"cases": 100})
    index = builder.answer(builder.ask(request), facts, SealDecision(standing="teste"))
    assert law(builder) == [(index, 2, "pool-already-read")]


ALIKE = Overlap(study="three", pool="dev", kind="contents", count=30)


@pytest.mark.parametrize(
    ("found", "rule", "code"),
    [
        ({"late_labels": {"cases": 1}}, 3, "labels-in-the-future"),
        ({"shared": (ALIKE.model_copy(update={"decides": True}),)}, 12, "shared-cases"),
    ],
    ids=["late", "decides"],
)
def test_a_seal_of_what_its_own_facts_forbid(builder: Builder, found: Any, rule: int, code: str) -> None:
    assert law(sealed(builder, found)) == [(len(builder.datas) - 1, rule, code)]


def test_contents_that_were_only_told_of_forbid_nothing(builder: Builder) -> None:
    """As the entries of the first version have them."""
    assert sealed(builder, {"shared": (ALIKE,)}).found() == set()


def sealed(builder: Builder, found: Any) -> Builder:
    """The ledger with one more pool, of which the broker found what it did, and which it sealed all the same."""
    builder.register("three")
    request = builder.seal_request("three", "teste")
    builder.keep(request)
    facts = SealFacts.model_validate({"rows": {"cases": 200}, **found})
    builder.answer(builder.ask(request), facts, SealDecision(standing="teste"))
    return builder


GUARDA = "guarda: {tables: [cases], max_reads: 5}"


def test_a_verdict_on_cases_whose_error_rate_was_spent(builder: Builder) -> None:
    """Another study had its one read; the broker's own entry says so, and grants a read of the same cases."""
    text = protocol_text("three").replace("teste: {tables: [cases], planned: {cases: 200}}", GUARDA)
    text = text.replace("pool: teste", "pool: guarda")
    plan: dict[str, Any] = {"protocol": protocol_hash(parse(text.encode()))}
    builder.register("three", text)
    builder.seal("three", "guarda", **plan)
    gated = (Gated(study="one", pool="guarda", cases=100, reads=1, most=1),)
    decision = ReadDecision(read_class="guarda", number=1, confirmatory=True)
    facts = ReadFacts(engine=ENGINE, gated=gated)
    index = builder.read("three", "guarda", facts=facts, decision=decision, purpose="gate", **plan)
    assert law(builder) == [(index, 10, "guarda-spent-elsewhere")]


def test_a_read_of_a_pool_that_shares_cases(builder: Builder) -> None:
    builder.register("three")
    builder.seal("three", "teste")
    shared = (Overlap(study="three", pool="dev", kind="cases", count=3),)
    decision = ReadDecision(read_class="teste", number=1, confirmatory=True)
    index = builder.read("three", "teste", facts=ReadFacts(engine=ENGINE, shared=shared), decision=decision)
    assert law(builder) == [(index, 12, "shared-cases")]


@pytest.mark.parametrize(
    "change",
    [
        {"read_class": "teste"},
        {"number": 1},
        {"burns": True},
        {"confirmatory": True},
        {"exploratory": ()},
        {"retrospective": True},
        {"review": ("engine-changed",)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_read_decided_otherwise_than_the_law(builder: Builder, change: Any) -> None:
    index = builder.later(lawful(**change))
    assert builder.found() == {("decision-differs", index)}


@pytest.mark.parametrize("decision", [SealDecision(standing="dev"), SealDecision(standing="teste")])
def test_a_seal_decided_otherwise_than_the_law(builder: Builder, decision: Any) -> None:
    """`teste` plans 200 cases and holds 100: it stands as teste, with a shortfall."""
    builder.register("three")
    request = builder.seal_request("three", "teste")
    builder.keep(request)
    index = builder.answer(builder.ask(request), SealFacts(rows={"cases": 100}), decision)
    assert builder.found() == {("decision-differs", index)}


def test_what_follows_from_a_wrong_decision_is_judged_by_the_right_one(builder: Builder) -> None:
    """A first read that was recorded as no burn, and a second one that claims to be the first again."""
    wrong = ReadDecision(read_class="teste", number=1, confirmatory=True)
    first = builder.later(wrong)
    second = builder.later(wrong.model_copy(update={"number": 2}))
    assert builder.found() == {("decision-differs", first), ("decision-differs", second)}


# --- the whole


def test_a_whole_history_signed_anew_is_found_by_an_older_receipt(builder: Builder) -> None:
    """The owner has all keys, and writes a history in which the first result is another."""
    receipts = [Memory.parse(f"receipt {index}", builder.receipt(index, 13).format()) for index in (0, 5, 12)]
    rewritten = builder.empty()
    rewritten.genesis()
    rewritten.register("one")
    rewritten.seal("one", "teste")
    rewritten.register("two")
    rewritten.read("one", "teste", reason="the paper's table 2")
    rewritten.result("one", 4, "FAIL")
    held = rewritten.held()
    assert audit(held).ok
    shorter = audit(held, memories=receipts)
    assert {each.code for each in shorter.findings} == {"memory-shrunk", "memory-entry"}
    for number in range(10):
        rewritten.register(f"study-{number}")
    longer = audit(rewritten.held(), memories=receipts)
    assert {(each.code, each.entry) for each in longer.findings} == {
        ("memory-rewritten", None),
        ("memory-entry", 5),
        ("memory-entry", 12),
    }


def test_an_unreadable_entry_takes_its_study_along_and_no_other(builder: Builder) -> None:
    """Entry 9 is the spent read of `two`; what follows in `two` cannot be judged, and `one` can."""
    builder.datas[9] = b"{}"
    report = audit(builder.held())
    findings = {(each.code, each.entry) for each in report.findings}
    assert findings == {("entry-invalid", 9), ("request-unbound", 11)}
    assert [(each.code, each.entry, each.fields) for each in report.warnings] == [
        ("law-not-replayed", 11, {"study": "two", "cause": 9})
    ]


def test_a_flood_of_unbound_requests_is_one_finding(builder: Builder) -> None:
    for number in range(20):
        builder.register(f"study-{number}")
    report = audit(builder.held().with_entry(3, builder.datas[3][:-1]))
    unbound = [each for each in report.findings if each.code == "request-unbound"]
    assert [(each.entry, each.fields["size"], each.fields["agreed"]) for each in unbound] == [(4, 4, 2)]
    assert unbound[0].fields["count"] == len((4, 6, 7, 8, 9, 11)) + 20
