"""Work that lacre does for each command, done once for each process that runs tests.

What is remembered is what pure functions return of immutable bytes, never a refusal: so whatever was changed is read
anew, and each suite still proves what it proved. Their own suites call these functions by the names that they have at
home, past all that is remembered here.
"""

from __future__ import annotations

import copy
import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyrage
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

from lacre import durable
from lacre.errors import LedgerExists
from lacre.store import engine

if TYPE_CHECKING:
    import pytest
    from sqlalchemy import Engine

    from lacre.protocol.models import Protocol

FSYNC, PRAGMAS = os.fsync, engine.PRAGMAS
"""What `wait_for_no_disk` takes away, for the tests that are of it."""


def wait_for_no_disk(patch: pytest.MonkeyPatch) -> None:
    """Flush nothing: nobody cuts the power of the process that runs the tests.

    `tests.crash` cuts that of processes of its own, which flush as lacre does.
    """
    patch.setattr(os, "fsync", lambda _handle: None)
    patch.setattr(engine, "PRAGMAS", (*PRAGMAS, "synchronous = OFF"))


def flush_again(patch: pytest.MonkeyPatch) -> None:
    """Undo that."""
    patch.setattr(os, "fsync", FSYNC)
    patch.setattr(engine, "PRAGMAS", PRAGMAS)


def migrate_once(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let `init` begin with a copy of one empty database, made in `folder` when first asked for.

    The migrations themselves are run by the suites of the store, and by each call of lacre that is a process.
    """
    from lacre.broker import init

    @lru_cache(1)
    def empty() -> bytes:
        engine.create_ledger(folder / "ledger.db").dispose()
        return (folder / "ledger.db").read_bytes()

    def create_ledger(path: Path) -> Engine:
        if not durable.create_durably(path, empty()):
            raise LedgerExists(path=str(path))
        return engine.make_engine(path)

    patch.setattr(init, "create_ledger", create_ledger)


def load_once(patch: pytest.MonkeyPatch) -> None:
    """Read the YAML of each protocol once."""
    from lacre.protocol import document, strict_yaml

    loaded = lru_cache(256)(strict_yaml.load)
    patch.setattr(document, "load", lambda data, name: copy.deepcopy(loaded(data, name)))


def simulate_once(patch: pytest.MonkeyPatch) -> None:
    """Find out once what a protocol's criteria need, when it is registered or amended."""
    from lacre.broker import amend, register
    from lacre.protocol.document import protocol_hash

    find = register.infeasible_criteria
    found: dict[str, Any] = {}

    def infeasible_criteria(protocol: Protocol) -> Any:
        digest = protocol_hash(protocol)
        if digest not in found:
            found[digest] = find(protocol)
        return found[digest]

    for verb in (register, amend):
        patch.setattr(verb, "infeasible_criteria", infeasible_criteria)


def open_once(patch: pytest.MonkeyPatch) -> None:
    """Open each file that age closed with a passphrase once: scrypt takes a second of it, as it should."""
    patch.setattr(pyrage.passphrase, "decrypt", lru_cache(256)(pyrage.passphrase.decrypt))


def read_once(patch: pytest.MonkeyPatch) -> None:
    """Read each entry and each protocol of a history once, and verify each signature once."""
    from lacre.audit import register, walk
    from lacre.ledger.keys import PublicKey
    from lacre.publish import verify

    for reader, name in (
        (walk, "parse_entry"),
        (register, "parse_entry"),
        (walk, "from_canonical"),
        (verify, "from_canonical"),
    ):
        patch.setattr(reader, name, lru_cache(1 << 12)(getattr(reader, name)))
    patch.setattr(PublicKey, "verify", lru_cache(1 << 13)(PublicKey.verify))


def compile_once(patch: pytest.MonkeyPatch) -> None:
    """Let SQLAlchemy compile each statement once for all engines that come and go."""
    cache: LRUCache[Any, Any] = LRUCache(2000)
    store: Any = engine
    make = store.create_engine

    def sharing(*given: Any, **named: Any) -> Any:
        made = make(*given, **named)
        made._compiled_cache = cache
        return made

    patch.setattr(store, "create_engine", sharing)
    # The keys of the cache have the dialect in them, and all of these are one.
    patch.setattr(SQLiteDialect_pysqlite, "__hash__", lambda _dialect: 0, raising=False)
    patch.setattr(
        SQLiteDialect_pysqlite, "__eq__", lambda one, other: type(one) is type(other), raising=False
    )
