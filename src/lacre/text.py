"""Words for people: the one door through which every message passes on its way to being read.

Texts stand in the code in English, marked by `N_` where they are only declared and passed through `_` where
they are shown; the catalogues of the other languages are in `lacre.locale`, and are read only where they are
spoken. `python -m tests.catalogues` keeps them in step with the code.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lacre.locale.reading import Catalogue

LANGUAGES = ("en", "pt-BR", "es-419")
"""IETF tags: the language of the texts in the code, and those that have a catalogue."""

VARIABLE = "LACRE_LANG"
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")

LOCALES = Path(__file__).with_name("locale")


class Choice(NamedTuple):
    """A language of `LANGUAGES`, and whether somebody asked lacre for it: then reports are in it, too."""

    language: str
    asked: bool


def tag_of(name: str) -> str | None:
    """Return the tag of `LANGUAGES` for a tag or a locale's name (`pt`, `pt_BR.UTF-8`, `es-MX`); None for others."""
    primary = name.partition(".")[0].partition("@")[0].replace("_", "-").partition("-")[0].lower()
    return next((tag for tag in LANGUAGES if tag.partition("-")[0] == primary), None)


def chosen(environment: Mapping[str, str]) -> Choice:
    """Return what the environment asks for: `LACRE_LANG`, else the locale's language, else English."""
    asked = tag_of(environment.get(VARIABLE, ""))
    if asked:
        return Choice(asked, asked=True)
    locale = next(filter(None, map(environment.get, _LOCALE)), "")
    return Choice(tag_of(locale) or LANGUAGES[0], asked=False)


class _Process:
    """The language is a property of the process, as the locale is; none was chosen until a text is asked for."""

    choice: Choice | None = None


def use_language(language: str) -> None:
    """Choose the language of everything shown from here on, reports included (a tag of `LANGUAGES`)."""
    _Process.choice = Choice(language, asked=True)


def language() -> str:
    """Return the language of what is shown (a tag of `LANGUAGES`)."""
    return _spoken().language


@contextmanager
def speaking(choice: Choice) -> Iterator[None]:
    """Speak a language for a while."""
    before = _Process.choice
    _Process.choice = choice
    try:
        yield
    finally:
        _Process.choice = before


@contextmanager
def reporting(language_of_protocol: str) -> Iterator[None]:
    """Speak a protocol's language, if lacre knows it and was asked for no other."""
    own = tag_of(language_of_protocol)
    if own is None or _spoken().asked:
        yield
        return
    with speaking(Choice(own, asked=False)):
        yield


def _spoken() -> Choice:
    if _Process.choice is None:
        _Process.choice = chosen(os.environ)
    return _Process.choice


@lru_cache
def _catalogue(language: str) -> "Catalogue":
    from lacre.locale.reading import Catalogue

    return Catalogue(LOCALES / language)


def _find(message: str, *, plural: bool = False) -> str | None:
    spoken = _spoken().language
    return None if spoken == LANGUAGES[0] else _catalogue(spoken).find(message, plural=plural)


def _(message: str) -> str:
    return _find(message) or message


def ngettext(one: str, many: str, n: int) -> str:
    """`one` or `many`, as `n` asks in the language in use: a pair of the catalogue, or else two texts of it."""
    if n == 1:
        return _(one)
    return _find(one, plural=True) or _(many)


def N_(message: str) -> str:  # noqa: N802 - gettext's own name for a deferred message
    """Mark `message` for the catalogues; it is translated where it is shown."""
    return message
