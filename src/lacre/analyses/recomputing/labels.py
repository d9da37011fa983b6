"""Agreement with oneself computed again: raw agreement, kappa and the floor, from the table of both labels."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from lacre.analyses.estimate import Group, Scale, group_name
from lacre.analyses.judging import Number, decide_number
from lacre.analyses.reasons import Reason
from lacre.analyses.recomputing.base import Again
from lacre.analyses.recomputing.held import MOST, How
from lacre.analyses.recomputing.tally import TOLERANCE
from lacre.analyses.self_agreement import KAPPA, RAW
from lacre.analyses.told import CodeTold, CriterionTold, EstimateTold, Key, Told
from lacre.analyses.verdict import CriterionResult, State
from lacre.protocol.columns import OutcomeColumn
from lacre.protocol.kinds.parts import stratum_values
from lacre.protocol.kinds.self_agreement import AgreementCriterion, SelfAgreementPlan
from lacre.stats.agreement import interval, kappa
from lacre.text import _

WITHOUT = ("kappa-without-error", "kappa-without-spread")
"""Why a kappa has no error: no label changed, or no case moves it."""


class AgreementTold(Told):
    """A group's line of the table "agreement"."""

    column: str
    second: str
    group: dict[str, str]
    values: list[str]
    counts: list[list[int]] | None
    n: int | None
    agree: int | None
    raw: float | None
    low: float | None
    high: float | None
    confidence: float | None
    method: str | None
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    kappa_note: CodeTold | None
    disagreement: float | None
    floor: float | None
    note: CodeTold | None


class Place(NamedTuple):
    """One column's agreement in one group, of `groups` at once."""

    first: str
    second: str
    group: Group
    groups: int


