"""Paired variants and paired systems: from rows as a user's files have them to verdicts and the told table."""

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.studies import HEAD

from lacre.analyses import analyse
from lacre.analyses.given import Given
from lacre.analyses.paired_variants import needs
from lacre.analyses.pairing import Asked, adjusted, compare
from lacre.analyses.result import AnalysisResult
from lacre.protocol.document import parse
from lacre.protocol.kinds.paired_variants import PairedVariantsPlan
from lacre.protocol.models import Protocol
from lacre.report.kinds.paired_text import paired
from lacre.report.page import Page
from lacre.tables.columns import TypedTable
from lacre.tables.formats import Format
from lacre.tables.join import join_submission
from lacre.tables.read import read_table

Rows = Iterable[tuple[Any, ...]]


def protocol(
    *criteria: Mapping[str, Any],
    cluster: bool = False,
    values: Sequence[str] = ("original", "half"),
    systems: Sequence[str] = (),
    identifiable: bool = False,
    pools: Mapping[str, Any] | None = None,
    **plan: Any,
) -> Protocol:
    table = {
        "key": ["face", "variant"],
        "columns": {
            "face": {"type": "text"},
            "image": {"type": "text"},
            "variant": {"type": "category", "values": list(values)},
            "found": {"type": "outcome", "positive": "1", "negative": "0", "from": "submission"},
        },
        **({"cluster": "image"} if cluster else {}),
    }
    document = {
        **HEAD, "data": {"identifiable": identifiable, "prior_exposure": "none"},
        "systems": {name: {"version": "1"} for name in systems},
        "tables": {"variants": table},
        "pools": pools or {"teste": {"tables": ["variants"]}},
        "analyses": {
            "amp": {
                "kind": "paired_variants", "pool": "teste", "table": "variants", "pair_on": "face",
                "baseline": values[0], "detected": {"column": "found", "blank": "not_detected"},
                "criteria": [{"id": str(i), "metric": "difference", **each} for i, each in enumerate(criteria)],
                **plan,
            }
        },
    }  # fmt: skip
    return parse(json.dumps(document).encode())


def table_of(study: Protocol, rows: Rows) -> TypedTable:
    """Type rows (face, image, variant, found) as a pool's file and a submission, and join them."""
    lines = ["face,image,variant,found", *(",".join(map(str, row)) for row in rows)]
    raw = ("\n".join(lines) + "\n").encode()
    declared = study.tables["variants"]
    pool = read_table(raw, declared, "variants", Format.CSV, only="pool")
    return join_submission(pool, read_table(raw, declared, "variants", Format.CSV, only="submission"))


def run(study: Protocol, rows: Rows) -> AnalysisResult:
    return analyse("amp", Given.of_one(study, "variants", table_of(study, rows)))


def pairs(
    both: int, first: int, second: int, neither: int, *, variant: str = "half", clusters: int = 0
) -> list[tuple[Any, ...]]:
    """Make items with these outcomes under `original` and `variant`, in so many images or one each."""
    outcomes = [(1, 1)] * both + [(1, 0)] * first + [(0, 1)] * second + [(0, 0)] * neither
    return [
        (f"f{at}", f"i{at % clusters if clusters else at}", name, found)
        for at, pair in enumerate(outcomes)
        for name, found in zip(("original", variant), pair, strict=True)
    ]


def the_row(result: AnalysisResult) -> Mapping[str, Any]:
    (row,) = result.tables["paired"]
    return row


