"""A bundle whose owner is hostile: any part of what it says is another, and everything is signed again.

So the fuzzer meets what lies behind signatures and digests, which no mutation of bytes would ever pass.
"""

import base64
import json
from collections.abc import Iterator, Sequence
from typing import Any

from lacre.audit.register import CHECKPOINT, MANIFEST, RESULT_JSON, document_path
from lacre.audit.tree import Tree
from lacre.canonical import canonical_json
from lacre.errors import LacreError
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.envelope import PAYLOAD_ENTRY, PAYLOAD_REQUEST, Envelope
from lacre.ledger.merkle import leaf_hash
from lacre.ledger.statement import Statement
from lacre.ledger.tiles import bundles_of, pack, tiles_of
from lacre.publish.archive import pack as pack_archive
from lacre.publish.manifest import Manifest, digests

from .artefacts import Artefacts, digest

Step = str | int


class Forger:
    """Makes bundles of a ledger whose keys are at hand."""

    def __init__(self, made: Artefacts) -> None:
        self._files = made.files
        self._entries = made.entries
        self._keys = {name: made.key(name) for name in ("person", "broker", "log")}
        self._manifest, _envelope = Manifest.read(made.files[MANIFEST])
        self._origin = Checkpoint.of_note(made.files[CHECKPOINT]).origin
        self._documents = sorted(path for path in made.files if path.startswith("small/"))

    def forged(self, data: bytes) -> bytes:
        """Return the bundle that `data` asks for: which part, which place in it, and the text that is put there.

        The first byte chooses an entry, a document or `result.json`; two more the place; the rest is JSON, or
        else text.
        """
        part, place, value = data[:1], int.from_bytes(data[1:3], "big"), value_of(data[3:])
        number = part[0] % (len(self._entries) + len(self._documents) + 1) if part else 0
        if number < len(self._entries):
            return self._packed(self._changed_entry(number, place, value), {})
        number -= len(self._entries)
        if number < len(self._documents):
            return self._changed_document(self._documents[number], place, value)
        shown = put(json.loads(self._files[RESULT_JSON]), place, value)
        return self._packed(self._entries, {RESULT_JSON: json.dumps(shown).encode("utf-8", "replace")})

    def _changed_entry(self, index: int, place: int, value: Any) -> list[bytes]:
        statement = Statement.decode(Envelope.decode(self._entries[index]).payload)
        predicate: Any = dict(statement.predicate)
        if "request" in predicate and place % 2:
            request = json.loads(base64.b64decode(predicate["request"]["payload"]))
            body = canonical_json(put(request, place // 2, value))
            signer = self._keys["person"]
            predicate["request"] = Envelope.sign(PAYLOAD_REQUEST, body, [signer]).as_json()
        else:
            predicate = put(predicate, place // 2, value, below=True)
        return self._signed(index, Statement(statement.kind, statement.subjects, predicate))

    def _signed(self, index: int, statement: Statement) -> list[bytes]:
        signers = [self._keys["person"], self._keys["broker"]] if index == 0 else [self._keys["broker"]]
        data = Envelope.sign(PAYLOAD_ENTRY, statement.encode(), signers).encode()
        return [*self._entries[:index], data, *self._entries[index + 1 :]]

    def _changed_document(self, path: str, place: int, value: Any) -> bytes:
        """Change a protocol or a result, and whatever names it by its digest."""
        before = self._files[path]
        after = canonical_json(put(json.loads(before), place, value))
        old, new = digest(before), digest(after)
        entries: list[bytes] = []
        for index, data in enumerate(self._entries):
            payload = Envelope.decode(data).payload
            said = json.loads(payload)
            asked = said["predicate"].get("request")
            if asked is not None:
                request = json.loads(base64.b64decode(asked["payload"]))
                body = canonical_json(_renamed(request, old, new))
                said["predicate"]["request"] = Envelope.sign(
                    PAYLOAD_REQUEST, body, [self._keys["person"]]
                ).as_json()
            statement = Statement.decode(canonical_json(_renamed(said, old, new)))
            changed = data
            if canonical_json(_renamed(said, old, new)) != payload:
                changed = self._signed(index, statement)[index]
            entries.append(changed)
        return self._packed(entries, {document_path(old): None, document_path(new): after, path: after})

    def _packed(self, entries: Sequence[bytes], changed: dict[str, Any]) -> bytes:
        tree = Tree()
        for entry in entries:
            tree.append(leaf_hash(entry))
        checkpoint = Checkpoint(self._origin, tree.size, tree.root)

        def hash_at(level: int, position: int) -> bytes:
            return tree.hash_at(level, position) or b""

        rest = {path: data for path, data in {**self._files, **changed}.items() if data is not None}
        rest[CHECKPOINT] = SignedCheckpoint.sign(checkpoint, [self._keys["log"]]).note
        for tile in bundles_of(tree.size):
            rest[tile.path] = pack(entries[tile.start : tile.stop])
        for tile in tiles_of(tree.size):
            rest[tile.path] = tile.hashes(hash_at)
        del rest[MANIFEST]
        manifest = self._manifest.model_copy(
            update={
                "genesis": leaf_hash(entries[0]).hex(),
                "root": tree.root.hex(),
                "files": digests(rest),
            }
        )
        return pack_archive({**rest, MANIFEST: manifest.signed(self._keys["broker"])})


def edited(files: dict[str, bytes], data: bytes) -> bytes:
    """Return a bundle of `files` of which one was changed, as its bytes are: the container is sound."""
    paths = sorted(files)
    path = paths[data[0] % len(paths)] if data else paths[0]
    at = int.from_bytes(data[1:4], "big") % (len(files[path]) + 1)
    how, new = data[4] if len(data) > 4 else 0, data[5:]
    before, after = files[path][:at], files[path][at + (len(new) if how % 2 else 0) :]
    changed = {**files, path: before + new + (b"" if how % 3 == 2 else after)}
    if how % 16 == 15:
        del changed[path]
    return pack_archive(changed)


def leaves(value: Any, path: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    """Yield the path to every part of a JSON value, the whole first."""
    yield path
    items: Iterator[tuple[Any, Any]] = iter(())
    if isinstance(value, dict):
        items = iter(value.items())
    elif isinstance(value, list):
        items = iter(enumerate(value))
    for step, each in items:
        yield from leaves(each, (*path, step))


def put(value: Any, place: int, new: Any, *, below: bool = False) -> Any:
    """Put `new` at the place of this number, counted through; `below` leaves the whole as it is."""
    paths = [path for path in leaves(value) if path or not below]
    return replaced(value, paths[place % len(paths)], new)


def replaced(value: Any, path: tuple[Step, ...], new: Any) -> Any:
    """Return a JSON value with `new` in place of what is at `path`."""
    if not path:
        return new
    copied: Any = dict(value) if isinstance(value, dict) else list(value)
    copied[path[0]] = replaced(value[path[0]], path[1:], new)
    return copied


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(each, old, new) for key, each in value.items()}
    if isinstance(value, list):
        return [_renamed(each, old, new) for each in value]
    return value.replace(old, new) if isinstance(value, str) else value


def value_of(data: bytes) -> Any:
    """Return the JSON value that `data` is the text of, or else a text."""
    try:
        value = json.loads(data)
        canonical_json(value)
    except (ValueError, RecursionError, LacreError):
        return data.decode("utf-8", "replace")
    return value
