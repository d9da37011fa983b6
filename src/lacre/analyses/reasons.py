"""Reasons: why a verdict is what it is, and what a reader must know, as a code with fields.

A result stores code and fields, so that it is the same bytes in every language; `render` makes the sentence
when it is shown. Fields hold numbers and the protocol's own names, never the text of a sealed cell.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

from lacre.errors import printable
from lacre.text import N_, _, ngettext

Scalar = str | int | float

TEMPLATES: Mapping[str, str] = MappingProxyType(
    {
        # A rule kept
        "ceiling-kept": N_("At most {high} in every group, and the ceiling is {threshold}."),
        "floor-kept": N_("At least {low} in every group, and the floor is {threshold}."),
        "gap-kept": N_(
            "No two groups are further apart than {high}, and the largest gap allowed is {threshold}."
        ),
        # A rule broken
        "ceiling-broken": N_("At least {low} in {group}, above the ceiling of {threshold}."),
        "floor-broken": N_("At most {high} in {group}, below the floor of {threshold}."),
        "gap-broken": N_(
            "{first} and {second} are at least {low} apart; the largest gap allowed is {threshold}."
        ),
        # One number's bound
        "max-kept": N_("At most {high}, and the bound is {threshold}."),
        "min-kept": N_("At least {low}, and the bound is {threshold}."),
        "max-broken": N_("At least {low}, above the bound of {threshold}."),
        "min-broken": N_("At most {high}, below the bound of {threshold}."),
        "undecided-open": N_(
            "In some group too few cases lie beyond its threshold to tell how far that may be off: the distance has "
            "no upper end, and the evidence cannot tell which side of {threshold} it is."
        ),
        # Evidence that cannot decide
        "undecided": N_(
            "The evidence reaches from {low} to {high} and cannot tell which side of {threshold} it is."
        ),
        "groups-not-decided": N_("{count} of {groups} declared groups are too small or cannot be estimated."),
        "nothing-to-compare": N_(
            "Fewer than two groups can be estimated, so there is no difference to judge."
        ),
        "too-many-left-out": N_(
            "{count} of {rows} cases are left out, more than the share of {limit} allowed."
        ),
        "no-cases": N_("There are no cases."),
        "below-min-cell": N_("With a prediction: {cases}, fewer than the {min_cell} asked for."),
        "too-few-clusters": N_("Fewer than {least} clusters: their spread cannot be estimated."),
        "crossed-clusters": N_(
            "Cases belong to several clusters at once, which this analysis cannot estimate."
        ),
        "weighted-sample": N_(
            "Cases were drawn with unequal probabilities, which this analysis cannot weigh."
        ),
        "exploratory": N_(
            "The rule is kept, but not on the read it was registered for: that is no evidence."
        ),
        "no-draw": N_(
            "No draw of {draw} is on record for this pool, so the chances of being in the sample are not known: only "
            "unweighted rates can be shown."
        ),
        "weights-not-drawn": N_(
            "{count} cases have another inclusion probability than that of the draw on record."
        ),
        "bad-weights": N_(
            "{count} cases have no inclusion probability in (0, 1], or no weight of 1 or more."
        ),
        "lonely-stratum": N_("A stratum has one sampled case, which allows no variance: {stratum}."),
        "unsampled-stratum": N_("A stratum of the draw has no case in the pool: {stratum}."),
        "no-variance": N_("The variance cannot be estimated."),
        "resamples-undefined": N_("{count} resamples had no case of a stratum: too many for an interval."),
        # Verification
        "ratio-kept": N_("The ratio is at most {high}, and {threshold} is allowed."),
        "ratio-broken": N_("The ratio is at least {low}, above the {threshold} that is allowed."),
        "ratio-undecided": N_(
            "The ratio lies between {low} and {high}, which cannot tell which side of {threshold} it is."
        ),
        "ratio-open": N_(
            "The ratio is at least {low}, and nothing bounds it from above: too few errors in some group."
        ),
        "too-many-abstain": N_(
            "{count} of {cases} comparisons have no score, more than the share of {limit} allowed."
        ),
        "cohort-overlaps": N_("{count} subjects of the cohort are compared as well."),
        "cohort-missing": N_("{count} comparisons have an image without scores against the cohort."),
        "cohort-degenerate": N_(
            "{count} comparisons have an image whose scores against the cohort are too few or all alike."
        ),
        "verification-reversed": N_(
            "More than half of the comparisons contradict their truth: is the score's direction reversed?"
        ),
        "verdict-of-rung": N_("The verdict is that of the mitigation {rung}; all stand side by side."),
        "comparisons-independent": N_(
            "No subjects are declared as `cluster`: the intervals assume comparisons that share nobody."
        ),
        "subjects-contradict": N_("{count} comparisons say “the same” of two subjects, or “another” of one."),
        "abstentions": N_("{count} comparisons have no score: they are counted apart, and in no rate."),
        "cohort-unchecked": N_(
            "No subjects are declared as `cluster`, so nothing tells whether some of the cohort are compared, too."
        ),
        "enrolled-side": N_("The image that counts as enrolled is that of {column}."),
        "few-resamples": N_(
            "{resamples} resamples are registered; for bounds that hold for all pairs of groups it takes {least}."
        ),
        "few-resamples-registered": N_(
            "{analysis}: {resamples} resamples are registered; for bounds that hold for all pairs of groups it takes "
            "{least}. Register as many, or none: then there are enough."
        ),
        # Paired variants
        "no-pairs": N_("No item has both outcomes, so there is nothing to compare."),
        "no-discordant-pairs": N_("No pair differs, which alone does not show that there is no difference."),
        "test-kept": N_("The test rejects no difference (p = {p}), to the side that the rule allows."),
        "test-broken": N_("The test rejects no difference (p = {p}), to the side that the rule forbids."),
        "test-open": N_(
            "The test does not reject no difference (p = {p}) on {discordant} pairs that differ; all in one "
            "direction, it takes at least {needed}."
        ),
        "test-open-clusters": N_(
            "The test does not reject no difference (p = {p}) on {discordant} pairs that differ in {clusters} "
            "clusters that tend to one side; all to one, it takes at least {needed} of these."
        ),
        "sign-flips": N_(
            "Clusters hold several pairs: p is that of flipping the signs of whole clusters, and the interval "
            "resamples them."
        ),
        "paired-holm": N_(
            "The {count} comparisons share the error rate: p is adjusted by Holm, intervals hold together."
        ),
        "paired-unadjusted": N_("The {count} comparisons are not adjusted for being several, as registered."),
        "baseline-missed": N_(
            "More than half of the cases are not detected under {variant}: is the score's direction reversed?"
        ),
        # One group's line
        "within": N_("Within the bound of {threshold}."),
        "beyond": N_("Beyond the bound of {threshold}."),
        "described": N_("Described; nothing is asked of it by itself."),
        "open": N_("On neither side of {threshold} for certain."),
        # Review by a person
        "review-registered": N_("The protocol asks for a person's review."),
        "statistics-changed": N_("lacre's statistics have changed since the registration."),
        "engine-changed": N_("Another version of lacre finished this read."),
        "error-above-half": N_(
            "More than half of the predictions contradict their label: is one of them reversed?"
        ),
        # Estimates from a sample
        "no-cluster": N_("{count} cases are in no cluster, so the design is not known."),
        "no-stratum": N_("{count} cases are in no stratum, so the design is not known."),
        "sizes-differ": N_(
            "{count} cases give no size of their stratum, or another than its other cases do."
        ),
        "short-stratum": N_("More was sampled of a stratum than it holds: {stratum}."),
        "pairs-missing": N_("{count} pairs of cases have no joint probability."),
        "bad-pairs": N_("{count} joint probabilities cannot be: of the pair, or beside the cases' own."),
        "too-many-pairs": N_("Joint probabilities of {cases} cases: at most {most} can be held at once."),
        "total-needs-all": N_("{count} cases have no value, and a total needs every one."),
        "divided-by-nothing": N_("What is divided by adds up to nothing."),
        "negative-variance": N_(
            "The estimated variance is negative ({variance}): the pairs allow no interval."
        ),
        "too-few-units": N_("Too few sampled units to know how they vary."),
        "nothing-varies": N_("No two cases differ, which tells nothing of those that were not sampled."),
        "fixed-size-assumed": N_(
            "The variance is right for a sample of fixed size, which the sample cannot show."
        ),
        "whole-clusters-assumed": N_("The variance is that of clusters taken whole."),
        # Agreement with oneself
        "relabelled-too-soon": N_("{count} second labels came sooner than registered, and count as none."),
        "not-relabelled": N_("No second labels of {table} are on record."),
        "kappa-undefined": N_("Both times one value alone was given: kappa is undefined."),
        "kappa-without-error": N_("No label changed, so how far kappa may be off cannot be estimated."),
        "kappa-without-spread": N_("The labels vary too little to tell how far kappa may be off."),
        "agreement-floor": N_(
            "{column}: no difference smaller than {floor} can be claimed on these labels, by how well they agree "
            "with themselves."
        ),
        "under-floor": N_("{what}: a difference of {value}, smaller than the {floor} that {column} allows."),
        "floor-above-bound": N_(
            "But no difference smaller than {floor} can be claimed on the labels {column}, and the bound is "
            "{threshold}: that the rule is kept does not show that there is no difference."
        ),
        "floor-unknown": N_(
            "{column}: how well these labels agree with themselves could not be told, so no floor is known: no "
            "difference can be held real on account of these labels."
        ),
        # Human-vs-judge agreement of one rater
        "point-kept": N_("Kappa is {value}, and the bar is {threshold}; the point decides, as registered."),
        "point-broken": N_(
            "Kappa is {value}, below the bar of {threshold}; the point decides, as registered."
        ),
        "kappa-one-bin": N_("Human and judge put every case into one and the same bin: kappa is undefined."),
        "kappa-resamples-undefined": N_(
            "In {count} of {resamples} resamples one bin alone was used, which leaves kappa undefined: too many for "
            "an interval."
        ),
        "resamples-alike": N_(
            "No resample differs from another: the interval is what no event among so many cases still allows."
        ),
        "clusters-cross-strata": N_(
            "Clusters have cases of several strata ({count} times), so neither can be drawn again by itself."
        ),
        "paradox": N_(
            "{dimension}: a kappa paradox. The bin {bin} holds so much of both marginals that kappa falls below the "
            "bar of {bar} while the agreement does not: the answer is more cases of the other bins (`lacre rebalance`, "
            "where the plan has it), never a lower bar."
        ),
        "paradox-of-group": N_(
            "{dimension}, in {group}: a kappa paradox. The bin {bin} holds so much of both marginals that kappa falls "
            "below the bar of {bar} while the agreement does not. It is a diagnostic, and decides nothing."
        ),
        "target-reached": N_(
            "The mean of {count} pooled kappas is {mean}, and reaches the target of {target}, which decides nothing."
        ),
        "target-missed": N_(
            "The mean of {count} pooled kappas is {mean}, below the target of {target}, which decides nothing."
        ),
        "target-open": N_(
            "A pooled kappa cannot be estimated, so nothing is said of the target of {target}, which decides nothing."
        ),
        "near-edge": N_(
            "Values of {column} that lie within 0.000001 of an edge between bins, and not on it: {count}. Rounding may "
            "have put them into the wrong one."
        ),
        "cases-independent": N_("No cluster is declared: the intervals assume cases that are independent."),
        # Disclosure control
        "withheld": N_("Withheld: a group of fewer than {min_count} cases could be read from it."),
        # Notes
        "independence-assumed": N_("No unit or cluster is declared: the intervals assume one case a person."),
        "unit-blank": N_("{count} cases have no unit, and are taken to be of different ones."),
        "missing-predictions": N_(
            "{count} cases have no prediction: they count as both outcomes in the bounds."
        ),
        "undeclared-predictions": N_(
            "{count} cases have a value in {column} that is not declared: they count as having no prediction."
        ),
        "criteria-uncorrected": N_(
            "All {count} criteria must pass, which needs no correction; any FAIL among them is uncorrected."
        ),
        "blanks-not-detected": N_("{count} cases have no result and count as not detected."),
        "blanks-worst-case": N_("{count} cases have no result: they count as both outcomes in the bounds."),
        "design-effect": N_("Design effect over all cases: {effect} (clusters, weights)."),
        "unweighted-beside": N_("The weighted rate decides; the plain one stands beside it."),
        "calibration-describes": N_(
            "The calibration error has no interval: it describes, and decides nothing."
        ),
        "estimates-withheld": N_(
            "{count} estimates are withheld to protect groups of fewer than {min_count} cases."
        ),
    }
)

SINGULAR: Mapping[str, str] = MappingProxyType(
    {
        "weights-not-drawn": N_(
            "{count} case has another inclusion probability than that of the draw on record."
        ),
        "bad-weights": N_("{count} case has no inclusion probability in (0, 1], or no weight of 1 or more."),
        "resamples-undefined": N_("{count} resample had no case of a stratum: too many for an interval."),
        "cohort-overlaps": N_("{count} subject of the cohort is compared as well."),
        "cohort-missing": N_("{count} comparison has an image without scores against the cohort."),
        "cohort-degenerate": N_(
            "{count} comparison has an image whose scores against the cohort are too few or all alike."
        ),
        "subjects-contradict": N_("{count} comparison says “the same” of two subjects, or “another” of one."),
        "abstentions": N_("{count} comparison has no score: it is counted apart, and in no rate."),
        "no-cluster": N_("{count} case is in no cluster, so the design is not known."),
        "no-stratum": N_("{count} case is in no stratum, so the design is not known."),
        "sizes-differ": N_("{count} case gives no size of its stratum, or another than its other cases do."),
        "pairs-missing": N_("{count} pair of cases has no joint probability."),
        "bad-pairs": N_("{count} joint probability cannot be: of the pair, or beside the cases' own."),
        "total-needs-all": N_("{count} case has no value, and a total needs every one."),
        "unit-blank": N_("{count} case has no unit, and is taken to be of one of its own."),
        "missing-predictions": N_(
            "{count} case has no prediction: it counts as both outcomes in the bounds."
        ),
        "undeclared-predictions": N_(
            "{count} case has a value in {column} that is not declared: it counts as having no prediction."
        ),
        "blanks-not-detected": N_("{count} case has no result and counts as not detected."),
        "blanks-worst-case": N_("{count} case has no result: it counts as both outcomes in the bounds."),
        "estimates-withheld": N_(
            "{count} estimate is withheld to protect groups of fewer than {min_count} cases."
        ),
    }
)
"""The templates of reasons whose `count` is one, where they are other words then."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason's stable `code` and the fields of its sentence."""

    code: str
    fields: Mapping[str, Scalar] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the form a result stores."""
        return {"code": self.code, "fields": dict(self.fields)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return the reason that `as_json` stored."""
        return cls(stored["code"], dict(stored["fields"]))


def render(reason: Reason) -> str:
    """Return the reason as a sentence in the language in use.

    A code or a field that this version does not know (a result of a later one) gives the code itself.
    """
    template = TEMPLATES.get(reason.code)
    if template is None:
        return printable(reason.code)
    shown = {name: _shown(value) for name, value in reason.fields.items()}
    count, one = reason.fields.get("count"), SINGULAR.get(reason.code)
    said = _(template) if one is None or not isinstance(count, int) else ngettext(one, template, count)
    try:
        return said.format(**shown)
    except KeyError:
        return printable(reason.code)


def _shown(value: Scalar) -> str:
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value))
