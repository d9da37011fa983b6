"""The plan of a verification: what it reads, its ladder, and what is refused at registration."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lacre.errors import FewerThanTwoGroups
from lacre.protocol.document import parse
from lacre.protocol.kinds.parts import Normalise
from lacre.protocol.kinds.verification import VerificationPlan

HEAD = """
lacre: 1
study: faces
title: Faces
question: Equal?
language: en
data: {identifiable: false, prior_exposure: none}
tables:
  pairs:
    key: id
    cluster: [subject_a, subject_b]
    columns:
      id: {type: text}
      image_a: {type: text}
      image_b: {type: text}
      subject_a: {type: text}
      subject_b: {type: text}
      same: {type: outcome, positive: "1", negative: "0"}
      group: {type: category, values: [a, b]}
      one: {type: category, values: [all]}
      age: {type: number, bins: {young: [0, 30], old: [30, null]}}
      score: {type: number, from: submission}
      own: {type: number}
      FMR.F.Black: {type: number, from: submission}
  cohort:
    key: [image, face]
    columns:
      image: {type: text}
      face: {type: text}
      person: {type: text}
      score: {type: number, from: submission}
      other: {type: number, from: submission}
pools:
  dev: {tables: [pairs, cohort]}
  contraste: {tables: [pairs, cohort]}
  teste: {tables: [pairs]}
disjoint: [[subject_a, subject_b, person]]
thresholds:
  plain: {calibrate_on: dev, table: pairs, score: score, at: {false_match: 0.01}}
  z: {calibrate_on: dev, table: pairs, score: score, normalise: z-norm, at: {false_match: 0.01}}
  s: {calibrate_on: dev, table: pairs, score: score, normalise: s-norm, at: {false_match: 0.01}}
  other: {calibrate_on: dev, table: cohort, score: score, at: {false_match: 0.01}}
  fixed: {fixed: 1.5}
analyses:
"""

RATIO = "{id: r, metric: false_match, by: group, max_group_ratio: {form: max_min, max: 3}}"
FAR = "{id: d, metric: threshold_distance, target: {false_match: 0.01}, max: 0.05}"
SCORES = "{table: cohort, on: {image_a: image, image_b: image}}"
Z = f"{{id: z, kind: z_norm, scores: {SCORES}, ddof: 1, threshold: z}}"
Problems = Callable[[str], list[str]]


def text(criteria: str = RATIO, **changes: str) -> str:
    plan = {
        "kind": "verification", "pool": "contraste", "table": "pairs", "score": "score", "same": "same",
        "group": "group", "direction": "similarity", "threshold": "plain", "criteria": f"[{criteria}]", **changes,
    }  # fmt: skip
    return HEAD + "  v:\n" + "".join(f"    {key}: {value}\n" for key, value in plan.items() if value)


def plan_of(document: str) -> VerificationPlan:
    plan = parse(document.encode()).analyses["v"]
    assert isinstance(plan, VerificationPlan)
    return plan


def test_defaults() -> None:
    """The defaults of format 1: the issue of a change here is that registered hashes change."""
    plan = plan_of(text())
    criterion = plan.criteria[0]
    assert (plan.confidence, plan.max_abstention, plan.targets, plan.mitigations) == (0.95, 0.1, {}, [])
    assert (plan.bootstrap, plan.systems, plan.requires_manual_review) == (None, None, False)
    assert (criterion.min_cell, criterion.max_left_out, criterion.requires_manual_review) == (1, 0.1, False)


def test_it_answers_what_every_plan_answers() -> None:
    training = "{id: t, kind: training}"
    adaptive = f"{{id: s, kind: adaptive_s_norm, scores: {SCORES}, ddof: 0, top: 3, threshold: s}}"
    plan = plan_of(text(f"{RATIO}, {FAR}", mitigations=f"[{{id: none}}, {Z}, {adaptive}, {training}]"))
    assert plan.columns() == {"score", "same", "group", "image_a", "image_b"}
    assert plan.reads() == {"pairs": plan.columns(), "cohort": {"image", "score"}}
    assert plan.labels() == {"same", "group"}
    assert plan.thresholds() == {"plain", "z", "s"}
    assert plan.training() == ("t",)
    assert plan.compares_groups()
    plain, z, s = plan.basis("plain"), plan.basis("z"), plan.basis("s")
    assert plain is not None
    assert (plain.table, plain.score, plain.truth, plain.direction) == (
        "pairs",
        "score",
        "same",
        "similarity",
    )
    assert (plain.targets, plain.normalise) == (("false_match", "false_non_match"), None)
    on = (("image_a", "image"), ("image_b", "image"))
    assert z is not None
    assert s is not None
    assert z.normalise == Normalise("z_norm", "cohort", "score", on, 1)
    assert s.normalise == Normalise("adaptive_s_norm", "cohort", "score", on, 0, 3)
    assert plan.basis("fixed") is None
    assert not plan_of(text("{id: m, metric: false_match, max: 0.1}", pool="teste")).compares_groups()


def test_the_enrolled_side_is_the_first_unless_said() -> None:
    scores = "{table: cohort, on: {image_b: image, image_a: face}, enrolled: image_b, score: other, subject: person}"
    plan = plan_of(text(mitigations=f"[{{id: z, kind: z_norm, scores: {scores}, ddof: 1, threshold: z}}]"))
    basis = plan.basis("z")
    assert basis is not None
    assert basis.normalise == Normalise(
        "z_norm", "cohort", "other", (("image_b", "image"), ("image_a", "face")), 1
    )
    assert plan.reads()["cohort"] == {"image", "face", "other", "person"}


def test_the_protocol_of_faces_reads_as_it_is(data_dir: Path, absent: Callable[[str, str], None]) -> None:
    """The interface: shared/protocols/rostos.yaml, which stands beside the test data."""
    path = data_dir.parent / "protocols" / "rostos.yaml"
    if not path.is_file():
        absent("the protocol", "protocols")
    plan = parse(path.read_bytes()).analyses["differential"]
    assert isinstance(plan, VerificationPlan)
    assert plan.training() == ("treino",)
    assert plan.targets == {"false_match": [0.01, 0.001], "false_non_match": [0.01]}


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy", "eer"])
def test_accuracy_is_refused_with_its_reason(problems: Problems, metric: str) -> None:
    (problem,) = problems(text(f"{{id: a, metric: {metric}, max: 0.1}}"))
    assert "how many of each sort" in problem
    assert "`false_match`, `false_non_match`, `threshold_distance`" in problem


@pytest.mark.parametrize(
    "changes",
    [{"rates": "[FMR.F.Black]"}, {"fmr": "FMR.F.Black"}, {"false_match_rate": "x"}, {"score": "FMR.F.Black"}],
)
def test_rates_without_counts_are_refused(problems: Problems, changes: dict[str, str]) -> None:
    """NIST's Annex 15 has a column for each rate and group, and no counts."""
    found = problems(text(threshold="fixed", **changes))
    assert any("without the comparisons they were counted on they have no interval" in each for each in found)


