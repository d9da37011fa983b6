"""Results of every kind computed again from themselves: what the engine gave comes out, what was forged does not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests import studies
from tests.unit.analyses import (
    test_estimates as samples,
    test_paired_variants as variants,
    test_self_agreement as labels,
    test_verification as ladders,
)
from tests.unit.analyses.stored import FIRST, GATE, given_to

from lacre.analyses.given import Drawn, Given
from lacre.analyses.recompute import recompute
from lacre.protocol.document import parse
from lacre.protocol.models import Protocol
from lacre.stats.proportions import wilson
from lacre.tables.columns import TypedTable
from lacre.tables.formats import Format
from lacre.tables.join import join_submission
from lacre.tables.read import read_table

Made = tuple[dict[str, Any], Protocol]

# --- shares ------------------------------------------------------------------------------------------------

FACES: dict[str, Any] = {
    "id": {"type": "text"},
    "image": {"type": "text"},
    "shot": {"type": "text"},
    "person": {"type": "outcome", "positive": "1", "negative": "0"},
    "found": {"type": "outcome", "positive": "1", "negative": "0", "from": "submission"},
    "score": {"type": "number", "from": "submission"},
    "height": {"type": "number", "bins": {"low": [0, 40], "high": [40, None]}},
    "skin": {"type": "category", "values": ["light", "dark"]},
    "pi": {"type": "number"},
}
ALL = {"id": "all", "metric": "recall", "min": 0.7}
EACH = {"id": "each", "metric": "recall", "by": ["skin"], "worst_group": {"min": 0.6}}
APART = {
    "id": "apart",
    "metric": "stratum_difference",
    "between": [{"skin": "light"}, {"skin": "dark"}],
    "max": 0.2,
}
TWO = {"id": "two", "metric": "difference", "systems": ["a", "b"], "min": -0.1}


def faces_of(*criteria: Mapping[str, Any], table: Mapping[str, Any] | None = None,
             columns: Mapping[str, Any] | None = None, more: Mapping[str, Any] | None = None,
             **plan: Any) -> Protocol:  # fmt: skip
    kind = plan.get("kind", "recall")
    event = plan.pop("event", {"column": "found", "blank": "not_detected"})
    document = {
        "lacre": 1, "study": "s", "title": "T", "question": "Q?", "language": "en",
        "data": {"identifiable": False, "prior_exposure": "none"},
        "tables": {"faces": {"key": "id", "columns": {**FACES, **(columns or {})}, **(table or {})}},
        "pools": {"teste": {"tables": ["faces"]}},
        "analyses": {
            "one": {
                "kind": kind, "pool": "teste", "table": "faces", "by": [["skin"], ["skin", "height"]],
                **({"detected": event} if kind == "recall" else {"person": "person", "found": event}),
                "criteria": list(criteria) or [ALL, EACH, APART],
                **plan,
            }
        },
        **(more or {}),
    }  # fmt: skip
    return parse(json.dumps(document).encode())


def faces(number: int) -> dict[str, Any]:
    return {
        "id": f"f{number}", "image": f"i{number % 60}", "shot": f"s{number % 50}", "person": int(number % 9 != 0),
        "found": int(number * 7 % 10 > (1 if number % 2 else 2)), "score": number * 7 % 10 / 10,
        "height": (20, 60)[number // 2 % 2], "skin": ("light", "dark")[number % 2], "pi": 0.5,
    }  # fmt: skip


def typed(protocol: Protocol, rows: Sequence[Mapping[str, Any]], name: str = "faces") -> TypedTable:
    columns = list(protocol.tables[name].columns)
    lines = [",".join(columns), *(",".join(str(row.get(each, "")) for each in columns) for row in rows)]
    raw = ("\n".join(lines) + "\n").encode()
    declared = protocol.tables[name]
    pool = read_table(raw, declared, name, Format.CSV, only="pool")
    return join_submission(pool, read_table(raw, declared, name, Format.CSV, only="submission"))


def shared(
    protocol: Protocol, change: Callable[[int], Mapping[str, Any]] = lambda _: {}, **more: Any
) -> Made:
    rows = [{**faces(number), **change(number)} for number in range(240)]
    decision = more.pop("decision", FIRST)
    tables = {}
    for system in protocol.systems or ("",):
        own = [
            {**row, "found": 1 if system == "b" and place % 5 == 0 else row["found"]}
            for place, row in enumerate(rows)
        ]
        tables[system, "faces"] = typed(protocol, own)
    return given_to("one", Given(protocol, tables, **more), decision), protocol


BLANK = {"column": "found", "blank": "worst_case"}
LEFT = {"column": "found", "blank": "left_out"}
AT = {"score": "score", "threshold": "t", "blank": "not_detected"}
SYSTEMS = {"systems": {"a": {"version": "1"}, "b": {"version": "1"}}}
FAILURE = [
    {**each, "metric": str(each["metric"]).replace("recall", "protective_failure")}
    for each in (ALL, EACH, APART)
]
DRAW = {
    "sampling": {
        "faces": {"pool": "teste", "strata": "skin", "sizes": {"light": 120, "dark": 120}, "seed": 3}
    }
}
DRAWN = {"faces": Drawn({"light": 240, "dark": 240}, {"light": 120, "dark": 120}, 4)}
ABSENT = {"faces": replace(DRAWN["faces"], absent=9)}
WEIGHED = {"pi": {"type": "number", "is": "inclusion_probability"}}
WEIGHTS = {"weights": {"column": "pi", "draw": "faces"}}


def some_blank(number: int) -> dict[str, Any]:
    return {"found": ""} if number % 40 == 0 else {}


SHARES: dict[str, Callable[[], Made]] = {
    "plain": lambda: shared(faces_of()),
    "exact": lambda: shared(faces_of(interval="clopper_pearson", confidence=0.9)),
    "nothing found": lambda: shared(faces_of(), lambda _: {"found": 0}),
    "blank": lambda: shared(faces_of(event=BLANK), some_blank),
    "blank left out": lambda: shared(faces_of(event=LEFT), some_blank),
    "outside": lambda: shared(
        faces_of(), lambda n: {"skin": "x"} if n % 50 == 0 else {"height": ""} if n % 60 == 7 else {}
    ),
    "far outside": lambda: shared(faces_of(), lambda n: {"skin": "x"} if n % 3 == 0 else {}),
    "one stratum": lambda: shared(faces_of(), lambda _: {"skin": "light"}),
    "clusters": lambda: shared(faces_of(table={"cluster": ["image"]})),
    "clusters, nothing": lambda: shared(faces_of(table={"cluster": ["image"]}), lambda _: {"found": 0}),
    "clusters, blank": lambda: shared(faces_of(table={"cluster": ["image"]}, event=BLANK), some_blank),
    "few clusters": lambda: shared(faces_of(table={"cluster": ["image"]}), lambda n: {"image": f"i{n % 25}"}),
    "crossed": lambda: shared(faces_of(ALL, EACH, APART, table={"cluster": ["image", "shot"]})),
    "review": lambda: shared(faces_of(requires_manual_review=True)),
    "threshold": lambda: shared(faces_of(event=AT, more={"thresholds": {"t": {"fixed": 0.3}}})),
    "systems": lambda: shared(faces_of(ALL, EACH, TWO, more=SYSTEMS)),
    "systems in clusters": lambda: shared(
        faces_of(ALL, TWO, {**TWO, "id": "zero", "min": 0}, more=SYSTEMS, table={"cluster": ["image"]})
    ),
    "systems, blank": lambda: shared(faces_of(ALL, TWO, event=BLANK, more=SYSTEMS), some_blank),
    "weights": lambda: shared(faces_of(columns=WEIGHED, more=DRAW, **WEIGHTS), draws=DRAWN),
    "weights, absent": lambda: shared(
        faces_of(ALL, TWO, columns=WEIGHED, more={**DRAW, **SYSTEMS}, **WEIGHTS), draws=ABSENT
    ),
    "weights, no draw": lambda: shared(faces_of(ALL, EACH, APART, columns=WEIGHED, more=DRAW, **WEIGHTS)),
    "weights, clusters": lambda: shared(
        faces_of(columns=WEIGHED, more=DRAW, table={"cluster": ["image"]}, **WEIGHTS), draws=DRAWN
    ),
    "failure": lambda: shared(faces_of(*FAILURE, kind="protective_failure")),
    "failure, blank": lambda: shared(
        faces_of(*FAILURE, kind="protective_failure", event=LEFT),
        lambda n: some_blank(n) or ({"person": ""} if n % 31 == 0 else {}),
    ),
    "disclosure": lambda: shared(
        faces_of(more={"disclosure": {"min_count": 25}}), lambda n: {"height": 60 if n % 20 == 0 else 20}
    ),
}  # fmt: skip

# --- pairs -------------------------------------------------------------------------------------------------

FLOOR = {"variant": "half", "min": -0.05}
ZERO = {"variant": "half", "min": 0}


def paired(*criteria: Mapping[str, Any], rows: Sequence[Any] | None = None, **more: Any) -> Made:
    decision = more.pop("decision", FIRST)
    protocol = variants.protocol(*(criteria or (FLOOR, ZERO)), **more)
    tables = {}
    for at, system in enumerate(protocol.systems or ("",)):
        own = rows if rows is not None else variants.pairs(120 - 4 * at, 9 + 4 * at, 1, 10)
        tables[system, "variants"] = variants.table_of(protocol, own)
    return given_to("amp", Given(protocol, tables), decision), protocol


def three(clusters: int = 0) -> list[Any]:
    return [
        *variants.pairs(120, 9, 1, 10, clusters=clusters),
        *(
            row
            for row in variants.pairs(100, 29, 1, 10, variant="dark", clusters=clusters)
            if row[2] == "dark"
        ),
    ]


VALUES = ("original", "half", "dark")
PAIRS: dict[str, Callable[[], Made]] = {
    "plain": paired,
    "three": lambda: paired(FLOOR, {"variant": "dark", "min": 0}, rows=three(), values=VALUES),
    "unadjusted": lambda: paired(
        FLOOR, {"variant": "dark", "min": 0}, rows=three(), values=VALUES, multiplicity="none"
    ),
    "mid p": lambda: paired(test="mcnemar_mid_p"),
    "none differ": lambda: paired(rows=variants.pairs(100, 0, 0, 4)),
    "no pairs": lambda: paired(rows=[(f"f{n}", "i", "original", 1) for n in range(30)]),
    "unpaired": lambda: paired(rows=variants.pairs(60, 9, 1, 10)[:-7]),
    "reversed": lambda: paired(rows=variants.pairs(10, 9, 1, 60)),
    "clusters": lambda: paired(rows=variants.pairs(100, 9, 1, 10, clusters=40), cluster=True),
    "few clusters": lambda: paired(rows=variants.pairs(100, 9, 1, 10, clusters=12), cluster=True),
    "cluster each": lambda: paired(rows=variants.pairs(100, 9, 1, 10), cluster=True),
    "blank": lambda: paired(
        rows=[(*row[:3], "" if at % 30 == 0 else row[3]) for at, row in enumerate(variants.pairs(60, 9, 1, 10))],
        detected={"column": "found", "blank": "worst_case"},
    ),
    "blank left out": lambda: paired(
        rows=[(*row[:3], "" if at % 30 == 0 else row[3]) for at, row in enumerate(variants.pairs(60, 9, 1, 10))],
        detected={"column": "found", "blank": "left_out"},
    ),
    "systems": lambda: paired(
        {"systems": ["a", "b"], "min": 0}, {"systems": ["a", "b"], "variant": "half", "min": -0.1}, FLOOR,
        systems=["a", "b"],
    ),
    "review": lambda: paired(requires_manual_review=True),
    "disclosure": lambda: paired(rows=variants.pairs(2, 1, 0, 0), identifiable=True),
}  # fmt: skip

# --- labels ------------------------------------------------------------------------------------------------

AGREE = {"id": "agree", "metric": "raw_agreement", "min": 0.7}
CHANCE = {"id": "chance", "metric": "kappa", "min": 0.4}


def labelled(change: Callable[[int], Mapping[str, Any]] = lambda _: {}, cluster: Sequence[str] = (),
             rows: int = 120, **plan: Any) -> Made:  # fmt: skip
    more = plan.pop("more", {})
    said = {**labels.PASSES, "criteria": [AGREE, CHANCE], **plan}
    said = {name: value for name, value in said.items() if value is not None}
    protocol = labels.protocol_of(said, {"cluster": list(cluster)}, **more)
    ages = ("young", "middle", "old")
    cells = [
        {
            "age": ages[number % 3], "again": ages[(number + (number % 11 == 0)) % 3], "sex": "fm"[number // 3 % 2],
            "site": f"s{number % 40}", **change(number),
        }
        for number in range(rows)
    ]  # fmt: skip
    table_ = studies.typed(protocol, cells)
    return given_to("self", Given.of_one(protocol, "cases", table_)), protocol


def relabelled(back: int) -> Made:
    """A relabel of 60 of 120 cases, of which some came back."""
    plan = {"relabel": "cases", "criteria": [{**AGREE, "column": "age"}], "by": [["sex"]]}
    protocol = labels.protocol_of(plan, relabel=labels.HALF)
    cells = [{"age": ("young", "old")[n % 2], "sad": "yes", "sex": "fm"[n // 3 % 2]} for n in range(120)]
    second = [{"id": key, "age": "old", "sad": "yes"} for key in labels.drawn(120, 0.5)[:back]] or [
        {"id": "who"}
    ]
    table_ = studies.typed(protocol, cells)
    again = studies.typed(protocol, second, columns=["id", "age", "sad"])
    given = replace(Given.of_one(protocol, "cases", table_), relabelled={"cases": again})
    return given_to("self", given), protocol


LABELS: dict[str, Callable[[], Made]] = {
    "plain": labelled,
    "strata": lambda: labelled(by=[["sex"]]),
    "clusters": lambda: labelled(cluster=["site"], by=[["sex"]]),
    "few clusters": lambda: labelled(lambda n: {"site": f"s{n % 7}"}, cluster=["site"]),
    "crossed": lambda: labelled(cluster=["site", "sex"]),
    "all alike": lambda: labelled(lambda _: {"age": "old", "again": "old"}),
    "no change": lambda: labelled(lambda n: {"again": ("young", "middle", "old")[n % 3]}),
    "never": lambda: labelled(lambda _: {"age": "old", "again": "young"}),
    "one value again": lambda: labelled(lambda _: {"again": "old"}),
    "far below chance": lambda: labelled(lambda n: {"age": "old", "again": "young"} if n % 2 else
                                         {"age": "young", "again": "young" if n == 2 else "old"}, rows=30),
    "nothing asked": lambda: labelled(criteria=[]),
    "nothing asked, blank": lambda: labelled(lambda _: {"again": ""}, criteria=[]),
    "nothing asked, withheld": lambda: labelled(criteria=[], rows=7, more={"disclosure": {"min_count": 10}}),
    "relabelled": lambda: relabelled(60),
    "relabelled, some absent": lambda: relabelled(50),
    "relabelled, none back": lambda: relabelled(0),
    "missing": lambda: labelled(lambda n: {"again": ""} if n % 20 == 0 else {"age": "x"} if n % 30 == 1 else {}),
    "not relabelled": lambda: labelled(passes=None, table=None, relabel="cases", more={"relabel": labels.RELABEL},
                                       criteria=[{**AGREE, "column": "age"}]),
    "disclosure": lambda: labelled(by=[["sex"]], more={"disclosure": {"min_count": 10}},
                                   change=lambda n: {"sex": "m" if n % 30 == 0 else "f"}),
}  # fmt: skip

# --- samples -----------------------------------------------------------------------------------------------


def sampled(of: str = "mean", value: str = "size", change: Callable[[int], Mapping[str, Any]] = lambda _: {},
            table: Mapping[str, Any] | None = None, **plan: Any) -> Made:  # fmt: skip
    more = plan.pop("more", {})
    bound = {"mean": 10 if value == "size" else 0.2, "total": 900, "ratio": 0.3}[of]
    protocol = samples.protocol_of(
        {
            "of": of, "value": value, "by": [["sex"]], "weights": samples.SIZED,
            "criteria": [{"id": "least", "metric": of, "min": bound}], **plan,
        },
        table=table, **more,
    )  # fmt: skip
    cells = [
        {
            "kind": "ab"[number % 2], "sex": "fm"[number // 2 % 2], "size": 10 + number % 7, "all": 30 + number % 5,
            "site": f"s{number // 2}", "hit": int(number % 5 == 0), "pw": 2 if number % 2 == 0 else 3, **change(number),
        }
        for number in range(40)
    ]  # fmt: skip
    return given_to("est", Given.of_one(protocol, "cases", studies.typed(protocol, cells))), protocol


SAMPLES: dict[str, Callable[[], Made]] = {
    "mean": sampled,
    "share": lambda: sampled(value="hit"),
    "share of none": lambda: sampled(value="hit", change=lambda _: {"hit": 0}),
    "total": lambda: sampled("total"),
    "total, missing": lambda: sampled("total", change=lambda n: {"size": ""} if n == 3 else {}),
    "ratio": lambda: sampled("ratio", over="all"),
    "missing": lambda: sampled(change=lambda n: {"size": ""} if n in (3, 4) else {"sex": ""} if n == 7 else {}),
    "lonely": lambda: sampled(change=lambda n: {"kind": "a", "pw": 40 / 39} if n != 1 else {"pw": 60}),
    "nothing varies": lambda: sampled(change=lambda _: {"size": 4}),
    "disclosure": lambda: sampled(more={"disclosure": {"min_count": 5}},
                                  change=lambda n: {"sex": "m" if n % 20 == 0 else "f"}),
}  # fmt: skip

# --- ladders -----------------------------------------------------------------------------------------------

WORST = {"id": "worst", "metric": "false_non_match", "by": "group", "worst_group": {"max": 0.2}}
TARGETS: dict[str, Any] = {"targets": {"false_match": [0.1, 0.001]}}


def verified(
    *criteria: Mapping[str, Any],
    rows: Sequence[Any] | None = None,
    cohort: Sequence[Any] = (),
    rung: str | None = None,
    **more: Any,
) -> Made:
    study = ladders.study(*(criteria or (ladders.RATIO, ladders.MOST, WORST, ladders.FAR)), **more)
    given = study.given(THREE if rows is None else rows, cohort, rung=rung)
    return given_to("v", given), study.protocol


THREE = [*ladders.counted("a", 6, 100), *ladders.counted("b", 9, 120, 4), *ladders.counted("c", 12, 90)]
SUBJECTS = [
    {"subject_a": f"s{n % 31}", "subject_b": f"s{n % 31 if row['same'] else (n * 7 + 1) % 37}", **row}
    for n, row in enumerate(THREE)
]
FEW_GENUINE = [row for group in "abc" for row in ladders.counted(group, 6, 100, 4, 40)]
"""Of every group 100 impostors, and 40 genuine comparisons, which 60 withholds."""
RUNGS = [
    {"id": "raw"},
    {"id": "z", "kind": "z_norm", "scores": ladders.SCORES, "ddof": 0, "threshold": "n"},
]
LADDERS: dict[str, Callable[[], Made]] = {
    "plain": verified,
    "targets": lambda: verified(ladders.MOST, **TARGETS),
    "abstentions": lambda: verified(rows=[*THREE, *ladders.pairs("a", 1, *[""] * 7), *ladders.pairs("", 0, 0.1)]),
    "no errors": lambda: verified(rows=[*THREE, *ladders.pairs("b", 1, 0.9)][210:]),
    "one group": lambda: verified(rows=ladders.counted("a", 3, 100)),
    "reversed": lambda: verified(rows=ladders.counted("a", 90, 100, 90)),
    "subjects": lambda: verified(rows=SUBJECTS, cluster=["subject_a", "subject_b"], **TARGETS),
    "clusters": lambda: verified(rows=SUBJECTS, cluster=["subject_a"], **TARGETS),
    "review": lambda: verified(requires_manual_review=True),
    "disclosure": lambda: verified(rows=[*THREE[:410], *ladders.counted("c", 1, 3, 1, 4)],
                                   protocol={"disclosure": {"min_count": 5}}),
    "one label withheld": lambda: verified(rows=FEW_GENUINE, protocol={"disclosure": {"min_count": 60}}, **TARGETS),
    "one label withheld, clusters": lambda: verified(
        rows=[{"subject_a": f"s{n % 31}", "subject_b": "", **row} for n, row in enumerate(FEW_GENUINE)],
        cluster=["subject_a"], protocol={"disclosure": {"min_count": 60}},
    ),
    "cohort": lambda: verified(
        rows=[{"image_a": f"i{n % 9}", "image_b": f"i{n % 7}", **row} for n, row in enumerate(THREE)],
        cohort=[{"image": f"i{n % 9}", "score": n % 13 / 13} for n in range(90)],
        mitigations=RUNGS,
    ),
    "training": lambda: verified(rung="t", mitigations=[{"id": "raw"}, {"id": "t", "kind": "training"}]),
    "before training": lambda: verified(mitigations=[{"id": "raw"}, {"id": "t", "kind": "training"}]),
    "cohort missing": lambda: verified(
        rows=[{"image_a": f"i{n % 9}", "image_b": f"i{n % 7}", **row} for n, row in enumerate(THREE)],
        cohort=[{"image": "i1", "score": n % 13 / 13} for n in range(90)],
        mitigations=RUNGS,
    ),
}  # fmt: skip

MADE: dict[tuple[str, str], Callable[[], Made]] = {
    **{("shares", name): made for name, made in SHARES.items()},
    **{("pairs", name): made for name, made in PAIRS.items()},
    **{("labels", name): made for name, made in LABELS.items()},
    **{("samples", name): made for name, made in SAMPLES.items()},
    **{("ladders", name): made for name, made in LADDERS.items()},
}


@cache
def made(name: tuple[str, str]) -> Made:
    """Make a result once; nobody changes it but in a copy."""
    return MADE[name]()


@pytest.mark.parametrize("name", MADE, ids=": ".join)
def test_what_the_engine_gave_comes_out_again(name: tuple[str, str]) -> None:
    document, protocol = made(name)
    again = recompute(document, protocol)
    assert again.differences == ()
    assert again.criteria + again.withheld > 0 or name[1].startswith("nothing asked")


# --- forged ------------------------------------------------------------------------------------------------


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in items:
            yield from leaves(each, (*path, key))
    else:
        yield path


def at(document: Any, path: Sequence[Any]) -> Any:
    for key in path:
        document = document[key]
    return document


def put(document: dict[str, Any], path: Sequence[Any], value: object) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    at(changed, path[:-1])[path[-1]] = value
    return changed


def kind_of(path: Sequence[Any]) -> str:
    """Where a number stands, without its places: `estimates.low`."""
    return ".".join(str(each) for each in path[2:] if isinstance(each, str))


def unfound(document: dict[str, Any], protocol: Protocol, rng: np.random.Generator, count: int) -> set[str]:
    """Some numbers that can be changed a little without anybody's finding it."""
    numbers = [path for path in leaves(document) if type(at(document, path)) in (int, float)]
    missed = set()
    for place in rng.permutation(len(numbers))[:count]:
        path = numbers[place]
        value = at(document, path)
        change = value + 1 if isinstance(value, int) else value * 1.001 + 1e-6
        if not recompute(put(document, path, change), protocol).differences:
            missed.add(kind_of(path))
    return missed