def test_every_number_of_a_pair() -> None:
    """12, 7, 1, 1 as [1,1;7,12] turned round: seven lost, one gained, of 21; a drop is negative."""
    result = run(protocol({"variant": "half", "min": -0.05}), pairs(12, 7, 1, 1))
    row = the_row(result)
    assert [row[key] for key in ("pairs", "both", "first_only", "second_only", "neither")] == [
        21,
        12,
        7,
        1,
        1,
    ]
    assert row["difference"] == pytest.approx(-6 / 21)
    assert (row["low"], row["high"]) == pytest.approx((-0.5172, -0.0260), abs=5e-5)
    assert (row["p"], row["p_exact"], row["p_mid"]) == (0.0703125, 0.0703125, 0.0390625)
    assert (row["p_asymptotic"], row["p_continuity"]) == pytest.approx((0.033895, 0.0771), abs=5e-6)
    assert (row["clusters"], row["needed"], row["blank"], row["method"]) == (None, 6, 0, "Tango")
    # Of eight, 0 or 8 on one side reject at .05 (2/2^8): .75^8 + .25^8 of a power.
    assert row["power"] == pytest.approx(0.75**8 + 0.25**8)
    (criterion,) = result.criteria
    assert (criterion.state, criterion.value) == ("INSUFFICIENT_EVIDENCE", row["difference"])
    assert [(line.numerator, line.denominator) for line in criterion.lines] == [(19, 21), (13, 21)]
    difference = result.estimates[-1].as_json()
    assert difference["scale"] == "difference"
    assert difference["versus"] == {"variant": "original"}


@pytest.mark.parametrize(
    ("bound", "counts", "state", "code"),
    [
        ({"min": 0}, (100, 5, 0, 0), "INSUFFICIENT_EVIDENCE", "test-open"),
        ({"min": 0}, (100, 6, 0, 0), "FAIL", "test-broken"),
        ({"min": 0}, (100, 0, 6, 0), "PASS", "test-kept"),
        ({"max": 0}, (100, 6, 0, 0), "PASS", "test-kept"),
        ({"max": 0}, (100, 0, 6, 0), "FAIL", "test-broken"),
        ({"min": 0}, (160, 0, 0, 0), "INSUFFICIENT_EVIDENCE", "no-discordant-pairs"),
        # A margin, by the interval: 0 of 30 reaches -.114, 0 of 73 does not reach -.05 (z^2/(73 + z^2) = .04999).
        ({"min": -0.05}, (30, 0, 0, 0), "INSUFFICIENT_EVIDENCE", "undecided"),
        ({"min": -0.05}, (72, 0, 0, 0), "INSUFFICIENT_EVIDENCE", "undecided"),
        ({"min": -0.05}, (73, 0, 0, 0), "PASS", "min-kept"),
        ({"max": 0.05}, (73, 0, 0, 0), "PASS", "max-kept"),
        ({"min": -0.05}, (10, 90, 0, 0), "FAIL", "min-broken"),
    ],
)
def test_zero_is_decided_by_the_test_and_a_margin_by_the_interval(
    bound: Mapping[str, float], counts: tuple[int, int, int, int], state: str, code: str
) -> None:
    (criterion,) = run(protocol({"variant": "half", **bound}), pairs(*counts)).criteria
    assert (criterion.state, criterion.reason.code) == (state, code)


def test_declared_variants_share_the_error_rate_observed_or_not() -> None:
    """Three variants declared, one observed with 7 lost: p = 2/2^7 = .0156, by Holm .0469; with four, .0625."""
    for count, state in ((3, "FAIL"), (4, "INSUFFICIENT_EVIDENCE")):
        values = ["original", "half", *(f"v{n}" for n in range(count - 1))]
        result = run(protocol({"variant": "half", "min": 0}, values=values), pairs(100, 7, 0, 0))
        row = result.tables["paired"][0]
        assert (row["p"], row["p_adjusted"], row["simultaneous"]) == (1 / 64, count / 64, count)
        assert result.criteria[0].state == state
        rest = result.tables["paired"][1:]
        assert [each["p"] for each in rest] == [None] * (count - 1)
        assert {each["note"]["code"] for each in rest} == {"no-pairs"}
    alone = protocol({"variant": "half", "min": 0}, values=["original", "half", "v"], multiplicity="none")
    assert run(alone, pairs(100, 7, 0, 0)).tables["paired"][0]["p_adjusted"] == 1 / 64


