"""Verifications computed again: every rate, ratio and verdict of every rung, from the counts of the table "groups".

The engine's own analysis is run on these counts in place of the scores: what needs scores (thresholds of a group's
own, curves, resampled intervals) is as the result tells it, and held only against what it must fit.
"""

from collections.abc import Collection, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np
from pydantic import ValidationError

from lacre.analyses.comparisons import RATES, Comparisons, Rates
from lacre.analyses.disclosure import min_count
from lacre.analyses.estimate import Answer, Group, Withheld
from lacre.analyses.ladder import Rung, details_of, planned
from lacre.analyses.reasons import Reason
from lacre.analyses.recomputing.base import MOST, Again
from lacre.analyses.recomputing.tally import close
from lacre.analyses.told import CriterionTold, EstimateTold, Key, Told
from lacre.analyses.verdict import CriterionResult, LeftOut, State, worst
from lacre.analyses.verification import Verification
from lacre.analyses.verification_numbers import FORMS, OTHER, Numbers
from lacre.errors import BareRate
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.verification import VerificationCriterion, VerificationPlan
from lacre.stats.proportions import Interval, wilson
from lacre.stats.thresholds import Rate, floor_of
from lacre.stats.verification import GroupCounts, ThresholdDistance

BOOTSTRAP = "subject bootstrap"
OBSTACLES = ("cohort-overlaps", "cohort-missing", "cohort-degenerate")


class GroupTold(Told):
    """A group's line of the table "groups"."""

    false_match: int
    impostor: int
    false_non_match: int
    genuine: int
    abstained_impostor: int
    abstained_genuine: int
    abstained: int
    false_match_size: float | None
    false_non_match_size: float | None
    false_match_subjects: int | None
    false_non_match_subjects: int | None
    false_match_dense: bool
    false_non_match_dense: bool

    @property
    def counts(self) -> tuple[int, ...]:
        """The counts, in the engine's order."""
        return tuple(getattr(self, name) for name in GroupCounts._fields)

    @property
    def fits(self) -> bool:
        """Whether these are counts of comparisons."""
        whole = all(0 <= each <= MOST for each in self.counts)
        inside = self.false_match <= self.impostor and self.false_non_match <= self.genuine
        sizes = [(self.false_match_size, self.impostor), (self.false_non_match_size, self.genuine)]
        sized = all(size is None or 0 <= size <= cases * (1 + 1e-9) for size, cases in sizes)
        return whole and inside and sized


NOTHING = GroupTold(
    false_match=0, impostor=0, false_non_match=0, genuine=0, abstained_impostor=0, abstained_genuine=0, abstained=0,
    false_match_size=None, false_non_match_size=None, false_match_subjects=None, false_non_match_subjects=None,
    false_match_dense=False, false_non_match_dense=False,
)  # fmt: skip
"""In place of a line that is withheld: what others say does not rest on it, or is withheld as well."""


class TargetTold(Told):
    """A group's own threshold for a target, and both rates at it."""

    threshold: float | None
    threshold_low: float | None
    threshold_high: float | None
    events: int | None
    cases: int
    achieved: float | None
    low: float | None
    high: float | None
    other_rate: float | None
    other_events: int | None
    other_cases: int
    other_low: float | None
    other_high: float | None
    unresolved: bool


class Which(NamedTuple):
    """One rung of one system."""

    system: str
    rung: str


