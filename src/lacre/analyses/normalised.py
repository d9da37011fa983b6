"""Scores normalised by a frozen cohort: each image of a comparison is found in the cohort's table by its name."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from lacre.protocol.kinds.parts import Direction, Normalise
from lacre.stats.fairness import Ints
from lacre.stats.normalisation import Norm, cohort_statistics, normalise
from lacre.stats.proportions import Floats
from lacre.tables.columns import Codes, Numbers, TypedColumn, TypedTable

NORMS: Mapping[str, Norm] = MappingProxyType(
    {"z_norm": "z_norm", "t_norm": "t_norm", "s_norm": "s_norm", "adaptive_s_norm": "s_norm"}
)

Names = npt.NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class NormalisedScores:
    """Normalised `scores`, nan where a comparison has none.

    Of the comparisons that have a score, `without` have an image without scores against the cohort, and of
    `degenerate` ones an image's are too few or all alike: each is counted once, and has no normalised score.
    """

    scores: Floats
    degenerate: int
    without: int


def normalised_scores(
    table: TypedTable, cohort: TypedTable, score: str, how: Normalise, direction: Direction
) -> NormalisedScores:
    """Return the comparisons' column `score` normalised as registered.

    z goes by the image of the first pair of `how.on`, the enrolled one, t by that of the second. Rows of the
    cohort without an image or a score are none.
    """
    raw, values = _numbers(table, score), _numbers(cohort, how.score)
    code_of: dict[tuple[str, str], int] = {}
    image, scored = [], []
    for there in dict.fromkeys(there for _here, there in how.on):
        names = names_of(cohort.columns[there])
        codes = (-1 if name is None else code_of.setdefault((there, name), len(code_of)) for name in names)
        image.append(np.fromiter(codes, np.int64, len(names)))
        scored.append(values)
    images, scores = np.concatenate(image), np.concatenate(scored)
    kept = images >= 0
    found = cohort_statistics(images[kept], scores[kept], len(code_of), how.ddof, direction, how.top)
    enrolled, tested = (_places(table.columns[here], there, code_of) for here, there in how.on)
    norm = NORMS[how.kind]
    sides = {"z_norm": (enrolled,), "t_norm": (tested,), "s_norm": (enrolled, tested)}[norm]
    known = np.logical_and.reduce([side >= 0 for side in sides])
    known &= np.logical_and.reduce([_counted(side, found.cases) for side in sides])
    made = np.full(table.rows, np.nan)
    normal = normalise(raw[known], enrolled[known], tested[known], found, norm)
    made[known] = normal.score
    answered = ~np.isnan(raw)
    degenerate = np.zeros(table.rows, np.bool_)
    degenerate[known] = normal.degenerate
    return NormalisedScores(made, int((degenerate & answered).sum()), int((~known & answered).sum()))


def names_of(column: TypedColumn) -> Names:
    """Return what a column that names things holds, as text; None where it is missing or undeclared."""
    if isinstance(column, Codes):
        return np.array([*column.values, None, None], dtype=object)[column.codes]
    return np.asarray(column.array, dtype=object)


def _places(column: TypedColumn, there: str, code_of: Mapping[tuple[str, str], int]) -> Ints:
    names = names_of(column)
    return np.fromiter((code_of.get((there, name), -1) for name in names), np.int64, len(names))


def _counted(side: Ints, cases: Ints) -> npt.NDArray[np.bool_]:
    """Tell which images have a score against the cohort at all."""
    if len(cases) == 0:
        return np.zeros(len(side), np.bool_)
    return np.asarray((side >= 0) & (cases[side] > 0))


def _numbers(table: TypedTable, name: str) -> Floats:
    column = table.columns[name]
    assert isinstance(column, Numbers)
    return column.values
