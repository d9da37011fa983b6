"""The words that people put on record: checked before they are kept, and looked up when they are shown."""

from collections.abc import Iterable, Sequence

from lacre.errors import WordsMissing, WordsTooLong
from lacre.rules.named import named_by
from lacre.rules.record import Recorded
from lacre.rules.remarks import Text
from lacre.store.reader import Reader

MOST = 20_000
"""Characters of a text that are kept: some pages, and no file."""


def require_words(text: str, verb: str) -> str:
    """`text` without blanks around it. Raises `WordsMissing`, `WordsTooLong`."""
    words = text.strip()
    if not words:
        raise WordsMissing(verb=verb)
    if len(words) > MOST:
        raise WordsTooLong(count=len(words), most=MOST)
    return words


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
