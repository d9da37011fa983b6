"""How an interval was made, in words: a result stores it in English, in parts, the same in every language."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from lacre.errors import printable
from lacre.text import N_, _

PARTS: Mapping[str, str] = MappingProxyType(
    {
        "wilson": N_("Wilson"),
        "clopper-pearson": N_("Clopper-Pearson"),
        "wilson on effective sample size": N_("Wilson on effective sample size"),
        "clopper-pearson on effective sample size": N_("Clopper-Pearson on effective sample size"),
        "bootstrap": N_("bootstrap"),
        "case bootstrap": N_("bootstrap of cases"),
        "cluster bootstrap": N_("bootstrap of clusters"),
        "subject bootstrap": N_("bootstrap of subjects"),
        "percentile": N_("percentile"),
        "Tango": N_("Tango"),
        "Hájek mean": N_("Hájek mean"),
        "Horvitz-Thompson": N_("Horvitz-Thompson"),
        "Horvitz-Thompson total": N_("Horvitz-Thompson total"),
        "ratio of Horvitz-Thompson totals": N_("ratio of Horvitz-Thompson totals"),
        "stratified": N_("stratified"),
        "by clusters": N_("by clusters"),
        "Sen-Yates-Grundy": N_("Sen-Yates-Grundy"),
        "Student's t": N_("Student's t"),
        "asymptotic": N_("asymptotic"),
    }
)
_COUNTED = (
    (re.compile(r"(?P<count>[0-9]+) resamples"), N_("{count} resamples")),
    (re.compile(r"seed (?P<count>[0-9]+)"), N_("seed {count}")),
)


def method(name: str) -> str:
    """Return how an interval was made; a part that this version does not know is shown as it is stored."""
    return ", ".join(map(_part, name.split(", ")))


def _part(name: str) -> str:
    if name in PARTS:
        return _(PARTS[name])
    for pattern, template in _COUNTED:
        found = pattern.fullmatch(name)
        if found:
            return _(template).format(count=found["count"])
    return printable(name)
