"""seal, inputs, reveal and run, as they are typed: the status is the verdict, a refusal spends nothing."""

from pathlib import Path

import pytest

from lacre.cli.exits import VERDICTS

from .conftest import PROTOCOL, Lacre, cases


def entries(lacre: Lacre) -> int:
    return int(lacre("status", "--json").document["entries"])


def test_a_first_reveal_that_passes_ends_with_0(study: Lacre) -> None:
    answer = study("reveal", "screen", "--submission", "good.csv")
    assert answer.status == 0
    assert answer.out.startswith("screen@4  PASS\nConfirmatory")


def test_a_first_reveal_that_fails_ends_with_1(study: Lacre) -> None:
    answer = study("reveal", "screen", "--submission", "bad.csv", "--json")
    assert answer.status == 1
    document = answer.document
    assert (document["state"], document["confirmatory"], document["now"]) == ("FAIL", True, "teste")
    (criterion,) = document["analyses"][0]["criteria"]
    assert criterion["value"] == 0.5


def test_a_review_ends_with_4(lacre: Lacre, tmp_path: Path) -> None:
    plan = PROTOCOL.replace("    attributes:", "    requires_manual_review: true\n    attributes:")
    (tmp_path / "protocol.yaml").write_text(plan, encoding="utf-8")
    held, good = cases("teste")
    (tmp_path / "teste.csv").write_text(held, encoding="utf-8")
    (tmp_path / "good.csv").write_text(good, encoding="utf-8")
    for call in (["init"], ["register", "protocol.yaml"], ["seal", "screen", "teste", "cases=teste.csv"]):
        assert lacre(*call).status == 0
    assert lacre("reveal", "screen", "--submission", "cases=good.csv").status == 4


def test_a_second_reveal_is_refused_and_then_exploratory(study: Lacre) -> None:
    assert study("reveal", "screen", "--submission", "good.csv").status == 0
    before = entries(study)
    refused = study("reveal", "screen", "--submission", "good.csv", "--json")
    assert (refused.status, refused.document["error"]["code"]) == (2, "teste-already-read")
    assert entries(study) == before
    again = study("reveal", "screen", "--submission", "good.csv", "--accept-dev", "--reason", "to see")
    assert again.status == 3
    assert again.out.startswith(f"screen@{before + 1}  INSUFFICIENT_EVIDENCE\nExploratory")
    assert study("show", "screen@4").status == 0
    assert "Reason given: to see" in study("show", f"@{before}").out


def test_a_dry_run_spends_nothing(study: Lacre) -> None:
    before = entries(study)
    answer = study("reveal", "screen", "--submission", "bad.csv", "--dry-run", "--json")
    assert answer.status == 0
    assert (answer.document["dry_run"], answer.document["read_class"]) == (True, "teste")
    assert "nothing was read" in study("reveal", "screen", "--submission", "bad.csv", "--dry-run").out
    assert entries(study) == before


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("id,predicton\nteste000,1\n", "table-column-absent"),
        ("id,prediction\nstranger,1\n", "foreign-cases"),
    ],
)
def test_a_submission_that_does_not_fit_leaves_the_pool_unspent(
    study: Lacre, tmp_path: Path, content: str, code: str
) -> None:
    (tmp_path / "odd.csv").write_text(content, encoding="utf-8")
    before = entries(study)
    refused = study("reveal", "screen", "--submission", "odd.csv", "--json")
    assert (refused.status, refused.document["error"]["code"]) == (2, code)
    assert entries(study) == before
    assert study("reveal", "screen", "--submission", "good.csv").status == 0


def test_a_changed_plan_is_refused_with_its_difference(study: Lacre, tmp_path: Path) -> None:
    (tmp_path / "moved.yaml").write_text(PROTOCOL.replace("0.05", "0.5"), encoding="utf-8")
    refused = study("reveal", "screen", "--submission", "bad.csv", "--protocol", "moved.yaml")
    assert refused.status == 2
    assert "analyses.parity.criteria.misses.max_group_gap: 0.05 -> 0.5" in refused.err
    same = study("reveal", "screen", "--submission", "bad.csv", "--protocol", "protocol.yaml")
    assert same.status == 1


