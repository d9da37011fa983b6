"""Estimates from a sample computed again: intervals from the standard error or the effective size beside them."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from pydantic import ValidationError
from scipy import special

from lacre.analyses.estimate import Scale, group_name
from lacre.analyses.estimates import ESTIMATORS
from lacre.analyses.judging import Number, decide_number
from lacre.analyses.reasons import Reason
from lacre.analyses.recomputing.base import Again
from lacre.analyses.recomputing.gates import supplied
from lacre.analyses.told import CriterionTold, EstimateTold, Key, Told
from lacre.analyses.verdict import CriterionResult
from lacre.protocol.columns import NumberColumn
from lacre.protocol.kinds.estimate import EstimateCriterion, EstimatePlan
from lacre.stats.proportions import wilson
from lacre.text import _

OF_A_CELL = (
    "divided-by-nothing", "no-variance", "negative-variance", "too-few-clusters", "too-few-units", "nothing-varies",
    "total-needs-all",
)  # fmt: skip
"""Why a group may have no interval, where the sample has a design."""


class SampledTold(Told):
    """A group's line of the table "estimates": what its interval is made of."""

    of: str
    standard_error: float | None
    cases: int
    units: int
    freedom: int
    effective_size: float | None
    design_effect: float | None


class SamplesAgain(Again[EstimatePlan]):
    """A mean, a total or a ratio."""

    def of_systems(self, systems: Sequence[str]) -> tuple[str, ...]:
        """Numbers are a system's where a submission is in them."""
        return tuple(systems) if supplied(self.plan, self.protocol) else ("",)

    @property
    def share(self) -> bool:
        """Whether it is the share of an outcome."""
        return self.plan.of == "mean" and not isinstance(self.table.columns[self.plan.value], NumberColumn)

    @property
    def scale(self) -> Scale:
        """What the number is."""
        columns = [self.table.columns[name] for name in self.plan.measured]
        bounds = [column.min if isinstance(column, NumberColumn) else 0.0 for column in columns]
        if self.plan.of == "ratio" and all(low is not None and low >= 0 for low in bounds):
            return "ratio"
        return "share" if self.share else "number"

    @property
    def unit(self) -> str | None:
        """The unit of a mean or total."""
        column = self.table.columns[self.plan.value]
        return column.unit if isinstance(column, NumberColumn) and self.plan.of != "ratio" else None

    def keys(self) -> list[tuple[Key, int]]:
        """Return what every number is found by, and how many share its error rate."""
        return [
            (Key(self.plan.of, system, frozenset(group)), len(groups))
            for system in self.systems
            for names in ((), *self.plan.by)
            for groups in [self.groups(names)]
            for group in groups
        ]

    def wanted(self) -> list[Key]:
        """Return what every number is found by."""
        return [key for key, _groups in self.keys()]

    def rules(self) -> list[tuple[str, EstimateCriterion]]:
        """Return every criterion, of each system."""
        return [(system, rule) for system in self.systems for rule in self.plan.criteria]

    # --- numbers

    @property
    def designed(self) -> bool:
        """Whether the result has a sample of known design."""
        return bool(self.told.tables.get("estimates"))

    def estimate(self, what: str, told: EstimateTold) -> None:
        """Hold one number; its interval is held against its line."""
        tally = self.tally
        if told.value is None:
            code = "" if told.note is None else told.note.code
            fits = self.designed == (code in (*OF_A_CELL, "no-cases"))
            tally.fits(what, code, _("a reason for no number"), fits=fits and told.bare)
            tally.beyond += 1
            return
        groups = dict(self.keys())[told.key]
        fair = tally.holds(f"{what}.confidence", told.confidence, self.confidence)
        fair &= tally.holds(f"{what}.simultaneous", told.simultaneous, groups)
        fair &= tally.holds(f"{what}.scale", told.scale, self.scale)
        fair &= tally.holds(f"{what}.unit", told.unit, self.unit)
        fair &= tally.holds(f"{what}.zero_bound", told.zero_bound is not None, self.share and told.value == 0)
        interval = "wilson on effective sample size" if self.share else "Student's t"
        method = told.method or ""
        fits = method.startswith(f"{ESTIMATORS[self.plan.of]}, ") and method.endswith(f", {interval}")
        fair &= tally.fits(f"{what}.method", method, f"{ESTIMATORS[self.plan.of]}, …, {interval}", fits=fits)
        least, most = (0.0, 1.0) if self.share else (0.0 if self.scale == "ratio" else -math.inf, math.inf)
        tally.estimates += fair & self.ordered(what, told, most, least)

    def more(self) -> None:
        """Hold the lines of the table "estimates", then the design."""
        keys, rows = self.keys(), self.told.tables.get("estimates", [])
        if rows:
            stated = [(row.get("system") or "", row.get("group")) for row in rows]
            wanted = [(key.system, dict(key.group)) for key, _groups in keys]
            if self.tally.holds(f"{self.name}.estimates", stated, wanted):
                for (key, groups), row in zip(keys, rows, strict=True):
                    self._row(key, groups, row)
        for system in self.systems:
            whole = self.answers.get(Key(self.plan.of, system, frozenset()))
            for names in self.plan.by:
                keys_of = [Key(self.plan.of, system, frozenset(group)) for group in self.groups(names)]
                self.adds_up(whole, names, [self.answers.get(key) for key in keys_of], exact=True)
            if whole is not None and whole.denominator is not None and not whole.withheld:
                self.rows_fit(whole.denominator, {*self.plan.measured}, exact=True)
        self._design()

    def _row(self, key: Key, groups: int, row: Mapping[str, Any]) -> None:
        what = f"{self.name}.estimates.{group_name(tuple(sorted(key.group)))}"
        answer = self.answers.get(key)
        if row.get("withheld") is True or answer is None or answer.withheld:
            self.tally.withheld += 1
            return
        try:
            told = SampledTold.model_validate(dict(row))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            self.tally.differs(f"{what}.{first['loc'][0]}", first["type"], "-")
            return
        self.tally.holds(f"{what}.of", told.of, self.plan.of)
        self.tally.holds(f"{what}.cases", told.cases, answer.denominator)
        fits = 0 <= told.freedom <= told.units <= told.cases
        self.tally.fits(f"{what}.units", told.units, f"{told.freedom} - {told.cases}", fits=fits)
        if answer.value is not None:
            self._interval(what, told, answer, self.alpha / groups)

    def _interval(self, what: str, told: SampledTold, answer: EstimateTold, alpha: float) -> None:
        """Hold an interval against what it is made of: Wilson's on the effective size, else Student's t."""
        tally, value = self.tally, answer.value or 0.0
        if self.share:
            size = told.effective_size
            if not tally.fits(f"{what}.effective_size", size, "a size", fits=size is not None and size > 0):
                return
            size = size or 1.0
            found = wilson(size if value == 1 else value * size, size, alpha)
            low, high = float(found.low), float(found.high)
            self.zero(what, answer, size)
            self._effect(what, told, value)
        else:
            error = told.standard_error
            fits = error is not None and error >= 0 and (told.freedom > 0 or error == 0)
            if not tally.fits(f"{what}.standard_error", error, _("a standard error"), fits=fits):
                return
            width = -float(special.stdtrit(told.freedom, alpha / 2)) * (error or 0.0) if error else 0.0
            low, high = value - width, value + width
            low = max(low, 0.0) if self.scale == "ratio" else low
        fair = tally.holds(f"{what}.low", answer.low, low) & tally.holds(f"{what}.high", answer.high, high)
        tally.bounds += fair

    def _effect(self, what: str, told: SampledTold, value: float) -> None:
        """The design effect is the variance over that of as many cases drawn simply."""
        error, spread = told.standard_error, value * (1 - value)
        if error is None or spread <= 0 or told.cases <= 0:
            self.tally.holds(f"{what}.design_effect", told.design_effect, None)
            return
        self.tally.holds(f"{what}.design_effect", told.design_effect, error * error * told.cases / spread)

    def _design(self) -> None:
        """Hold the design: no stratum has more sampled than it holds, nor more respondents than were sampled."""
        weights = self.plan.weights
        strata = weights.strata
        for row in self.told.tables.get("design", []):
            name = str(row.get("stratum"))
            what = f"{self.name}.design.{name}"
            numbers = [row.get(key) for key in ("population", "drawn", "respondents")]
            whole = all(each is None or (type(each) is int and each >= 0) for each in numbers)
            known = [each for each in numbers if type(each) is int]
            descending = all(a >= b for a, b in pairwise(known))
            if row.get("units") == "clusters":
                descending = True  # respondents are cases
            self.tally.fits(what, numbers, "population >= drawn >= respondents", fits=whole and descending)
            if weights.population is not None and strata is not None:
                self.tally.holds(f"{what}.population", row.get("population"), weights.population.get(name))
        rows = self.told.tables.get("design", [])
        respondents = [row.get("respondents") for row in rows]
        everybody = self.answers.get(Key(self.plan.of, self.systems[0], frozenset()))
        if (
            rows
            and everybody is not None
            and len(self.systems) == 1
            and all(type(n) is int for n in respondents)
        ):
            total = sum(n for n in respondents if type(n) is int)
            self.tally.holds(f"{self.name}.design.respondents", total, everybody.denominator)

    def noted(self) -> Mapping[str, Mapping[str, object] | None]:
        """Return nothing: what is assumed goes by the design."""
        return {}

    # --- verdicts

    def decide(self, what: str, told: CriterionTold, rule: EstimateCriterion) -> CriterionResult | None:
        """Decide one criterion on the number of all cases."""
        system = told.system or ""
        answer = self.answers.get(Key(self.plan.of, system, frozenset()))
        if answer is None or answer.withheld:
            return None
        number = Number(answer.value, answer.low, answer.high, scale=self.scale, unit=self.unit)
        if answer.value is None:
            reason = answer.note.reason if answer.note else Reason("no-cases")
            number = Number(obstacle=reason, scale=self.scale, unit=self.unit)
        out = sum(each.count for each in told.left_out)
        if answer.denominator is not None:
            self.tally.holds(f"{what}.left_out", out, self.told.rows - answer.denominator)
        return decide_number(
            rule,
            number,
            system=system,
            rows=self.told.rows,
            left_out=self.left_out(told),
            review=self.review_of(system),
        )
