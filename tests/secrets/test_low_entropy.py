"""Nobody can tell one small pool from another of the same size by what is public before it is read.

Two pools of 60 cases with two labels could be anything of 2**60, but one in which all labels are 0 or all are 1 is soon
guessed. Whoever guesses right must not be able to see it. What an entry says of a pool's content is

    HMAC-SHA-256(salt, raw)      for each file, with a salt of 32 random bytes that is wrapped to the recipients alone:
                                 to who does not have it a pseudorandom function's value, the same for all content
    SHA-256 of the ciphertext    under a random key of its own, of a length that PADMÉ makes of the file's: AES-GCM
                                 ciphertexts of two texts of one length cannot be told apart, nor can their digests
    SHA-256 of the wrapped key   which does not depend on the content
    SHA-256 of the fingerprints  each print an HMAC under the ledger's fingerprint key, which never leaves it

and, in the clear, the number of rows, of columns that are not declared, of labels that are too early, and of cases that
other pools share. So the two ledgers below, which were one until the seal and take their time and their random bytes
from the same sources, may differ in those digests, and in what is signed over them, and nowhere else; and none of the
digests is one that can be computed from the content and what is public.
"""

import base64
import hashlib
import hmac
import itertools
import json
import random
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from tests.dates import LABELLED
from tests.studies import plan

from lacre.pools import seal as sealing
from lacre.pools.content import Held
from lacre.pools.keyring import Keyring

Shell = Any

PROTOCOL = plan(
    columns={
        "code": "{type: text, is: input}",
        "age": "{type: number}",
        "seen": "{type: time, zone: UTC, is: labelled}",
    },
    attribute={"group": "{type: category, values: [aa, bb]}"},
    pools={"dev": "", "teste": "tables: [cases], planned: {cases: 60}"},
)
HEAD = "case_id,code,label,group,age,seen"
REQUEST = "payload.predicate.request"
MAY_DIFFER = {
    # of the seal
    f"{REQUEST}.payload.records.hmac",
    f"{REQUEST}.payload.ciphertext",  # of the read after it, too
    f"{REQUEST}.payload.wrapped_key",
    f"{REQUEST}.payload.fingerprints",
    "payload.subject.digest.sha256",  # the ciphertext's again
    # of what was signed over that
    f"{REQUEST}.payload.seen.root",
    f"{REQUEST}.signatures.sig",
    "signatures.sig",
}
"""The fields of entries in which two ledgers may differ, by the names on the way to them."""


def pool(label: str, group: str, age: str) -> str:
    """60 cases, all alike but for what names them."""
    rows = [f"case{n:03},code{n * 7919 % 1000:03},{label},{group},{age},{LABELLED}" for n in range(60)]
    return "\n".join([HEAD, *rows]) + "\n"


POOLS = {
    "all-of-the-other": pool("1", "bb", "99"),
    "of-both": re.sub(r"(?m)^(case..[02468],code...),0,aa", r"\1,1,bb", pool("0", "aa", "20")),
    "of-no-declared-value": re.sub(r"(?m)^(case0[0-4].,code...),0,aa", r"\1,7,zz", pool("0", "aa", "20")),
}
"""What a pool with no positive label, in one group, could be taken for."""
PLAIN = pool("0", "aa", "20")


@dataclass(frozen=True)
class Ledger:
    """One of two ledgers that were one, and what is public of it."""

    shell: Shell

    @property
    def registry(self) -> Path:
        return Path(self.shell.folder) / "registry"

    def files(self) -> dict[str, bytes]:
        """The files of the register, each document under one name, since its own is its digest."""
        found = {}
        for path in sorted(self.registry.rglob("*")):
            if path.is_file():
                found[path.relative_to(self.registry).as_posix()] = path.read_bytes()
        return found

    def told(self) -> dict[str, str]:
        """What the verbs say that look."""
        lines = ("status", "log", "show small", "show @2", "show @3", "audit")
        calls = [[*line.split(), *more] for line in lines for more in ([], ["--json"])]
        return {" ".join(words): str(self.shell.lacre(*words).out) for words in calls}

    def entries(self) -> list[bytes]:
        """The entries' bytes, out of the register's tile: each after its length (u16)."""
        (tile,) = self.registry.glob("tile/entries/000.p/*")
        data, found = tile.read_bytes(), []
        while data:
            size = int.from_bytes(data[:2], "big")
            found.append(data[2 : 2 + size])
            data = data[2 + size :]
        return found


