"""Thresholds: fixed numbers, or rules by which `calibrate` finds them on dev."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Tag

from lacre.protocol.grammar import Identifier, Model, Name, Number, Rate, refuse
from lacre.protocol.pools import Pool
from lacre.protocol.problems import Findings, Path, quoted
from lacre.protocol.tables import Table
from lacre.text import N_

Target = Literal["recall", "false_positive", "false_negative", "false_match", "false_non_match"]


class FixedThreshold(Model):
    """A threshold that is known beforehand."""

    fixed: Number


def _one_target(targets: dict[Target, Any]) -> dict[Target, Any]:
    if len(targets) != 1:
        raise refuse(N_("must hold one target rate, such as {example}"), example="{recall: 0.95}")
    return targets


class CalibratedThreshold(Model):
    """A threshold at which a score of one table of dev reaches one target rate."""

    calibrate_on: Identifier
    table: Identifier
    score: Name
    at: Annotated[dict[Target, Rate], AfterValidator(_one_target)]
    normalise: Literal["z-norm", "t-norm", "s-norm"] | None = None


def _form(value: Any) -> str:
    fixed = "fixed" in value if isinstance(value, dict) else isinstance(value, FixedThreshold)
    return "a fixed threshold" if fixed else "a calibrated threshold"


Threshold = Annotated[
    Annotated[FixedThreshold, Tag("a fixed threshold")]
    | Annotated[CalibratedThreshold, Tag("a calibrated threshold")],
    Discriminator(_form),
]


def check_thresholds(
    thresholds: Mapping[str, FixedThreshold | CalibratedThreshold],
    tables: Mapping[str, Table],
    pools: Mapping[str, Pool],
    findings: Findings,
) -> None:
    """Find what contradicts itself in the rules of calibration."""
    for name, threshold in thresholds.items():
        if isinstance(threshold, FixedThreshold):
            continue
        path: Path = ("thresholds", name)
        pool = findings.known(threshold.calibrate_on, pools, ("pools",), (*path, "calibrate_on"))
        if pool is not None and pool.role != "dev":
            findings.add(
                (*path, "calibrate_on"), N_("must be dev: a threshold is never tuned on another pool")
            )
        table = findings.known(threshold.table, tables, ("tables",), (*path, "table"))
        if table is None:
            continue
        if pool is not None and threshold.table not in pool.tables:
            findings.add(
                (*path, "table"),
                N_("{name} is not among the tables of {pool}"),
                name=quoted(threshold.table),
                pool=pool.role,
            )
        section: Path = ("tables", threshold.table, "columns")
        column = findings.known(threshold.score, table.columns, section, (*path, "score"))
        if column is not None and (column.type != "number" or column.source is None):
            findings.add(
                (*path, "score"),
                N_("{name} must be a number from the submission"),
                name=quoted(threshold.score),
            )
