"""What is fuzzed: each reader of bytes that somebody else may have written, with true examples to begin from.

Whatever the bytes, a reader returns or raises a `LacreError`, which must be able to say itself; `InternalError`
is a fault. A reader comes in by one line in `READERS`.
"""

import base64
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lacre import api
from lacre.audit.heads import Memory
from lacre.audit.register import MANIFEST
from lacre.broker.asking import RequestFile
from lacre.broker.files import parse_given
from lacre.broker.names import split_name
from lacre.canonical import canonical_json, parse_canonical
from lacre.errors import InternalError, LacreError
from lacre.ledger.checkpoint import Checkpoint
from lacre.ledger.envelope import (
    PAYLOAD_BUNDLE,
    PAYLOAD_ENTRY,
    PAYLOAD_REQUEST,
    PAYLOAD_TYPES,
    Envelope,
    Signature,
)
from lacre.ledger.keys import PublicKey
from lacre.ledger.note import Note, VerifierKey
from lacre.ledger.proof import Receipt
from lacre.ledger.statement import Statement
from lacre.ledger.tiles import Tile, pack as pack_tile, unpack as unpack_tile
from lacre.pools import key_backup
from lacre.pools.keyring import open_fingerprint, open_identity, open_signing
from lacre.pools.prints import Prints
from lacre.pools.seal import Context, identities_of_file, unwrap
from lacre.protocol import templates
from lacre.protocol.document import canonical, from_canonical, parse
from lacre.protocol.importing.fairness import import_fairness
from lacre.protocol.strict_yaml import load
from lacre.publish.archive import pack as pack_archive, unpack as unpack_archive
from lacre.publish.manifest import Manifest
from lacre.rules.named import named_by
from lacre.rules.record import columns_of, parse_entry
from lacre.rules.requests import decode_request
from lacre.store import filed, memory

from .artefacts import FAIRNESS, PROTOCOL, Artefacts, digest
from .forging import Forger, edited, put, value_of
from .tables import parquet_seeds, read_parquet_file, read_table_file, table_seeds

Seeds = Callable[[Artefacts], Iterable[bytes]]


@dataclass(frozen=True)
class Reader:
    """A reader of a group: `ready` makes it once the artefacts are there, `seeds` what it truly reads.

    It is given inputs of at most `most` bytes; `cost` is how many times as long it takes for one as a quick one.
    """

    group: str
    ready: Callable[[Artefacts], Callable[[bytes], object]]
    seeds: Seeds
    most: int = 4096
    cost: int = 1


def attempt(read: Callable[[bytes], object], data: bytes) -> LacreError | None:
    """Read `data`; return what refuses it, once that has words that any terminal may be sent."""
    refusal = None
    try:
        read(data)
    except InternalError:
        raise
    except LacreError as error:
        refusal = error
    if refusal is None:
        return None
    for line in f"{refusal.message}\n{refusal.way_out}\n{refusal}".split("\n"):
        assert line.isprintable(), ascii(line)
    assert refusal.code
    return refusal


def _plain(read: Callable[[bytes], object]) -> Callable[[Artefacts], Callable[[bytes], object]]:
    return lambda _made: read


def _both_ways(read: Callable[[bytes], Any], write: Callable[[Any], bytes]) -> Callable[[bytes], object]:
    """Whatever is read is written back as it was."""

    def check(data: bytes) -> object:
        value = read(data)
        assert write(value) == data
        return value

    return check


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


# --- the log's formats -------------------------------------------------------------------------------------


def _envelope(data: bytes) -> object:
    kind = PAYLOAD_TYPES[data[0] % len(PAYLOAD_TYPES)] if data else PAYLOAD_ENTRY
    read: Callable[[bytes], Envelope] = partial(Envelope.decode, payload_type=kind)
    return _both_ways(read, Envelope.encode)(data[1:])


def _in_envelope(payload: bytes, kind: str) -> Envelope:
    return Envelope(kind, payload, (Signature("00" * 32, bytes(64)),))


def _entry(data: bytes) -> object:
    """An entry that says `data`: its signature is not looked at here, and its base64 is no hurdle."""
    recorded = parse_entry(1, _in_envelope(data, PAYLOAD_ENTRY).encode())
    return columns_of(recorded), list(named_by(recorded))


