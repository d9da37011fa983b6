"""Fuzzing, for as long as a test may take: the readers of `tests.fuzz.readers`, each from its true examples on.

For longer: ``python -m tests.fuzz all -runs=-1 -max_total_time=600``.
"""

import importlib.util
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fuzz import __main__ as fuzz
from tests.fuzz.artefacts import Artefacts, make
from tests.fuzz.forging import Forger
from tests.fuzz.readers import READERS, attempt

from lacre import api
from lacre.errors import InternalError, LacreError, NotAName

ROOT = Path(__file__).resolve().parents[2]
RUNS, SEED = 1500, 20260902
BUILT = sys.platform == "linux" and platform.machine() == "x86_64" and sys.version_info < (3, 14)
"""Where there is an atheris to install: pyproject.toml asks for it in the same words."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Artefacts:
    return make(tmp_path_factory.mktemp("artefacts"))


def test_no_reader_fails_on_what_the_fuzzer_finds(tmp_path: Path, absent: Callable[[str, str], None]) -> None:
    """A process of its own, in which lacre counts its branches."""
    if importlib.util.find_spec("atheris") is None:
        if not BUILT:
            pytest.skip("there is no atheris for this Python, or this machine")
        absent("atheris, which fuzzes by coverage,", "tools")
    words = ["all", f"-runs={RUNS}", f"-seed={SEED}", "-verbosity=0", f"-artifact_prefix={tmp_path}/"]
    ran = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *words],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=600,
    )
    left = {path.name: path.read_bytes() for path in tmp_path.glob("*crash-*")}
    assert ran.returncode == 0, f"{ran.stderr[-6000:]}\n{left}"
    assert f"{len(READERS)} readers, failed: none" in ran.stderr


@pytest.mark.parametrize("name", READERS)
def test_true_examples_are_read(name: str, made: Artefacts) -> None:
    """Else the fuzzer would never get past the first check."""
    reader = READERS[name]
    read = reader.ready(made)
    seeds = list(reader.seeds(made))
    assert seeds
    assert any(attempt(read, bytes(seed)) is None for seed in seeds)
    assert all(len(seed) <= reader.most for seed in seeds if name not in {"protocol", "yaml"})


def test_a_forged_bundle_is_sound_where_nothing_was_changed(made: Artefacts, tmp_path: Path) -> None:
    """All its signatures and digests are right, so that what lies behind them is what gets fuzzed."""
    forger = Forger(made)
    assert api.verify(made.folder / "result.zip").ok
    (tmp_path / "same.zip").write_bytes(forger._packed(made.entries, {}))
    assert api.verify(tmp_path / "same.zip").ok
    place = next(n for n, said in enumerate(made.statements) if b"urn:lacre:result:" in said)
    (tmp_path / "other.zip").write_bytes(forger.forged(bytes([place, 0, 0]) + b'"FAIL"'))
    codes = {found.code for found in api.verify(tmp_path / "other.zip").findings}
    assert codes
    assert not {"signature-missing", "checkpoint-invalid", "file-differs", "manifest-differs"} & codes


def test_what_is_no_refusal_of_lacres_ends_the_fuzzing() -> None:
    def fails(error: Exception) -> Callable[[bytes], object]:
        def read(_data: bytes) -> object:
            raise error

        return read

    assert isinstance(attempt(fails(NotAName(what="\x1b[2J", verb="show")), b""), LacreError)
    for error in (ValueError(), InternalError(kind="x", where="y"), RecursionError(), MemoryError()):
        with pytest.raises(type(error)):
            attempt(fails(error), b"")
    assert fuzz._apart(lambda: 0) == 0
    assert fuzz._apart(lambda: attempt(fails(ValueError()), b"")) == 1


def test_without_atheris_examples_are_mutated_blindly(made: Artefacts, tmp_path: Path) -> None:
    options = {**fuzz.LIMITS, "runs": "300", "artifact_prefix": f"{tmp_path}/"}
    fuzz._Run("note", READERS["note"], made, attempt, options).fuzz(None)
    with pytest.raises(ZeroDivisionError):
        fuzz._Run("note", READERS["note"], made, lambda _read, data: 1 // (b"\0" not in data), options).fuzz(
            None
        )
    (left,) = tmp_path.iterdir()
    assert left.name.startswith("note-crash-")
    assert b"\0" in left.read_bytes()
