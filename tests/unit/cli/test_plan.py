"""init, new, check and register, as they are typed."""

import os
from pathlib import Path

import pytest

from lacre import durable
from lacre.ledger.proof import Receipt
from lacre.protocol.document import parse

from .conftest import PROTOCOL, Lacre


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "protocol.yaml"
    path.write_text(PROTOCOL, encoding="utf-8")
    return path


def test_a_ledger_is_made_here_or_where_it_is_said(
    lacre: Lacre, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lacre("init").status == 0
    assert (tmp_path / ".lacre" / "ledger.db").is_file()
    named = lacre("init", "--ledger", "there", "--origin", "lab.example/x", "--name", "Ana", "--json")
    assert named.document["ledger"] == str(tmp_path / "there" / ".lacre")
    assert named.document["origin"] == "lab.example/x"
    assert lacre("init", "--ledger", "other/.lacre").status == 0
    assert (tmp_path / "other" / ".lacre" / "ledger.db").is_file()
    monkeypatch.setenv("LACRE_LEDGER", "third")
    assert lacre("init").status == 0
    assert lacre("status", "--json").document["ledger"] == str(tmp_path / "third" / ".lacre")
    assert lacre("status", "--ledger", "there", "--json").document["origin"] == "lab.example/x"
    again = lacre("init", "--json")
    assert (again.status, again.document["error"]["code"]) == (2, "ledger-exists")


def test_without_a_ledger_the_way_out_is_named(lacre: Lacre) -> None:
    answer = lacre("status")
    assert answer.status == 2
    assert "lacre init" in answer.err


def test_templates_are_listed_and_printed(lacre: Lacre) -> None:
    listed = lacre("new")
    assert "fairness" in listed.out.splitlines()
    assert lacre("new", "--json").document == {"templates": listed.out.split()}
    for name in listed.out.split():
        text = lacre("new", name).out
        assert parse(text.encode()).study
        assert lacre("new", name, "--json").document == {"name": name, "text": text}
    unknown = lacre("new", "fairnes", "--json")
    assert unknown.status == 2
    assert "fairness" in unknown.document["error"]["message"] + unknown.document["error"]["way_out"]


def test_a_template_goes_through_a_file_to_the_ledger(lacre: Lacre, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(lacre("new", "fairness").out, encoding="utf-8")
    assert lacre("check", "p.yaml").status == 0
    assert lacre("init").status == lacre("register", "p.yaml").status == 0


def test_a_check_needs_no_ledger(lacre: Lacre, plan: Path) -> None:
    answer = lacre("check", plan)
    assert answer.status == 0
    assert "misses" in answer.out
    document = lacre("check", plan, "--json").document
    assert document["protocol"].removeprefix("sha256:") in answer.out
    # No error in K = 2 groups of n: 1 - (0.05 / 4)^(1/n) is 0.05 at n = 85.4.
    assert document["needs"][0]["to_pass"] == 86


def test_a_check_lists_every_problem(lacre: Lacre, plan: Path) -> None:
    plan.write_text(
        PROTOCOL.replace("pool: teste", "pool: tste").replace("lacre: 1", "lacre: 3"), encoding="utf-8"
    )
    answer = lacre("check", plan)
    assert answer.status == 2
    assert answer.out == ""
    assert "2:8" in answer.err
    assert "`teste`" in answer.err
    assert lacre("check", "absent.yaml").status == 2


def test_a_registration_leaves_its_receipt(lacre: Lacre, plan: Path, tmp_path: Path) -> None:
    lacre("init")
    answer = lacre("register", plan)
    assert answer.status == 0
    assert "screen@1.receipt" in answer.out
    receipt = Receipt.parse((tmp_path / "screen@1.receipt").read_bytes())
    assert receipt.index == 1
    assert lacre("audit", "--memory", "screen@1.receipt").status == 0
    again = lacre("register", plan, "--receipt", "other", "--json")
    assert again.document["error"]["code"] == "study-already-registered"
    assert not (tmp_path / "other").exists()


def test_a_receipt_goes_where_it_is_said(lacre: Lacre, plan: Path, tmp_path: Path) -> None:
    lacre("init")
    (tmp_path / "safe").mkdir()
    document = lacre("register", plan, "--receipt", "safe/r", "--json").document
    assert document["receipt_file"] == os.path.join("safe", "r")  # noqa: PTH118 - as it was typed
    assert (tmp_path / "safe" / "r").read_text() == document["receipt"]


@pytest.mark.parametrize("options", [[], ["--receipt", "kept"]])
def test_a_receipt_is_never_written_over(
    lacre: Lacre, plan: Path, tmp_path: Path, options: list[str]
) -> None:
    lacre("init")
    for name in ("screen@7.receipt", "kept"):
        (tmp_path / name).write_text("mine")
    refused = lacre("register", plan, *options, "--json")
    assert (refused.status, refused.document["error"]["code"]) == (2, "receipt-exists")
    assert lacre("status", "--json").document["entries"] == 1
    assert (tmp_path / "kept").read_text() == "mine"


def test_where_no_receipt_can_be_kept_nothing_is_registered(lacre: Lacre, plan: Path) -> None:
    lacre("init")
    refused = lacre("register", plan, "--receipt", "absent/r", "--json")
    assert (refused.status, refused.document["error"]["code"]) == (2, "not-written")
    assert lacre("status", "--json").document["entries"] == 1


def test_a_receipt_whose_name_was_taken_meanwhile_is_kept_beside(
    lacre: Lacre, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacre("init")
    keep = durable.Staged.keep

    def late(self: durable.Staged, name: str, *, replace: bool = True) -> bool:
        if name == "screen@1.receipt":
            (tmp_path / name).write_text("another's")
        return keep(self, name, replace=replace)

    monkeypatch.setattr(durable.Staged, "keep", late)
    document = lacre("register", plan, "--json").document
    assert document["receipt_file"] == "screen@1.receipt.2"
    assert (tmp_path / "screen@1.receipt").read_text() == "another's"
    assert (tmp_path / "screen@1.receipt.2").read_text() == document["receipt"]
