"""Check a bundle with nothing else at hand: no ledger, no network, no data."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lacre.audit.audit import audit
from lacre.audit.files import HeldFiles
from lacre.audit.findings import Finding, finding
from lacre.audit.heads import Memory
from lacre.audit.register import MANIFEST, REPORT, RESULT_JSON, RegisterSource, document_path
from lacre.audit.report import AuditReport
from lacre.canonical import canonical_json, parse_canonical
from lacre.durable import read_given
from lacre.errors import (
    ArchiveInvalid,
    CheckpointNoBundle,
    EntryNoResult,
    FileUnfit,
    FormatError,
    LacreError,
    NotAResult,
    NotCanonical,
    ReceiptNoBundle,
    SignatureInvalid,
    StudyNotRegistered,
)
from lacre.ledger.checkpoint import Checkpoint
from lacre.ledger.envelope import Envelope
from lacre.ledger.keys import PublicKey
from lacre.ledger.merkle import EMPTY_ROOT
from lacre.ledger.note import VerifierKey
from lacre.protocol.document import from_canonical
from lacre.publish.archive import MOST, unpack
from lacre.publish.manifest import Manifest, digests
from lacre.publish.shown import expected_shown
from lacre.report.published import Verified
from lacre.rules.record import Result
from lacre.text import _

if TYPE_CHECKING:
    from lacre.analyses.recompute import Recomputed

MOST_TOLD = 100  # characters of a value that a finding quotes

Files = Mapping[str, bytes]


def verify(path: Path, *, key: VerifierKey | None = None, memories: Sequence[Memory] = ()) -> Verified:
    """Check the bundle at `path` against itself, the log's `key` if there is one, and what others kept.

    Raises `FileUnfit`, `FileMissing` and `NotReadable` for what is no file one can read, `ReceiptNoBundle`
    and `CheckpointNoBundle`; whatever is wrong with a bundle's bytes is a finding.
    """
    data = read_given(path, most=MOST)
    if len(data) > MOST:
        raise FileUnfit(path=str(path), why=_("it has more than {most} bytes").format(most=MOST))
    _check_no_memory(path, data)
    try:
        files = unpack(data)
    except ArchiveInvalid as error:
        return _refused(finding("archive-invalid", why=error.fields["why"]))
    if MANIFEST not in files:
        return _refused(finding("manifest-missing"))
    try:
        manifest, envelope = Manifest.read(files[MANIFEST])
    except LacreError as error:
        return _refused(finding("manifest-invalid", why=error.message))
    return _verify(files, manifest, envelope, key, memories)


def _check_no_memory(path: Path, data: bytes) -> None:
    """Refuse what a bundle is held to and is none itself: without its log it shows nothing."""
    try:
        memory = Memory.parse(path.name, data)
    except FormatError:
        return
    checkpoint = Checkpoint.of_note(memory.note)
    told = {"file": str(path), "origin": checkpoint.origin, "size": checkpoint.size}
    if memory.receipt is not None:
        raise ReceiptNoBundle(**told, index=memory.receipt.index)
    raise CheckpointNoBundle(**told)


def _refused(found: Finding) -> Verified:
    report = AuditReport(0, EMPTY_ROOT.hex(), None, (found,), ())
    return Verified(result=None, audit=report, recomputed=None)


def _verify(
    files: Files, manifest: Manifest, envelope: Envelope, key: VerifierKey | None, memories: Sequence[Memory]
) -> Verified:
    def audited(**scope: Any) -> AuditReport:
        source = RegisterSource(HeldFiles(files), study=manifest.study, redacted=manifest.only_study)
        return audit(source, memories=memories, key=key, **scope)

    # 1. The log, its tree, signatures, law and documents: what an audit of any source does.
    findings: list[Finding] = []
    try:
        report = audited(study=manifest.study, entry=manifest.result)
    except (StudyNotRegistered, NotAResult, EntryNoResult):
        report = audited()
        findings.append(finding("manifest-result", manifest.result, result=manifest.name))
    # 2. The manifest: signed by the broker, of this log, and of exactly these files.
    findings += _check_manifest(files, manifest, envelope, report)
    # 3. The result: shown as it is stored, and following from its own counts.
    document = _document(files, manifest, report)
    recomputed = None
    opened: bool | None = None
    unchecked: tuple[str, ...] = ()
    if document is not None:
        held, unchecked = _check_shown(files, document, manifest, report)
        findings += held
        recomputed = _recompute(files, document)
        findings += [
            finding("recomputed-differs", manifest.result, what=e.what, stated=e.stated, expected=e.expected)
            for e in (recomputed.differences if recomputed else ())
        ]
        # 4. The same from the data, where it is open to all and here.
        if report.story is not None and report.story.parts:
            from lacre.publish.opened import compute_again

            again = compute_again(files, document, manifest, report)
            opened = again is not None
            findings += [
                finding("opened-differs", manifest.result, what=e.what, stated=e.stated, expected=e.expected)
                for e in again or ()
            ]
    return Verified(
        result=manifest.name,
        audit=replace(report, findings=(*report.findings, *findings)),
        recomputed=recomputed,
        only_study=manifest.only_study,
        key=key.format() if key else None,
        memories=tuple(each.name for each in memories),
        state=None if document is None else str(document.get("state")),
        unchecked=unchecked,
        opened=opened,
    )


def _check_manifest(
    files: Files, manifest: Manifest, envelope: Envelope, report: AuditReport
) -> Iterator[Finding]:
    if report.ledger is None:
        return  # found already, and no key is known
    if len(envelope.signatures) != 1 or not _signed(envelope, manifest, report):
        yield finding("manifest-invalid", why=_("the ledger's broker did not sign it."))
    stated = (manifest.genesis, manifest.size, manifest.root)
    if stated != (report.ledger.genesis, report.entries, report.root):
        yield finding("manifest-invalid", why=_("it is of another log, or of another checkpoint."))
    actual = digests({path: data for path, data in files.items() if path != MANIFEST})
    for path in sorted(actual.keys() | manifest.files.keys() | {RESULT_JSON, REPORT}):
        if path not in actual:
            yield finding("file-missing", path=path)
        elif path not in manifest.files:
            yield finding("manifest-unlisted", path=path)
        elif actual[path] != manifest.files[path]:
            yield finding("manifest-differs", path=path)


def _signed(envelope: Envelope, manifest: Manifest, report: AuditReport) -> bool:
    assert report.ledger is not None
    broker = report.ledger.keys.get(envelope.signatures[0].keyid)
    if broker is None or not broker.may("broker", manifest.size):
        return False
    try:
        envelope.verify(PublicKey(bytes.fromhex(broker.public)))
    except SignatureInvalid:
        return False
    return True


def _document(files: Files, manifest: Manifest, report: AuditReport) -> dict[str, Any] | None:
    """Return the stored result, where the entries name it and it can be read; else that is found already."""
    for recorded in report.history:
        content = recorded.content
        if recorded.index != manifest.result or not isinstance(content, Result):
            continue
        try:
            document = parse_canonical(files[document_path(content.result)])
        except (KeyError, NotCanonical):
            return None
        return document if isinstance(document, dict) else None
    return None


def _check_shown(
    files: Files, document: Mapping[str, Any], manifest: Manifest, report: AuditReport
) -> tuple[list[Finding], tuple[str, ...]]:
    """Hold `result.json` against the stored result, and what it adds against the entries and documents.

    Returns what was found, and the names of what it says and nothing here gives.
    """
    if RESULT_JSON not in files:
        return [], ()  # found already
    try:
        shown = json.loads(files[RESULT_JSON].decode(), object_pairs_hook=_named_once)
    except (ValueError, RecursionError):
        shown = None
    if not isinstance(shown, dict):
        return [finding("file-unfit", path=RESULT_JSON, why=_("it is no result"))], ()
    # What it must say in so many words; of the rest, an older or newer lacre may leave out what tells nothing.
    stored = {**document, "result": manifest.name}
    expected = {**expected_shown(files, manifest, report), **stored}
    found = [
        finding(
            "shown-differs", manifest.result, path=RESULT_JSON, what=name,
            stated=_brief(shown.get(name)), expected=_brief(value),
        )
        for name, value in expected.items()
        if (name in shown or name in stored or value) and _bytes(shown.get(name)) != _bytes(value)
    ]  # fmt: skip
    return found, tuple(sorted(shown.keys() - expected.keys()))


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; `ValueError` for a name that stands twice, of which readers see one or the other."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError
    return made


def _bytes(value: object) -> bytes | None:
    try:
        return canonical_json(value)
    except NotCanonical:
        return None


def _brief(value: object) -> str:
    if isinstance(value, str | int | float | None):
        return str(value)
    told = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return told if len(told) <= MOST_TOLD else f"{told[:MOST_TOLD]}…"


def _recompute(files: Files, document: Mapping[str, Any]) -> "Recomputed | None":
    """Compute the result again by the protocol it names; None where that is not there or cannot be read."""
    from lacre.analyses.recompute import recompute

    digest = str(document.get("protocol")).removeprefix("sha256:")
    try:
        protocol = from_canonical(files[document_path(digest)])
    except (KeyError, LacreError):
        return None
    return recompute(document, protocol)
