"""A pool's fingerprints under the person's key, kept from its seal to its reads.

What a person met in other ledgers is known by that key alone, and a pool is closed once it is sealed; so its
prints are made then and laid aside, that a later read can be held against what was met in the meantime.
"""

from pathlib import Path

from lacre.durable import create_durably, make_folder, read_hashed
from lacre.errors import FileMissing, MetDamaged, PrintsInvalid
from lacre.pools.prints import Prints


def hold(folder: Path, digest: str, prints: Prints) -> None:
    """Keep `prints`, made under the person's key, for the pool whose own fingerprints have `digest`."""
    create_durably(make_folder(folder / "held") / digest, prints.encode())


def held(folder: Path, digest: str) -> Prints | None:
    """The prints kept for that pool; None where it was sealed on another machine. Raises `MetDamaged`."""
    path = folder / "held" / digest
    try:
        content, _digest = read_hashed(path)
    except FileMissing:
        return None
    try:
        return Prints.decode(content)
    except PrintsInvalid as error:
        raise MetDamaged(path=str(path), why=error.fields["why"]) from error
