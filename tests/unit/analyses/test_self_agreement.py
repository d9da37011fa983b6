"""Agreement with oneself as an analysis: passes in one file, relabels in another, and what is not there."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.studies import HEAD, typed

from lacre.analyses import analyse
from lacre.analyses.estimate import Estimate, Measure, NotEstimable
from lacre.analyses.given import Given
from lacre.analyses.reasons import Reason
from lacre.analyses.result import AnalysisResult
from lacre.analyses.verdict import State
from lacre.errors import UnitRepeated
from lacre.protocol.document import parse
from lacre.protocol.models import Protocol
from lacre.stats.draws import share
from lacre.tables.formats import Format
from lacre.tables.read import read_table

COLUMNS = {
    "id": {"type": "text"},
    "site": {"type": "text"},
    "age": {"type": "ordinal", "values": ["young", "middle", "old"]},
    "again": {"type": "ordinal", "values": ["young", "middle", "old"]},
    "sad": {"type": "outcome", "positive": "yes", "negative": "no"},
    "sex": {"type": "category", "values": ["f", "m"]},
}
PASSES = {"table": "cases", "passes": ["age", "again"]}
RELABEL: dict[str, dict[str, Any]] = {
    "cases": {"pool": "teste", "fraction": 0.1, "min_days_apart": 0, "columns": ["age", "sad"], "seed": 3}
}


def protocol_of(plan: Mapping[str, Any], table: Mapping[str, Any] | None = None, **more: Any) -> Protocol:
    document = {
        **HEAD,
        "tables": {"cases": {"key": "id", "columns": COLUMNS, **(table or {})}},
        "pools": {"teste": {"tables": ["cases"]}},
        "analyses": {"self": {"kind": "self_agreement", "pool": "teste", **plan}},
        **more,
    }
    return parse(json.dumps(document).encode())


def run(protocol: Protocol, rows: Sequence[Mapping[str, Any]], **given: Any) -> AnalysisResult:
    table = typed(protocol, rows)
    return analyse("self", replace(Given.of_one(protocol, "cases", table), **given), [""])


def labels(agree: int, cases: int, **more: Any) -> list[dict[str, Any]]:
    """Of `cases`, the first `agree` are labelled young twice, and the others old the second time."""
    return [{"age": "young", "again": "young" if place < agree else "old", **more} for place in range(cases)]


def test_passes_in_one_file() -> None:
    """85 of 100: Wilson .767164 to .906940, and a floor of .2328; the empty middle value stays in the table."""
    result = run(protocol_of(PASSES), labels(85, 100))
    raw, kappa = result.estimates
    assert isinstance(raw, Estimate)
    assert (raw.numerator, raw.denominator, raw.group, raw.details) == (85, 100, (), {"column": "age"})
    assert (raw.low, raw.high) == pytest.approx((0.767164, 0.906940), abs=5e-7)
    assert isinstance(kappa, NotEstimable)
    assert kappa.reason.code == "kappa-without-spread"  # the first labels are all one, whatever the second
    (row,) = result.tables["agreement"]
    assert row["values"] == ["young", "middle", "old"]
    assert row["counts"] == [[85, 0, 15], [0, 0, 0], [0, 0, 0]]
    assert row["floor"] == pytest.approx(0.2328, abs=5e-5)
    assert row["disagreement"] == pytest.approx(0.15)
    notes = {note.code: note.fields for note in result.notes}
    assert notes["agreement-floor"] == {"column": "age", "floor": row["floor"]}
    assert "independence-assumed" in notes
    assert result.state == State.PASS  # nothing was asked


def test_what_has_no_two_labels_is_counted() -> None:
    rows = [
        *labels(9, 10),
        {"age": "", "again": "old"},
        {"age": "ancient", "again": ""},
        {"age": "old"},
    ]
    result = run(protocol_of(PASSES), rows)
    assert {(each.reason, each.column): each.count for each in result.left_out} == {
        ("missing", "age"): 1,
        ("undeclared", "age"): 1,
        ("missing", "again"): 1,
    }
    assert result.tables["agreement"][0]["n"] == 10
    assert result.rows == 13


def test_criteria_are_decided_by_the_interval() -> None:
    """Lower and upper ends of 85/100 are .767 and .907."""
    floors = {"a": (0.76, State.PASS), "b": (0.8, State.INSUFFICIENT_EVIDENCE), "c": (0.91, State.FAIL)}
    criteria = [{"id": name, "metric": "raw_agreement", "min": low} for name, (low, _) in floors.items()]
    criteria.append({"id": "review", "metric": "kappa", "min": -1, "requires_manual_review": True})
    result = run(protocol_of({**PASSES, "criteria": criteria}), labels(85, 100))
    assert [each.state for each in result.criteria[:3]] == [state for _, state in floors.values()]
    assert result.criteria[3].state == State.MANUAL_REVIEW
    assert result.criteria[3].scale == "kappa"
    few = {"id": "few", "metric": "raw_agreement", "min": 0.1}
    blank = [*labels(85, 88), *({"age": "old"} for _ in range(12))]
    result = run(protocol_of({**PASSES, "criteria": [few]}), blank)
    assert result.criteria[0].reason.code == "too-many-left-out"


def test_kappa_is_not_estimable_where_it_is_undefined() -> None:
    result = run(protocol_of(PASSES), labels(10, 10))
    kappa = result.estimates[1]
    assert isinstance(kappa, NotEstimable)
    assert kappa.reason.code == "kappa-undefined"
    assert result.tables["agreement"][0]["kappa"] is None
    assert result.tables["agreement"][0]["floor"] == pytest.approx(3.8415 / 13.8415, abs=1e-5)
    perfect = [*labels(5, 5), *({"age": "old", "again": "old"} for _ in range(4))]
    result = run(protocol_of(PASSES), perfect)
    kappa = result.estimates[1]
    assert isinstance(kappa, NotEstimable)
    assert kappa.reason.code == "kappa-without-error"
    assert result.tables["agreement"][0]["floor"] == pytest.approx(0.299, abs=5e-4)


def test_no_agreement_at_all_is_told_with_its_bound() -> None:
    result = run(protocol_of(PASSES), labels(0, 20))
    raw = result.estimates[0]
    assert isinstance(raw, Estimate)
    assert raw.zero_bound is not None
    assert raw.zero_bound.rule_of_three == pytest.approx(0.15)


def test_strata_share_the_error_rate() -> None:
    """Two groups: each at 1 - .05/2; nobody of the sex that is absent."""
    rows = [*labels(85, 100, sex="f"), *labels(5, 7)]
    result = run(protocol_of({**PASSES, "by": [["sex"]]}), rows)
    women, men = result.estimates[2], result.estimates[4]
    assert isinstance(women, Estimate)
    assert women.group == (("sex", "f"),)
    assert women.simultaneous == 2
    # Wilson at z = 2.241403, worked by hand.
    centre, spread = 85 + 2.241403**2 / 2, 2.241403 * (85 * 0.15 + 2.241403**2 / 4) ** 0.5
    assert women.low == pytest.approx((centre - spread) / (100 + 2.241403**2), abs=1e-6)
    assert isinstance(men, NotEstimable)
    assert men.reason.code == "no-cases"
    assert ("missing", "sex", 7) in {(each.reason, each.column, each.count) for each in result.left_out}


def test_clusters_decide_the_interval() -> None:
    """25 sites of four cases alike: worth 25 at most, and the kappa's error is by site too."""
    rows = [
        {
            "age": "young" if place < 60 else "old",
            "again": "young" if place < 80 else "old",
            "site": place // 4,
        }
        for place in range(100)
    ]
    alone = run(protocol_of(PASSES), rows)
    result = run(protocol_of(PASSES, {"cluster": "site"}), rows)
    raw, kappa = result.estimates
    naive = alone.estimates[1]
    assert isinstance(raw, Estimate)
    assert isinstance(kappa, Measure)
    assert isinstance(naive, Measure)
    assert raw.method == "wilson on effective sample size"
    assert raw.high - raw.low > 1.9 * (alone.estimates[0].high - alone.estimates[0].low)  # type: ignore[union-attr]
    # Four alike each: the error of 25, with the factor of 25 clusters.
    assert kappa.high - kappa.value == pytest.approx(  # type: ignore[operator]
        (naive.high - naive.value) * 2 * (25 / 24) ** 0.5  # type: ignore[operator]
    )
    lost = run(protocol_of(PASSES, {"cluster": "site"}), [*rows, *labels(0, 9)])
    assert lost.estimates[0] == raw
    assert ("missing", "site", 9) in {(each.reason, each.column, each.count) for each in lost.left_out}
    few = run(protocol_of(PASSES, {"cluster": "site"}), [{**row, "site": 1} for row in rows])
    assert [each.reason.code for each in few.estimates if isinstance(each, NotEstimable)] == [
        "too-few-clusters"
    ] * 2
    assert few.tables["agreement"][0]["floor"] is None
    crossed = run(protocol_of(PASSES, {"cluster": ["site", "sex"]}), rows)
    assert {each.reason.code for each in crossed.estimates if isinstance(each, NotEstimable)} == {
        "crossed-clusters"
    }


