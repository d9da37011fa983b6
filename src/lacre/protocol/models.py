"""A protocol: everything a study fixes before it sees its data.

`lacre.protocol.document` reads one from a file. A `Protocol` that exists is sound: whatever it names is
declared, and what it promises does not contradict itself.
"""

from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    SerializeAsAny,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from lacre.protocol.bins import DeclaredBins
from lacre.protocol.grammar import (
    Count,
    Language,
    Listed,
    Many,
    Model,
    Name,
    Named,
    Reading,
    Slug,
    Title,
    Words,
    not_empty,
    refuse,
)
from lacre.protocol.kinds import KINDS
from lacre.protocol.kinds.parts import Basis
from lacre.protocol.kinds.plan import AnalysisPlan
from lacre.protocol.pools import (
    Pools,
    Relabel,
    Sampling,
    Variant,
    check_draws,
    check_parts,
    check_pool,
)
from lacre.protocol.problems import Findings, Path, listed, nearest, quoted
from lacre.protocol.tables import Table, check_table
from lacre.protocol.thresholds import CalibratedThreshold, FixedThreshold, Threshold, check_thresholds
from lacre.text import N_

PROBLEMS = "problems"
"""The pydantic error type that carries the problems between the parts of a protocol, all at once."""


def _format(value: Any) -> Any:
    if isinstance(value, bool) or value != 1:
        raise refuse(N_("must be 1, the one format this version reads"))
    return 1


def _prior_exposure(value: str) -> str:
    if value != "none" and value.strip().casefold() in ("none", "no", "false"):
        raise refuse(N_("must be `none`, or say in words who has seen what"))
    return value


class DataPolicy(Model):
    """What is known of the data beforehand."""

    identifiable: bool
    prior_exposure: Annotated[Words, AfterValidator(_prior_exposure)]

    @property
    def retrospective(self) -> bool:
        """Tell whether somebody has seen the data, so that no result is confirmatory (law 15)."""
        return self.prior_exposure != "none"


class Disclosure(Model):
    """Estimates on fewer than `min_count` cases are withheld."""

    min_count: Count


class System(Model):
    """A system under study: its version, and the digest of its weights or prompt."""

    version: Name
    digest: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None


def _plan(value: Any, info: ValidationInfo) -> Any:
    if not isinstance(value, dict):
        raise refuse(N_("must be a map, of `key: value` lines"))
    if "kind" not in value:
        raise refuse(N_("is missing"), at=("kind",))
    kind = value["kind"]
    if not isinstance(kind, str):
        raise refuse(N_("must be text"), at=("kind",))
    if kind in KINDS:
        return KINDS[kind].model_validate(value, context=info.context)
    close = nearest(kind, KINDS)
    if close is None:
        raise refuse(
            N_("{kind} is no kind of analysis; there are {known}"),
            at=("kind",),
            kind=quoted(kind),
            known=listed(list(KINDS)),
        )
    raise refuse(
        N_("{kind} is no kind of analysis; did you mean {close}?"),
        at=("kind",),
        kind=quoted(kind),
        close=quoted(close),
    )


def _lists(value: Any) -> Any:
    values = [value] if isinstance(value, str) else value
    return (
        [[each] if isinstance(each, str) else each for each in values] if isinstance(values, list) else value
    )


def _leads_somewhere(path: str, value: Any) -> bool:
    """Tell whether a dotted path exists; names may hold dots, so every key it can begin with is tried."""
    if isinstance(value, list):
        named = [each.get("id") if isinstance(each, dict) else None for each in value]
        items = [
            (name or str(index), each) for index, (name, each) in enumerate(zip(named, value, strict=True))
        ]
    else:
        items = list(value.items()) if isinstance(value, dict) else []
    return any(
        path == key or (path.startswith(f"{key}.") and _leads_somewhere(path[len(key) + 1 :], each))
        for key, each in items
    )


Plan = Annotated[SerializeAsAny[AnalysisPlan], PlainValidator(_plan)]
Together = Annotated[Listed[Name], AfterValidator(not_empty)]


