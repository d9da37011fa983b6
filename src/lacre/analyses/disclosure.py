"""Disclosure control: small groups are withheld, and as many more as would let one subtract them back.

An estimate whose denominator is under `min_count` is withheld; since its counts may also follow from others,
by their sums, others are withheld with it, smallest first. What is protected are the numbers of cases with
label 0 and with label 1 of each group, the denominators of the false positive and the false negative rates.
Error and selection rest on both at once, so a group's are shown only where both may be. Whoever reads a
result is taken to know the number of rows, what was left out of each group, and that groups add up: crossed
cells to their margins, margins to everybody, and both labels to the rows.

Source: complementary cell suppression as in Cox 1980 and Willenborg and de Waal 2001, here decided by linear
algebra and a floor on every sum of withheld cells, since sizes are never negative.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from lacre.analyses.estimate import Answer, Group, Withheld
from lacre.analyses.reasons import Reason
from lacre.analyses.result import AnalysisResult
from lacre.analyses.verdict import CriterionResult
from lacre.protocol.models import Protocol

DEFAULT_MIN_COUNT = 5
"""The smallest denominator shown when data are identifiable and the protocol names none."""

MOST_HIDDEN = 1500
"""With more withheld numbers than this the algebra would take minutes: then no crossed cell is shown."""

LAYERS = ("false_positive", "false_negative")
"""The rates whose denominators are the cases with label 0 and with label 1."""


def min_count(protocol: Protocol) -> int | None:
    """Return the smallest denominator that `protocol` lets be shown; None where it withholds nothing."""
    if protocol.disclosure is not None:
        return protocol.disclosure.min_count
    return DEFAULT_MIN_COUNT if protocol.data.identifiable else None


Cell = tuple[str, Group]
"""One protected number: a layer and a group, its pairs sorted so that one group has one name."""


Equation = dict[Cell, int]
"""Coefficients of cells that together come to a number everybody knows."""


def withhold(result: AnalysisResult, least: int) -> AnalysisResult:
    """Return `result` without the estimates that show, or let one compute, a denominator under `least`.

    Verdict states stay; their numbers go where they rest on what is withheld. `result` is of one system.
    """
    sizes = {
        (each.metric, _key(each.group)): each.denominator
        for each in result.estimates
        if each.metric in LAYERS and not isinstance(each, Withheld)
    }
    return _without(result, hidden_cells(sizes, least), least)


def align(result: AnalysisResult) -> AnalysisResult:
    """Return a merged `result` in which what is withheld of one system is withheld of all.

    Their denominators are the same cases. Nothing becomes computable by it: each system's withheld cells stay
    undetermined when more are taken away.
    """
    withheld = [each for each in result.estimates if isinstance(each, Withheld)]
    if not withheld:
        return result
    hidden = {(each.metric, _key(each.group)) for each in withheld if each.metric in LAYERS}
    return _without(result, hidden, int(withheld[0].reason.fields["min_count"]))


def _without(result: AnalysisResult, hidden: set[Cell], least: int) -> AnalysisResult:
    if not hidden:
        return result
    concealed = _Concealed(hidden, Reason("withheld", {"min_count": least}))
    estimates = tuple(concealed.estimate(each) for each in result.estimates)
    count = sum(isinstance(each, Withheld) for each in estimates)
    return replace(
        result,
        estimates=estimates,
        criteria=tuple(concealed.criterion(each) for each in result.criteria),
        calibration=tuple(
            replace(each, cases=None, left_out=None, error=None) if concealed.any(each.group) else each
            for each in result.calibration
        ),
        notes=(
            *(note for note in result.notes if note.code != "estimates-withheld"),
            Reason("estimates-withheld", {"count": count, "min_count": least}),
        ),
    )


def _key(group: Group) -> Group:
    return tuple(sorted(group))


@dataclass(frozen=True)
class _Concealed:
    hidden: set[Cell]
    reason: Reason

    def rate(self, metric: str, group: Group) -> bool:
        """Tell whether a group's rate is withheld."""
        return (metric, _key(group)) in self.hidden if metric in LAYERS else self.any(group)

    def any(self, group: Group) -> bool:
        """Tell whether anything of a group is withheld, and so all that rests on both labels."""
        return any((layer, _key(group)) in self.hidden for layer in LAYERS)

    def estimate(self, answer: Answer) -> Answer:
        if not self.rate(answer.metric, answer.group):
            return answer
        return Withheld(answer.metric, answer.system, answer.group, self.reason)

    def criterion(self, criterion: CriterionResult) -> CriterionResult:
        gone = {i for i, line in enumerate(criterion.lines) if self.rate(criterion.metric, line.group)}
        if not gone:
            return criterion
        lines = tuple(
            replace(
                line, reason=self.reason, numerator=None, denominator=None, missing=None,
                value=None, low=None, high=None,
            )
            if index in gone
            else line
            for index, line in enumerate(criterion.lines)
        )  # fmt: skip
        if criterion.rests_on.isdisjoint(gone):
            return replace(criterion, lines=lines)
        bare = criterion.reason if "low" not in criterion.reason.fields else self.reason
        return replace(criterion, lines=lines, value=None, low=None, high=None, reason=bare)


