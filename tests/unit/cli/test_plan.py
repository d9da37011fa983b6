"""init, new, check and register, as they are typed."""

import os
import time
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


SPEC = """
fairness:
  name: Triagem de crédito
  cases: casos.csv
  label: inadimplente
  prediction: decisão
  attributes: {sexo: [F, M]}
  rules: [{id: gap, rate: fnr, attribute: sexo, max_group_gap: 0.1}]
"""


def test_a_protocol_is_made_from_another_tools_file(lacre: Lacre, tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(SPEC, encoding="utf-8")
    made = lacre("new", "fairness", "--from", "spec.yaml")
    assert made.status == 0
    assert parse(made.out.encode()).title == "Triagem de crédito"
    assumed = [
        line.removeprefix("Assumed: ") for line in made.err.splitlines() if line.startswith("Assumed: ")
    ]
    document = lacre("new", "fairness", "--from", "spec.yaml", "--json").document
    assert document["text"] == made.out
    assert (document["name"], document["assumed"]) == ("fairness", assumed)
    assert [f"Not carried over: {each}" for each in document["not_carried"]] == made.err.splitlines()[
        len(assumed) :
    ]
    assert len(document["not_carried"]) == 1
    (tmp_path / "p.yaml").write_text(made.out, encoding="utf-8")
    assert lacre("check", "p.yaml").status == 0
    assert lacre("init").status == lacre("register", "p.yaml").status == 0


def test_an_import_that_cannot_be_made(lacre: Lacre, tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(SPEC.replace("rate: fnr", "rate: recall"), encoding="utf-8")
    refused = lacre("new", "fairness", "--from", "spec.yaml")
    assert (refused.status, refused.out) == (2, "")
    assert "8:27 fairness.rules.gap.rate: `recall`" in refused.err
    codes = {
        "import-invalid": ("new", "fairness", "--from", "spec.yaml"),
        "file-missing": ("new", "fairness", "--from", "absent.yaml"),
        "not-readable": ("new", "fairness", "--from", "."),
        "usage": ("new", "fairness-systems", "--from", "spec.yaml"),
    }
    for code, words in codes.items():
        answer = lacre(*words, "--json")
        assert (answer.status, answer.document["error"]["code"]) == (2, code)
    assert lacre("new", "--from", "spec.yaml").status == 2


def test_a_file_whose_name_is_no_text(lacre: Lacre, tmp_path: Path) -> None:
    name = os.fsdecode(b"sp\xe9c\x1b[0m.yaml")
    (tmp_path / name).write_text(SPEC, encoding="utf-8")
    made = lacre("new", "fairness", "--from", name)
    assert made.status == 0
    assert "\x1b" not in made.out + made.err
    assert parse(made.out.encode()).study == "triagem-de-credito"


ASSUMED = PROTOCOL.replace("    criteria:", "    assume: {label: 0.5, false_negative: 0.1}\n    criteria:")
HOPELESS = PROTOCOL.replace("  teste: {tables: [cases]}", "  teste: {tables: [cases], planned: {cases: 171}}")
"""86 cases of each of two groups are what it takes to pass."""


def test_a_check_simulates_what_is_assumed(lacre: Lacre, plan: Path) -> None:
    """Two groups at a rate of 10 % and a gap of .05: about 1,460 cases each for 80 %, so four times as many rows."""
    plan.write_text(ASSUMED, encoding="utf-8")
    (need,) = lacre("check", plan, "--json").document["needs"]
    assert (need["can_pass"], need["can_fail"], need["planned"], need["p_pass"]) == (True, True, None, None)
    assert need["for_80"]["smallest_group"] == pytest.approx(1460, rel=0.02)
    assert need["for_80"]["rows"] == pytest.approx(4 * 1460, rel=0.02)
    plan.write_text(
        ASSUMED.replace("teste: {tables: [cases]}", "teste: {tables: [cases], planned: {cases: 3080}}")
    )
    (need,) = lacre("check", plan, "--json").document["needs"]
    assert need["p_pass"] == pytest.approx(0.04, abs=0.01)
    assert need["p_pass_error"] == pytest.approx((0.04 * 0.96 / 10_000) ** 0.5, rel=0.1)
    assert (need["p_fail"], need["p_fail_error"], need["simulations"]) == (0, 0, 10_000)
    assert "for 80 %" in lacre("check", plan).out
    plan.write_text(PROTOCOL, encoding="utf-8")
    assert lacre("check", plan, "--json").document["needs"][0]["for_80"] is None


def test_what_can_only_come_out_one_way_is_refused(lacre: Lacre, plan: Path) -> None:
    plan.write_text(HOPELESS, encoding="utf-8")
    lacre("init")
    checked = lacre("check", plan)
    assert checked.status == 0
    assert "--accept-infeasible" in checked.out
    (need,) = lacre("check", plan, "--json").document["needs"]
    assert (need["can_pass"], need["can_fail"], need["too_few_planned"]) == (False, True, True)
    for reason in ([], ["--accept-infeasible", ""], ["--accept-infeasible", " "]):
        refused = lacre("register", plan, *reason, "--json")
        error = refused.document["error"]
        assert (refused.status, error["code"]) == (2, "criterion-infeasible")
        assert f"parity.misses cannot pass as planned. It needs {need['to_pass']} cases" in error["message"]
        assert "--accept-infeasible" in error["way_out"]
    assert lacre("status", "--json").document["entries"] == 1
    assert not list(plan.parent.glob("*.receipt"))


def test_what_can_only_come_out_one_way_is_kept_for_a_reason_on_record(lacre: Lacre, plan: Path) -> None:
    plan.write_text(HOPELESS, encoding="utf-8")
    lacre("init")
    document = lacre("register", plan, "--accept-infeasible", "a pilot", "--json").document
    expected = [{"analysis": "parity", "criterion": "misses", "passes": False, "fails": True}]
    assert document["infeasible"] == expected
    shown = lacre("show", "@1")
    assert "a pilot" in shown.out
    assert "PASS or FAIL is out of reach for 1 criterion" in " ".join(shown.out.split())
    entry = lacre("show", "@1", "--json").document
    assert entry["statement"]["predicate"]["facts"]["infeasible"] == expected
    assert "a pilot" in entry["documents"].values()
    # In the log there is the salted digest alone, and a stranger who replays the law comes to the same.
    assert "a pilot" not in str(entry["statement"])
    assert lacre("audit").status == 0


def test_a_reason_for_nothing_is_not_kept(lacre: Lacre, plan: Path) -> None:
    lacre("init")
    answer = lacre("register", plan, "--accept-infeasible", "a pilot")
    assert answer.status == 0
    assert "not on record" in answer.out
    assert "a pilot" not in lacre("show", "@1").out


@pytest.mark.parametrize("name", ["fairness", "fairness-systems", "judge"])
def test_the_templates_are_feasible_and_checked_in_a_moment(lacre: Lacre, tmp_path: Path, name: str) -> None:
    (tmp_path / "p.yaml").write_text(lacre("new", name).out, encoding="utf-8")
    before = time.process_time()
    needs = lacre("check", "p.yaml", "--json").document["needs"]
    assert time.process_time() - before < 10
    assert all(need["can_pass"] and need["can_fail"] for need in needs)


def test_a_check_that_found_a_hopeless_criterion_does_not_say_to_register(lacre: Lacre, plan: Path) -> None:
    assert "Next: `lacre register" in lacre("check", plan).out
    plan.write_text(HOPELESS, encoding="utf-8")
    last = " ".join(lacre("check", plan).out.split()).rpartition("Nothing was recorded. Next: ")[2]
    assert last.startswith("plan more cases, or change the criterion")
    assert "--accept-infeasible" in last


def test_predictions_are_checked_as_a_submission(lacre: Lacre, plan: Path, tmp_path: Path) -> None:
    plan.write_text(PROTOCOL, encoding="utf-8")
    (tmp_path / "pool.csv").write_text("id,sex,label\na,male,1\nb,female,0\n")
    (tmp_path / "predictions.csv").write_text("id,prediction\na,1\nb,maybe\nc,1\n")
    both = lacre("check", plan, "pool.csv", "predictions.csv")
    assert "cases: 2 rows read" in both.out
    words = " ".join(both.out.split())
    assert "cases: 3 rows read, as a submission" in words
    assert "cases.prediction holds a value in 1 row that the protocol does not declare" in words
    document = lacre("check", plan, "predictions.csv", "--json").document
    assert (document["rows"], document["submitted"]) == ({}, {"cases": 3})
    assert document["outside"] == {"cases.prediction": 1}


@pytest.mark.parametrize("content", ["id,sex,prediction\na,male,1\n", "id\na\n", "id,label\na,1\n"])
def test_a_file_that_is_neither_is_refused_as_a_pools(lacre: Lacre, plan: Path, content: str) -> None:
    """With some of the pool's columns, or without those of a submission, what is missing is told."""
    plan.write_text(PROTOCOL, encoding="utf-8")
    (plan.parent / "odd.csv").write_text(content)
    assert lacre("check", plan, "odd.csv", "--json").document["error"]["code"] == "table-column-absent"


@pytest.mark.parametrize(
    ("given", "name"),
    [(["--name", "Ana"], "Ana"), (["--name", ""], None), (["--name", " "], None), ([], "login")],
)
def test_whose_name_is_on_record_is_told(
    lacre: Lacre, monkeypatch: pytest.MonkeyPatch, given: list[str], name: str | None
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "login")
    made = lacre("init", *given)
    assert ("lacre erase @0 --which name" in made.out) == (name is not None)
    assert (f"the name {name}" in made.out) == (name is not None)
    (person, *_others) = lacre("key", "list", "--json").document["keys"]
    assert person["name"] == name


def test_an_import_is_its_text() -> None:
    from lacre import api

    made = api.import_fairness(SPEC.encode())
    assert str(made) == made.text
    assert made.as_json()["assumed"] == list(made.assumed)
