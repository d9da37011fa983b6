"""What every kind's recomputation does: numbers and criteria that must be there, counted shares, verdicts."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lacre.analyses.criteria import rule_of, worst_group_rule
from lacre.analyses.estimate import Group, group_name
from lacre.analyses.families import Family
from lacre.analyses.judging import bound_of
from lacre.analyses.reasons import Reason
from lacre.analyses.recomputing.held import MOST, Held, Plan
from lacre.analyses.told import CriterionTold, EstimateTold, Key, LineTold
from lacre.analyses.verdict import CriterionResult, LeftOut, Line, State, worst
from lacre.protocol.grammar import as_float
from lacre.stats.fairness import RateCounts
from lacre.stats.proportions import Interval
from lacre.text import _


@dataclass(frozen=True, eq=False)
class ToldFamily(Family):
    """A family whose counts and bounds are those a result tells."""

    gone: Mapping[int, str] = field(default_factory=dict)

    def not_estimable(self, rate: str, index: int) -> str | None:  # noqa: ARG002 - of the one rate told
        """Return why a group's rate has no bounds, as the result says."""
        return self.gone.get(index)


class Again(Held[Plan]):
    """One analysis of a result, against its plan."""

    # --- what a kind says of itself

    @abstractmethod
    def wanted(self) -> list[Key]:
        """Return what every number is found by, as the plan has them."""

    def optional(self) -> Collection[Key]:
        """Return what may be there or not, as the data have it."""
        return ()

    @abstractmethod
    def rules(self) -> list[tuple[str, Any]]:
        """Return every criterion with its system."""

    @abstractmethod
    def estimate(self, what: str, told: EstimateTold) -> None:
        """Hold a number that is there against the counts and the plan."""

    @abstractmethod
    def decide(self, what: str, told: CriterionTold, rule: Any) -> CriterionResult | None:
        """Decide a criterion again; None where that cannot be done."""

    def beside(self, document: Mapping[str, Any]) -> None:
        """Take from the whole result what the analysis needs."""

    def more(self) -> None:
        """Hold what is told besides: the kind's own tables, and numbers that add up."""

    def own_triggers(self, system: str) -> list[Reason]:  # noqa: ARG002 - a kind may have none
        """Return the reasons that the numbers of one system give to review them all."""
        return []

    def across(self, states: Sequence[tuple[str, State]]) -> State:
        """Return the state of all from the systems' criteria; those on two systems have none."""
        each = []
        for system in self.systems:
            review = self.triggers or self.own_triggers(system)
            own = [state for of, state in states if of == system]
            each.append(State.MANUAL_REVIEW if review else worst(own))
        return worst(each)

    # --- all of it

    def go(self) -> None:
        """Hold all of it."""
        self.tally.holds(f"{self.name}.kind", self.told.kind, self.plan.kind)
        wanted, optional = self.wanted(), {*self.optional()}
        self._all_there(wanted, optional)
        known = {*wanted} | optional
        for estimate in self.told.estimates:
            if estimate.key in known:
                what = self.called(estimate.key)
                if estimate.withheld:
                    self._withheld(what, estimate.note.fields if estimate.note else {})
                else:
                    self.estimate(what, estimate)
        self.more()
        states = [(each.system or "", self._criterion(each)) for each in self.told.criteria]
        self.tally.holds(f"{self.name}.computed", self.told.computed, self.across(states).value)
        self._told_notes()

    def _all_there(self, wanted: Sequence[Key], optional: Collection[Key]) -> None:
        """Every declared group has its numbers, and nobody else has; every criterion is there once."""
        told = Counter(each.key for each in self.told.estimates if each.key not in optional)
        for key in Counter(wanted) - told:
            self.tally.differs(self.called(key), None, "estimate")
        for key in told - Counter(wanted):
            self.tally.differs(self.called(key), "estimate", None)
        criteria = Counter((system, rule.id) for system, rule in self.rules())
        stated = Counter((each.system or "", each.id) for each in self.told.criteria)
        if stated != criteria:
            self.tally.differs(f"{self.name}.criteria", _listed(stated), _listed(criteria))

    def _told_notes(self) -> None:
        """The reasons to review all are among the notes, and what follows from plan and numbers is as they have it."""
        codes = [each.code for each in self.triggers]
        for system in self.systems:
            codes += [each.code for each in self.own_triggers(system)]
        stated = [each.code for each in self.told.notes]
        for code in dict.fromkeys(codes):
            self.tally.fits(f"{self.name}.notes", None, code, fits=code in stated)
        withheld = sum(each.withheld for each in self.told.estimates)
        wanted: dict[str, Mapping[str, object] | None] = {
            "criteria-uncorrected": {"count": len(self.plan.criteria)}
            if len(self.plan.criteria) > 1
            else None,
            "estimates-withheld": {"count": withheld, "min_count": self.least} if withheld else None,
            **self.noted(),
        }
        for code, fields in wanted.items():
            if (
                self.tally.holds(f"{self.name}.notes.{code}", code in stated, fields is not None)
                and fields is not None
            ):
                told = next(each for each in self.told.notes if each.code == code)
                self.tally.same_fields(f"{self.name}.notes.{code}", told.fields, fields)

    def noted(self) -> Mapping[str, Mapping[str, object] | None]:
        """Return what notes of the kind's own say, by their codes; None of one that must not be there."""
        assumed = self.table.unit is None and not self.table.cluster
        return {"independence-assumed": {} if assumed else None}

    def _withheld(self, what: str, fields: Mapping[str, Any]) -> None:
        """Take note of what disclosure control keeps back, where there is such a thing."""
        self.tally.withheld += 1
        self.tally.holds(f"{what}.withheld", fields.get("min_count"), self.least)

    # --- verdicts

    def _criterion(self, told: CriterionTold) -> State:
        """Decide a criterion again; return what it is computed to, or says it is where that cannot be done."""
        what = ".".join(filter(None, (self.name, told.id, told.system)))
        rule = next((r for of, r in self.rules() if (of, r.id) == (told.system or "", told.id)), None)
        said = State(told.computed) if told.computed in {*State} else State.MANUAL_REVIEW
        if rule is None:
            return said  # found already
        if self.told.rows < 0 or any(each.count < 0 for each in (*told.left_out, *self.told.left_out)):
            self.tally.differs(f"{what}.left_out", "counts", _("counts of cases"))
            return said
        self._of_the_analysis(what, told)
        self._registered(what, told, rule)
        if any(line.reason.code == "withheld" for line in told.groups) or told.reason.code == "withheld":
            self.tally.withheld += 1
            fields = told.reason.fields if told.reason.code == "withheld" else {"min_count": self.least}
            self.tally.holds(f"{what}.withheld", fields.get("min_count"), self.least)
            for line in told.groups:
                self.same_line(
                    what, line, self.answers.get(self.line_key(told, frozenset(line.group.items())))
                )
            return said
        again = self.decide(what, told, rule)
        if again is None:
            return said
        if self._compare(what, told, again):
            self.tally.criteria += 1
        return again.state

    def line_key(self, told: CriterionTold, group: frozenset[tuple[str, str]]) -> Key:
        """Return what the number of a criterion's line is found by."""
        return Key(told.metric, told.system or "", group)

    def _registered(self, what: str, told: CriterionTold, rule: Any) -> None:
        """What is asked is as registered, also where no number of it may be shown."""
        self.tally.holds(f"{what}.metric", told.metric, rule.metric)
        ratio = getattr(rule, "max_group_ratio", None)
        if getattr(rule, "max_group_gap", None) is not None:
            asked = rule_of(rule)
            form, limit = str(asked.form), asked.limit
        elif getattr(rule, "worst_group", None) is not None:
            asked = worst_group_rule(rule.worst_group)
            form, limit = str(asked.form), asked.limit
        elif ratio is not None:
            form, limit = "max_group_ratio", as_float(ratio.max)
        else:
            form, limit = bound_of(rule)
        self.tally.holds(f"{what}.rule", told.rule, form)
        self.tally.holds(f"{what}.threshold", told.threshold, limit)
        for line in told.groups:
            if line.reason.code == "withheld":
                self.tally.holds(
                    f"{what}.withheld",
                    line.reason.fields.get("min_count"),
                    self.least,
                )

    def _of_the_analysis(self, what: str, told: CriterionTold) -> None:
        """What a criterion leaves out, the analysis does too: there each reason is counted by itself."""
        for each in told.left_out:
            if each.reason == "unpaired":
                continue
            most = max((o.count for o in self.told.left_out if (o.reason, o.column) == (each.reason, each.column)),
                       default=0)  # fmt: skip
            self.tally.fits(f"{what}.left_out", each.count, f"<= {most}", fits=each.count <= most)

    def left_out(self, told: CriterionTold) -> tuple[LeftOut, ...]:
        """Return what a criterion tells to have left out."""
        return tuple(LeftOut(each.reason, each.column, each.count) for each in told.left_out)

    def review_of(self, system: str) -> Reason | None:
        """Return the first reason to review all of one system."""
        return next(iter((*self.triggers, *self.own_triggers(system))), None)

    def fit(self, what: str, told: CriterionTold, groups: Sequence[Group]) -> bool:
        """Hold that a criterion has a line for each of `groups`, with the counts and bounds of a rate."""
        if [frozenset(line.group.items()) for line in told.groups] != [frozenset(each) for each in groups]:
            self.tally.differs(f"{what}.groups", len(told.groups), len(groups))
            return False
        fits = all(line.fits and (line.denominator or 0) <= MOST for line in told.groups)
        return self.tally.fits(f"{what}.groups", _("counts of no rate"), _("counts of a rate"), fits=fits)

    def same_line(self, what: str, line: LineTold, estimate: EstimateTold | None, *names: str) -> None:
        """Hold that the numbers of a criterion's line are those of the estimate it is of."""
        if estimate is None or line.reason.code == "withheld" or estimate.withheld:
            return
        called = f"{what}.{group_name(tuple(line.group.items()))}"
        for name in names or ("numerator", "denominator", "value", "low", "high"):
            self.tally.holds(f"{called}.{name}", getattr(line, name), getattr(estimate, name))
        if line.numerator is not None and not names:
            self.tally.holds(f"{called}.missing", line.missing, estimate.missing)

    def told_family(
        self,
        told: CriterionTold,
        metric: str,
        groups: Sequence[Group],
        obstacle: str | None,
        first: Collection[str] = (),
        lacks: Mapping[str, Any] | None = None,
    ) -> ToldFamily:
        """Return the family that a criterion's lines tell; `first` are reasons that stand before a want of cases.

        `lacks` are the fields of the obstacle's reason.
        """
        lines = told.groups
        names = ("numerator", "missing", "denominator")
        counts = RateCounts(*(np.array([getattr(each, n) or 0 for each in lines], np.int64) for n in names))

        def floats(name: str) -> Any:
            return np.array(
                [np.nan if (v := getattr(each, name)) is None else v for each in lines], np.float64
            )

        gone = {
            index: line.reason.code if line.denominator or line.reason.code in first else "no-cases"
            for index, line in enumerate(lines)
            if line.low is None
        }
        return ToldFamily(
            tuple(told.by), tuple(groups), np.zeros(0, np.int64), {metric: counts},
            {metric: Interval(floats("low"), floats("high"))}, None, obstacle, {metric: floats("value")}, gone,
            obstacle_fields=lacks or {},
        )  # fmt: skip

    def described(self, group: Group, answer: EstimateTold | None) -> Line:
        """Return a line of which by itself nothing is asked, from the number it is of."""
        known = answer is not None and answer.value is not None
        absent = None if answer is None or answer.note is None else answer.note.reason
        return Line(
            group=group,
            state=State.PASS if known else State.INSUFFICIENT_EVIDENCE,
            reason=Reason("described") if known or absent is None else absent,
            numerator=answer.numerator if answer and known else None,
            denominator=answer.denominator if answer else None,
            missing=answer.missing if answer and known else None,
            value=answer.value if answer and known else None,
            low=answer.low if answer and known else None,
            high=answer.high if answer and known else None,
        )

    def _compare(self, what: str, told: CriterionTold, again: CriterionResult) -> bool:
        tally = self.tally
        same = tally.holds(f"{what}.by", told.by, list(again.by))
        same &= tally.holds(f"{what}.scale", (told.scale, told.unit), (again.scale, again.unit))
        same &= tally.same_fields(f"{what}.details", told.details, again.details)
        same &= tally.holds(f"{what}.computed", told.computed, again.state.value)
        if told.state == told.computed:
            same &= tally.holds(f"{what}.reason", told.reason.code, again.reason.code)
            same &= tally.same_fields(f"{what}.reason", told.reason.fields, again.reason.fields)
        for name in ("value", "low", "high"):
            same &= tally.holds(f"{what}.{name}", getattr(told, name), getattr(again, name))
        same &= tally.holds(f"{what}.groups", len(told.groups), len(again.lines))
        for line, mine in zip(told.groups, again.lines, strict=False):
            called = f"{what}.{group_name(mine.group)}"
            same &= tally.holds(called, line.group, dict(mine.group))
            same &= tally.holds(f"{called}.computed", line.computed, mine.state.value)
            if line.state == line.computed:
                same &= tally.holds(f"{called}.reason", line.reason.code, mine.reason.code)
                same &= tally.same_fields(f"{called}.reason", line.reason.fields, mine.reason.fields)
            for name in ("numerator", "denominator", "missing", "value", "low", "high"):
                same &= tally.holds(f"{called}.{name}", getattr(line, name), getattr(mine, name))
        return same


def bare_line(line: Line, cases: int) -> Line:
    """Return a line with nothing but a number of cases."""
    return replace(line, numerator=None, missing=None, value=None, low=None, high=None, denominator=cases)


def _listed(names: Iterable[tuple[str, str]]) -> str:
    return ", ".join(":".join(filter(None, each)) for each in names)