def test_clusters_decide() -> None:
    """Six faces in each of 40 images; the six lost are in one image: exact McNemar finds them, images do not.

    One image tends to one side, so p is 1, and no p of independent pairs is told. The interval goes at least by
    1 - .025^(1/40) = .0881 to each side.
    """
    rows = [
        (f"f{image}.{face}", f"i{image}", variant, int(variant == "original" or image != 7))
        for image in range(40)
        for face in range(6)
        for variant in ("original", "half")
    ]
    result = run(
        protocol({"variant": "half", "min": 0}, {"variant": "half", "min": -0.05}, cluster=True), rows
    )
    row = the_row(result)
    assert (row["pairs"], row["clusters"], row["first_only"], row["moved"]) == (240, 40, 6, 1)
    assert (row["test"], row["p"], row["p_exact"]) == ("sign_flips", 1, None)
    bound = 1 - 0.025 ** (1 / 40)
    assert row["low"] <= -6 / 240 - bound
    assert row["high"] == pytest.approx(-6 / 240 + bound)
    assert [each.reason.code for each in result.criteria] == ["test-open-clusters", "undecided"]
    assert "sign-flips" in [note.code for note in result.notes]
    assert (
        result.as_json()
        == run(
            protocol({"variant": "half", "min": 0}, {"variant": "half", "min": -0.05}, cluster=True), rows
        ).as_json()
    )


def test_one_pair_a_cluster_is_as_without() -> None:
    plain = the_row(run(protocol({"variant": "half", "min": 0}), pairs(80, 9, 2, 0)))
    alone = the_row(run(protocol({"variant": "half", "min": 0}, cluster=True), pairs(80, 9, 2, 0)))
    assert {**plain, "clusters": 91} == alone


def test_few_clusters_have_a_test_and_no_interval() -> None:
    """Nineteen images: sign-flips hold at any number, an interval by resampling them does not."""
    study = protocol({"variant": "half", "min": 0}, {"variant": "half", "min": -0.05}, cluster=True)
    result = run(study, pairs(0, 95, 0, 19, clusters=19))
    assert [(each.state, each.reason.code) for each in result.criteria] == [
        ("FAIL", "test-broken"),
        ("INSUFFICIENT_EVIDENCE", "too-few-clusters"),
    ]
    assert the_row(result)["low"] is None


BLANK = [
    *pairs(60, 0, 0, 0),
    *((f"b{n}", f"b{n}", v, f) for n in range(6) for v, f in (("original", 1), ("half", ""))),
]


@pytest.mark.parametrize(
    ("blank", "counts", "state"),
    [
        # Six variants without a result: six lost of 66, none of 60, or anything between.
        ("not_detected", (66, 6, 0), "FAIL"),
        ("left_out", (60, 0, 0), "INSUFFICIENT_EVIDENCE"),
        ("worst_case", (66, 6, 6), "INSUFFICIENT_EVIDENCE"),
    ],
)
def test_blanks_are_what_is_registered(blank: str, counts: tuple[int, int, int], state: str) -> None:
    study = protocol({"variant": "half", "min": 0}, detected={"column": "found", "blank": blank})
    result = run(study, BLANK)
    row = the_row(result)
    assert (row["pairs"], row["first_only"], row["blank"]) == (
        counts[0], counts[1], counts[2],
    )  # fmt: skip
    assert result.criteria[0].state == state
    if blank == "left_out":
        assert [(each.reason, each.column, each.count) for each in result.criteria[0].left_out] == [
            ("missing", "found", 6)
        ]
        shares = {
            each.group: each.as_json()["denominator"]
            for each in result.estimates
            if each.metric == "detected"
        }
        assert shares[(("variant", "half"),)] == 60
        # A blank of an item that has no baseline anyway is left out once.
        more = run(study, [*BLANK, ("c", "c", "half", "")]).criteria[0].left_out
        assert [(each.reason, each.count) for each in more] == [("unpaired", 1), ("missing", 6)]
    if blank == "worst_case":
        none_lost, all_lost = compare(*outcomes(66, 0, 0), None, ASKED, sign=-1), compare(
            *outcomes(60, 6, 0), None, ASKED, sign=-1
        )  # fmt: skip
        assert (row["low"], row["high"], row["p"]) == (all_lost.low, none_lost.high, 1)


ASKED = Asked(alpha=0.05, confidence=0.95)


def outcomes(both: int, first: int, second: int) -> tuple[Any, Any]:
    return (
        np.repeat([1, 1, 0], [both, first, second]),
        np.repeat([1, 0, 1], [both, first, second]),
    )