class LabelsAgain(Again[SelfAgreementPlan]):
    """The same cases labelled twice."""

    def of_systems(self, systems: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG002 - labels are no system's
        """Labels are a person's, and no system's."""
        return ("",)

    def places(self) -> list[Place]:
        """Return every column in every group, in the order of the table."""
        return [
            Place(first, second, group, len(groups))
            for first, second in self.plan.labelled
            for names in ((), *self.plan.by)
            for groups in [self.groups(names)]
            for group in groups
        ]

    @staticmethod
    def key(metric: str, place: Place) -> Key:
        """Return what a number is found by."""
        return Key(metric, "", frozenset(place.group), None, frozenset({"column": place.first}.items()))

    def wanted(self) -> list[Key]:
        """Return what every number is found by."""
        return [self.key(metric, place) for place in self.places() for metric in (RAW, KAPPA)]

    def rules(self) -> list[tuple[str, AgreementCriterion]]:
        """Return every criterion."""
        return [("", rule) for rule in self.plan.criteria]

    # --- numbers

    @property
    def first(self) -> tuple[str, ...]:
        """Why there may be no agreement at all."""
        if self.plan.relabel is not None and any(
            each.note is not None and each.note.code == "not-relabelled" for each in self.told.estimates
        ):
            return ("not-relabelled",)
        return self.crossed

    def estimate(self, what: str, told: EstimateTold) -> None:
        """Hold one number."""
        groups = len(self.groups(tuple(told.group)))
        if told.metric == RAW:
            how = How("wilson", self.alpha / groups, groups, self.clustered)
            self.counted(what, told, how, self.few, self.first)
            return
        raw = self.answers.get(told.key._replace(metric=RAW))
        if raw is not None and not raw.withheld:
            self.tally.holds(f"{what}.denominator", told.denominator, raw.denominator)
        if told.value is None:
            self.absence(what, told, (*self.few, "kappa-undefined", *WITHOUT), self.first)
            return
        fair = self.tally.holds(f"{what}.confidence", told.confidence, self.confidence)
        fair &= self.tally.holds(f"{what}.simultaneous", told.simultaneous, groups)
        method = "asymptotic, by clusters" if self.clustered else "asymptotic"
        fair &= self.tally.holds(f"{what}.method", told.method, method)
        fair &= self.tally.holds(f"{what}.scale", told.scale, "kappa")
        fair &= self.tally.holds(f"{what}.zero_bound", told.zero_bound, None)
        self.tally.estimates += fair & self.ordered(what, told, least=-1.0)

    def more(self) -> None:
        """Hold the kind's own table, line by line; groups add up."""
        places, rows = self.places(), self.told.tables.get("agreement", [])
        if self.tally.holds(f"{self.name}.agreement", len(rows), len(places)):
            for place, row in zip(places, rows, strict=True):
                self._row(place, row)
        for first, second in self.plan.labelled:
            whole = self.answers.get(self.key(RAW, Place(first, second, (), 1)))
            for names in self.plan.by:
                parts = [
                    self.answers.get(self.key(RAW, Place(first, second, g, 1))) for g in self.groups(names)
                ]
                self.adds_up(whole, names, parts, exact=False)
            if whole is not None and whole.denominator is not None and not self.first:
                self.rows_fit(whole.denominator, {first, second, *self.table.cluster})

    def _row(self, place: Place, row: Mapping[str, Any]) -> None:
        what = f"{self.name}.agreement.{place.first}.{group_name(place.group)}"
        named: dict[str, object] = {"group": dict(place.group)}
        if row.get("withheld") is not True:
            named |= {"column": place.first, "second": place.second}
        self.tally.same_fields(what, {name: row.get(name) for name in named}, named)
        raw, about = (self.answers.get(self.key(metric, place)) for metric in (RAW, KAPPA))
        if raw is None or about is None:
            return
        if row.get("withheld") is True or raw.withheld:
            self.tally.withheld += 1
            self.tally.fits(f"{what}.withheld", True, "numbers", fits=self.least is not None)
            return
        try:
            told = AgreementTold.model_validate(dict(row))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            self.tally.differs(f"{what}.{first['loc'][0]}", first["type"], "-")
            return
        floor = None if raw.low is None else 1 - raw.low
        if about.withheld:
            self.tally.holds(f"{what}.counts", told.counts, None)
        beside: dict[str, object] = {
            "n": raw.denominator, "agree": raw.numerator, "raw": raw.value, "low": raw.low, "high": raw.high,
            "confidence": raw.confidence, "method": raw.method, "kappa": about.value, "kappa_low": about.low,
            "kappa_high": about.high, "kappa_note": about.note, "note": raw.note,
            "disagreement": None if raw.value is None else 1 - raw.value, "floor": floor,
            "values": list(self.values(place.first)),
        }  # fmt: skip
        for name, value in beside.items():
            self.tally.holds(f"{what}.{name}", getattr(told, name), value)
        self._counts(what, told, place, about)

    def values(self, name: str) -> tuple[str, ...]:
        """Return the declared labels of a column."""
        column = self.table.columns[name]
        if isinstance(column, OutcomeColumn):
            return ((column.negative or ["0"])[0], (column.positive or ["1"])[0])
        return stratum_values(column) or ()

    def _counts(self, what: str, told: AgreementTold, place: Place, about: EstimateTold) -> None:
        """Hold agreement and kappa against the counts of both labels, where these may be shown."""
        if told.counts is None:
            self.tally.beyond += 1
            self.tally.fits(f"{what}.counts", None, "counts", fits=self.least is not None)
            return
        size = len(self.values(place.first))
        flat = [each for line in told.counts for each in line]
        square = len(told.counts) == size and all(len(line) == size for line in told.counts)
        if not self.tally.fits(f"{what}.counts", len(flat), f"{size} × {size} counts",
                               fits=square and all(0 <= each <= MOST for each in flat)):  # fmt: skip
            return
        table = np.array(told.counts, np.float64)
        self.tally.holds(f"{what}.counts", sum(flat), told.n)
        if told.agree is not None:
            self.tally.holds(f"{what}.counts", int(table.trace()), told.agree)
        if self.first or not told.n or told.raw is None:
            return
        found = kappa(table)
        if np.isnan(found.value):
            self.tally.holds(f"{what}.kappa_note", about.note and about.note.code, "kappa-undefined")
            return
        if about.value is None:
            code = WITHOUT[0] if found.value == 1 else WITHOUT[1]
            seen = about.note and about.note.code == code
            unsure = not np.isfinite(found.error) or self.clustered
            self.tally.fits(f"{what}.kappa", None, str(float(found.value)), fits=bool(seen and unsure))
            return
        self.tally.holds(f"{what}.kappa", about.value, float(found.value))
        if self.clustered:
            self.tally.beyond += 1
            self._as_far(what, about)
            return
        low, high = interval(found, self.alpha / place.groups)
        fair = self.tally.holds(f"{what}.kappa_low", about.low, float(low))
        fair &= self.tally.holds(f"{what}.kappa_high", about.high, float(high))
        self.tally.bounds += fair

    def _as_far(self, what: str, about: EstimateTold) -> None:
        """A normal interval reaches as far down as up, except beyond -1 and 1."""
        if about.value is None or about.low is None or about.high is None:
            return
        high = min(1.0, 2 * about.value - about.low)
        if about.low > -1:
            self.tally.holds(f"{what}.kappa_high", about.high, high)
        else:
            self.tally.fits(
                f"{what}.kappa_high", about.high, f">= {high}", fits=about.high >= high - TOLERANCE
            )

    def noted(self) -> Mapping[str, Mapping[str, object] | None]:
        """Return what the notes say: the floor of the first column that has one."""
        floors = [
            {"column": first, "floor": 1 - told.low}
            for first, second in self.plan.labelled
            if (told := self.answers.get(self.key(RAW, Place(first, second, (), 1)))) and told.low is not None
        ]
        stated = [each.fields for each in self.told.notes if each.code == "agreement-floor"]
        self.tally.holds(f"{self.name}.notes.agreement-floor", len(stated), len(floors))
        for told_fields, fields in zip(stated, floors, strict=False):
            self.tally.same_fields(f"{self.name}.notes.agreement-floor", told_fields, fields)
        return super().noted()

    # --- verdicts

    def across(self, states: Sequence[tuple[str, State]]) -> State:
        """Return the state of all; where nothing is asked, it takes a column whose agreement could be estimated."""
        raws = [self.answers.get(self.key(RAW, Place(*pair, (), 1))) for pair in self.plan.labelled]
        if states or self.triggers or any(each is not None and each.value is not None for each in raws):
            return super().across(states)
        hidden = any(each is not None and each.withheld for each in raws)
        if hidden and self.told.computed == State.PASS:
            return State.PASS
        return State.INSUFFICIENT_EVIDENCE

    def decide(self, what: str, told: CriterionTold, rule: AgreementCriterion) -> CriterionResult | None:
        """Decide one criterion on one column's agreement."""
        pair = next((each for each in self.plan.labelled if rule.column in (None, each[0])), None)
        if pair is None:
            return None
        answer = self.answers.get(self.key(rule.metric, Place(*pair, (), 1)))
        if answer is None or answer.withheld:
            return None
        scale: Scale = "share" if rule.metric == RAW else "kappa"
        number = Number(answer.value, answer.low, answer.high, scale=scale)
        if answer.value is None:
            number = Number(obstacle=answer.note.reason if answer.note else Reason("no-cases"), scale=scale)
        self._unlabelled(what, told, pair, answer)
        return decide_number(
            rule, number, system="", rows=self.told.rows, left_out=self.left_out(told),
            review=self.review_of(""), details={"column": pair[0]},
        )  # fmt: skip

    def _unlabelled(
        self, what: str, told: CriterionTold, pair: tuple[str, str], answer: EstimateTold
    ) -> None:
        """Cases are labelled twice or left out, each under its first reason."""
        out = sum(each.count for each in told.left_out)
        fits = all(each.column in pair for each in told.left_out)
        self.tally.fits(f"{what}.left_out", out, _("of the labels"), fits=fits)
        if answer.denominator is not None and not self.first and not self.table.cluster:
            self.tally.holds(f"{what}.left_out", out, self.told.rows - answer.denominator)
