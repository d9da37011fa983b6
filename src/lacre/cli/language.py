"""Which language a call is answered in: `--lang`, `LACRE_LANG`, the locale, English."""

from collections.abc import Mapping, Sequence

import click

from lacre.errors import LanguageUnknown
from lacre.text import LANGUAGES, VARIABLE, Choice, chosen, tag_of

OPTION = "--lang"


def wanted(arguments: Sequence[str], environment: Mapping[str, str]) -> Choice:
    """Return the language to answer in, before click has looked at the arguments: it refuses in it, too.

    Raises `LanguageUnknown` for a `LACRE_LANG` that is none; of `--lang` that is `tag`'s to say, since only click
    knows which word is an option's value.
    """
    asked = _given(arguments)
    if asked:
        return Choice(asked, asked=True)
    named = environment.get(VARIABLE, "")
    if named and tag_of(named) is None:
        raise LanguageUnknown(name=named, given=VARIABLE, known=", ".join(LANGUAGES))
    return chosen(environment)


def _given(arguments: Sequence[str]) -> str | None:
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    found = None
    for place, word in enumerate(options):
        name, equals, value = word.partition("=")
        if name == OPTION:
            found = tag_of(value if equals else "".join(options[place + 1 : place + 2])) or found
    return found


def tag(_ctx: click.Context, _param: click.Parameter, given: str | None) -> str | None:
    """Return the tag of a language that is given by a tag or a locale's name. Raises `LanguageUnknown`."""
    if given is None:
        return None
    found = tag_of(given)
    if found is None:
        raise LanguageUnknown(name=given, given=OPTION, known=", ".join(LANGUAGES))
    return found
