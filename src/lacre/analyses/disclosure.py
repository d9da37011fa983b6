"""Disclosure control: small groups are withheld, and as many more as would let one subtract them back.

An estimate whose denominator is under `min_count` is withheld, and so is what would tell it, as
`lacre.analyses.suppression` finds. Protected are the numbers of cases with label 0 and with label 1 of each
group, the denominators of the false positive and the false negative rates. Error and selection rest on both,
so a group's are shown only where both may be.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from lacre.analyses.estimate import Answer, Group, Withheld
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

    Verdict states stay; their numbers go where they rest on what is withheld. `result` is of one system.
    """
    layers = [each for each in result.estimates if each.metric in LAYERS and not isinstance(each, Withheld)]
    hidden = hidden_cells({(each.metric, _key(each.group)): each.denominator for each in layers}, least)
    blank = {(each.metric, _key(each.group)): getattr(each, "missing", 0) for each in layers}
    if any(blank.values()):
        # Whoever submits chooses which cases are blank: of a handful that are not, the counts tell the labels.
        predicted = {
            (e.metric, _key(e.group)): e.denominator - blank[e.metric, _key(e.group)] for e in layers
        }
        hidden |= hidden_cells(predicted, least)
    return _without(_calibration_of_many(result, least), hidden, least)


def together(results: Sequence[AnalysisResult], subjects: Sequence[Hashable]) -> list[AnalysisResult]:
    """Return the results of one read with what is withheld in one withheld in all of the same subject.

    `subjects` name, for each result, the cases and the label it is about: two analyses of these show the same
    numbers, and what one hides the other must not show. Nothing becomes computable by it, as with `align`.
    """
    found = []
    for result, subject in zip(results, subjects, strict=True):
        alike = [each for each, other in zip(results, subjects, strict=True) if other == subject]
        withheld = [
            e for each in alike for e in each.estimates if isinstance(e, Withheld) and e.metric in LAYERS
        ]
        hidden = {(each.metric, _key(each.group)) for each in withheld}
        least = int(withheld[0].reason.fields["min_count"]) if withheld else 0
        found.append(_without(result, hidden, least))
    return found


def _calibration_of_many(result: AnalysisResult, least: int) -> AnalysisResult:
    """Withhold all calibration errors where one rests on fewer than `least` cases, and on some."""
    if not any(each.cases is not None and 0 < each.cases < least for each in result.calibration):
        return result
    bare = tuple(replace(each, cases=None, left_out=None, error=None) for each in result.calibration)
    return replace(result, calibration=bare)


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
