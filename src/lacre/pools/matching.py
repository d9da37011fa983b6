"""Fingerprints of one pool found in others, and how many cases they are; several kinds may find the same case."""

import numpy as np

from lacre.canonical import parse_canonical
from lacre.pools import chance
from lacre.pools.prints import Kind, PrintArray, Prints, Sections, as_array, common


def comparable(a: Prints, b: Prints, *, ids_decide: bool) -> list[tuple[str, str]]:
    """Return the labels of content sections over the same columns, unless one namespace's ids decide."""
    known = {label: parse_canonical(label.encode()) for label in (*a.labels("content"), *b.labels("content"))}
    return [
        (mine, other)
        for mine in a.labels("content")
        for other in b.labels("content")
        if known[mine][1:] == known[other][1:]
        and not (ids_decide and known[mine][0] is not None and known[mine][0] == known[other][0])
    ]


class Matches:
    """The prints of one pool found in others; several kinds may have found the same case."""

    def __init__(self) -> None:
        self._found: Sections = {}

    def add(self, kind: Kind, label: str, prints: PrintArray) -> None:
        """Add prints that are in both pools."""
        if len(prints):
            before = self._found.get((kind, label), as_array(()))
            self._found[kind, label] = np.union1d(before, prints)

    def add_files(self, a: Prints, b: Prints) -> None:
        """Add the cases of each table of which a file is in both, whatever either plan declares of its columns."""
        for name in a.labels("file"):
            if len(common(a.section("file", name), b.all("file"))):
                self.add("file", name, a.section("case", name))

    def add_content(self, a: Prints, mine: str, b: Prints, other: str) -> None:
        """Add what sections over the same columns share beyond chance (`lacre.pools.chance`)."""
        in_a, times_a = np.unique(a.section("content", mine), return_counts=True)
        in_b, times_b = np.unique(b.section("content", other), return_counts=True)
        both, at_a, at_b = np.intersect1d(in_a, in_b, assume_unique=True, return_indices=True)
        size_a, size_b = int(times_a.sum()), int(times_b.sum())
        across = both[(times_a[at_a] == 1) & (times_b[at_b] == 1)]
        pairs = np.concatenate(
            [
                np.setdiff1d(in_a[times_a == 2], both, assume_unique=True),
                np.setdiff1d(in_b[times_b == 2], both, assume_unique=True),
            ]
        )
        if chance.contents_beyond_chance(len(across), len(pairs), size_a, size_b):
            self.add("content", mine, across)
        passages = np.union1d(a.section("passage", mine), b.section("passage", other))
        long = common(across, passages)
        if chance.passages_beyond_chance(len(long), len(common(pairs, passages)), size_a, size_b):
            self.add("content", mine, long)
        agreeing = float(times_a[at_a].astype(np.float64) @ times_b[at_b].astype(np.float64))
        self._add_rows(a, mine, b, other, agreeing / max(size_a * size_b, 1))

    def _add_rows(self, a: Prints, mine: str, b: Prints, other: str, collision: float) -> None:
        alike = common(a.section("row", mine), b.section("row", other))
        displaced = sum(
            len(common(x, y))
            for x, y in (
                (a.section("row", mine), b.section("next", other)),
                (a.section("next", mine), b.section("row", other)),
            )
        )
        shared_ids = len(common(a.section("id", mine), b.section("id", other)))
        if chance.rows_beyond_chance(len(alike), shared_ids, collision, displaced):
            self.add("row", mine, alike)

    def contents(self) -> int:
        """Return how many cases, at least, were found by their content."""
        labels = {label for kind, label in self._found if kind in ("content", "row")}
        return sum(max(self._size("content", label), self._size("row", label)) for label in labels)

    def count(self) -> int:
        """Return how many cases, at least, were found."""
        files = sum(self._size(kind, label) for kind, label in self._found if kind == "file")
        return max(self._size("case", ""), self._size("digest", ""), files, self.contents())

    def _size(self, kind: Kind, label: str) -> int:
        return len(self._found.get((kind, label), ()))
