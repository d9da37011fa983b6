"""What an entry did, in one line of words."""

from collections.abc import Sequence

from lacre.report import history
from lacre.rules.record import Recorded

from .conftest import Life


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
