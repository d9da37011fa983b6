"""Facts that a broker made up: of draws, of what was sealed of them, of thresholds, of second labels.

The request is the person's own, and everything that follows from the entry is made right for it. What the facts say
cannot be, given the plan and the other entries; so each is refused again, at its entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.tampering.test_resigned import put

from lacre.rules.record import Answered
from lacre.rules.requests import Calibrate, Commit, Sample, Seal

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.tampering.forging import Forger, Predicate
    from tests.tampering.place import Place
    from tests.tampering.tally import Tally

    Facts = dict[str, Any]


def only(facts: Facts, name: str) -> Facts:
    """The one record under a name; of strata, the first."""
    found: Facts = facts[name][0]
    return found


FORGED: list[tuple[type[Any], str, Callable[[Facts], object]]] = [
    (Sample, "draw-impossible", lambda facts: only(facts, "strata").update(population=3)),
    (Sample, "record-invalid", lambda facts: only(facts, "strata").update(drawn=59)),
    (Seal, "cases-not-drawn", lambda facts: only(facts, "draws").update(undrawn=1)),
    (Seal, "not-as-drawn", lambda facts: only(facts, "draws").update(chances=1)),
    (Seal, "draw-impossible", lambda facts: only(facts, "draws").update(absent=1)),
    (Seal, "draw-impossible", lambda facts: only(facts, "draws").update(entry=0)),
    (Seal, "draw-impossible", lambda facts: facts.pop("draws")),
    (Calibrate, "threshold-impossible", lambda facts: only(facts, "thresholds").update(value="0.01")),
    (Calibrate, "threshold-impossible", lambda facts: only(facts, "thresholds").update(target="false_match")),
    (Calibrate, "threshold-impossible", lambda facts: only(facts, "thresholds").update(at="0.5")),
    (Calibrate, "threshold-impossible", lambda facts: only(facts, "thresholds").update(events=3, cases=10)),
    (Calibrate, "threshold-impossible", lambda facts: only(facts, "thresholds").update(confidence="0.1")),
    (Calibrate, "threshold-impossible", lambda facts: only(facts, "thresholds").update(cases=10**9, events=10**9)),
    (Calibrate, "record-invalid", lambda facts: only(facts, "thresholds").update(name="matcher")),
    (Commit, "relabels-impossible", lambda facts: facts.update(rows=10**6)),
    (Commit, "relabels-impossible", lambda facts: facts.update(days_apart=0)),
    (Commit, "relabel-inputs-differ", lambda facts: facts["inputs"].update(picture=1)),
    (Commit, "relabels-too-soon", lambda facts: facts.update(early=1)),
]  # fmt: skip


def where(forger: Forger, kind: type[Any]) -> int:
    """The entry of the study of four pools that answers such a request; of seals, that of the pool drawn by plan."""
    for index in range(len(forger.datas)):
        content = forger.recorded(index).content
        if isinstance(content, Answered) and isinstance(content.request, kind):
            request = content.request
            if request.study == "faces" and getattr(request, "pool", "teste") == "teste":
                return index
    raise AssertionError(kind)


@pytest.mark.parametrize(("kind", "law", "forge"), FORGED)
def test_facts_that_nobody_can_have_found(
    place: Place, forger: Forger, tally: Tally, kind: type[Any], law: str, forge: Callable[[Facts], object]
) -> None:
    at = where(forger, kind)

    def edit(index: int, predicate: Predicate) -> None:
        if index == at:
            forge(predicate["facts"])

    put(place, forger.rewritten(edit))
    code = "out-of-place" if law == "record-invalid" else "law-broken"
    report = tally.judge(f"{law} at entry {at}", place.audit, entries={at}, codes={code})
    found = [(each.code, each.entry, each.fields.get("law")) for each in report.findings]
    assert (code, at, None if code == "out-of-place" else law) in found
    assert not report.ok