class ToldNumbers(Numbers):
    """The numbers of counts that a result tells; those of scores are as it tells them."""

    told: Mapping[Key, EstimateTold]

    def _drawn(self, rung: Rung, rate: Rate, *, everybody: bool) -> Interval | None:
        """Return the intervals that resample subjects, as told, where most of their pairs are there."""
        found = rung.everybody[rate] if everybody else rung.by_group[rate]
        groups = ((),) if everybody else self.read.groups
        ends = np.full((2, len(groups)), np.nan)
        for index, group in enumerate(groups):
            key = Key(rate, self.system, frozenset(group), None, frozenset(details_of(rung).items()))
            for told in (self.told.get(key), self.told.get(key._replace(metric=f"{rate}_beside"))):
                if told is None or told.low is None or told.high is None or BOOTSTRAP not in (told.method or ""):
                    continue
                if found.dense[index] and found.known[index] and told.low <= found.value[index] <= told.high:
                    ends[:, index] = told.low, told.high
        return Interval(*ends) if np.isfinite(ends).any() else None

    def distance(self, rung: Rung, rate: Rate, at: Any) -> ThresholdDistance:
        """Return how far thresholds are apart, as the result tells it."""
        details = frozenset(details_of(rung, target=rate, at=as_float(at)).items())
        told = self.told.get(Key("threshold_distance", self.system, frozenset(), None, details))

        def number(value: float | None, otherwise: float) -> float:
            return otherwise if value is None else value

        if told is None:
            return ThresholdDistance(np.nan, 0.0, np.inf, 0, ())
        low, high = number(told.low, 0.0), number(told.high, np.inf)
        return ThresholdDistance(number(told.value, np.nan), low, high, 0, ())

    def _distance(self, rung: Rung, rate: Rate, at: Any) -> Answer:
        """Return no number: what is told of it is held by itself."""
        details = details_of(rung, target=rate, at=as_float(at))
        return Withheld("threshold_distance", self.system, (), Reason("withheld"), details)

    def hidden(self) -> bool:
        """Tell whether some group is too small for a number to be shown that rests on all."""
        return any(each.withheld for each in self.told.values() if each.metric.endswith("_ratio"))


class ToldVerification(Verification):
    """One system's analysis, of counts that a result tells."""

    def __init__(
        self, again: "LaddersAgain", system: str, left_out: tuple[tuple[LeftOut, ...], tuple[LeftOut, ...]]
    ) -> None:
        self.plan = again.plan
        self.name = again.name
        self.system = system
        self.alpha = again.alpha
        self.confidence = again.confidence
        self.least = min_count(again.protocol)
        whole, ungrouped = left_out
        read = SimpleNamespace(
            rows=again.told.rows, groups=tuple(again.groups([again.plan.group])), whole=whole, ungrouped=ungrouped
        )
        self.read = cast("Comparisons", read)
        numbers = ToldNumbers(again.plan, self.read, system, again.alpha, again.confidence, self.least)
        numbers.told = again.answers
        self.numbers = numbers
        self.triggers = list(again.triggers)


