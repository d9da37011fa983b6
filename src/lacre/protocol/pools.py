"""Pools, and what is done to their cases by plan: drawn, put in order, labelled again."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PrivateAttr

from lacre.protocol.columns import Column, Text
from lacre.protocol.grammar import (
    Count,
    Identifier,
    Many,
    Model,
    Name,
    Named,
    Number,
    Part,
    Seed,
    Whole,
    Words,
    in_order,
    not_empty,
    refuse,
    within,
)
from lacre.protocol.problems import Findings, Path, listed, nearest, quoted
from lacre.protocol.tables import Table
from lacre.text import N_

PoolRole = Literal["dev", "teste", "contraste", "guarda", "corpus"]
ROLES: tuple[PoolRole, ...] = ("dev", "teste", "contraste", "guarda", "corpus")


def _pool_name(value: str) -> str:
    if value in ROLES:
        return value
    close = nearest(value, ROLES)
    if close is not None:
        raise refuse(N_("{name} is no pool; did you mean {close}?"), name=quoted(value), close=quoted(close))
    raise refuse(
        N_("{name} is no pool: a pool's name is its role, one of {roles}"),
        name=quoted(value),
        roles=listed(ROLES),
    )


def _order(value: list[Part]) -> list[Part]:
    if value not in (["cases", "labels"], ["cases", "labels", "scores"]):
        raise refuse(N_("must be [cases, labels, scores] or [cases, labels]: labels come before scores"))
    return value


class Pool(Model):
    """A set of cases; its name is its role."""

    tables: Annotated[Many[Identifier], AfterValidator(not_empty)]
    planned: Named[Count] = Field(default_factory=dict)
    composition: Annotated[
        dict[Name, Annotated[dict[Text, Annotated[Whole, Field(ge=0)]], AfterValidator(in_order)]],
        AfterValidator(in_order),
    ] = Field(default_factory=dict)
    groups: Name | None = None
    open: Words | None = None
    order: Annotated[list[Part], AfterValidator(_order)] | None = None
    max_reads: Count | None = None
    _role: PoolRole = PrivateAttr()

    @property
    def role(self) -> PoolRole:
        """What the pool is for: its name."""
        return self._role


def _with_roles(pools: dict[str, Pool]) -> dict[str, Pool]:
    for name, pool in pools.items():
        pool._role = next(role for role in ROLES if role == name)  # noqa: SLF001 - the map alone knows the name
    return pools


def parts_of(pool: Pool) -> tuple[Part, ...]:
    """Return the parts of an open pool, in the order they are committed: its cases alone where it has no `order`."""
    return tuple(pool.order or ("cases",))


def part_of(column: Column) -> Part:
    """Return the part of an open pool that a column is of."""
    return column.part or "cases"


def tables_of_part(pool: Pool, tables: Mapping[str, Table], part: str) -> tuple[str, ...]:
    """Return the tables of an open pool that come with a part: all with the cases, else those with columns of it."""
    return tuple(
        name
        for name in pool.tables
        if part == "cases" or any(column.part == part for column in tables[name].columns.values())
    )


Pools = Annotated[
    dict[Annotated[str, AfterValidator(_pool_name)], Pool],
    AfterValidator(in_order),
    AfterValidator(_with_roles),
]


class Sampling(Model):
    """A draw of a pool's cases with known inclusion probabilities, of one size per stratum."""

    pool: Identifier
    strata: Name
    sizes: Annotated[dict[Text, Count], AfterValidator(not_empty), AfterValidator(in_order)]
    seed: Seed


class Relabel(Model):
    """A share of a pool's cases to be labelled again, blind, on a later day."""

    pool: Identifier
    fraction: Annotated[Number, AfterValidator(within(0, 1, open_low=True))]
    columns: Annotated[Many[Name], AfterValidator(not_empty)]
    min_days_apart: Annotated[Whole, Field(ge=0)] = 1
    seed: Seed


class Variant(Model):
    """A controlled change to an image; none of them is the original."""

    scale: Annotated[Number, AfterValidator(within(0, 100, open_low=True))] | None = None
    gamma: Annotated[Number, AfterValidator(within(0, 100, open_low=True))] | None = None
    jpeg_quality: Annotated[Whole, Field(ge=1, le=100)] | None = None
    equalize: bool | None = None
    greyscale: bool | None = None


def check_pool(pool: Pool, tables: Mapping[str, Table], path: Path, findings: Findings) -> None:
    """Find what contradicts itself in one pool, or the tables it holds."""
    held = {}
    for index, name in enumerate(pool.tables):
        table = findings.known(name, tables, ("tables",), (*path, "tables", index))
        if table is not None:
            held[name] = table
    for name in pool.planned:
        if name not in pool.tables:
            findings.add(
                (*path, "planned", name), N_("{name} is not among the pool's tables"), name=quoted(name)
            )
    _check_role(pool, path, findings)
    if len(held) == len(pool.tables):
        _check_columns(pool, held, path, findings)