@contextmanager
def repeated() -> Iterator[None]:
    """The time and the random bytes of every call are those of the last one that was made so."""
    moments = (datetime.fromisoformat(LABELLED) + timedelta(seconds=n) for n in itertools.count())
    with (
        mock.patch("lacre.handle.making.clock", moments.__next__),
        mock.patch("lacre.handle.making.entropy", random.Random(20260101).randbytes),
    ):
        yield


def sealed(begun: Shell, content: str, to: Path) -> Ledger:
    """A copy of the ledger in which this pool is sealed, and its inputs are handed out."""
    shutil.copytree(begun.folder.parent, to)
    environment = {**begun.environment, "XDG_STATE_HOME": str(to / "state")}
    shell = replace(begun, folder=to / "work", environment=environment)
    (shell.folder / "teste.csv").write_text(content)
    with repeated():
        shell.json("seal", "small", "teste", "teste.csv")
        shell.json("inputs", "small", "teste", "-o", "handed.csv", "--reason", "to predict on")
    shell.json("export", "--registry", "registry")
    return Ledger(shell)


@pytest.fixture(scope="module")
def ledgers(shells: Callable[[], Shell], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ledger]:
    """The plain pool's ledger, and those of the others, which were one until the seal."""
    begun = shells()
    (begun.folder / "protocol.yaml").write_text(PROTOCOL)
    begun.json("init")
    begun.json("register", "protocol.yaml")
    root = tmp_path_factory.mktemp("low")
    return {name: sealed(begun, content, root / name) for name, content in {"plain": PLAIN, **POOLS}.items()}


# --- the same shape


def test_the_pools_are_of_one_size() -> None:
    assert {len(content) for content in POOLS.values()} == {len(PLAIN)}
    assert len({PLAIN, *POOLS.values()}) == 4


@pytest.mark.parametrize("name", POOLS)
def test_entries_differ_in_digests_under_a_secret_alone(ledgers: dict[str, Ledger], name: str) -> None:
    plain, other = (ledgers[each].entries() for each in ("plain", name))
    assert len(plain) == len(other) == 4
    assert plain[:2] == other[:2], "they were one ledger"
    differing = set()
    for one, two in zip(plain, other, strict=True):
        assert len(one) == len(two)
        for path, (a, b) in _differences(_opened(one), _opened(two)):
            differing.add(path)
            assert re.fullmatch("[0-9a-f]{64}", a) or path.endswith("sig"), (path, a)
            assert len(a) == len(b)
    assert differing == MAY_DIFFER


@pytest.mark.parametrize("name", POOLS)
def test_all_else_that_is_public_has_one_shape(ledgers: dict[str, Ledger], name: str) -> None:
    """Files by file and answers by answer: what is not a digest, or a signature, is the same in both."""
    plain, other = ledgers["plain"], ledgers[name]
    ours, theirs = plain.files(), other.files()
    assert [(path, len(data)) for path, data in ours.items()] == [
        (path, len(data)) for path, data in theirs.items()
    ]
    told, said = plain.told(), other.told()
    for call, text in told.items():
        assert _masked(text, plain) == _masked(said[call], other), call
    assert (plain.shell.folder / "handed.csv").read_text() == (other.shell.folder / "handed.csv").read_text()


@pytest.mark.parametrize("name", POOLS)
def test_what_a_custodian_is_handed_has_one_size(ledgers: dict[str, Ledger], name: str) -> None:
    """The inputs are the same here; where they are not, the number of fingerprints tells how many are alike, to who
    has the ledger's folder. A wrapped key is of any size: age puts random bytes of random length into its head.
    """
    sizes = [
        sorted(
            (path.suffix, path.stat().st_size)
            for path in (ledgers[each].shell.folder / ".lacre" / "pools").rglob("*.p*")
        )
        for each in ("plain", name)
    ]
    assert sizes[0] == sizes[1]
    assert {suffix for suffix, _size in sizes[0]} == {".pool", ".prints"}


def _opened(entry: bytes) -> Any:
    """An entry's JSON, with what is JSON in base64 in it opened as well."""

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                name: walk(json.loads(base64.b64decode(inner)) if name == "payload" else inner)
                for name, inner in value.items()
            }
        return [walk(inner) for inner in value] if isinstance(value, list) else value

    return walk(json.loads(entry))


def _differences(one: Any, two: Any, path: str = "") -> Iterator[tuple[str, tuple[Any, Any]]]:
    if isinstance(one, dict):
        assert one.keys() == two.keys()
        for name in one:
            yield from _differences(one[name], two[name], f"{path}.{name}".strip("."))
    elif isinstance(one, list):
        assert len(one) == len(two)
        for a, b in zip(one, two, strict=True):
            yield from _differences(a, b, path)
    elif one != two:
        yield path, (one, two)


