"""Verifications computed again: every rate, ratio and verdict of every rung, from the counts of the table "groups".

The engine's own analysis is run on these counts in place of the scores: what needs scores (thresholds of a group's
own, curves, resampled intervals) is as the result tells it, and held only against what it must fit.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from pydantic import ValidationError

from lacre.analyses.comparisons import RATES, Comparisons
from lacre.analyses.ladder import Rung
from lacre.analyses.reasons import Reason
from lacre.analyses.recomputing.counted import GroupTold, TargetTold, ToldVerification, Which
from lacre.analyses.recomputing.held import MOST, How
from lacre.analyses.recomputing.rungs import OBSTACLES, Rungs
from lacre.analyses.recomputing.tally import close
from lacre.analyses.told import CriterionTold, EstimateTold, Key
from lacre.analyses.verdict import CriterionResult, LeftOut, State, worst
from lacre.analyses.verification_numbers import FORMS, OTHER, Numbers
from lacre.errors import BareRate
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.verification import VerificationCriterion
from lacre.stats.proportions import wilson
from lacre.stats.thresholds import Rate, floor_of
from lacre.text import _


class LaddersAgain(Rungs):
    """Comparisons by group, on every rung that the read computed."""

    def wanted(self) -> list[Key]:
        """Return what every number is found by; a ratio names the groups of its extremes."""
        found = []
        for system in self.systems:
            for rung in self.ids:
                found += [
                    Key(rate, system, frozenset(group), None, self.details(rung))
                    for rate in RATES
                    for group in self.cells
                ]
                for rate in RATES:
                    for form in FORMS:
                        found.append(self._ratio_key(system, rung, rate, form))
                for rate, at in self.asked():
                    details = self.details(rung, target=rate, at=as_float(at))
                    found.append(Key("threshold_distance", system, frozenset(), None, details))
        return found

    def _ratio_key(self, system: str, rung: str, rate: Rate, form: str) -> Key:
        """Return what a ratio is found by, with whatever groups the result names; these are held later."""
        key = Key(f"{rate}_ratio", system, frozenset(), None, self.details(rung, form=form))
        of = [each for each in self.answers if each._replace(group=frozenset(), versus=None) == key]
        return of[0] if of else key

    def optional(self) -> Collection[Key]:
        """Return the intervals that resample subjects: there where most of their pairs are."""
        if len(self.table.cluster) != 2:
            return ()
        return [
            Key(f"{rate}_beside", system, frozenset(group), None, self.details(rung))
            for system in self.systems
            for rung in self.ids
            for rate in RATES
            for group in self.cells
        ]

    def asked(self) -> list[tuple[Rate, Any]]:
        """Return every target."""
        return Numbers(self.plan, cast("Comparisons", None), "", 0.0, 0.0, None).asked()

    def rules(self) -> list[tuple[str, VerificationCriterion]]:
        """Return every criterion, of each system."""
        return [(system, rule) for system in self.systems for rule in self.plan.criteria]

    # --- numbers

    def _engine(
        self, system: str, left_out: tuple[tuple[LeftOut, ...], tuple[LeftOut, ...]] = ((), ())
    ) -> Any:
        return ToldVerification(self, system, left_out)

    def estimate(self, what: str, told: EstimateTold) -> None:
        """Hold a number that only the result has: the others are held where rungs are built."""
        if told.metric == "threshold_distance":
            self._distance(what, told)
        elif told.metric in RATES and "bootstrap" not in (told.method or ""):
            which = Which(told.system or "", str(told.details.get("rung", "")))
            if self.built.get(which) is None and which in self.hidden:
                self._alone(what, told)

    def _alone(self, what: str, told: EstimateTold) -> None:
        """Hold a rate of a rung whose lines are withheld by its own counts, and by one size for both its ends."""
        rate: Rate = "false_match" if told.metric == "false_match" else "false_non_match"
        divided = self._engine(told.system or "").numbers.simultaneous(rate) if told.group else 1
        name, sized = "wilson" if divided == 1 else "clopper_pearson", bool(self.table.cluster)
        self.counted(
            what,
            told,
            How(name, self.alpha / divided, divided, sized),
            ("too-few-clusters",) if sized else (),
        )

    def more(self) -> None:
        """Hold every rung's numbers against the counts, and its targets."""
        for which, rung in self.built.items():
            if rung is not None:
                self._answers(which, rung)
            self._targets(which)
        self._rows()

    def _answers(self, which: Which, rung: Rung) -> None:
        """Hold every rate and ratio of a rung; an interval beside another is there if it follows, and only then."""
        if rung.mostly_wrong:
            self.reversed.add(which.system)
        seen = set()
        try:
            answers = list(self._engine(which.system).numbers.answers(rung))
        except BareRate as error:
            self.tally.differs(f"{self.name}.groups", error.message, _("counts of rates"))
            return
        for answer in answers:
            told = EstimateTold.model_validate(answer.as_json())
            seen.add(told.key)
            if answer.metric != "threshold_distance":
                self._same(which, told)
        own = {("rung", which.rung)} if which.rung else set()
        beside = {
            key for key in self.answers if key.metric.endswith("_beside") and key.system == which.system
        }
        beside = {key for key in beside if {*key.details} == own}
        for key in {key for key in seen if key.metric.endswith("_beside")} ^ beside:
            self.tally.differs(self.called(key), "estimate" if key in beside else None, "-")

    @property
    def reversed(self) -> set[str]:
        """The systems of which a rung contradicts most truths."""
        found: set[str] = self.__dict__.setdefault("_reversed", set())
        return found

    def _same(self, which: Which, expected: EstimateTold) -> None:
        key = expected.key
        if key.metric.endswith("_ratio"):
            key = self._ratio_key(
                which.system, which.rung, _rate_of(key.metric), str(expected.details["form"])
            )
        told, what = self.answers.get(key), self.called(expected.key)
        if told is None or told.withheld:
            return
        fair = True
        for name in ("group", "versus", "numerator", "denominator", "missing", "value", "low", "high", "confidence",
                     "simultaneous", "method", "scale", "unit"):  # fmt: skip
            fair &= self.tally.holds(f"{what}.{name}", getattr(told, name), getattr(expected, name))
        code = expected.note and expected.note.code
        fair &= self.tally.holds(f"{what}.note", told.note and told.note.code, code)
        if told.note is not None and expected.note is not None:
            fair &= self.tally.same_fields(f"{what}.note", told.note.fields, expected.note.fields)
        zero = expected.zero_bound
        fair &= self.tally.holds(f"{what}.zero_bound", told.zero_bound is None, zero is None)
        if told.zero_bound is not None and zero is not None:
            stated, wanted = told.zero_bound.model_dump(), zero.model_dump()
            fair &= self.tally.same_fields(f"{what}.zero_bound", stated, wanted)
        self.tally.estimates += fair
        self.tally.bounds += fair and expected.low is not None

    def _distance(self, what: str, told: EstimateTold) -> None:
        """A distance is that of the groups' own thresholds; its interval resamples."""
        self.tally.beyond += 1
        if told.low is None:
            self._distance_cases(what, told)
            codes = ("nothing-to-compare", *OBSTACLES)
            code = told.note and told.note.code
            self.tally.fits(what, code, ", ".join(codes), fits=code in codes and told.bare)
            return
        groups = len(self.groups([self.plan.group]))
        pairs = groups * (groups - 1) // 2
        resamples, seed = self._engine(told.system or "").numbers.resamples(pairs)
        cluster = self.table.cluster
        kind = "case" if not cluster else "subject" if len(cluster) == 2 else "cluster"
        method = f"{kind} bootstrap, percentile, {resamples} resamples, seed {seed}"
        expected = {"method": method, "confidence": self.confidence, "simultaneous": pairs, "scale": "score"}
        for name, value in expected.items():
            self.tally.holds(f"{what}.{name}", getattr(told, name), value)
        self.ordered(what, told, most=float("inf"))
        which = Which(told.system or "", str(told.details.get("rung", "")))
        own = [
            row.get("threshold")
            for row in self.of_rung("targets", which)
            if row.get("target") == told.details.get("target")
            and row.get("at") == told.details.get("at")
            and row.get("group")
        ]
        numbers = [each for each in own if isinstance(each, float | int)]
        if told.value is not None and len(numbers) == groups:
            apart = float(max(numbers) - min(numbers))
            self.tally.fits(f"{what}.value", told.value, str(apart), fits=close(told.value, apart))
        self._distance_cases(what, told)

    def _distance_cases(self, what: str, told: EstimateTold) -> None:
        """It rests on all comparisons of its sort that are in a group."""
        built = self.built.get(Which(told.system or "", str(told.details.get("rung", ""))))
        if built is not None and not self.hidden:
            rate: Rate = "false_match" if told.details.get("target") == "false_match" else "false_non_match"
            self.tally.holds(f"{what}.denominator", told.denominator, int(built.by_group[rate].cases.sum()))

    def _targets(self, which: Which) -> None:
        if self.obstacle(which) is not None:
            return
        wanted = [(rate, at, group) for rate, at in self.asked() for group in self.cells]
        rows = self.of_rung("targets", which)
        what = ".".join(filter(None, (self.name, "targets", *which)))
        if not self.tally.holds(
            what, [row.get("group") for row in rows], [dict(group) for *_asked, group in wanted]
        ):
            return
        for (rate, at, group), row in zip(wanted, rows, strict=True):
            called = ".".join((what, rate, str(as_float(at)), *(value for _name, value in group)))
            if row.get("withheld") is True:
                self.tally.withheld += 1
                continue
            self.tally.holds(called, (row.get("target"), row.get("at")), (rate, as_float(at)))
            try:
                told = TargetTold.model_validate(dict(row))
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                self.tally.differs(f"{called}.{first['loc'][0]}", first["type"], "-")
                continue
            self._target(called, told, rate, at, self.lines.get((which, frozenset(group))))

    def _target(self, what: str, told: TargetTold, rate: Rate, at: Any, line: GroupTold | None) -> None:
        """Hold both rates at a group's own threshold: counts make a rate, and no target is exceeded."""
        if line is not None:
            cases = {"false_match": line.impostor, "false_non_match": line.genuine}
            self.tally.holds(f"{what}.cases", told.cases, cases[rate])
            self.tally.holds(f"{what}.other_cases", told.other_cases, cases[OTHER[rate]])
        if told.cases < 0 or told.cases > MOST or not told.cases:
            self.tally.holds(f"{what}.events", told.events, None)
            return
        most = floor_of(at, told.cases)
        fits = told.events is not None and 0 <= told.events <= most
        self.tally.fits(f"{what}.events", told.events, f"0 - {most}", fits=fits)
        self.tally.holds(f"{what}.unresolved", told.unresolved, most < 1)
        hidden = self.least is not None and most < self.least
        for name in ("threshold", "threshold_low", "threshold_high"):
            if hidden:
                self.tally.holds(f"{what}.{name}", getattr(told, name), None)
        low, value, high = told.threshold_low, told.threshold, told.threshold_high
        ordered = (low is None or value is None or low <= value) and (
            high is None or value is None or value <= high
        )
        self.tally.fits(f"{what}.threshold", value, f"{low} - {high}", fits=ordered)
        self.tally.beyond += 1
        self._rate(
            what, (told.events, told.cases), {"achieved": told.achieved, "low": told.low, "high": told.high}
        )
        beside = {"other_rate": told.other_rate, "other_low": told.other_low, "other_high": told.other_high}
        self._rate(what, (told.other_events, told.other_cases), beside)

    def _rate(self, what: str, counts: tuple[int | None, int], told: Mapping[str, float | None]) -> None:
        events, cases = counts
        (name, value), (low_name, low), (high_name, high) = told.items()
        if events is None or not 0 <= events <= cases <= MOST:
            self.tally.differs(f"{what}.{name}", events, _("counts of a rate"))
            return
        if not cases:
            for each, number in told.items():
                self.tally.holds(f"{what}.{each}", number, None)
            return
        self.tally.holds(f"{what}.{name}", value, events / cases)
        if self.table.cluster:
            fits = low is None or high is None or 0 <= low <= events / cases <= high <= 1
            self.tally.fits(f"{what}.{low_name}", f"[{low}, {high}]", _("an interval"), fits=fits)
            return
        ends = wilson(events, cases, self.alpha)
        self.tally.holds(f"{what}.{low_name}", low, float(ends.low))
        self.tally.holds(f"{what}.{high_name}", high, float(ends.high))

    # --- verdicts

    def line_key(self, told: CriterionTold, group: frozenset[tuple[str, str]]) -> Key:
        """Return what a line's number is found by: on the last rung."""
        return Key(told.metric, told.system or "", group, None, self.details(self.ids[-1]))

    def own_triggers(self, system: str) -> list[Reason]:
        """Return the reason to review that a rung contradicts most truths."""
        if any(rung is None for which, rung in self.built.items() if which.system == system):
            told = any(note.code == "verification-reversed" for note in self.told.notes)  # as it is told
        else:
            told = system in self.reversed
        return [Reason("verification-reversed")] if told else []

    def decide(self, what: str, told: CriterionTold, rule: VerificationCriterion) -> CriterionResult | None:
        """Decide a criterion on the last rung."""
        which = Which(told.system or "", self.ids[-1])
        rung = self.built.get(which)
        if rung is None:
            return None
        grouped = tuple(each for each in self.left_out(told) if each.column == self.plan.group)
        whole = tuple(each for each in self.left_out(told) if each.column != self.plan.group)
        self._whole(what, rung, whole)
        engine = self._engine(which.system, (whole, grouped))
        engine.triggers += self.own_triggers(which.system)
        return cast("CriterionResult", engine.criterion(rung, rule))

    def _whole(self, what: str, rung: Rung, whole: Sequence[LeftOut]) -> None:
        """Comparisons are counted, abstain, or are left out."""
        if rung.obstacle is not None:
            ran = [each for each in self.built.values() if each is not None and each.obstacle is None]
            rung = ran[0] if ran and len(self.systems) == 1 else rung
        if rung.obstacle is not None:
            return
        counts = rung.whole
        cases = (
            counts.impostor[0]
            + counts.genuine[0]
            + counts.abstained_impostor[0]
            + counts.abstained_genuine[0]
        )
        self.tally.holds(f"{what}.left_out", sum(each.count for each in whole), self.told.rows - int(cases))

    def _rows(self) -> None:
        """Hold the verdicts that stand side by side: the last rung's are the criteria, the others follow alike."""
        for which, row in self.rungs.items():
            rung, what = self.built[which], ".".join(filter(None, (self.name, "rungs", *which)))
            stated = row.get("criteria")
            beside = (
                [each if isinstance(each, dict) else {} for each in stated]
                if isinstance(stated, list)
                else []
            )
            if not self.tally.holds(
                what, [each.get("id") for each in beside], [r.id for r in self.plan.criteria]
            ):
                continue
            if rung is None:
                continue
            states = []
            for rule, each in zip(self.plan.criteria, beside, strict=True):
                made = self._beside(which, rung, rule)
                if made is None:
                    continue
                if self.hidden and (rule.by is not None or rule.target is not None):
                    self.tally.holds(f"{what}.{rule.id}.threshold", each.get("threshold"), made.threshold)
                    continue
                states.append(made.state)
                hidden = self._engine(which.system).numbers.hidden()
                values = [None if hidden else number for number in (made.value, made.low, made.high)]
                expected: dict[str, object] = dict(zip(("value", "low", "high"), values, strict=True))
                expected |= {"state": made.state.value, "threshold": made.threshold, "id": rule.id}
                expected |= {"scale": made.scale, "unit": made.unit}
                self.tally.same_fields(f"{what}.{rule.id}", each, expected)
            review = self.triggers or self.own_triggers(which.system)
            if len(states) == len(beside):
                state = State.MANUAL_REVIEW if review else worst(states)
                self.tally.holds(f"{what}.state", row.get("state"), state.value)

    def _beside(self, which: Which, rung: Rung, rule: VerificationCriterion) -> CriterionResult | None:
        told = next(
            (e for e in self.told.criteria if (e.system or "", e.id) == (which.system, rule.id)), None
        )
        if told is None:
            return None
        out = self.left_out(told)
        grouped = tuple(each for each in out if each.column == self.plan.group)
        engine = self._engine(which.system, (tuple(each for each in out if each not in grouped), grouped))
        engine.triggers += self.own_triggers(which.system)
        return cast("CriterionResult", engine.criterion(rung, rule))

    def noted(self) -> Mapping[str, Mapping[str, object] | None]:
        """Return what notes say of the assumptions and of the rung that decides."""
        assumed = self.table.unit is None and not self.table.cluster
        last = self.ids[-1]
        return {
            "comparisons-independent": {} if assumed else None,
            "verdict-of-rung": {"rung": last} if last else None,
        }


def _rate_of(metric: str) -> Rate:
    return "false_match" if metric.startswith("false_match") else "false_non_match"
