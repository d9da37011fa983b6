"""Who may act, through the API: keys enrolled, replaced, revoked, backed up, and judged at each entry's index."""

import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

import lacre
from lacre.broker import keys as broker_keys, signers
from lacre.broker.desk import enter, sign_request, view
from lacre.errors import (
    ActiveKeyMissing,
    FileMissing,
    KeyAlreadyEnrolled,
    KeyBackupClosed,
    KeyBackupExists,
    KeyBackupForeign,
    KeyExists,
    KeyFileDamaged,
    KeyFileDiffers,
    KeyMissing,
    KeyNotActive,
    KeyNotEnrolled,
    KeyNotEntitled,
    KeyRevoked,
    KeyRolesMixed,
    KeyUnclear,
    LastKeyOfRole,
    NoteUnsigned,
    PassphraseNeeded,
    PersonKeyMissing,
    PublicKeyUnclear,
    RotationUnderWay,
)
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.keys import PrivateKey, PublicKey
from lacre.ledger.note import VerifierKey
from lacre.pools.key_backup import pack
from lacre.pools.keyring import Keyring
from lacre.report.views import Audit, Keys
from lacre.rules.answers import NoFacts
from lacre.rules.record import Answered, Recorded
from lacre.rules.requests import KeyChange
from lacre.rules.state import State, fold_ledger

from .conftest import Study

PASSPHRASE = "quatro lacres"


def codes(report: Audit) -> list[tuple[str, int | None]]:
    return [(each.code, each.entry) for each in report.findings]


def note(ledger: lacre.Ledger) -> bytes:
    with ledger._desk.snapshot() as reader:
        checkpoint = reader.checkpoint()
    assert checkpoint is not None
    return checkpoint


def signer(ledger: lacre.Ledger, entry: int) -> str:
    """The key that an entry was asked with."""
    content = ledger.log().entries[entry].content
    assert isinstance(content, Answered)
    return content.by


def verifies(checkpoint: bytes, verifier: str) -> bool:
    """Whether a stranger who knows this one verifier key alone accepts the checkpoint."""
    try:
        SignedCheckpoint.open(checkpoint, [VerifierKey.parse(verifier)])
    except NoteUnsigned:
        return False
    return True


@pytest.fixture
def rui(study: Study) -> Path:
    """The key file of a registrant."""
    made = lacre.new_key(study.folder / "rui.pem")
    study.ledger.enrol(made.public, "registrant", name="Rui")
    return made.path


def as_rui(study: Study, rui: Path) -> lacre.Ledger:
    return lacre.open(study.folder, key=rui)


# --- people ------------------------------------------------------------------------------------------------


def test_a_new_key_is_a_file_of_ones_own_and_never_written_over(tmp_path: Path) -> None:
    made = lacre.new_key(tmp_path / "ana.pem", name="Ana")
    private = PrivateKey.from_pkcs8(made.path.read_bytes())
    assert (made.public, made.keyid) == (private.public.raw.hex(), private.public.keyid)
    assert made.path.stat().st_mode & 0o777 == 0o600
    assert made.public in str(made).replace("\n", "")
    with pytest.raises(KeyExists):
        lacre.new_key(made.path, passphrase=lambda: pytest.fail("asked in vain"))
    closed = lacre.new_key(tmp_path / "closed.pem", passphrase=lambda: PASSPHRASE)
    with pytest.raises(PassphraseNeeded):
        PrivateKey.from_pkcs8(closed.path.read_bytes())
    again = PrivateKey.from_pkcs8(closed.path.read_bytes(), PASSPHRASE.encode())
    assert again.public.raw.hex() == closed.public