def drawn(cases: int, fraction: float) -> list[str]:
    """The keys that the registered seed draws, in the order of the rows."""
    found = share([f"c{place}" for place in range(cases)], fraction, RELABEL["cases"]["seed"])
    return [f"c{place}" for place in sorted(found.drawn.tolist())]


HALF = {"cases": {**RELABEL["cases"], "fraction": 0.5}}


def test_relabels_are_joined_by_key() -> None:
    """Of 40 cases 20 were labelled again, in another order; one label changed, one is blank, two are unknown.

    These are nobody's, and of a case that was not drawn.
    """
    criterion = {"id": "c", "metric": "raw_agreement", "column": "sad", "min": 0.5}
    protocol = protocol_of({"relabel": "cases", "criteria": [criterion]}, relabel=HALF)
    sad = {f"c{place}": "yes" if place % 2 else "no" for place in range(40)}
    rows = [{"age": "old", "sad": each} for each in sad.values()]
    keys = drawn(40, 0.5)
    second = [{"id": key, "age": "old", "sad": sad[key]} for key in reversed(keys)]
    second[0]["age"] = "young"
    second[1]["sad"] = ""
    others = [{"id": "who", "age": "old"}, {"id": min({*sad} - {*keys}), "age": "young"}]
    again = typed(protocol, [*second, *others], columns=["id", "age", "sad"])
    result = run(protocol, rows, relabelled={"cases": again})
    assert result.rows == 20
    ages, sads = result.tables["agreement"]
    assert (ages["column"], ages["agree"], ages["n"]) == ("age", 19, 20)
    assert ages["counts"][2] == [1, 0, 19]
    assert (sads["column"], sads["agree"], sads["n"], sads["values"]) == ("sad", 19, 19, ["no", "yes"])
    assert (result.criteria[0].value, result.criteria[0].details) == (1, {"column": "sad"})
    assert {(each.reason, each.column, each.count) for each in result.left_out} == {
        ("unknown", "id", 2),
        ("missing", "sad", 1),
    }


