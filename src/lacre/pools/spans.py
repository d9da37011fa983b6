"""Runs of words by which a free text is recognised inside another: in a log, a prompt, a notebook.

Words are runs of letters, digits and underscores of the normalised text (`lacre.pools.normal`). A text's spans are
its runs of `WORDS` words, cut one after the other, and the last `WORDS` of it: whatever quotes 2 `WORDS` - 1 words
of the text in a row holds one of them whole. Only spans that tell a case apart are kept: those of one row alone, and
of at least `VARIED` different words. What stands in two rows is a template's, and may well stand elsewhere.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from lacre.pools.normal import normalise

WORDS = 8
"""Words of a span. At some 10 bits a word of English (Shannon 1951), eight agree by chance once in 2^80."""

VARIED = 5
"""Different words that a span must have: one word said over and over is no content."""

_WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """Return the words of a text, normalised."""
    return _WORD.findall(normalise(text))


def span(words: Sequence[str]) -> str:
    """Return what is hashed of a run of words."""
    return " ".join(words)


def cut(text: str) -> Iterator[str]:
    """Yield the spans that a text is recognised by, in its order; none of one shorter than a span."""
    words = words_of(text)
    if len(words) < WORDS:
        return
    places = range(0, len(words) - WORDS + 1, WORDS)
    for at in (*places, len(words) - WORDS) if places[-1] != len(words) - WORDS else places:
        if is_varied(run := words[at : at + WORDS]):
            yield span(run)


def is_varied(words: Sequence[str]) -> bool:
    """Whether a run of words says enough to be looked for."""
    return len(frozenset(words)) >= VARIED


def telling(rows: Iterable[Iterable[str | None]]) -> frozenset[str]:
    """Return the spans that stand in one row alone; each row is its free texts."""
    found = Counter(
        each for texts in rows for each in frozenset(s for text in texts if text for s in cut(text))
    )
    return frozenset(each for each, rows_with in found.items() if rows_with == 1)
