"""`check` and `register` of the kinds that look at faces, as they are typed."""

from pathlib import Path

import pytest

from .conftest import Lacre

FACES = """
lacre: 1
study: faces
title: Faces, small
question: Does it miss one group?
language: en
data: {identifiable: true, prior_exposure: none}
systems: {judge: {version: "1", digest: "sha256:4444444444444444444444444444444444444444444444444444444444444444"}}
tables:
  faces:
    key: face
    columns:
      face: {type: text}
      age: {type: ordinal, values: [baby, adult], is: demographic}
      height: {type: number, bins: {small: [0, 32], large: [32, null]}}
      labelled_at: {type: time, is: labelled}
      person: {type: outcome, positive: "1", negative: "0"}
      found: {type: outcome, positive: "1", negative: "0", from: submission}
      score: {type: number, from: submission}
  variants:
    key: [face, variant]
    columns:
      face: {type: text}
      variant: {type: category, values: [original, half]}
      found: {type: outcome, positive: "1", negative: "0", from: submission}
pools:
  teste: {tables: [faces, variants], planned: {faces: 600, variants: 80}}
  guarda: {tables: [faces], planned: {faces: 400}, max_reads: 4}
relabel:
  faces: {pool: teste, fraction: 0.1, columns: [age], seed: 1}
thresholds:
  at: {fixed: 0.5}
analyses:
  recall:
    kind: recall
    pool: teste
    table: faces
    detected: {column: found, blank: not_detected}
    by: [[age, height]]
    control: height
    criteria:
      - {id: worst, metric: recall, by: [age, height], worst_group: {min: 0.8}, min_cell: 30}
      - id: gap
        metric: stratum_difference
        between: [{age: baby, height: large}, {age: adult, height: large}]
        min: -0.05
  pairs:
    kind: paired_variants
    pool: teste
    table: variants
    pair_on: face
    baseline: original
    detected: {column: found, blank: not_detected}
    criteria:
      - {id: same, metric: difference, variant: half, min: 0}
      - {id: margin, metric: difference, variant: half, min: -0.05}
  compare:
    kind: verification
    pool: teste
    table: faces
    score: score
    same: person
    group: age
    direction: similarity
    threshold: at
    targets: {false_match: [0.001]}
    criteria:
      - {id: ratio, metric: false_match, by: age, max_group_ratio: {form: max_min, max: 3.0}}
  myself: {kind: self_agreement, pool: teste, relabel: faces}
  judged:
    kind: judge_agreement
    pool: teste
    table: faces
    systems: judge
    weights: none
    dimensions: {face: {human: person, judge: found}}
    bootstrap: {resamples: 1000, seed: 1}
    criteria: [{id: kappa, metric: kappa, dimension: face, min: 0.6, decide_on: point}]
  release:
    kind: protective_failure
    pool: guarda
    table: faces
    person: person
    found: {column: found, blank: not_detected}
    criteria: [{id: veto, metric: protective_failure, max: 0.03}]
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "faces.yaml"
    path.write_text(FACES, encoding="utf-8")
    return path


def test_a_check_says_what_every_kind_asks(lacre: Lacre, plan: Path) -> None:
    """By closed form, z^2 at the error rate named: worst n >= 4 z^2 at .05/4, 25 and so `min_cell`; gap 20, and
    log(.025)/log(.95) = 72 where both are alike; veto z^2 .97/.03 = 202 at .05/4; margin z^2 .95/.05 = 73; ratio of
    two groups log(.0125)/log(1/3) = 3.99, and (x/(1 - x) > 3) log(.0125)/log(.75) = 15.2."""
    said = lacre("check", plan)
    words = " ".join(said.out.split())
    assert said.status == 0
    # The first line that begins with a name is its row.
    rows = {
        line.split()[0]: line.split() for line in reversed(said.out.splitlines()) if line.startswith("  ")
    }
    sizes = {
        "worst": ["98.8", "%", "30", "30", "–"],
        "gap": ["95", "%", "20", "20", "72"],
        "veto": ["98.8", "%", "202", "1"],
        "same": ["95", "%", "6", "6", "6", "–"],
        "margin": ["95", "%", "4", "5", "–", "73"],
        "ratio": ["97.5", "%", "4", "16", "19"],
    }
    assert {name: rows[name][-len(cells) :] for name, cells in sizes.items()} == sizes
    assert "large against adult × large)" in words
    assert "at 0.1 % false matches 1000 3000" in words
    assert "Warning: at 0.1 % false matches: unresolved in any group, with room for 600 comparisons" in words
    # A tenth of 600; z^2/(60 + z^2) = .0602, and the difference of .05 takes z^2 .95/.05 = 73.
    assert "judged (human-vs-judge agreement of one rater) on teste" in words
    assert "kappa: how many it takes hangs on what the values are, and is not simulated." in words
    assert "judged: the counts hold where all weights are equal" not in words
    assert "60 relabels are planned. If all are the same, the floor is 6.0 points" in words
    assert "A floor of 3 points takes 125 relabels" in words
    assert "Warning: recall.gap is on a difference of 5 points, which takes 73." in words
    assert (
        "Warning: pairs.margin can pass only if there is a difference, in its favour. Without one it takes 73"
        in words
    )
    needs = {
        (each["analysis"], each["criterion"]): each
        for each in lacre("check", plan, "--json").document["needs"]
    }
    gap = needs["recall", "gap"]
    assert (gap["to_pass"], gap["if_equal"], gap["can_pass"], gap["planned"]) == (20, 72, True, 600)
    assert (needs["pairs", "same"]["discordant"], needs["pairs", "margin"]["pairs"]) == (6, 73)
    assert needs["myself", None]["floor"] == pytest.approx(3.841459 / 63.841459, abs=1e-6)
    assert needs["compare", None]["comparisons"] == 1000


def test_what_no_outcome_passes_is_not_registered(lacre: Lacre, plan: Path) -> None:
    """Ten images for a ceiling of .03, which 202 are needed for; and four rows, two pairs, for a test that needs 6."""
    few = FACES.replace("planned: {faces: 400}", "planned: {faces: 10}").replace(
        "variants: 80", "variants: 4"
    )
    plan.write_text(few, encoding="utf-8")
    lacre("init")
    words = " ".join(lacre("check", plan).out.split())
    assert (
        "Warning: release.veto cannot pass as planned. It needs 202 cases in the rate's denominator" in words
    )
    assert "Warning: pairs.same cannot pass as planned. It needs 6 pairs" in words
    refused = lacre("register", plan, "--json")
    assert refused.document["error"]["code"] == "criterion-infeasible"
    message = refused.document["error"]["message"]
    assert "release.veto cannot pass as planned. It needs 202 cases" in message
    assert "pairs.same cannot pass as planned. It needs 6 pairs" in message
    assert "pairs.same cannot fail as planned. It needs 6 pairs" in message
    kept = lacre("register", plan, "--accept-infeasible", "a pilot", "--json")
    assert [each["criterion"] for each in kept.document["infeasible"]] == ["same", "margin", "veto"]