def _statements(made: Artefacts) -> list[bytes]:
    return made.statements


def _requests(made: Artefacts) -> list[bytes]:
    return made.requests


def _asked_entry(made: Artefacts) -> Callable[[bytes], object]:
    """An entry whose request says `data`."""
    index = next(n for n, said in enumerate(made.statements) if b'"kind":"read"' in said or b":read:" in said)
    statement = json.loads(made.statements[index])

    def read(data: bytes) -> object:
        decode_request(data)
        statement["predicate"]["request"] = _in_envelope(data, PAYLOAD_REQUEST).as_json()
        return _entry(canonical_json(statement))

    return read


def _changed(
    examples: Callable[[Artefacts], list[bytes]], ready: Callable[[Artefacts], Callable[[bytes], object]]
) -> Callable[[Artefacts], Callable[[bytes], object]]:
    """Read an example in which one value is another: the canonical form, which mutation breaks, is kept.

    The first byte says which example, two more which place in it; the rest is the value. A byte alone is the
    example as it is.
    """

    def made_ready(made: Artefacts) -> Callable[[bytes], object]:
        read, values = ready(made), [json.loads(each) for each in examples(made)]

        def change(data: bytes) -> object:
            value = values[data[0] % len(values)] if data else values[0]
            if len(data) < 2:
                return read(canonical_json(value))
            return read(canonical_json(put(value, int.from_bytes(data[1:3], "big"), value_of(data[3:]))))

        return change

    return made_ready


_VALUES = [
    b"null",
    b"-1",
    b"1",
    b"1e308",
    b"9007199254740991",
    b'"\\u001b[2J"',
    b"[]",
    b"{}",
    b'"teste"',
    b'"../../x"',
]


def _changes(examples: Callable[[Artefacts], list[bytes]]) -> Seeds:
    """Values at some places; and each example whole, at the first place, which is that of all of it."""

    def seeds(made: Artefacts) -> Iterable[bytes]:
        for n, whole in enumerate(examples(made)):
            yield bytes([n, 0, 0]) + whole
            yield from (bytes([n, 0, 11 * place % 256]) + value for place, value in enumerate(_VALUES))

    return seeds


def _checkpoint(data: bytes) -> object:
    return _both_ways(lambda given: Checkpoint.parse(_text(given)), lambda c: _raw(c.format()))(data)


def _verifier_key(data: bytes) -> object:
    return _both_ways(lambda given: VerifierKey.parse(_text(given)), lambda key: _raw(key.format()))(data)


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _tile_path(data: bytes) -> object:
    return _both_ways(lambda given: Tile.parse(_text(given)), lambda tile: _raw(tile.path))(data)


def _memory(data: bytes) -> object:
    return Memory.parse("file", data)


# --- protocols ---------------------------------------------------------------------------------------------


def _fairness(data: bytes) -> object:
    made = import_fairness(data)
    return parse(made.text.encode()), made.as_json()


def _templates(_made: Artefacts) -> list[bytes]:
    return [PROTOCOL.encode(), *(templates.read(name, "en").encode() for name in templates.names())]


# --- pools and keys ----------------------------------------------------------------------------------------

_HERE = Path("given")


def _request(data: bytes) -> object:
    read = partial(RequestFile.decode, name="asked.lacre")
    return _both_ways(read, lambda asked: b"".join(asked.encode()))(data)


def _request_head(made: Artefacts) -> Callable[[bytes], object]:
    """A request file whose head says `data`, its length right."""
    whole = made.read("asked.lacre")
    start = whole.index(b"\n") + 1
    length = int.from_bytes(whole[start : start + 4], "big")
    before, after = whole[:start], whole[start + 4 + length :]

    return lambda data: RequestFile.decode(
        before + len(data).to_bytes(4, "big") + data + after, "asked.lacre"
    )


def _request_heads(made: Artefacts) -> list[bytes]:
    whole = made.read("asked.lacre")
    start = whole.index(b"\n") + 5
    length = int.from_bytes(whole[start - 4 : start], "big")
    return [whole[start : start + length]]


_PEM = ("PRIVATE KEY", "PUBLIC KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY")