def test_blanks_that_cannot_turn_a_difference_leave_the_largest_p() -> None:
    """Twenty lost and one blank: p is that of 20 or 21 lost, whichever is larger."""
    first, second = outcomes(50, 20, 0)
    found = compare(np.append(first, 1), np.append(second, -1), None, ASKED)
    assert found.p == 2 / 2**20
    assert (found.blank, found.first_only) == (1, 21)


def test_blanks_on_both_sides_reach_both_ways() -> None:
    """100 pairs alike, 20 more blank in the first and 20 in the second, all else positive: -20 to +20 of 140.

    Each end rejects by itself, one way and the other: together they show nothing, and p is 1.
    """
    first = np.array([1] * 100 + [-1] * 20 + [1] * 20)
    second = np.array([1] * 100 + [1] * 20 + [-1] * 20)
    found = compare(first, second, None, ASKED)
    # At the largest the blanks of the first are positive and those of the second are not.
    ends = [compare(*outcomes(120, *way), None, ASKED) for way in ((0, 20), (20, 0))]
    assert (found.low, found.high) == (ends[0].low, ends[1].high)
    assert (found.p, found.blank, found.difference) == (1, 40, 0)
    assert max(end.p or 1 for end in ends) < 1e-4
    # 60 lost or blank against 20 gained rejects one way, and 0 against 20, were the blanks positive, the other.
    turned = compare(np.repeat([1, 0], [60, 20]), np.repeat([-1, 1], [60, 20]), None, ASKED)
    assert (turned.first_only, turned.second_only, turned.p) == (60, 20, 1)


def test_items_without_a_partner_are_left_out_and_counted() -> None:
    """Ten of 100 have no `half`: at the limit of .10 it is decided, with eleven it is not."""
    whole = pairs(100, 0, 0, 0)
    for missing, code in ((10, "min-kept"), (11, "too-many-left-out")):
        gone = {f"f{n}" for n in range(missing)}
        rows = [row for row in whole if row[0] not in gone or row[2] == "original"]
        result = run(protocol({"variant": "half", "min": -0.05}), rows)
        (criterion,) = result.criteria
        assert [(each.reason, each.column, each.count) for each in criterion.left_out] == [
            ("unpaired", "variant", missing)
        ]
        assert (criterion.reason.code, the_row(result)["pairs"]) == (code, 100 - missing)


def test_an_undeclared_variant_and_a_missing_image_are_counted() -> None:
    rows = [*pairs(80, 0, 0, 0), ("x", "x", "blurred", 1), ("y", "", "original", 1), ("y", "", "half", 1)]
    result = run(protocol({"variant": "half", "min": -0.05}, cluster=True), rows)
    assert [(each.reason, each.column, each.count) for each in result.left_out] == [
        ("undeclared", "variant", 1),
        ("missing", "image", 2),
    ]
    assert result.criteria[0].left_out[0].count == 2
    assert the_row(result)["pairs"] == 80


def test_a_baseline_that_is_mostly_missed_is_reviewed() -> None:
    result = run(protocol({"variant": "half", "min": -0.05}), pairs(40, 0, 0, 41))
    assert (result.state, result.criteria[0].reason.code) == ("MANUAL_REVIEW", "baseline-missed")
    assert run(protocol({"variant": "half", "min": -0.05}), pairs(40, 0, 0, 40)).state == "PASS"


def test_nothing_at_all_decides_nothing() -> None:
    result = run(protocol({"variant": "half", "min": 0}), [("f", "i", "half", 1)])
    assert the_row(result)["p"] is None
    assert result.criteria[0].state == "INSUFFICIENT_EVIDENCE"


def test_a_group_too_small_to_be_shown_is_withheld_everywhere() -> None:
    """Three of 200 have the variant `rare`: nothing of them, nor of what would give them away."""
    rows = [*pairs(200, 0, 0, 0), *[(f"f{n}", f"f{n}", "rare", 1) for n in range(3)]]
    study = protocol(
        {"variant": "rare", "min": -0.9, "max_left_out": 1},
        values=["original", "half", "rare"],
        identifiable=True,
    )
    result = run(study, rows)
    row = next(row for row in result.tables["paired"] if row["group"] == {"variant": "rare"})
    assert row["withheld"]
    assert "pairs" not in row
    assert [result.criteria[0].value, result.criteria[0].low] == [None, None]
    page = Page()
    paired(page, result.as_json())
    assert "rare: withheld" in page.render(100)


