"""What people said of a study, as it is shown ever after: with a result, in its story, in the study's own page."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lacre.rules.history import ReadMade, Words
from lacre.rules.requests import Erratum
from lacre.rules.state import StudyState


@dataclass(frozen=True, slots=True)
class Text:
    """A text that an entry names by its salted digest; `words` is None where it is not to be had.

    `erased` is the entry that took it out, if one did.
    """

    digest: str
    words: str | None
    erased: int | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """A deviation or a withdrawal as it is shown: who said what, when, and of which entry."""

    entry: int
    time: str
    by: str
    about: int | None
    text: Text


TextOf = Callable[[str], Text]
"""Give the text of a salted digest as it stands."""


def remark(words: Words, text_of: TextOf) -> Remark:
    """A deviation, or a withdrawal, with its words."""
    return Remark(words.entry, words.time, words.by, words.about, text_of(words.text))


def remarks_on(study: StudyState, read: ReadMade, text_of: TextOf) -> tuple[Remark, ...]:
    """The deviations that are shown with the result of a read: all but those of other reads and their results."""
    others = set(_entries_of_others(study, read))
    return tuple(remark(words, text_of) for words in study.deviations if words.about not in others)


def _entries_of_others(study: StudyState, read: ReadMade) -> Iterator[int]:
    own = {read.first_attempt}
    if isinstance(read.request, Erratum):
        original = study.result_read(read.request.corrects)
        own |= {original[1].first_attempt} if original is not None else set()
    for pool in study.holds:
        for other in pool.reads:
            if other.first_attempt not in own:
                yield other.entry
                if other.result is not None:
                    yield other.result
