"""A snapshot of the ledger: one moment, every question, and what a damaged file answers."""

import hashlib
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event

from lacre.errors import EntryNotFound, StoreCorrupt
from lacre.ledger import merkle
from lacre.store.reader import Columns, Document, snapshot

if TYPE_CHECKING:
    from .conftest import Place


def naive_root(leaves: list[bytes]) -> bytes:
    """The Merkle tree hash as RFC 6962 section 2.1 defines it, word for word."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return hashlib.sha256(b"\x01" + naive_root(leaves[:split]) + naive_root(leaves[split:])).digest()


def test_an_empty_ledger(place: "Place") -> None:
    with snapshot(place.engine) as reader:
        assert (reader.size, reader.genesis(), reader.checkpoint()) == (0, None, None)
        assert (list(reader.entries()), reader.studies(), list(reader.documents())) == ([], (), [])
        assert reader.root_at(0) == hashlib.sha256(b"").digest()
        with pytest.raises(EntryNotFound):
            reader.entry(0)


def test_roots_and_proofs_are_those_of_the_leaves(place: "Place") -> None:
    leaves = [f"entry {index}".encode() for index in range(21)]
    place.append(*leaves[:6])
    for leaf in leaves[6:]:
        place.append(leaf)
    with snapshot(place.engine) as reader:
        assert [reader.root_at(size) for size in range(22)] == [
            naive_root(leaves[:size]) for size in range(22)
        ]
        for size in range(1, 22):
            index = (size * 7) % size
            proof = merkle.inclusion_proof(index, size, reader.subtree)
            merkle.verify_inclusion(
                merkle.leaf_hash(leaves[index]), index, size, proof, naive_root(leaves[:size])
            )
        for size in (-1, 22):
            with pytest.raises(EntryNotFound):
                reader.root_at(size)


def test_entries_come_back_as_they_were_appended(place: "Place") -> None:
    full = Columns(
        kind="read",
        time="2024-05-01T00:00:00Z",
        study="faces",
        pool="teste",
        read_class="teste",
        previous=0,
        nonce="n",
        finishes=0,
    )
    with place.writer.transaction() as tx:
        tx.append(b"genesis", Columns(kind="genesis", time="t"))
        tx.append(b"read", full)
    with snapshot(place.engine) as reader:
        genesis, read = reader.entries()
        assert (read.index, read.envelope) == (1, b"read")
        assert {field.name: getattr(read, field.name) for field in fields(full)} == asdict(full)
        assert read.leaf_hash == hashlib.sha256(b"\x00read").digest()
        assert (genesis.kind, genesis.time, genesis.study, genesis.nonce) == ("genesis", "t", None, None)
        assert reader.entry(1) == read
        assert reader.genesis() == hashlib.sha256(b"\x00genesis").hexdigest()
        assert [entry.index for entry in reader.entries(1)] == [1]
        assert [entry.index for entry in reader.entries(-5, 1)] == [0]
        assert list(reader.entries(1, 1)) == []
        for index in (-1, 2, 2**70):
            with pytest.raises(EntryNotFound):
                reader.entry(index)


def test_more_entries_than_are_read_at_a_time(place: "Place") -> None:
    place.append(*(str(index).encode() for index in range(600)))
    with snapshot(place.engine) as reader:
        assert [entry.envelope for entry in reader.entries(100, 590)] == [
            str(index).encode() for index in range(100, 590)
        ]


def test_a_study_is_its_entries_and_the_ledger_s_keys(place: "Place") -> None:
    with place.writer.transaction() as tx:
        for kind, study in [
            ("genesis", None),
            ("register", "voices"),
            ("register", "faces"),
            ("seal", "faces"),
            ("key", None),
            ("seal", "voices"),
            ("erase", None),
        ]:
            tx.append(f"{kind} {study}".encode(), Columns(kind=kind, time="t", study=study))
    with snapshot(place.engine) as reader:
        assert [entry.index for entry in reader.study_entries("faces")] == [0, 2, 3, 4]
        assert [entry.index for entry in reader.study_entries("voices", start=2)] == [4, 5]
        assert [entry.index for entry in reader.study_entries("absent")] == [0, 4]
        assert reader.study_entries("no text \udcff") == ()
        assert reader.studies() == ("voices", "faces")


def test_a_study_is_found_through_indexes(place: "Place") -> None:
    place.append(b"genesis")
    asked: list[tuple[str, tuple[object, ...]]] = []

    def listen(_c: object, _k: object, statement: str, values: tuple[object, ...], *_more: object) -> None:
        asked.append((statement, values))

    event.listen(place.engine, "before_cursor_execute", listen)
    with snapshot(place.engine) as reader:
        reader.study_entries("faces")
    event.remove(place.engine, "before_cursor_execute", listen)
    statement, values = asked[-1]
    with place.engine.connect() as connection:
        plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)]
    assert any("entries_study" in step for step in plan)
    assert any("entries_keys" in step for step in plan)
    assert not any(step.startswith("SCAN") for step in plan)


def test_documents(place: "Place") -> None:
    with place.writer.transaction() as tx:
        tx.append(b"genesis", Columns(kind="genesis", time="t"))
        first = tx.put_document(b"xyz", "text/plain", salt=b"a" * 32)
        second = tx.put_document(b"plain", "application/json")
    assert first == hashlib.sha256(b"a" * 32 + b"xyz").hexdigest()
    assert second == hashlib.sha256(b"plain").hexdigest()
    with snapshot(place.engine) as reader:
        assert reader.document(first) == Document(first, "text/plain", b"a" * 32, b"xyz")
        assert reader.document(second) == Document(second, "application/json", None, b"plain")
        assert reader.document("0" * 64) is None
        assert {document.digest for document in reader.documents()} == {first, second}


def test_a_snapshot_is_of_one_moment(place: "Place") -> None:
    place.append(b"genesis")
    # The other writer prepares, and commits once the snapshot is gone.
    with snapshot(place.engine) as reader, place.writer.transaction() as tx:
        tx.append(b"more", Columns(kind="seal", time="t"))
        assert (reader.size, len(list(reader.entries()))) == (1, 1)
        assert tx.size == 2
        reader._connection.close()
    with snapshot(place.engine) as reader:
        assert reader.size == 2


def test_nodes_are_those_the_rfc_makes_of_the_leaves(place: "Place") -> None:
    """Seven leaves have the complete subtrees [0, 2), [2, 4), [4, 6) and [0, 4)."""
    leaves = [bytes([index]) for index in range(7)]
    place.append(*leaves)
    with snapshot(place.engine) as reader:
        assert reader.checkpoint_size == 7
        assert set(reader.nodes()) == {
            (1, 0, naive_root(leaves[:2])),
            (1, 1, naive_root(leaves[2:4])),
            (1, 2, naive_root(leaves[4:6])),
            (2, 0, naive_root(leaves[:4])),
        }


def test_a_missing_node_is_damage(place: "Place") -> None:
    place.append(b"a", b"b", b"c")
    place.raw("DROP TRIGGER nodes_undeleted")
    place.raw("DELETE FROM nodes")
    with snapshot(place.engine) as reader, pytest.raises(StoreCorrupt, match="level 1"):
        reader.root_at(3)


def test_text_that_is_none_reaches_the_reader(place: "Place") -> None:
    place.append(b"a", b"b")
    place.raw("DROP TRIGGER entries_unchanged")
    place.raw("UPDATE entries SET kind = CAST(x'ff41' AS TEXT) WHERE \"index\" = 1")
    with snapshot(place.engine) as reader:
        assert reader.entry(1).kind == "\N{REPLACEMENT CHARACTER}A"


def test_integrity(place: "Place") -> None:
    place.append(*(bytes([index]) * 3000 for index in range(20)))
    with snapshot(place.engine) as reader:
        assert reader.integrity() == ()
    damage(place.path)
    place.engine.dispose()
    with snapshot(place.engine) as reader:
        assert reader.integrity() != ()
        with pytest.raises(StoreCorrupt):
            list(reader.entries())


def damage(path: Path) -> None:
    """Overwrite the page that holds entry 10."""
    data = bytearray(path.read_bytes())
    page = data.index(b"\x0a" * 3000) // 4096 * 4096
    data[page : page + 4096] = b"\xff" * 4096
    path.write_bytes(data)


def test_the_latest_change_of_keys_is_told_by_its_entry_s_hash(place: "Place") -> None:
    place.append(b"genesis", b"a")
    with snapshot(place.engine) as reader:
        assert reader.key_change() is None
    with suppress(ZeroDivisionError), place.writer.transaction() as tx:
        assert tx.key_change() is None
        added = tx.append(b"key", Columns(kind="key", time="t", nonce="n"))
        assert tx.key_change() == added.leaf_hash
        raise ZeroDivisionError
    with place.writer.transaction() as tx:
        assert tx.key_change() is None, "what was taken back never was"
        first = tx.append(b"key 1", Columns(kind="key", time="t", nonce="1"))
        second = tx.append(b"key 2", Columns(kind="key", time="t", nonce="2"))
        tx.append(b"b", Columns(kind="seal", time="t", study="s"))
        assert tx.key_change() == second.leaf_hash != first.leaf_hash
    with snapshot(place.engine) as reader:
        assert reader.key_change() == second.leaf_hash


def test_erasures_name_the_first_entry_of_each(place: "Place") -> None:
    place.append(b"genesis", b"a")
    with snapshot(place.engine) as reader:
        assert reader.erasures() == {}
    with place.writer.transaction() as tx:
        for number, digest in enumerate(("d" * 64, "e" * 64, "d" * 64)):
            tx.append(b"%d" % number, Columns(kind="erase", time="t", nonce=str(number), erases=digest))
    with snapshot(place.engine) as reader:
        assert reader.erasures() == {"d" * 64: 2, "e" * 64: 3}
