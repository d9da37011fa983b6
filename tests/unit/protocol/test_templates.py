"""The templates: there, explained, and valid as they stand."""

import pytest

from lacre.errors import TemplateUnknown
from lacre.protocol import templates
from lacre.protocol.document import parse, value_of
from lacre.text import LANGUAGES


def test_names() -> None:
    assert templates.names() == ("fairness", "fairness-systems", "faces", "judge")


@pytest.mark.parametrize("name", templates.names())
@pytest.mark.parametrize("language", [*LANGUAGES, "../x"])
def test_each_is_valid_as_it_stands(name: str, language: str) -> None:
    text = templates.read(name, language)
    assert parse(text.encode(), name).analyses
    assert text.startswith("# ")
    assert max(map(len, text.split("\n"))) <= 120
    assert text.count("#") >= 8


@pytest.mark.parametrize("name", templates.names())
@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_each_language_has_the_same_plan_in_its_own_words(name: str, language: str) -> None:
    """Comments, title and question are all that differs, line by line."""
    english, other = templates.read(name), templates.read(name, language)
    words = {"title", "question", "language"}
    plans = [
        {k: v for k, v in value_of(parse(text.encode())).items() if k not in words}
        for text in (english, other)
    ]
    assert plans[0] == plans[1]
    assert parse(other.encode()).language == language
    assert other.partition("\n")[0] != english.partition("\n")[0]
    for line, same in zip(english.split("\n"), other.split("\n"), strict=True):
        code, _mark, said = line.partition("# ")
        assert code.partition(":")[0] in words or same.startswith(code)
        # What is commented out may be the plan's own; what stands beside the plan is words.
        assert not code.strip() or len(said.split()) < 3 or same != line


def test_two_systems_are_compared_in_one_reveal() -> None:
    protocol = parse(templates.read("fairness-systems", "en").encode())
    assert list(protocol.systems) == ["new", "old"]
    assert protocol.analyses["parity"].systems == ["old", "new"]


@pytest.mark.parametrize("name", ["", "fairnes", "../fairness", "fairness.yaml"])
def test_unknown(name: str) -> None:
    with pytest.raises(TemplateUnknown) as caught:
        templates.read(name, "en")
    assert "fairness, fairness-systems, faces" in caught.value.way_out
