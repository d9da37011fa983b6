"""A sound ledger has no finding, however it is held; rule 19's clock is a warning only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lacre.audit.audit import audit
from lacre.audit.heads import Head, Memory
from lacre.ledger.merkle import leaf_hash, root
from lacre.rules.record import columns_of, parse_entry

if TYPE_CHECKING:
    from tests.unit.audit.conftest import Builder, Held


def test_a_sound_ledger_gives_no_finding_and_no_warning(held: Held) -> None:
    report = audit(held)
    assert report.ok
    assert report.findings == ()
    assert report.warnings == ()
    assert report.story is None


def test_the_report_says_what_the_log_is(builder: Builder, held: Held) -> None:
    report = audit(held)
    assert report.entries == 13
    assert report.root == root(map(leaf_hash, builder.datas)).hex()
    assert report.checkpoint == builder.checkpoint().decode()
    assert [each.index for each in report.history] == list(range(13))
    assert report.names == {builder.person.public.keyid: "Ana Souza"}


def test_a_copy_for_strangers_is_sound_too(held: Held) -> None:
    held.on_site = False
    assert audit(held).ok


def test_the_scope_limits_the_history_and_not_the_audit(held: Held) -> None:
    changed = held.with_entry(2, held.datas[2][:-1])
    report = audit(changed, study="two")
    assert [each.index for each in report.history] == [3, 6, 7, 9, 11, 12]
    assert [each.entry for each in report.findings if each.code == "entry-invalid"] == [2]


def test_a_genesis_alone_is_a_sound_ledger(builder: Builder) -> None:
    builder.datas, builder.blobs = builder.datas[:1], {}
    held = builder.held()
    held.documents_ = {key: doc for key, doc in held.documents_.items() if doc.body == b"Ana Souza"}
    assert audit(held).findings == ()


@pytest.mark.parametrize("size", range(14))
def test_what_was_remembered_at_any_size_is_a_prefix(builder: Builder, held: Held, size: int) -> None:
    head = Head(size, root(map(leaf_hash, builder.datas[:size])))
    assert audit(held, remembered=head).ok


@pytest.mark.parametrize(("index", "size"), [(0, 1), (0, 13), (4, 5), (4, 9), (12, 13)])
def test_receipts_and_checkpoints_that_others_kept_hold(
    builder: Builder, held: Held, index: int, size: int
) -> None:
    receipt = Memory.parse("receipt", builder.receipt(index, size).format())
    checkpoint = Memory.parse("checkpoint", builder.checkpoint(size))
    assert audit(held, memories=[receipt, checkpoint]).ok


def test_a_clock_that_runs_backwards_is_a_warning(builder: Builder) -> None:
    builder.clock = 0
    builder.register("three")
    report = audit(builder.held())
    assert report.findings == ()
    assert [(each.code, each.entry, each.fields["before"]) for each in report.warnings] == [
        ("clock-backwards", 13, 12)
    ]


def test_columns_are_derived_from_the_bytes(builder: Builder) -> None:
    """What a database keeps beside each kind of entry, written out by hand from the small ledger's story."""
    columns = [columns_of(parse_entry(index, data)) for index, data in enumerate(builder.datas)]
    for index, each in enumerate(columns):
        assert each.pop("time") == f"2026-09-02T14:00:{index + 1:02}.000000Z"
        nonce = each.pop("nonce")
        assert (nonce is None) == (each["kind"] in {"genesis", "result"})
    names = ("kind", "study", "pool", "read_class", "previous", "finishes")
    assert [tuple(each[name] for name in names) for each in columns] == [
        ("genesis", None, None, None, None, None),
        ("register", "one", None, None, None, None),
        ("seal", "one", "teste", None, 1, None),
        ("register", "two", None, None, None, None),
        ("read", "one", "teste", "teste", 2, None),
        ("result", "one", "teste", None, 4, None),
        ("seal", "two", "teste", None, 3, None),
        ("read", "two", "teste", "inputs", 6, None),
        ("read", "one", "teste", "dev", 5, None),
        ("read", "two", "teste", "teste", 7, None),
        ("result", "one", "teste", None, 8, None),
        ("read", "two", "teste", "teste", 9, 9),
        ("result", "two", "teste", None, 11, None),
    ]
