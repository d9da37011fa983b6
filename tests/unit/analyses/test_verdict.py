"""Decisions from bounds, the order of states, and reasons as sentences."""

import re

import numpy as np
import pytest

from lacre.analyses.reasons import TEMPLATES, Reason, render
from lacre.analyses.verdict import Rule, State, ceiling, floor, worst


def one(value: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array([value])


@pytest.mark.parametrize(
    ("low", "high", "state"),
    [
        (0.01, 0.05, State.PASS),
        (0.05, 0.06, State.INSUFFICIENT_EVIDENCE),
        (0.01, 0.0500001, State.INSUFFICIENT_EVIDENCE),
        (0.0500001, 0.06, State.FAIL),
        (float("nan"), float("nan"), State.INSUFFICIENT_EVIDENCE),
    ],
)
def test_ceiling(low: float, high: float, state: State) -> None:
    """PASS iff high <= T, FAIL iff low > T: both ends of the tie."""
    assert ceiling(one(low), one(high), 0.05).state(0) is state


@pytest.mark.parametrize(
    ("low", "high", "state"),
    [
        (0.8, 0.9, State.PASS),
        (0.7, 0.8, State.INSUFFICIENT_EVIDENCE),
        (0.7, 0.7999, State.FAIL),
        (float("nan"), float("nan"), State.INSUFFICIENT_EVIDENCE),
    ],
)
def test_floor(low: float, high: float, state: State) -> None:
    """PASS iff low >= T, FAIL iff high < T."""
    assert floor(one(low), one(high), 0.8).state(0) is state


def test_zero_of_sixty_leaves_five_percent_undecided() -> None:
    """Wilson's upper end at 0/60 is .060: `high` decides, though the rule of three says .05."""
    assert ceiling(one(0.0), one(0.0602), 0.05).state(0) is State.INSUFFICIENT_EVIDENCE


def test_an_unusable_group_blocks_a_pass_and_decides_nothing() -> None:
    low, high = np.array([0.1, 0.1, 0.5]), np.array([0.12, 0.12, 0.6])
    usable = np.array([True, True, False])
    for rule in (Rule("max_group_gap", 0.05), Rule("worst_group_max", 0.2), Rule("worst_group_min", 0.05)):
        assert rule.decide(low, high, usable).state() is State.INSUFFICIENT_EVIDENCE
        assert rule.decide(low[:2], high[:2], usable[:2]).state() is State.PASS
    for failing in (Rule("max_group_gap", 0.05), Rule("worst_group_max", 0.2), Rule("worst_group_min", 0.55)):
        assert failing.decide(low, high, np.array([True, True, True])).state() is State.FAIL


def test_one_usable_group_has_no_gap_to_pass() -> None:
    """Never a gap of 0 for want of a second group."""
    decision = Rule("max_group_gap", 1.0).decide(
        np.array([0.1, np.nan]), np.array([0.2, np.nan]), np.array([True, False])
    )
    assert decision.state() is State.INSUFFICIENT_EVIDENCE


def test_worst_of_several() -> None:
    """FAIL, MANUAL_REVIEW, INSUFFICIENT_EVIDENCE, PASS."""
    order = [State.FAIL, State.MANUAL_REVIEW, State.INSUFFICIENT_EVIDENCE, State.PASS]
    for place in range(4):
        assert worst(reversed(order[place:])) is order[place]
    assert worst([]) is State.PASS


@pytest.mark.parametrize("code", list(TEMPLATES))
def test_every_reason_is_a_sentence(code: str) -> None:
    template = TEMPLATES[code]
    fields: dict[str, str | int | float] = dict.fromkeys(re.findall(r"\{(\w+)\}", template), 0.123456)
    reason = Reason(code, fields)
    assert Reason.from_json(reason.as_json()) == reason
    assert render(reason).endswith((".", "?"))
    if fields:
        assert "0.1235" in render(reason)


def test_unknown_reasons_render_as_their_code() -> None:
    assert render(Reason("of-a-later-version")) == "of-a-later-version"
    assert render(Reason("no-cases\x1b[2J")) == "no-cases\\x1b[2J"
    assert render(Reason("below-min-cell")) == "below-min-cell"


def test_names_in_reasons_cannot_write_to_a_terminal() -> None:
    fields: dict[str, str | float] = {"low": 0.2, "high": 0.3, "threshold": 0.1, "group": "\x1b[2J"}
    assert "\x1b" not in render(Reason("ceiling-broken", fields))
