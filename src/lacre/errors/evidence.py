"""Analyses that cannot be computed as registered."""

from lacre.errors.base import LacreError
from lacre.text import N_


class EvidenceError(LacreError):
    """An analysis that cannot be computed as registered."""

    code = "evidence"


class UnitRepeated(EvidenceError):
    """Cases of one unit, where every case must be of another."""

    code = "unit-repeated"
    template = N_("{count} rows of {table} repeat a value of {unit}; the intervals assume one row each.")
    singular = N_("{count} row of {table} repeats a value of {unit}; the intervals assume one row each.")
    remedy = N_("Keep one row per value of {unit}; or register it as the `cluster:` in place of `unit:`.")


class ThresholdNotAttained(EvidenceError):
    """A target rate that no threshold keeps on these scores."""

    code = "threshold-not-attained"
    template = N_(
        "No value of {threshold!r} keeps its {target}: {events} of {cases} cases of dev have no score, or there are no "
        "cases."
    )
    remedy = N_("Give the scores that are missing, or amend the target (`lacre amend`). Nothing was frozen.")


class ThresholdBeyondNumbers(EvidenceError):
    """A threshold that would have to lie beyond the last number there is."""

    code = "threshold-beyond-numbers"
    template = N_(
        "No value of {threshold!r} keeps its {target}: it would lie beyond a score that is the last number there is."
    )
    remedy = N_(
        "Mend the scores of dev that stand for no measurement, or leave them blank. Nothing was frozen."
    )


class ScoresNotNormalised(EvidenceError):
    """Scores that the cohort leaves without their normalised form."""

    code = "scores-not-normalised"
    template = N_(
        "Scores of {table} cannot be normalised: {without} have none against the cohort, and of {degenerate} these are "
        "too few, all alike, or so near each other that the result is no number."
    )
    remedy = N_("Give every image its scores against the frozen cohort, two different ones at the least.")


class OutsideBins(EvidenceError):
    """Labels or scores outside all of the frozen bins."""

    code = "outside-bins"
    template = N_(
        "{count} values of {column} in {table} lie outside all bins of {dimension}: none may be dropped."
    )
    singular = N_(
        "{count} value of {column} in {table} lies outside all bins of {dimension}: none may be dropped."
    )
    remedy = N_(
        "Bins are frozen, so it is the file that must hold their scale: correct the value at its source, or leave it "
        "blank, which is counted."
    )


class BareRate(EvidenceError):
    """A rate without the interval that belongs to it."""

    code = "bare-rate"
    template = N_("A rate ({metric}) without its interval: {why}.")
    remedy = N_("This is a fault of lacre's: please report it with the protocol's hash.")
