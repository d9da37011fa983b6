"""The base of every refusal: a code, an exit status, a template with named fields, a way out."""

import functools
import json
import string
import traceback
from collections.abc import Callable
from typing import Any, ClassVar, ParamSpec, Self, TypeVar

from lacre.text import N_, _, ngettext

P = ParamSpec("P")
R = TypeVar("R")

EXIT_REFUSED = 2
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130


class _Fields(string.Formatter):
    """Fill templates with fields that may hold control characters, which terminals would obey."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return printable(super().format_field(value, format_spec))


def printable(text: str) -> str:
    """Return `text` with each control or format character replaced by its escape, line breaks included."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def printable_json(text: str) -> str:
    """Return JSON `text` with each such character in its strings as JSON's own escape; line breaks are layout."""
    if all(map(str.isprintable, text.split("\n"))):
        return text
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def reason_of(error: OSError) -> str:
    """Return what the system says is wrong, in its own words."""
    return error.strerror or type(error).__name__


class LacreError(Exception):
    """The base of everything lacre raises on purpose."""

    code: ClassVar[str]
    exit_status: ClassVar[int] = EXIT_REFUSED
    template: ClassVar[str]
    singular: ClassVar[str] = ""
    """The template where the field `counted` is one, if it is another then."""
    counted: ClassVar[str] = "count"
    remedy: ClassVar[str]
    listing: ClassVar[str] = ""
    """The field, if any, whose lines are shown one by one below the message."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(fields)
        self.fields = fields

    @property
    def message(self) -> str:
        """What was refused and why, in the language in use."""
        template = (
            ngettext(self.singular, self.template, self.fields[self.counted])
            if self.singular
            else _(self.template)
        )
        said = _Fields().format(template, **self.fields)
        lines = str(self.fields[self.listing]).splitlines() if self.listing else []
        return "\n".join([said, *(printable(f"  {line}") for line in lines)])

    @property
    def way_out(self) -> str:
        """What the user can do now, in the language in use."""
        return _Fields().format(_(self._remedy()), **self.fields)

    def _remedy(self) -> str:
        return self.remedy

    def __str__(self) -> str:
        return ("\n" if self.listing else " ").join([self.message, self.way_out])

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.fields)


def _rebuild(cls: type[LacreError], fields: dict[str, Any]) -> LacreError:
    return cls(**fields)


class InternalError(LacreError):
    """A fault of lacre's own."""

    code = "internal"
    exit_status = EXIT_INTERNAL
    template = N_("lacre failed in a way it should not ({kind} at {where}).")
    remedy = N_(
        "What was recorded stands: run `lacre audit`, then report this with the version and the code above."
    )

    @classmethod
    def of(cls, error: BaseException) -> Self:
        """Name an exception by its kind and place: its own text could hold a cell."""
        return cls(kind=type(error).__name__, where=_where(error))


def _where(error: BaseException) -> str:
    """Name the innermost line of lacre's that the exception passed."""
    where = "lacre"
    for frame, line in traceback.walk_tb(error.__traceback__):
        module = frame.f_globals.get("__name__", "")
        if module.split(".")[0] == "lacre":
            where = f"{module}:{line}"
    return where


def cells_untold(function: Callable[P, R]) -> Callable[P, R]:
    """Let no error but lacre's own out of a function that has cells in memory.

    Another's text, or that of what caused it, may quote one, and a traceback shows both. Raises `InternalError`.
    """

    @functools.wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> R:
        try:
            return function(*given, **named)
        except LacreError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, its text is not to be shown
            fault = InternalError.of(error)
        # Out here the other is no longer at hand: it would travel along as the context of what is raised.
        raise fault

    return call