def _masked(text: str, ledger: Ledger) -> str:
    """A text without the digests, keys and signatures in it, and without the ledger's place."""
    text = text.replace(str(ledger.shell.folder), "/place")
    text = re.sub(r"[0-9a-f]{12,}", lambda found: "#" * len(found.group()), text)
    return re.sub(r"[A-Za-z0-9+/]{40,}={0,2}", lambda found: "*" * len(found.group()), text)


# --- no digest that can be computed


def test_no_public_digest_can_be_computed_from_a_guess(ledgers: dict[str, Ledger]) -> None:
    """The guess is the right one, and whoever made it tries it under everything that is public.

    Guessed are the file, its packed and padded form, each of its columns and rows and cells, in the forms that one
    would try; alone, after and before, and under as an HMAC's key, each public value. Looked for are the first 16 bytes
    of each SHA-256, which is how short a fingerprint is, in all that is public, whatever it stands in there.
    """
    ledger = ledgers["plain"]
    public = {value for data in _opened_up(ledger) for value in _values(data)}
    keys = {b"", bytes(32), b"lacre fingerprint 1", *public}
    keys |= {word.encode() for word in ("small", "teste", "cases", "csv", "label", "group")}
    tried = 0
    for guess in _guesses(PLAIN):
        for digest in _digests(guess, keys):
            tried += 1
            assert digest not in public
            assert digest[:16] not in public
    assert tried > 100_000


def test_with_the_salt_it_can_be_computed(ledgers: dict[str, Ledger]) -> None:
    """So it is the salt, and nothing else, that keeps a right guess from being seen, and the search above finds it."""
    ledger = ledgers["plain"]
    public = {value for data in _opened_up(ledger) for value in _values(data)}
    folder = ledger.shell.folder / ".lacre"
    (wrapped,) = (folder / "pools").rglob("*.key")
    context = sealing.Context("", "small", "teste", "")
    secrets = sealing.unwrap(wrapped.read_bytes(), [Keyring(folder / "keys").identity], context, [])
    salt = secrets.key_of("").salt
    assert hmac.digest(salt, PLAIN.encode(), "sha256") in public
    assert hmac.digest(salt, POOLS["of-both"].encode(), "sha256") not in public
    assert salt not in public


def _opened_up(ledger: Ledger) -> Iterator[bytes]:
    """Every public text, and all that stands in base64 in it, to any depth."""
    texts = [*ledger.files().values(), *(text.encode() for text in ledger.told().values()), *ledger.entries()]
    while texts:
        text = texts.pop()
        yield text
        held = re.findall(rb"[A-Za-z0-9+/]{40,}={0,2}", text)
        texts += [base64.b64decode(each) for each in held if len(each) % 4 == 0]


def _values(data: bytes) -> Iterator[bytes]:
    """Every digest that `data` may hold: in hexadecimal, or as bytes in a row, and the first half of each."""
    for found in re.findall(rb"[0-9a-f]{32,}", data):
        value = bytes.fromhex(found[: len(found) // 2 * 2].decode())
        yield from (value, value[:32], value[:16])
    if len(data) <= 1024:  # a tile of hashes, a root, a key with what stands before it
        for at in range(max(len(data) - 15, 0)):
            yield from (data[at : at + 32], data[at : at + 16])


def _guesses(content: str) -> Iterator[bytes]:
    raw = content.encode()
    yield raw
    yield b"".join(sealing.pack([Held(raw)]))
    yield len(raw).to_bytes(8, "big") + raw
    head, *rows = content.splitlines()
    yield from {row.encode() for row in rows[:5]}
    columns = list(zip(*(row.split(",") for row in rows), strict=True))
    for name, column in zip(head.split(","), columns, strict=True):
        forms = (
            "".join(column),
            ",".join(column),
            "\n".join(column),
            json.dumps(column, separators=(",", ":")),
        )
        yield from (form.encode() for form in (*forms, *sorted(set(column))[:3], f"{name}={column[0]}"))
        if len(set(column)) <= 2:
            yield json.dumps(
                {value: column.count(value) for value in set(column)}, separators=(",", ":")
            ).encode()
            yield bytes(int(cell == column[0]) for cell in column)


def _digests(guess: bytes, keys: Iterable[bytes]) -> Iterator[bytes]:
    sha256 = hashlib.sha256
    yield sha256(b"\0" + guess).digest()
    yield sha256(sha256(guess).digest()).digest()
    yield sha256(sha256(guess).hexdigest().encode()).digest()
    for key in keys:
        yield sha256(key + guess).digest()
        yield sha256(guess + key).digest()
        yield hmac.digest(key, guess, "sha256")
        yield hmac.digest(key, sha256(guess).digest(), "sha256")
