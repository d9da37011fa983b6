"""Means, totals and ratios from a sample of known design.

A mean is Hájek's, the weighted values over the weights; a total is Horvitz and Thompson's; a ratio is one total
over another. The share of an outcome has Wilson's interval on its effective size, everything else Student's t on
the units less the strata. What is estimated by strata is estimated in domains of the whole sample, at
1 - alpha/K for K declared groups. A case without a value is left out and counted; a total has none to lose.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from lacre.analyses import strata
from lacre.analyses.cases import outside, used_of
from lacre.analyses.designs import Sample, sample_of
from lacre.analyses.detected import not_sealed
from lacre.analyses.disclosure import min_count
from lacre.analyses.estimate import Answer, Group, Measure, NotEstimable, Scale, ZeroBound, group_json
from lacre.analyses.families import check_unit, error_rate
from lacre.analyses.given import Given
from lacre.analyses.judging import Number, decide_number
from lacre.analyses.reasons import Reason
from lacre.analyses.result import AnalysisResult, merged
from lacre.analyses.verdict import LeftOut, State, worst
from lacre.protocol.columns import NumberColumn
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.estimate import EstimatePlan
from lacre.protocol.tables import Table
from lacre.rules.drawing import NOT_SEALED
from lacre.stats import survey
from lacre.stats.clusters import MIN_CLUSTERS
from lacre.stats.fairness import Ints
from lacre.stats.proportions import Floats
from lacre.tables.columns import UNDECLARED, Numbers, Outcomes, TypedTable

ESTIMATORS = {
    "mean": "Hájek mean",
    "total": "Horvitz-Thompson total",
    "ratio": "ratio of Horvitz-Thompson totals",
}

EXACT = 2**53
"""A whole number below it can be stored; a population of more is told as one without an end."""


def analyse(plan: EstimatePlan, given: Given, *, name: str, systems: Sequence[str]) -> AnalysisResult:
    """Compute the estimate `name`: of each of `systems` where a submission is in it, else once.

    Raises `UnitRepeated` when two cases are of one unit.
    """
    tables = given.protocol.tables
    supplied = any(
        tables[table].supplied(column) for table, columns in plan.reads().items() for column in columns
    )
    if not supplied:
        return _of_one(plan, given, name, systems[0], "")
    return merged([_of_one(plan, given, name, system, system) for system in systems])


def _of_one(plan: EstimatePlan, given: Given, name: str, read: str, system: str) -> AnalysisResult:
    declared = given.protocol.tables[plan.table]
    silent = () if plan.weights.draw is None else tuple(not_sealed(given, plan.weights.draw))
    cases = _prepare(plan, declared, given.table(read, plan.table), silent)
    sample = sample_of(plan, declared, given, read)
    alpha = error_rate(plan.confidence, given.share)
    confidence = as_float(plan.confidence) if given.share == 1 else 1 - alpha
    work = _Work(plan, declared, cases, sample, alpha, confidence, system)
    everybody = work.family(())
    families = [everybody, *(work.family(names) for names in plan.by)]
    review = [Reason("review-registered")] if plan.requires_manual_review else []
    review += [Reason(code) for code in given.review]
    number = _number(everybody.answers[0], work.scale, work.unit)
    criteria = tuple(
        decide_number(
            criterion,
            number,
            system=system,
            rows=cases.rows,
            left_out=cases.valueless,
            review=review[0] if review else None,
        )
        for criterion in plan.criteria
    )
    least = min_count(given.protocol, plan.pool)
    return AnalysisResult(
        id=name,
        kind=plan.kind,
        state=State.MANUAL_REVIEW if review else worst(each.state for each in criteria),
        rows=cases.rows,
        estimates=tuple(answer for each in families for answer in each.answers),
        criteria=criteria,
        left_out=(*cases.excluded, *cases.valueless, *(each for one in families for each in one.left_out)),
        notes=(*review, *_notes(plan, sample)),
        tables={
            "estimates": tuple(row for each in families for row in each.rows),
            "design": () if isinstance(sample, Reason) else tuple(_design(sample, cases, least)),
        },
    )


# --- the cases ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Cases:
    """The rows of a table as they are estimated from: `there` tells which are cases with every value.

    The excluded and the valueless are not, but were sampled, and so were cases that never were sealed, which are in no
    row. `rows` are all those that are not excluded, these as well.
    """

    table: TypedTable
    kept: np.ndarray[tuple[int], np.dtype[np.bool_]]
    there: np.ndarray[tuple[int], np.dtype[np.bool_]]
    value: Floats
    over: Floats | None
    excluded: tuple[LeftOut, ...]
    valueless: tuple[LeftOut, ...]

    @property
    def rows(self) -> int:
        return int(self.kept.sum()) + sum(each.count for each in self.valueless if each.reason == NOT_SEALED)


def _prepare(plan: EstimatePlan, declared: Table, table: TypedTable, silent: tuple[LeftOut, ...]) -> _Cases:
    used, kept, excluded = used_of(declared, table)
    check_unit(declared, used)
    there, valueless, read = kept.copy(), [], []
    for name in plan.measured:
        values, undeclared = _values(table, name)
        absent = there & np.isnan(values)
        for reason, mask in (("missing", absent & ~undeclared), ("undeclared", absent & undeclared)):
            valueless.append(LeftOut(reason, name, int(mask.sum())))
        there &= ~absent
        read.append(values)
    return _Cases(
        table=table,
        kept=kept,
        there=there,
        value=read[0],
        over=read[1] if len(read) > 1 else None,
        excluded=excluded,
        valueless=(*silent, *(each for each in valueless if each.count)),
    )


def _values(table: TypedTable, name: str) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Return a column as numbers, NaN where it has none, and which of these cells hold an undeclared value."""
    column = table.columns[name]
    if isinstance(column, Outcomes):
        values = np.where(column.codes < 0, np.nan, column.codes).astype(np.float64)
        return values, column.codes == UNDECLARED
    assert isinstance(column, Numbers)
    return column.values, np.zeros(table.rows, np.bool_)


