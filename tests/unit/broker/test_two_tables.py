"""Rule 12 within a study whose pools hold tables of other names or keys: the same cases are found all the same."""

from typing import Any

import pytest

from lacre import errors

Study = Any
TABLE = """
  rehearsal:
    key: case_id
    columns:
      case_id: {type: text}
      code: {type: text, is: input}
      label: {type: outcome, positive: "1", negative: "0"}
      prediction: {type: outcome, positive: "1", negative: "0", from: submission}
      sex: {type: category, values: [female, male], is: input}
pools:
"""


def begin_with_two(study: Study) -> None:
    """Register the study with a table of its own for `dev`."""
    text = study.protocol().read_text()
    for old, new in (
        ("\npools:\n", TABLE),
        ("dev: {tables: [cases]", "dev: {tables: [rehearsal]"),
        ("pool: dev, table: cases", "pool: dev, table: rehearsal"),
    ):
        assert old in text
        text = text.replace(old, new)
    path = study.folder / "two.yaml"
    path.write_text(text)
    study.ledger.register(path)


def test_the_same_file_under_another_tables_name_is_refused(study: Study) -> None:
    begin_with_two(study)
    study.seal("dev", 0)
    with pytest.raises(errors.SharedCases):
        study.seal("teste", 0)
    assert study.seal("teste", 500).standing == "teste"


def test_the_same_cases_in_another_order_are_refused_by_their_content(study: Study) -> None:
    """No id decides between two tables; `code` is an input, and each case has its own."""
    begin_with_two(study)
    study.seal("dev", 0)
    head, *rows = study.cases(0).read_text().splitlines()
    turned = study.folder / "turned.csv"
    turned.write_text("\n".join([head, *reversed(rows)]) + "\n")
    with pytest.raises(errors.SharedCases):
        study.ledger.seal("parity", "teste", turned)


def test_a_table_that_was_renamed_in_between_is_still_the_same_file(study: Study) -> None:
    study.begin()
    study.seal("dev", 0)
    text = (study.folder / "parity.yaml").read_text()
    for old in ("  cases:\n", "[cases]", "table: cases", "{cases: 200}"):
        text = text.replace(old, old.replace("cases", "others"))
    path = study.folder / "renamed.yaml"
    path.write_text(text)
    study.ledger.amend(path, reason="a better name")
    with pytest.raises(errors.SharedCases):
        study.seal("teste", 0)