def test_an_enrolled_registrant_signs_and_a_revoked_one_is_refused_from_then_on(
    study: Study, rui: Path
) -> None:
    with as_rui(study, rui) as his:
        registered = his.register(study.protocol())
    keyid = next(keyid for keyid, name in study.ledger.keys().names.items() if name == "Rui")
    assert signer(study.ledger, registered.entry) == keyid
    revoked = study.ledger.revoke(keyid[:8], reason="left")
    with as_rui(study, rui) as his:
        with pytest.raises(KeyRevoked, match=f"{keyid[:16]}.*entry {revoked.entry}"):
            his.register(study.protocol("another"))
        with pytest.raises(KeyRevoked):
            his.seal("parity", "dev", study.cases(1))
    assert study.size == revoked.entry + 1
    report = study.ledger.audit()
    assert report.ok
    assert [each.index for each in report.history if each.kind == "register"] == [registered.entry]


def test_a_key_is_revoked_by_its_file(study: Study, rui: Path) -> None:
    keyid = next(keyid for keyid, name in study.ledger.keys().names.items() if name == "Rui")
    revoked = study.ledger.revoke(str(rui))
    assert (revoked.key.keyid, revoked.key.revoked) == (keyid, revoked.entry)
    with pytest.raises(PublicKeyUnclear):
        study.ledger.revoke("nowhere.pem")


def test_a_key_revoked_while_its_request_was_under_way_comes_too_late(study: Study, rui: Path) -> None:
    with as_rui(study, rui) as his:
        desk = his._desk
        signed = sign_request(desk, KeyChange, action="revoke", public="0" * 64)
        study.ledger.revoke(PrivateKey.from_pkcs8(rui.read_bytes()).public.keyid)
        with pytest.raises(KeyRevoked), desk.writer.transaction() as tx:
            enter(desk, tx, view(tx, ""), signed, NoFacts())
    assert study.size == 3


def test_what_a_role_does_not_cover_is_refused(study: Study, rui: Path) -> None:
    stranger = lacre.new_key(study.folder / "stranger.pem")
    with as_rui(study, rui) as his:
        with pytest.raises(KeyNotEntitled, match="owner"):
            his.enrol(stranger.public, "owner")
        with pytest.raises(KeyNotEntitled):
            his.rotate("broker")
        with pytest.raises(KeyNotEntitled):
            his.erase("@0")
    with (
        lacre.open(study.folder, key=stranger.path) as theirs,
        pytest.raises(KeyNotEnrolled, match=stranger.keyid[:16]) as refused,
    ):
        theirs.register(study.protocol())
    assert "lacre key enrol" in refused.value.way_out
    assert study.size == 2
    assert len(list((study.ledger.folder / "keys").glob("*.pem"))) == 3, "a refused rotation makes no key"


