"""The vault: pools and submissions on disk, opened whole or not at all."""

import errno
import hashlib
import os
import random
import shutil
import stat
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from lacre import durable
from lacre.errors import (
    DiskFull,
    IdentityCannotOpen,
    NotEnoughSpace,
    PoolBlobChanged,
    PoolBlobMissing,
    PoolNameUnsafe,
    RecipientInvalid,
    SealNotProven,
)
from lacre.pools import vault as vaults
from lacre.pools.content import Content, Held, OnDisk
from lacre.pools.seal import Context, Identity
from lacre.pools.vault import Sealed, SealedSubmission, Vault
from lacre.store.discover import BlobKind

Entropy = Callable[[int], bytes]

CONTEXT = Context(genesis="a" * 64, study="alvo", pool="teste", protocol="b" * 64)
SUBMISSION = replace(CONTEXT, system="atual")
RECORDS = [("images", b"id,label\n1,MARKER-OF-PLAINTEXT\n"), ("faces", b""), ("images", b"x")]
PRINTS = b"fingerprints"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path / "pools")


@pytest.fixture(scope="module")
def identity() -> Identity:
    return Identity.generate()


def _held(records: Sequence[tuple[str, bytes]] = RECORDS) -> list[tuple[str, Content]]:
    return [(table, Held(raw)) for table, raw in records]


def _seal(
    vault: Vault, identity: Identity, entropy: Entropy, records: list[tuple[str, bytes]] = RECORDS
) -> Sealed:
    recipients = [identity.recipient, Identity.generate().recipient]
    return vaults.seal_pool(
        vault,
        CONTEXT,
        _held(records),
        prints=PRINTS,
        recipients=recipients,
        identities=[identity],
        entropy=entropy,
    )


def _files(vault: Vault) -> list[Path]:
    return sorted(path for path in vault.folder.rglob("*") if path.is_file())


def _large() -> bytes:
    return random.Random(7).randbytes(3_200_000)


@pytest.mark.parametrize(
    "records", [RECORDS, [("images", b"")], [("images", b"1")], [("images", _large()), ("faces", b"end")]]
)
def test_what_is_sealed_is_opened(
    vault: Vault, identity: Identity, entropy: Entropy, records: list[tuple[str, bytes]]
) -> None:
    sealed = _seal(vault, identity, entropy, records)
    vaults.check_pool(vault, CONTEXT, sealed, [identity])
    assert vaults.open_pool(vault, CONTEXT, sealed, [identity]) == records
    assert [record.table for record in sealed.records] == [table for table, _raw in records]
    assert vault.read("alvo", "teste", "prints", sealed.fingerprints) == PRINTS


def test_either_recipient_opens_and_nobody_else(vault: Vault, entropy: Entropy) -> None:
    first, second = Identity.generate(), Identity.generate()
    recipients = [first.recipient, second.recipient]
    sealed = vaults.seal_pool(vault, CONTEXT, _held(), prints=PRINTS, recipients=recipients, entropy=entropy)
    assert sealed.recipients == (first.recipient, second.recipient)
    for one in (first, second):
        assert vaults.open_pool(vault, CONTEXT, sealed, [one]) == RECORDS
    with pytest.raises(IdentityCannotOpen, match=first.recipient):
        vaults.open_pool(vault, CONTEXT, sealed, [Identity.generate()])
    with pytest.raises(IdentityCannotOpen):
        vaults.check_pool(vault, CONTEXT, sealed, [])


