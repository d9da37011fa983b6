"""What a plan asks of the data, and what it can find: one answer for each criterion, whatever its kind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Any, Literal

from lacre.analyses.attainable import MOST_CASES, Attainable, Minimum
from lacre.analyses.families import error_rate
from lacre.protocol.kinds.plan import AnalysisPlan
from lacre.protocol.models import Protocol
from lacre.rules.gating import share_of

Counted = Literal["cases", "pairs", "comparisons", "relabels"]
"""What the sizes of a need count."""

ANY = Attainable(passes=True, fails=True)
NEVER = Attainable(passes=False, fails=False)
NOTHING = Minimum(None, None)


@dataclass(frozen=True, slots=True)
class Power:
    """Shares of simulated data sets on which a rule passed and failed; the rest decided nothing."""

    passes: float
    fails: float
    simulations: int

    @property
    def passes_error(self) -> float:
        """The standard error that the simulation leaves `passes`."""
        return sqrt(self.passes * (1 - self.passes) / self.simulations)

    @property
    def fails_error(self) -> float:
        """The standard error that the simulation leaves `fails`."""
        return sqrt(self.fails * (1 - self.fails) / self.simulations)


@dataclass(frozen=True, slots=True)
class Needed:
    """The size at which a rule passes with a wanted probability, if the assumed rate is true.

    `smallest` counts the cases of the smallest group in the rate's denominator, `rows` the table's, which is None
    where the plan does not say what share of them is in the denominator. Both are None where no size that is
    looked for is enough. Since counts are whole numbers the probability rises with the size in small steps up and
    down, so the size is one at which it crosses, and about right.
    """

    rows: int | None
    smallest: int | None


@dataclass(frozen=True, slots=True)
class Need:
    """What one criterion of an analysis asks of each of its declared groups, and what the plan can find.

    `attainable` is exact, for the planned rows. `prospect` is simulated at the planned rows and the assumed rates,
    `needed` at the assumed rates; None where what it takes is not given, and where cases come in clusters:
    a plan does not say how large these are, and without them the answer would be too good.

    `counted` says what `minimum` counts, None where no number of anything can be told beforehand. `more` has what
    the kind of analysis asks besides, as JSON values: `level`, the error rate of each bound; `discordant` pairs;
    `pairs` or `clusters`, and `if_equal`, at which a margin passes where nothing differs, and the `most` there can
    be; `events` of each group; `comparisons` and `zero_events` that resolve a target, and show nothing beyond it;
    `relabels`, and the `floor` they leave. Without a `criterion` it is a need of the whole analysis.
    """

    analysis: str
    criterion: str | None
    metric: str
    groups: int
    minimum: Minimum
    attainable: Attainable
    planned: int | None = None
    prospect: Power | None = None
    needed: Needed | None = None
    counted: Counted | None = "cases"
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def infeasible(self) -> bool:
        """Whether no outcome at all passes, or none fails."""
        return not (self.attainable.passes and self.attainable.fails)

    @property
    def too_few_planned(self) -> bool:
        """Whether the rule could pass, but at no outcome of as few cases as are planned."""
        return self.minimum.to_pass is not None and not self.attainable.passes


def alpha_of(protocol: Protocol, plan: AnalysisPlan) -> float:
    """Return the error rate that one read of an analysis may spend."""
    share = share_of(protocol, plan.pool, protocol.pools[plan.pool].role)
    return error_rate(getattr(plan, "confidence"), share)  # noqa: B009 - every kind that has bounds has one


def planned_rows(protocol: Protocol, plan: AnalysisPlan) -> int | None:
    """Return the rows that are planned of an analysis's table."""
    return protocol.pools[plan.pool].planned.get(plan.table)


def reached(least: Minimum, cases: int, *, passes: bool = True, fails: bool = True) -> Attainable:
    """Tell which verdicts so many cases leave open, of a rule that some number `passes` and some `fails`.

    Where more cases than are looked for may be had, they may be enough.
    """
    many = cases > MOST_CASES
    return Attainable(
        passes=passes and (many or (least.to_pass is not None and cases >= least.to_pass)),
        fails=fails and (many or (least.to_fail is not None and cases >= least.to_fail)),
    )


def limited(cases: int) -> int | None:
    """Return how many cases there can be at most; None where the plan does not say."""
    return None if cases > MOST_CASES else cases
