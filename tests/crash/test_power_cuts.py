"""kill -9, failed writes and full disks, at every write of every verb.

Whatever happened: the ledger audits clean and is what it was, or that and the entries of the verb; no read is
unrecorded; no word of a sealed cell or a submission lies anywhere; and the same call, given again, does what was
asked, or says that it is done. A call that lives through it says what is true.
"""

import json
from typing import Any

import pytest
from tests.crash.checks import check, first_line
from tests.crash.harness import Harness
from tests.crash.verbs import VERBS


def _cases() -> list[Any]:
    return [
        pytest.param(name, mode, id=f"{name}-{mode}") for name, verb in VERBS.items() for mode in verb.modes
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "mode"), _cases())
def test_a_cut_at_every_write(harness: Harness, name: str, mode: str) -> None:
    verb = VERBS[name]
    whole = harness.whole(verb)
    wrong, tried = [], 0
    for seen in harness.points(verb, mode, whole):
        tried += 1
        try:
            check(verb, whole, seen)
        except AssertionError as error:
            wrong.append(f"at {seen['at']}, {seen['what']}: {first_line(error)}")
    assert not wrong, "\n".join([f"{len(wrong)} of {tried}:", *wrong])
    assert tried > 3


def test_what_all_of_it_is_held_against(harness: Harness) -> None:
    """The reveal that nothing happens to is the one read of `teste`, whose result is confirmatory."""
    shown = json.loads(harness.whole(VERBS["reveal"])["said"]["out"])
    assert (shown["standing"], shown["read"], shown["confirmatory"]) == ("teste", 1, True)
