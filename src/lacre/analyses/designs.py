"""How a table's cases were drawn: the designs of a registered draw, of given sizes, or of joint probabilities."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lacre.analyses import strata
from lacre.analyses.families import numbered
from lacre.analyses.given import Given
from lacre.analyses.reasons import Reason
from lacre.analyses.shares import weighted_of
from lacre.protocol.columns import NumberColumn
from lacre.protocol.kinds.estimate import EstimatePlan, JointProbabilities
from lacre.protocol.tables import Table
from lacre.stats import survey
from lacre.stats.fairness import Ints
from lacre.stats.proportions import Floats
from lacre.tables.columns import Codes, Digests, Numbers, Texts, TypedTable

MOST_JOINT = 4_000
"""Cases of which all pairs are held at once: 128 MB an array."""


@dataclass(frozen=True, eq=False)
class Sample:
    """How the rows of a table were drawn.

    `designs` are one or, where cases of a registered draw also come in clusters, two: the wider interval is the
    answer. `stratum` is each row's place among the `values`; `population` (infinite: not known) and `sampled`
    are per stratum, of `clusters` or of cases.
    """

    designs: tuple[survey.Design, ...]
    stratum: Ints
    values: tuple[str, ...]
    population: Floats
    sampled: Ints
    clusters: bool
    method: str


def sample_of(plan: EstimatePlan, declared: Table, given: Given, system: str) -> Sample | Reason:
    """Return how the cases of a plan's table were drawn, or the reason why nothing can be estimated from them."""
    table, weights = given.table(system, plan.table), plan.weights
    if len(declared.cluster) > 1:
        return Reason("crossed-clusters")
    cluster = None if not declared.cluster else numbered(table.columns[declared.cluster[0]])
    if cluster is not None and (cluster < 0).any():
        return Reason("no-cluster", {"count": int((cluster < 0).sum())})
    column = declared.columns[weights.column]
    assert isinstance(column, NumberColumn)
    holds = "weight" if "weight" in column.is_ else "probability"
    given_weights = numbers(table, weights.column)
    if weights.draw is not None:
        return _registered(given, weights.draw, declared, table, given_weights, holds, cluster)
    made = survey.weights_of(given_weights, "weight" if holds == "weight" else "probability")
    if made.bad.any():
        return Reason("bad-weights", {"count": int(made.bad.sum())})
    if weights.joint is not None:
        return _joint(made.weight, table, given.table(system, weights.joint.table), weights.joint)
    return _sized(plan, declared, table, made.weight, cluster)


def _registered(
    given: Given,
    draw: str,
    declared: Table,
    table: TypedTable,
    weights: Floats,
    holds: str,
    cluster: Ints | None,
) -> Sample | Reason:
    stratum, values = strata.coded(table, declared, given.protocol.sampling[draw].strata)
    drawn = given.draws.get(draw)
    found = weighted_of(weights, holds, stratum.astype(np.int64), values, drawn, draw)
    if isinstance(found, Reason):
        return found
    design = found.design()
    designs = (design,) if cluster is None else (design, found.design(cluster))
    return Sample(
        designs,
        design.stratum,
        values,
        design.population,
        design.sampled,
        clusters=False,
        method="stratified",
    )


def _sized(
    plan: EstimatePlan, declared: Table, table: TypedTable, weight: Floats, cluster: Ints | None
) -> Sample | Reason:
    weights = plan.weights
    stratum = np.zeros(table.rows, np.int64)
    values: tuple[str, ...] = ("",)
    if weights.strata is not None:
        coded, values = strata.coded(table, declared, weights.strata)
        stratum = coded.astype(np.int64)
    if (stratum < 0).any():
        return Reason("no-stratum", {"count": int((stratum < 0).sum())})
    if weights.population is not None:
        population = np.array([float(weights.population[value]) for value in values])
    else:
        assert weights.fpc is not None
        sizes = numbers(table, weights.fpc)
        bad = ~(sizes >= 1)
        population = np.zeros(len(values))
        population[stratum[~bad]] = sizes[~bad]
        bad |= population[stratum] != sizes
        if bad.any():
            return Reason("sizes-differ", {"count": int(bad.sum())})
    design = survey.strata(weight, stratum, population, cluster)
    faults = survey.strata_faults(design)
    for code, places in (
        ("lonely-stratum", faults.lonely),
        ("unsampled-stratum", faults.unsampled),
        ("short-stratum", faults.short),
    ):
        if len(places):
            return Reason(code, {"stratum": values[places[0]] or "-"})
    clusters = cluster is not None
    method = "stratified, by clusters" if clusters else "stratified"
    return Sample((design,), stratum, values, population, design.sampled, clusters, method)


def _joint(
    weight: Floats, table: TypedTable, pairs: TypedTable, joint: JointProbabilities
) -> Sample | Reason:
    """Return the design of the pairs given; one pair may stand once or in both orders."""
    n = table.rows
    if n > MOST_JOINT:
        return Reason("too-many-pairs", {"cases": n, "most": MOST_JOINT})
    place = {key: row for row, key in enumerate(table.keys)}
    ends = [np.array([place.get(name, -1) for name in named(pairs, column)], np.int64) for column in joint.of]
    probability = numbers(pairs, joint.column)
    known = (ends[0] >= 0) & (ends[1] >= 0) & (ends[0] != ends[1])
    one, other, given = ends[0][known], ends[1][known], probability[known]
    matrix = np.full((n, n), np.nan)
    matrix[other, one] = given
    matrix[one, other] = given
    np.fill_diagonal(matrix, 1 / weight)
    lacking = int(np.isnan(matrix).sum()) // 2
    if lacking:
        return Reason("pairs-missing", {"count": lacking})
    design = survey.Joint(weight, matrix)
    wrong = survey.joint_faults(design) + int((matrix[other, one] != given).sum())
    if wrong:
        return Reason("bad-pairs", {"count": wrong})
    nothing = np.zeros(n, np.int64)
    return Sample(
        (design,),
        nothing,
        ("",),
        np.array([np.inf]),
        np.array([n]),
        clusters=False,
        method="Sen-Yates-Grundy",
    )


def numbers(table: TypedTable, name: str) -> Floats:
    """Return the values of a column of numbers, NaN where missing."""
    column = table.columns[name]
    assert isinstance(column, Numbers)
    return column.values


def named(table: TypedTable, name: str) -> list[Any]:
    """Return the texts of a column that names things, None where missing."""
    column = table.columns[name]
    if isinstance(column, Codes):
        values = (*column.values, None, None)  # -1 and -2 come to stand for the last two
        return [values[code] for code in column.codes]
    assert isinstance(column, Texts | Digests)
    return list(column.values)