@pytest.mark.parametrize(
    ("criterion", "said"),
    [
        ("{id: c, metric: false_match}", "needs exactly one rule"),
        (
            "{id: c, metric: false_match, max: 0.1, worst_group: {max: 0.1}, by: group}",
            "needs exactly one rule",
        ),
        ("{id: c, metric: false_match, worst_group: {max: 0.1}}", "needs `by`"),
        ("{id: c, metric: false_match, by: group, worst_group: {min: 0.1}}", "needs a ceiling"),
        ("{id: c, metric: false_match, by: one, worst_group: {max: 0.1}}", "must be `group`"),
        ("{id: c, metric: false_match, by: group, max: 0.1}", "goes with `max_group_ratio`"),
        ("{id: c, metric: false_match, max: 1.5}", "must be from 0 to 1"),
        (
            "{id: c, metric: false_match, max: 0.1, target: {false_match: 0.1}}",
            "goes with `threshold_distance`",
        ),
        ("{id: c, metric: threshold_distance, max: 0.1}", "goes with `threshold_distance`"),
        (
            "{id: c, metric: threshold_distance, target: {false_match: 0.1, false_non_match: 0.1}, max: 1}",
            "one target",
        ),
        ("{id: c, metric: threshold_distance, target: {false_match: 0}, max: 1}", "must lie between 0 and 1"),
        ("{id: c, metric: false_match, by: group, max_group_ratio: {form: max_min, max: 0.5}}", "from 1 to"),
        ("{id: c, metric: false_match, by: group, max_group_ratio: {form: mean, max: 2}}", "max_min"),
        (f"{RATIO}, {RATIO}", "another criterion's id"),
    ],
)
def test_criteria_that_ask_nothing_clear(problems: Problems, criterion: str, said: str) -> None:
    found = problems(text(criterion))
    assert any(said in each for each in found), found