def _check_role(pool: Pool, path: Path, findings: Findings) -> None:
    if pool.role == "corpus" and pool.open is None:
        findings.add(path, N_("needs `open`: the reason why this pool may be committed in the open"))
    if pool.role != "corpus" and pool.open is not None:
        findings.add((*path, "open"), N_("only `corpus` may be open; {role} is sealed"), role=pool.role)
    if pool.role == "guarda" and pool.max_reads is None:
        findings.add(path, N_("needs `max_reads`: every read of guarda spends a share of its error rate"))
    if pool.role != "guarda" and pool.max_reads is not None:
        findings.add((*path, "max_reads"), N_("only `guarda` has a budget of reads"))


def _check_columns(pool: Pool, tables: Mapping[str, Table], path: Path, findings: Findings) -> None:
    if pool.groups is not None:
        _valued(pool.groups, tables, (*path, "groups"), findings)
    for name, counts in pool.composition.items():
        at = (*path, "composition", name)
        values = _valued(name, tables, at, findings)
        for value in counts:
            if values is not None and value not in values:
                findings.add(
                    (*at, value),
                    N_("{value} is not a declared value of {name}, which has {known}"),
                    value=quoted(value),
                    name=quoted(name),
                    known=listed(values),
                )
        planned = [pool.planned.get(each) for each, table in tables.items() if name in table.columns]
        if len(planned) == 1 and planned[0] is not None and sum(counts.values()) > planned[0]:
            findings.add(at, N_("adds up to more rows than are planned ({planned})"), planned=planned[0])
    for part in (pool.order or [])[1:]:
        if not any(column.part == part for table in tables.values() for column in table.columns.values()):
            findings.add((*path, "order"), N_("names {part}, and no column says `part: {part}`"), part=part)


def check_parts(pool: Pool, tables: Mapping[str, Table], path: Path, findings: Findings) -> None:
    """Find columns of an open pool's tables that its order gives no time to, or the wrong one."""
    parts = parts_of(pool)
    own = [(each, name) for each in pool.tables if each in tables for name in tables[each].columns]
    for each, name in own:
        table, column, at = tables[each], tables[each].columns[name], ("tables", each, "columns", name)
        part = part_of(column)
        if table.supplied(name):
            continue
        if part not in parts:
            findings.add(
                (*path, "order"),
                N_("does not name {part}, which {name} is a part of"),
                part=part,
                name=quoted(name),
            )
        elif part != "cases" and name in (*table.key, table.unit):
            findings.add((*at, "part"), N_("names a case, so it comes with the cases"))
        for role, due in (("labelled", "labels"), ("scored", "scores")):
            if role in column.is_ and due in parts and part != due:
                findings.add(
                    (*at, "part"), N_("must be `{part}`: the column says when that was made"), part=due
                )


def _valued(name: str, tables: Mapping[str, Table], path: Path, findings: Findings) -> tuple[str, ...] | None:
    """Return the declared values of a column of any of `tables`; None, the problem noted, if it has none."""
    for each, table in tables.items():
        if {("tables", each, "columns"), ("tables", each, "columns", name)} & findings.broken:
            return None
        if name in table.columns:
            values = table.columns[name].named_values
            if not values:
                findings.add(path, N_("{name} has no declared values"), name=quoted(name))
            return values or None
    columns = sorted({column for table in tables.values() for column in table.columns})
    findings.known(name, dict.fromkeys(columns, True), ("tables",), path)
    return None


def check_draws(
    draws: Mapping[str, Sampling] | Mapping[str, Relabel],
    section: str,
    tables: Mapping[str, Table],
    pools: Mapping[str, Pool],
    findings: Findings,
) -> None:
    """Find what contradicts itself in the draws under `sampling` or `relabel`, each named after its table."""
    for name, draw in draws.items():
        path: Path = (section, name)
        table = findings.known(name, tables, ("tables",), path)
        pool = findings.known(draw.pool, pools, ("pools",), (*path, "pool"))
        if pool is not None and table is not None and name not in pool.tables:
            findings.add(
                path, N_("{name} is not among the tables of {pool}"), name=quoted(name), pool=draw.pool
            )
        if table is None:
            continue
        if isinstance(draw, Sampling):
            _check_strata(draw, table, pool, path, findings)
        else:
            for index, column in enumerate(draw.columns):
                at = (*path, "columns", index)
                if findings.known(column, table.columns, ("tables", name, "columns"), at) is None:
                    continue
                if table.supplied(column) or table.derived(column) or column in table.key:
                    findings.add(
                        at, N_("{name} is not a label a person could give again"), name=quoted(column)
                    )


def _check_strata(draw: Sampling, table: Table, pool: Pool | None, path: Path, findings: Findings) -> None:
    name = str(path[-1])
    column = findings.known(draw.strata, table.columns, ("tables", name, "columns"), (*path, "strata"))
    if column is None:
        return
    if not column.named_values or table.supplied(draw.strata):
        findings.add(
            (*path, "strata"), N_("{name} has no declared values of the pool's own"), name=quoted(draw.strata)
        )
        return
    for value in draw.sizes:
        if value not in column.named_values:
            findings.add(
                (*path, "sizes", value),
                N_("{value} is not a declared value of {name}, which has {known}"),
                value=quoted(value),
                name=quoted(draw.strata),
                known=listed(column.named_values),
            )
    planned = pool.planned.get(name) if pool is not None else None
    if planned is not None and sum(draw.sizes.values()) > planned:
        findings.add(
            (*path, "sizes"), N_("adds up to more rows than are planned ({planned})"), planned=planned
        )