# --- what is estimated -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Family:
    answers: tuple[Answer, ...]
    rows: tuple[dict[str, Any], ...]
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, eq=False)
class _Work:
    """One plan over one system's cases."""

    plan: EstimatePlan
    declared: Table
    cases: _Cases
    sample: Sample | Reason
    alpha: float
    confidence: float
    system: str

    @property
    def share(self) -> bool:
        """Whether it is the share of an outcome."""
        column = self.declared.columns[self.plan.value]
        return self.plan.of == "mean" and not isinstance(column, NumberColumn)

    @property
    def positive(self) -> bool:
        """Whether no column that is summed can be below 0, by its declaration."""
        columns = [self.declared.columns[name] for name in self.plan.measured]
        bounds = [column.min if isinstance(column, NumberColumn) else 0.0 for column in columns]
        return all(low is not None and low >= 0 for low in bounds)

    @property
    def scale(self) -> Scale:
        """What the number is."""
        if self.plan.of == "ratio" and self.positive:
            return "ratio"
        return "share" if self.share else "number"

    @property
    def unit(self) -> str | None:
        """The unit of a mean or total; a ratio's is not said."""
        column = self.declared.columns[self.plan.value]
        return column.unit if isinstance(column, NumberColumn) and self.plan.of != "ratio" else None

    def family(self, names: Sequence[str]) -> _Family:
        """Estimate every group of some columns; of none, everybody."""
        coded = [strata.coded(self.cases.table, self.declared, name) for name in names]
        groups = strata.groups(names, coded)
        cell = strata.cells(coded, self.cases.table.rows)
        cell[~self.cases.there] = -1
        answers: list[Answer] = []
        rows = []
        figures = None if isinstance(self.sample, Reason) else self.figures(cell, len(groups), self.sample)
        for place, group in enumerate(groups):
            if figures is None:
                assert isinstance(self.sample, Reason)
                count = int((cell == place).sum())
                answers.append(NotEstimable(self.plan.of, self.system, group, count, self.sample))
                continue
            answers.append(self.answer(figures, place, group, len(groups)))
            rows.append(_row(figures, place, group, self.plan, self.system))
        return _Family(tuple(answers), tuple(rows), tuple(outside(names, coded, self.cases.there)))

    def figures(self, cell: Ints, cells: int, sample: Sample) -> "_Figures":
        """Return the numbers of every cell; where two designs hold, those of the wider interval."""
        found = [self.under(design, cell, cells) for design in sample.designs]
        chosen = found[0]
        for other in found[1:]:
            with np.errstate(over="ignore", invalid="ignore"):
                wider = ~(other.high - other.low <= chosen.high - chosen.low) & ~np.isnan(chosen.low)
            chosen = chosen.where(~wider, other)
        return replace(chosen, method=f"{ESTIMATORS[self.plan.of]}, {sample.method}, {self.interval}")

    @property
    def interval(self) -> str:
        """How intervals are made."""
        return "wilson on effective sample size" if self.share else "Student's t"

    def under(self, design: survey.Design, cell: Ints, cells: int) -> "_Figures":
        """Return the numbers of every cell under one design."""
        value, alpha = self.cases.value, self.alpha / cells
        if self.plan.of == "total":
            found = survey.total(value, design, cell, cells)
        elif self.cases.over is not None:
            found = survey.ratio(value, self.cases.over, design, cell, cells)
        else:
            found = survey.mean(value, design, cell, cells)
        if self.share:
            (low, high), size, effect = survey.proportion_interval(found, alpha)
        else:
            low, high = survey.interval(found, alpha)
            size = effect = np.full(cells, np.nan)
            if self.scale == "ratio":
                low = np.maximum(low, 0.0)
        clusters = np.full(cells, found.clustered)
        return _Figures(
            found.value,
            low,
            high,
            found.variance,
            size,
            effect,
            found.cases,
            found.units,
            found.freedom,
            clusters,
        )

    def answer(self, figures: "_Figures", place: int, group: Group, groups: int) -> Answer:
        """Answer one group: the number with its interval, or why there is none."""
        absent = figures.absent(place, self.share) or self.incomplete()
        cases = int(figures.cases[place])
        if absent is not None:
            return NotEstimable(self.plan.of, self.system, group, cases, absent)
        value = float(figures.value[place])
        zero = ZeroBound.of(float(figures.size[place])) if self.share and value == 0 else None
        return Measure(
            metric=self.plan.of,
            system=self.system,
            group=group,
            value=value,
            low=float(figures.low[place]),
            high=float(figures.high[place]),
            confidence=self.confidence,
            method=figures.method,
            cases=cases,
            scale=self.scale,
            unit=self.unit,
            simultaneous=groups,
            zero_bound=zero,
        )

    def incomplete(self) -> Reason | None:
        """Return why a total cannot be estimated: what a case without a value adds to it is not known."""
        count = sum(each.count for each in self.cases.valueless)
        return Reason("total-needs-all", {"count": count}) if self.plan.of == "total" and count else None


