"""A file's format is what its name says."""

from pathlib import Path

import pytest

from lacre.errors import TableFormatUnknown
from lacre.tables.formats import Format, format_of


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("cases.csv", Format.CSV),
        ("cases.CSV", Format.CSV),
        ("a.b/cases.v2.tsv", Format.TSV),
        ("cases.json", Format.JSON),
        ("cases.jsonl", Format.JSON_LINES),
        ("cases.ndjson", Format.JSON_LINES),
        (Path("folder") / "cases.parquet", Format.PARQUET),
    ],
)
def test_the_suffix_says_the_format(name: str | Path, format_: Format) -> None:
    assert format_of(name) is format_


@pytest.mark.parametrize("name", ["cases", "cases.xlsx", "cases.csv.gz", ".csv", "folder.csv/cases", ""])
def test_other_names_are_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(TableFormatUnknown) as caught:
        format_of(name)
    assert ".ndjson" in caught.value.way_out


def test_the_values_are_what_a_pool_records() -> None:
    assert [each.value for each in Format] == ["csv", "tsv", "json", "jsonl", "parquet"]
