"""The tree of refusals: codes are unique and stay, templates and fields fit, escapes are shown."""

import pickle
import string
from pathlib import Path

import pytest

from lacre import errors
from lacre.errors import LacreError, printable

CODES = Path(__file__).resolve().parents[1] / "vectors" / "errors" / "codes.txt"


def _all(error: type[LacreError]) -> list[type[LacreError]]:
    return [error, *(each for below in error.__subclasses__() for each in _all(below))]


RAISED = [each for each in _all(LacreError) if hasattr(each, "template")]


def test_codes_are_unique_and_none_that_was_released_is_gone() -> None:
    """Programs rely on codes: one may be added to the list, none may leave it."""
    codes = [each.__dict__["code"] for each in _all(LacreError)[1:] if "code" in each.__dict__]
    assert len(codes) == len(set(codes))
    assert set(CODES.read_text().split()) <= set(codes)
    assert set(codes) <= set(CODES.read_text().split()), "add the new codes to the list"


@pytest.mark.parametrize("error", RAISED, ids=lambda error: error.__name__)
def test_every_refusal_says_what_and_the_way_out(error: type[LacreError]) -> None:
    texts = (error.template, error.remedy)
    names = {
        name for text in texts for _text, name, _spec, _conversion in string.Formatter().parse(text) if name
    }
    fields = dict.fromkeys((*names, *filter(None, [error.listing])), "\x1b[31mred")
    made = error(**fields)
    for said in (made.message, made.way_out, str(made)):
        assert "\x1b" not in said
        assert said.strip()
    assert made.exit_status in {2, 70, 130}
    assert error.__doc__
    again = pickle.loads(pickle.dumps(made))
    assert (type(again), again.message) == (error, made.message)


def test_every_name_is_exported() -> None:
    assert {each.__name__ for each in _all(LacreError)} <= vars(errors).keys()


def test_printable_leaves_words_alone_and_shows_what_is_not() -> None:
    assert printable("São Paulo – 1 %") == "São Paulo – 1 %"
    assert printable("a\x1b[0m\n\u202e") == "a\\x1b[0m\\n\\u202e"
