"""The documents that an entry names: what each is, and the entry that brought it into the ledger."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from lacre.rules.answers import AmendDecision
from lacre.rules.record import (
    CORPUS_MEDIA,
    DIFFERENCE_MEDIA,
    PROTOCOL_MEDIA,
    RESULT_MEDIA,
    TEXT_MEDIA,
    Answered,
    Genesis,
    Recorded,
    Result,
)
from lacre.rules.requests import Amend, CommitPart, Register, Request
from lacre.text import N_, _


@dataclass(frozen=True, slots=True)
class Kind:
    """What a document is: its name for people, its media type, and whether its digest is salted."""

    name: str
    media: str
    salted: bool


PROTOCOL = Kind(N_("protocol"), PROTOCOL_MEDIA, salted=False)
DIFFERENCE = Kind(N_("difference"), DIFFERENCE_MEDIA, salted=False)
RESULT = Kind(N_("result"), RESULT_MEDIA, salted=False)
CORPUS = Kind(N_("file of the open corpus"), CORPUS_MEDIA, salted=False)
NAME = Kind(N_("name"), TEXT_MEDIA, salted=True)
REASON = Kind(N_("reason"), TEXT_MEDIA, salted=True)
WORDS = Kind(N_("text"), TEXT_MEDIA, salted=True)

_TEXTS = (("name", NAME), ("text", WORDS), ("reason", REASON), ("accept_infeasible", REASON))
"""The fields of requests that hold the salted digest of a text."""


@dataclass(frozen=True, slots=True)
class Named:
    """A document as an entry names it."""

    kind: Kind
    digest: str
    entry: int

    @property
    def what(self) -> str:
        """What it is, in the language in use."""
        return _(self.kind.name)


def named_by(recorded: Recorded) -> Iterator[Named]:
    """Yield the documents that an entry brought into the ledger."""
    for kind, digest in _named(recorded.content):
        yield Named(kind, digest, recorded.index)


def _named(content: Genesis | Answered | Result) -> Iterator[tuple[Kind, str]]:
    if isinstance(content, Genesis):
        yield from ((NAME, key.name) for key in content.keys if key.name is not None)
        return
    if isinstance(content, Result):
        yield RESULT, content.result
        return
    request = content.request
    if isinstance(request, Register | Amend):
        yield PROTOCOL, request.protocol
    if isinstance(request, CommitPart):
        yield from ((CORPUS, file.sha256) for file in request.files)
    if isinstance(content.decision, AmendDecision):
        yield DIFFERENCE, content.decision.difference
    for field, kind in _texts_of(type(request)):
        digest = getattr(request, field)
        if digest is not None:
            yield kind, digest


@cache
def _texts_of(kind: type[Request]) -> tuple[tuple[str, Kind], ...]:
    return tuple((field, text) for field, text in _TEXTS if field in kind.model_fields)
