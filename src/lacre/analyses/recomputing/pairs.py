"""Paired variants computed again: what is detected of each variant, and every comparison from its counts."""

from collections.abc import Mapping, Sequence
from typing import Any

from lacre.analyses.detection import DEFAULT_RESAMPLES, DEFAULT_SEED
from lacre.analyses.estimate import Group
from lacre.analyses.paired_variants import METRIC, RATE
from lacre.analyses.pairing import Asked, Compared, decide as decide_pair
from lacre.analyses.reasons import Reason
from lacre.analyses.recomputing.base import Again, bare_line
from lacre.analyses.recomputing.held import How
from lacre.analyses.recomputing.paired import PairAgain, check_adjusted, told_pair
from lacre.analyses.told import CriterionTold, EstimateTold, Key
from lacre.analyses.verdict import CriterionResult, State, worst
from lacre.protocol.kinds.paired_variants import (
    PairedCriterion,
    PairedVariantsPlan,
    comparisons,
    system_comparisons,
    variant_column,
    variant_values,
)

Of = tuple[str, str, str]
"""A comparison: its system and nothing, or two systems, and the variant."""


class PairsAgain(Again[PairedVariantsPlan]):
    """The same items under several variants."""

    @property
    def column(self) -> str:
        """The column that tells variants apart."""
        return variant_column(self.plan, self.table) or ""

    @property
    def variants(self) -> tuple[str, ...]:
        """The declared variants."""
        return variant_values(self.plan, self.table)

    @property
    def compared(self) -> list[str]:
        """The variants that are compared with the baseline."""
        return [value for value in self.variants if value != self.plan.baseline]

    def double(self) -> list[Of]:
        """Return every comparison of two systems, once."""
        rules = [rule for rule in self.plan.criteria if rule.systems is not None]
        return list(dict.fromkeys(self._of(rule, "") for rule in rules))

    def _of(self, rule: PairedCriterion, system: str) -> Of:
        variant = rule.variant or self.plan.baseline
        return (system, "", variant) if rule.systems is None else (*rule.systems, variant)

    def group(self, variant: str) -> Group:
        """Return a variant as a group."""
        return ((self.column, variant),)

    def detected(self, system: str, variant: str | None = None) -> EstimateTold | None:
        """Return what is told of the share detected: under one variant, or of all rows."""
        group = frozenset() if variant is None else frozenset(self.group(variant))
        return self.answers.get(Key(RATE, system, group))

    def key(self, of: Of) -> Key:
        """Return what a difference is found by."""
        first, second, variant = of
        group = frozenset(self.group(variant))
        if not second:
            return Key(METRIC, first, group, frozenset(self.group(self.plan.baseline)))
        return Key(METRIC, "", group, None, frozenset({"first": first, "second": second}.items()))

    def wanted(self) -> list[Key]:
        """Return what every share and every difference is found by."""
        found = []
        for system in self.systems:
            found.append(Key(RATE, system, frozenset()))
            found += [Key(RATE, system, frozenset(self.group(value))) for value in self.variants]
            found += [self.key((system, "", variant)) for variant in self.compared]
        return [*found, *map(self.key, self.double())]

    def rules(self) -> list[tuple[str, PairedCriterion]]:
        """Return every criterion: of each system, then those on two."""
        single = [rule for rule in self.plan.criteria if rule.systems is None]
        double = [("", rule) for rule in self.plan.criteria if rule.systems is not None]
        return [*((system, rule) for system in self.systems for rule in single), *double]

    # --- numbers

    def estimate(self, what: str, told: EstimateTold) -> None:
        """Hold one share; a difference is held against its row."""
        if told.metric != RATE:
            return
        pooled = not told.group  # items are clusters of all rows
        blanks = "blanks-worst-case" if self.plan.detected.blank == "worst_case" else None
        how = How("wilson", self.alpha, 1, bool(self.table.cluster) or pooled, blanks)
        self.counted(what, told, how, ("too-few-clusters",) if how.effective else ())

    def more(self) -> None:
        """Variants add up; every comparison follows from its counts."""
        columns = {self.column, *self.table.cluster}
        columns |= {self.plan.detected.reads} if self.plan.detected.blank == "left_out" else set()
        for system in self.systems:
            whole = self.detected(system)
            parts = [self.detected(system, variant) for variant in self.variants]
            if whole is None or whole.denominator is None or whole.withheld:
                continue
            self.rows_fit(whole.denominator, columns)
            for name in ("denominator", "numerator", "missing"):
                each = [None if part is None or part.withheld else getattr(part, name) for part in parts]
                if None not in each and getattr(whole, name) is not None:
                    total = sum(int(n or 0) for n in each)
                    self.tally.holds(f"{self.called(whole.key)}.{name}", getattr(whole, name), total)
        self.pairs = self._pairs()

    def _pairs(self) -> dict[Of, Compared]:
        """Hold the table "paired"; return its rows by what they compare."""
        wanted = [(system, "", variant) for system in self.systems for variant in self.compared]
        double = self.double()
        rows = self.told.tables.get("paired", [])
        if not self.tally.holds(f"{self.name}.paired", [*map(_of_row, rows)], [*wanted, *double]):
            return {}
        found: dict[Of, Compared] = {}
        for of, row in zip((*wanted, *double), rows, strict=True):
            if row.get("withheld") is True:
                self.tally.withheld += 1
                continue
            made = self._pair(of, row)
            if made is not None:
                found[of] = made
        families = [[(system, "", variant) for variant in self.compared] for system in self.systems]
        for family in (*families, double):
            if all(of in found for of in family):
                check_adjusted(f"{self.name}.paired", [(".".join(filter(None, of)), found[of]) for of in family],
                               self.tally)  # fmt: skip
        return found

    def _pair(self, of: Of, row: Mapping[str, Any]) -> Compared | None:
        what = ".".join(filter(None, (self.name, "paired", *of)))
        named = {"group": dict(self.group(of[2])), "variant": of[2]}
        if not of[1]:
            named |= {"versus": dict(self.group(self.plan.baseline)), "baseline": self.plan.baseline}
        self.tally.same_fields(what, {name: row.get(name) for name in named}, named)
        told = told_pair(what, row, self.tally)
        if told is None:
            return None
        planned, double = self.plan.bootstrap, bool(of[1])
        asked = Asked(
            alpha=self.alpha, confidence=self.confidence,
            family=system_comparisons(self.plan) if double else comparisons(self.plan, self.table),
            test=self.plan.test,
            resamples=DEFAULT_RESAMPLES if planned is None else planned.resamples,
            seed=DEFAULT_SEED if planned is None else planned.seed,
        )  # fmt: skip
        made = PairAgain(
            what,
            told,
            asked,
            self.tally,
            clustered=bool(self.table.cluster),
            sign=1 if double else -1,
            obstacle=None,
        ).go()
        sides = [(of[0], of[2]), (of[1], of[2])] if double else [(of[0], self.plan.baseline), (of[0], of[2])]
        self._margins(what, made, [self.detected(*side) for side in sides])
        self._answer(what, of, made)
        return made

    def _margins(self, what: str, made: Compared, sides: Sequence[EstimateTold | None]) -> None:
        """Hold counts of pairs against the shares of each side: pairs are some of its cases."""
        if self.plan.detected.blank != "worst_case":
            self.tally.holds(f"{what}.blank", made.blank, 0)
        for side, alone in zip(sides, (made.first_only, made.second_only), strict=True):
            if side is None or side.numerator is None or side.denominator is None:
                continue
            gone = side.denominator - made.pairs
            apart = side.numerator - (made.both + alone)
            self.tally.fits(what, made.both + alone, f"{side.numerator - gone} - {side.numerator}",
                            fits=0 <= apart <= gone)  # fmt: skip
        missing = [side.missing for side in sides if side is not None and side.numerator is not None]
        whole = [side.denominator == made.pairs for side in sides if side is not None]
        if len(missing) == len(whole) == 2:
            least = max(missing) if all(whole) else 0
            self.tally.fits(f"{what}.blank", made.blank, f"{least} - {sum(missing)}",
                            fits=least <= made.blank <= sum(missing))  # fmt: skip

    def _answer(self, what: str, of: Of, made: Compared) -> None:
        """Hold the difference among the estimates, which says what the row does."""
        answer = self.answers.get(self.key(of))
        if answer is None or answer.withheld:
            return
        absent = made.low is None or made.high is None or made.method is None
        expected: dict[str, object] = {
            "denominator": made.pairs,
            "value": None if absent else made.difference,
            "low": made.low,
            "high": made.high,
            "confidence": None if absent else made.asked.confidence,
            "simultaneous": 1 if absent else made.asked.family,
            "method": None if absent else made.method,
            "scale": None if absent else "difference",
            "numerator": None,
            "zero_bound": None,
        }
        for name, value in expected.items():
            self.tally.holds(f"{what}.estimate.{name}", getattr(answer, name), value)
        note = made.note or (Reason("no-pairs") if absent else None)
        self.tally.holds(f"{what}.estimate.note", answer.note and answer.note.code, note and note.code)
        if answer.note is not None and note is not None:
            self.tally.same_fields(f"{what}.estimate.note", answer.note.fields, note.fields)

    def noted(self) -> Mapping[str, Mapping[str, object] | None]:
        """Return what notes say of the assumptions and of the family."""
        count = len(self.compared)
        fields = {"count": count} if count > 1 else None
        holm = self.plan.multiplicity == "holm"
        return {
            "independence-assumed": None if self.table.cluster else {},
            "paired-holm": fields if holm else None,
            "paired-unadjusted": None if holm else fields,
        }

    # --- verdicts

    def own_triggers(self, system: str) -> list[Reason]:
        """Return the reason to review that most of the baseline is not detected."""
        baseline = self.plan.baseline
        told = self.detected(system, baseline)
        if told is None or told.numerator is None or told.denominator is None:
            missed = any(note.code == "baseline-missed" for note in self.told.notes)  # as it is told
        else:
            predicted = told.denominator - told.missing
            missed = 2 * (predicted - told.numerator) > predicted
        return [Reason("baseline-missed", {"variant": baseline})] if missed else []

    def decide(self, what: str, told: CriterionTold, rule: PairedCriterion) -> CriterionResult | None:
        """Decide one criterion from its row, by the test or by the interval."""
        system = told.system or ""
        of = self._of(rule, system)
        found = self.pairs.get(of)
        if found is None:
            return None
        left_out = self.left_out(told)
        rows = found.pairs + sum(each.count for each in left_out)  # items
        self.tally.fits(f"{what}.left_out", rows, f"<= {self.told.rows}", fits=rows <= self.told.rows)
        self._as_many(what, system, rows)
        details: dict[str, str]
        if rule.systems is None:
            names = (self.plan.baseline, of[2])
            lines = tuple(self.described(self.group(name), self.detected(system, name)) for name in names)
            details, review = {"variant": of[2]}, self.review_of(system)
        else:
            line = self.described(self.group(of[2]), self.detected(self.systems[0], of[2]))
            lines = (bare_line(line, found.pairs),)
            details = {"first": of[0], "second": of[1], "variant": of[2]}
            review = next((one for name in self.systems if (one := self.review_of(name))), None)
        return decide_pair(
            rule,
            found,
            system=system,
            rows=rows,
            left_out=left_out,
            review=review,
            lines=lines,
            details=details,
        )

    def _as_many(self, what: str, system: str, rows: int) -> None:
        """All criteria are on the same items, paired or not."""
        first = self.__dict__.setdefault("items", {}).setdefault(system or self.systems[0], rows)
        self.tally.holds(f"{what}.left_out", rows, first)

    def across(self, states: Sequence[tuple[str, State]]) -> State:
        """Return the state of all; the criteria on two systems stand beside those of each."""
        single = super().across(states)
        if single is State.MANUAL_REVIEW or not self.double():
            return single
        return worst([single, *(state for system, state in states if system not in self.systems)])


def _of_row(row: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what a row compares."""
    systems, group = row.get("systems"), row.get("group")
    variant = next(iter(group.values()), None) if isinstance(group, dict) else None
    if isinstance(systems, list):
        return (*systems, variant)
    return (row.get("system") or "", "", variant)
