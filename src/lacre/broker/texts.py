"""The words that people put on record: checked before they are kept, and looked up when they are shown."""

import unicodedata
from collections.abc import Iterable, Sequence

from lacre.broker.desk import Desk, SaltedText, salted_text, utf8
from lacre.errors import WordsMissing, WordsTooLong
from lacre.rules.named import named_by
from lacre.rules.record import Recorded
from lacre.rules.remarks import Text
from lacre.store.reader import Reader

_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and symbols that are drawn as nothing: the fillers of Hangul, and the pattern of Braille without dots."""
MOST = 20_000
"""Characters of a text that are kept: some pages, and no file."""


def require_words(text: str, verb: str) -> str:
    """`text` without blanks around it. Raises `WordsMissing`, `WordsTooLong`, `TextNotUnicode`."""
    utf8(text)
    words = visible(text)
    if words is None:
        raise WordsMissing(verb=verb)
    if len(words) > MOST:
        raise WordsTooLong(count=len(words), most=MOST)
    return words


def visible(text: str | None) -> str | None:
    """`text` without blanks around it; None where nothing in it could be seen, such as zero-width characters."""
    if text is None or not any(map(_shows, text)):
        return None
    return text.strip()


def _shows(char: str) -> bool:
    # Letters, digits, punctuation and symbols; marks need one of them below, separators and controls show nothing.
    return unicodedata.category(char)[0] in "LNPS" and char not in _BLANK


def salted_words(desk: Desk, text: str | None, verb: str) -> SaltedText | None:
    """The words of a reason or a name, salted; None where none were given. Raises as `require_words`."""
    return None if text is None else salted_text(desk, require_words(text, verb))


def text_of(reader: Reader, digest: str) -> Text:
    """The text of a salted digest as it stands now."""
    return texts_of(reader, [digest])[digest]


def texts_of(reader: Reader, digests: Iterable[str]) -> dict[str, Text]:
    """The texts of salted digests as they stand now."""
    texts = {}
    erased: dict[str, int] | None = None
    for digest in digests:
        document = reader.document(digest)
        if document is not None:
            texts[digest] = Text(digest, document.body.decode("utf-8", "replace"))
        else:
            erased = reader.erasures() if erased is None else erased
            texts[digest] = Text(digest, None, erased.get(digest))
    return texts


def texts_named(reader: Reader, entries: Sequence[Recorded]) -> dict[str, Text]:
    """The texts that these entries name."""
    named = (each for recorded in entries for each in named_by(recorded))
    return texts_of(reader, dict.fromkeys(each.digest for each in named if each.kind.salted))
