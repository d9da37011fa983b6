"""What a person has met: cases read in any ledger on this machine, as fingerprints under a key of its own.

In the state folder, beside what else this machine remembers::

    met/key                                 32 random bytes, made once
    met/<genesis>/<sha256>.prints           the fingerprints of one pool whose content was read in that ledger

Each file is written once, whole, under its own digest, and never changed: processes that remember at the same
time need no lock, and remembering twice is remembering once. The prints are of no use without the key, and
those of a ledger's own fingerprint key say nothing here.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from lacre.canonical import sha256_hex
from lacre.durable import create_durably, list_folder, make_folder, read_hashed
from lacre.errors import FileMissing, MetDamaged, PrintsInvalid
from lacre.pools.exposure import exposed
from lacre.pools.prints import Prints
from lacre.text import _

KEY_SIZE = 32
_SUFFIX = ".prints"
_GENESIS = re.compile(r"[0-9a-f]{64}")


def person_key(folder: Path, entropy: Callable[[int], bytes]) -> bytes:
    """Return the key of the person's memory in `folder`, made at the first call.

    Of several processes at once one makes it, and all get the same. Raises `MetDamaged`, `DiskFull`,
    `NotWritten`, `NotReadable`.
    """
    path = folder / "met" / "key"
    try:
        key, _digest = read_hashed(path)
    except FileMissing:
        make_folder(path.parent)
        create_durably(path, entropy(KEY_SIZE))
        # Another process may have been first: what is there now is everyone's.
        key, _digest = read_hashed(path)
    if len(key) != KEY_SIZE:
        raise MetDamaged(path=str(path), why=_("it does not hold 32 bytes"))
    return key


def remember(folder: Path, genesis: str, prints: Prints) -> None:
    """Remember that the content with these `prints`, made under the person's key, was read in a ledger.

    `genesis` is the ledger's genesis hash in hexadecimal. Raises `DiskFull`, `NotWritten`.
    """
    content = prints.encode()
    place = make_folder(folder / "met" / genesis)
    create_durably(place / f"{sha256_hex(content)}{_SUFFIX}", content)


def met_elsewhere(folder: Path, genesis: str, prints: Prints) -> int:
    """Return how many of a pool's cases, at least, were read in ledgers other than that of `genesis`.

    `prints` are made under the person's key. Raises `MetDamaged`, `NotReadable`.
    """
    return exposed(prints, _remembered(folder / "met", genesis, prints))


def _remembered(folder: Path, genesis: str, prints: Prints) -> Iterator[Prints]:
    for ledger in list_folder(folder):
        if _GENESIS.fullmatch(ledger.name) and ledger.name != genesis:
            for path in list_folder(ledger):
                if path.name.endswith(_SUFFIX):
                    yield _load(path, prints)


def _load(path: Path, prints: Prints) -> Prints:
    content, digest = read_hashed(path)
    if digest != path.name.removesuffix(_SUFFIX):
        raise MetDamaged(path=str(path), why=_("its SHA-256 is not the one it is named by"))
    try:
        found = Prints.decode(content)
        found.require_same_key(prints)
    except PrintsInvalid as error:
        raise MetDamaged(path=str(path), why=error.fields["why"]) from error
    return found
