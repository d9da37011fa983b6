"""The same cases by other names: a pool's contents under ids of their own, whoever sealed them first."""

from pathlib import Path
from typing import Any

import pytest

from lacre import errors

Study = Any


def renamed(path: Path) -> Path:
    """The same cases, with a letter before each id."""
    head, *lines = path.read_text().splitlines()
    made = path.with_name(f"renamed-{path.name}")
    made.write_text("\n".join([head, *(f"Z{line}" for line in lines)]) + "\n")
    return made


def test_a_threshold_is_not_tuned_on_teste_by_other_names(study: Study) -> None:
    """`code` is a text of each case's own, so that two hundred in common are no chance."""
    study.begin()
    cases = study.cases(0)
    study.ledger.seal("parity", "dev", renamed(cases))
    size = study.size
    with pytest.raises(errors.SharedCases) as refused:
        study.ledger.seal("parity", "teste", cases)
    assert "200 contents of parity/dev" in refused.value.message
    assert study.size == size
    assert study.ledger.seal("parity", "teste", cases, as_dev=True).standing == "dev"


def test_nor_when_teste_was_sealed_first(study: Study) -> None:
    study.begin()
    cases = study.cases(0)
    study.ledger.seal("parity", "teste", cases)
    for pool in ("dev", "contraste"):
        with pytest.raises(errors.SharedCases):
            study.ledger.seal("parity", pool, renamed(cases))
    assert study.ledger.audit().ok
