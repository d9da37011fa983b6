"""`lacre key …`, `--key`, and `erase`, as they are typed."""

from pathlib import Path

import pytest

from .conftest import Lacre
from .test_terminal import typed


@pytest.fixture
def ledger(lacre: Lacre) -> Lacre:
    """A ledger in the folder."""
    assert lacre("init", "--name", "Ana").status == 0
    return lacre


def test_a_registrants_way_in_and_out(study: Lacre, tmp_path: Path) -> None:
    made = study("key", "new", "rui.pem", "--json").document
    assert made["passphrase"] is False
    enrolled = study(
        "key",
        "enrol",
        made["public"],
        "--role",
        "registrant",
        "--role",
        "custodian",
        "--name",
        "Rui",
        "--json",
    ).document
    assert (enrolled["action"], enrolled["keyid"]) == ("enrol", made["keyid"])
    assert enrolled["roles"] == ["custodian", "registrant"]
    sealed = study("seal", "screen", "dev", "dev.csv", "--key", "rui.pem")
    assert sealed.status == 0, sealed.err
    assert "Rui" in study("log").out
    revoked = study("key", "revoke", made["keyid"][:8], "--reason", "left")
    assert revoked.status == 0
    assert f"What it signed before entry {enrolled['entry'] + 2} stays valid." in revoked.out
    refused = study("reveal", "screen", "--submission", "good.csv", "--key", "rui.pem", "--json")
    assert (refused.status, refused.document["error"]["code"]) == (2, "key-revoked")
    assert study("reveal", "screen", "--submission", "good.csv").status == 0
    assert study("audit").status == 0


def test_the_key_may_be_named_by_the_environment(
    study: Lacre, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    study("key", "new", "stranger.pem")
    monkeypatch.setenv("LACRE_KEY", str(tmp_path / "stranger.pem"))
    refused = study("seal", "screen", "dev", "dev.csv", "--json")
    assert refused.document["error"]["code"] == "key-not-enrolled"
    assert study("status").status == 0


def test_the_group_lists_its_verbs_and_refuses_others(ledger: Lacre) -> None:
    shown = ledger("key", "--help")
    assert shown.status == 0
    for name in ("list", "new", "enrol", "rotate", "revoke", "backup", "recover"):
        assert f"  {name} " in shown.out
    for arguments, said in (
        (["key"], "lacre key --help"),
        (["key", "enroll", "x"], "Did you mean 'enrol'?"),
        (["key", "enrol"], "lacre key enrol --help"),
        (["key", "rotate", "owner"], "lacre key rotate --help"),
        (["key", "enrol", "0" * 64, "--role", "broker"], "lacre key enrol --help"),
    ):
        answer = ledger(*arguments)
        assert (answer.status, answer.out) == (2, "")
        assert said in answer.err


def test_rotation_says_what_is_left_to_do(ledger: Lacre) -> None:
    old = ledger("status", "--json").document["verifier_key"]
    rotated = ledger("key", "rotate", "log")
    shown = ledger("status", "--json").document
    assert shown["verifier_keys"][0] == old
    assert shown["verifier_key"] == shown["verifier_keys"][1]
    for verifier in shown["verifier_keys"]:
        assert verifier in rotated.out
        assert verifier in ledger("status").out
        assert verifier in ledger("key", "list").out
    keyid = next(key["keyid"] for key in shown["keys"] if key["roles"] == ["log"])
    assert f"lacre key revoke {keyid[:12]}" in " ".join(rotated.out.split())
    assert ledger("key", "revoke", keyid[:12]).status == 0
    assert ledger("status", "--json").document["verifier_keys"] == [shown["verifier_key"]]


def test_a_backup_needs_a_passphrase_or_to_be_meant_open(
    ledger: Lacre, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").write_text("\n")
    for more in ([], ["--backup-passphrase-file", "empty"]):
        refused = ledger("key", "backup", "keys.tar", *more, "--json")
        assert (refused.status, refused.document["error"]["code"]) == (2, "key-backup-open")
        assert "--open" in refused.document["error"]["way_out"]
    monkeypatch.setenv("LACRE_BACKUP_PASSPHRASE", "")
    assert ledger("key", "backup", "keys.tar").status == 2
    assert not (tmp_path / "keys.tar").exists()
    assert ledger("key", "backup", "keys.tar", "--open").status == 0
    (tmp_path / ".lacre" / "keys" / "broker.pem").unlink()
    recovered = ledger("key", "recover", "keys.tar", "--json").document
    assert recovered["restored"] == ["broker.pem"]
    assert len(recovered["same"]) == 4


def test_a_closed_backup_is_opened_by_its_own_passphrase(
    ledger: Lacre, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "phrase").write_text("two words\n")
    assert ledger("key", "backup", "keys.age", "--backup-passphrase-file", "phrase").status == 0
    (tmp_path / ".lacre" / "keys" / "broker.pem").unlink()
    refused = ledger("key", "recover", "keys.age", "--json").document["error"]
    assert refused["code"] == "key-backup-closed"
    monkeypatch.setenv("LACRE_BACKUP_PASSPHRASE", "two words")
    assert ledger("key", "recover", "keys.age").status == 0
    assert ledger("key", "rotate", "broker").status == 0


def test_the_passphrase_of_a_backup_is_asked_for_twice_and_once(ledger: Lacre, tmp_path: Path) -> None:
    status, screen = typed(["key", "backup", "keys.age"], ["one", "two"])
    assert status == 2, screen
    assert not (tmp_path / "keys.age").exists()
    status, screen = typed(["key", "backup", "keys.age"], ["pass", "pass"])
    assert status == 0, screen
    assert "pass\n" not in screen
    (tmp_path / ".lacre" / "keys" / "log.pem").unlink()
    status, screen = typed(["key", "recover", "keys.age"], ["pass"])
    assert status == 0, screen
    assert (tmp_path / ".lacre" / "keys" / "log.pem").exists()


def test_an_erasure_asks_first_and_without_a_terminal_wants_yes(ledger: Lacre) -> None:
    refused = ledger("erase", "@0", "--json").document["error"]
    assert refused["code"] == "not-confirmed"
    assert "--yes" in refused["way_out"]
    status, screen = typed(["erase", "@0"], ["n"])
    assert status == 2, screen
    assert "Erase the name of entry 0 for good?" in screen
    assert ledger("status", "--json").document["entries"] == 1
    erased = ledger("erase", "@0", "--yes")
    assert erased.status == 0
    assert "Copies elsewhere are not reached" in " ".join(erased.out.split())
    assert "erased by entry 1" in ledger("show", "@0").out
    assert "Erased, which is no finding" in ledger("audit").out
    assert ledger("audit", "--json").document["erased"][0]["named"] == 0
    assert ledger("erase", "@0", "--yes", "--json").document["error"]["code"] == "nothing-to-erase"


def test_an_identity_prints_its_recipient(lacre: Lacre, tmp_path: Path) -> None:
    made = lacre("key", "new", "--identity", "custodian.age", "--json").document
    assert made["recipient"].startswith("age1")
    assert made["recipient"] in (tmp_path / "custodian.age").read_text()
    assert lacre("key", "new", "--identity", "custodian.age").status == 2