def test_a_given_key_may_be_closed_or_named_by_the_environment(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = lacre.new_key(study.folder / "closed.pem", passphrase=PASSPHRASE)
    study.ledger.enrol(made.public, "registrant")
    with lacre.open(study.folder, key=made.path, passphrase=PASSPHRASE) as theirs:
        theirs.register(study.protocol())
    monkeypatch.setenv("LACRE_KEY", str(made.path))
    monkeypatch.setenv("LACRE_PASSPHRASE", PASSPHRASE)
    with lacre.open(study.folder) as theirs:
        entry = theirs.register(study.protocol("another")).entry
        assert signer(theirs, entry) == made.keyid
    monkeypatch.setenv("LACRE_KEY", str(study.folder / "none.pem"))
    with lacre.open(study.folder) as theirs, pytest.raises(FileMissing, match=r"none\.pem"):
        theirs.register(study.protocol("third"))


def test_what_is_enrolled_is_read_from_digits_or_from_a_file(study: Study) -> None:
    keys = [lacre.new_key(study.folder / f"{name}.pem") for name in ("a", "b", "c")]
    study.ledger.enrol(keys[0].public.upper(), "custodian", "owner", "owner")
    study.ledger.enrol(keys[1].path, "registrant")
    public = PublicKey(bytes.fromhex(keys[2].public))
    pem = Ed25519PublicKey.from_public_bytes(public.raw).public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    (study.folder / "c.pub").write_bytes(pem)
    made = study.ledger.enrol(study.folder / "c.pub", "registrant")
    assert made.key.keyid == keys[2].keyid
    assert [sorted(key.roles) for key in study.ledger.keys().keys[3:]] == [
        ["custodian", "owner"],
        ["registrant"],
        ["registrant"],
    ]
    closed = lacre.new_key(study.folder / "closed.pem", passphrase=PASSPHRASE)
    (study.folder / "words.txt").write_text("no key")
    for given in ("abc", keys[0].public[:-1], str(closed.path), str(study.folder / "words.txt")):
        with pytest.raises(PublicKeyUnclear):
            study.ledger.enrol(given, "registrant")
    with pytest.raises(KeyAlreadyEnrolled):
        study.ledger.enrol(keys[0].public, "registrant")
    with pytest.raises(KeyRolesMixed):
        study.ledger.enrol(closed.public)


def test_a_key_is_named_by_no_less_than_eight_digits(study: Study, rui: Path) -> None:
    public = PrivateKey.from_pkcs8(rui.read_bytes()).public
    for given in ("", public.keyid[:7], "0" * 64, "not-hexadecimal"):
        with pytest.raises(KeyUnclear):
            study.ledger.revoke(given)
    assert study.ledger.revoke(public.raw.hex()[:8]).key.keyid == public.keyid
    with pytest.raises(KeyNotActive):
        study.ledger.revoke(public.keyid)
    with pytest.raises(KeyAlreadyEnrolled):
        study.ledger.enrol(public.raw.hex(), "registrant")


def test_the_last_of_a_needed_role_stays(study: Study) -> None:
    for key in study.ledger.keys().keys:
        with pytest.raises(LastKeyOfRole):
            study.ledger.revoke(key.keyid)
    other = lacre.new_key(study.folder / "other.pem")
    study.ledger.enrol(other.public, "owner")
    study.ledger.revoke(study.ledger.keys().keys[0].keyid)
    with pytest.raises(KeyRevoked):
        study.ledger.register(study.protocol())
    with lacre.open(study.folder, key=other.path) as theirs, pytest.raises(LastKeyOfRole):
        theirs.revoke(other.keyid)


# --- the ledger's own keys ---------------------------------------------------------------------------------


def test_each_of_the_ledgers_keys_is_replaced_and_the_ledger_goes_on(study: Study) -> None:
    study.begin()
    for part in ("person", "broker", "person", "broker"):
        made = study.ledger.rotate(part)
        assert made.file is not None
        assert PrivateKey.from_pkcs8(made.file.read_bytes()).public.keyid == made.key.keyid
    study.seal("dev", 1)
    with study.reopened() as again:
        again.seal("parity", "contraste", study.cases(1000))
    shown = study.ledger.keys()
    people = [key for key in shown.keys if "owner" in key.roles]
    assert [key.revoked for key in people] == [2, 4, None]
    assert [shown.names[key.keyid] for key in people] == ["Ana"] * 3, (
        "the name stays with whoever takes the place"
    )
    assert study.ledger.audit().ok


def test_another_process_signs_with_the_keys_as_they_are_by_then(study: Study) -> None:
    """What a ledger that is open knows of the keys is never older than the entry it writes."""
    study.begin()
    with study.reopened() as other:
        other.seal("parity", "dev", study.cases(1))
        study.ledger.rotate("broker")
        study.ledger.rotate("person")
        study.ledger.rotate("log")
        other.seal("parity", "contraste", study.cases(1000))
    assert study.ledger.audit().ok


def test_a_change_of_keys_that_was_taken_back_is_forgotten(study: Study) -> None:
    desk = study.ledger._desk
    other = lacre.new_key(study.folder / "other.pem")
    signed = sign_request(desk, KeyChange, action="enrol", public=other.public, roles=("owner",))
    with suppress(ZeroDivisionError), desk.writer.transaction() as tx:
        enter(desk, tx, view(tx, ""), signed, NoFacts())
        assert other.keyid in desk.signers.state(tx).keys
        raise ZeroDivisionError
    assert study.size == 1
    with study.reopened() as elsewhere:
        elsewhere.rotate("broker")
    study.begin()
    with desk.snapshot() as reader:
        assert other.keyid not in desk.signers.state(reader).keys
    assert study.ledger.audit().ok


def test_keys_are_folded_once_for_each_change(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    folded: list[int] = []

    def counted(entries: Iterable[Recorded]) -> State:
        folded.append(1)
        return fold_ledger(entries)

    monkeypatch.setattr(signers, "fold_ledger", counted)
    study.begin()
    study.seal("dev", 1)
    study.seal("contraste", 1000)
    assert len(folded) == 1
    study.ledger.rotate("broker")
    study.seal("teste", 2000)
    assert len(folded) == 2


def test_an_old_brokers_signature_on_a_later_entry_is_found(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.begin()
    old = study.ledger.rotate("broker").replaces
    thief = Keyring(study.ledger.folder / "keys").broker
    assert thief.public.keyid == old
    monkeypatch.setattr("lacre.broker.signers.Signers.broker", lambda _self, _state: thief)
    study.seal("dev", 1)
    monkeypatch.undo()
    assert codes(study.reopened().audit()) == [("signer-unknown", 3)]


def test_both_log_keys_sign_until_the_old_one_is_revoked(study: Study) -> None:
    study.begin()
    first = study.ledger.status()
    (old,) = first.verifier_keys
    assert first.verifier_key == old
    rotated = study.ledger.rotate("log")
    both = study.ledger.status()
    assert both.verifier_keys == rotated.verifier_keys
    assert both.verifier_keys[0] == old
    new = both.verifier_keys[1]
    assert both.verifier_key == new
    study.seal("dev", 1)
    assert verifies(note(study.ledger), old)
    assert verifies(note(study.ledger), new)
    assert study.ledger.audit().ok
    with pytest.raises(RotationUnderWay):
        study.ledger.rotate("log")
    keyid = first.keys[2].keyid
    revoked = study.ledger.revoke(keyid)
    assert revoked.verifier_keys == (new,)
    assert study.ledger.status().verifier_keys == (new,)
    assert not verifies(note(study.ledger), old)
    assert verifies(note(study.ledger), new)
    assert study.ledger.audit().ok
    assert study.ledger.rotate("log").verifier_keys[0] == new


def test_a_receipt_of_a_log_key_that_was_revoked_since_still_counts(study: Study) -> None:
    receipt = study.folder / "old.receipt"
    receipt.write_bytes(study.ledger.register(study.protocol()).receipt)
    thief = Keyring(study.ledger.folder / "keys").log
    study.ledger.rotate("log")
    (study.folder / "both").write_bytes(note(study.ledger))
    study.ledger.revoke(thief.public.keyid)
    study.seal("dev", 1)
    assert study.ledger.audit(memory=[receipt, study.folder / "both"]).ok
    # Whoever has the old key now can sign nothing of a size that it was not active at, not even the truth.
    with study.ledger._desk.snapshot() as reader:
        later = Checkpoint(study.ledger.status().origin, reader.size, reader.root_at(reader.size))
    (study.folder / "forged").write_bytes(SignedCheckpoint.sign(later, [thief]).note)
    assert codes(study.ledger.audit(memory=[study.folder / "forged"])) == [("memory-invalid", None)]


@pytest.mark.parametrize("which", ["old", "new"])
def test_while_two_log_keys_sign_neither_may_be_missing(study: Study, which: str) -> None:
    new = study.ledger.rotate("log").file
    assert new is not None
    path = new if which == "new" else study.ledger.folder / "keys" / "log.pem"
    keyid = PrivateKey.from_pkcs8(path.read_bytes()).public.keyid
    path.rename(study.folder / "aside")
    with study.reopened() as again:
        with pytest.raises(ActiveKeyMissing, match=f"log.*{keyid[:16]}"):
            again.register(study.protocol())
        assert again.status().size == 2
        assert again.audit().ok
    (study.folder / "aside").rename(path)
    with study.reopened() as again:
        again.register(study.protocol())


def test_a_rotated_key_that_is_gone_is_not_made_up_for_by_the_old_one(study: Study) -> None:
    made = study.ledger.rotate("broker")
    assert made.file is not None
    made.file.unlink()
    with study.reopened() as again, pytest.raises(ActiveKeyMissing, match=f"broker.*{made.key.keyid[:16]}"):
        again.register(study.protocol())


@pytest.mark.parametrize("part", ["person", "broker", "log"])
def test_a_crash_between_the_key_file_and_its_entry_does_no_harm(
    study: Study, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    def crash(*_given: object, **_more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(broker_keys, "sign_request", crash)
    with pytest.raises(KeyboardInterrupt):
        study.ledger.rotate(part)  # type: ignore[arg-type]
    monkeypatch.undo()
    left = {path.name for path in (study.ledger.folder / "keys").glob(f"{part}-*.pem")}
    assert len(left) == 1
    with study.reopened() as again:
        again.register(study.protocol())
        made = again.rotate(part)  # type: ignore[arg-type]
        assert made.file is not None
        assert made.file.name not in left
        again.seal("parity", "dev", study.cases(1))
        assert again.audit().ok


def test_the_key_file_is_on_the_disk_before_the_entry(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def look(*given: object, **more: object) -> object:
        seen.extend(1 for _path in (study.ledger.folder / "keys").glob("broker-*.pem"))
        return sign_request(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(broker_keys, "sign_request", look)
    study.ledger.rotate("broker")
    assert seen == [1]


def test_the_keys_of_a_closed_ledger_are_replaced_by_closed_ones(tmp_path: Path) -> None:
    with lacre.init(tmp_path, passphrase=PASSPHRASE) as ledger:
        for part in ("person", "broker", "log"):
            made = ledger.rotate(part)
            assert made.file is not None
            with pytest.raises(PassphraseNeeded):
                PrivateKey.from_pkcs8(made.file.read_bytes())
    with lacre.open(tmp_path, passphrase=PASSPHRASE) as ledger:
        ledger.revoke(ledger.keys().keys[2].keyid)
        assert ledger.audit().ok


def test_a_ledger_without_its_persons_key_says_which_file_it_misses(study: Study) -> None:
    (study.ledger.folder / "keys" / "person.pem").unlink()
    with study.reopened() as again:
        for ask in (lambda: again.register(study.protocol()), lambda: again.rotate("person")):
            with pytest.raises(PersonKeyMissing, match=study.ledger.keys().keys[0].keyid[:16]) as refused:
                ask()
            assert "lacre key recover BACKUP" in refused.value.way_out


def test_a_persons_rotated_key_that_is_gone_is_asked_for_by_its_id(study: Study) -> None:
    study.ledger.rotate("person")
    made = study.ledger.rotate("person")
    assert made.file is not None
    aside = made.file.rename(study.folder / "aside.pem")
    for gone in (None, study.ledger.folder / "keys"):
        if gone is not None:
            shutil.rmtree(gone)
        with study.reopened() as again:
            for ask in (lambda: again.register(study.protocol()), lambda: again.rotate("person")):
                with pytest.raises(PersonKeyMissing, match=f"person.*{made.key.keyid[:16]}.*in no file of"):
                    ask()
    with pytest.raises(ActiveKeyMissing, match="broker"), lacre.open(study.folder, key=aside) as again:
        again.register(study.protocol())


def test_an_own_key_that_was_ended_for_good_is_not_missing(study: Study) -> None:
    """Rui took over and ended the ledger's first key: to sign with it is refused as it is, with a way on."""
    other = lacre.new_key(study.folder / "rui.pem")
    study.ledger.enrol(other.public, "owner", "registrant")
    with lacre.open(study.folder, key=study.folder / "rui.pem") as rui:
        rui.revoke(rui.keys().keys[0].keyid)
    with study.reopened() as again, pytest.raises(KeyRevoked) as refused:
        again.register(study.protocol())
    assert "--key FILE" in refused.value.way_out


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_a_given_key_that_others_can_read_is_warned_of(study: Study, mode: int) -> None:
    path = study.folder / "rui.pem"
    made = lacre.new_key(path)
    path.chmod(mode)
    study.ledger.enrol(made.public, "owner", "registrant", "custodian")
    with lacre.open(study.folder, key=path) as rui:
        found = rui.register(study.protocol()).warnings, rui.seal("parity", "teste", study.cases(0)).warnings
    said = (f"Others than you can read {path}: take their rights away (chmod go= {path}).",)
    assert found == ((said, said) if mode == 0o640 else ((), ()))


# --- the key files -----------------------------------------------------------------------------------------


def _backed_up(study: Study, passphrase: str | None = None, name: str = "keys.tar") -> Path:
    path = study.folder / name
    study.ledger.backup_keys(path, passphrase=passphrase)
    return path


def test_lost_keys_come_back_from_a_closed_backup(study: Study) -> None:
    study.begin()
    study.ledger.rotate("broker")
    backup = _backed_up(study, PASSPHRASE, "keys.age")
    assert backup.stat().st_mode & 0o777 == 0o600
    keys = study.ledger.folder / "keys"
    before = {path.name: path.read_bytes() for path in keys.iterdir()}
    shutil.rmtree(keys)
    with study.reopened() as again:
        with pytest.raises(KeyMissing, match="lacre key recover"):
            again.seal("parity", "dev", study.cases(1))
        with pytest.raises(KeyBackupClosed):
            again.recover_keys(backup)
        recovered = again.recover_keys(backup, passphrase=lambda: PASSPHRASE)
        assert set(recovered.restored) == set(before)
        assert recovered.left_out == ()
        again.seal("parity", "dev", study.cases(1))
        assert again.audit().ok
    assert {path.name: path.read_bytes() for path in keys.iterdir()} == before
    assert {path.stat().st_mode & 0o777 for path in keys.iterdir()} == {0o600}
    recovered = study.ledger.recover_keys(backup, passphrase=PASSPHRASE)
    assert (recovered.restored, set(recovered.same)) == ((), set(before))


def test_closed_keys_come_back_closed_and_prove_with_their_own_passphrase(tmp_path: Path) -> None:
    with lacre.init(tmp_path, passphrase=PASSPHRASE) as ledger:
        made = ledger.backup_keys(tmp_path / "keys.tar", passphrase=None)
    assert set(made.closed) == set(made.files)
    assert "It is open. Still closed in it, with the passphrase that the ledger's keys have" in " ".join(
        str(made).split()
    )
    assert "whoever finds it" not in str(made).lower()
    shutil.rmtree(tmp_path / ".lacre" / "keys")
    with lacre.open(tmp_path) as ledger, pytest.raises(PassphraseNeeded):
        ledger.recover_keys(tmp_path / "keys.tar")
    asked: list[int] = []

    def ask() -> str:
        asked.append(1)
        return PASSPHRASE

    with lacre.open(tmp_path, passphrase=ask) as ledger:
        assert len(ledger.recover_keys(tmp_path / "keys.tar").restored) == 5
        ledger.rotate("broker")
    assert asked == [1]


def test_a_backup_is_never_written_over_and_of_nothing_there_is_none(study: Study) -> None:
    (study.folder / "there").write_bytes(b"precious")
    with pytest.raises(KeyBackupExists):
        study.ledger.backup_keys(study.folder / "there", passphrase=lambda: pytest.fail("asked in vain"))
    assert (study.folder / "there").read_bytes() == b"precious"
    shutil.rmtree(study.ledger.folder / "keys")
    with pytest.raises(KeyMissing):
        study.ledger.backup_keys(study.folder / "new", passphrase=None)
    assert not (study.folder / "new").exists()


def test_a_key_file_that_differs_is_not_written_over_and_nothing_else_is_written(study: Study) -> None:
    backup = _backed_up(study)
    keys = study.ledger.folder / "keys"
    (keys / "log.pem").unlink()
    (keys / "person.pem").write_bytes(b"another")
    with pytest.raises(KeyFileDiffers, match=r"person\.pem"):
        study.ledger.recover_keys(backup)
    assert not (keys / "log.pem").exists()
    assert (keys / "person.pem").read_bytes() == b"another"


def test_a_backup_of_another_ledger_is_refused(study: Study, another: Callable[[], Study]) -> None:
    other = another()
    backup = _backed_up(other)
    keys = study.ledger.folder / "keys"
    shutil.rmtree(keys)
    for files in (
        Keyring(other.ledger.folder / "keys").contents(),
        {"person.pem": (other.ledger.folder / "keys" / "person.pem").read_bytes()},
        {"fingerprint.key": bytes(32)},
    ):
        backup.write_bytes(pack(files, None))
        with pytest.raises(KeyBackupForeign, match="Nothing was written"):
            study.ledger.recover_keys(backup)
    assert not keys.exists()


def test_one_strange_key_among_ones_own_is_left_out(study: Study, another: Callable[[], Study]) -> None:
    own = Keyring(study.ledger.folder / "keys").contents()
    strange = (another().ledger.folder / "keys" / "log.pem").read_bytes()
    backup = study.folder / "mixed.tar"
    backup.write_bytes(pack({**own, "strange.pem": strange}, None))
    shutil.rmtree(study.ledger.folder / "keys")
    recovered = study.ledger.recover_keys(backup)
    assert (set(recovered.restored), recovered.left_out) == (set(own), ("strange.pem",))
    assert not (study.ledger.folder / "keys" / "strange.pem").exists()
    backup.write_bytes(pack({**own, "fingerprint.key": bytes(31)}, None))
    with pytest.raises(KeyFileDamaged, match=r"fingerprint\.key"):
        study.ledger.recover_keys(backup)


def test_every_outcome_prints_and_has_a_document(study: Study, rui: Path) -> None:
    made = lacre.new_key(study.folder / "new.pem", name="Eva d'Ávila")
    identity = lacre.new_identity(study.folder / "eva.age")
    backup = study.ledger.backup_keys(study.folder / "keys.tar", passphrase=None)
    outcomes = [
        made,
        identity,
        study.ledger.enrol(made.public, "custodian"),
        study.ledger.rotate("log"),
        study.ledger.revoke(made.keyid, reason="gone"),
        study.ledger.keys(),
        backup,
        study.ledger.recover_keys(backup.path),
        study.ledger.show("@1"),
        study.ledger.status(),
    ]
    for outcome in outcomes:
        assert str(outcome).strip()
        assert outcome.as_json()
    command = next(line for line in str(made).splitlines() if "--name" in line)
    assert shlex.split(command)[-1] == "Eva d'Ávila", "a shell reads the name as one word"
    shown = study.ledger.keys()
    assert isinstance(shown, Keys)
    rows = {row["keyid"]: row for row in shown.as_json()["keys"]}
    assert (rows[made.keyid]["enrolled"], rows[made.keyid]["revoked"]) == (2, 4)
    assert {row["name"] for row in rows.values()} == {"Ana", "Rui", None}
    assert study.ledger.status().as_json()["verifier_keys"] == list(shown.verifier_keys)
    assert len(shown.verifier_keys) == 2
    assert "Name: Rui" in str(study.ledger.show("@1"))


def test_an_identity_is_what_age_keygen_writes(study: Study, tool: Callable[[str], str]) -> None:
    made = lacre.new_identity(study.folder / "custodian.age")
    lines = made.path.read_text().splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["# created", "# public key"]
    assert made.path.stat().st_mode & 0o777 == 0o600
    ran = subprocess.run(
        [tool("age-keygen"), "-y", str(made.path)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == made.recipient
    with pytest.raises(KeyExists):
        lacre.new_identity(made.path)