def test_drawn_cases_that_came_back_without_a_label_are_left_out() -> None:
    """Of 20 drawn cases 14 came back: six are missing, and six of 20 are too many to decide on the others."""
    criterion = {"id": "c", "metric": "raw_agreement", "column": "sad", "min": 0.5}
    protocol = protocol_of({"relabel": "cases", "criteria": [criterion]}, relabel=HALF)
    rows = [{"age": "old" if place % 3 else "young", "sad": "yes"} for place in range(40)]
    second = [{"id": key, **rows[int(key[1:])]} for key in drawn(40, 0.5)[:14]]
    again = typed(protocol, second, columns=["id", "age", "sad"])
    result = run(protocol, rows, relabelled={"cases": again})
    assert (result.rows, result.tables["agreement"][0]["n"]) == (20, 14)
    assert [(each.reason, each.column, each.count) for each in result.left_out] == [
        ("missing", "age", 6),
        ("missing", "sad", 6),
    ]
    assert result.criteria[0].reason.code == "too-many-left-out"
    assert result.state == State.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize(("least", "soon"), [(0, 0), (1, 4), (2, 11)])
def test_labels_that_came_too_soon_count_as_none(least: int, soon: int) -> None:
    """Of 20 second labels four are of the first one's day in São Paulo (one of them at 01:00 UTC of the next).

    Seven more are of the day after. The rest are of two days later, and all agree.
    """
    relabel = {"cases": {**HALF["cases"], "min_days_apart": least}}
    at = {"type": "time", "is": "labelled", "zone": "America/Sao_Paulo"}
    protocol = protocol_of({"relabel": "cases"}, {"columns": {**COLUMNS, "at": at}}, relabel=relabel)
    rows = [{"age": "old", "sad": "yes", "at": "2026-03-01 12:00"} for _place in range(40)]
    when = (
        ["2026-03-01 13:00"] * 3
        + ["2026-03-02T01:00:00Z"]
        + ["2026-03-02 00:30"] * 7
        + ["2026-03-03 09:00"] * 9
    )
    keys = drawn(40, 0.5)
    second = [{"id": key, "age": "old", "sad": "yes", "at": at} for key, at in zip(keys, when, strict=True)]
    again = typed(protocol, second, columns=["id", "age", "sad", "at"])
    result = run(protocol, rows, relabelled={"cases": again})
    assert (result.rows, result.tables["agreement"][0]["n"]) == (20, 20 - soon)
    notes = [each.fields for each in result.notes if each.code == "relabelled-too-soon"]
    assert notes == ([{"count": soon}] if soon else [])
    missing = {(each.column, each.count) for each in result.left_out if each.reason == "missing"}
    assert missing == ({("age", soon), ("sad", soon)} if soon else set())


