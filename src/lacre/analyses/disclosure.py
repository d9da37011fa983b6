"""Disclosure control: small groups are withheld, and as many more as would let one subtract them back.

An estimate whose denominator is under `min_count` is withheld, and so is what would tell it, as
`lacre.analyses.suppression` finds. Protected are the numbers of cases with label 0 and with label 1 of each
group, the denominators of the false positive and the false negative rates. Error and selection rest on both,
so a group's are shown only where both may be.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
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


def min_count(protocol: Protocol) -> int | None:
    """Return the smallest denominator that `protocol` lets be shown; None where it withholds nothing."""
    if protocol.disclosure is not None:
        return protocol.disclosure.min_count
    return DEFAULT_MIN_COUNT if protocol.data.identifiable else None


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
    return _without(_calibration_of_many(result, least), hidden, least)


def together(results: Sequence[AnalysisResult], subjects: Sequence[Hashable]) -> list[AnalysisResult]:
    """Return the results of one read with what is withheld in one withheld in all of the same subject.

    `subjects` name, for each result, the cases and the label it is about: two analyses of these show the same
    numbers, and what one hides the other must not show. Nothing becomes computable by it, as in `withhold`.
    """
    found = []
    for result, subject in zip(results, subjects, strict=True):
        alike = [each for each, other in zip(results, subjects, strict=True) if other == subject]
        withheld = [e for each in alike for e in each.estimates if isinstance(e, Withheld) and _layer(e)]
        hidden = {_cell(each) for each in withheld}
        least = int(withheld[0].reason.fields["min_count"]) if withheld else 0
        found.append(_without(result, hidden, least))
    return found


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
    count = sum(isinstance(each, Withheld) for each in estimates)
    return replace(
        result,
        estimates=estimates,
        criteria=tuple(concealed.criterion(each) for each in result.criteria),
        tables={name: tuple(map(concealed.row, rows)) for name, rows in result.tables.items()},
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
    if isinstance(answer, Measure):
        return answer.versus is None and (answer.scale == "share" or answer.metric in _SAMPLED)
    return isinstance(answer, Estimate | NotEstimable) and _layer(answer) is not None


def _least(answers: Sequence[Estimate | NotEstimable | Measure], *, blank: bool) -> dict[Cell, int]:
    """Return the cases of each cell, the fewest where answers differ (by label); `blank`: without those."""
    found: dict[Cell, int] = {}
    for each in answers:
        size = each.cases if isinstance(each, Measure) else each.denominator
        size -= getattr(each, "missing", 0) if blank else 0
        found[_cell(each)] = min(size, found.get(_cell(each), size))
    return found


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
        return Withheld(answer.metric, answer.system, answer.group, self.reason, answer.details, versus)

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
