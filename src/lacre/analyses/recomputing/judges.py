"""Human-vs-judge agreement computed again: all that follows from the table of bins, resamples included."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lacre.analyses.estimate import group_name
from lacre.analyses.judge_agreement import (
    KAPPA,
    PABAK,
    RAW,
    TABLE,
    Place,
    by_point,
    gwet_name,
    line,
    method_of,
    paradox_note,
    target_note,
)
from lacre.analyses.judge_cases import costs_of
from lacre.analyses.judging import Number, decide_number
from lacre.analyses.reasons import Reason
from lacre.analyses.recomputing.base import Again
from lacre.analyses.recomputing.held import MOST, How
from lacre.analyses.told import CriterionTold, EstimateTold, Key
from lacre.analyses.verdict import CriterionResult, State
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.judge_agreement import JudgeAgreementPlan, JudgeCriterion, labels_of
from lacre.stats import judge
from lacre.stats.agreement import Ints

UNDEFINED = ("kappa-one-bin", "kappa-resamples-undefined")
"""Why there may be cases and no kappa."""


class JudgesAgain(Again[JudgeAgreementPlan]):
    """One rater and a judge."""

    numpy: object = None
    """The version of NumPy that drew the resamples; no other need draw the same."""

    def beside(self, document: Mapping[str, Any]) -> None:
        """Take which NumPy drew."""
        engine = document.get("engine")
        self.numpy = engine.get("numpy") if isinstance(engine, dict) else None

    def places(self) -> list[Place]:
        """Return every dimension in every group, in the order of the table."""
        return [
            Place(name, each.human, each.judge, labels_of(self.plan, each, self.protocol), group)
            for name, each in self.plan.dimensions.items()
            for names in ((), *self.plan.diagnostics_by)
            for group in self.groups(names)
        ]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The numbers of each place, in order."""
        return RAW, KAPPA, gwet_name(self.plan), PABAK

    def key(self, metric: str, place: Place) -> Key:
        """Return what a number is found by."""
        details = frozenset(place.details.items())
        return Key(metric, self.systems[0], frozenset(place.group), None, details)

    def wanted(self) -> list[Key]:
        """Return what every number is found by."""
        return [self.key(metric, place) for place in self.places() for metric in self.metrics]

    def rules(self) -> list[tuple[str, JudgeCriterion]]:
        """Return every criterion."""
        return [(self.systems[0], rule) for rule in self.plan.criteria]

    # --- numbers

    @property
    def torn(self) -> tuple[str, ...]:
        """The reason why nothing may be estimable where clusters and strata are declared."""
        return ("clusters-cross-strata",) if self.clustered and self.plan.strata is not None else ()

    def estimate(self, what: str, told: EstimateTold) -> None:
        """Hold one number against the plan; its value is held where its table is."""
        if told.metric == RAW:
            how = How("wilson", self.alpha, effective=self.clustered)
            self.counted(what, told, how, (*self.few, *self.torn), self.crossed)
            return
        if told.value is None:
            undefined = UNDEFINED if told.metric == KAPPA else ()
            self.absence(what, told, (*self.few, *self.torn, *undefined), self.crossed)
            return
        method = method_of(self.plan, clustered=self.clustered)
        fair = self.tally.holds(f"{what}.confidence", told.confidence, self.confidence)
        fair &= self.tally.holds(f"{what}.simultaneous", told.simultaneous, 1)
        fair &= self.tally.holds(f"{what}.method", told.method, method)
        fair &= self.tally.holds(f"{what}.scale", told.scale, "kappa")
        fair &= self.tally.holds(f"{what}.zero_bound", told.zero_bound, None)
        self.tally.estimates += fair & self.ordered(what, told, least=-np.inf)

    def more(self) -> None:
        """Hold the kind's own table, line by line; groups add up."""
        places, rows = self.places(), self.told.tables.get(TABLE, [])
        if not self.tally.holds(f"{self.name}.{TABLE}", len(rows), len(places)):
            return
        paradoxes: list[Reason] = []
        for place, row in zip(places, rows, strict=True):
            paradoxes += self._row(place, row)
        stated = [each for each in self.told.notes if each.code in ("paradox", "paradox-of-group")]
        what = f"{self.name}.notes.paradox"
        self.tally.holds(what, [each.code for each in stated], [each.code for each in paradoxes])
        for told, mine in zip(stated, paradoxes, strict=False):
            self.tally.same_fields(what, told.fields, mine.fields)
        for place in places:
            if place.group:
                continue
            whole = self.answers.get(self.key(RAW, place))
            for names in self.plan.diagnostics_by:
                parts = [
                    self.answers.get(self.key(RAW, place._replace(group=group)))
                    for group in self.groups(names)
                ]
                self.adds_up(whole, names, parts, exact=False)
            if whole is not None and whole.denominator is not None and not self.crossed:
                self.rows_fit(whole.denominator, {place.human, place.judge, *self._designed})

    @property
    def _designed(self) -> set[str]:
        """The columns of the design, for want of which a case is left out."""
        return {*(self.table.cluster if self.clustered else ()), *filter(None, (self.plan.strata,))}

    def _row(self, place: Place, row: Mapping[str, Any]) -> list[Reason]:
        """Hold one line; return what it says of a paradox."""
        what = f"{self.name}.{TABLE}.{place.dimension}.{group_name(place.group)}"
        answers = [self.answers.get(self.key(metric, place)) for metric in self.metrics]
        known = [each for each in answers if each is not None]
        if len(known) < len(answers):
            return []
        raw, kappa = answers[0], answers[1]
        if row.get("withheld") is True or raw is None or raw.withheld:
            self.tally.withheld += 1
            self.tally.same_fields(what, {"group": row.get("group")}, {"group": dict(place.group)})
            self.tally.fits(f"{what}.withheld", True, "numbers", fits=self.least is not None)
            return []
        table, undefined = self._table(what, place, row.get("counts")), row.get("undefined_resamples")
        if table is None:
            if row.get("counts") is not None:
                return []
            self.tally.beyond += 1
            self.tally.fits(f"{what}.counts", None, "counts", fits=self.least is not None)
        elif type(undefined) is not int:
            self.tally.differs(f"{what}.undefined_resamples", undefined, "a count")
            return []
        self.tally.holds(f"{what}.kappa_note", kappa is not None and kappa.withheld, table is None)
        count = undefined if isinstance(undefined, int) else 0
        mine = line(self.plan, place, [_json(each) for each in known], table, undefined=count)
        self.tally.same_fields(what, row, mine)
        if table is not None:
            self._values(what, table, known, count)
        return [*paradox_note(mine["paradox"], place)]

    def _table(self, what: str, place: Place, counts: object) -> Ints | None:
        """Return the table of counts, where it is one."""
        size = len(place.bins)
        if counts is None:
            return None
        fits = isinstance(counts, list) and len(counts) == size
        for each in counts if isinstance(counts, list) else ():
            fits &= isinstance(each, list) and len(each) == size
            fits = fits and all(type(count) is int and 0 <= count <= MOST for count in each)
        if not self.tally.fits(f"{what}.counts", None, f"{size} × {size} counts", fits=fits):
            return None
        return np.array(counts, np.int64)

    def _values(self, what: str, table: Ints, answers: Sequence[EstimateTold], undefined: int) -> None:
        """Hold agreement, coefficients and their intervals against the table."""
        raw, cases = answers[0], int(table.sum())
        for each in answers:
            self.tally.holds(f"{what}.n", each.denominator, cases)
        if raw.numerator is not None:
            self.tally.holds(f"{what}.agree", raw.numerator, int(table.trace()))
        if raw.value is None:
            self.tally.holds(f"{what}.undefined_resamples", undefined, 0)
            return
        found = judge.exact_coefficients(table, costs_of(self.plan, len(table)))
        for told, value in zip(answers[1:], found, strict=True):
            if told.value is not None:
                self.tally.holds(f"{what}.{told.metric}", told.value, float(value))
        one_bin = bool(np.isnan(float(found.kappa)))
        code = answers[1].note.code if answers[1].note and answers[1].value is None else None
        self.tally.holds(f"{what}.kappa_note", code == "kappa-one-bin", one_bin)
        if self.clustered or self.plan.strata is not None or self.numpy != np.__version__:
            self.tally.beyond += 1
            return
        self._drawn(what, table, answers[1:], undefined)

    def _drawn(self, what: str, table: Ints, answers: Sequence[EstimateTold], undefined: int) -> None:
        """Draw again: the same table, seed and NumPy give the same intervals."""
        drawn = judge.resample(
            [table], np.array([[float(cost) for cost in row] for row in costs_of(self.plan, len(table))]),
            alpha=self.alpha, resamples=self.plan.bootstrap.resamples, seed=self.plan.bootstrap.seed,
            max_undefined=as_float(self.plan.max_undefined),
        )  # fmt: skip
        fair = self.tally.holds(f"{what}.undefined_resamples", undefined, drawn[0].undefined)
        for told, again in zip(answers, drawn, strict=True):
            called = f"{what}.{told.metric}"
            fair &= self.tally.holds(f"{called}_low", told.low, float(again.low))
            fair &= self.tally.holds(f"{called}_high", told.high, float(again.high))
            if told.value is not None:
                note = "resamples-alike" if again.widened else None
                fair &= self.tally.holds(f"{called}_note", told.note and told.note.code, note)
        self.tally.bounds += fair * len(answers)

    def noted(self) -> Mapping[str, Mapping[str, object] | None]:
        """Return what notes of the kind's own say."""
        alone = self.table.unit is None and not self.table.cluster
        found: dict[str, Mapping[str, object] | None] = {"cases-independent": {} if alone else None}
        found |= dict.fromkeys(("target-reached", "target-missed", "target-open"))
        pooled = [self.answers.get(self.key(KAPPA, place)) for place in self.places() if not place.group]
        if self.plan.target is not None and not any(each is not None and each.withheld for each in pooled):
            values = [None if each is None else each.value for each in pooled]
            said = target_note(values, as_float(self.plan.target))
            found[said.code] = said.fields
        return found

    # --- verdicts

    def across(self, states: Sequence[tuple[str, State]]) -> State:
        """Return the state of all; where nothing is asked, it takes a kappa that could be estimated."""
        pooled = [self.answers.get(self.key(KAPPA, place)) for place in self.places() if not place.group]
        if states or self.triggers or any(each is not None and each.value is not None for each in pooled):
            return super().across(states)
        hidden = any(each is not None and each.withheld for each in pooled)
        return State.PASS if hidden and self.told.computed == State.PASS else State.INSUFFICIENT_EVIDENCE

    def decide(self, what: str, told: CriterionTold, rule: JudgeCriterion) -> CriterionResult | None:
        """Decide one criterion on one dimension's pooled kappa."""
        place = next(each for each in self.places() if each.dimension == rule.dimension and not each.group)
        answer = self.answers.get(self.key(KAPPA, place))
        if answer is None or answer.withheld:
            return None
        number, decided = Number(answer.value, answer.low, answer.high, scale="kappa"), None
        if answer.value is None:
            number = Number(obstacle=answer.note.reason if answer.note else Reason("no-cases"), scale="kappa")
        elif rule.decide_on == "point":
            decided = by_point(self._exact(place, answer.value), rule)
        self._unlabelled(what, told, place, answer)
        return decide_number(
            rule, number, system=self.systems[0], rows=self.told.rows, left_out=self.left_out(told),
            review=self.review_of(self.systems[0]), decided=decided,
            details={"dimension": rule.dimension, "decide_on": rule.decide_on},
        )  # fmt: skip

    def _exact(self, place: Place, value: float) -> Any:
        """Return a kappa from its counts, exactly; without them as it is told."""
        for row in self.told.tables.get(TABLE, []):
            if (row.get("dimension"), row.get("group")) == (place.dimension, {}):
                table = _square(row.get("counts"), len(place.bins))
                if table is not None:
                    return judge.exact_coefficients(table, costs_of(self.plan, len(table))).kappa
        return value

    def _unlabelled(self, what: str, told: CriterionTold, place: Place, answer: EstimateTold) -> None:
        """Cases have a label and a score or are left out, each under its first reason."""
        out = sum(each.count for each in told.left_out)
        columns = {place.human, place.judge, *self._designed}
        fits = all(each.column in columns for each in told.left_out)
        self.tally.fits(f"{what}.left_out", out, "of labels and scores", fits=fits)
        if answer.denominator is not None and not self.crossed:
            self.tally.holds(f"{what}.left_out", out, self.told.rows - answer.denominator)


def _square(counts: object, size: int) -> npt.NDArray[np.int64] | None:
    try:
        table = np.array(counts, np.int64)
    except (TypeError, ValueError, OverflowError):
        return None
    return table if table.shape == (size, size) else None


def _json(told: EstimateTold) -> dict[str, Any]:
    """Return a number under the names of a result."""
    note = None if told.note is None else {"code": told.note.code, "fields": told.note.fields}
    names = ("numerator", "denominator", "value", "low", "high", "method", "confidence")
    return {**{name: getattr(told, name) for name in names}, "note": note}
