"""export, verify, and audit of a register, as they are typed."""

from pathlib import Path

import pytest

from .conftest import Lacre


@pytest.fixture
def revealed(study: Lacre) -> Lacre:
    assert study("reveal", "screen", "--submission", "bad.csv").status == 1
    return study


def test_a_bundle_goes_out_and_is_verified_elsewhere(
    revealed: Lacre, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported = revealed("export", "screen@4", "-o", "r.zip", "--json")
    assert exported.status == 0
    assert (exported.document["result"], exported.document["entries"]) == ("screen@4", 5)
    key = exported.document["verifier_key"]
    assert revealed("export", "--registry", "registry").status == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    (tmp_path / ".lacre").rename(tmp_path / "gone")
    verified = revealed("verify", "../r.zip", "--key", key, "--memory", "../registry", "--json")
    assert verified.status == 0  # a sound bundle of a FAIL
    document = verified.document
    assert (document["ok"], document["result"], document["state"]) == (True, "screen@4", "FAIL")
    text = revealed("verify", "../r.zip").out
    assert text.startswith("Bundle of screen@4: sound\n")
    assert "Not shown" in text
    assert revealed("audit", "--registry", "../registry", "--key", key).status == 0
    told = revealed("audit", "--registry", "../registry", "screen@4")
    assert "The story of screen@4" in told.out
    assert "authenticity-not-shown" in told.out


def test_a_finding_ends_with_1_and_no_file_with_2(revealed: Lacre, tmp_path: Path) -> None:
    revealed("export", "screen@4", "-o", "r.zip", "--only-study")
    revealed("export", "--registry", "registry")
    data = bytearray((tmp_path / "r.zip").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "r.zip").write_bytes(data)
    found = revealed("verify", "r.zip", "--json")
    assert found.status == 1
    assert (found.document["ok"], found.document["shown"]) == (False, [])
    (tmp_path / "registry" / "checkpoint").unlink()
    assert revealed("audit", "--registry", "registry").status == 1
    for call in (["verify", "none.zip"], ["verify", "r.zip", "--key", "x"], ["audit", "--registry", "none"]):
        assert revealed(*call).status == 2


@pytest.mark.parametrize(
    "call",
    [
        ["export"],
        ["export", "screen@4"],
        ["export", "-o", "r.zip"],
        ["export", "screen@4", "-o", "r.zip", "--registry", "registry"],
        ["export", "screen", "-o", "r.zip"],
        ["export", "@3", "-o", "r.zip"],
        ["export", "screen@9", "-o", "r.zip"],
    ],
    ids=" ".join,
)
def test_what_is_not_exported(revealed: Lacre, tmp_path: Path, call: list[str]) -> None:
    answer = revealed(*call)
    assert answer.status == 2, answer.out
    assert not (tmp_path / "r.zip").exists()
    assert not (tmp_path / "registry").exists()


def test_a_bundle_is_not_written_over_another(revealed: Lacre, tmp_path: Path) -> None:
    (tmp_path / "r.zip").write_bytes(b"mine")
    answer = revealed("export", "screen@4", "-o", "r.zip", "--json")
    assert (answer.status, answer.document["error"]["code"]) == (2, "file-exists")
    assert (tmp_path / "r.zip").read_bytes() == b"mine"
    assert revealed("export", "screen@4", "-o", "r.zip", "--overwrite").status == 0
    assert revealed("verify", "r.zip").status == 0
