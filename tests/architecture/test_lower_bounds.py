"""The lowest versions that the project admits are those its tests also run on."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_lower_bound_is_the_one_tested() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    extras = project["optional-dependencies"]
    declared = [*project["dependencies"], *extras["parquet"], *extras["images"]]
    tested = dict(
        re.findall(r"^([\w-]+)==([\d.]+)$", (ROOT / "tests" / "lower-bounds.txt").read_text(), re.MULTILINE)
    )
    assert len(tested) == len(declared)
    for requirement in declared:
        name, bound = requirement.split(">=")
        assert tested[name].removesuffix(".0").startswith(bound.removesuffix(".0")), name
