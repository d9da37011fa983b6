"""What a person met before, in whatever ledger."""

import random
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lacre.errors import MetDamaged
from lacre.pools import met
from lacre.pools.exposure import fingerprint
from lacre.pools.prints import Prints
from lacre.protocol.models import Protocol
from lacre.tables.columns import TypedTable

Entropy = Callable[[int], bytes]
Make = Callable[..., TypedTable]

HERE, THERE, ELSEWHERE = "a" * 64, "b" * 64, "c" * 64


@pytest.fixture
def key(tmp_path: Path, entropy: Entropy) -> bytes:
    return met.person_key(tmp_path, entropy)


@pytest.fixture
def take(protocol: Protocol, table: Make, key: bytes) -> Callable[[str, int, int], Prints]:
    """Fingerprint, under the person's key, the people of a numbered range."""
    ages = [random.Random(number).randrange(10**9) for number in range(1000)]

    def make(genesis: str, start: int, stop: int) -> Prints:
        ids = [f"{genesis[0]}{number}" for number in range(start, stop)]
        tables = {"cases": table(ids, age=ages[start:stop])}
        return fingerprint(tables, protocol, study="alvo", genesis=genesis, key=key)

    return make


def test_nothing_was_met_at_first(tmp_path: Path, take: Callable[..., Prints]) -> None:
    assert met.met_elsewhere(tmp_path, HERE, take(HERE, 0, 100)) == 0
    assert met.met_elsewhere(tmp_path / "never", HERE, take(HERE, 0, 100)) == 0


def test_cases_read_in_other_ledgers_are_known_again_once(
    tmp_path: Path, take: Callable[..., Prints]
) -> None:
    met.remember(tmp_path, THERE, take(THERE, 0, 100))
    met.remember(tmp_path, THERE, take(THERE, 0, 100))
    met.remember(tmp_path, ELSEWHERE, take(ELSEWHERE, 50, 150))
    assert met.met_elsewhere(tmp_path, HERE, take(HERE, 0, 300)) == 150
    assert met.met_elsewhere(tmp_path, HERE, take(HERE, 200, 300)) == 0
    assert met.met_elsewhere(tmp_path, THERE, take(THERE, 0, 300)) == 100
    assert len(list((tmp_path / "met" / THERE).iterdir())) == 1


def test_what_was_read_in_the_same_ledger_is_that_ledgers_business(
    tmp_path: Path, take: Callable[..., Prints]
) -> None:
    met.remember(tmp_path, HERE, take(HERE, 0, 100))
    assert met.met_elsewhere(tmp_path, HERE, take(HERE, 0, 100)) == 0


def test_the_key_is_made_once_and_private(tmp_path: Path, entropy: Entropy, key: bytes) -> None:
    assert len(key) == 32
    assert met.person_key(tmp_path, entropy) == key
    assert stat.S_IMODE((tmp_path / "met" / "key").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "met").stat().st_mode) == 0o700


def test_all_who_make_the_key_at_once_get_the_same(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(lambda n: met.person_key(tmp_path, random.Random(n).randbytes), range(24)))
    assert len(set(keys)) == 1


def test_all_who_remember_at_once_are_remembered(tmp_path: Path, take: Callable[..., Prints]) -> None:
    made = [take(THERE, 40 * n, 40 * n + 40) for n in range(20)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda prints: met.remember(tmp_path, THERE, prints), made * 2))
    assert met.met_elsewhere(tmp_path, HERE, take(HERE, 0, 1000)) == 800


def test_a_damaged_memory_is_refused_with_the_way_out(tmp_path: Path, take: Callable[..., Prints]) -> None:
    prints = take(THERE, 0, 100)
    met.remember(tmp_path, THERE, prints)
    (path,) = (tmp_path / "met" / THERE).iterdir()
    content = path.read_bytes()
    for damaged in (content[:-1], b"", content.replace(b"lacre", b"LACRE")):
        path.write_bytes(damaged)
        with pytest.raises(MetDamaged, match=path.name) as refused:
            met.met_elsewhere(tmp_path, HERE, take(HERE, 0, 100))
        assert "move it away" in refused.value.way_out
    path.unlink()
    assert met.met_elsewhere(tmp_path, HERE, take(HERE, 0, 100)) == 0


def test_files_of_another_form_or_another_key_are_refused(
    tmp_path: Path, take: Callable[..., Prints]
) -> None:
    met.remember(tmp_path, THERE, Prints(bytes(16), {}))
    with pytest.raises(MetDamaged, match="another key"):
        met.met_elsewhere(tmp_path, HERE, take(HERE, 0, 100))


def test_files_of_others_are_left_alone(tmp_path: Path, take: Callable[..., Prints]) -> None:
    met.remember(tmp_path, THERE, take(THERE, 0, 100))
    (tmp_path / "met" / THERE / ".DS_Store").write_bytes(b"?")
    (tmp_path / "met" / "notes.txt").write_bytes(b"?")
    assert met.met_elsewhere(tmp_path, HERE, take(HERE, 0, 100)) == 100


def test_a_damaged_key_is_refused(tmp_path: Path, entropy: Entropy, key: bytes) -> None:
    (tmp_path / "met" / "key").write_bytes(key[:-1])
    with pytest.raises(MetDamaged, match="32 bytes"):
        met.person_key(tmp_path, entropy)