def test_inputs_are_handed_out_without_labels(study: Lacre, tmp_path: Path) -> None:
    assert study("inputs", "screen", "teste", "-o", "in.csv").status == 0
    lines = (tmp_path / "in.csv").read_text().splitlines()
    assert lines[0] == "id,sex"
    assert len(lines) == 201
    assert study("inputs", "screen", "teste", "-o", "in.csv").status == 2
    again = study("inputs", "screen", "teste", "-o", "in.csv", "--overwrite", "--reason", "lost", "--json")
    assert (again.status, again.document["rows"]) == (0, 200)
    assert study("reveal", "screen", "--submission", "good.csv").status == 0


def test_an_analysis_is_rehearsed_on_dev(study: Lacre) -> None:
    assert study("seal", "screen", "dev", "dev.csv", "--json").document["rows"] == {"cases": 200}
    answer = study("run", "screen", "parity", "--pool", "dev", "--submission", "dev-good.csv")
    assert answer.status == 3
    assert "Exploratory" in answer.out
    refused = study("run", "screen", "parity", "--submission", "good.csv", "--json")
    assert (refused.status, refused.document["error"]["code"]) == (2, "teste-by-reveal-only")


def test_a_pool_may_be_sealed_as_dev(lacre: Lacre, tmp_path: Path) -> None:
    (tmp_path / "protocol.yaml").write_text(PROTOCOL, encoding="utf-8")
    (tmp_path / "teste.csv").write_text(cases("teste")[0], encoding="utf-8")
    for call in (["init"], ["register", "protocol.yaml"]):
        assert lacre(*call).status == 0
    answer = lacre("seal", "screen", "teste", "teste.csv", "--as-dev")
    assert answer.status == 0
    assert "counts as dev" in answer.out


def test_every_verdict_has_a_status_of_its_own() -> None:
    """As promised: 0 PASS, 1 FAIL, 3 INSUFFICIENT_EVIDENCE, 4 MANUAL_REVIEW, and no verdict without one."""
    from lacre.rules.verdicts import SEVERITY

    assert [VERDICTS[state] for state in SEVERITY] == [0, 3, 4, 1]
    assert set(VERDICTS) == set(SEVERITY)


def test_a_dry_run_says_what_undeclared_predictions_count_as(study: Lacre, tmp_path: Path) -> None:
    """The plan lets 0.10 be left out, by default: 20 of 200 may be, and 21 leave nothing to be decided."""
    ids = [f"teste{number:03}" for number in range(200)]
    for odd, warned in ((20, False), (21, True)):
        lines = [f"{name},{'yes' if place < odd else 1}" for place, name in enumerate(ids)]
        (tmp_path / "odd.csv").write_text("\n".join(["id,prediction", *lines]) + "\n", encoding="utf-8")
        answer = study("reveal", "screen", "--submission", "odd.csv", "--dry-run")
        words = " ".join(answer.out.split())
        assert "In a prediction that counts as none" in words
        assert ("parity.misses could only be INSUFFICIENT_EVIDENCE" in words) == warned
        document = study("reveal", "screen", "--submission", "odd.csv", "--dry-run", "--json").document
        assert [each["count"] for each in document["undecidable"]] == ([21] if warned else [])
    result = study("reveal", "screen", "--submission", "odd.csv", "--json")
    assert result.document["state"] == "INSUFFICIENT_EVIDENCE"


def test_absent_cases_count_with_the_undeclared(study: Lacre, tmp_path: Path) -> None:
    lines = [f"teste{number:03},1" for number in range(150)]
    (tmp_path / "half.csv").write_text("\n".join(["id,prediction", *lines]) + "\n", encoding="utf-8")
    answer = study("reveal", "screen", "--submission", "half.csv", "--dry-run")
    words = " ".join(answer.out.split())
    assert "150 rows. 50 cases of the pool have none, and count as without a prediction" in words
    assert "50 of 200 cases have no declared prediction, and at most 10 % may be left out" in words


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"id;prediction\nteste000;1\n", "table-delimiter"),
        (b"id,prediction\nteste000,\xe9\n", "table-encoding"),
        (b" id,prediction \nteste000,1\n", "table-header-padded"),
    ],
)
def test_a_submission_is_mended_and_not_the_plan(
    study: Lacre, tmp_path: Path, content: bytes, code: str
) -> None:
    """The pool is sealed as the plan declares it: to declare it otherwise now would mean to seal it again."""
    (tmp_path / "odd.csv").write_bytes(content)
    error = study("reveal", "screen", "--submission", "odd.csv", "--json").document["error"]
    assert error["code"] == code
    assert "eclare" not in error["way_out"]
    assert "`encoding" not in error["way_out"]
