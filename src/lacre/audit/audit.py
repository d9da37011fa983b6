"""An audit: the whole history derived again, in numbered steps, each of which yields what it finds wrong.

No bytes make it fail otherwise than by a finding.
"""

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial

from lacre.audit.blobs import check_blobs
from lacre.audit.corpora import check_corpora
from lacre.audit.findings import Finding, Noted, Warned, finding, warned
from lacre.audit.heads import (
    Head,
    Memory,
    check_checkpoint,
    check_key,
    check_memory,
    check_remembered,
    check_twins,
)
from lacre.audit.premises import check_checkpoint_size, check_form, check_integrity, check_nodes
from lacre.audit.register import copies_of
from lacre.audit.report import AuditReport, ErasedTold, LedgerTold, Scope
from lacre.audit.source import Source
from lacre.audit.story import Story, tell
from lacre.audit.walk import Walk
from lacre.errors import EntryNoResult, LacreError, NotAResult, StudyNotRegistered
from lacre.ledger.merkle import EMPTY_ROOT
from lacre.ledger.note import VerifierKey
from lacre.rules.named import NAME, WORDS
from lacre.rules.remarks import Text


def audit(
    source: Source,
    *,
    remembered: Head | None = None,
    twins: Iterable[bytes] = (),
    memories: Sequence[Memory] = (),
    key: VerifierKey | None = None,
    study: str | None = None,
    entry: int | None = None,
) -> AuditReport:
    """Audit the whole of `source`; tell the history of all of it, of `study`, or of its result at `entry`.

    A result may be named by its entry alone. `remembered` is what this machine saw of the ledger, `twins` are
    the checkpoints it saw of ledgers with another genesis, `memories` are receipts and checkpoints that others
    kept, `key` is one that the log is known to sign with. Raises
    `StudyNotRegistered` and `NotAResult` for a scope that a sound ledger does not have, and nothing else.
    """
    walk = Walk(source)
    with closing(walk.verifying), _collector_at_rest():
        noted = list(_steps(walk, remembered, twins, memories, key))
    if study is None and entry is not None:
        study = next((each.study for each in walk.history if each.index == entry), None)
    scope = Scope(study, entry)
    findings = tuple(each for each in noted if isinstance(each, Finding))
    story, untold = _tell(walk, scope, sound=not findings)
    return AuditReport(
        entries=walk.entries,
        root=walk.tree.root.hex(),
        checkpoint=_checkpoint_text(source),
        findings=findings,
        warnings=(*(each for each in noted if isinstance(each, Warned)), *untold),
        history=tuple(each for each in walk.history if study is None or each.study == study),
        names=_names(walk),
        scope=scope,
        story=story,
        ledger=_ledger(walk),
        published=source.published() is not None,
        erased=tuple(
            ErasedTold(named.what, named.digest, named.entry, entry)
            for named, entry in walk.shelf.told_erased()
        ),
    )


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Keep Python's cycle collector from looking through all that was read, again and again, to free none of it."""
    working = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if working:
            gc.enable()


def unreadable(error: LacreError) -> AuditReport:
    """Return the report on a ledger that is there and cannot even be opened."""
    found = finding("source-unreadable", why=error.message)
    return AuditReport(entries=0, root=EMPTY_ROOT.hex(), checkpoint=None, findings=(found,), warnings=())


def _ledger(walk: Walk) -> LedgerTold | None:
    if not walk.relied_on:
        return None
    state = walk.law.ledger
    known = (each for each in walk.law.lines.values() if each.lost is None)
    return LedgerTold(
        origin=state.origin,
        genesis=state.genesis,
        keys=state.keys,
        recipient=state.recipient,
        studies={each.slug: each.state for each in known if each.state is not None},
        redacted=len(walk.law.left_out),
    )


