"""A bundle: the register up to now and the documents of one study, with one result, for somebody offline."""

import json
from pathlib import Path

from lacre.audit.heads import log_verifiers
from lacre.audit.register import CHECKPOINT, MANIFEST, REPORT, RESULT_JSON, document_path
from lacre.durable import create_durably, write_durably
from lacre.errors import DocumentMissing, FileExists
from lacre.ledger.keys import PrivateKey
from lacre.ledger.merkle import leaf_hash
from lacre.ledger.tiles import bundles_of, pack, tiles_of
from lacre.publish.archive import pack as pack_archive
from lacre.publish.manifest import Manifest, digests
from lacre.publish.parts import FILE, documents, entries_of, gather, keys_of
from lacre.report.views import Exported, Result
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
    when it would be too large, and what `gather` and `documents` do.
    """

    def own(recorded: Recorded) -> bool:
        return recorded.study is None or recorded.study == study

    parts = gather(reader, own)
    left_out = parts.left_out if only_study else set()
    files = {CHECKPOINT: parts.note, RESULT_JSON: result_json, REPORT: report}
    for tile in bundles_of(parts.size):
        records = entries_of(reader, tile)
        shown = (b"" if index in left_out else record for index, record in enumerate(records, tile.start))
        files[tile.path] = pack(shown)
    for tile in tiles_of(parts.size):
        files[tile.path] = tile.hashes(parts.hash_at)
    for digest, data in documents(reader, parts):
        files[document_path(digest)] = data
    for path, digest in parts.copies.items():
        found = reader.document(digest)
        if found is None:
            raise DocumentMissing(digest=digest)
        files[path] = found.body
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
    document = json.dumps(shown.as_json(), ensure_ascii=False, indent=2, allow_nan=False)
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
