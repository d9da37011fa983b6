"""Recall and protective failure computed again: shares by stratum, differences, and systems in pairs."""

from collections.abc import Sequence
from dataclasses import replace

from lacre.analyses.criteria import decide, worst_group_rule
from lacre.analyses.detection import DEFAULT_RESAMPLES, DEFAULT_SEED, UNWEIGHTED
from lacre.analyses.judging import Number, decide_number
from lacre.analyses.pairing import Asked, Compared, decide as decide_pair
from lacre.analyses.reasons import Reason
from lacre.analyses.recomputing.base import Again
from lacre.analyses.recomputing.held import How
from lacre.analyses.recomputing.paired import PairAgain, check_adjusted, told_pair
from lacre.analyses.recomputing.tally import close
from lacre.analyses.told import CriterionTold, EstimateTold, Key, LineTold
from lacre.analyses.verdict import CriterionResult, Line, State, worst
from lacre.protocol.kinds.detection import DetectionPlan
from lacre.protocol.kinds.parts import RateCriterion
from lacre.stats.bootstrap import least_resamples

PLAIN = frozenset(UNWEIGHTED.items())
WEIGHTED = (
    "no-draw", "bad-weights", "weights-not-drawn", "lonely-stratum", "unsampled-stratum", "no-variance",
)  # fmt: skip
"""Why a weighted share may have no interval."""