def hidden_cells(sizes: Mapping[Cell, int], least: int) -> set[Cell]:
    """Return which of `sizes` (layer and group to cases) to withhold so that none under `least` can be known.

    A group's pairs are sorted by attribute. The result holds every size under `least`, no size in it follows
    from those outside it by the sums between groups, and what is withheld of any shown sum is together at
    least `least`.
    """
    hidden = {cell for cell, size in sizes.items() if size < least}
    if not hidden:
        return hidden
    if sum(sizes.get((layer, ()), 0) for layer in LAYERS) < least:
        return set(sizes)
    sums = _Sums(sizes)
    if len(hidden) > MOST_HIDDEN:
        hidden |= {cell for cell in sizes if len(cell[1]) > 1}
        sums = _Sums({cell: size for cell, size in sizes.items() if len(cell[1]) <= 1})
    while True:
        more = sums.short(hidden, least) or sums.derivable(hidden)
        if not more:
            return hidden
        hidden |= more


class _Sums:
    """The sums between groups, as equations whose left side is 0 or the known number of rows.

    An equation maps cells to coefficients: a margin is -1, the cells that add up to it 1. Margins of crossed
    cells that nobody prints take part without a size.
    """

    def __init__(self, sizes: Mapping[Cell, int]) -> None:
        self.sizes = sizes
        self.order = {cell: place for place, cell in enumerate(sizes)}
        sums: dict[tuple[Cell, str], Equation] = {}
        for layer, group in _with_margins(sizes):
            for attribute, _value in group:
                whole = (layer, tuple(pair for pair in group if pair[0] != attribute))
                sums.setdefault((whole, attribute), {whole: -1})[layer, group] = 1
        rows: Equation = {(layer, ()): 1 for layer in LAYERS}
        self.equations: list[Equation] = [*sums.values(), rows]

    def short(self, hidden: set[Cell], least: int) -> set[Cell]:
        """Return one more cell for each shown sum whose withheld cells are together under `least`."""
        more = set()
        for equation in self.equations:
            if not self._unknown((c for c, sign in equation.items() if sign < 0), hidden):
                parts = [cell for cell, sign in equation.items() if sign > 0]
                gone = self._unknown(parts, hidden)
                if gone and sum(self.sizes.get(cell, 0) for cell in gone) < least:
                    more |= self._smallest(set(parts) - gone.keys())
        return more

    def derivable(self, hidden: set[Cell]) -> set[Cell]:
        """Return one more cell to withhold for each withheld one that the shown ones determine.

        A cell is determined if and only if it is 0 in every solution of the equations in which all that is
        shown is 0: in the null space of the unknown cells' columns.
        """
        unknown = [*self._unknown((cell for each in self.equations for cell in each), hidden)]
        places = {cell: place for place, cell in enumerate(unknown)}
        matrix = np.zeros((len(self.equations), len(unknown)))
        for row, equation in enumerate(self.equations):
            for cell, coefficient in equation.items():
                if cell in places:
                    matrix[row, places[cell]] = coefficient
        matrix = matrix[matrix.any(axis=1)]
        _left, scales, right = np.linalg.svd(matrix, full_matrices=True)
        rank = int((scales > 1e-9).sum())
        fixed = np.abs(right[rank:]).max(axis=0, initial=0.0) < 1e-9
        more = set()
        for cell, place in places.items():
            if fixed[place] and cell in self.sizes:
                more |= self._companion(cell, hidden)
        return more

    def _companion(self, cell: Cell, hidden: set[Cell]) -> set[Cell]:
        """Return the smallest shown cell to withhold so that `cell` is no longer determined.

        It comes from a sum in which `cell` alone is unknown, if there is one; beside it rather than above it.
        """
        with_it = [equation for equation in self.equations if cell in equation]
        alone = [equation for equation in with_it if len(self._unknown(equation, hidden)) == 1]
        near = alone or with_it
        beside = {c for each in near for c in each if each[c] == each[cell]}
        for candidates in (beside, {c for each in near for c in each}, self.sizes):
            found = self._smallest(c for c in candidates if c in self.sizes and c not in hidden)
            if found:
                return found
        return set()

    def _unknown(self, cells: Iterable[Cell], hidden: set[Cell]) -> dict[Cell, None]:
        """Return those of `cells` that a reader has no number for, in order."""
        return {cell: None for cell in cells if cell in hidden or cell not in self.sizes}

    def _smallest(self, cells: Iterable[Cell]) -> set[Cell]:
        chosen = min(cells, key=lambda cell: (self.sizes[cell], self.order[cell]), default=None)
        return set() if chosen is None else {chosen}


def _with_margins(sizes: Iterable[Cell]) -> dict[Cell, None]:
    """Return the cells and every margin of theirs, in order."""
    cells = dict.fromkeys(sizes)
    for layer, group in list(cells):
        for count in range(len(group)):
            cells.update(dict.fromkeys((layer, some) for some in combinations(group, count)))
    return cells