class LaddersAgain(Again[VerificationPlan]):
    """Comparisons by group, on every rung that the read computed."""

    rung: str | None = None
    """The mitigation of training that the read asked for."""

    @property
    def ids(self) -> list[str]:
        """The rungs that the read computed, in order."""
        return ["" if each is None else each.id for each in planned(self.plan, self.rung)]

    @property
    def cells(self) -> list[Group]:
        """Everybody, then each group."""
        return [(), *self.groups([self.plan.group])]

    def details(self, rung: str, **more: str | float) -> frozenset[tuple[str, str | int | float]]:
        """Return a rung's details with more of one number's own."""
        return frozenset({**({"rung": rung} if rung else {}), **more}.items())

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

    def beside(self, document: Mapping[str, Any]) -> None:
        """Take the rung that the read asked for, and the thresholds, by name and system."""
        rung, stated = document.get("rung"), document.get("thresholds")
        if rung is not None and not self.tally.fits("rung", rung, ", ".join(self.plan.training()),
                                                    fits=rung in self.plan.training()):  # fmt: skip
            rung = None
        self.rung = rung
        self.thresholds: dict[tuple[str, str], object] = {}
        for each in stated if isinstance(stated, list) else []:
            if isinstance(each, dict):
                systems = self.systems if each.get("system") is None else (str(each.get("system")),)
                for system in systems:
                    self.thresholds[str(each.get("name")), system] = each.get("value")

    # --- the rungs as they are told

    def go(self) -> None:
        """Rebuild the rungs from what is told, then hold all of it."""
        self.lines: dict[tuple[Which, frozenset[tuple[str, str]]], GroupTold] = {}
        self.hidden: set[Which] = set()
        self.rungs = self._rungs()
        self.built = {which: self._rung(which) for which in self.rungs}
        super().go()

    def _rungs(self) -> dict[Which, Mapping[str, Any]]:
        """Hold the table "rungs": every rung of the plan, and whether it was computed."""
        ids = [each.id for each in self.plan.mitigations] or [""]
        kinds = {each.id: each.kind for each in self.plan.mitigations}
        rows = self.told.tables.get("rungs", [])
        stated = [(row.get("system") or "", row.get("rung") or "", row.get("kind")) for row in rows]
        wanted = [(system, rung, kinds.get(rung)) for system in self.systems for rung in ids]
        if not self.tally.holds(f"{self.name}.rungs", stated, wanted):
            return {}
        named = {Which(of, rung): row for (of, rung, _kind), row in zip(wanted, rows, strict=True)}
        for which, row in named.items():
            if which.rung not in self.ids:
                self.tally.holds(f"{self.name}.rungs.{which.rung}", (row.get("ran"), row.get("state")), (False, None))
        return {which: row for which, row in named.items() if which.rung in self.ids}

    def _obstacle(self, which: Which) -> Reason | None:
        row = self.rungs[which]
        reason = row.get("reason")
        if row.get("ran") is not True and isinstance(reason, dict):
            code, fields = reason.get("code"), reason.get("fields")
            return Reason(str(code), fields if isinstance(fields, dict) else {})
        return None

    def _rung(self, which: Which) -> Rung | None:
        """Return a rung with the counts that its lines tell; None where some are withheld or cannot be read."""
        what = ".".join(filter(None, (self.name, "groups", *which)))
        obstacle, row = self._obstacle(which), self.rungs[which]
        normalised = which.rung in {each.id for each in self.plan.normalised}
        if obstacle is not None:
            self.tally.fits(what, obstacle.code, "an obstacle", fits=normalised and obstacle.code in OBSTACLES)
        self.tally.holds(f"{what}.ran", row.get("ran"), obstacle is None)
        if obstacle is not None:
            lines = [self._empty(which, group) for group in self.cells]
        else:
            lines = self._lines(what, which)
        if any(each is None for each in lines):
            return None
        whole, *groups = [each for each in lines if each is not None]
        unit = None if normalised else getattr(self.table.columns[self.plan.score], "unit", None)
        return Rung(
            id=which.rung, kind=row.get("kind"), score=np.zeros(0), threshold=0.0, unit=unit,
            groups=_counts(groups), whole=_counts([whole]),
            by_group={rate: _rates(groups, rate) for rate in RATES},
            everybody={rate: _rates([whole], rate) for rate in RATES},
            obstacle=obstacle, enrolled=None,
        )  # fmt: skip

    def _empty(self, which: Which, group: Group) -> GroupTold | None:
        """Return a line of a rung without scores: its denominators are those of the estimates."""
        cases = []
        for rate in RATES:
            answer = self.answers.get(Key(rate, which.system, frozenset(group), None, self.details(which.rung)))
            if answer is None or answer.denominator is None:
                return None
            cases.append(answer.denominator)
        return NOTHING.model_copy(update={"impostor": cases[0], "genuine": cases[1]})

    def _lines(self, what: str, which: Which) -> list[GroupTold | None]:
        rows = {name: self._of(name, which) for name in ("groups", "operating", "det")}
        wanted = [dict(group) for group in self.cells]
        lines: list[GroupTold | None] = []
        for name, each in rows.items():
            self.tally.holds(f"{what}.{name}", [row.get("group") for row in each], wanted)
        for row, group in zip(rows["groups"], self.cells, strict=False):
            called = f"{what}.{'.'.join(value for _name, value in group)}"
            if row.get("withheld") is True:
                self.hidden.add(which)
                self.tally.withheld += 1
                self.tally.fits(called, "withheld", "counts", fits=min_count(self.protocol) is not None)
                lines.append(NOTHING if group else None)
                continue
            line = self._line(called, row)
            lines.append(line)
            if line is not None:
                self.lines[which, frozenset(group)] = line
        if which not in self.hidden:
            self._totals(what, lines)
        self._operating(what, which, rows["operating"])
        return lines if len(lines) == len(wanted) else [None]

    def _of(self, name: str, which: Which) -> list[Mapping[str, Any]]:
        """Return a table's lines of one rung; a bare line has no rung, and goes by its place."""
        rows = self.told.tables.get(name, [])
        own = [row for row in rows if (row.get("system") or "") == which.system]
        ran = [each.rung for each in self.rungs if each.system == which.system and self._obstacle(each) is None]
        per = len(own) // max(1, len(ran))
        start = ran.index(which.rung) * per if which.rung in ran else 0
        found = own[start : start + per]
        for row in found:
            if row.get("withheld") is not True:
                self.tally.holds(f"{self.name}.{name}.rung", row.get("rung") or "", which.rung)
        return list(found)

    def _line(self, what: str, row: Mapping[str, Any]) -> GroupTold | None:
        try:
            told = GroupTold.model_validate(dict(row))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            self.tally.differs(f"{what}.{first['loc'][0]}", first["type"], "-")
            return None
        self.tally.holds(f"{what}.abstained", told.abstained, told.abstained_impostor + told.abstained_genuine)
        for rate, cases in (("false_match", told.impostor), ("false_non_match", told.genuine)):
            size, units = getattr(told, f"{rate}_size"), getattr(told, f"{rate}_subjects")
            if self.table.cluster:
                fits = units is not None and 0 <= units <= 2 * cases
                self.tally.fits(f"{what}.{rate}_subjects", units, "subjects", fits=fits)
                self.tally.beyond += 1
                continue
            self.tally.holds(f"{what}.{rate}_subjects", units, None)
            self.tally.holds(f"{what}.{rate}_size", size, float(cases))
            self.tally.holds(f"{what}.{rate}_dense", getattr(told, f"{rate}_dense"), False)
        return told if self.tally.fits(what, told.counts, "counts of comparisons", fits=told.fits) else None

    def _totals(self, what: str, lines: Sequence[GroupTold | None]) -> None:
        """Groups are of everybody: what is left out for want of a group is missing."""
        if not lines or any(each is None for each in lines):
            return
        whole, *groups = [each for each in lines if each is not None]
        gone = [n - sum(each.counts[at] for each in groups) for at, n in enumerate(whole.counts)]
        out = sum(each.count for each in self.told.left_out
                  if each.column == self.plan.group and each.reason != "excluded")  # fmt: skip
        cases = gone[1] + gone[3] + gone[4] + gone[5]
        fits = all(each >= 0 for each in gone) and gone[0] <= gone[1] and gone[2] <= gone[3]
        self.tally.fits(what, gone, f"{out} in no group", fits=fits and cases == out)

    def _operating(self, what: str, which: Which, rows: Sequence[Mapping[str, Any]]) -> None:
        for row, group in zip(rows, self.cells, strict=False):
            line = self.lines.get((which, frozenset(group)))
            if line is None:
                continue
            for name, events, cases in (
                ("fmr", line.false_match, line.impostor),
                ("fnmr", line.false_non_match, line.genuine),
            ):
                expected = events / cases if cases else None
                self.tally.holds(f"{what}.operating.{name}", row.get(name), expected)
            own = next((each.threshold for each in self.plan.mitigations if each.id == which.rung), None)
            value = self.thresholds.get((own or self.plan.threshold, which.system))
            if isinstance(value, float | int):
                self.tally.holds(f"{what}.operating.threshold", row.get("threshold"), value)

    # --- numbers

    def _engine(self, system: str, left_out: tuple[tuple[LeftOut, ...], tuple[LeftOut, ...]] = ((), ())) -> Any:
        return ToldVerification(self, system, left_out)

    def estimate(self, what: str, told: EstimateTold) -> None:
        """Hold a number that only the result has: the others are held where rungs are built."""
        if told.metric == "threshold_distance":
            self._distance(what, told)

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
            self.tally.differs(f"{self.name}.groups", error.message, "counts of rates")
            return
        for answer in answers:
            told = EstimateTold.model_validate(answer.as_json())
            seen.add(told.key)
            if answer.metric != "threshold_distance":
                self._same(which, told)
        own = {("rung", which.rung)} if which.rung else set()
        beside = {key for key in self.answers if key.metric.endswith("_beside") and key.system == which.system}
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
            key = self._ratio_key(which.system, which.rung, _rate_of(key.metric), str(expected.details["form"]))
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
            for row in self._of("targets", which)
            if row.get("target") == told.details.get("target") and row.get("at") == told.details.get("at") and row.get("group")
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
        if self._obstacle(which) is not None:
            return
        wanted = [(rate, at, group) for rate, at in self.asked() for group in self.cells]
        rows = self._of("targets", which)
        what = ".".join(filter(None, (self.name, "targets", *which)))
        if not self.tally.holds(what, [row.get("group") for row in rows], [dict(group) for *_asked, group in wanted]):
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
        least = min_count(self.protocol)
        hidden = least is not None and most < least
        for name in ("threshold", "threshold_low", "threshold_high"):
            if hidden:
                self.tally.holds(f"{what}.{name}", getattr(told, name), None)
        low, value, high = told.threshold_low, told.threshold, told.threshold_high
        ordered = (low is None or value is None or low <= value) and (high is None or value is None or value <= high)
        self.tally.fits(f"{what}.threshold", value, f"{low} - {high}", fits=ordered)
        self.tally.beyond += 1
        self._rate(what, (told.events, told.cases), {"achieved": told.achieved, "low": told.low, "high": told.high})
        beside = {"other_rate": told.other_rate, "other_low": told.other_low, "other_high": told.other_high}
        self._rate(what, (told.other_events, told.other_cases), beside)

    def _rate(self, what: str, counts: tuple[int | None, int], told: Mapping[str, float | None]) -> None:
        events, cases = counts
        (name, value), (low_name, low), (high_name, high) = told.items()
        if events is None or not 0 <= events <= cases <= MOST:
            self.tally.differs(f"{what}.{name}", events, "counts of a rate")
            return
        if not cases:
            for each, number in told.items():
                self.tally.holds(f"{what}.{each}", number, None)
            return
        self.tally.holds(f"{what}.{name}", value, events / cases)
        if self.table.cluster:
            fits = low is None or high is None or 0 <= low <= events / cases <= high <= 1
            self.tally.fits(f"{what}.{low_name}", f"[{low}, {high}]", "an interval", fits=fits)
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
        cases = counts.impostor[0] + counts.genuine[0] + counts.abstained_impostor[0] + counts.abstained_genuine[0]
        self.tally.holds(f"{what}.left_out", sum(each.count for each in whole), self.told.rows - int(cases))

    def _rows(self) -> None:
        """Hold the verdicts that stand side by side: the last rung's are the criteria, the others follow alike."""
        for which, row in self.rungs.items():
            rung, what = self.built[which], ".".join(filter(None, (self.name, "rungs", *which)))
            stated = row.get("criteria")
            beside = [each if isinstance(each, dict) else {} for each in stated] if isinstance(stated, list) else []
            if not self.tally.holds(what, [each.get("id") for each in beside], [r.id for r in self.plan.criteria]):
                continue
            if rung is None:
                continue
            states = []
            for rule, each in zip(self.plan.criteria, beside, strict=True):
                made = self._beside(which, rung, rule)
                if made is None:
                    continue
                if self.hidden and rule.by is not None or self.hidden and rule.target is not None:
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
        told = next((e for e in self.told.criteria if (e.system or "", e.id) == (which.system, rule.id)), None)
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


def _counts(lines: Sequence[GroupTold]) -> GroupCounts:
    return GroupCounts(*(np.array(each, np.int64) for each in zip(*(line.counts for line in lines), strict=True)))


def _rates(lines: Sequence[GroupTold], rate: Rate) -> Rates:
    cases = "impostor" if rate == "false_match" else "genuine"
    sizes = [getattr(line, f"{rate}_size") for line in lines]
    units = [getattr(line, f"{rate}_subjects") for line in lines]
    return Rates(
        events=np.array([getattr(line, rate) for line in lines], np.int64),
        cases=np.array([getattr(line, cases) for line in lines], np.int64),
        size=np.array([np.nan if each is None else each for each in sizes], np.float64),
        units=None if None in units else np.array(units, np.int64),
        dense=np.array([getattr(line, f"{rate}_dense") for line in lines], np.bool_),
    )