class SharesAgain(Again[DetectionPlan]):
    """A share of cases, in all and by stratum."""

    @property
    def weighted(self) -> bool:
        """Whether cases weigh differently."""
        return self.plan.weights is not None

    def wanted(self) -> list[Key]:
        """Return what every share and every difference is found by."""
        found = []
        for system in self.systems:
            for names in ((), *self.plan.by):
                for group in self.groups(names):
                    key = Key(self.plan.rate, system, frozenset(group))
                    found += [key, key._replace(details=PLAIN)] if self.weighted else [key]
            found += [self.key_between(rule, system) for rule in self.plan.rules if rule.between is not None]
        return found

    @staticmethod
    def key_between(rule: RateCriterion, system: str) -> Key:
        """Return what a difference of two strata is found by."""
        assert rule.between is not None
        first, second = (frozenset(stratum.items()) for stratum in rule.between)
        return Key(rule.metric, system, first, second)

    def rules(self) -> list[tuple[str, RateCriterion]]:
        """Return every criterion: of each system, then those on two."""
        single = [rule for rule in self.plan.rules if rule.systems is None]
        double = [("", rule) for rule in self.plan.rules if rule.systems is not None]
        return [*((system, rule) for system in self.systems for rule in single), *double]

    # --- numbers

    def estimate(self, what: str, told: EstimateTold) -> None:
        """Hold one share or difference."""
        if told.versus is not None:
            self._difference(what, told)
        elif self.weighted and not told.details:
            self._weigh(what, told)
        else:
            self.counted(what, told, self.how(tuple(told.group)), self.few, self.crossed)

    def how(self, names: Sequence[str]) -> How:
        """Return how the shares of a crossing are given."""
        asked = [rule.by for rule in self.plan.rules if rule.worst_group is not None and rule.by is not None]
        divided = len(self.groups(names)) if any(set(by) == set(names) for by in asked) else 1
        blanks = "blanks-worst-case" if self.plan.event.blank == "worst_case" else None
        return How(self.plan.interval, self.alpha / divided, divided, self.clustered, blanks)

    def _weigh(self, what: str, told: EstimateTold) -> None:
        plain = self.answers.get(told.key._replace(details=PLAIN))
        if plain is not None and not plain.withheld:
            self.tally.holds(f"{what}.denominator", told.denominator, plain.denominator)
        if told.value is None:
            design = (*self.crossed, *(WEIGHTED if not self.crossed else ()))
            code = "" if told.note is None else told.note.code
            first = (code,) if code in design and (self.crossed or code != "no-variance") else ()
            self.absence(what, told, (*self.few, *WEIGHTED), self.crossed or first)
            return
        how = self.how(tuple(told.group))._replace(effective=True)
        fair = self.tally.holds(f"{what}.confidence", told.confidence, self.confidence)
        fair &= self.tally.holds(f"{what}.simultaneous", told.simultaneous, how.simultaneous)
        fair &= self.tally.holds(f"{what}.method", told.method, f"Horvitz-Thompson, {how.name}")
        fair &= self.tally.holds(f"{what}.scale", told.scale, "share")
        fair &= self.tally.holds(f"{what}.zero_bound", told.zero_bound is not None, told.value == 0)
        self.tally.beyond += 1
        if plain is not None and plain.numerator is not None and plain.denominator is not None:
            events, cases, missing = plain.numerator, plain.denominator, plain.missing
            fits = (told.value == 0) == (events == 0) and (told.value == 1) == (events == cases)
            fair &= self.tally.fits(f"{what}.value", told.value, f"of {events}/{cases}", fits=fits)
            if missing:  # its ends are of two sizes
                self.ordered(what, told)
                return
        if self.ordered(what, told) and fair:
            self.of_one_size(what, told, how, told.value)

    def _difference(self, what: str, told: EstimateTold) -> None:
        if told.value is None and told.low is None:
            weighted = WEIGHTED if self.weighted else ()
            few = ("too-few-clusters", "resamples-undefined", "no-variance", "no-cases")
            code = "" if told.note is None else told.note.code
            if code == "no-cases" and not self.crossed:
                self.tally.beyond += self.tally.fits(what, "numbers", "-", fits=told.bare)
                return  # held against its strata where its criterion is
            self.absence(what, told, few, self.crossed or tuple(c for c in weighted if c == code))
            return
        planned = self.plan.bootstrap
        resamples = DEFAULT_RESAMPLES if planned is None else planned.resamples
        seed = DEFAULT_SEED if planned is None else planned.seed
        resamples = max(resamples, least_resamples(self.alpha))
        method = f"bootstrap, percentile, {resamples} resamples, seed {seed}"
        fair = self.tally.holds(
            f"{what}.method", told.method, f"cluster {method}" if self.clustered else method
        )
        fair &= self.tally.holds(f"{what}.confidence", told.confidence, self.confidence)
        fair &= self.tally.holds(f"{what}.simultaneous", told.simultaneous, 1)
        fair &= self.tally.holds(f"{what}.scale", told.scale, "difference")
        fair &= self.tally.holds(f"{what}.zero_bound", told.zero_bound, None)
        self.tally.estimates += fair & self.ordered(what, told, least=-1.0)
        self.tally.beyond += 1

    def more(self) -> None:
        """Strata add up, and so do rows; pairs of systems are compared as they are counted."""
        plan = self.plan
        details = PLAIN if self.weighted else frozenset()
        columns = {*self.table.cluster, *plan.population()}
        left_out = plan.event.blank == "left_out"
        columns |= {plan.event.reads} if left_out else set()
        for system in self.systems:
            whole = self.answers.get(Key(plan.rate, system, frozenset(), None, details))
            for names in plan.by:
                keys = [
                    Key(plan.rate, system, frozenset(group), None, details) for group in self.groups(names)
                ]
                self.adds_up(whole, names, [self.answers.get(key) for key in keys], exact=True)
            if (
                whole is not None
                and whole.denominator is not None
                and not columns & {n for by in plan.by for n in by}
            ):
                uncounted = bool(plan.population())
                self.rows_fit(whole.denominator, columns, exact=not uncounted, uncounted=uncounted)
        self.pairs = self._pairs()

    def _pairs(self) -> dict[str, Compared]:
        """Hold the table "paired" and return its rows by the criterion each is of."""
        rules = [rule for rule in self.plan.rules if rule.systems is not None]
        rows = self.told.tables.get("paired", [])
        wanted = [list(rule.systems or ()) for rule in rules]
        stated = [row.get("systems") for row in rows]
        if not self.tally.holds(f"{self.name}.paired", stated, wanted):
            return {}
        planned = self.plan.bootstrap
        asked = Asked(
            alpha=self.alpha, confidence=self.confidence, family=len(rules),
            resamples=DEFAULT_RESAMPLES if planned is None else planned.resamples,
            seed=DEFAULT_SEED if planned is None else planned.seed,
        )  # fmt: skip
        obstacle = "weighted-sample" if self.weighted else next(iter(self.crossed), None)
        found = {}
        for rule, row in zip(rules, rows, strict=True):
            what = f"{self.name}.paired.{rule.id}"
            told = told_pair(what, row, self.tally)
            if told is not None:
                one = PairAgain(
                    what, told, asked, self.tally, clustered=self.clustered, sign=1, obstacle=obstacle
                )
                found[rule.id] = one.go()
                self._margins(what, rule, found[rule.id])
        check_adjusted(f"{self.name}.paired", list(found.items()), self.tally)
        return found

    def _margins(self, what: str, rule: RateCriterion, found: Compared) -> None:
        """Hold a pair's counts against each system's own: they are of the cases that both have."""
        if self.plan.event.blank != "worst_case":
            self.tally.holds(f"{what}.blank", found.blank, 0)
        details = PLAIN if self.weighted else frozenset()
        ones = [
            self.answers.get(Key(self.plan.rate, s, frozenset(), None, details)) for s in rule.systems or ()
        ]
        for one, alone in zip(ones, (found.first_only, found.second_only), strict=True):
            if one is None or one.numerator is None or one.denominator is None:
                continue
            gone = one.denominator - found.pairs
            apart = one.numerator - (found.both + alone)
            fits = 0 <= apart <= gone
            self.tally.fits(what, found.both + alone, f"{one.numerator - gone} - {one.numerator}", fits=fits)

    # --- verdicts

    def decide(self, what: str, told: CriterionTold, rule: RateCriterion) -> CriterionResult | None:
        """Decide one criterion."""
        if rule.systems is not None:
            return self._on_systems(told, rule)
        if rule.worst_group is not None:
            return self._on_groups(what, told, rule)
        if rule.between is not None:
            return self._on_strata(what, told, rule)
        if not self.fit(what, told, [()]):
            return None
        system = told.system or ""
        answer = self.answers.get(Key(self.plan.rate, system, frozenset()))
        if answer is None or answer.withheld:
            return None
        line = self._line(told.groups[0], answer, system)
        absent = None if answer.value is not None or answer.note is None else answer.note.reason
        number = Number(line.value, line.low, line.high, absent)
        return self._number(told, rule, number, (line,))

    def _number(
        self, told: CriterionTold, rule: RateCriterion, number: Number, lines: tuple[Line, ...]
    ) -> CriterionResult:
        system = told.system or ""
        return decide_number(
            rule, number, system=system, rows=self.told.rows, left_out=self.left_out(told),
            review=self.review_of(system), lines=lines,
        )  # fmt: skip

    def _line(self, told: LineTold, answer: EstimateTold, system: str) -> Line:
        """Return the line of a share; of a weighted one the counts are those of the plain one beside it."""
        line = self.described(tuple(told.group.items()), answer)
        plain = self.answers.get(Key(self.plan.rate, system, frozenset(told.group.items()), None, PLAIN))
        if self.weighted and line.value is not None and plain is not None:
            counts = plain.numerator if plain.numerator is not None else told.numerator
            missing = plain.missing if plain.numerator is not None else told.missing
            return replace(line, numerator=counts, missing=missing)
        return line

    def _on_groups(self, what: str, told: CriterionTold, rule: RateCriterion) -> CriterionResult | None:
        assert rule.by is not None
        assert rule.worst_group is not None
        names = next(names for names in self.plan.by if set(names) == set(rule.by))
        groups = self.groups(names)
        if not self.fit(what, told, groups):
            return None
        system = told.system or ""
        for line in told.groups:
            key = Key(self.plan.rate, system, frozenset(line.group.items()))
            if self.weighted:
                self.same_line(what, line, self.answers.get(key), "value", "low", "high")
                key = key._replace(details=PLAIN)
                absent = line.numerator is None
                names_of = ("denominator",) if absent else ("numerator", "denominator", "missing")
                self.same_line(what, line, self.answers.get(key), *names_of)
            else:
                self.same_line(what, line, self.answers.get(key))
        obstacle = self._obstacle(told)
        self._strata_left_out(what, told, system)
        whole = self.answers.get(Key(self.plan.rate, system, frozenset()))
        lacks = whole.note.fields if obstacle and whole is not None and whole.note is not None else {}
        family = self.told_family(told, rule.metric, groups, obstacle, lacks=lacks)
        return decide(
            rule, worst_group_rule(rule.worst_group), family, min_cell=rule.min_cell, rows=self.told.rows,
            left_out=self.left_out(told), system=system, review=self.review_of(system),
        )  # fmt: skip

    def _obstacle(self, told: CriterionTold) -> str | None:
        """Return why the design allows no interval: crossed clusters by the plan, what weights lack by the answers."""
        if self.crossed:
            return self.crossed[0]
        whole = self.answers.get(Key(self.plan.rate, told.system or "", frozenset()))
        note = None if whole is None or whole.value is not None else whole.note
        return note.code if note is not None and self.weighted and note.code in WEIGHTED[:-1] else None

    def _strata_left_out(self, what: str, told: CriterionTold, system: str) -> None:
        """The cases in no stratum are those that the criterion leaves out for its strata."""
        whole = self.answers.get(
            Key(self.plan.rate, system, frozenset(), None, PLAIN if self.weighted else frozenset())
        )
        cases = [line.denominator for line in told.groups]
        if whole is None or whole.denominator is None or None in cases:
            return
        names = {name for line in told.groups for name in line.group}
        gone = sum(each.count for each in told.left_out if each.column in names and each.reason != "excluded")
        inside = sum(each for each in cases if each is not None)
        self.tally.holds(f"{what}.left_out", gone, whole.denominator - inside)

    def _on_strata(self, what: str, told: CriterionTold, rule: RateCriterion) -> CriterionResult | None:
        assert rule.between is not None
        system = told.system or ""
        answer = self.answers.get(self.key_between(rule, system))
        groups = [tuple(stratum.items()) for stratum in rule.between]
        if answer is None or answer.withheld or not self.fit(what, told, groups):
            return None
        for line in told.groups:
            self._stratum(what, line, system)
        first, second = told.groups
        cases = (first.denominator or 0) + (second.denominator or 0)
        self.tally.holds(f"{what}.denominator", answer.denominator, cases)
        empty = not first.denominator or not second.denominator
        noted = answer.note is not None and answer.note.code == "no-cases"
        if not self._obstacle(told):
            self.tally.holds(f"{what}.no-cases", noted, empty)
        if first.value is not None and second.value is not None:
            blanks = (first.missing or 0) + (second.missing or 0)
            self._apart(what, answer, first.value - second.value, blanks)
        number = Number(answer.value, answer.low, answer.high, scale="difference")
        if answer.low is None or answer.high is None:
            obstacle = Reason("no-variance") if answer.note is None else answer.note.reason
            number = Number(obstacle=obstacle, scale="difference")
        lines = tuple(self._stratum_line(line) for line in told.groups)
        return self._number(told, rule, number, lines)

    def _apart(self, what: str, answer: EstimateTold, apart: float, blanks: int) -> None:
        """Hold a difference against its two shares; where an outcome is missing it has bounds alone."""
        if answer.low is None:
            return
        if answer.value is None:
            missing = self.plan.event.blank != "not_detected"
            self.tally.fits(f"{what}.value", None, str(apart), fits=missing)
            return
        fits = close(answer.value, apart) and not blanks
        self.tally.fits(f"{what}.value", answer.value, "-" if blanks else str(apart), fits=fits)

    def _stratum(self, what: str, line: LineTold, system: str) -> None:
        """Hold the share of one stratum of a difference, which no other shares its error rate with."""
        group = frozenset(line.group.items())
        key = Key(self.plan.rate, system, group, None, PLAIN if self.weighted else frozenset())
        beside = self.answers.get(key)
        if line.numerator is None:
            self.same_line(what, line, beside, "denominator")
            return
        self.same_line(what, line, beside, "numerator", "denominator", "missing")
        if self.weighted:
            return
        told = EstimateTold(
            metric=self.plan.rate, system=system or None, group=line.group, numerator=line.numerator,
            denominator=line.denominator, missing=line.missing or 0, value=line.value, low=line.low, high=line.high,
            confidence=self.confidence, method=None, zero_bound=None, note=None,
        )  # fmt: skip
        self.line_of(f"{what}.{'.'.join(line.group.values())}", told, self.how(())._replace(alpha=self.alpha))

    def _stratum_line(self, told: LineTold) -> Line:
        known = told.value is not None
        return Line(
            group=tuple(told.group.items()),
            state=State.PASS if known else State.INSUFFICIENT_EVIDENCE,
            reason=Reason("described") if known else self._absent(told),
            numerator=told.numerator, denominator=told.denominator, missing=told.missing,
            value=told.value, low=told.low, high=told.high,
        )  # fmt: skip

    def _absent(self, told: LineTold) -> Reason:
        """Return why a stratum has no share: as the plan has it, else as it is told where it may be so."""
        code, cases = told.reason.code, told.denominator
        if self.crossed:
            return Reason("crossed-clusters")
        if self.weighted and code in WEIGHTED:
            return told.reason.reason
        if not cases:
            return Reason("no-cases")
        return told.reason.reason if code in self.few else Reason("described")

    def _on_systems(self, told: CriterionTold, rule: RateCriterion) -> CriterionResult | None:
        found = self.pairs.get(rule.id)
        if found is None or rule.systems is None:
            return None
        return decide_pair(
            rule, found, system="", rows=self.told.rows, left_out=self.left_out(told),
            review=next(iter(self.triggers), None),
            details={"first": rule.systems[0], "second": rule.systems[1]},
        )  # fmt: skip

    def across(self, states: Sequence[tuple[str, State]]) -> State:
        """Return the state of all; the criteria on two systems stand beside those of each."""
        if self.triggers:
            return State.MANUAL_REVIEW
        return worst(state for _system, state in states)
