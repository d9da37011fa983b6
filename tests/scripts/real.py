"""A study of public files from its registration to what a stranger gets of it, through the command line."""

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Shell = Any
Cells = Mapping[str, object]

EXIT = {"PASS": 0, "FAIL": 1, "INSUFFICIENT_EVIDENCE": 3, "MANUAL_REVIEW": 4}


def plan_of(
    study: str,
    tables: Mapping[str, Any],
    analyses: Mapping[str, Any],
    pool: str = "teste",
    **more: Any,
) -> dict[str, Any]:
    """A protocol with one pool that holds all the tables."""
    return {
        "lacre": 1,
        "study": study,
        "title": f"The case {study}",
        "question": "What do the published files say?",
        "language": "en",
        "data": {"identifiable": False, "prior_exposure": "none"},
        "tables": dict(tables),
        "pools": {pool: {"tables": list(tables)}},
        "analyses": {
            name: {"pool": pool, "table": next(iter(tables)), **plan} for name, plan in analyses.items()
        },
        **more,
    }


def expected_of(data_dir: Path, name: str) -> dict[str, Any]:
    """What the numbers of a public file must be, by its publishers or by hand."""
    published = json.loads((data_dir / "expected.json").read_text())
    (found,) = [
        each["expected"] for each in published if any(f["file"].endswith(name) for f in each["files"])
    ]
    return dict(found)


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a public CSV file, cells as they stand."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: Iterable[Cells]) -> str:
    """Write rows as CSV, under the columns of the first; return the file's name."""
    kept = list(rows)
    with path.open("w", newline="", encoding="utf-8") as file:
        made = csv.DictWriter(file, list(kept[0]), lineterminator="\n")
        made.writeheader()
        made.writerows(kept)
    return path.name


@dataclass(frozen=True)
class Answer:
    """What a read gave: the document of its result, and the same as text and as a page."""

    document: dict[str, Any]
    text: str
    page: str

    @property
    def shown(self) -> str:
        """All that a person reads."""
        return self.text + self.page

    def analysis(self, name: str = "") -> dict[str, Any]:
        """An analysis by its id; the only one if none is said."""
        (found,) = [each for each in self.document["analyses"] if name in ("", each["id"])]
        return dict(found)

    def criteria(self, name: str = "") -> dict[str, dict[str, Any]]:
        """The criteria of an analysis by id, of the only system there is."""
        return {each["id"]: each for each in self.analysis(name)["criteria"]}

    def estimate(self, metric: str, name: str = "", **group: str) -> dict[str, Any]:
        """The one estimate of a metric for a group."""
        found = [
            each
            for each in self.analysis(name)["estimates"]
            if each["metric"] == metric and each["group"] == group and not each.get("details")
        ]
        assert len(found) == 1, (metric, group, found)
        return dict(found[0])

    def counts(self, metric: str, name: str = "", **group: str) -> str:
        """The events of all cases, as `expected.json` writes them."""
        found = self.estimate(metric, name, **group)
        assert found["low"] <= found["value"] <= found["high"]
        return f"{found['numerator']}/{found['denominator']}"


def registered(shell: Shell, plan: Mapping[str, Any], sealed: Sequence[str]) -> str:
    """Register a plan, with criteria no such data could meet too, and seal its pool; return the pool's name."""
    (shell.folder / "protocol.json").write_text(json.dumps(plan))
    shell.json("init")
    shell.json("register", "protocol.json", "--accept-infeasible", "the files were there first")
    (pool,) = plan["pools"]
    shell.json("seal", plan["study"], pool, *sealed)
    return str(pool)


def read(
    shell: Shell,
    plan: Mapping[str, Any],
    sealed: Sequence[str],
    submissions: Sequence[str] = (),
) -> Answer:
    """A whole study: registered, sealed, read, shown, exported, verified and reported.

    The result is the same JSON in the read and in `show`, the bundle is sound to a stranger, and no number
    that is told is one that JSON does not know.
    """
    pool = registered(shell, plan, sealed)
    verb = "reveal" if pool == "teste" else "run"
    words = [verb, plan["study"], *([] if verb == "reveal" else plan["analyses"])]
    words += [word for each in submissions for word in ("--submission", each)]
    ran = shell.lacre(*words, "--json")
    document = json.loads(ran.out, parse_constant=_no_number)
    assert "error" not in document, ran.out
    assert ran.status == EXIT[document["state"]], ran.err
    where = document["result"]
    shown = json.loads(shell.lacre("show", where, "--json").out, parse_constant=_no_number)
    assert shown["analyses"] == document["analyses"]
    assert shown["state"] == document["state"]
    text = shell.lacre("show", where)
    assert (text.status, text.err) == (0, "")
    shell.json("export", where, "-o", "result.zip")
    verified = shell.json("verify", "result.zip")
    assert (verified["ok"], verified["findings"]) == (True, [])
    shell.json("report", where, "-o", "report.html")
    page = (shell.folder / "report.html").read_text(encoding="utf-8")
    for word in ("Traceback", "NaN", "nan ", "inf "):
        assert word not in text.out
    _only_numbers(document)
    return Answer(document, text.out, page)


def _no_number(name: str) -> Any:
    raise AssertionError(f"{name} is no number of JSON")


def _only_numbers(value: Any) -> None:
    if isinstance(value, dict):
        for each in value.values():
            _only_numbers(each)
    elif isinstance(value, list):
        for each in value:
            _only_numbers(each)
    elif isinstance(value, float):
        assert math.isfinite(value)
