"""Rule 18: `recover` lets a ledger restored from a backup grow again to what this machine remembers of it."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import lacre
from lacre import errors
from lacre.api import state_folder
from lacre.broker import desk as desk_module
from lacre.broker.desk import Desk, enter, sign_request, view
from lacre.durable import read_hashed
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.keys import PrivateKey
from lacre.report.views import Result
from lacre.rules.answers import EraseFacts
from lacre.rules.requests import Erase
from lacre.store import memory as memory_module
from lacre.store.filed import file_more

from .conftest import PROTOCOL

if TYPE_CHECKING:
    from .conftest import Study


class Backup:
    """A copy of a study's ledger, to be put back over it."""

    def __init__(self, study: "Study", folder: Path) -> None:
        self.study = study
        self.copy = folder / "backup"
        shutil.copytree(study.ledger.folder, self.copy)

    def restore(self, *, whole: bool = True) -> Any:
        """Put the copy back, in place of the folder or only of its database; open the ledger."""
        ledger = self.study.ledger
        ledger.close()
        if whole:
            shutil.rmtree(ledger.folder)
            shutil.copytree(self.copy, ledger.folder)
        else:
            shutil.copyfile(self.copy / "ledger.db", ledger.folder / "ledger.db")
        self.study.ledger = self.study.reopened()
        return self.study.ledger


@pytest.fixture
def sealed(study: "Study") -> "Study":
    """A study with `teste` sealed."""
    study.begin()
    study.seal("teste", 0)
    return study


def folder_of(study: "Study") -> Path:
    return state_folder() / "ledgers" / study.ledger.status().genesis


def database(study: "Study") -> bytes:
    return (study.ledger.folder / "ledger.db").read_bytes()


def test_a_restored_backup_is_refused_and_recovered_to_the_same_root(sealed: "Study", tmp_path: Path) -> None:
    backup = Backup(sealed, tmp_path)
    result = sealed.ledger.reveal("parity", sealed.predictions(0), reason="the release is due")
    assert isinstance(result, Result)
    root = sealed.ledger.status().root
    audited = sealed.ledger.audit()
    back = backup.restore(whole=False)
    with pytest.raises(errors.LedgerRolledBack) as caught:
        back.reveal("parity", sealed.predictions(0))
    assert "lacre recover" in caught.value.way_out
    (said,) = back.status().warnings
    assert "lacre recover" in said
    assert [each.code for each in back.audit().findings] == ["memory-shrunk"]

    recovered = back.recover()
    assert (recovered.before, recovered.size, recovered.root) == (3, 5, root)
    assert [each.kind for each in recovered.entries] == ["read", "result"]
    assert (recovered.documents, recovered.erased) == (2, 0), "the reason, and the result"
    assert (recovered.lost_documents, recovered.lost_blobs, recovered.warnings) == ((), (), ())
    assert back.status().warnings == ()
    shown = back.show("parity@4")
    assert isinstance(shown, Result)
    assert shown.document == result.document
    again = back.audit()
    assert (again.ok, again.root, again.checkpoint) == (True, audited.root, audited.checkpoint)
    with pytest.raises(errors.AlreadyRevealed):
        back.reveal("parity", sealed.predictions(0))
    back.seal("parity", "dev", sealed.cases(5000))
    assert back.audit().ok


def test_what_a_dry_run_says_is_what_is_done(sealed: "Study", tmp_path: Path) -> None:
    backup = Backup(sealed, tmp_path)
    sealed.seal("dev", 9000)
    back = backup.restore()
    before = database(sealed)
    planned = back.recover(dry_run=True)
    assert database(sealed) == before
    assert planned.dry_run
    done = back.recover()
    assert replace(planned, dry_run=False) == done
    assert (done.before, done.size) == (3, 4)
    assert back.recover().entries == ()