def test_blobs_are_private_and_named_by_their_digest(
    vault: Vault, identity: Identity, entropy: Entropy
) -> None:
    sealed = _seal(vault, identity, entropy)
    names = {path.name for path in _files(vault)}
    assert names == {
        f"{sealed.ciphertext}.pool",
        f"{sealed.wrapped_key}.key",
        f"{sealed.fingerprints}.prints",
    }
    for path in _files(vault):
        assert path.parent == vault.folder / "alvo" / "teste"
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name.partition(".")[0]
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_no_plaintext_reaches_the_disk(
    vault: Vault, identity: Identity, entropy: Entropy, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[bytes] = []
    write = durable.Staged.write

    def recorded(self: durable.Staged, data: bytes) -> None:
        written.append(data)
        write(self, data)

    monkeypatch.setattr(durable.Staged, "write", recorded)
    sealed = _seal(vault, identity, entropy)
    vaults.open_pool(vault, CONTEXT, sealed, [identity])
    assert written
    assert not any(b"MARKER" in data for data in written)
    assert not any(b"MARKER" in path.read_bytes() for path in _files(vault))


def test_each_pool_has_a_key_and_a_salt_of_its_own(
    vault: Vault, identity: Identity, entropy: Entropy
) -> None:
    one, two = _seal(vault, identity, entropy), _seal(vault, identity, entropy)
    assert one.ciphertext != two.ciphertext
    assert {r.hmac for r in one.records}.isdisjoint(r.hmac for r in two.records)


def test_sealing_holds_little_of_a_file_at_a_time(
    vault: Vault, identity: Identity, entropy: Entropy, tmp_path: Path
) -> None:
    path = tmp_path / "images.csv"
    path.write_bytes(bytes(24_000_000))
    records = [("images", OnDisk.at(path))]
    tracemalloc.start()
    try:
        vaults.seal_pool(
            vault, CONTEXT, records, prints=PRINTS, recipients=[identity.recipient], identities=[identity],
            entropy=entropy,
        )  # fmt: skip
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


# --- what was changed is refused


def test_a_byte_changed_in_any_blob_is_refused(vault: Vault, identity: Identity, entropy: Entropy) -> None:
    sealed = _seal(vault, identity, entropy)
    for path in _files(vault):
        content = path.read_bytes()
        for place in range(0, len(content), max(1, len(content) // 60)):
            path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            with pytest.raises(PoolBlobChanged):
                vaults.check_pool(vault, CONTEXT, sealed, [identity])
            if path.suffix != ".prints":
                with pytest.raises(PoolBlobChanged):
                    vaults.open_pool(vault, CONTEXT, sealed, [identity])
        for cut in (content[:-1], b"", content + b"\0"):
            path.write_bytes(cut)
            with pytest.raises(PoolBlobChanged):
                vaults.check_pool(vault, CONTEXT, sealed, [identity])
        path.write_bytes(content)
    vaults.check_pool(vault, CONTEXT, sealed, [identity])


def test_a_blob_that_is_gone_is_refused_by_name(vault: Vault, identity: Identity, entropy: Entropy) -> None:
    sealed = _seal(vault, identity, entropy)
    for path in _files(vault):
        content = path.read_bytes()
        path.unlink()
        with pytest.raises(PoolBlobMissing, match=path.name):
            vaults.check_pool(vault, CONTEXT, sealed, [identity])
        path.write_bytes(content)


def test_a_changed_ciphertext_is_refused_under_its_new_digest_too(
    vault: Vault, identity: Identity, entropy: Entropy
) -> None:
    """What guards here is the cipher: the digest was changed with the file."""
    sealed = _seal(vault, identity, entropy)
    content = vault.read("alvo", "teste", "pool", sealed.ciphertext)
    for place in range(0, len(content), 5):
        changed = content[:place] + bytes([content[place] ^ 0x80]) + content[place + 1 :]
        digest = vault.put("alvo", "teste", "pool", [changed])
        with pytest.raises(PoolBlobChanged):
            vaults.open_pool(vault, CONTEXT, replace(sealed, ciphertext=digest), [identity])


def test_another_pool_in_its_place_is_refused(vault: Vault, identity: Identity, entropy: Entropy) -> None:
    sealed, other = _seal(vault, identity, entropy), _seal(vault, identity, entropy)
    with pytest.raises(PoolBlobChanged):
        vaults.open_pool(vault, CONTEXT, replace(sealed, ciphertext=other.ciphertext), [identity])
    with pytest.raises(PoolBlobChanged, match="commits to"):
        vaults.open_pool(vault, CONTEXT, replace(sealed, records=other.records), [identity])
    with pytest.raises(PoolBlobChanged, match="commits to"):
        vaults.open_pool(vault, CONTEXT, replace(sealed, records=sealed.records[::-1]), [identity])
    with pytest.raises(PoolBlobChanged):
        vaults.open_pool(vault, CONTEXT, replace(sealed, records=sealed.records[:2]), [identity])
    with pytest.raises(PoolBlobChanged):
        vaults.open_pool(vault, replace(CONTEXT, protocol="c" * 64), sealed, [identity])


# --- writing that fails


@pytest.mark.parametrize("failing", range(9))
def test_a_disk_that_fills_up_leaves_no_part_and_no_seal(
    vault: Vault, identity: Identity, entropy: Entropy, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    """Each seal flushes three folders when it makes them, then three files and their folder."""
    flush = os.fsync
    calls = 0

    def full(handle: int) -> None:
        nonlocal calls
        calls += 1
        if calls > failing:
            raise OSError(errno.ENOSPC, "No space left on device")
        flush(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull, match="was not written"):
        _seal(vault, identity, entropy)
    assert not [path for path in _files(vault) if path.name.startswith(durable.TEMPORARY)]


def test_a_seal_that_does_not_fit_is_not_begun(
    vault: Vault, identity: Identity, entropy: Entropy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: type("Usage", (), {"free": 100})())
    with pytest.raises(NotEnoughSpace):
        _seal(vault, identity, entropy)
    assert not vault.folder.exists()


def test_a_bad_recipient_is_refused_before_anything_is_written(vault: Vault, entropy: Entropy) -> None:
    with pytest.raises(RecipientInvalid):
        vaults.seal_pool(vault, CONTEXT, _held(), prints=b"", recipients=["age1no"], entropy=entropy)
    assert not vault.folder.exists()


def test_a_disk_that_writes_something_else_is_found_at_once(
    vault: Vault, identity: Identity, entropy: Entropy, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = Vault.put

    def damaged(self: Vault, study: str, pool: str, kind: BlobKind, content: object) -> str:
        digest = put(self, study, pool, kind, content)  # type: ignore[arg-type]  # passed on as it came
        path = self.path(study, pool, kind, digest)
        path.write_bytes(path.read_bytes()[:-1] + b"?")
        return digest

    monkeypatch.setattr(Vault, "put", damaged)
    with pytest.raises(SealNotProven, match="alvo/teste"):
        _seal(vault, identity, entropy)


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a\0b", "-x", ".hidden", "a\n"])
def test_names_never_lead_out_of_the_vault(vault: Vault, name: str) -> None:
    with pytest.raises(PoolNameUnsafe):
        vault.path(name, "teste", "pool", "0" * 64)
    with pytest.raises(PoolNameUnsafe):
        vault.put("alvo", name, "pool", [b""])


def test_who_can_open(identity: Identity) -> None:
    assert vaults.can_open([identity.recipient], [Identity.generate(), identity])
    assert not vaults.can_open([identity.recipient], [Identity.generate()])


# --- submissions


def _submit(vault: Vault, identity: Identity, entropy: Entropy) -> SealedSubmission:
    return vaults.seal_submission(
        vault, SUBMISSION, _held(), recipients=[identity.recipient], entropy=entropy
    )


def test_a_submission_is_kept_beside_its_pool(vault: Vault, identity: Identity, entropy: Entropy) -> None:
    pool, submission = _seal(vault, identity, entropy), _submit(vault, identity, entropy)
    assert vaults.open_submission(vault, SUBMISSION, submission, [identity]) == RECORDS
    assert {r.hmac for r in pool.records}.isdisjoint(r.hmac for r in submission.records)
    kinds = {path.suffix for path in _files(vault)}
    assert kinds == {".pool", ".key", ".prints", ".submission", ".submission-key"}


def test_everything_kept_of_a_pool_goes_into_one_keyset_and_from_there_into_the_next(
    vault: Vault, identity: Identity, entropy: Entropy
) -> None:
    pool = _seal(vault, identity, entropy)
    kept = [_submit(vault, identity, entropy) for _each in range(400)]
    wrapped = {pool.ciphertext: vaults.WrappedKey("key", pool.wrapped_key)}
    wrapped |= {each.ciphertext: vaults.WrappedKey("submission-key", each.wrapped_key) for each in kept}
    heirs = [Identity.generate(), Identity.generate()]
    held = [identity]
    for heir in heirs:
        with pytest.raises(IdentityCannotOpen):
            vaults.rewrap(vault, CONTEXT, wrapped, [heir], before=["age1x"], recipients=[heir.recipient])
        digest = vaults.rewrap(vault, CONTEXT, wrapped, held, before=["age1x"], recipients=[heir.recipient])
        wrapped, held = dict.fromkeys(wrapped, vaults.WrappedKey("key", digest)), [heir]
        to = (heir.recipient,)
        assert (
            vaults.open_pool(vault, CONTEXT, replace(pool, wrapped_key=digest, recipients=to), held)
            == RECORDS
        )
        for each in kept:
            moved = replace(each, wrapped_key=digest, recipients=to, keyset=True)
            assert vaults.open_submission(vault, SUBMISSION, moved, held) == RECORDS
    stranger = replace(kept[0], ciphertext="0" * 64, wrapped_key=digest, keyset=True)
    with pytest.raises(PoolBlobChanged, match="handed on"):
        vaults.submission_matches(vault, SUBMISSION, stranger, _held(), held)


def test_a_submission_is_known_again(vault: Vault, identity: Identity, entropy: Entropy) -> None:
    kept = _submit(vault, identity, entropy)

    def matches(*records: tuple[str, bytes]) -> bool:
        return vaults.submission_matches(vault, SUBMISSION, kept, _held(records), [identity])

    images, faces, more = RECORDS
    assert matches(images, faces, more)
    assert matches(faces, images, more), "the tables may be named in another order"
    assert not matches(more, faces, images), "another order of one table's files is another table"
    assert not matches(images, faces)
    assert not matches(images, faces, more, more)
    assert not matches(images, faces, ("images", b"y"))
    assert not matches(images, faces, ("faces", b"x"))
    with pytest.raises(IdentityCannotOpen):
        vaults.submission_matches(vault, SUBMISSION, kept, _held(), [Identity.generate()])


def test_a_submission_opens_as_its_own_system_alone(
    vault: Vault, identity: Identity, entropy: Entropy
) -> None:
    kept = _submit(vault, identity, entropy)
    with pytest.raises(PoolBlobChanged, match="A submission file"):
        vaults.open_submission(vault, replace(SUBMISSION, system="novo"), kept, [identity])
