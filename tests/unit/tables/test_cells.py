"""Cells become what their column declares, to the letter, or are refused by count."""

import datetime as dt
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from lacre.errors import (
    TableNotDigest,
    TableNotNumber,
    TableNotTime,
    TableNumberInProse,
    TableOutOfRange,
    TableZoneAbsent,
)
from lacre.protocol.columns import Column
from lacre.tables.cells import typer_for
from lacre.tables.columns import (
    MISSING,
    UNDECLARED,
    Codes,
    Digests,
    Numbers,
    Outcomes,
    Texts,
    Times,
    TypedColumn,
)

COLUMN: TypeAdapter[Any] = TypeAdapter(Column)
DIGEST = "0123456789abcdef" * 4


def typed(cells: list[str | None], decimal: str = ".", **column: Any) -> TypedColumn:
    """Type `cells`, given in two parts."""
    typer = typer_for("x", COLUMN.validate_python(column), file="cases.csv", decimal=decimal)
    typer.add(cells[:1])
    typer.add(cells[1:])
    return typer.finish()


def numbers(cells: list[str | None], decimal: str = ".", **column: Any) -> list[float]:
    """Return the numbers of `cells`."""
    found = typed(cells, decimal, type="number", **column)
    assert isinstance(found, Numbers)
    assert found.values.dtype == np.float64
    return [float(value) for value in found.values]


def times(cells: list[str | None], **column: Any) -> list[dt.datetime | None]:
    """Return the instants of `cells`, in UTC."""
    found = typed(cells, type="time", **column)
    assert isinstance(found, Times)
    assert found.values.dtype == np.dtype("datetime64[us]")
    instants: list[dt.datetime | None] = found.values.tolist()
    return instants


def instant(parts: tuple[int, ...]) -> dt.datetime:
    """Return a moment in UTC as numpy gives it."""
    year, month, day, *clock = parts
    return dt.datetime(year, month, day, *clock)  # type: ignore[arg-type]  # noqa: DTZ001 - as numpy gives it


def test_text_is_kept_and_only_the_empty_cell_is_missing() -> None:
    cells = ["00000000000191", "NA", "na", "None", "nan", "null", " ", "NaN", "", None]
    found = typed([*cells], type="text")
    assert isinstance(found, Texts)
    assert found.values.tolist() == [*cells[:-2], None, None]
    assert found.missing.tolist() == [False] * 8 + [True, True]


def test_the_missing_list_replaces_the_default() -> None:
    found = typed(["NA", "", "na", None], type="text", missing=["NA"])
    assert isinstance(found, Texts)
    assert found.values.tolist() == [None, "", "na", None]


@pytest.mark.parametrize("type_", ["category", "ordinal"])
def test_a_category_is_a_place_among_its_values(type_: str) -> None:
    cells: list[str | None] = ["1", "10", "2", "1.0", "", None, "Not Sure"]
    found = typed(cells, type=type_, values=["1", "2", "10"], missing=["", "Not Sure"])
    assert isinstance(found, Codes)
    assert found.codes.dtype == np.int32
    assert found.codes.tolist() == [0, 2, 1, UNDECLARED, MISSING, MISSING, MISSING]
    assert found.values == ("1", "2", "10")
    assert found.missing.tolist() == [False] * 4 + [True] * 3


def test_an_empty_cell_that_is_not_declared_missing_is_undeclared() -> None:
    found = typed(["", "NA"], type="category", values=["a"], missing=["NA"])
    assert isinstance(found, Codes)
    assert found.codes.tolist() == [UNDECLARED, MISSING]


def test_an_outcome_has_one_value_or_a_list_of_each() -> None:
    cells: list[str | None] = ["Low", "Medium", "High", "high", " Low", "", None]
    found = typed(cells, type="outcome", positive=["Medium", "High"], negative="Low")
    assert isinstance(found, Outcomes)
    assert found.codes.dtype == np.int8
    assert found.codes.tolist() == [0, 1, 1, UNDECLARED, UNDECLARED, MISSING, MISSING]


