"""`erase`: take a name, a reason or other words out of the ledger, as an entry; what named them stays.

The entry and the removal are one transaction, and the database overwrites what it removes. Out of reach is what
left the ledger before: backups of its folder, bundles, a published register, other machines' memories.
"""

import re
from collections.abc import Callable, Iterator

from lacre.broker.desk import (
    Desk,
    ask_beforehand,
    enter,
    remember,
    sign_request,
    view,
    warnings_of,
)
from lacre.broker.names import split_name
from lacre.broker.outcomes import Erased
from lacre.errors import Declined, EntryNotFound, EntryWithoutText, NotAName, NothingToErase, TextUnclear
from lacre.rules.answers import EraseFacts
from lacre.rules.named import Named, named_by
from lacre.rules.record import parse_entry
from lacre.rules.requests import Erase
from lacre.store.reader import Reader

LEAST_DIGITS = 8  # of a digest, to name a text by
_HEX = re.compile(r"[0-9a-f]+")


Confirm = Callable[[Named], bool]
"""Shows a person which text is to be erased, and tells whether it shall be."""


def erase(desk: Desk, what: str, *, which: str | None = None, confirm: Confirm | None = None) -> Erased:
    """Erase the text that `what` names: an entry (`@ENTRY`), or the text's digest or the beginning of it.

    Of an entry that named several, `which` says the one: `name`, `reason`, `text`, or its digest. `confirm`, when
    given, is asked first. Raises `NothingToErase`, `TextUnclear`, `EntryWithoutText`, `EntryNotFound`, `Declined`.
    """
    with desk.snapshot() as reader:
        state = view(reader, "")
        for digest in reader.erasures():
            # An erasure before this may have crashed between the entry and the memory.
            desk.memory.forget(state.genesis, digest)
        named = _find(reader, what, which)
    facts = EraseFacts(named=named.entry)
    ask_beforehand(desk, state, Erase, facts, digest=named.digest)
    if confirm is not None and not confirm(named):
        raise Declined
    signed = sign_request(desk, Erase, digest=named.digest)
    with desk.writer.transaction() as tx:
        if named.digest in tx.erasures():
            raise NothingToErase(digest=named.digest[:16])
        before = tx.last_time
        made = enter(desk, tx, view(tx, ""), signed, facts)
        same = tuple(_saying_the_same(tx, named.digest))
        present = tx.erase_document(named.digest)
    remember(desk, tx)
    desk.memory.forget(state.genesis, named.digest)
    return Erased(
        what=named.what,
        digest=named.digest,
        named=named.entry,
        entry=made.index,
        time=made.time,
        present=present,
        warnings=warnings_of(desk, made, before),
        same=same,
    )


def _saying_the_same(reader: Reader, digest: str) -> Iterator[Named]:
    """Other texts that are there and say just what this one does: a name is copied when its key is rotated."""
    erased = reader.document(digest)
    if erased is None:
        return
    for each in _texts(reader).values():
        other = reader.document(each.digest) if each.digest != digest else None
        if other is not None and other.body == erased.body:
            yield each


def _find(reader: Reader, what: str, which: str | None) -> Named:
    texts = _texts(reader)
    found = [each for each in texts.values() if _begins(each.digest, what)]
    if not found and _is_digits(what):
        raise NothingToErase(digest=what[:16])
    if len(found) != 1:
        entry = _entry(reader, what)
        found = _chosen([each for each in texts.values() if each.entry == entry], which, entry)
    if found[0].digest in reader.erasures():
        raise NothingToErase(digest=found[0].digest[:16])
    return found[0]


def _texts(reader: Reader) -> dict[str, Named]:
    """Every salted text by its digest, as the first entry that named it did."""
    texts: dict[str, Named] = {}
    for stored in reader.entries():
        for named in named_by(parse_entry(stored.index, stored.envelope)):
            if named.kind.salted:
                texts.setdefault(named.digest, named)
    return texts


def _entry(reader: Reader, what: str) -> int:
    study, entry = split_name(what, "erase")
    if entry is None:
        raise NotAName(what=what, verb="erase")
    if entry >= reader.size or (study and reader.entry(entry).study != study):
        raise EntryNotFound(index=entry, size=reader.size)
    return entry


def _chosen(every: list[Named], which: str | None, entry: int) -> list[Named]:
    """Of the texts of an entry, the one that is meant: the only one it ever had, or what `which` says."""
    texts = every
    if not every:
        raise EntryWithoutText(entry=entry)
    if which is not None:
        texts = [each for each in every if each.kind.name == which or _begins(each.digest, which)]
    if len(texts) != 1:
        # The words as they are typed, in whatever language the sentence around them is.
        listed = ", ".join(f"{each.kind.name} ({each.digest[:12]}…)" for each in texts or every)
        raise TextUnclear(entry=entry, texts=listed)
    return texts


def _begins(digest: str, given: str) -> bool:
    return _is_digits(given) and digest.startswith(given)


def _is_digits(given: str) -> bool:
    return LEAST_DIGITS <= len(given) <= 64 and _HEX.fullmatch(given) is not None
