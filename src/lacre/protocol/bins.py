"""Named bins: intervals of a number by their edges, or declared values taken together, in a fixed order."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Discriminator, Tag

from lacre.protocol.columns import OutcomeValues
from lacre.protocol.grammar import Bins, Model, Name, Named, not_empty, refuse
from lacre.protocol.problems import quoted
from lacre.text import N_


class ValueBin(Model):
    """One bin of declared values."""

    bin: Name
    values: OutcomeValues


def _apart(bins: list[ValueBin]) -> list[ValueBin]:
    not_empty(bins)
    names: set[str] = set()
    taken: dict[str, str] = {}
    for index, each in enumerate(bins):
        if each.bin in names:
            raise refuse(N_("{name} is another bin's name too"), at=(index, "bin"), name=quoted(each.bin))
        names.add(each.bin)
        for value in each.values:
            if value in taken:
                raise refuse(
                    N_("{value} is in {first} as well; a value lies in one bin"),
                    at=(index, "values"),
                    value=quoted(value),
                    first=quoted(taken[value]),
                )
            taken[value] = each.bin
    return bins


def _form(value: Any) -> str:
    return "bins of values" if isinstance(value, list) else "bins by edges"


ValueBins = Annotated[list[ValueBin], AfterValidator(_apart)]
"""Bins of declared values, in their order: a list, since the keys of a map have none in its canonical form."""

DeclaredBins = Named[
    Annotated[
        Annotated[Bins, Tag("bins by edges")] | Annotated[ValueBins, Tag("bins of values")],
        Discriminator(_form),
    ]
]
"""What stands under `bins`: edges in a map, or values in a list."""


def names_of(bins: Iterable[str] | Sequence[ValueBin]) -> tuple[str, ...]:
    """Return the names of declared bins, in order."""
    return tuple(each.bin if isinstance(each, ValueBin) else each for each in bins)