def test_outcomes_are_compared_as_text() -> None:
    """`1` is declared; `1.0` and `01` are other texts."""
    found = typed(["1", "1.0", "01", "0"], type="outcome", positive="1", negative="0")
    assert isinstance(found, Outcomes)
    assert found.codes.tolist() == [1, UNDECLARED, UNDECLARED, 0]


def test_numbers() -> None:
    cells: list[str | None] = [
        "0",
        "-1.50",
        "+2",
        ".5",
        "5.",
        "1e3",
        "1E-05",
        "0.1000000000000000055511",
        "",
        None,
    ]
    expected = [0.0, -1.5, 2.0, 0.5, 5.0, 1000.0, 1e-05, 0.1]
    found = numbers(cells)
    assert found[:8] == expected
    assert np.isnan(found[8:]).all()


def test_a_decimal_comma_by_declaration() -> None:
    assert numbers(["1,5", "-,25", "3"], ",") == [1.5, -0.25, 3.0]
    with pytest.raises(TableNotNumber) as caught:
        numbers(["1,5", "1.5"], ",")
    assert "`,`" in caught.value.way_out


@pytest.mark.parametrize(
    "cell",
    [
        "inf", "-Infinity", "nan", "NaN", "NA", "0x10", "1_000", "1,000", "1 000", " 1", "1 ",
        "1\n", "١", "１", "1e", "e5", ".", "-", "+-1", "1.2.3", "1e999", "½", "12%", "--", "true",
        "1e5.0", "−1",
    ],
)  # fmt: skip
def test_what_is_no_number_is_refused_by_count(cell: str) -> None:
    with pytest.raises(TableNotNumber) as caught:
        numbers(["1", "2", cell, "3", cell])
    assert caught.value.fields == {"file": "cases.csv", "column": "x", "count": 2, "row": 3, "decimal": "."}
    assert caught.value.__context__ is None


def test_what_is_declared_missing_is_no_refused_number() -> None:
    assert np.isnan(numbers(["NaN", "-1", ""], missing=["NaN", "-1", ""])).all()
    with pytest.raises(TableNotNumber):
        numbers([""], missing=["NaN"])


def test_the_range_holds_both_its_ends() -> None:
    assert numbers(["0", "1"], min=0, max=1) == [0.0, 1.0]
    with pytest.raises(TableOutOfRange) as caught:
        numbers(["0.5", "1.01", "", "-0.01"], min=0, max=1)
    assert (caught.value.fields["count"], caught.value.fields["row"]) == (2, 2)
    assert "0 to 1" in caught.value.message
    with pytest.raises(TableOutOfRange):
        numbers(["-1"], min=0)
    with pytest.raises(TableOutOfRange):
        numbers(["1"], max="1/3")


@pytest.mark.parametrize(
    ("cell", "parts"),
    [
        ("2026-09-02T14:30:00-03:00", (2026, 9, 2, 17, 30)),
        ("2026-09-02T14:30-0300", (2026, 9, 2, 17, 30)),
        ("2026-09-02 14:30:00+05", (2026, 9, 2, 9, 30)),
        ("2026-09-02T14:30:00Z", (2026, 9, 2, 14, 30)),
        ("2026-09-02T14:30:00.5Z", (2026, 9, 2, 14, 30, 0, 500000)),
        ("2026-09-02T14:30:00,123456789Z", (2026, 9, 2, 14, 30, 0, 123456)),
        ("2024-02-29T00:00:00+00:00", (2024, 2, 29)),
    ],
)
def test_times_that_say_their_zone(cell: str, parts: tuple[int, ...]) -> None:
    for zone in ({}, {"zone": "Asia/Tokyo"}):
        assert times([cell, ""], **zone) == [instant(parts), None]


@pytest.mark.parametrize(
    ("cell", "zone", "parts"),
    [
        ("2026-09-02T14:30:00", "America/Sao_Paulo", (2026, 9, 2, 17, 30)),
        ("2026-09-02", "America/Sao_Paulo", (2026, 9, 2, 3)),
        ("2026-07-01 12:00", "Europe/Lisbon", (2026, 7, 1, 11)),
        ("2026-01-01 12:00", "Europe/Lisbon", (2026, 1, 1, 12)),
    ],
)
def test_times_that_do_not_are_in_the_declared_zone(cell: str, zone: str, parts: tuple[int, ...]) -> None:
    assert times([cell], zone=zone) == [instant(parts)]