def test_sealed_files_that_are_lost_are_named(sealed: "Study", tmp_path: Path) -> None:
    backup = Backup(sealed, tmp_path)
    sealed.seal("dev", 9000)
    sealed.ledger.reveal("parity", sealed.predictions(0))
    recovered = backup.restore().recover()
    assert [(each.study, each.pool, each.entry, each.kind) for each in recovered.lost_blobs] == [
        ("parity", "dev", 3, "pool"),
        ("parity", "dev", 3, "key"),
        ("parity", "dev", 3, "prints"),
        ("parity", "teste", 4, "submission"),
        ("parity", "teste", 4, "submission-key"),
    ]
    assert "lacre seal --replace" in str(recovered)
    audit = sealed.ledger.audit()
    assert {each.code for each in audit.findings} == {"blob-missing"}
    assert len(audit.findings) == 5
    assert str(sealed.ledger.show("parity@5")).startswith("parity@5  PASS")
    document = recovered.as_json()
    assert [each["path"] for each in document["lost_files"]] == [str(e.path) for e in recovered.lost_blobs]


def test_a_ledger_as_new_as_the_memory_has_nothing_to_recover(sealed: "Study") -> None:
    before = database(sealed)
    recovered = sealed.ledger.recover()
    assert database(sealed) == before
    assert (recovered.before, recovered.size, recovered.entries, recovered.documents) == (3, 3, (), 0)
    assert "Nothing to recover" in str(recovered)


