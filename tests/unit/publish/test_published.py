"""The register in this repository: the COMPAS study, as a stranger who knows the log's key finds it."""

import json
import re
import shutil
from pathlib import Path

import pytest

from lacre import api
from lacre.protocol.document import parse, protocol_hash

REGISTRY = Path(__file__).resolve().parents[3] / "registry"
KEY = re.findall(r"--key (\S+)", (REGISTRY / "README.md").read_text())[0]
PUBLISHED = {
    ("false_positive", "African-American"): (805, 990 + 805),
    ("false_positive", "Caucasian"): (349, 1139 + 349),
    ("false_negative", "African-American"): (532, 532 + 1369),
    ("false_negative", "Caucasian"): (461, 461 + 505),
}
"""Events and cases by ProPublica's contingency tables of 2016, "Low" against the rest."""


def test_the_published_register_audits_clean() -> None:
    report = api.audit(registry=REGISTRY, key=KEY)
    assert report.findings == ()
    assert [each.kind for each in report.history] == [
        *("genesis", "register", "seal", "read", "result", "deviate"),
    ]
    (outside,) = report.warnings
    assert "README.md, compas/protocol.yaml" in outside.message


def test_its_plan_is_the_one_people_read() -> None:
    plan = parse((REGISTRY / "compas" / "protocol.yaml").read_bytes())
    copy = (REGISTRY / "compas" / "protocol@1.json").read_bytes()
    assert protocol_hash(plan) == next(
        path.name for path in (REGISTRY / "documents").iterdir() if path.read_bytes() == copy
    )


def test_its_result_has_the_published_counts_and_is_not_confirmatory() -> None:
    document = json.loads((REGISTRY / "compas" / "result@4.json").read_bytes())
    assert (document["state"], document["confirmatory"], document["retrospective"]) == ("FAIL", False, True)
    (analysis,) = document["analyses"]
    found = {
        (each["metric"], each["group"]["race"]): (each["numerator"], each["denominator"])
        for each in analysis["estimates"]
        if each["group"]
    }
    assert {key: found[key] for key in PUBLISHED} == PUBLISHED


@pytest.mark.parametrize("name", ["checkpoint", "tile/entries/000.p/6", "compas/result@4.json"])
def test_a_byte_of_it_changed_is_found(tmp_path: Path, name: str) -> None:
    shutil.copytree(REGISTRY, tmp_path / "registry")
    path = tmp_path / "registry" / name
    data = path.read_bytes()
    path.write_bytes(data[:-3] + bytes([data[-3] ^ 1]) + data[-2:])
    assert not api.audit(registry=tmp_path / "registry", key=KEY).ok