TOLD = {"notes.fields.count", "left_out.count", "notes.fields.min_count"}
"""Counts of rows that stand in no denominator, or in several: left out of a stratum, without a unit, blank."""

FREE: dict[str, set[str]] = {
    # Bounds by resampling or on an effective size: one end follows from the other, and a share of 1 has but one.
    "shares: clusters": {"criteria.groups.high", "criteria.groups.low", "estimates.low", "estimates.high"},
    "shares: clusters, nothing": {"criteria.groups.high"},
    "shares: clusters, blank": {"criteria.groups.high", "criteria.groups.low"},
    "shares: weights": {"criteria.groups.high", "criteria.groups.low"},
    "shares: weights, clusters": {"criteria.groups.high", "criteria.groups.low"},
    # Whoever is no person is no case, and nobody counts them.
    "shares: failure": {"rows"},
    "shares: failure, blank": {"rows"},
    # p and the clusters of pairs are of the cases.
    "shares: systems in clusters": {"tables.paired.p", "tables.paired.clusters"},
    "pairs: clusters": {"tables.paired.clusters"},
    "pairs: few clusters": {"tables.paired.clusters"},
    "pairs: no pairs": {"estimates.low"},
    "pairs: blank": {"estimates.high", "estimates.low"},
    "labels: clusters": {"estimates.low", "estimates.high"},
    "labels: crossed": {"rows"},
    "labels: not relabelled": {"rows"},
    # What was drawn is on record with the draw; degrees of freedom matter where Student's t is asked.
    **{f"samples: {name}": {"tables.design.drawn"} for name in SAMPLES},
    "samples: share": {"tables.design.drawn", "tables.estimates.freedom"},
    "samples: share of none": {"tables.design.drawn", "tables.estimates.freedom", "tables.estimates.standard_error"},
    "samples: total, missing": {
        "tables.design.drawn", "tables.estimates.freedom", "tables.estimates.standard_error",
        "estimates.note.fields.count",
    },
    "samples: nothing varies": {"tables.design.drawn", "tables.estimates.freedom", "tables.estimates.standard_error"},
}  # fmt: skip
SCORES = {"tables.det.points", *(f"tables.targets.threshold{end}" for end in ("", "_low", "_high"))}
"""Of the scores themselves: a group's own threshold, its ends, the points of a curve."""
DEPENDENT = {f"tables.targets.{name}" for name in ("low", "high", "other_low", "other_high")} | {
    f"tables.groups.{rate}_subjects" for rate in ("false_match", "false_non_match")
}
"""Of the subjects: how many there are, and what comparisons at a group's own threshold are worth."""


