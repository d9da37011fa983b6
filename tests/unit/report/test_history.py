"""What an entry did, in one line of words."""

from collections.abc import Sequence
from typing import Any

import pytest

from lacre.report import history
from lacre.rules.answers import (
    AmendDecision,
    AmendFacts,
    Engine,
    EraseDecision,
    KeyDecision,
    NoFacts,
    RewrapDecision,
    SealDecision,
    SealFacts,
)
from lacre.rules.corpus import AMENDED_SINCE_LABELS
from lacre.rules.errata import CORRECTED
from lacre.rules.reading import AMENDED_SINCE, LATER_SUBMISSION, NOT_REGISTERED_POOL, RECALIBRATED
from lacre.rules.record import Answered, Recorded
from lacre.rules.requests import Amend, Erase, KeyChange, Rewrap, Seal

from .conftest import Life

Z = "0" * 64


def lines(life: Life) -> list[str]:
    entries: Sequence[Recorded] = life.outcomes["log"].entries
    return [history.what(entry) for entry in entries]


def test_each_kind_of_entry_has_its_words(life: Life) -> None:
    told = lines(life)
    digest = life.outcomes["registered"].protocol_hash[:12]
    assert told == [
        "began the ledger lab.example/bias",
        f"registered the protocol sha256:{digest}…",
        "sealed teste: 200 rows as declared by the broker, counts as teste, fewer than planned",
        "handed out ids and inputs of teste, number 1",
        "read teste, class teste, number 1",
        "result of entry 4: INSUFFICIENT_EVIDENCE, confirmatory",
        "read teste, class dev, number 2: makes teste dev",
        "result of entry 6: INSUFFICIENT_EVIDENCE, not confirmatory",
        "sealed dev: 200 rows as declared by the broker, counts as dev, fewer than planned",
        "read dev, class dev, number 1",
        "result of entry 9: INSUFFICIENT_EVIDENCE, not confirmatory",
    ]


def test_who_asked_is_named_where_somebody_did(life: Life) -> None:
    entries = life.outcomes["log"].entries
    asked = {entry.kind: history.by(entry) for entry in entries}
    assert asked["genesis"] is None
    assert asked["result"] is None
    assert asked["read"] == asked["seal"] == asked["register"] is not None


def test_each_change_has_its_words(life: Life) -> None:
    amended = life.outcomes["amended"]
    told = {
        entry.index: entry for entry in life.outcomes["changed-log"].entries if entry.index >= amended.entry
    }
    errata = history.errata_among(told.values())
    assert [history.what(entry, errata) for entry in told.values()] == [
        f"amended the plan: version 2, protocol sha256:{amended.protocol_hash[:12]}…",
        "put a deviation on record",
        "put a deviation on record, about entry 5",
        "scored the result at entry 5 again on corrected labels of teste, number 1",
        f"result of the erratum at entry {amended.entry + 3}: INSUFFICIENT_EVIDENCE, not confirmatory",
        "withdrew the study",
    ]
    page = str(life.outcomes["changed-log"])
    assert "result of the erratum at entry" in " ".join(page.split()), (
        "a table knows which entries are errata"
    )


def answered(request: Any, facts: Any, decision: Any) -> Recorded:
    """An entry that answers a request; its envelopes are not looked at."""
    envelope: Any = None
    content = Answered("2026-09-02T14:00:02.000000Z", None, "k" * 64, request, envelope, facts, decision)
    return Recorded(7, request.verb, envelope, bytes(32), content)


BOUND: dict[str, Any] = {"genesis": Z, "seen": {"size": 0, "root": Z}, "nonce": "0" * 32}
NEW, OLD = "a" * 64, "b" * 64


@pytest.mark.parametrize(
    ("request_", "decision", "said"),
    [
        (
            KeyChange(**BOUND, action="enrol", public=Z, roles=("registrant",)),
            KeyDecision(enrols=NEW, roles=("registrant",)),
            "enrolled the key aaaaaaaaaaaa… as registrant",
        ),
        (
            KeyChange(**BOUND, action="revoke", public=Z),
            KeyDecision(revokes=OLD),
            "revoked the key bbbbbbbbbbbb…",
        ),
        (
            KeyChange(**BOUND, action="rotate", public=Z, replaces=OLD),
            KeyDecision(enrols=NEW, roles=("broker",), revokes=OLD),
            "put the key aaaaaaaaaaaa… in the place of bbbbbbbbbbbb…, as broker",
        ),
        (
            KeyChange(**BOUND, action="rotate", public=Z, replaces=OLD),
            KeyDecision(enrols=NEW, roles=("log",)),
            "let the key aaaaaaaaaaaa… sign checkpoints beside the old one",
        ),
        (
            Erase(**BOUND, digest=Z),
            EraseDecision(),
            "took out the text 000000000000…, which stays named",
        ),
        (
            Rewrap(**BOUND, study="s", pool="teste", recipients=("age1b",), wrapped_key=Z, covers=Z),
            RewrapDecision(custody="second keyholder"),
            "handed teste to other recipients, custody: second keyholder",
        ),
        (
            Amend(**BOUND, study="s", protocol=Z, replaces=Z, reason=Z, accept_burn=True),
            AmendDecision(version=3, difference=Z, burns=("teste",)),
            "amended the plan: version 3, protocol sha256:000000000000…: makes teste dev",
        ),
    ],
)
def test_each_other_change_has_its_words(request_: Any, decision: Any, said: str) -> None:
    facts = AmendFacts(engine=Engine(lacre="1", statistics="1")) if request_.verb == "amend" else NoFacts()
    assert history.what(answered(request_, facts, decision)) == said


def test_a_replaced_pool_names_what_it_takes_the_place_of() -> None:
    request = Seal(
        **BOUND, study="s", pool="teste", protocol=Z, records=(), ciphertext=Z, wrapped_key=Z,
        fingerprints=Z, recipients=(), replaces=2, reason=Z,
    )  # fmt: skip
    entry = answered(request, SealFacts(rows={"cases": 3}), SealDecision(standing="teste"))
    assert history.what(entry) == (
        "sealed teste again, in place of entry 2: 3 rows as declared by the broker, counts as teste"
    )


def test_each_reason_of_a_read_that_is_exploratory_has_words() -> None:
    codes = (
        NOT_REGISTERED_POOL,
        LATER_SUBMISSION,
        AMENDED_SINCE,
        RECALIBRATED,
        CORRECTED,
        AMENDED_SINCE_LABELS,
    )
    assert set(history.EXPLORATORY) == set(codes)