@pytest.mark.parametrize(
    ("criterion", "cluster", "expected"),
    [
        ({"variant": "half", "min": 0}, False, (7, None, None)),
        ({"variant": "half", "max": 0}, True, (7, None, None)),
        # At .025: z^2 * 19 = 5.0239 * 19 = 95.45 pairs; ln(.0125)/ln(.95) = 85.4 images.
        ({"variant": "half", "min": -0.05}, False, (None, 96, None)),
        ({"variant": "half", "max": 0.05}, True, (None, None, 86)),
        ({"variant": "half", "min": 0.05}, False, (None, None, None)),
    ],
)
def test_what_a_criterion_needs(
    criterion: Mapping[str, Any], cluster: bool, expected: tuple[int | None, ...]
) -> None:
    """Two comparisons: each at .025."""
    study = protocol(criterion, cluster=cluster, values=["original", "half", "dark"])
    plan = study.analyses["amp"]
    assert isinstance(plan, PairedVariantsPlan)
    (need,) = needs(plan, study)
    assert (need.discordant, need.pairs, need.clusters, need.level) == (*expected, 0.025)


def test_reads_of_guarda_share_the_error_rate() -> None:
    """One comparison and five reads: at .01, 2/2^8 = .0078 rejects and 2/2^7 does not; so check says too."""
    study = protocol(
        {"variant": "half", "min": 0},
        pool="guarda",
        pools={"guarda": {"tables": ["variants"], "max_reads": 5}},
    )
    plan = study.analyses["amp"]
    assert isinstance(plan, PairedVariantsPlan)
    (need,) = needs(plan, study)
    assert need.discordant == 8
    assert need.level == pytest.approx(0.01)
    for lost, state in ((7, "INSUFFICIENT_EVIDENCE"), (8, "FAIL")):
        tables = {("", "variants"): table_of(study, pairs(100, lost, 0, 0))}
        result = analyse("amp", Given(study, tables, share=Fraction(1, 5)))
        assert result.criteria[0].state == state
        assert the_row(result)["confidence"] == pytest.approx(0.99)


def test_comparisons_of_systems_share_the_error_rate() -> None:
    """Two of them: 6 against 0 (p = .03125) is adjusted to .0625; difference is the first's less the second's."""
    study = protocol(
        {"systems": ["a", "b"], "variant": "half", "min": 0},
        {"systems": ["a", "b"], "min": 0},
        systems=["a", "b"],
    )
    shown = {"a": pairs(60, 0, 0, 0), "b": pairs(54, 6, 0, 0)}
    tables = {(name, "variants"): table_of(study, rows) for name, rows in shown.items()}
    result = analyse("amp", Given(study, tables))
    half, original = (row for row in result.tables["paired"] if "systems" in row)
    assert (half["first_only"], half["p"], half["p_adjusted"], half["simultaneous"]) == (6, 1 / 32, 1 / 16, 2)
    assert (half["difference"], original["difference"], original["variant"]) == (0.1, 0, "original")
    assert [each.state for each in result.criteria] == ["INSUFFICIENT_EVIDENCE"] * 2
    assert result.state == "INSUFFICIENT_EVIDENCE"


def test_the_table_as_text() -> None:
    page = Page()
    result = run(protocol({"variant": "half", "min": -0.05}), pairs(12, 7, 1, 1))
    paired(page, result.as_json())
    text = page.render(100)
    assert "−28.6 (−51.7 to −2.6)  0.07" in text
    assert "McNemar's exact test" in text
    assert "With fewer than 6 of them" in text


def test_adjustment_is_over_the_family() -> None:
    asked = Asked(alpha=0.05, confidence=0.95, family=3)
    found = [compare(*outcomes(50, lost, 0), None, asked) for lost in (8, 7)]
    empty = compare(np.zeros(0, np.int64), np.zeros(0, np.int64), None, asked)
    assert [each.p_adjusted for each in adjusted([*found, empty])] == [3 / 128, 2 / 64, None]
