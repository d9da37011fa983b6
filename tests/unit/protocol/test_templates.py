"""The templates: there, explained, and valid as they stand."""

import pytest

from lacre.errors import TemplateUnknown
from lacre.protocol import templates
from lacre.protocol.document import parse


def test_names() -> None:
    assert templates.names() == ("fairness", "fairness-systems", "faces", "judge")


@pytest.mark.parametrize("name", templates.names())
@pytest.mark.parametrize("language", ["en", "pt-BR", "../x"])
def test_each_is_valid_as_it_stands(name: str, language: str) -> None:
    text = templates.read(name, language)
    assert parse(text.encode(), name).analyses
    assert text.startswith("# ")
    assert max(map(len, text.split("\n"))) <= 120
    assert text.count("#") >= 8


def test_two_systems_are_compared_in_one_reveal() -> None:
    protocol = parse(templates.read("fairness-systems", "en").encode())
    assert list(protocol.systems) == ["new", "old"]
    assert protocol.analyses["parity"].systems == ["old", "new"]


@pytest.mark.parametrize("name", ["", "fairnes", "../fairness", "fairness.yaml"])
def test_unknown(name: str) -> None:
    with pytest.raises(TemplateUnknown) as caught:
        templates.read(name, "en")
    assert "fairness, fairness-systems, faces" in caught.value.way_out
