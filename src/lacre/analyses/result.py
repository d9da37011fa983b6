"""An analysis's result: everything it found, in one order, as the JSON a ledger stores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType
from typing import Any, TypeVar

from lacre.analyses.estimate import Answer, Group, group_json
from lacre.analyses.reasons import Reason
from lacre.analyses.verdict import CriterionResult, LeftOut, State, worst

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CalibrationError:
    """The expected calibration error of one group: no rate, without an interval, and it decides nothing.

    `error` is None without cases (or withheld, as are the counts then). `left_out` counts the group's cases
    without a label or a probability.
    """

    system: str
    group: Group
    bins: int
    cases: int | None
    left_out: int | None
    error: float | None

    def as_json(self) -> dict[str, Any]:
        """Return it as a result stores it."""
        return {
            "system": self.system or None,
            "group": group_json(self.group),
            "bins": self.bins,
            "cases": self.cases,
            "left_out": self.left_out,
            "expected_calibration_error": self.error,
        }


@dataclass(frozen=True, slots=True)
class AnalysisResult:
    """What one analysis found of one system or, merged, of several.

    `rows` are the cases after the registered exclusions, which stand in `left_out` too. There each reason is
    counted by itself, so a case may stand under several. `confirmatory` is None until the read is known.
    `tables` are a kind's own, by name: rows of JSON values, each with its intervals where it holds rates.
    """

    id: str
    kind: str
    state: State
    rows: int
    estimates: tuple[Answer, ...]
    criteria: tuple[CriterionResult, ...]
    calibration: tuple[CalibrationError, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[Reason, ...] = ()
    confirmatory: bool | None = None
    tables: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=lambda: MappingProxyType({}))

    def as_json(self) -> dict[str, Any]:
        """Return the result as the ledger stores it: the same inputs give the same bytes."""
        return {
            "id": self.id,
            "kind": self.kind,
            "state": self.state.value,
            "confirmatory": self.confirmatory,
            "rows": self.rows,
            "estimates": [each.as_json() for each in self.estimates],
            "criteria": [each.as_json() for each in self.criteria],
            "calibration": [each.as_json() for each in self.calibration],
            "left_out": [each.as_json() for each in self.left_out],
            "notes": [each.as_json() for each in self.notes],
            **(
                {"tables": {name: [dict(row) for row in rows] for name, rows in self.tables.items()}}
                if self.tables
                else {}
            ),
        }


def merged(results: Sequence[AnalysisResult]) -> AnalysisResult:
    """Return one result of the same analysis over several systems, in the order given; at least one.

    Its state is the worst of theirs. What does not depend on the system stands once.
    """
    first = results[0]
    if len(results) == 1:
        return first
    return replace(
        first,
        state=worst(each.state for each in results),
        estimates=tuple(chain.from_iterable(each.estimates for each in results)),
        criteria=tuple(chain.from_iterable(each.criteria for each in results)),
        calibration=tuple(chain.from_iterable(each.calibration for each in results)),
        tables={
            name: tuple(chain.from_iterable(each.tables.get(name, ()) for each in results))
            for name in dict.fromkeys(chain.from_iterable(each.tables for each in results))
        },
        left_out=_once(chain.from_iterable(each.left_out for each in results)),
        notes=_once(chain.from_iterable(each.notes for each in results)),
    )


def _once(items: Iterable[T]) -> tuple[T, ...]:
    kept: list[T] = []
    for item in items:
        if item not in kept:
            kept.append(item)
    return tuple(kept)
