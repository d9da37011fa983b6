"""Disclosure control: small groups are withheld, and as many more as would let one subtract them back.

An estimate whose denominator is under `min_count` is withheld, and so is what would tell it, as
`lacre.analyses.suppression` finds. Protected are the numbers of cases with label 0 and with label 1 of each
group, the denominators of the false positive and the false negative rates. Error and selection rest on both,
so a group's are shown only where both may be.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from types import MappingProxyType
from typing import Any, TypeGuard

from lacre.analyses.estimate import Answer, Estimate, Group, Measure, NotEstimable, Withheld
from lacre.analyses.reasons import Reason
from lacre.analyses.result import AnalysisResult
from lacre.analyses.suppression import LAYERS, Cell, hidden_cells
from lacre.analyses.verdict import CriterionResult
from lacre.protocol.models import Protocol

DEFAULT_MIN_COUNT = 5
"""The smallest denominator shown when data are identifiable and the protocol names none."""


def min_count(protocol: Protocol, pool: str) -> int | None:
    """Return the smallest denominator of a pool that `protocol` lets be shown; None where it withholds nothing.

    The cases of an open pool are published themselves, so there it takes a protocol that asks for it.
    """
    if protocol.disclosure is not None:
        return protocol.disclosure.min_count
    shut = protocol.pools[pool].open is None
    return DEFAULT_MIN_COUNT if protocol.data.identifiable and shut else None


def withhold(result: AnalysisResult, least: int) -> AnalysisResult:
    """Return `result` without the estimates that show, or let one compute, a denominator under `least`.

    Verdict states stay; their numbers go where they rest on what is withheld. What is withheld of one system is
    withheld of all: their denominators are the same cases. Nothing becomes computable by it, since each system's
    withheld cells stay undetermined when more are taken away.
    """
    layers = [each for each in result.estimates if _counts(each)]
    hidden: set[Cell] = set()
    for system in dict.fromkeys(each.system for each in layers):
        own = [each for each in layers if each.system == system]
        sizes, shown = _least(own, blank=False), _least(own, blank=True)
        hidden |= hidden_cells(sizes, least)
        if shown != sizes:
            # Whoever submits chooses which cases are blank: of a handful that are not, the counts tell the labels.
            hidden |= hidden_cells(shown, least)
    return _noted(_without(_calibration_of_many(result, least), hidden, least), least)


def _noted(result: AnalysisResult, least: int) -> AnalysisResult:
    """Return `result` with a note of how many numbers are withheld, whoever withheld them."""
    count = sum(isinstance(each, Withheld) for each in result.estimates)
    if not count:
        return result
    others = tuple(note for note in result.notes if note.code != "estimates-withheld")
    note = Reason("estimates-withheld", {"count": count, "min_count": least})
    return replace(result, notes=(*others, note))


Subject = tuple[str, str | None]
"""The table whose rows are an analysis's cases, and the column that tells two sorts of them apart, if one does."""


def together(results: Sequence[AnalysisResult], subjects: Sequence[Subject]) -> list[AnalysisResult]:
    """Return the results of one read without what they let one compute of each other.

    A group whose cases cannot be known from one analysis must not be shown by another of the same cases, and sums
    that either shows are sums for both. Of one subject, which tells the same two sorts apart, this holds of each sort;
    of others of the table, of both sorts together. Cases are the same where their number is, but for fewer than are
    withheld: an analysis of some rows of a table, say of those drawn to be labelled again, is of others.
    """
    found = list(results)
    for table in dict.fromkeys(table for table, _sort in subjects):
        places = [place for place, subject in enumerate(subjects) if subject[0] == table]
        reasons = [
            each.reason
            for place in places
            for each in results[place].estimates
            if isinstance(each, Withheld) and _layer(each)
        ]
        if not reasons:
            continue
        least = int(reasons[0].fields["min_count"])
        for alike in _alike({place: _Known.of(results[place]) for place in places}, least):
            gone = _joined({place: (subjects[place][1], each) for place, each in alike.items()}, least)
            for place, cells in gone.items():
                found[place] = _without(results[place], cells, least)
    return found


def _alike(known: "Mapping[int, _Known]", least: int) -> "list[dict[int, _Known]]":
    """Return the results of one table apart by the number of their cases."""
    parts: list[dict[int, _Known]] = []
    last: int | None = None
    for place, each in sorted(known.items(), key=lambda item: item[1].total):
        if last is None or each.total - last >= least:
            parts.append({})
        parts[-1][place], last = each, each.total
    return parts


@dataclass(frozen=True)
class _Known:
    """The cases of each cell of one result, and the cells that it withholds."""

    sizes: dict[Cell, int]
    gone: set[Cell]

    @classmethod
    def of(cls, result: AnalysisResult) -> "_Known":
        """Return those of a result, the fewest where its numbers differ."""
        layered = [each for each in result.estimates if isinstance(each, Withheld) and _layer(each)]
        sizes = _least([each for each in result.estimates if _counts(each)], blank=False)
        for each in layered:
            if isinstance(each, Withheld) and each.cases is not None and each.versus is None:
                sizes[_cell(each)] = min(each.cases, sizes.get(_cell(each), each.cases))
        return cls(sizes, {_cell(each) for each in layered} & sizes.keys())

    @property
    def total(self) -> int:
        """All cases, of both sorts."""
        return sum(size for (_sort, group), size in self.sizes.items() if group == ())

    def with_(self, other: "_Known") -> "_Known":
        """Return both together."""
        least = {cell: min(size, self.sizes.get(cell, size)) for cell, size in other.sizes.items()}
        return _Known({**self.sizes, **least}, self.gone | other.gone)

    def whole(self) -> "_Known":
        """Return the cases of groups as if there were one sort; one that is gone takes its group along."""
        sizes: dict[Cell, int] = {}
        for (_sort, group), size in self.sizes.items():
            sizes[LAYERS[1], group] = sizes.get((LAYERS[1], group), 0) + size
        return _Known(sizes, {(LAYERS[1], group) for _sort, group in self.gone})


