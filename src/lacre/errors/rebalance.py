"""Refusals of the one remedy for a kappa paradox: more cases, never a lower bar (rule 13)."""

from lacre.errors.law import LawError
from lacre.errors.pools import PoolError
from lacre.text import N_


class RebalanceNotRegistered(LawError):
    """A remedy is registered before any label, or it is none."""

    code = "rebalance-not-registered"
    rule = 13
    template = N_("The plan of {study!r} registers no remedy: its corpus does not grow.")
    remedy = N_(
        "Report the result as it is. A new study may register `remedies: [rebalance]` before its labels."
    )


class RebalancesSpent(LawError):
    """A corpus grows as often as was registered."""

    code = "rebalances-spent"
    rule = 13
    template = N_(
        "The corpus of {study!r} grew {count} times, which is as often as its plan lets it (`max_rebalances`)."
    )
    singular = N_(
        "The corpus of {study!r} grew {count} time, which is as often as its plan lets it (`max_rebalances`)."
    )
    remedy = N_("Report all of its numbers. Another corpus is another study.")


class RebalanceNeedsResult(LawError):
    """A rebalance answers a result of the corpus as it stands."""

    code = "rebalance-needs-result"
    rule = 13
    template = N_("{study!r} has no result of an analysis of its corpus as it stands, version {version}.")
    remedy = N_("Run the analysis first: `lacre run {study} ANALYSIS`.")


class RebalanceNeedsParadox(LawError):
    """Only a flagged paradox is remedied by more cases."""

    code = "rebalance-needs-paradox"
    rule = 13
    template = N_(
        "{study}@{entry} flags no paradox: no pooled kappa is below its bar while Gwet's coefficient reaches it and "
        "one bin holds three quarters of both marginals. A corpus does not grow for another reason."
    )
    remedy = N_("Report the result as it is: without a paradox it stands.")


class RebalanceAmended(LawError):
    """Nothing moves when a corpus grows."""

    code = "rebalance-amended"
    rule = 13
    template = N_(
        "The plan was amended, in what the analysis uses, after the labels of {pool} stood: a corpus grows under the "
        "plan its labels were written under."
    )
    remedy = N_("Amend the plan back to what it was, or register a new study.")


class VersionDropsCases(LawError):
    """A later version contains the cases of the one before."""

    code = "version-drops-cases"
    rule = 13
    template = N_(
        "{dropped} cases of {pool} are missing in its next version and {changed} are there with other cells: the old "
        "cases stay as they are."
    )
    remedy = N_("Put the cases file of the version before first, unchanged, and the new cases below it.")


class VersionAddsNothing(LawError):
    """A later version has more cases."""

    code = "version-adds-nothing"
    rule = 13
    template = N_("The next version of {pool} has no case that the one before has not.")
    remedy = N_("Add cases of the bins that are thin; `lacre show {study}` has the result that says which.")


class VersionBeyondDraw(LawError):
    """Of the old cases those are labelled again that were drawn, all of them and no others."""

    code = "version-beyond-draw"
    rule = 13
    template = N_(
        "The {part} hold {undrawn} old cases that were not drawn to be labelled again, and lack {unlabelled} that "
        "were: whoever chooses which to label again chooses the number."
    )
    remedy = N_(
        "Give the new cases and those drawn: `lacre rebalance {study} -o FILE` writes the drawn ones once more."
    )


class VersionLabelsEarly(LawError):
    """Labels of a later version are written after it was begun."""

    code = "version-labels-early"
    rule = 13
    template = N_(
        "{count} labels are dated before the corpus was let grow ({time}): they are none of its next version."
    )
    singular = N_(
        "{count} label is dated before the corpus was let grow ({time}): it is none of its next version."
    )
    remedy = N_("Label the new cases, and those drawn, now.")


class RebalanceUnfinished(PoolError):
    """A rebalance that is on record, and whose cases could not be handed out."""

    code = "rebalance-unfinished"
    template = N_(
        "The rebalance is on record at entry {entry}, and the cases to label again are not handed out: {why}"
    )
    remedy = N_("{next} Then rebalance again: the same cases are written, and nothing more is put on record.")