def test_a_ledger_ahead_of_the_memory_has_nothing_to_recover(
    sealed: "Study", monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash between the commit and the memory leaves it so."""
    with monkeypatch.context() as patch:
        patch.setattr(memory_module.Memory, "advance", lambda *_: None)
        sealed.seal("dev", 9000)
    assert sealed.ledger.recover().size == 4
    assert sealed.ledger.audit().ok


def test_a_ledger_that_went_its_own_way_is_refused(sealed: "Study", tmp_path: Path) -> None:
    """Shorter than the memory, as long, or longer: it is no beginning of what is remembered."""
    backup = Backup(sealed, tmp_path)
    sealed.seal("dev", 9000)
    sealed.seal("contraste", 7000)
    backup.restore()
    with sealed.reopened(tmp_path / "elsewhere") as other:
        for first, pool in ((20_000, "dev"), (30_000, "contraste"), (None, "inputs"), (None, "inputs")):
            if first is None:
                other.inputs("parity", "dev", tmp_path / "out.csv", overwrite=True)
            else:
                other.seal("parity", pool, sealed.cases(first))
            before = database(sealed)
            with pytest.raises(errors.LedgerForked):
                sealed.ledger.recover()
            assert database(sealed) == before
    (said,) = sealed.ledger.status().warnings
    assert "rewritten" in said


def test_nothing_is_remembered(sealed: "Study") -> None:
    shutil.rmtree(folder_of(sealed))
    with pytest.raises(errors.NothingRemembered) as caught:
        sealed.ledger.recover()
    assert str(state_folder()) in caught.value.message


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("entries", [0]),
        ("entries", [40]),
        ("entries", [-1]),
        ("checkpoint", [0, 8192]),
        ("checkpoint", [70, 8192 + 300]),
    ],
)
def test_a_damaged_memory_is_refused_and_nothing_written(
    sealed: "Study", tmp_path: Path, name: str, places: list[int]
) -> None:
    """A byte is flipped: of the entries anywhere, of the checkpoint in both of its slots."""
    backup = Backup(sealed, tmp_path)
    sealed.seal("dev", 9000)
    back = backup.restore()
    path = folder_of(sealed) / name
    data = bytearray(path.read_bytes())
    for place in places:
        data[place] ^= 1
    path.write_bytes(data)
    before = database(sealed)
    with pytest.raises(errors.MemoryDamaged) as caught:
        back.recover()
    assert str(path) in caught.value.message
    assert database(sealed) == before


def test_a_damaged_document_is_refused_and_can_be_done_without(sealed: "Study", tmp_path: Path) -> None:
    backup = Backup(sealed, tmp_path)
    sealed.ledger.reveal("parity", sealed.predictions(0))
    back = backup.restore(whole=False)
    documents = folder_of(sealed) / "documents"
    (path,) = (each for each in documents.iterdir() if b"lacre.result+json" in each.read_bytes()[:120])
    path.write_bytes(path.read_bytes()[:-1])
    before = database(sealed)
    with pytest.raises(errors.MemoryDocumentDamaged) as caught:
        back.recover()
    assert str(path) in caught.value.message
    assert database(sealed) == before
    path.rename(tmp_path / "away")
    recovered = back.recover()
    (lost,) = recovered.lost_documents
    assert (lost.what, lost.digest, lost.entry) == ("result", path.name, 4)
    assert "newer copy" in str(recovered)
    assert [each.code for each in back.audit().findings] == ["document-missing"]


def test_the_memory_of_an_older_lacre_says_which_documents_it_lacks(sealed: "Study", tmp_path: Path) -> None:
    """Such a memory has entries alone. A newer copy of the ledger brings the documents; then they are kept."""
    backup = Backup(sealed, tmp_path)
    sealed.ledger.register(sealed.protocol("second"))
    sealed.ledger.close()
    newer = tmp_path / "newer.db"
    shutil.copyfile(sealed.ledger.folder / "ledger.db", newer)
    (documents,) = (state_folder() / "ledgers").glob("*/documents")
    shutil.rmtree(documents)
    back = backup.restore()
    recovered = back.recover()
    (lost,) = recovered.lost_documents
    assert (lost.what, lost.entry) == ("protocol", 3)
    back.close()
    shutil.copyfile(newer, back.folder / "ledger.db")
    sealed.ledger = sealed.reopened()
    assert sealed.ledger.recover().entries == ()
    assert sealed.ledger.audit().ok
    sealed.ledger.seal("second", "dev", sealed.cases(40_000))
    assert lost.digest in {path.name for path in documents.iterdir()}


def test_a_document_that_came_back_later_is_put_back(sealed: "Study", tmp_path: Path) -> None:
    backup = Backup(sealed, tmp_path)
    sealed.ledger.register(sealed.protocol("second"))
    documents = folder_of(sealed) / "documents"
    shutil.move(documents, tmp_path / "documents")
    back = backup.restore()
    assert len(back.recover().lost_documents) == 1
    shutil.move(tmp_path / "documents", documents)
    recovered = back.recover()
    assert (recovered.entries, recovered.documents, recovered.lost_documents) == ((), 1, ())
    assert "No entry was missing" in str(recovered)
    assert back.audit().ok


def test_a_document_that_no_entry_names_stays_where_it_is(sealed: "Study", tmp_path: Path) -> None:
    """A crash after the documents were flushed, and before the entries were, leaves such a one."""
    backup = Backup(sealed, tmp_path)
    sealed.seal("dev", 9000)
    shutil.copyfile(folder_of(sealed) / "entries", tmp_path / "entries")
    shutil.copyfile(folder_of(sealed) / "checkpoint", tmp_path / "checkpoint")
    sealed.ledger.register(sealed.protocol("second"))
    for name in ("entries", "checkpoint"):
        shutil.copyfile(tmp_path / name, folder_of(sealed) / name)
    back = backup.restore(whole=False)
    recovered = back.recover()
    assert (recovered.size, recovered.documents) == (4, 0)
    assert back.audit().ok


def test_a_checkpoint_that_the_log_did_not_sign_is_refused(sealed: "Study", tmp_path: Path) -> None:
    backup = Backup(sealed, tmp_path)
    sealed.seal("dev", 9000)
    path = folder_of(sealed) / "checkpoint"
    known = memory_module.Memory(state_folder()).remembered(path.parent.name)
    assert known is not None
    said = Checkpoint("lacre/else", known.size, known.root)
    note = SignedCheckpoint.sign(said, [PrivateKey.from_seed(bytes(32))]).note
    memory_module._remember(path, replace(known, note=note), is_first=False)
    back = backup.restore(whole=False)
    before = database(sealed)
    with pytest.raises(errors.MemoryDamaged):
        back.recover()
    assert database(sealed) == before


def test_entries_past_the_checkpoint_are_told(sealed: "Study", tmp_path: Path) -> None:
    """The newer slot is damaged: what it counted is still there, and nothing vouches for it."""
    backup = Backup(sealed, tmp_path)
    sealed.seal("dev", 9000)
    path = folder_of(sealed) / "checkpoint"
    known = memory_module.Memory(state_folder()).remembered(path.parent.name)
    assert known is not None
    data = bytearray(path.read_bytes())
    data[8192 * known.slot] ^= 1
    path.write_bytes(data)
    recovered = backup.restore(whole=False).recover()
    assert recovered.size == 3
    (said,) = recovered.warnings
    assert str(path.with_name("entries")) in said


def test_a_full_disk_leaves_the_backup_as_it_is(sealed: "Study", tmp_path: Path) -> None:
    backup = Backup(sealed, tmp_path)
    for name in ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"):
        sealed.ledger.register(sealed.protocol(name))
    back = backup.restore(whole=False)
    engine = back._desk.engine
    with engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(errors.DiskFull):
        back.recover()
    assert back.status().size == 3
    engine.dispose()
    assert back.recover().size == 11
    assert back.audit().ok


def test_it_needs_no_passphrase(tmp_path: Path) -> None:
    with lacre.init(tmp_path, passphrase="said once") as ledger:
        shutil.copyfile(ledger.folder / "ledger.db", tmp_path / "older.db")
        ledger.register(PROTOCOL.format(study="parity", systems="", gap="0.9").encode())
    shutil.copyfile(tmp_path / "older.db", ledger.folder / "ledger.db")

    def never() -> str:
        raise AssertionError

    with lacre.open(tmp_path, passphrase=never) as back:
        assert back.recover().size == 2
        assert back.audit().ok


# --- erased texts -------------------------------------------------------------------------------------------


def erase(desk: Desk, digest: str, named: int) -> None:
    """Take a text out, as the verb `erase` does; the memory is told by `remember`."""
    signed = sign_request(desk, Erase, digest=digest)
    with desk.writer.transaction() as tx:
        enter(desk, tx, view(tx, ""), signed, EraseFacts(named=named))
        assert tx.erase_document(digest)
    desk_module.remember(desk, tx)


def test_an_erased_text_does_not_come_back(sealed: "Study", tmp_path: Path) -> None:
    """The backup still has the name; the reason came after it, and only the memory could have it."""
    desk = sealed.ledger._desk
    backup = Backup(sealed, tmp_path)
    sealed.ledger.inputs("parity", "teste", tmp_path / "out.csv", reason="words that must go")
    with desk.snapshot() as reader:
        texts = {each.body: each.digest for each in reader.documents() if each.salt}
    assert set(texts) == {b"Ana", b"words that must go"}
    erase(desk, texts[b"Ana"], 0)
    erase(desk, texts[b"words that must go"], 3)
    kept = {path.name for path in (folder_of(sealed) / "documents").iterdir()}
    assert not kept & set(texts.values())
    back = backup.restore()
    # A memory that was itself restored may still have them.
    with desk.snapshot() as reader:
        name = reader.document(texts[b"Ana"])
    assert name is not None
    file_more(folder_of(sealed) / "documents", [name])
    recovered = back.recover()
    assert (recovered.size, recovered.erased, recovered.documents) == (6, 1, 0)
    assert recovered.lost_documents == ()
    with desk.snapshot() as reader:
        assert not reader.document_digests() & set(texts.values())
        assert b"Ana" not in {document.body for document in reader.documents()}
    assert not {path.name for path in (folder_of(sealed) / "documents").iterdir()} & set(texts.values())
    content, _digest = read_hashed(back.folder / "ledger.db")
    assert b"words that must go" not in content
    assert back.recover().erased == 0