def _der(data: bytes) -> None:
    """What stands in a key's PEM armour, which no mutation of its base64 would get at."""
    label = _PEM[data[0] % len(_PEM)] if data else _PEM[0]
    body = base64.encodebytes(data[1:]).decode()
    _keys(f"-----BEGIN {label}-----\n{body}-----END {label}-----\n".encode())


def _ders(made: Artefacts) -> Iterable[bytes]:
    for number, name in enumerate(("log.pem", "person.pem")):
        lines = made.read(f".lacre/keys/{name}").splitlines()[1:-1]
        yield bytes([number]) + base64.b64decode(b"".join(lines))
    yield (
        b"\1" + bytes.fromhex("302a300506032b6570032100") + made.key("log").public.raw
    )  # RFC 8410, section 4


def _keys(data: bytes) -> None:
    for read in (
        lambda: open_signing(data, None, _HERE),
        lambda: PublicKey.from_pem(data),
        lambda: open_identity(data, None, _HERE),
        lambda: identities_of_file(data),
    ):
        attempt(lambda _data, read=read: read(), data)  # type: ignore[misc]


def _wrapped(made: Artefacts) -> Callable[[bytes], object]:
    """What stands in an age file, and the file itself."""
    (identity,) = identities_of_file(made.read("other.age")) or ()
    context = Context("00" * 32, "small", "teste", "00" * 32)

    def read(data: bytes) -> None:
        inside = identity.encrypt(data[1:])
        for content in (inside, data):
            attempt(lambda given: open_fingerprint(given, lambda: identity, _HERE), content)
            attempt(lambda given: unwrap(given, [identity], context, ["age1"]).key_of("00" * 32), content)

    return read


def _slots(data: bytes) -> None:
    """A machine's memory: its checkpoint, and a document in it, their own checksums right."""
    body = data[1:]
    for slot in (data, digest(body).encode() + b"\n" + body):
        memory._parse(slot, 0)
        filed._parse("00" * 32, slot)


# --- what is published -------------------------------------------------------------------------------------


def _archive(data: bytes) -> object:
    return _both_ways(unpack_archive, pack_archive)(data)


def _manifest(data: bytes) -> object:
    return Manifest.read(_in_envelope(data, PAYLOAD_BUNDLE).encode())


def _verified(made: Artefacts, packed: Callable[[bytes], bytes]) -> Callable[[bytes], object]:
    place = made.folder / "fuzzed.zip"

    def read(data: bytes) -> None:
        place.write_bytes(packed(data))
        verified = api.verify(place)
        for line in str(verified).split("\n"):
            assert line.isprintable(), ascii(line)
            assert not line.startswith("FORGED"), line
        json.dumps(verified.as_json(), allow_nan=False)

    return read


def _forged(made: Artefacts) -> Callable[[bytes], object]:
    return _verified(made, Forger(made).forged)


def _forgeries(made: Artefacts) -> Iterable[bytes]:
    values = [*_VALUES, f"\n{'FORGED ' * 40}".encode(), json.dumps({"FORGED " * 20: "FORGED " * 20}).encode()]
    for part in range(len(made.entries) + 4):
        yield from (
            bytes([part, *(37 * number).to_bytes(2, "big")]) + value for number, value in enumerate(values)
        )


def _edited(made: Artefacts) -> Callable[[bytes], object]:
    return _verified(made, partial(edited, made.files))


def _edits(made: Artefacts) -> Iterable[bytes]:
    for number in range(len(made.files)):
        yield from (bytes([number, 0, 0, 40, how]) + b'":null}' for how in (0, 1, 2, 15))


def _given(data: bytes) -> None:
    """What stands on a command line."""
    text = _text(data)
    attempt(lambda _data: parse_given([text], ["cases", "reviews"], ["old", "new"]), data)
    attempt(lambda _data: split_name(text, "show"), data)


