"""The group-fairness gate computed again: four rates of each declared group, and the criteria on them."""

from collections.abc import Iterator, Sequence

from lacre.analyses.criteria import decide, rule_of
from lacre.analyses.reasons import Reason
from lacre.analyses.recomputing.base import Again
from lacre.analyses.recomputing.held import How
from lacre.analyses.told import CriterionTold, EstimateTold, Key
from lacre.analyses.verdict import CriterionResult
from lacre.protocol.kinds.group_fairness import Criterion, GroupFairnessPlan
from lacre.stats.fairness import RATES


class GroupsAgain(Again[GroupFairnessPlan]):
    """A group-fairness gate."""

    def families(self) -> Iterator[tuple[str, ...]]:
        """Yield everybody, each attribute, each intersection."""
        yield ()
        yield from ((name,) for name in self.plan.attributes)
        yield from (tuple(names) for names in self.plan.intersections)

    def wanted(self) -> list[Key]:
        """Return what every rate is found by."""
        return [
            Key(rate, system, frozenset(group))
            for system in self.systems
            for attributes in self.families()
            for group in self.groups(attributes)
            for rate in RATES
        ]

    def rules(self) -> list[tuple[str, Criterion]]:
        """Return every criterion, of each system."""
        return [(system, rule) for system in self.systems for rule in self.plan.criteria]

    def estimate(self, what: str, told: EstimateTold) -> None:
        """Hold one rate."""
        if told.numerator is None:
            self.absence(what, told, self._absent())
            return
        groups = len(self.groups(tuple(told.group)))
        how = How("clopper_pearson", self.alpha / groups, groups, self.clustered, "missing-predictions")
        self.counted(what, told, how)

    def _absent(self) -> tuple[str, ...]:
        obstacle = self._obstacle()
        return self.few if obstacle is None else (obstacle,)

    def _obstacle(self) -> str | None:
        roles = {role for column in self.table.columns.values() for role in column.is_}
        if roles & {"inclusion_probability", "weight"}:
            return "weighted-sample"
        return "crossed-clusters" if len(self.table.cluster) > 1 else None

    def more(self) -> None:
        """In every group, errors are the false positives and the false negatives together; groups add up."""
        for system in self.systems:
            for attributes in self.families():
                groups = [frozenset(group) for group in self.groups(attributes)]
                for group in groups:
                    self._errors(system, group)
                for rate in RATES if attributes else ():
                    whole = self.answers.get(Key(rate, system, frozenset()))
                    parts = [self.answers.get(Key(rate, system, group)) for group in groups]
                    self.adds_up(whole, attributes, parts, exact=False)

    def _errors(self, system: str, group: frozenset[tuple[str, str]]) -> None:
        whole, *parts = (
            self.answers.get(Key(rate, system, group))
            for rate in ("error", "false_positive", "false_negative")
        )
        if whole is None or None in parts or whole.denominator is None:
            return
        for name in ("numerator", "denominator", "missing"):
            each = [getattr(part, name) for part in parts]
            stated = getattr(whole, name)
            if stated is not None and None not in each:
                self.tally.holds(f"{self.called(whole.key)}.{name}", stated, sum(each))

    def own_triggers(self, system: str) -> list[Reason]:
        """Return the reason to review that most predictions contradict their label."""
        errors = self.answers.get(Key("error", system, frozenset()))
        if errors is None or errors.numerator is None or errors.denominator is None:
            told = any(note.code == "error-above-half" for note in self.told.notes)  # as it is told
        else:
            told = 2 * errors.numerator > errors.denominator - errors.missing
        return [Reason("error-above-half")] if told else []

    def decide(self, what: str, told: CriterionTold, rule: Criterion) -> CriterionResult | None:
        """Decide a criterion from its lines, which are those of the estimates."""
        by: Sequence[str] = tuple(rule.by)
        groups = self.groups(by)
        if not self.fit(what, told, groups):
            return None
        for line in told.groups:
            key = Key(rule.metric, told.system or "", frozenset(line.group.items()))
            self.same_line(what, line, self.answers.get(key))
        return decide(
            rule, rule_of(rule), self.told_family(told, rule.metric, groups, self._obstacle()),
            min_cell=self.plan.min_cell, rows=self.told.rows, left_out=self.left_out(told),
            system=told.system or "", review=self.review_of(told.system or ""),
        )  # fmt: skip