def test_skipped_and_repeated_clock_readings_take_the_offset_before_the_change() -> None:
    """New York 2026: 02:00-03:00 on 8 March does not exist (-5 h before it, so 02:30 is 07:30 UTC);
    01:00-02:00 on 1 November comes twice (-4 h the first time, so 01:30 is 05:30 UTC)."""
    found = times(["2026-03-08T02:30", "2026-11-01T01:30"], zone="America/New_York")
    assert found == [instant((2026, 3, 8, 7, 30)), instant((2026, 11, 1, 5, 30))]


def test_the_first_and_last_years_are_times() -> None:
    found = typed(["0001-01-01T00:00+14:00", "9999-12-31T23:59-12:00"], type="time")
    assert isinstance(found, Times)
    assert found.values.astype(str).tolist() == ["0000-12-31T10:00:00.000000", "10000-01-01T11:59:00.000000"]


@pytest.mark.parametrize(
    "cell",
    [
        "2026-13-01", "2026-02-30", "02/09/2026", "20260902", "2026-W36-3", "2026-09-02T25:00Z",
        "2026-09-02T14Z", "2026-09-02T23:59:60Z", "2026-09-02T14:30:00+24:00",
        "2026-09-02T14:30+03:60", "2026-09-02Z", "2026-09-02-03:00", "0000-01-01",
        "2026-09-02T14:30:00.Z", "2026-09-02T14:30 Z", "1756823400", "now", "٢٠٢٦-09-02",
        "2026-09-02_14:30",
    ],
)  # fmt: skip
def test_what_is_no_time_is_refused_by_count(cell: str) -> None:
    with pytest.raises(TableNotTime) as caught:
        times(["2026-09-02", cell, cell], zone="UTC")
    assert caught.value.fields == {"file": "cases.csv", "column": "x", "count": 2, "row": 2}
    assert caught.value.__context__ is None


def test_a_time_without_a_zone_needs_one() -> None:
    with pytest.raises(TableZoneAbsent) as caught:
        times(["2026-09-02T14:30Z", "2026-09-02T14:30", "2026-09-02"])
    assert (caught.value.fields["count"], caught.value.fields["row"]) == (2, 2)
    assert "zone: America/Sao_Paulo" in caught.value.way_out


def test_digests_are_lowercased_and_lose_their_prefix() -> None:
    found = typed([DIGEST, f"sha256:{DIGEST.upper()}", "", None], type="digest")
    assert isinstance(found, Digests)
    assert found.values.tolist() == [DIGEST, DIGEST, None, None]
    assert found.missing.tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    "cell", [DIGEST[:-1], DIGEST + "0", "g" * 64, f"md5:{DIGEST}", f" {DIGEST}", "０" * 64]
)
def test_what_is_no_digest_is_refused_by_count(cell: str) -> None:
    with pytest.raises(TableNotDigest) as caught:
        typed([DIGEST, "", cell], type="digest")
    assert (caught.value.fields["count"], caught.value.fields["row"]) == (1, 3)


@pytest.mark.parametrize(
    "cell", ["Score: 4", "I give it 4/5 since it is sound", "nota 0,8", "4 pontos", "a\n3\nok"]
)
def test_a_number_in_prose_is_not_guessed(cell: str) -> None:
    """A judge that answers in words is asked for its number by whoever runs it, and not by lacre."""
    with pytest.raises(TableNumberInProse) as caught:
        numbers(["1", cell])
    assert (caught.value.fields["count"], caught.value.fields["row"]) == (1, 2)
    assert "Take the number out" in caught.value.way_out
    assert cell not in caught.value.message


@pytest.mark.parametrize("cell", ["4/5", "four", "1e999", "1,5", "x4", "--"])
def test_what_holds_no_words_with_a_number_is_just_no_number(cell: str) -> None:
    with pytest.raises(TableNotNumber) as caught:
        numbers([cell])
    assert caught.value.code == "table-not-number"
