"""Every refusal lacre can give: one tree, a stable code and an exit status per class.

    LacreError
    ├── UsageError            the command line or a call of the API
    ├── CanonicalError        bytes that are no canonical form
    ├── ProtocolError         a protocol file
    ├── TableError            a data file
    ├── FormatError           bytes of the ledger's formats
    ├── StoreError            the ledger as a place on disk
    ├── KeyError_             keys and passphrases
    ├── PoolError             sealed pools and their blobs
    ├── LawError              a request the law refuses (src/lacre/rules)
    ├── EvidenceError         an analysis that cannot be computed as registered
    └── InternalError         a fault of lacre's own; exit status 70

A class holds templates, an instance the named fields that fill them: `message` says what was refused and
why, `way_out` what to do now. Neither ever holds the text of a cell of a sealed pool. `code` is stable and
listed in the README; programs may rely on it, and never on the words.
"""

import string
from typing import Any, ClassVar

from lacre.text import N_, _

EXIT_REFUSED = 2
EXIT_INTERNAL = 70


class _Fields(string.Formatter):
    """Fill templates with fields that may hold control characters, which terminals would obey."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return printable(super().format_field(value, format_spec))


def printable(text: str) -> str:
    """Return `text` with each control or format character replaced by its escape, line breaks included."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


class LacreError(Exception):
    """The base of everything lacre raises on purpose."""

    code: ClassVar[str]
    exit_status: ClassVar[int] = EXIT_REFUSED
    template: ClassVar[str]
    remedy: ClassVar[str]

    def __init__(self, **fields: Any) -> None:
        super().__init__(fields)
        self.fields = fields

    @property
    def message(self) -> str:
        """What was refused and why, in the language in use."""
        return _Fields().format(_(self.template), **self.fields)

    @property
    def way_out(self) -> str:
        """What the user can do now, in the language in use."""
        return _Fields().format(_(self.remedy), **self.fields)

    def __str__(self) -> str:
        return f"{self.message} {self.way_out}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.fields)


def _rebuild(cls: type[LacreError], fields: dict[str, Any]) -> LacreError:
    return cls(**fields)


# --- usage -------------------------------------------------------------------------------------------------


class UsageError(LacreError):
    """The command line or a call of the API cannot be understood."""

    code = "usage"
    template = N_("{why}")
    remedy = N_("See `lacre {verb} --help`.")


# --- canonical form ----------------------------------------------------------------------------------------


class CanonicalError(LacreError):
    """Bytes or values outside RFC 8785."""

    code = "canonical"
    template = N_("This has no canonical form: {why}.")
    remedy = N_("Numbers must be finite and whole numbers below 2^53; text must be valid Unicode.")


class NotCanonical(CanonicalError):
    """A value without a canonical form, or bytes that are not one."""

    code = "not-canonical"


# --- protocol ----------------------------------------------------------------------------------------------


class ProtocolError(LacreError):
    """A protocol file that cannot be accepted."""

    code = "protocol"


# --- tables ------------------------------------------------------------------------------------------------


class TableError(LacreError):
    """A data file that is not as the protocol declares it."""

    code = "table"


# --- formats -----------------------------------------------------------------------------------------------


class FormatError(LacreError):
    """Bytes that are not in one of the ledger's formats."""

    code = "format"


# --- store -------------------------------------------------------------------------------------------------


class StoreError(LacreError):
    """The ledger as a place on disk: missing, of another version, or not to be written."""

    code = "store"


# --- keys --------------------------------------------------------------------------------------------------


class KeyError_(LacreError):  # noqa: N801 - KeyError is taken
    """A key that is missing, closed or not what it should be."""

    code = "key"


# --- pools -------------------------------------------------------------------------------------------------


class PoolError(LacreError):
    """A sealed pool's blobs: missing, changed, or not to be opened."""

    code = "pool"


# --- the law -----------------------------------------------------------------------------------------------


class LawError(LacreError):
    """A request the law refuses; `rule` is its number in `lacre.rules`."""

    code = "law"
    rule: ClassVar[int]


# --- evidence ----------------------------------------------------------------------------------------------


class EvidenceError(LacreError):
    """An analysis that cannot be computed as registered."""

    code = "evidence"


# --- internal ----------------------------------------------------------------------------------------------


class InternalError(LacreError):
    """A fault of lacre's own."""

    code = "internal"
    exit_status = EXIT_INTERNAL
    template = N_("lacre failed in a way it should not ({kind} at {where}).")
    remedy = N_("Nothing was lost: run `lacre audit`, then report this with the version and the code above.")
