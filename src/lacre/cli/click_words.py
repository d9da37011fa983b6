"""click's own words, in the language in use.

click asks the standard `gettext` for its texts, by names that its modules bound at import, and has no catalogues
of its own. While a verb runs in another language than English these names are bound to lacre's.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from lacre import text
from lacre.text import LANGUAGES, N_

TEXTS = (
    N_("Aborted!"),
    N_("Error: {message}"),
    N_("Choose from:\n\t{choices}"),
    N_("Commands"),
    N_("Invalid value for {param_hint}: {message}"),
    N_("Invalid value: {message}"),
    N_("Missing argument"),
    N_("Missing command."),
    N_("Missing option"),
    N_("Missing parameter"),
    N_("Missing parameter: {param_name}"),
    N_("Missing {param_type}"),
    N_("No such command {name!r}."),
    N_("No such option: {name}"),
    N_("No such option {name!r}."),
    N_("Option {name!r} does not take a value."),
    N_("Argument {name!r} takes {nargs} values."),
    N_("Options"),
    N_("Positional arguments"),
    N_("Show this message and exit."),
    N_("Usage:"),
    N_("default: {default}"),
    N_("env var: {var}"),
    N_("required"),
    N_("{value!r} is not a valid {number_type}."),
    N_("{value} is not in the range {range}."),
)
"""What the verbs can make click say, in any of its versions."""

PLURALS = (
    ("Did you mean {possibility}?", "(Did you mean one of: {possibilities}?)"),
    ("Got unexpected extra argument ({args})", "Got unexpected extra arguments ({args})"),
    ("Option {name!r} requires an argument.", "Option {name!r} requires {nargs} arguments."),
    ("Takes {nargs} values but 1 was given.", "Takes {nargs} values but {len} were given."),
    ("{value!r} is not {choice}.", "{value!r} is not one of {choices}."),
)
"""Texts with a plural, by the number that click counts."""

_MODULES = tuple(
    f"click.{name}"
    for name in ("core", "exceptions", "formatting", "parser", "types", "decorators", "termui")
)
_NAMES = {"_": text._, "ngettext": text.ngettext}


@contextmanager
def translated() -> Iterator[None]:
    """Have click speak the language in use, for a while."""
    if text.language() == LANGUAGES[0]:
        yield
        return
    found = [(sys.modules[name], each) for name in _MODULES if name in sys.modules for each in _NAMES]
    bound = [(module, name, getattr(module, name)) for module, name in found if hasattr(module, name)]
    try:
        for module, name, _before in bound:
            setattr(module, name, _NAMES[name])
        yield
    finally:
        for module, name, before in bound:
            setattr(module, name, before)
