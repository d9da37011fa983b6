"""Agreement with oneself: how often the same person gave the same case the same label again.

Raw agreement with its interval, kappa, and the floor: 1 less the lower bound of the agreement. No difference
between approaches smaller than the floor can be claimed on these labels (`lacre.analyses.floors`).

Where few cases are not to be told, the table of both labels is not shown if a margin of it is few, and neither is
kappa: with the agreement beside it, its digits give the table of two labels back. One group's table is that of all less
the other groups', so it is all groups of a crossing that show theirs, or none.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from lacre.analyses import strata
from lacre.analyses.cases import outside, used_of
from lacre.analyses.days import days_apart
from lacre.analyses.disclosure import min_count
from lacre.analyses.estimate import (
    Answer,
    Estimate,
    Group,
    Measure,
    NotEstimable,
    Scale,
    Withheld,
    ZeroBound,
    group_json,
)
from lacre.analyses.families import check_unit, error_rate, numbered
from lacre.analyses.given import Given
from lacre.analyses.judging import Number, decide_number
from lacre.analyses.reasons import Reason
from lacre.analyses.result import AnalysisResult
from lacre.analyses.verdict import CriterionResult, LeftOut, State, worst
from lacre.protocol.columns import OutcomeColumn
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.self_agreement import AgreementCriterion, SelfAgreementPlan
from lacre.protocol.tables import Table
from lacre.stats import agreement
from lacre.stats.clusters import MIN_CLUSTERS
from lacre.stats.draws import share
from lacre.stats.fairness import Ints
from lacre.tables.columns import MISSING, UNDECLARED, Outcomes, TypedTable

RAW, KAPPA = "raw_agreement", "kappa"


def analyse(plan: SelfAgreementPlan, given: Given, *, name: str, systems: Sequence[str]) -> AnalysisResult:
    """Compute the agreement `name`, once: labels are a person's, and no system's.

    Raises `UnitRepeated` when two cases are of one unit.
    """
    declared = given.protocol.tables[plan.table]
    twice = _twice(plan, declared, given, systems[0])
    review = [Reason("review-registered")] if plan.requires_manual_review else []
    review += [Reason(code) for code in given.review]
    alpha = error_rate(plan.confidence, given.share)
    confidence = as_float(plan.confidence) if given.share == 1 else 1 - alpha
    work = _Work(plan, declared, twice, alpha, confidence, min_count(given.protocol, plan.pool))
    columns = [work.column(first, second) for first, second in plan.labelled]
    criteria = tuple(
        work.decide(criterion, columns, review[0] if review else None) for criterion in plan.criteria
    )
    found = [each for column in columns for each in column.families]
    return AnalysisResult(
        id=name,
        kind=plan.kind,
        state=_state(columns, criteria, review=bool(review)),
        rows=twice.rows,
        estimates=tuple(answer for each in found for answer in each.answers),
        criteria=criteria,
        left_out=(*twice.left_out, *dict.fromkeys(out for each in found for out in each.left_out)),
        notes=(*review, *work.notes(columns)),
        tables={"agreement": tuple(row for each in found for row in each.rows)},
    )


def _state(columns: "Sequence[_Column]", criteria: Sequence[CriterionResult], *, review: bool) -> State:
    """Return the state of all; where nothing is asked, it takes a column whose agreement could be estimated."""
    if review:
        return State.MANUAL_REVIEW
    if not criteria and not any(isinstance(each.raw, Estimate) for each in columns):
        return State.INSUFFICIENT_EVIDENCE
    return worst(each.state for each in criteria)


# --- the cases ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Twice:
    """The cases that were to be labelled twice; none where `obstacle` says why.

    `place` is each case's row among the second labels, -1 of a case that came back without any. `soon` counts second
    labels that were given sooner than the registered number of days after the first, and so are none.
    """

    first: TypedTable
    second: TypedTable
    place: npt.NDArray[np.intp]
    left_out: tuple[LeftOut, ...] = ()
    obstacle: Reason | None = None
    soon: int = 0

    @property
    def rows(self) -> int:
        return self.first.rows

    def again(self, codes: Ints) -> Ints:
        """Return the second codes in the order of the cases."""
        return np.append(codes, MISSING)[self.place]


def _twice(plan: SelfAgreementPlan, declared: Table, given: Given, system: str) -> _Twice:
    """Find the cases to be labelled twice: of a relabel those that its seed draws, whether they came back or not."""
    table = given.table(system, plan.table)
    left_out: list[LeftOut] = []
    if plan.relabel is None:
        used = _used(declared, table, left_out)
        return _Twice(used, used, np.arange(used.rows), tuple(left_out))
    again = given.relabelled.get(plan.table)
    if again is None:
        nothing = table.select(np.zeros(table.rows, np.bool_))
        obstacle = Reason("not-relabelled", {"table": plan.table})
        return _Twice(nothing, nothing, np.zeros(0, np.intp), obstacle=obstacle)
    asked = given.protocol.relabel[plan.relabel]
    drawn = np.zeros(table.rows, np.bool_)
    drawn[share(table.keys.tolist(), asked.fraction, asked.seed).drawn] = True
    row_of = {key: row for row, key in enumerate(again.keys)}
    unknown = again.rows - sum(key in row_of for key in table.keys[drawn])
    if unknown:
        left_out.append(LeftOut("unknown", "+".join(declared.key), unknown))
    used = _used(declared, table.select(drawn), left_out)
    place = np.fromiter((row_of.get(key, -1) for key in used.keys), np.intp, used.rows)
    soon = _too_soon(declared, used, again, place, asked.min_days_apart)
    return _Twice(used, again, np.where(soon, -1, place), tuple(left_out), soon=int(soon.sum()))


def _too_soon(
    declared: Table, used: TypedTable, again: TypedTable, place: npt.NDArray[np.intp], least: int
) -> npt.NDArray[np.bool_]:
    """Tell which cases were labelled again sooner than registered; what was found at the commit is not relied on."""
    there = np.flatnonzero(place >= 0)
    second = again.select(np.isin(np.arange(again.rows), place[there]))
    row_of = {key: row for row, key in enumerate(used.keys)}
    rows = np.fromiter((row_of[key] for key in second.keys), np.intp, second.rows)
    soon = np.zeros(used.rows, np.bool_)
    days = days_apart(declared, second, used, rows)
    if least and days is not None:
        soon[rows[days < least]] = True
    return soon


def _used(declared: Table, table: TypedTable, left_out: list[LeftOut]) -> TypedTable:
    """Return the rows that no registered condition drops, and count the others."""
    used, _kept, excluded = used_of(declared, table)
    left_out += excluded
    check_unit(declared, used)
    return used


def _codes(table: TypedTable, declared: Table, name: str) -> strata.Coded:
    """Return the labels of one column as codes, and their values in declared order."""
    plan, column = declared.columns[name], table.columns[name]
    if isinstance(plan, OutcomeColumn):
        assert isinstance(column, Outcomes)
        return column.codes.astype(np.int64), ((plan.negative or ["0"])[0], (plan.positive or ["1"])[0])
    return strata.coded(table, declared, name)


# --- what is found -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Family:
    """The numbers as they are told; `kappa` is that of the first group, also where it is withheld."""

    answers: tuple[Answer, ...]
    kappa: Answer
    rows: tuple[dict[str, Any], ...]
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True)
class _Column:
    """What one column gave: of everybody and of every stratum, and the cases without two labels."""

    name: str
    families: tuple[_Family, ...]
    unlabelled: tuple[LeftOut, ...]

    @property
    def raw(self) -> Answer:
        return self.families[0].answers[0]

    @property
    def kappa(self) -> Answer:
        return self.families[0].kappa

    @property
    def secret(self) -> bool:
        """Whether kappa is withheld."""
        return isinstance(self.families[0].answers[1], Withheld)


@dataclass(frozen=True, eq=False)
class _Labels:
    """The two labels of every case in one column, its cluster, and its group in one family."""

    first: Ints
    second: Ints
    values: tuple[str, ...]
    cluster: Ints | None
    cell: Ints
    groups: tuple[Group, ...]


@dataclass(frozen=True, eq=False)
class _Work:
    plan: SelfAgreementPlan
    declared: Table
    twice: _Twice
    alpha: float
    confidence: float
    least: int | None

    def column(self, first: str, second: str) -> _Column:
        """Compute the agreement of one column: of everybody, and by every declared stratum."""
        one, values = _codes(self.twice.first, self.declared, first)
        other = self.twice.again(_codes(self.twice.second, self.declared, second)[0].astype(np.int64))
        unlabelled = _unlabelled(first, second, one, other)
        cluster = None
        if len(self.declared.cluster) == 1:
            cluster = numbered(self.twice.first.columns[self.declared.cluster[0]])
        families = []
        for names in ((), *self.plan.by):
            coded = [strata.coded(self.twice.first, self.declared, name) for name in names]
            cell = strata.cells(coded, self.twice.rows)
            beyond = tuple(outside(names, coded))
            lost = () if cluster is None else tuple(outside(self.declared.cluster, [(cluster, ())]))
            if cluster is not None:
                cell[cluster < 0] = -1
            labels = _Labels(
                one.astype(np.int64),
                other.astype(np.int64),
                values,
                cluster,
                cell,
                strata.groups(names, coded),
            )
            families.append(self.family(first, second, labels, (*unlabelled, *beyond, *lost)))
        return _Column(first, tuple(families), unlabelled)

    def family(self, first: str, second: str, labels: _Labels, left_out: tuple[LeftOut, ...]) -> _Family:
        """Compute raw agreement and kappa in every group of one family, at 1 - alpha/K."""
        cells, alpha = len(labels.groups), self.alpha / len(labels.groups)
        inside = labels.cell >= 0
        cluster = None if labels.cluster is None else labels.cluster[inside]
        one, other, cell = labels.first[inside], labels.second[inside], labels.cell[inside]
        raw = agreement.raw_agreement(one, other, alpha, cluster, cell, cells)
        tables = agreement.cross(one, other, len(labels.values), cell, cells).table
        answers: list[Answer] = []
        kappas: list[Answer] = []
        rows = []
        few = self.few(tables)
        for place, group in enumerate(labels.groups):
            here = cell == place
            if cluster is None:
                kappa = agreement.kappa(tables[place])
            else:
                kappa = agreement.clustered_kappa(one[here], other[here], len(labels.values), cluster[here])
            details = {"column": first}
            found = self.raw(raw, place, group, cells, details)
            kappas.append(self.kappa(kappa, raw, place, group, cells, details))
            about = self.withheld(kappas[-1]) if few else kappas[-1]
            answers += [found, about]
            counts = None if few else tables[place].tolist()
            rows.append(self.row((first, second), labels.values, group, counts, found, about))
        return _Family(tuple(answers), kappas[0], tuple(rows), left_out)

    def few(self, tables: Ints) -> bool:
        """Tell whether a margin of some table, (groups, k, k), shows a few cases, where these may not be told."""
        margins = np.concatenate([tables.sum(axis=1), tables.sum(axis=2)])
        return self.least is not None and bool(((margins > 0) & (margins < self.least)).any())

    def withheld(self, kappa: Answer) -> Answer:
        """Return a kappa as it is told where its table is not; that it has no value may say what is in the table."""
        reason = Reason("withheld", {"min_count": self.least or 0})
        return Withheld(kappa.metric, kappa.system, kappa.group, reason, kappa.details)

    def raw(
        self, raw: agreement.Raw, place: int, group: Group, groups: int, details: Mapping[str, str]
    ) -> Answer:
        agreed, cases = int(raw.agreed[place]), int(raw.cases[place])
        absent = self.absent(raw, place)
        if absent is not None:
            return NotEstimable(RAW, "", group, cases, absent, details)
        return Estimate(
            metric=RAW,
            system="",
            group=group,
            numerator=agreed,
            denominator=cases,
            value=agreed / cases,
            low=float(raw.low[place]),
            high=float(raw.high[place]),
            confidence=self.confidence,
            method="wilson" if raw.clusters is None else "wilson on effective sample size",
            simultaneous=groups,
            zero_bound=ZeroBound.of(float(raw.size[place])) if agreed == 0 else None,
            details=details,
        )

    def kappa(
        self,
        kappa: agreement.Kappa,
        raw: agreement.Raw,
        place: int,
        group: Group,
        groups: int,
        details: Mapping[str, str],
    ) -> Answer:
        cases, value = int(raw.cases[place]), float(kappa.value)
        absent = self.absent(raw, place)
        if absent is None and math.isnan(value):
            absent = Reason("kappa-undefined")
        if absent is None and math.isnan(kappa.error):
            absent = Reason("kappa-without-error" if value == 1 else "kappa-without-spread")
        if absent is not None:
            return NotEstimable(KAPPA, "", group, cases, absent, details)
        low, high = agreement.interval(kappa, self.alpha / groups)
        return Measure(
            metric=KAPPA,
            system="",
            group=group,
            value=value,
            low=float(low),
            high=float(high),
            confidence=self.confidence,
            method="asymptotic" if raw.clusters is None else "asymptotic, by clusters",
            cases=cases,
            scale="kappa",
            simultaneous=groups,
            details=details,
        )

    def absent(self, raw: agreement.Raw, place: int) -> Reason | None:
        """Return why a group's agreement has no interval."""
        if self.twice.obstacle is not None:
            return self.twice.obstacle
        if len(self.declared.cluster) > 1:
            return Reason("crossed-clusters")
        if raw.cases[place] == 0:
            return Reason("no-cases")
        if raw.clusters is not None and raw.clusters[place] < MIN_CLUSTERS:
            return Reason("too-few-clusters", {"least": MIN_CLUSTERS})
        return None

    def row(
        self,
        columns: tuple[str, str],
        values: tuple[str, ...],
        group: Group,
        counts: list[list[int]] | None,
        raw: Answer,
        kappa: Answer,
    ) -> dict[str, Any]:
        """Return a group's line of the kind's own table."""
        told, about = raw.as_json(), kappa.as_json()
        known = isinstance(raw, Estimate)
        return {
            "column": columns[0],
            "second": columns[1],
            "group": group_json(group),
            "values": list(values),
            "counts": counts,
            "n": told["denominator"],
            "agree": told["numerator"],
            "raw": told["value"],
            "low": told["low"],
            "high": told["high"],
            "confidence": told["confidence"],
            "method": told["method"],
            "kappa": about["value"],
            "kappa_low": about["low"],
            "kappa_high": about["high"],
            "kappa_note": about["note"],
            "disagreement": 1 - told["value"] if known else None,
            "floor": 1 - told["low"] if known else None,
            "note": told["note"],
        }

    def decide(
        self, criterion: AgreementCriterion, columns: Sequence[_Column], review: Reason | None
    ) -> CriterionResult:
        """Decide a criterion on the agreement of one column, everybody's."""
        chosen = next(each for each in columns if criterion.column in (None, each.name))
        answer = chosen.raw if criterion.metric == RAW else chosen.kappa
        scale: Scale = "share" if criterion.metric == RAW else "kappa"
        if isinstance(answer, Estimate | Measure):
            number = Number(answer.value, answer.low, answer.high, scale=scale)
        else:
            assert isinstance(answer, NotEstimable)
            number = Number(obstacle=answer.reason, scale=scale)
        made = decide_number(
            criterion,
            number,
            system="",
            rows=self.twice.rows,
            left_out=chosen.unlabelled,
            review=review,
            details={"column": chosen.name},
        )
        if criterion.metric != KAPPA or not chosen.secret:
            return made
        told = {"min_count": self.least or 0}
        return replace(made, value=None, low=None, high=None, reason=Reason("withheld", told))

    def notes(self, columns: Sequence[_Column]) -> Iterator[Reason]:
        """Say each column's floor, where it tells no few cases, and what the intervals assume."""
        sizes = [each.raw.denominator for each in columns if isinstance(each.raw, Estimate | NotEstimable)]
        withheld = self.least is not None and min(sizes) < self.least
        for column in columns:
            if isinstance(column.raw, Estimate) and not withheld:
                yield Reason("agreement-floor", {"column": column.name, "floor": 1 - column.raw.low})
        if self.twice.soon:
            yield Reason("relabelled-too-soon", {"count": self.twice.soon})
        if self.declared.unit is None and not self.declared.cluster:
            yield Reason("independence-assumed")
        if len(self.plan.criteria) > 1:
            yield Reason("criteria-uncorrected", {"count": len(self.plan.criteria)})


def _unlabelled(first: str, second: str, one: Any, other: Any) -> tuple[LeftOut, ...]:
    """Count the cases without two declared labels, each once: for the first label, then for the second."""
    rest, found = np.ones(len(one), np.bool_), []
    for name, codes in ((first, one), (second, other)):
        for reason, code in (("missing", MISSING), ("undeclared", UNDECLARED)):
            found.append(LeftOut(reason, name, int((rest & (codes == code)).sum())))
        rest &= codes >= 0
    merged: dict[tuple[str, str], int] = {}
    for each in found:
        merged[each.reason, each.column] = merged.get((each.reason, each.column), 0) + each.count
    return tuple(LeftOut(reason, name, count) for (reason, name), count in merged.items() if count)