def _steps(
    walk: Walk,
    remembered: Head | None,
    twins: Iterable[bytes],
    memories: Sequence[Memory],
    key: VerifierKey | None,
) -> Iterator[Noted]:
    source = walk.source
    premises, published = source.premises(), source.published()
    # 1. The database is whole, and made as lacre makes it.
    if premises is not None:
        yield from _reading(check_integrity(premises))
        yield from _reading(check_form(premises))
    # 2. Entry 0 is the genesis. 3. Each entry is well formed, filed as it says, signed, and bound to what
    # stands before it. 4. The law, replayed, comes to every recorded decision.
    yield from _reading(walk.go())
    yield from walk.verifying.check()
    if walk.entries == 0:
        yield finding("ledger-empty")
    # 1 and 4 again, of what the entries only name or give: the documents, what is in the open ones, the stored tree.
    yield from _reading(walk.shelf.check(source, complete=walk.complete))
    yield from _reading(check_corpora(walk, source))
    if premises is not None:
        yield from _reading(check_nodes(premises, walk.tree))
    if published is not None:
        shown = (recorded for recorded in walk.history if source.holds(recorded.study))
        copies = dict(copy for recorded in shown for copy in copies_of(recorded))
        yield from _reading(published.check(walk.tree, walk.shelf.here, copies))
    # 5. The checkpoint is the log's own, of these entries.
    ledger, keys = walk.law.ledger, tuple(walk.keys.values())
    yield from _reading(_check_head(walk, key))
    # 6. What is remembered of the log is a prefix of it.
    if remembered is not None:
        yield from check_remembered(remembered, walk.tree, walk.entries)
    yield from check_twins(twins, ledger.origin, keys, walk.tree, walk.entries)
    for memory in memories:
        copy = published is not None and published.bundle
        yield from check_memory(
            memory, ledger.origin, keys, walk.tree, walk.entries, copy=copy, others=memories
        )
    # 7. The sealed blobs are there, unchanged.
    if premises is not None:
        yield from _reading(check_blobs(walk.blobs, premises))


def _check_head(walk: Walk, key: VerifierKey | None) -> Iterator[Noted]:
    note = walk.source.checkpoint()
    premises = walk.source.premises()
    if premises is not None:
        yield from check_checkpoint_size(premises, note)
    keys = walk.keys.values()
    origin = walk.law.ledger.origin
    yield from check_checkpoint(note, origin, keys, walk.tree, walk.entries)
    if key is not None:
        yield from check_key(key, note, origin, keys, walk.entries)
    elif walk.source.published() is not None:
        yield warned("authenticity-not-shown")


def _reading(step: Iterator[Noted]) -> Iterator[Noted]:
    """Let a step end where the source's bytes cannot be got at, and the audit go on with the next."""
    try:
        yield from step
    except LacreError as error:
        yield finding("source-unreadable", why=error.message)


def _tell(walk: Walk, scope: Scope, *, sound: bool) -> tuple[Story | None, list[Warned]]:
    """Tell the story that was asked for; on an unsound ledger findings come first, and nothing is refused."""
    if scope.study is None:
        if scope.entry is not None and sound:
            raise EntryNoResult(entry=scope.entry)
        return None, []
    line = walk.law.lines.get(scope.study)
    if line is None:
        if sound:
            raise StudyNotRegistered(study=scope.study)
        return None, [warned("study-not-told", study=scope.study)]
    if scope.entry is None:
        return None, []
    story = None
    if line.state is not None and line.lost is None:
        own = (each for each in walk.history if each.study == scope.study)
        recipient, left_out = walk.law.ledger.recipient, walk.law.left_out
        story = tell(line.state, own, scope.entry, recipient, partial(_text, walk), left_out)
    if story is None and sound:
        raise NotAResult(study=scope.study, entry=scope.entry)
    untold = [] if story else [warned("story-not-told", result=f"{scope.study}@{scope.entry}")]
    return story, untold


def _text(walk: Walk, digest: str) -> Text:
    """Return what somebody said, as it stands: there, erased by an entry, or not to be had."""
    try:
        document = walk.source.document(digest)
    except LacreError:
        document = None
    if document is None or digest in walk.shelf.erased:
        return Text(digest, None, walk.shelf.erased.get(digest))
    body = document.read_as(media=WORDS.media, salted=WORDS.salted).body
    return Text(digest, body.decode("utf-8", "replace"))


def _checkpoint_text(source: Source) -> str | None:
    try:
        note = source.checkpoint()
    except LacreError:
        return None
    return None if note is None else note.decode("utf-8", "replace")


def _names(walk: Walk) -> dict[str, str]:
    names = {}
    for key in walk.keys.values():
        try:
            document = walk.source.document(key.name) if key.name else None
        except LacreError:
            continue
        if document is not None:
            body = document.read_as(media=NAME.media, salted=NAME.salted).body
            names[key.keyid] = body.decode("utf-8", "replace")
    return names
