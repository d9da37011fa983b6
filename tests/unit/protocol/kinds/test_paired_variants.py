"""The plan of paired variants: what is paired with what, and what is refused before anything is seen."""

import pytest

from lacre.errors import ProtocolInvalid
from lacre.protocol.document import parse
from lacre.protocol.kinds.paired_variants import PairedVariantsPlan, comparisons, system_comparisons

HEAD = """
lacre: 1
study: amplified
title: T
question: Q?
language: en
data: {identifiable: false, prior_exposure: none}
systems: {a: {version: "1"}, b: {version: "2"}}
variants:
  half: {scale: 0.5}
tables:
  faces:
    key: face
    columns:
      face: {type: text}
      score: {type: number, from: submission}
      other: {type: number, from: submission}
  variants:
    key: [face, variant]
    cluster: image
    columns:
      face: {type: text}
      image: {type: text}
      variant: {type: category, values: [original, half, dark]}
      free: {type: text}
      score: {type: number, from: submission}
      other: {type: number, from: submission}
      found: {type: outcome, positive: "1", negative: "0", from: submission}
pools:
  dev: {tables: [faces]}
  teste: {tables: [faces, variants]}
  guarda: {tables: [variants], max_reads: 4}
thresholds:
  detector: {calibrate_on: dev, table: faces, score: score, at: {recall: 0.95}}
analyses:
  amp:
"""
CRITERION = "{id: c, metric: difference, variant: half, min: -0.05}"


def study(criteria: str = CRITERION, head: str = HEAD, **changes: str | None) -> str:
    plan = {
        "kind": "paired_variants", "pool": "teste", "table": "variants", "pair_on": "face",
        "baseline": "original", "detected": "{score: score, threshold: detector, blank: not_detected}",
        "criteria": f"[{criteria}]", **changes,
    }  # fmt: skip
    return head + "".join(f"    {key}: {value}\n" for key, value in plan.items() if value)


def plan_of(text: str) -> PairedVariantsPlan:
    plan = parse(text.encode()).analyses["amp"]
    assert isinstance(plan, PairedVariantsPlan)
    return plan


def refusal(text: str) -> str:
    with pytest.raises(ProtocolInvalid) as caught:
        parse(text.encode())
    return str(caught.value)


def test_it_answers_what_every_plan_answers() -> None:
    plan = plan_of(study())
    assert plan.columns() == {"face", "score"}
    assert plan.thresholds() == {"detector"}
    assert not plan.compares_groups()
    basis = plan.basis("detector")
    assert basis is not None
    assert (basis.score, basis.truth, basis.direction) == ("score", None, "similarity")
    assert plan.basis("another") is None


def test_defaults() -> None:
    """The defaults of format 1: the issue of a change here is that registered hashes change."""
    plan = plan_of(study())
    rule = plan.criteria[0]
    assert (plan.test, plan.multiplicity, plan.confidence) == ("mcnemar_exact", "holm", 0.95)
    assert (plan.bootstrap, plan.variant, plan.requires_manual_review) == (None, None, False)
    assert (rule.max_left_out, rule.systems, rule.requires_manual_review) == (0.10, None, False)


def test_all_declared_variants_share_the_error_rate() -> None:
    """Two beside the baseline, whether a criterion names them or not; systems are a family of their own."""
    text = study(
        "{id: c, metric: difference, variant: half, min: 0}, "
        "{id: d, metric: difference, systems: [a, b], min: 0}, "
        "{id: e, metric: difference, systems: [a, b], variant: dark, min: 0}, "
        "{id: f, metric: difference, systems: [a, b], variant: dark, max: 0.5}"
    )
    plan = plan_of(text)
    table = parse(text.encode()).tables["variants"]
    assert (comparisons(plan, table), system_comparisons(plan)) == (2, 2)
    alone = plan_of(study(multiplicity="none"))
    assert (comparisons(alone, table), system_comparisons(alone)) == (1, 1)


@pytest.mark.parametrize("test", ["chi_square", "fisher", "t_test"])
def test_an_unpaired_test_is_refused(test: str) -> None:
    assert "is no paired test: variants of one item are not independent" in refusal(study(test=test))


@pytest.mark.parametrize(
    ("criteria", "changes", "said"),
    [
        ("{id: c, metric: difference, variant: tiny, min: 0}", {}, "`tiny` is not a declared variant"),
        ("{id: c, metric: difference, variant: original, min: 0}", {}, "is the baseline itself"),
        ("{id: c, metric: difference, variant: half}", {}, "exactly one bound"),
        ("{id: c, metric: difference, variant: half, min: 0, max: 0}", {}, "exactly one bound"),
        ("{id: c, metric: difference, min: 0}", {}, "needs `variant`"),
        ("{id: c, metric: difference, variant: half, min: -1}", {}, "bounds nothing"),
        ("{id: c, metric: difference, systems: [a, z], min: 0}", {}, "not among the systems"),
        ("{id: c, metric: difference, systems: [a, a], min: 0}", {}, "two different systems"),
        (f"{CRITERION}, {CRITERION}", {}, "another criterion's id"),
        (CRITERION, {"baseline": "raw"}, "`raw` is not a declared variant"),
        (CRITERION, {"pair_on": "image"}, "is not in the key of `variants`"),
        (CRITERION, {"pair_on": "[face, variant]"}, "must be `pair_on` and one more column"),
        (CRITERION, {"variant": "free"}, "must be `pair_on` and one more column"),
        (CRITERION, {"table": "faces"}, "must be `pair_on` and one more column"),
        (
            CRITERION,
            {"detected": "{score: other, threshold: detector, blank: not_detected}"},
            "is calibrated on `score`",
        ),
    ],
)
def test_what_contradicts_itself_is_refused(criteria: str, changes: dict[str, str], said: str) -> None:
    assert said in refusal(study(criteria, **changes))


def test_variants_that_are_made_must_be_declared_values() -> None:
    head = HEAD.replace("  half: {scale: 0.5}", "  half: {scale: 0.5}\n  grey: {greyscale: true}")
    assert "is not among the values of `variant`" in refusal(study(head=head))


def test_a_sample_with_unequal_chances_is_refused() -> None:
    head = HEAD.replace("      free: {type: text}", "      free: {type: number, is: inclusion_probability}")
    assert "unequal probabilities" in refusal(study(head=head))


def test_a_bootstrap_must_be_fine_enough() -> None:
    """Two comparisons at .05: 50 * 2 / .05 = 2000 resamples; in guarda, four reads share it: 8000."""
    plan_of(study(bootstrap="{resamples: 2000, seed: 1}"))
    assert "at least 2000" in refusal(study(bootstrap="{resamples: 1999, seed: 1}"))
    guarda = {"pool": "guarda", "bootstrap": "{resamples: 7999, seed: 1}"}
    assert "at least 8000" in refusal(study(**guarda))
