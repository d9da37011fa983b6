"""CONTRIBUTING.md and README.md say what is there: names, files, rooms, layers, and the walk through one reveal."""

import importlib
import inspect
import re
import sys
import tomllib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import cast

import pytest
from tests.studies import plan

from lacre import api
from lacre.cli import main

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "lacre"
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in (ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "tests").rglob("README.md")))
}
NAME = re.compile(r"`(lacre(?:\.\w+)+)")
FILE = re.compile(r"`((?:[\w.-]+/)+(?:[\w.-]+\.(?:py|md|yaml|json))?)`")
PROTOCOL = plan("walk")


def section(title: str) -> str:
    return CONTRIBUTING.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def resolve(name: str) -> object:
    """The module, class, function or value of this name. Raises `AttributeError`, `ModuleNotFoundError`."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


# --- names and files ---------------------------------------------------------------------------------------


def test_enough_names_are_found_to_be_worth_it() -> None:
    names, files = set(NAME.findall(CONTRIBUTING)), set(FILE.findall(CONTRIBUTING))
    assert len(names) > 20
    assert {"cli/reads.py", "tests/architecture/"} < files


@pytest.mark.parametrize("page", PAGES)
def test_every_dotted_name_is_there(page: str) -> None:
    for name in NAME.findall(PAGES[page]):
        assert resolve(name) is not None, name


@pytest.mark.parametrize("page", PAGES)
def test_every_path_is_there(page: str) -> None:
    """Of files and folders, in the repository or in the package; those of others are written as addresses."""
    for path in FILE.findall(PAGES[page]):
        assert any((folder / path).exists() for folder in (ROOT, SOURCE)), path


@pytest.mark.parametrize("page", PAGES)
def test_every_link_within_the_repository_is_there(page: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", PAGES[page]):
        assert "://" in target or ((ROOT / page).parent / target).exists(), target


# --- the house ---------------------------------------------------------------------------------------------


def test_the_rooms_are_those_of_the_package() -> None:
    table = section("The house").partition("|---|---|\n")[2].partition("\n\n")[0]
    told = [name for row in table.splitlines() for name in re.findall(r"`([^`]+)`", row.split("|")[1])]
    stand = [f"{path.parent.name}/" for path in SOURCE.glob("*/__init__.py") if path.parent.name != "errors"]
    stand += ["errors", *(path.stem for path in SOURCE.glob("*.py") if path.stem != "__init__")]
    assert sorted(told) == sorted(stand)


def test_the_layers_are_drawn_as_the_contract_has_them() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    drawn = " ".join(line for line in section("The house").splitlines() if line.startswith("    "))
    assert [layer.strip() for layer in drawn.split(">")] == layers


# --- the walk ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> list[CodeType]:
    """Every call of a function of the package in one reveal, in order."""
    folder = tmp_path_factory.mktemp("walk")
    (folder / "plan.yaml").write_text(PROTOCOL)
    cases = [f"{n},{n // 2 % 2},{('male', 'female')[n % 2]}" for n in range(60)]
    predictions = [f"{n},{n // 2 % 2}" for n in range(60)]
    (folder / "cases.csv").write_text("\n".join(["case_id,label,sex", *cases]) + "\n")
    (folder / "predictions.csv").write_text("\n".join(["case_id,prediction", *predictions]) + "\n")
    with api.init(folder, name="Ana", state=folder / "state" / "lacre") as ledger:
        ledger.register(folder / "plan.yaml")
        ledger.seal("walk", "teste", folder / "cases.csv")
    made: list[CodeType] = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(SOURCE)):
            made.append(frame.f_code)

    words = ["reveal", "walk", "--ledger", str(folder), "--submission", str(folder / "predictions.csv")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        before = sys.getprofile()
        sys.setprofile(note)
        try:
            status = main([*words, "--protocol", str(folder / "plan.yaml")])
        finally:
            sys.setprofile(before)
    assert status == 0
    return made


def test_the_walk_is_the_way_that_a_reveal_goes(
    calls: list[CodeType], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each function that is named is called, for the first time, after those that are named before it."""
    steps = section("One reveal, walked through").partition("\n\n")[0]
    first: dict[CodeType, int] = {}
    for at, code in enumerate(calls):
        first.setdefault(code, at)
    walked: list[tuple[str, int]] = []
    for name in re.findall(r"`(lacre(?:\.\w+)+|cli/\w+\.py)`", steps):
        found = SOURCE / name if name.endswith(".py") else resolve(name)
        if isinstance(found, Path):
            at = next(at for at, code in enumerate(calls) if code.co_filename == str(found))
        elif isinstance(found, ModuleType):  # a room: whatever of it is called next
            inside = str(Path(str(found.__file__)).parent)
            last = walked[-1][1]
            at = next(
                at for at, code in enumerate(calls) if at > last and code.co_filename.startswith(inside)
            )
        else:
            at = first[inspect.unwrap(cast("Callable[..., object]", found)).__code__]
        walked.append((name, at))
    assert len(walked) > 18
    for (before, earlier), (after, later) in pairwise(walked):
        assert earlier < later, f"{after} comes before {before}"
