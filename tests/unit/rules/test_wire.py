"""Records have one form: what is only equal to it is refused."""

from typing import Any

import pytest

from lacre.errors import RecordInvalid
from lacre.rules.answers import EraseDecision
from lacre.rules.requests import Seen

ROOT = "0" * 64


@pytest.mark.parametrize("size", [True, 1.0])
def test_a_value_that_python_calls_equal_is_another(size: Any) -> None:
    """To Python True == 1 == 1.0; to a reader in another language they are three values."""
    assert Seen.from_json({"size": 1, "root": ROOT}).size == 1
    with pytest.raises(RecordInvalid):
        Seen.from_json({"size": size, "root": ROOT})


def test_one_is_not_true() -> None:
    said = EraseDecision().as_json()
    assert EraseDecision.from_json(said) == EraseDecision()
    with pytest.raises(RecordInvalid):
        EraseDecision.from_json({name: 1 if value is True else value for name, value in said.items()})
