"""The tree as the entries give it: a root for each number of entries, and every node."""

from collections.abc import Iterable, Mapping

from lacre.ledger.merkle import EMPTY_ROOT, Frontier


class Tree:
    """Grows by one leaf hash after the other, and keeps the root at each size (about 80 bytes an entry).

    Once a leaf is missing nothing more is known of the tree: `whole` is false, and it no longer grows.
    """

    def __init__(self) -> None:
        self._frontier = Frontier()
        self._roots = [EMPTY_ROOT]
        self._leaves: list[bytes] = []
        self._nodes: dict[tuple[int, int], bytes] = {}
        self.whole = True

    @property
    def size(self) -> int:
        """The number of entries up to the first that is missing."""
        return len(self._leaves)

    @property
    def root(self) -> bytes:
        """The root of these entries."""
        return self._roots[-1]

    @property
    def nodes(self) -> Mapping[tuple[int, int], bytes]:
        """The hash of each complete subtree above the leaves, by level and position."""
        return self._nodes

    def append(self, leaf: bytes) -> None:
        """Add the hash of the next leaf."""
        if self.whole:
            for level, position, node in self._frontier.append(leaf):
                self._nodes[level, position] = node
            self._leaves.append(leaf)
            self._roots.append(self._frontier.root())

    def tear(self) -> None:
        """Say that the next leaf is missing."""
        self.whole = False

    def root_at(self, size: int) -> bytes | None:
        """Return the root of the first `size` entries; None where it is not known."""
        return self._roots[size] if 0 <= size <= self.size else None

    def leaf_at(self, index: int) -> bytes | None:
        """Return the leaf hash of the entry `index`; None where it is not known."""
        return self._leaves[index] if 0 <= index < self.size else None

    def hash_at(self, level: int, position: int) -> bytes | None:
        """Return the hash of a complete subtree, level 0 being the leaves; None where it is not known."""
        return self._nodes.get((level, position)) if level else self.leaf_at(position)

    def extended(self, leaves: Iterable[bytes]) -> "Tree":
        """Return another tree, of these leaves and more."""
        tree = Tree()
        for leaf in (*self._leaves, *leaves):
            tree.append(leaf)
        return tree
