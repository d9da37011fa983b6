"""Make the vectors beside this file, from fixed keys, without a line of lacre.

    python tests/vectors/ledger/make.py [FOLDER]

Only hashlib, json, base64 and the Ed25519 of cryptography are used; README.md here says what each format is.
The tests run this again and compare every byte.
"""

import base64
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ORIGIN = "lacre/0a1b2c3d"
OWNER = Ed25519PrivateKey.from_private_bytes(b"\x01" * 32)
BROKER = Ed25519PrivateKey.from_private_bytes(b"\x02" * 32)
LOG = Ed25519PrivateKey.from_private_bytes(b"\x03" * 32)
NEXT_LOG = Ed25519PrivateKey.from_private_bytes(b"\x04" * 32)


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def compact(value: Any) -> bytes:
    """The RFC 8785 form, for values with ASCII keys and without floats."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def raw(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes_raw()


def envelope(payload_type: str, payload: bytes, *keys: Ed25519PrivateKey) -> dict[str, Any]:
    kind = payload_type.encode()
    message = b"DSSEv1 " + b" ".join([str(len(kind)).encode(), kind, str(len(payload)).encode(), payload])
    return {
        "payload": b64(payload),
        "payloadType": payload_type,
        "signatures": [{"keyid": sha256(raw(key)).hex(), "sig": b64(key.sign(message))} for key in keys],
    }


def statement(kind: str, subjects: dict[str, str], predicate: dict[str, Any]) -> bytes:
    return compact(
        {
            "_type": "https://in-toto.io/Statement/v1",
            "predicateType": f"urn:lacre:{kind}:v1",
            "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in subjects.items()],
            "predicate": predicate,
        }
    )


def root(leaves: list[bytes]) -> bytes:
    """MTH of RFC 6962 section 2.1, on leaf hashes."""
    if not leaves:
        return sha256(b"")
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01" + root(leaves[:split]) + root(leaves[split:]))


def path(index: int, leaves: list[bytes]) -> list[bytes]:
    """PATH of RFC 6962 section 2.1.1, on leaf hashes."""
    if len(leaves) == 1:
        return []
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    if index < split:
        return [*path(index, leaves[:split]), root(leaves[split:])]
    return [*path(index - split, leaves[split:]), root(leaves[:split])]


def key_id(key: Ed25519PrivateKey) -> bytes:
    return sha256(ORIGIN.encode() + b"\n\x01" + raw(key))[:4]


def note(text: str, *keys: Ed25519PrivateKey) -> str:
    lines = ""
    for key in keys:
        lines += f"\u2014 {ORIGIN} {b64(key_id(key) + key.sign(text.encode()))}\n"
    return f"{text}\n{lines}"


def entries() -> list[bytes]:
    request = envelope(
        "application/vnd.lacre.request+json",
        compact(
            {"verb": "register", "study": "vies", "nonce": "00" * 16, "words": "até já, 世界 \U0001d11e"}
        ),
        OWNER,
    )
    digest = sha256(b"a document").hex()
    statements = [
        (statement("genesis", {"ledger": digest}, {"origin": ORIGIN, "id": "ab" * 16}), (OWNER, BROKER)),
        (statement("register", {"protocol": digest}, {"request": request, "law": 1}), (BROKER,)),
        (
            statement("seal", {"pool/teste": digest, "ficha-técnica": digest}, {"rows": {"a": 7214}}),
            (BROKER,),
        ),
        (statement("read", {"pool/teste": digest}, {"number": 1, "class": "teste", "burns": []}), (BROKER,)),
        (statement("result", {"result": digest}, {"read": 3, "state": None, "open": False}), (BROKER,)),
    ]
    return [compact(envelope("application/vnd.in-toto+json", payload, *keys)) for payload, keys in statements]


def vectors() -> dict[str, bytes]:
    """Every file's name and bytes."""
    logged = entries()
    leaves = [sha256(b"\x00" + entry) for entry in logged]
    body = f"{ORIGIN}\n{len(leaves)}\n{b64(root(leaves))}\n"
    signed = note(body, LOG)
    files = {f"entry-{index}.json": entry for index, entry in enumerate(logged)}
    files["checkpoint.txt"] = signed.encode()
    files["checkpoint-two-keys.txt"] = note(body, LOG, NEXT_LOG).encode()
    for index in (0, 4):
        hashes = "".join(f"{b64(digest)}\n" for digest in path(index, leaves))
        files[f"entry-{index}.tlog-proof"] = (
            f"c2sp.org/tlog-proof@v1\nindex {index}\n{hashes}\n{signed}".encode()
        )
    keys = [f"{ORIGIN}+{key_id(key).hex()}+{b64(bytes([1]) + raw(key))}\n" for key in (LOG, NEXT_LOG)]
    files["verifier-keys.txt"] = "".join(keys).encode()
    return files


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, data in vectors().items():
        (folder / name).write_bytes(data)