def test_nothing_asked_and_nothing_estimated_is_no_pass() -> None:
    """All second labels blank; one of two columns with labels is enough; a review stands before both."""
    blank = [{"age": "old", "again": ""} for _ in range(40)]
    assert run(protocol_of(PASSES), blank).state == State.INSUFFICIENT_EVIDENCE
    assert run(protocol_of({**PASSES, "requires_manual_review": True}), blank).state == State.MANUAL_REVIEW
    protocol = protocol_of({"relabel": "cases"}, relabel=HALF)
    assert run(protocol, labels(9, 10)).state == State.INSUFFICIENT_EVIDENCE
    rows = [{"age": "old", "sad": "yes"} for _ in range(40)]
    second = [{"id": key, "age": "old"} for key in drawn(40, 0.5)]
    again = typed(protocol, second, columns=["id", "age", "sad"])
    assert run(protocol, rows, relabelled={"cases": again}).state == State.PASS


def test_without_relabels_nothing_can_be_said() -> None:
    criterion = {"id": "c", "metric": "raw_agreement", "column": "age", "min": 0.5}
    protocol = protocol_of({"relabel": "cases", "criteria": [criterion]}, relabel=RELABEL)
    result = run(protocol, labels(9, 10))
    assert {each.reason.code for each in result.estimates if isinstance(each, NotEstimable)} == {
        "not-relabelled"
    }
    assert result.criteria[0].state == State.INSUFFICIENT_EVIDENCE
    assert result.criteria[0].reason.code == "not-relabelled"


def test_few_cases_are_told_of_nobody() -> None:
    """Identifiable data: a margin of 3 shows no counts; a group of 3 shows no agreement, nor does the other."""
    data = {"identifiable": True, "prior_exposure": "none"}
    (everybody,) = run(protocol_of(PASSES, data=data), labels(50, 53)).tables["agreement"]
    assert everybody["counts"] is None
    assert (everybody["n"], everybody["agree"]) == (53, 50)
    (everybody,) = run(protocol_of(PASSES, data=data), labels(48, 53)).tables["agreement"]
    assert everybody["counts"] == [[48, 0, 5], [0, 0, 0], [0, 0, 0]]
    rows = [*labels(47, 50, sex="f"), *labels(3, 3, sex="m")]
    result = run(protocol_of({**PASSES, "by": [["sex"]]}, data=data), rows)
    groups = result.tables["agreement"][1:]
    assert [set(row) for row in groups] == [{"group", "withheld"}] * 2


def test_kappa_is_not_told_where_the_table_is_not() -> None:
    """[48, 2; 1, 2] of 53: with n and 50 agreed the one other unknown is how 3 disagreements lie, and where 50 agree.

    Kappa tells it: of all tables of 53 with 50 agreed no other one has this kappa, but for the labels' names and
    the order of the two labellings.
    """
    n, agreed, seen = 53, 50, (48, 2, 1, 2)

    def kappa(a: int, b: int, c: int, d: int) -> Fraction:
        expected = Fraction((a + b) * (a + c) + (c + d) * (b + d), n * n)
        return (Fraction(a + d, n) - expected) / (1 - expected)

    tables = [(a, b, 3 - b, agreed - a) for a in range(agreed + 1) for b in range(4)]
    alike = {table for table in tables if kappa(*table) == kappa(*seen)}
    assert alike == {seen, (48, 1, 2, 2), (2, 1, 2, 48), (2, 2, 1, 48)}
    a, b, c, d = seen
    pairs = [("young", "young")] * a + [("young", "old")] * b + [("old", "young")] * c + [("old", "old")] * d
    rows = [{"age": first, "again": second} for first, second in pairs]
    plan = {**PASSES, "criteria": [{"id": "k", "metric": "kappa", "min": 0.2}]}
    plain = run(protocol_of(plan), rows)
    result = run(protocol_of(plan, data={"identifiable": True, "prior_exposure": "none"}), rows)
    (row,) = result.tables["agreement"]
    assert row["raw"] is not None
    assert (row["counts"], row["kappa"], row["kappa_low"], row["kappa_high"]) == (None, None, None, None)
    (criterion,) = result.criteria
    assert (criterion.value, criterion.low, criterion.high) == (None, None, None)
    assert criterion.state is plain.criteria[0].state
    assert plain.criteria[0].value == pytest.approx(float(kappa(*seen)))
    assert Reason("estimates-withheld", {"count": 1, "min_count": 5}) in result.notes


