"""The thresholds that a result says it was computed at."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from lacre.analyses.recomputing.tally import Tally
from lacre.protocol.grammar import as_float
from lacre.protocol.models import Protocol
from lacre.protocol.thresholds import CalibratedThreshold, FixedThreshold
from lacre.rules.thresholds import needed
from lacre.text import _


def check_thresholds(document: Mapping[str, Any], protocol: Protocol, tally: Tally) -> None:
    """Hold them against the plan: each that is used is there once for each system, a fixed one as registered.

    That a calibrated one is the one that was frozen, the entries say, and not the result.
    """
    analyses = document.get("analyses")
    named = (
        [str(each.get("id")) for each in analyses if isinstance(each, dict)]
        if isinstance(analyses, list)
        else []
    )
    names = [name for name in named if name in protocol.analyses]
    stated = document.get("thresholds")
    told = [each if isinstance(each, dict) else {} for each in stated] if isinstance(stated, list) else []
    used = dict.fromkeys(name for each in names for name in sorted(protocol.analyses[each].thresholds()))
    fixed = [name for name in used if isinstance(protocol.thresholds.get(name), FixedThreshold)]
    wanted = Counter([*((name, "") for name in fixed), *needed(protocol, names)])
    there = Counter((str(each.get("name")), str(each.get("system") or "")) for each in told)
    if there != wanted or (stated is not None and not told):
        tally.differs("thresholds", sorted(there.elements()), sorted(wanted.elements()))
    for each in told:
        name = str(each.get("name"))
        registered, what = protocol.thresholds.get(name), f"thresholds.{name}"
        if isinstance(registered, FixedThreshold):
            tally.holds(f"{what}.value", each.get("value"), as_float(registered.fixed))
            tally.holds(f"{what}.entry", each.get("entry"), None)
        elif isinstance(registered, CalibratedThreshold):
            value, entry = each.get("value"), each.get("entry")
            number = isinstance(value, float | int) and not isinstance(value, bool)
            tally.fits(f"{what}.value", value, "a number", fits=number)
            tally.fits(f"{what}.entry", entry, _("an entry"), fits=type(entry) is int and entry > 0)
