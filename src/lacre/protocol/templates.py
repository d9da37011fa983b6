"""Protocols to begin from: commented, and valid as they stand."""

from importlib.resources import files

from lacre.errors import TemplateUnknown

_NAMES = ("fairness", "fairness-systems", "faces", "judge")


def names() -> tuple[str, ...]:
    """Return the names of the templates."""
    return _NAMES


def read(name: str, language: str = "en") -> str:
    """Return a template, with its comments in `language` where they have been translated, else in English.

    Raises `TemplateUnknown`.
    """
    if name not in _NAMES:
        raise TemplateUnknown(name=name, known=", ".join(_NAMES))
    folder = files("lacre.protocol") / "templates"
    translated = [entry for entry in folder.iterdir() if entry.name == f"{name}.{language}.yaml"]
    return (translated or [folder / f"{name}.yaml"])[0].read_text(encoding="utf-8")
