"""The keys on disk: open or closed, each read when it is asked for."""

import random
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from lacre.durable import read_given
from lacre.errors import (
    FileMissing,
    KeyExists,
    KeyFileDamaged,
    KeyMissing,
    PassphraseNeeded,
    PassphraseNotText,
    PassphraseWrong,
)
from lacre.ledger.keys import PrivateKey
from lacre.pools import keyring as keyrings, seal
from lacre.pools.keyring import Keyring
from lacre.pools.seal import Context, SealKey

Entropy = Callable[[int], bytes]
FILES = ("person.pem", "broker.pem", "log.pem", "identity.age", "fingerprint.key")
PASSPHRASE = "vinte e nove mil lacres, ção"


@pytest.fixture
def opened(tmp_path: Path, entropy: Entropy) -> Keyring:
    return Keyring.create(tmp_path / "keys", None, entropy)


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of closed keys; scrypt takes its second, so it is made once."""
    folder = tmp_path_factory.mktemp("closed") / "keys"
    Keyring.create(folder, PASSPHRASE, random.Random(1).randbytes)
    return folder


def test_five_private_keys_are_made(opened: Keyring) -> None:
    files = sorted(opened.folder.iterdir())
    assert [path.name for path in files] == sorted(FILES)
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert stat.S_IMODE(opened.folder.stat().st_mode) == 0o700
    assert opened.readable_by_others() == ()
    assert not opened.closed
    assert len({opened.person.public.keyid, opened.broker.public.keyid, opened.log.public.keyid}) == 3
    assert len(opened.fingerprint) == 32


def test_keys_are_the_same_when_loaded_again(opened: Keyring) -> None:
    again = Keyring(opened.folder)
    assert again.person.public == opened.person.public
    assert again.broker.public == opened.broker.public
    assert again.log.public == opened.log.public
    assert again.identity.recipient == opened.identity.recipient
    assert again.fingerprint == opened.fingerprint
    assert again.identity is again.identity


@pytest.mark.parametrize("name", FILES)
def test_no_key_is_written_over(tmp_path: Path, entropy: Entropy, name: str) -> None:
    (tmp_path / name).write_bytes(b"precious")
    with pytest.raises(KeyExists, match=name):
        Keyring.create(tmp_path, None, entropy)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == b"precious"


def _all(keyring: Keyring) -> dict[str, Callable[[], object]]:
    return {
        keyrings.PERSON: lambda: keyring.person,
        keyrings.BROKER: lambda: keyring.broker,
        keyrings.LOG: lambda: keyring.log,
        keyrings.IDENTITY: lambda: keyring.identity,
        keyrings.FINGERPRINT: lambda: keyring.fingerprint,
    }


@pytest.mark.parametrize("name", FILES)
def test_a_missing_key_is_missed_when_asked_for(opened: Keyring, name: str) -> None:
    (opened.folder / name).unlink()
    for other, ask in _all(Keyring(opened.folder)).items():
        if other == name:
            with pytest.raises(KeyMissing, match=name):
                ask()
        else:
            ask()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("content", [b"", b"AGE-SECRET-KEY-1NOTHING\n", b"\xff" * 31])
def test_a_damaged_key_is_refused_by_name(opened: Keyring, name: str, content: bytes) -> None:
    (opened.folder / name).write_bytes(content)
    with pytest.raises(KeyFileDamaged, match=name):
        _all(Keyring(opened.folder))[name]()


def test_two_identities_in_one_file_are_refused(opened: Keyring) -> None:
    path = opened.folder / keyrings.IDENTITY
    path.write_bytes(path.read_bytes() + seal.Identity.generate().to_file())
    with pytest.raises(KeyFileDamaged):
        _ = Keyring(opened.folder).identity


def test_keys_that_others_can_read_are_listed(opened: Keyring) -> None:
    (opened.folder / keyrings.LOG).chmod(0o640)
    assert [path.name for path in opened.readable_by_others()] == [keyrings.LOG]
    assert Keyring(opened.folder).log.public == opened.log.public


def test_an_empty_passphrase_is_none(tmp_path: Path, entropy: Entropy) -> None:
    made = Keyring.create(tmp_path / "keys", "", entropy)
    assert not made.closed
    assert Keyring(made.folder).person.public == made.person.public
    assert Keyring(made.folder, "not needed").identity.recipient == made.identity.recipient


def test_a_passphrase_of_no_text_is_refused(tmp_path: Path, entropy: Entropy) -> None:
    with pytest.raises(PassphraseNotText):
        Keyring.create(tmp_path / "keys", "caf\udce9", entropy)
    assert not (tmp_path / "keys").exists()


def test_closed_keys_open_with_their_passphrase_alone(closed: Path) -> None:
    keyring = Keyring(closed, PASSPHRASE)
    assert keyring.closed
    for ask in _all(keyring).values():
        ask()
    assert len(keyring.fingerprint) == 32
    assert keyring.fingerprint not in (closed / keyrings.FINGERPRINT).read_bytes()
    assert PASSPHRASE not in repr(keyring)


@pytest.mark.parametrize("name", FILES)
def test_closed_keys_need_a_passphrase(closed: Path, name: str) -> None:
    for nothing in (None, ""):
        with pytest.raises(PassphraseNeeded):
            _all(Keyring(closed, nothing))[name]()


@pytest.mark.parametrize("name", [keyrings.PERSON, keyrings.IDENTITY])
def test_closed_keys_refuse_another_passphrase(closed: Path, name: str) -> None:
    with pytest.raises(PassphraseWrong):
        _all(Keyring(closed, "another"))[name]()


def test_closed_files_show_no_secret(closed: Path) -> None:
    content = b"".join(path.read_bytes() for path in closed.iterdir())
    assert b"AGE-SECRET-KEY" not in content
    assert b"BEGIN PRIVATE KEY" not in content


def test_a_closed_fingerprint_key_of_another_ledger_is_refused(closed: Path, tmp_path: Path) -> None:
    other = Keyring(tmp_path)
    (tmp_path / keyrings.IDENTITY).write_bytes(seal.Identity.generate().to_file())
    (tmp_path / keyrings.FINGERPRINT).write_bytes((closed / keyrings.FINGERPRINT).read_bytes())
    with pytest.raises(KeyFileDamaged, match=keyrings.FINGERPRINT):
        _ = other.fingerprint


def test_the_identity_opens_what_is_sealed_to_its_recipient(opened: Keyring) -> None:
    context = Context("a" * 64, "alvo", "teste", "b" * 64)
    secrets = SealKey(bytes(32), bytes(range(32)))
    recipient = opened.identity.recipient
    held = seal.unwrap(seal.wrap(secrets, [recipient]), [opened.identity], context, [recipient])
    assert held.key_of("c" * 64) == secrets


# --- more keys than the first ones -------------------------------------------------------------------------


def _key(number: int) -> PrivateKey:
    return PrivateKey.from_seed(bytes([number]) * 32)


def test_a_key_is_found_in_whichever_file_holds_it(opened: Keyring) -> None:
    new = _key(1)
    path = opened.add("broker", new)
    assert path.name == f"broker-{new.public.keyid[:16]}.pem"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.rename(opened.folder / "under-another.name.pem")
    ring = Keyring(opened.folder)
    for wanted in (new.public, opened.broker.public):
        found = ring.find("broker", [wanted.keyid])
        assert found is not None
        assert found.public == wanted
    assert ring.find("broker", [_key(2).public.keyid]) is None


def test_of_several_that_fit_the_one_of_its_own_name_counts_then_the_first(opened: Keyring) -> None:
    other = _key(3)
    keyids = [opened.person.public.keyid, other.public.keyid]
    assert opened.find("person", keyids) is opened.person
    opened.add("person", other)
    found = Keyring(opened.folder).find("person", keyids)
    assert found is not None
    assert found.public == other.public


def test_no_other_file_is_opened_when_the_first_fits(
    opened: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        opened.add("log", _key(number + 1))
    wanted = opened.broker.public.keyid
    read: list[str] = []

    def noted(path: Path, *, most: int) -> bytes:
        read.append(path.name)
        return read_given(path, most=most)

    monkeypatch.setattr(keyrings, "read_given", noted)
    ring = Keyring(opened.folder)
    for _again in range(2):
        assert ring.find("broker", [wanted]) is not None
    assert read == [keyrings.BROKER]


def test_what_cannot_be_opened_matters_only_if_nothing_else_fits(opened: Keyring) -> None:
    (opened.folder / "broken.pem").write_bytes(b"no key")
    (opened.folder / "closed.pem").write_bytes(_key(4).to_pkcs8(b"of somebody else"))
    wanted = opened.log.public.keyid
    (opened.folder / keyrings.LOG).rename(opened.folder / "zuletzt.pem")
    ring = Keyring(opened.folder)
    found = ring.find("log", [wanted])
    assert found is not None
    with pytest.raises(KeyFileDamaged, match=r"broken\.pem"):
        ring.find("log", [_key(5).public.keyid])


def test_a_further_key_is_closed_as_the_others_are(closed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    shutil.copytree(closed, folder)
    for wrong, refusal in (("another", PassphraseWrong), (None, PassphraseNeeded)):
        with pytest.raises(refusal):
            Keyring(folder, wrong).add("log", _key(6))
    path = Keyring(folder, PASSPHRASE).add("log", _key(6))
    assert path.read_bytes().startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----")
    again = Keyring(folder, PASSPHRASE).find("log", [_key(6).public.keyid])
    assert again is not None
    with pytest.raises(KeyExists):
        Keyring(folder, PASSPHRASE).add("log", _key(6))


def test_a_given_key_counts_as_one_of_them(opened: Keyring, tmp_path: Path) -> None:
    assert opened.given_key is None
    path = tmp_path / "given.pem"
    keyrings.write_signing(path, _key(7), PASSPHRASE)
    ring = Keyring(opened.folder, PASSPHRASE, given=path)
    assert ring.closed
    assert not opened.closed
    assert ring.given_key is not None
    assert ring.given_key.public == _key(7).public
    with pytest.raises(FileMissing, match=r"gone\.pem"):
        _ = Keyring(opened.folder, given=tmp_path / "gone.pem").given_key


@pytest.mark.parametrize(
    ("name", "is_key"),
    [
        *((name, True) for name in FILES),
        ("broker-0123456789abcdef.pem", True),
        ("ana.lima.pem", True),
        ("../person.pem", False),
        ("a/person.pem", False),
        (".lacre-unfinished-x.pem", False),
        ("person.pem\n", False),
        ("notes.txt", False),
        ("x" * 65 + ".pem", False),
    ],
)
def test_names_of_keys(name: str, is_key: bool) -> None:
    assert keyrings.is_key_file(name) is is_key
