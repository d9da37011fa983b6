"""Which of a table's functions shows an outcome: that of its type, or of the nearest type it is made from."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Shown = TypeVar("Shown")


def chosen(table: Mapping[type[Any], Callable[[Any], Shown]], outcome: Any) -> Callable[[Any], Shown]:
    """Return the function that `table` has for `outcome`."""
    return next(table[each] for each in type(outcome).__mro__ if each in table)
