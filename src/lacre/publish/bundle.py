"""A bundle: the register up to now and the documents of one study, with one result, for somebody offline."""

import json
from pathlib import Path

from lacre.audit.register import CHECKPOINT, MANIFEST, REPORT, RESULT_JSON
from lacre.durable import create_durably, write_durably
from lacre.errors import FileExists, printable_json
from lacre.ledger.keys import PrivateKey
from lacre.ledger.merkle import leaf_hash
from lacre.publish.archive import pack as pack_archive
from lacre.publish.manifest import Manifest, digests
from lacre.publish.parts import FILE, document_files, gather, keys_of, log_files
from lacre.report.views import Exported, Result
from lacre.rules.keys import log_verifiers
from lacre.rules.record import Recorded
from lacre.store.reader import Reader
from lacre.version import VERSION


def make_bundle(
    reader: Reader,
    study: str,
    entry: int,
    *,
    result_json: bytes,
    report: bytes,
    broker: PrivateKey,
    only_study: bool = False,
) -> tuple[Manifest, bytes]:
    """Return the bundle of the result of `study` at `entry`, and what its manifest says.

    `result_json` and `report` are the result as it is shown. With `only_study` the entries of other studies
    are left out; their hashes stay, and so does every entry of the ledger itself. Raises `ArchiveInvalid`
    when it would be too large, and what `gather` and `document_files` do.
    """

    def own(recorded: Recorded) -> bool:
        return recorded.study is None or recorded.study == study

    parts = gather(reader, own)
    left_out = parts.left_out if only_study else set()
    files = {CHECKPOINT: parts.note, RESULT_JSON: result_json, REPORT: report}
    files |= log_files(reader, parts, left_out)
    files |= document_files(reader, parts)
    manifest = Manifest(
        lacre=VERSION,
        genesis=leaf_hash(reader.entry(0).envelope).hex(),
        study=study,
        result=entry,
        size=parts.size,
        root=parts.tree.root.hex(),
        only_study=only_study,
        files=digests(files),
    )
    files[MANIFEST] = manifest.signed(broker)
    return manifest, pack_archive(files)


def export_bundle(
    reader: Reader, shown: Result, path: Path, *, broker: PrivateKey, only_study: bool, overwrite: bool
) -> Exported:
    """Write the bundle of a result to `path`. Raises `FileExists`, and what `make_bundle` does."""
    document = printable_json(json.dumps(shown.as_json(), ensure_ascii=False, indent=2, allow_nan=False))
    manifest, data = make_bundle(
        reader,
        shown.study,
        shown.entry,
        result_json=f"{document}\n".encode(),
        report=str(shown).encode(),
        broker=broker,
        only_study=only_study,
    )
    if overwrite:
        write_durably(path, data, mode=FILE)
    elif not create_durably(path, data, mode=FILE):
        raise FileExists(file=str(path))
    state = keys_of(reader)
    signers = log_verifiers(state.origin, state.keys.values(), manifest.size)
    return Exported(
        path=path,
        result=manifest.name,
        entries=manifest.size,
        root=manifest.root,
        files=len(manifest.files) + 1,
        bytes=len(data),
        left_out=_left_out(reader, manifest) if only_study else 0,
        verifier_key=signers[-1].format(),  # while one replaces the other, the one that stays
    )


def _left_out(reader: Reader, manifest: Manifest) -> int:
    return sum(row.study not in {None, manifest.study} for row in reader.entries())
