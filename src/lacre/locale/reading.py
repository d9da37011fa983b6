"""Read catalogues: GNU gettext's `.po` form, as far as these use it (no contexts, two plural forms).

The singular names one and may leave its number out ("once"), so zero takes the other form in every language
here, whatever a grammar says of zero otherwise: `n != 1`, as each file's header has it.
"""

import re
from collections.abc import Iterator
from pathlib import Path

PARTS = ("cli", "errors", "report", "html", "kinds", "analyses", "protocol", "audit", "rest")
"""The parts of each catalogue, in the order in which a text is looked for: what most calls need comes first."""

_LINE = re.compile(r'(?:(msgid|msgid_plural|msgstr(?:\[[01]\])?) )?"(.*)"')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t"}

Entry = dict[str, str]
"""The strings of an entry by keyword: `msgid` and `msgstr`, or `msgid_plural`, `msgstr[0]`, `msgstr[1]`, too."""


def entries(text: str) -> Iterator[Entry]:
    """Yield the entries of a `.po` file's text, its header first (that of the empty text).

    Raises `ValueError` for a line that is in none of the forms above.
    """
    entry: Entry = {}
    keyword = ""
    for line in text.split("\n"):
        if not line or line.startswith("#"):
            continue
        found = _LINE.fullmatch(line)
        if found is None or not (found[1] or keyword):
            raise ValueError(line)
        if found[1] == "msgid" and entry:
            yield entry
            entry = {}
        if found[1]:
            keyword = found[1]
            entry[keyword] = ""
        entry[keyword] += _ESCAPE.sub(lambda one: _ESCAPED.get(one[1], one[1]), found[2])
    if entry:
        yield entry


class Catalogue:
    """The texts of one language; a part is read when a text was in none of those before it."""

    def __init__(self, folder: Path) -> None:
        self._unread = [folder / f"{part}.po" for part in reversed(PARTS)]
        self._texts: dict[str, tuple[str, str]] = {}

    def find(self, text: str, *, plural: bool = False) -> str | None:
        """Return a text, or its plural, in this language; None where it is not translated."""
        while text not in self._texts and self._unread:
            self._read(self._unread.pop())
        found = self._texts.get(text)
        return (found[plural] or None) if found else None

    def _read(self, path: Path) -> None:
        for entry in entries(path.read_text(encoding="utf-8")):
            one = entry.get("msgstr") or entry.get("msgstr[0]", "")
            self._texts.setdefault(entry["msgid"], (one, entry.get("msgstr[1]", "")))