def _joined(known: Mapping[int, tuple[str | None, _Known]], least: int) -> dict[int, set[Cell]]:
    """Return the cells of each result of one table that are to be withheld."""
    own: dict[str | None, _Known] = {}
    for sort, each in known.values():
        own[sort] = own[sort].with_(each) if sort in own else each
    own = {sort: replace(each, gone=hidden_cells(each.sizes, least, each.gone)) for sort, each in own.items()}
    if len(own) > 1:
        all_of = reduce(_Known.with_, (each.whole() for each in own.values()))
        groups = {group for _layer, group in hidden_cells(all_of.sizes, least, all_of.gone)}
        for sort, each in own.items():
            partly = {group for _layer, group in each.gone}
            more = {cell for cell in each.sizes if cell[1] in groups - partly}
            own[sort] = replace(each, gone=each.gone | more)
    return {place: own[sort].gone & each.sizes.keys() for place, (sort, each) in known.items()}


def _calibration_of_many(result: AnalysisResult, least: int) -> AnalysisResult:
    """Withhold all calibration errors where one rests on fewer than `least` cases, and on some."""
    if not any(each.cases is not None and 0 < each.cases < least for each in result.calibration):
        return result
    bare = tuple(replace(each, cases=None, left_out=None, error=None) for each in result.calibration)
    return replace(result, calibration=bare)


def _without(result: AnalysisResult, hidden: set[Cell], least: int) -> AnalysisResult:
    if not hidden:
        return result
    concealed = _Concealed(hidden, Reason("withheld", {"min_count": least}))
    estimates = tuple(concealed.estimate(each) for each in result.estimates)
    bare = replace(
        result,
        estimates=estimates,
        criteria=tuple(concealed.criterion(each) for each in result.criteria),
        tables={name: tuple(map(concealed.row, rows)) for name, rows in result.tables.items()},
        calibration=tuple(
            replace(each, cases=None, left_out=None, error=None) if concealed.any(each.group) else each
            for each in result.calibration
        ),
    )
    return _noted(bare, least)


def _key(group: Group) -> Group:
    return tuple(sorted(group))


_SAMPLED = ("mean", "total", "ratio")

LAYER_OF: Mapping[str, str] = MappingProxyType(
    {**{layer: layer for layer in LAYERS}, "false_match": LAYERS[0], "false_non_match": LAYERS[1]}
    | dict.fromkeys(("recall", "protective_failure", "raw_agreement", "detected", *_SAMPLED), LAYERS[1])
)
"""Which protected number each rate's denominator is; a kind with one sort of cases has but one layer."""


def _layer(answer: Answer) -> str | None:
    return LAYER_OF.get(answer.metric)


def _counts(answer: Answer) -> TypeGuard[Estimate | NotEstimable | Measure]:
    """Tell whether an answer is of the cases of one group, whose number it shows."""
    if _layer(answer) is None:
        return False
    if isinstance(answer, Measure):
        return answer.versus is None and (answer.scale == "share" or answer.metric in _SAMPLED)
    return isinstance(answer, Estimate | NotEstimable)


def _least(answers: Sequence[Estimate | NotEstimable | Measure], *, blank: bool) -> dict[Cell, int]:
    """Return the cases of each cell, the fewest where answers differ (by label); `blank`: without those."""
    found: dict[Cell, int] = {}
    for each in answers:
        size = each.cases if isinstance(each, Measure) else each.denominator
        size -= getattr(each, "missing", 0) if blank else 0
        found[_cell(each)] = min(size, found.get(_cell(each), size))
    return found


def cases_of(answer: Answer) -> int | None:
    """Return how many cases a number rests on."""
    return answer.cases if isinstance(answer, Measure | Withheld) else answer.denominator


def _cell(answer: Answer) -> Cell:
    return LAYER_OF[answer.metric], _key(answer.group)


@dataclass(frozen=True)
class _Concealed:
    hidden: set[Cell]
    reason: Reason

    def rate(self, metric: str, group: Group) -> bool:
        """Tell whether a group's rate is withheld."""
        layer = LAYER_OF.get(metric)
        return self.any(group) if layer is None else (layer, _key(group)) in self.hidden

    def any(self, group: Group) -> bool:
        """Tell whether anything of a group is withheld, and so all that rests on both labels."""
        return any((layer, _key(group)) in self.hidden for layer in LAYERS)

    def estimate(self, answer: Answer) -> Answer:
        versus = None if isinstance(answer, Estimate) else answer.versus
        if not self.rate(answer.metric, answer.group) and (versus is None or not self.any(versus)):
            return answer
        return Withheld(
            answer.metric, answer.system, answer.group, self.reason, answer.details, versus, cases_of(answer)
        )

    def row(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a row of a kind's own table, bare if a group it names is withheld."""
        named = [row[key] for key in ("group", "versus") if row.get(key) is not None]
        if not any(self.any(tuple(group.items())) for group in named):
            return row
        kept = {key: row[key] for key in ("group", "versus", "system", "systems", "details") if key in row}
        return {**kept, "withheld": True}

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