READERS: dict[str, Reader] = {
    "yaml": Reader("protocol", _plain(load), _templates, cost=4),
    "protocol": Reader("protocol", _plain(parse), _templates, cost=10),
    "canonical-protocol": Reader(
        "protocol", _plain(_both_ways(from_canonical, canonical)), lambda made: [made.document("protocol")]
    ),
    "fairness": Reader("protocol", _plain(_fairness), lambda _made: [FAIRNESS.encode()]),
    "given": Reader("protocol", _plain(_given), lambda _made: [b"old:cases=a.csv", b"small@5", b"@3"], 200),
    "canonical": Reader(
        "log", _plain(_both_ways(parse_canonical, canonical_json)), lambda made: [*made.statements, b"1e21"]
    ),
    "envelope": Reader(
        "log", _plain(_envelope), lambda made: [b"\0" + made.entries[0], b"\2" + made.files[MANIFEST]]
    ),
    "statement": Reader(
        "log", _plain(_both_ways(Statement.decode, Statement.encode)), lambda made: made.statements
    ),
    "entry": Reader("log", _plain(_entry), lambda made: made.statements),
    "request": Reader("log", _asked_entry, lambda made: made.requests),
    "entry-changed": Reader("log", _changed(_statements, _plain(_entry)), _changes(_statements)),
    "request-changed": Reader("log", _changed(_requests, _asked_entry), _changes(_requests)),
    "note": Reader(
        "log", _plain(_both_ways(Note.parse, Note.format)), lambda made: [made.files["checkpoint"]]
    ),
    "checkpoint": Reader(
        "log", _plain(_checkpoint), lambda made: [made.files["checkpoint"].partition(b"\n\n")[0] + b"\n"]
    ),
    "receipt": Reader(
        "log", _plain(_both_ways(Receipt.parse, Receipt.format)), lambda made: [made.read("small.receipt")]
    ),
    "verifier-key": Reader(
        "log",
        _plain(_verifier_key),
        lambda made: [VerifierKey("example.org/fuzz", made.key("log").public).format().encode()],
        300,
    ),
    "memory": Reader(
        "log", _plain(_memory), lambda made: [made.read("small.receipt"), made.files["checkpoint"]]
    ),
    "tile": Reader(
        "log",
        _plain(_both_ways(unpack_tile, pack_tile)),
        lambda made: [data for path, data in made.files.items() if path.startswith("tile/")],
        32_000,
    ),
    "tile-path": Reader(
        "log",
        _plain(_tile_path),
        lambda _made: [b"tile/0/x001/234.p/5", b"tile/entries/000", b"tile/63/000"],
        100,
    ),
    "slots": Reader(
        "log",
        _plain(_slots),
        lambda made: [made.memory("checkpoint")[:700], made.memory("checkpoint")[8127:8900]],
    ),
    "table": Reader("tables", _plain(read_table_file), table_seeds),
    "parquet": Reader("tables", _plain(read_parquet_file), parquet_seeds),
    "asked": Reader("pools", _plain(_request), lambda made: [made.read("asked.lacre")], 8192),
    "asked-head": Reader("pools", _request_head, _request_heads),
    "backup": Reader(
        "pools",
        _plain(lambda data: key_backup.unpack(data, None, _HERE)),
        lambda made: [made.read("keys.tar")],
        12_000,
    ),
    "keys": Reader(
        "pools",
        _plain(_keys),
        lambda made: [
            made.read("other.age"),
            made.read(".lacre/keys/log.pem"),
            b"-----BEGIN PUBLIC KEY-----\n",
        ],
    ),
    "key-der": Reader("pools", _plain(_der), _ders, 300),
    "wrapped": Reader(
        "pools", _wrapped, lambda _made: [b"\0" + bytes(64), b"\0" + bytes(96), b"\0" + bytes(32)]
    ),
    "prints": Reader(
        "pools",
        _plain(_both_ways(Prints.decode, Prints.encode)),
        lambda made: [path.read_bytes() for path in sorted((made.folder / "state").rglob("held/*"))],
        8192,
    ),
    "archive": Reader(
        "published", _plain(_archive), lambda _made: [pack_archive({"a": b"1", "b/c": b"", "b/d": b"xyz"})]
    ),
    "manifest": Reader(
        "published",
        _plain(_manifest),
        lambda made: [Envelope.decode(made.files[MANIFEST], payload_type=PAYLOAD_BUNDLE).payload],
    ),
    "bundle": Reader("published", _edited, _edits, 300, cost=40),
    "forged": Reader("published", _forged, _forgeries, 300, cost=40),
}
