"""How people name things of a ledger: `STUDY`, a result `STUDY@ENTRY`, any entry `@ENTRY` or its number."""

from lacre.errors import NotAName

_MOST_DIGITS = 15


def split_name(what: str, verb: str) -> tuple[str, int | None]:
    """Take a name apart into study (empty for a bare entry) and entry (None for a whole study).

    Raises `NotAName`, which sends people to the help of `verb`.
    """
    study, mark, entry = what.rpartition("@")
    if not mark:
        return ("", int(what)) if _is_number(what) else (what, None)
    if not _is_number(entry):
        raise NotAName(what=what, verb=verb)
    return study, int(entry)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