class Protocol(Model):
    """The registered plan of a study, in format 1."""

    lacre: Annotated[Literal[1], BeforeValidator(_format)]
    study: Slug
    title: Title
    question: Words
    language: Language
    data: DataPolicy
    disclosure: Disclosure | None = None
    systems: Named[System] = Field(default_factory=dict)
    tables: Named[Table]
    variants: Named[Variant] = Field(default_factory=dict)
    pools: Pools
    disjoint: Annotated[Listed[Together], BeforeValidator(_lists)] = Field(default_factory=list)
    sampling: Named[Sampling] = Field(default_factory=dict)
    relabel: Named[Relabel] = Field(default_factory=dict)
    bins: DeclaredBins = Field(default_factory=dict)
    thresholds: Named[Threshold] = Field(default_factory=dict)
    analyses: Named[Plan]
    locked: Many[str] = Field(default_factory=list)
    remedies: Many[Literal["rebalance"]] = Field(default_factory=list)
    max_rebalances: Count | None = None

    @model_validator(mode="after")
    def _is_sound(self, info: ValidationInfo) -> Self:
        broken = info.context.broken if isinstance(info.context, Reading) else frozenset()
        findings = Findings(broken)
        for name, table in self.tables.items():
            check_table(table, ("tables", name), findings)
        for name, pool in self.pools.items():
            check_pool(pool, self.tables, ("pools", name), findings)
        check_draws(self.sampling, "sampling", self.tables, self.pools, findings)
        check_draws(self.relabel, "relabel", self.tables, self.pools, findings)
        check_thresholds(self.thresholds, self.tables, self.pools, findings)
        for section in ("tables", "pools", "analyses"):
            if not getattr(self, section) and not any(path[0] == section for path in broken):
                findings.add((section,), N_("must hold at least one"))
        self._check_disjoint(findings)
        self._check_locked(findings)
        self._check_rebalancing(findings)
        for name, plan in self.analyses.items():
            self._check_plan(plan, ("analyses", name), findings)
        if not findings.found and not findings.broken:
            self._check_bases(findings)
            self._check_open(findings)
        if findings.found:
            raise PydanticCustomError(PROBLEMS, PROBLEMS, {"problems": tuple(findings.found)})
        return self

    def _check_disjoint(self, findings: Findings) -> None:
        unread = [part for part in findings.broken if part[:1] == ("tables",)]
        if any(len(part) <= 2 or part[2:] == ("columns",) for part in unread):
            return
        own = {str(part[-1]): True for part in sorted(unread, key=str) if part[2:3] == ("columns",)}
        for table in self.tables.values():
            for name in table.columns:
                if not table.supplied(name) and not table.derived(name):
                    own[name] = True
        for index, names in enumerate(self.disjoint):
            for inner, name in enumerate(names):
                findings.known(name, own, ("tables",), ("disjoint", index, inner))

    def _check_locked(self, findings: Findings) -> None:
        if not self.locked:
            return
        value = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        unread = tuple(".".join(map(str, path)) for path in findings.broken)
        for index, path in enumerate(self.locked):
            if not _leads_somewhere(path, value) and not path.startswith(unread):
                findings.add(
                    ("locked", index), N_("{named} leads nowhere in this protocol"), named=quoted(path)
                )

    def _check_rebalancing(self, findings: Findings) -> None:
        if findings.broken & {("remedies",), ("max_rebalances",)}:
            return
        if self.remedies and self.max_rebalances is None:
            findings.add(("remedies",), N_("needs `max_rebalances`: how often a corpus may grow"))
        if self.max_rebalances is not None and not self.remedies:
            findings.add(("max_rebalances",), N_("means nothing without `remedies: [rebalance]`"))

    def _check_bases(self, findings: Findings) -> None:
        """Find thresholds that the analyses which use them do not say how to set, or not all alike."""
        for name, threshold in self.thresholds.items():
            users = [plan for plan in self.analyses.values() if name in plan.thresholds()]
            if isinstance(threshold, FixedThreshold) or not users:
                continue
            bases, path = bases_of(self, name), ("thresholds", name)
            (target,) = threshold.at
            if not bases:
                findings.add(
                    path,
                    N_("is used by no analysis of {table}, so nothing says what {score} tells apart"),
                    table=quoted(threshold.table),
                    score=quoted(threshold.score),
                )
            elif len(bases) > 1:
                findings.add(path, N_("is used by analyses that read its score in different ways"))
            elif target not in bases[0].targets:
                findings.add(
                    (*path, "at"),
                    N_("{target} cannot be told by the analyses that use it; there are {known}"),
                    target=quoted(target),
                    known=listed(bases[0].targets),
                )

    def _check_plan(self, plan: AnalysisPlan, path: Path, findings: Findings) -> None:
        pool = findings.known(plan.pool, self.pools, ("pools",), (*path, "pool"))
        key = plan.table_key
        table = findings.known(plan.table, self.tables, ("tables",), (*path, key))
        if table is not None and pool is not None and plan.table not in pool.tables:
            findings.add(
                (*path, key),
                N_("{name} is not among the tables of {pool}"),
                name=quoted(plan.table),
                pool=pool.role,
            )
        for index, system in enumerate(plan.systems or []):
            findings.known(system, self.systems, ("systems",), (*path, "systems", index))
        if table is not None:
            plan.check(path, table, self, findings)

    def _check_open(self, findings: Findings) -> None:
        """Find what an analysis of an open pool would wait for in vain, or what its parts do not say.

        Where nothing is analysed, nothing is looked at: such plans were registered before open pools had verbs.
        """
        plans = {name: plan for name, plan in self.analyses.items() if self.pools[plan.pool].open is not None}
        for pool in dict.fromkeys(plan.pool for plan in plans.values()):
            check_parts(self.pools[pool], self.tables, ("pools", pool), findings)
            for name, draw in self.relabel.items():
                if draw.pool == pool:
                    findings.add(
                        ("relabel", name, "pool"),
                        N_("is open: only cases of a sealed pool are labelled again"),
                    )
        for name, plan in plans.items():
            for table, columns in plan.reads().items():
                for column in sorted(columns):
                    if self.tables[table].supplied(column):
                        findings.add(
                            ("analyses", name),
                            N_(
                                "reads {column}, which comes from a submission, and an open pool takes none: declare "
                                "it with `part: scores`"
                            ),
                            column=quoted(column),
                        )


def bases_of(protocol: Protocol, name: str) -> tuple[Basis, ...]:
    """Return the ways in which analyses read the score that a threshold is calibrated on; one, in a sound protocol."""
    threshold = protocol.thresholds[name]
    if not isinstance(threshold, CalibratedThreshold):
        return ()
    used = [basis for plan in protocol.analyses.values() if (basis := plan.basis(name)) is not None]
    here = [basis for basis in used if (basis.table, basis.score) == (threshold.table, threshold.score)]
    # The same score of other cases, as of variants of an image: where every case is one to be detected, so it is here.
    elsewhere = [
        replace(basis, table=threshold.table, score=threshold.score)
        for basis in used
        if basis.truth is None and basis.normalise is None
    ]
    return tuple(dict.fromkeys(here or elsewhere))
