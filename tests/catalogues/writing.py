"""Catalogues as files: in order of their texts, one line a string, so that two people's changes merge."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.catalogues.texts import Text, texts

from lacre.locale.reading import PARTS, Entry, entries
from lacre.text import LANGUAGES, LOCALES

TRANSLATED = LANGUAGES[1:]
FORMS = ("msgstr", "msgstr[0]", "msgstr[1]")


def path_of(language: str, part: str) -> Path:
    """Return where a part of a language's catalogue is."""
    return LOCALES / language / f"{part}.po"


def read(language: str) -> dict[str, dict[str, Entry]]:
    """Return a language's entries by part and text, without the headers."""
    found: dict[str, dict[str, Entry]] = {}
    for part in PARTS:
        path = path_of(language, part)
        listed = list(entries(path.read_text(encoding="utf-8"))) if path.exists() else []
        found[part] = {entry["msgid"]: entry for entry in listed if entry["msgid"]}
    return found


def update(language: str) -> None:
    """Write a language's catalogue anew: what is translated stays, what is new is empty, what is gone goes."""
    known = {one: entry for part in read(language).values() for one, entry in part.items()}
    now = texts()
    for part in PARTS:
        own = [_entry(text, known.get(text.one, {})) for text in now if text.part == part]
        path_of(language, part).write_text(written(language, own), encoding="utf-8")


def _entry(text: Text, known: Mapping[str, str]) -> Entry:
    if text.many is None:
        return {"msgid": text.one, "msgstr": known.get("msgstr") or known.get("msgstr[0]", "")}
    one = known.get("msgstr[0]") or known.get("msgstr", "")
    return {
        "msgid": text.one,
        "msgid_plural": text.many,
        "msgstr[0]": one,
        "msgstr[1]": known.get("msgstr[1]", ""),
    }


def written(language: str, listed: Iterable[Entry]) -> str:
    """Return the text of a `.po` file with these entries."""
    header = (
        'msgid ""',
        'msgstr ""',
        f'"Language: {language.replace("-", "_")}\\n"',
        '"MIME-Version: 1.0\\n"',
        '"Content-Type: text/plain; charset=UTF-8\\n"',
        '"Content-Transfer-Encoding: 8bit\\n"',
        '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"',
    )
    blocks = ([f"{keyword} {_quoted(words)}" for keyword, words in entry.items()] for entry in listed)
    return "\n\n".join(map("\n".join, [header, *blocks])) + "\n"


def _quoted(words: str) -> str:
    escaped = words.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
