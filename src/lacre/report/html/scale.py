"""The axes of the drawings: where a value stands, and the few values that are written beside an axis."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from statistics import NormalDist

from lacre.report import words
from lacre.text import _

MOST_TICKS = 5
_LEAST = 1e-9
"""The least width of an axis: what is nearer together stands at one place."""

RATES = (
    0.0001,
    0.0002,
    0.0005,
    0.001,
    0.002,
    0.005,
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.3,
    0.4,
    0.5,
    0.6,
    0.8,
    0.9,
    0.95,
    0.99,
)
"""What is written beside an axis of normal deviates, as in Martin et al. 1997."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from `low` to `high`; `ticks` are values and what is written beside them.

    `straight` maps a value to where it stands evenly (a logarithm, a normal deviate); `reference` is the value that
    means no difference, if one does, and `unit` what the ticks leave out.
    """

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    straight: Callable[[float], float] = float
    reference: float | None = None
    unit: str = ""

    def place(self, value: float) -> float:
        """Return where a value stands, from 0 at the low end to 1 at the high one; what is beyond stands there."""
        low, high = self.straight(self.low), self.straight(self.high)
        at = (self.straight(min(max(value, self.low), self.high)) - low) / (high - low)
        return min(max(at, 0.0), 1.0)


def shares(values: Iterable[float]) -> Axis:
    """Return an axis for rates, which begins at 0 or ends at 1 unless all of them are far from it."""
    known = [min(max(value, 0.0), 1.0) for value in values]
    least, most = min(known, default=0.0), max(known, default=1.0)
    step = _step((most - (0.0 if least < 0.5 else least)) or 0.1)
    low = 0.0 if least < 0.5 else max(0.0, _short(math.floor(least / step + 1e-9) * step))
    high = min(1.0, _short(math.ceil(most / step - 1e-9) * step))
    if high - low < step:
        low, high = (max(0.0, _short(low - step)), high) if high >= 1 else (low, min(1.0, _short(low + step)))
    return Axis(low, high, _ticks(low, high, step, words.percent))


def differences(values: Iterable[float]) -> Axis:
    """Return an axis for differences of rates, in percentage points, with 0 on it."""
    axis = _around(values, lambda value: f"{100 * value:+.6g}".replace("-", "−") if value else "0")
    return replace(axis, unit=_("percentage points"))


def gaps(values: Iterable[float]) -> Axis:
    """Return an axis for differences that have no direction, from 0."""
    axis = _around(values, lambda value: f"{100 * value:.6g}")
    return replace(axis, unit=_("percentage points"))


def numbers(values: Iterable[float]) -> Axis:
    """Return an axis for any numbers, such as differences of scores, with 0 on it."""
    return _around(values, lambda value: f"{value:.12g}")


def ratios(values: Iterable[float]) -> Axis:
    """Return an axis for ratios: logarithmic, with 1 on it."""
    known = [value for value in values if 0 < value < math.inf]
    low, high = min([1.0, *known]), max([1.0, *known])
    low, high = low / 1.1 if low < 1 else 1.0, high * 1.1
    high = max(high, 2.0)
    marks = [m * 10.0**e for e in range(-6, 7) for m in (1, 2, 3, 5)]
    ticks = [mark for mark in marks if low <= mark <= high]
    while len(ticks) > MOST_TICKS:
        ticks = ticks[::2] if 1.0 in ticks[::2] else ticks[1::2]
    return Axis(low, high, tuple((tick, f"{tick:.6g}×") for tick in ticks), math.log, reference=1.0)


def deviates(values: Iterable[float]) -> Axis:
    """Return an axis for error rates on which those of normal scores lie on a line (a DET curve's).

    A rate of 0 or 1 stands at the end of the axis.
    """
    known = [value for value in values if 0 < value < 1]
    least, most = min([0.05, *known]), max([0.4, *known])
    low = max([rate for rate in RATES if rate <= least], default=RATES[0])
    high = min([rate for rate in RATES if rate >= most], default=RATES[-1])
    marks = [rate for rate in RATES if low <= rate <= high]
    while len(marks) > MOST_TICKS + 2:
        marks = marks[::2]
    return Axis(low, high, tuple((mark, words.percent(mark)) for mark in marks), NormalDist().inv_cdf)


def axis(kind: str, values: Iterable[float]) -> Axis:
    """Return the axis that numbers of a kind are drawn on."""
    return {"share": shares, "gap": gaps, "difference": differences, "ratio": ratios}.get(kind, numbers)(
        values
    )


def _around(values: Iterable[float], told: Callable[[float], str]) -> Axis:
    known = [0.0, *(value for value in values if math.isfinite(value))]
    step = _step((max(known) - min(known)) or 0.1)
    low = _short(math.floor(min(known) / step + 1e-9) * step)
    high = _short(math.ceil(max(known) / step - 1e-9) * step)
    high = high if high > low else _short(low + step)
    return Axis(low, high, _ticks(low, high, step, told), reference=0.0)


def _step(width: float) -> float:
    """Return the round step that makes at most `MOST_TICKS` of the width."""
    least = max(width, _LEAST) / (MOST_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(least))
    return next(_short(m * power) for m in (1, 2, 2.5, 5, 10) if m * power >= least * (1 - 1e-9))


def _ticks(
    low: float, high: float, step: float, told: Callable[[float], str]
) -> tuple[tuple[float, str], ...]:
    first, last = math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6)
    marks = [_short(step * index) for index in range(first, last + 1)]
    return tuple((mark, told(mark)) for mark in marks)


def _short(number: float) -> float:
    """Return a number without the noise in its last digits."""
    return float(f"{number:.12g}")


def axis_words() -> tuple[str, str]:
    """Return what stands beside the axes of error rates: across, and upwards."""
    return _("false matches"), _("false non-matches")
