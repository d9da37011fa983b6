"""Which counts to withhold so that the small ones among them cannot be computed from the rest.

Whoever reads a result is taken to know the number of rows, what was left out of each group, and that groups
add up: crossed cells to their margins, margins to everybody, and both labels to a group's cases. What is
withheld must follow from none of this. Greedy, so it may withhold more than the fewest possible.

Source: complementary cell suppression as in Cox 1980 and Willenborg and de Waal 2001, here decided by linear
algebra and a floor on every sum of withheld cells, since sizes are never negative.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from lacre.analyses.estimate import Group

LAYERS = ("false_positive", "false_negative")
"""The rates whose denominators are a group's cases with label 0 and with label 1."""

BOTH = "error"
"""The rate whose denominator is a group's cases with either."""

MOST_HIDDEN = 1000
"""With more withheld numbers than this the algebra would take minutes: then no crossed cell is shown."""

TOLERANCE = 1e-9
"""Far below any number that integer equations of this size give, far above their rounding."""

Cell = tuple[str, Group]
"""One number: whose denominator it is, and of which group; its pairs sorted, so that it has one name."""

Equation = dict[Cell, int]
"""Coefficients of cells that together come to 0: a sum is -1, the cells that make it up are 1."""


def shows_few(tables: npt.NDArray[np.int64], least: int) -> bool:
    """Tell whether a margin of some table, (..., k, k), shows some cases and fewer than `least`."""
    margins = np.concatenate([tables.sum(axis=-2), tables.sum(axis=-1)])
    return bool(((margins > 0) & (margins < least)).any())


def hidden_cells(sizes: Mapping[Cell, int], least: int, gone: Collection[Cell] = ()) -> set[Cell]:
    """Return which of `sizes` (of `LAYERS`) to withhold so that no denominator under `least` can be known.

    Those of `gone` are withheld already.

    The result holds every size under `least`. No size in it follows from the others and the number of rows;
    nor does a group's sum over both labels, if either is in it; and what is withheld of any shown sum is
    together at least `least`. With fewer than `least` cases in all, everything is withheld.
    """
    groups = dict.fromkeys(group for _layer, group in sizes)
    whole = dict(sizes)
    whole |= {(BOTH, group): sum(sizes.get((layer, group), 0) for layer in LAYERS) for group in groups}
    if whole.get((BOTH, ()), 0) < least:
        return set(sizes)
    sums = _Sums(whole)
    hidden: set[Cell] = set()
    for cell, size in whole.items():
        if size < least or cell in gone:
            sums.hide(cell, hidden)
    if len(hidden) > MOST_HIDDEN:
        crossed = {cell for cell in whole if len(cell[1]) > 1}
        sums = _Sums({cell: size for cell, size in whole.items() if cell not in crossed})
        hidden |= crossed
    while hidden:
        more = sums.short(hidden, least) or sums.alone(hidden) or sums.determined(hidden)
        if more is None:
            break
        sums.hide(more, hidden)
    return {cell for cell in hidden if cell[0] in LAYERS}


class _Sums:
    """The sums between cells; margins that nobody prints take part without a size.

    `known` are the numbers of all rows, under whatever name: nobody can be kept from them.
    """

    def __init__(self, sizes: Mapping[Cell, int]) -> None:
        self.sizes = sizes
        # Where cases are of one sort only, there is no second label whose cases nobody prints.
        parts = [each for each in LAYERS if any(layer == each for layer, _group in sizes)]
        self.order = {cell: place for place, cell in enumerate(sizes)}
        sums: dict[tuple[Cell, str], Equation] = {}
        values: dict[str, set[str]] = {}
        cells = _with_margins(sizes)
        for layer, group in cells:
            for attribute, value in group:
                margin = (layer, tuple(pair for pair in group if pair[0] != attribute))
                sums.setdefault((margin, attribute), {margin: -1})[layer, group] = 1
                values.setdefault(attribute, set()).add(value)
            if layer == BOTH:
                sums[(layer, group), ""] = {(layer, group): -1, **{(each, group): 1 for each in parts}}
        self.known = {
            (layer, group)
            for layer, group in cells
            if layer == BOTH and all(len(values[attribute]) == 1 for attribute, _value in group)
        }
        self.equations = [*sums.values()]
        self.of: dict[Cell, list[Equation]] = {}
        for equation in self.equations:
            for cell in equation:
                self.of.setdefault(cell, []).append(equation)

    def hide(self, cell: Cell, hidden: set[Cell]) -> None:
        """Withhold a cell and, of a label's, the sum over both, which is shown beside the two alone."""
        hidden |= {cell, (BOTH, cell[1])} - self.known

    def short(self, hidden: set[Cell], least: int) -> Cell | None:
        """Return one more cell to withhold of a shown sum whose withheld cells are together under `least`."""
        for equation in self.equations:
            if self._unknown((c for c, sign in equation.items() if sign < 0), hidden):
                continue
            parts = [cell for cell, sign in equation.items() if sign > 0]
            gone = self._unknown(parts, hidden)
            if gone and sum(self.sizes.get(cell, 0) for cell in gone) < least:
                more = self._choose(parts, hidden)
                if more is not None:
                    return more
        return None

    def alone(self, hidden: set[Cell]) -> Cell | None:
        """Return one more cell to withhold of a sum in which a single cell is unknown."""
        for equation in self.equations:
            unknown = [*self._unknown(equation, hidden)]
            if len(unknown) == 1 and unknown[0] in hidden:
                return self._companion(unknown[0], [equation], hidden)
        return None

    def determined(self, hidden: set[Cell]) -> Cell | None:
        """Return one more cell to withhold where several sums together determine a withheld one.

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
        rank = int((scales > TOLERANCE).sum())
        fixed = np.abs(right[rank:]).max(axis=0, initial=0.0) < TOLERANCE
        for cell, place in places.items():
            if fixed[place] and cell in self.sizes:
                return self._companion(cell, self.of[cell], hidden)
        return None

    def _companion(self, cell: Cell, sums: Sequence[Equation], hidden: set[Cell]) -> Cell | None:
        """Return a shown cell to withhold with `cell`: of `sums`, beside it rather than above it; or any."""
        beside = dict.fromkeys(c for each in sums for c in each if each[c] == each[cell])
        for candidates in (beside, dict.fromkeys(c for each in sums for c in each), self.sizes):
            found = self._choose(candidates, hidden)
            if found is not None:
                return found
        return None

    def _choose(self, cells: Iterable[Cell], hidden: set[Cell]) -> Cell | None:
        """Return the shown cell in most sums with withheld ones, so that few go; of these, the smallest."""

        def cost(cell: Cell) -> tuple[int, int, int]:
            meets = sum(bool(self._unknown(each, hidden)) for each in self.of[cell])
            return -meets, self.sizes[cell], self.order[cell]

        shown = (c for c in cells if c in self.sizes and c not in hidden and c not in self.known)
        return min(shown, key=cost, default=None)

    def _unknown(self, cells: Iterable[Cell], hidden: set[Cell]) -> dict[Cell, None]:
        """Return those of `cells` that a reader has no number for, in order."""
        return {
            cell: None
            for cell in cells
            if cell not in self.known and (cell in hidden or cell not in self.sizes)
        }


def _with_margins(sizes: Iterable[Cell]) -> dict[Cell, None]:
    """Return the cells and every margin of theirs, in order."""
    cells = dict.fromkeys(sizes)
    for layer, group in list(cells):
        for count in range(len(group)):
            cells.update(dict.fromkeys((layer, some) for some in combinations(group, count)))
    return cells