def test_one_group_has_no_ratio() -> None:
    with pytest.raises(FewerThanTwoGroups):
        parse(text(RATIO.replace("by: group", "by: one"), group="one").encode())


def test_groups_may_be_bins() -> None:
    assert plan_of(text(RATIO.replace("by: group", "by: age"), group="age")).group == "age"


@pytest.mark.parametrize(
    ("mitigations", "said"),
    [
        (f"{{id: z, kind: z_norm, scores: {SCORES}, threshold: z}}", "needs `ddof`"),
        (f"{{id: z, kind: z_norm, scores: {SCORES}, ddof: 1}}", "needs `threshold`"),
        ("{id: z, kind: z_norm, ddof: 1, threshold: z}", "needs `scores`"),
        (f"{{id: s, kind: adaptive_s_norm, scores: {SCORES}, ddof: 1, threshold: s}}", "needs `top`"),
        (f"{{id: s, kind: s_norm, scores: {SCORES}, ddof: 1, top: 3, threshold: s}}", "`top` means nothing"),
        ("{id: n, ddof: 1}", "`ddof` means nothing"),
        (f"{{id: z, kind: z_norm, scores: {SCORES}, ddof: 1, threshold: plain}}", "normalised by `nothing`"),
        (f"{{id: z, kind: z_norm, scores: {SCORES}, ddof: 1, threshold: s}}", "normalised by `s-norm`"),
        (f"{{id: z, kind: z_norm, scores: {SCORES}, ddof: 1, threshold: nope}}", "`nope` is not declared"),
        (f"{Z}, {Z}", "another rung's id"),
        (f"{Z}, {{id: none}}", "does nothing"),
        ("{id: t, kind: training}", "training needs an earlier rung"),
        (f"{{id: n}}, {{id: t, kind: training}}, {Z}", "comes after training"),
        (Z.replace("image_a: image, ", ""), "two columns"),
        (Z.replace("image_a: image, ", "score: image, "), "it must be one of"),
        (Z.replace("table: cohort", "table: nope"), "`nope` is not declared"),
        (
            Z.replace("image_a: image,", "image_a: portrait,"),
            "`portrait` is not declared under tables.cohort",
        ),
        (Z.replace("on: {", "enrolled: subject_a, on: {"), "one of the columns joined"),
    ],
)
def test_rungs_that_are_not_clear(problems: Problems, mitigations: str, said: str) -> None:
    found = problems(text(mitigations=f"[{mitigations}]"))
    assert any(said in each for each in found), found


def test_who_is_in_the_cohort_must_be_known(problems: Problems) -> None:
    document = text(mitigations=f"[{Z}]").replace("disjoint: [[subject_a, subject_b, person]]\n", "")
    (problem,) = problems(document)
    assert "who is tested may not be in the cohort" in problem
    (problem,) = problems(
        text(mitigations=f"[{Z}]").replace("[subject_a, subject_b, person]", "[image_a, person]")
    )
    assert "who is tested may not be in the cohort" in problem
    named = document.replace("{table: cohort,", "{table: cohort, subject: person,")
    assert plan_of(named).reads()["cohort"] == {"image", "score", "person"}


def test_the_cohort_is_in_the_same_pool(problems: Problems) -> None:
    document = text("{id: m, metric: false_match, max: 0.1}", pool="teste", mitigations=f"[{Z}]")
    assert any("`cohort` is not among the tables of teste" in each for each in problems(document))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"score": "group"}, "it must be one of `number`"),
        ({"same": "group"}, "it must be one of `outcome`"),
        ({"group": "id"}, "strata come from"),
        ({"threshold": "other"}, "calibrated on `score` of `cohort`"),
        ({"threshold": "z"}, "normalised by `z-norm`"),
        ({"direction": ""}, "direction"),
        ({"targets": "{false_match: [0.01, 1]}"}, "must lie between 0 and 1"),
    ],
)
def test_columns_and_thresholds_that_do_not_fit(
    problems: Problems, changes: dict[str, str], said: str
) -> None:
    found = problems(text(**changes))
    assert any(said in each for each in found), found


def test_unequal_probabilities_are_refused(problems: Problems) -> None:
    document = text().replace("own: {type: number}", "own: {type: number, is: weight}")
    assert any("cannot weigh" in each for each in problems(document))


def test_a_cluster_of_three_is_no_pair(problems: Problems) -> None:
    document = text().replace("cluster: [subject_a, subject_b]", "cluster: [subject_a, subject_b, image_a]")
    assert any("the two subjects of a comparison" in each for each in problems(document))
