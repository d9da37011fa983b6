"""Words for people: the one door through which every message passes on its way to being read.

Texts stand in the code in English, marked by `N_` where they are only declared and passed through `_` where
they are shown; catalogues live in ``lacre/locale/<language>/LC_MESSAGES/lacre.mo``. English needs none.
"""

import gettext
from functools import lru_cache
from pathlib import Path

DOMAIN = "lacre"
LANGUAGES = ("en",)
_LOCALES = Path(__file__).with_name("locale")

_current = gettext.NullTranslations()
_language = LANGUAGES[0]


@lru_cache
def _catalogue(language: str) -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, str(_LOCALES), [language.replace("-", "_")], fallback=True)


def use_language(language: str) -> None:
    """Choose the language of everything shown from here on (an IETF tag of `LANGUAGES`)."""
    # The language is a property of the process, as the locale is.
    global _current, _language
    _current, _language = _catalogue(language), language


def language() -> str:
    """Return the language of what is shown (an IETF tag of `LANGUAGES`)."""
    return _language


def _(message: str) -> str:
    return _current.gettext(message)


def ngettext(one: str, many: str, n: int) -> str:
    """`one` or `many`, as `n` asks in the language in use."""
    return _current.ngettext(one, many, n)


def N_(message: str) -> str:  # noqa: N802 - gettext's own name for a deferred message
    """Mark `message` for the catalogues; it is translated where it is shown."""
    return message
