"""A sound ledger that someone laid hands on: each change is found, and where it can be, at its entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from lacre.audit.audit import audit, unreadable
from lacre.audit.heads import Head, Memory
from lacre.audit.premises import check_columns
from lacre.audit.report import AuditReport
from lacre.audit.source import Document, Entry
from lacre.errors import StoreCorrupt
from lacre.ledger.checkpoint import Checkpoint
from lacre.ledger.envelope import PAYLOAD_ENTRY, Envelope
from lacre.ledger.keys import PrivateKey
from lacre.rules.answers import Engine, RegisterDecision, RegisterFacts
from lacre.rules.record import parse_entry
from lacre.rules.requests import Register

if TYPE_CHECKING:
    from tests.unit.audit.conftest import Builder, Held

STRANGER = PrivateKey.from_seed(b"\x07" * 32)
ENTRIES = 13
STRIDE = 97  # prime, so that the positions sampled fall on every part of the base64


def at(report: AuditReport) -> set[tuple[str, int | None]]:
    """The findings by code and entry; each must have words."""
    for each in (*report.findings, *report.warnings):
        assert each.message
    return {(each.code, each.entry) for each in report.findings}


# --- entries


@pytest.mark.parametrize("index", range(ENTRIES))
def test_a_byte_changed_anywhere_in_an_entry_is_found_there(held: Held, index: int) -> None:
    data = held.datas[index]
    for position in range(index, len(data), STRIDE):
        changed = data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]
        for source in (
            held.with_entry(index, changed),
            replace(held.with_entry(index, changed), on_site=False),
        ):
            report = audit(source)
            assert index in {each.entry for each in report.findings}, position
            assert ("checkpoint-root", None) in at(report) or index == 0


@pytest.mark.parametrize("index", range(ENTRIES))
def test_an_entry_cut_off_or_emptied_or_gone_over(held: Held, index: int) -> None:
    for data in (
        held.datas[index][:-1],
        b"",
        b"\x00",
        held.datas[index] + b"\n",
        b"[" * 70_000,
        b"[" * 60_000,
    ):
        assert ("entry-invalid", index) in held.with_entry(index, data).found()


@pytest.mark.parametrize("index", range(ENTRIES))
def test_an_entry_taken_out_of_the_database(held: Held, index: int) -> None:
    del held.entries_[index]
    found = held.found()
    if index < ENTRIES - 1:
        assert ("entry-missing", index) in found
    else:
        assert ("checkpoint-size", ENTRIES - 1) in found


@pytest.mark.parametrize("index", range(ENTRIES))
def test_an_entry_left_out_of_a_copy(held: Held, index: int) -> None:
    datas = [*held.datas[:index], *held.datas[index + 1 :]]
    found = held.with_datas(datas).found()
    assert ("checkpoint-size", ENTRIES - 1) in found or index == 0
    assert index == ENTRIES - 1 or any(entry is not None and entry >= index for _code, entry in found)


@pytest.mark.parametrize("index", range(ENTRIES - 1))
def test_two_entries_swapped(held: Held, index: int) -> None:
    datas = held.datas
    datas[index], datas[index + 1] = datas[index + 1], datas[index]
    found = held.with_datas(datas).found()
    assert ("checkpoint-root", None) in found or index == 0
    assert any(entry is not None and entry >= index for _code, entry in found)


@pytest.mark.parametrize("index", range(ENTRIES))
def test_an_entry_repeated_after_itself(held: Held, index: int) -> None:
    datas = [*held.datas[: index + 1], *held.datas[index:]]
    found = held.with_datas(datas).found()
    assert ("checkpoint-size", ENTRIES) in found
    assert any(entry == index + 1 for _code, entry in found)


def test_an_entry_with_a_far_index(held: Held) -> None:
    held.entries_.append(Entry(2**62, held.datas[-1]))
    assert ("entry-missing", ENTRIES) in held.found()


def test_an_entry_signed_again_by_a_stranger(held: Held) -> None:
    payload = Envelope.decode(held.datas[8]).payload
    signed = Envelope.sign(PAYLOAD_ENTRY, payload, [STRANGER]).encode()
    assert ("signer-unknown", 8) in held.with_entry(8, signed).found()


def test_an_older_copy_put_back_is_known_to_who_saw_the_newer(builder: Builder) -> None:
    """A copy with its own older checkpoint is sound by itself; only a memory shows that more was there."""
    newer = Head(ENTRIES, Checkpoint.parse(builder.checkpoint().decode().split("\n\n")[0] + "\n").root)
    kept = Memory.parse("the copy of a colleague", builder.checkpoint())
    builder.datas = builder.datas[:9]
    older = replace(builder.held().with_datas(builder.datas), note=builder.checkpoint())
    assert audit(older).ok
    assert older.found(remembered=newer) == {("memory-shrunk", 9)}
    report = audit(older, memories=[kept])
    assert [each.fields["memory"] for each in report.findings] == ["the copy of a colleague"]


def test_an_older_copy_put_back_that_grew_otherwise(builder: Builder) -> None:
    kept = [Memory.parse("a", builder.checkpoint()), Memory.parse("b", builder.receipt(9).format())]
    seen = Head(11, Checkpoint.parse(builder.checkpoint(11).decode().split("\n\n")[0] + "\n").root)
    fork = builder.fork()
    fork.datas = fork.datas[:9]
    for number in range(6):
        fork.register(f"study-{number}")
    source = replace(fork.held(), on_site=False)
    assert audit(source).ok
    assert source.found(remembered=seen) == {("memory-rewritten", None)}
    assert source.found(memories=kept) == {("memory-rewritten", None), ("memory-entry", 9)}


# --- the database


COLUMNS = ("leaf_hash", "kind", "time", "study", "pool", "read_class", "previous", "nonce", "finishes")


@pytest.mark.parametrize("index", range(ENTRIES))
def test_every_column_of_every_entry(held: Held, index: int) -> None:
    entry = held.entries_[index]
    recorded = parse_entry(index, entry.data)
    assert entry.stored is not None
    for column in COLUMNS:
        was = entry.stored[column]
        for value in (None, 7, "x", b"x", True, "", 0):
            if value != was or type(value) is not type(was):
                found = list(check_columns(recorded, {**entry.stored, column: value}))
                assert [(each.code, each.entry, each.fields["column"]) for each in found] == [
                    ("column-differs", index, column)
                ]
    held.entries_[index] = replace(entry, stored={**entry.stored, "kind": "amend"})
    assert held.found() == {("column-differs", index)}


def test_nodes_changed_dropped_and_added(held: Held) -> None:
    # Of 13 leaves the tree stores 6 + 3 + 1 complete subtrees; (1, 2) covers the entries 4 and 5.
    assert len(held.nodes_) == 10
    for place in held.nodes_:
        changed = held.copy()
        changed.nodes_[place] = bytes(32)
        dropped = held.copy()
        del dropped.nodes_[place]
        assert {code for code, _entry in changed.found()} == {"node-differs"}
        assert {code for code, _entry in dropped.found()} == {"node-missing"}
    held.nodes_[1, 2] = b"short"
    assert held.found() == {("node-differs", 5)}
    del held.nodes_[1, 2]
    held.nodes_[4, 0] = bytes(32)
    assert held.found() == {("node-missing", 5), ("node-unknown", None)}


def test_what_the_database_finds_itself(held: Held) -> None:
    held.troubles = ["row 3 missing from index entries_study", "\x1b[31mred"]
    report = audit(held)
    assert at(report) == {("database-damaged", None)}
    assert "\x1b" not in report.findings[1].message


def test_the_size_the_checkpoint_is_filed_under(held: Held) -> None:
    for size in (12, None, 0):
        held.filed_size = size
        assert held.found() == {("checkpoint-column", None)}


# --- documents


def test_every_document_missing(held: Held) -> None:
    for digest, document in held.documents_.items():
        lost = held.copy()
        del lost.documents_[digest]
        stranger = replace(lost, on_site=False)
        for source in lost, stranger:
            assert {code for code, _entry in source.found()} == {"document-missing"}, document.media


def test_every_document_changed_in_each_way(held: Held) -> None:
    """The salted digest of a name covers `salt || body`: moving the border between them keeps the digest."""
    for digest, document in held.documents_.items():
        joined = (document.salt or b"") + document.body
        changes: list[Document] = [
            replace(document, body=document.body + b" "),
            replace(document, body=b""),
            replace(document, salt=b"z" * 32),
            replace(document, salt=joined[:1], body=joined[1:]),
            replace(document, salt=joined[:33], body=joined[33:]),
            Document(joined, None, document.media)
            if document.salt
            else Document(joined, b"", document.media),
        ]
        for changed in changes:
            for on_site in (True, False):
                source = replace(held.copy(), on_site=on_site)
                source.documents_[digest] = changed
                assert "document-differs" in {code for code, _entry in source.found()}
        source = held.copy()
        source.documents_[digest] = replace(document, media="text/html")
        assert {code for code, _entry in source.found()} == {"document-media"}


def test_documents_swapped(held: Held) -> None:
    one, other = list(held.documents_)[:2]
    held.documents_[one], held.documents_[other] = held.documents_[other], held.documents_[one]
    assert len([code for code, _entry in held.found() if code == "document-differs"]) == 2


def test_a_document_that_no_entry_names(held: Held) -> None:
    added = Document(b"{}", None, "application/json")
    held.documents_[added.digest] = added
    assert held.found() == {("document-unnamed", None)}


def test_a_protocol_whose_bytes_are_no_protocol(builder: Builder) -> None:
    """A registration of bytes that only have a digest: the entry is well signed, and nothing can be judged
    by it."""
    digest = builder.put(b'{"lacre":2}', "protocol")
    request = builder.ask(Register(protocol=digest, **builder.bound("three")))
    facts = RegisterFacts(engine=Engine(lacre="0.1.0", statistics="1"))
    index = builder.answer(request, facts, RegisterDecision(version=1))
    report = audit(builder.held())
    assert at(report) == {("document-invalid", index)}
    assert [(each.code, each.entry) for each in report.warnings] == [("law-not-replayed", index)]


# --- blobs


def test_every_blob_missing_or_changed(held: Held) -> None:
    assert len(held.blobs) == 2 * 3 + 3 * 2  # two seals of three blobs, three submissions of two
    for place in held.blobs:
        for state, code in ((None, "blob-missing"), (False, "blob-changed")):
            changed = held.copy()
            changed.blobs = {key: bool(state) if key == place else True for key in held.blobs}
            if state is None:
                del changed.blobs[place]
            assert {each for each, _entry in changed.found()} == {code}


def test_a_blob_that_two_entries_name_is_missed_by_both(held: Held) -> None:
    """Entry 11 finishes the read of entry 9 with its very submission."""
    held.blobs = {
        place: each for place, each in held.blobs.items() if place[:3] != ("two", "teste", "submission")
    }
    assert held.found() == {("blob-missing", 9), ("blob-missing", 11)}


# --- a source that fails


class Failing:
    """A source one of whose methods fails, at once or after some items."""

    def __init__(self, held: Held, method: str, after: int = 0) -> None:
        self._held, self._method, self._after = held, method, after

    def __getattr__(self, name: str) -> Any:
        if name == "premises":
            return lambda: self
        if name != self._method:
            return getattr(self._held, name)
        return self._iterating(name) if self._after else self._raising

    def _raising(self, *_arguments: object) -> Any:
        raise StoreCorrupt(path="ledger.db", why="database disk image is malformed")

    def _iterating(self, name: str) -> Callable[[], Iterator[Any]]:
        def items() -> Iterator[Any]:
            for number, item in enumerate(getattr(self._held, name)()):
                if number == self._after:
                    self._raising()
                yield item

        return items


@pytest.mark.parametrize(
    "method",
    ["entries", "document", "checkpoint", "integrity", "nodes", "documents", "checkpoint_size", "blob"],
)
def test_a_source_that_cannot_be_read(held: Held, method: str) -> None:
    report = audit(Failing(held, method))
    assert not report.ok
    assert at(report)


@pytest.mark.parametrize(
    ("method", "after"), [("entries", 1), ("entries", 7), ("nodes", 3), ("documents", 2)]
)
def test_a_source_that_fails_on_the_way(held: Held, method: str, after: int) -> None:
    report = audit(Failing(held, method, after))
    assert ("source-unreadable", None) in at(report)
    if method == "entries":
        assert [each.index for each in report.history] == list(range(after))


def test_a_ledger_that_cannot_even_be_opened() -> None:
    report = unreadable(StoreCorrupt(path="ledger.db", why="file is not a database"))
    assert not report.ok
    assert at(report) == {("source-unreadable", None)}
