"""What the protocol's tests share: a small sound protocol to spoil, and the problems a text has."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lacre.errors import ProtocolInvalid
from lacre.protocol.document import parse

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "protocol"


@pytest.fixture
def vector() -> Callable[[str], str]:
    """Return the text of a file of the vectors."""
    return lambda name: (VECTORS / name).read_text(encoding="utf-8")


@pytest.fixture
def loans(vector: Callable[[str], str]) -> str:
    """Return a small gate, with every default left to the format."""
    return vector("loans.yaml")


@pytest.fixture
def whole(vector: Callable[[str], str]) -> str:
    """Return a protocol that has every key of the grammar."""
    return vector("every-part.yaml")


@pytest.fixture
def problems() -> Callable[[str], list[str]]:
    """Return the problems of a text, each without its line and column."""

    def find(text: str) -> list[str]:
        with pytest.raises(ProtocolInvalid) as caught:
            parse(text.encode("utf-8"))
        lines = str(caught.value.fields["problems"]).split("\n")
        assert caught.value.fields["count"] == len(lines)
        return [re.sub(r"^\d+:\d+ ", "", line) for line in lines]

    return find


@pytest.fixture
def spoil() -> Callable[[str, str, str], str]:
    """Return a text with one thing replaced; a test that replaces nothing would test nothing."""

    def replace(text: str, old: str, new: str) -> str:
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
        return text.replace(old, new)

    return replace