@dataclass(frozen=True, eq=False)
class _Figures:
    """The numbers of every cell, arrays of one length, and how they were made."""

    value: Floats
    low: Floats
    high: Floats
    variance: Floats
    size: Floats
    effect: Floats
    cases: Ints
    units: Ints
    freedom: Ints
    clustered: np.ndarray[tuple[int], np.dtype[np.bool_]]
    method: str = ""

    def where(self, mine: np.ndarray[tuple[int], np.dtype[np.bool_]], other: "_Figures") -> "_Figures":
        """Return these numbers where `mine`, and `other`'s elsewhere."""
        names = [name for name in self.__dataclass_fields__ if name != "method"]
        return _Figures(*(np.where(mine, getattr(self, name), getattr(other, name)) for name in names))

    def beyond(self, place: int) -> bool:
        """Tell whether some number of a cell is more than a float holds."""
        return any(math.isinf(each[place]) for each in (self.value, self.variance, self.low, self.high))

    def absent(self, place: int, share: bool) -> Reason | None:
        """Return why a cell has no interval."""
        if self.cases[place] == 0:
            return Reason("no-cases")
        if math.isnan(self.value[place]):
            return Reason("divided-by-nothing")
        if self.beyond(place):
            return Reason("no-variance")
        if math.isfinite(self.low[place]):
            return None
        if self.variance[place] < 0:
            return Reason("negative-variance", {"variance": f"{self.variance[place]:.4g}"})
        if share and self.clustered[place] and self.units[place] < MIN_CLUSTERS:
            return Reason("too-few-clusters", {"least": MIN_CLUSTERS})
        if self.freedom[place] < 1:
            return Reason("too-few-units")
        return Reason("nothing-varies")


def _row(figures: _Figures, place: int, group: Group, plan: EstimatePlan, system: str) -> dict[str, Any]:
    def told(number: float) -> float | None:
        return float(number) if math.isfinite(number) else None

    variance = float(figures.variance[place])
    error = math.sqrt(variance) if variance >= 0 else math.nan
    return {
        "system": system or None,
        "group": group_json(group),
        "of": plan.of,
        "standard_error": told(error),
        "cases": int(figures.cases[place]),
        "units": int(figures.units[place]),
        "freedom": int(figures.freedom[place]),
        "effective_size": told(figures.size[place]),
        "design_effect": told(figures.effect[place]),
    }


def _number(answer: Answer, scale: Scale, unit: str | None) -> Number:
    if isinstance(answer, NotEstimable):
        return Number(obstacle=answer.reason, scale=scale, unit=unit)
    measure = cast("Measure", answer)
    return Number(measure.value, measure.low, measure.high, scale=scale, unit=unit)


def _design(sample: Sample, cases: _Cases, least: int | None) -> Iterator[dict[str, Any]]:
    """Tell the design, stratum by stratum; counts that would show a few cases are not told."""
    responded = np.bincount(sample.stratum[cases.there], minlength=len(sample.values))
    silent = np.bincount(sample.stratum[cases.kept & ~cases.there], minlength=len(sample.values))
    few = least is not None and bool(
        (((responded > 0) & (responded < least)) | ((silent > 0) & (silent < least))).any()
    )
    for place, value in enumerate(sample.values):
        population = float(sample.population[place])
        yield {
            "stratum": value,
            "population": int(population) if population < EXACT else None,
            "drawn": None if few else int(sample.sampled[place]),
            "respondents": None if few else int(responded[place]),
            "units": "clusters" if sample.clusters else "cases",
        }


def _notes(plan: EstimatePlan, sample: Sample | Reason) -> tuple[Reason, ...]:
    notes = []
    if plan.weights.joint is not None and not isinstance(sample, Reason):
        notes.append(Reason("fixed-size-assumed"))
    if not isinstance(sample, Reason) and sample.clusters:
        notes.append(Reason("whole-clusters-assumed"))
    if len(plan.criteria) > 1:
        notes.append(Reason("criteria-uncorrected", {"count": len(plan.criteria)}))
    return tuple(notes)