def test_the_table_of_one_group_is_not_told_by_the_others() -> None:
    """Of the 20 men 2 were called old: all less the women would be they, so the women's table goes as well."""
    rows = [*labels(30, 36, sex="f"), *labels(20, 20, sex="m")]
    for place in (*range(10), 36, 37):
        rows[place] |= {"age": "old", "again": "old"}
    data = {"identifiable": True, "prior_exposure": "none"}
    everybody, *groups = run(protocol_of({**PASSES, "by": [["sex"]]}, data=data), rows).tables["agreement"]
    assert everybody["counts"] is not None
    assert [row["counts"] for row in groups] == [None, None]


def test_the_floor_of_a_few_cases_is_not_told() -> None:
    """It would tell how many there are: the agreement itself is withheld."""
    result = run(protocol_of(PASSES), labels(7, 7))
    assert [note.code for note in result.notes] == ["agreement-floor", "independence-assumed"]
    result = run(protocol_of(PASSES, disclosure={"min_count": 10}), labels(7, 7))
    assert "agreement-floor" not in [note.code for note in result.notes]


def test_a_unit_may_stand_once() -> None:
    protocol = protocol_of(PASSES, {"unit": "site"})
    with pytest.raises(UnitRepeated):
        run(protocol, [{**row, "site": "one"} for row in labels(2, 2)])


def test_guarda_spends_a_share_of_the_error_rate() -> None:
    from fractions import Fraction

    result = run(protocol_of(PASSES), labels(85, 100), share=Fraction(1, 5), review=("engine-changed",))
    raw = result.estimates[0]
    assert isinstance(raw, Estimate)
    assert raw.confidence == pytest.approx(0.99)
    centre, spread = 85 + 2.575829**2 / 2, 2.575829 * (85 * 0.15 + 2.575829**2 / 4) ** 0.5
    assert raw.low == pytest.approx((centre - spread) / (100 + 2.575829**2), abs=1e-6)
    assert result.state == State.MANUAL_REVIEW


def test_annotators_agree_with_themselves(data_dir: Path) -> None:
    """XHateStability as a study: raw .7933, kappa .5866, and by condition as published with the data."""
    name = "6-sampling-relabel/xhatestability_annotations.csv"
    entries = json.loads((data_dir / "expected.json").read_text())
    published = next(each["expected"] for each in entries if each["files"][0]["file"] == name)
    file = pd.read_csv(data_dir / name, skipinitialspace=True)
    values = sorted({*file["label1"], *file["label2"]})
    conditions = ["en-en", "de-en", "en-de", "de-de"]
    columns = {
        "id": {"type": "text"},
        "annotator": {"type": "text"},
        "condition": {"type": "category", "values": conditions},
        "label1": {"type": "category", "values": values},
        "label2": {"type": "category", "values": values},
    }
    plan = {"table": "cases", "passes": ["label1", "label2"], "by": [["condition"]]}
    for clustered in ({}, {"cluster": "annotator"}):
        protocol = protocol_of(plan, {"columns": columns, **clustered})
        cells = file.assign(id=[f"t{place}" for place in range(len(file))])[list(columns)]
        raw = cells.to_csv(index=False).encode()
        table = read_table(raw, protocol.tables["cases"], "cases", Format.CSV, only="pool")
        result = analyse("self", Given.of_one(protocol, "cases", table), [""])
        everybody, *by = result.tables["agreement"]
        assert (everybody["raw"], everybody["kappa"]) == pytest.approx(
            (published["all"]["raw"], published["all"]["kappa"]), abs=5e-5
        )
        for row, condition in zip(by, conditions, strict=True):
            assert [row["n"], row["raw"], row["kappa"]] == pytest.approx(published[condition], abs=5e-5)
        assert result.notes[0].code == "agreement-floor"
        # 1658 of 2090 with Wilson by hand: a floor of .2246 if every text were a person's own; by annotator more.
        if clustered:
            assert everybody["floor"] > 0.24
        else:
            assert everybody["floor"] == pytest.approx(0.2246, abs=5e-5)
