"""Keys with known seeds, and the folder of vectors."""

from pathlib import Path

import pytest

from lacre.ledger.keys import PrivateKey


@pytest.fixture(scope="session")
def vectors() -> Path:
    return Path(__file__).parents[2] / "vectors" / "ledger"


@pytest.fixture(scope="session")
def owner() -> PrivateKey:
    return PrivateKey.from_seed(b"\x01" * 32)


@pytest.fixture(scope="session")
def broker() -> PrivateKey:
    return PrivateKey.from_seed(b"\x02" * 32)


@pytest.fixture(scope="session")
def log() -> PrivateKey:
    return PrivateKey.from_seed(b"\x03" * 32)


@pytest.fixture(scope="session")
def next_log() -> PrivateKey:
    return PrivateKey.from_seed(b"\x04" * 32)
