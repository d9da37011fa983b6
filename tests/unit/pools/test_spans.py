"""Runs of words: whatever quotes enough of a text holds one of its spans, and templates have none."""

import re

import pytest
from hypothesis import given, strategies as st

from lacre.pools import spans

TEXT = "the patient came in with a cough that had lasted for nine days and a mild fever at night since"


def runs(text: str) -> set[str]:
    """Every run of eight words of a text in small letters, as one who looks for spans sees it."""
    words = re.findall(r"\w+", text.lower())
    return {" ".join(words[at : at + 8]) for at in range(len(words) - 7)}


@given(st.integers(0, 5), st.integers(15, 20))
def test_fifteen_words_in_a_row_hold_a_span_whole(start: int, count: int) -> None:
    """Spans begin at words 0, 8, 16 …: of fifteen words in a row, the first eight places include one of them."""
    quoted = TEXT.split()[start : start + count]
    assert len(quoted) >= 15
    assert runs("log: " + " ".join(quoted).upper() + " -> 0.8") & set(spans.cut(TEXT))


def test_the_last_words_of_a_text_are_a_span_too() -> None:
    words = TEXT.split()
    assert " ".join(words[-8:]) in set(spans.cut(TEXT))
    assert list(spans.cut(" ".join(words[:8]))) == [" ".join(words[:8])]


@pytest.mark.parametrize("text", ["", "seven words are not enough for it", "no no no no no no no no no yes"])
def test_what_is_short_or_says_little_has_no_span(text: str) -> None:
    assert list(spans.cut(text)) == []


def test_what_two_rows_say_is_a_template() -> None:
    asked = "answer the following question with yes or no only please "
    rows = [
        [asked + "is the sky above us blue today or not at all"],
        [asked + "did it rain in the night before the feast"],
    ]
    found = spans.telling([*rows, [None]])
    assert found
    assert not any(each in " ".join(asked.split()) for each in found)