def expected_free(name: tuple[str, str]) -> set[str]:
    free = FREE.get(": ".join(name), set()) | TOLD
    if name[0] != "ladders":
        return free
    free |= SCORES | {
        "estimates.low",
        "estimates.high",
    }  # the resampled interval of a distance between thresholds
    return free | (DEPENDENT if name[1] in ("subjects", "clusters") else set())


LOOPED = [
    ("shares", "plain"), ("shares", "blank left out"), ("shares", "clusters, nothing"), ("shares", "systems"),
    ("shares", "weights"), ("pairs", "three"), ("pairs", "clusters"), ("pairs", "systems"), ("labels", "strata"),
    ("labels", "missing"), ("samples", "mean"), ("samples", "share"), ("samples", "ratio"), ("ladders", "targets"),
    ("ladders", "subjects"),
]  # fmt: skip
TRIED = 40
"""Numbers changed of each result, of those there are."""


@pytest.mark.parametrize("name", LOOPED, ids=": ".join)
def test_a_number_that_is_changed_a_little_is_found(name: tuple[str, str]) -> None:
    document, protocol = made(name)
    assert unfound(document, protocol, np.random.default_rng(20261130), TRIED) <= expected_free(name)


def the(document: dict[str, Any], part: str, place: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = document["analyses"][0][part][place]
    return found


def row(document: dict[str, Any], table: str, place: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = document["analyses"][0]["tables"][table][place]
    return found


def passed(criterion: dict[str, Any]) -> None:
    criterion.update(state="PASS", computed="PASS", reason={"code": "min-kept", "fields": {}})


def events(document: dict[str, Any], place: int, count: int) -> None:
    """Change a rate with all that follows from it by itself."""
    estimate = the(document, "estimates", place)
    made = wilson(count, estimate["denominator"], 0.05)
    estimate.update(
        numerator=count, value=count / estimate["denominator"], low=float(made.low), high=float(made.high)
    )


FORGED: dict[str, tuple[tuple[str, str], Callable[[dict[str, Any]], object]]] = {
    "a verdict": (("shares", "plain"), lambda d: passed(the(d, "criteria", 1))),
    "a verdict that a review keeps": (
        ("shares", "review"), lambda d: the(d, "criteria").update(computed="PASS", state="PASS")
    ),
    "a whole rate of a stratum": (("shares", "clusters"), lambda d: the(d, "estimates", 1).update(numerator=60)),
    "a rate of all with its bounds": (("shares", "plain"), lambda d: events(d, 0, 239)),
    "a stratum dropped": (("shares", "plain"), lambda d: d["analyses"][0]["estimates"].pop(2)),
    "a stratum added": (("shares", "plain"), lambda d: d["analyses"][0]["estimates"].append(
        {**the(d, "estimates", 1), "group": {"skin": "green"}})),
    "a criterion dropped": (("shares", "plain"), lambda d: d["analyses"][0]["criteria"].pop()),
    "a criterion twice": (("shares", "plain"), lambda d: d["analyses"][0]["criteria"].append(the(d, "criteria"))),
    "a threshold of a criterion": (("shares", "plain"), lambda d: the(d, "criteria").update(threshold=0.1)),
    "a form": (("shares", "plain"), lambda d: the(d, "criteria").update(rule="max")),
    "an estimate not estimable": (("shares", "plain"), lambda d: the(d, "estimates", 1).update(
        dict.fromkeys(("numerator", "value", "low", "high", "confidence", "method")),
        note={"code": "too-few-clusters", "fields": {"least": 20}}, zero_bound=None)),
    "an estimate withheld": (("shares", "plain"), lambda d: the(d, "estimates", 1).update(
        dict.fromkeys(("numerator", "denominator", "value", "low", "high", "confidence", "method")),
        note={"code": "withheld", "fields": {"min_count": 5}}, zero_bound=None)),
    "too many left out": (("shares", "far outside"), lambda d: the(d, "criteria", 1)["left_out"].clear()),
    "a whole table": (("shares", "systems"), lambda d: d["analyses"][0].pop("tables")),
    "a p value": (("pairs", "plain"), lambda d: row(d, "paired").update(p=0.5)),
    "an adjusted p": (("pairs", "three"), lambda d: row(d, "paired", 1).update(p_adjusted=row(d, "paired", 1)["p"])),
    "discordant pairs": (("pairs", "plain"), lambda d: row(d, "paired").update(
        first_only=row(d, "paired")["first_only"] - 1, both=row(d, "paired")["both"] + 1)),
    "a test": (("pairs", "plain"), lambda d: row(d, "paired").update(test="mcnemar_mid_p")),
    "a test's verdict": (("pairs", "none differ"), lambda d: passed(the(d, "criteria", 1))),
    "a baseline that is missed": (("pairs", "reversed"), lambda d: d["analyses"][0]["notes"].pop(0)),
    "a cell of both labels": (("labels", "plain"), lambda d: row(d, "agreement")["counts"][0].reverse()),
    "a floor": (("labels", "plain"), lambda d: row(d, "agreement").update(floor=0.01)),
    "a floor among the notes": (("labels", "plain"), lambda d: d["analyses"][0]["notes"].pop(0)),
    "a standard error": (("samples", "mean"), lambda d: row(d, "estimates").update(standard_error=0.001)),
    "an effective size": (("samples", "share"), lambda d: row(d, "estimates").update(effective_size=500.0)),
    "a false match": (("ladders", "plain"), lambda d: row(d, "groups", 1).update(false_match=1)),
    "a ratio's bound": (("ladders", "plain"), lambda d: the(d, "criteria").update(low=9.0)),
    "a rate beside a withheld one": (
        ("ladders", "one label withheld"), lambda d: the(d, "estimates", 1).update(numerator=3)
    ),
    "a rate beside a withheld one, clusters": (
        ("ladders", "one label withheld, clusters"), lambda d: the(d, "estimates", 1).update(high=0.09)
    ),
    "a rung": (("ladders", "cohort"), lambda d: d["analyses"][0]["tables"]["rungs"].pop(0)),
    "a rung's verdict": (("ladders", "cohort"), lambda d: row(d, "rungs")["criteria"][1].update(state="PASS")),
    "an obstacle": (("ladders", "cohort missing"), lambda d: row(d, "rungs", 1).update(ran=True, reason=None)),
    "a target that is resolved": (("ladders", "targets"), lambda d: row(d, "targets", 5).update(unresolved=False)),
    "the value of a threshold": (("ladders", "plain"), lambda d: d["thresholds"][0].update(value=0.9)),
    "a threshold frozen": (("ladders", "plain"), lambda d: d["thresholds"][0].update(entry=3)),
    "a threshold left out": (("shares", "threshold"), lambda d: d.pop("thresholds")),
    "a threshold too many": (
        ("shares", "plain"), lambda d: d.update(thresholds=[{"name": "t", "system": None, "value": 1}])
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_what_is_forged_is_found(name: str) -> None:
    of, forge = FORGED[name]
    document, protocol = made(of)
    changed = copy.deepcopy(document)
    forge(changed)
    assert changed != document
    assert recompute(changed, protocol).differences


JUNK: tuple[object, ...] = (None, True, -1, 0, 2**53 - 1, 1e308, -1e-300, "x", "", [], {}, [1], {"a": 1})


@pytest.mark.parametrize("family", ["shares", "pairs", "labels", "samples", "ladders"])
def test_no_document_makes_it_fail(family: str) -> None:
    name = {
        "shares": "systems",
        "pairs": "systems",
        "labels": "strata",
        "samples": "share",
        "ladders": "targets",
    }[family]
    document, protocol = made((family, name))
    places = list(leaves(document))
    parents = sorted({path[:depth] for path in places for depth in range(1, len(path))}, key=str)
    rng = np.random.default_rng(20261130)
    for place in rng.permutation(len(places) + len(parents))[:150]:
        path = [*places, *parents][place]
        recompute(put(document, path, JUNK[int(rng.integers(len(JUNK)))]), protocol)


def test_the_gate_tells_verdicts_and_nothing_else() -> None:
    document, protocol = shared(faces_of(ALL, EACH), decision=GATE)
    assert recompute(document, protocol).differences == ()
    assert recompute(document, protocol).criteria == 2
    first = ("analyses", 0, "criteria", 0)
    for path, value in (
        (("analyses", 0, "estimates"), [{"metric": "recall", "value": 0.9}]),
        (("analyses", 0, "rows"), 240),
        (("analyses", 0, "left_out"), [{"reason": "missing", "column": "skin", "count": 3}]),
        (("analyses", 0, "criteria"), [at(document, first)]),
        (("analyses", 0, "computed"), "FAIL"),
        ((*first, "value"), 0.8),
        ((*first, "computed"), "MAYBE"),
        ((*first, "id"), "other"),
    ):
        assert recompute(put(document, path, value), protocol).differences, path


@pytest.mark.parametrize("name", ["nothing asked", "nothing asked, blank"])
def test_a_state_that_nothing_asks_for_is_computed_again(name: str) -> None:
    """It is PASS where there is an agreement, and INSUFFICIENT_EVIDENCE where there is none."""
    document, protocol = made(("labels", name))
    stated = document["analyses"][0]["computed"]
    other = {"PASS": "INSUFFICIENT_EVIDENCE", "INSUFFICIENT_EVIDENCE": "PASS"}[stated]
    forged = put(document, ("analyses", 0, "computed"), other)
    assert [each.what for each in recompute(forged, protocol).differences] == ["self.computed"]
