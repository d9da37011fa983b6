"""Overlaps in words and counts, for refusals and reports alike."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from lacre.errors import printable
from lacre.rules.answers import Gated, Overlap
from lacre.text import N_, _, ngettext

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "cases": N_("cases"),
        "units": N_("units"),
        "disjoint": N_("values that must stay apart"),
        "digests": N_("digests"),
        "contents": N_("contents"),
    }
)


def overlap_text(overlap: Overlap) -> str:
    """Say what two pools have in common."""
    kind = _(KINDS[overlap.kind])
    label = f" ({printable(overlap.label)})" if overlap.label else ""
    return _("{count} {kind}{label} of {study}/{pool}").format(
        count=overlap.count, kind=kind, label=label, study=overlap.study, pool=overlap.pool
    )


def overlaps_text(overlaps: Sequence[Overlap]) -> str:
    """Say what a pool has in common with others."""
    return "; ".join(map(overlap_text, overlaps))


def gated_text(gated: Sequence[Gated]) -> str:
    """Say what verdicts other studies had on cases that a pool shares with theirs."""
    return "; ".join(
        ngettext(
            "{reads} of {most} reads of {study}/{pool}, with {cases} case in common",
            "{reads} of {most} reads of {study}/{pool}, with {cases} cases in common",
            each.cases,
        ).format(reads=each.reads, most=each.most, study=each.study, pool=each.pool, cases=each.cases)
        for each in gated
    )
