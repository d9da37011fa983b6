"""The demo's cases, counted again, and the study that registers them."""

import csv
import io
from collections import Counter
from pathlib import Path

from lacre.demo import cases
from lacre.protocol.document import parse

ROOT = Path(__file__).resolve().parents[3]

# As ProPublica's article of 2016 prints them; by race: (outcome, score) -> count.
PUBLISHED = {
    ("African-American", "0", "Low"): 990,
    ("African-American", "0", "Medium"): 805,
    ("African-American", "1", "Low"): 532,
    ("African-American", "1", "Medium"): 1369,
    ("Caucasian", "0", "Low"): 1139,
    ("Caucasian", "0", "Medium"): 349,
    ("Caucasian", "1", "Low"): 461,
    ("Caucasian", "1", "Medium"): 505,
}


def rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8"))))


def test_the_counts_are_the_published_ones() -> None:
    scores = {row["case_id"]: row["score_text"] for row in rows(cases.submission_csv())}
    pool = rows(cases.cases_csv())
    assert Counter((row["race"], row["two_year_recid"], scores[row["case_id"]]) for row in pool) == PUBLISHED
    assert len(pool) == len(scores) == 6150


def test_ids_are_unique_and_the_same_in_both() -> None:
    pool = [row["case_id"] for row in rows(cases.cases_csv())]
    assert pool == [row["case_id"] for row in rows(cases.submission_csv())]
    assert len(set(pool)) == len(pool)


def test_bytes_are_the_same_each_time() -> None:
    assert cases.cases_csv() == cases.cases_csv()
    assert cases.submission_csv() == cases.submission_csv()
    assert b"\r" not in cases.cases_csv() + cases.submission_csv()


def test_the_registered_study_fits_them() -> None:
    protocol = parse((ROOT / "registry" / "compas" / "protocol.yaml").read_bytes())
    table = protocol.tables["cases"]
    assert protocol.study == "compas"
    assert protocol.data.retrospective
    assert "2016" in protocol.data.prior_exposure
    assert protocol.pools["teste"].planned == {"cases": 6150}
    for data, supplied in ((cases.cases_csv(), False), (cases.submission_csv(), True)):
        found = rows(data)
        held = {name for name in table.columns if table.supplied(name) == supplied}
        assert set(found[0]) == held | {"case_id"}
        for name in held - {"case_id"}:
            assert {row[name] for row in found} <= set(table.columns[name].named_values)
