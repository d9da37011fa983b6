"""Which verdicts of a criterion are out of reach, and what it would take: whole sentences, the same wherever told."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from lacre.text import N_, _

if TYPE_CHECKING:
    # SciPy comes with it.
    from lacre.analyses.need import Need

_PASSES: Mapping[str, str] = MappingProxyType(
    {
        "cases": N_(
            "{name} cannot pass as planned. It needs {least} cases in the rate's denominator in each of {groups} "
            "groups, and what is planned leaves no room for that."
        ),
        "all": N_(
            "{name} cannot pass as planned. It needs {least} cases in the rate's denominator, and what is planned "
            "leaves no room for that."
        ),
        "pairs": N_(
            "{name} cannot pass as planned. It needs {least} pairs, and what is planned leaves no room for that."
        ),
        "comparisons": N_(
            "{name} cannot pass as planned. It needs about {least} comparisons in each of {groups} groups, and what "
            "is planned leaves no room for that."
        ),
        "relabels": N_("{name} cannot pass as planned. It needs {least} relabels, and fewer are planned."),
    }
)
_FAILS: Mapping[str, str] = MappingProxyType(
    {
        "cases": N_(
            "{name} cannot fail as planned. It needs a group of {least} cases in the rate's denominator (a gap two), "
            "and what is planned leaves no room for that."
        ),
        "all": N_(
            "{name} cannot fail as planned. It needs {least} cases in the rate's denominator, and what is planned "
            "leaves no room for that."
        ),
        "pairs": N_(
            "{name} cannot fail as planned. It needs {least} pairs, and what is planned leaves no room for that."
        ),
        "comparisons": N_(
            "{name} cannot fail as planned. It needs a group of {least} comparisons, and what is planned leaves no "
            "room for that."
        ),
        "relabels": N_("{name} cannot fail as planned. It needs {least} relabels, and fewer are planned."),
    }
)


def out_of_reach(need: "Need") -> Iterator[str]:
    """Say which verdict a criterion cannot come to, and what it would take."""
    least, named = need.minimum, _named(need)
    if not (need.attainable.passes or need.attainable.fails) and least.to_pass is None is least.to_fail:
        said = _("{name} can neither pass nor fail, for want of an interval that holds for such a sample.")
        yield said.format(name=named)
        return
    counted = "all" if need.counted == "cases" and need.groups == 1 else need.counted or "cases"
    if not need.attainable.passes:
        template = _never_passes(need) if least.to_pass is None else _(_PASSES[counted])
        yield template.format(name=named, least=least.to_pass, groups=need.groups)
    if not need.attainable.fails:
        template = _never_fails(need) if least.to_fail is None else _(_FAILS[counted])
        yield template.format(name=named, least=least.to_fail, groups=need.groups)


def hopeful(need: "Need") -> Iterator[str]:
    """Say where a margin is left so few that it passes only if something differs, in its favour."""
    equal, most = need.more.get("if_equal"), need.more.get("most")
    if need.attainable.passes and equal is not None and most is not None and most < equal:
        yield _(
            "{name} can pass only if there is a difference, in its favour. Without one it takes {equal}, and what is "
            "planned leaves room for {most}."
        ).format(name=_named(need), equal=equal, most=most)


def _never_passes(need: "Need") -> str:
    if need.counted != "cases":
        return _("No outcome of {name} can pass, whatever its size.")
    return _("No outcome of {name} can pass, with up to a billion cases in each group.")


def _never_fails(need: "Need") -> str:
    if need.counted != "cases":
        return _("No outcome of {name} can fail, whatever its size.")
    return _("No outcome of {name} can fail, with up to a billion cases in each group.")


def _named(need: "Need") -> str:
    return f"{need.analysis}.{need.criterion}"
