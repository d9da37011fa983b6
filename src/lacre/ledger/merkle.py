"""The RFC 6962 Merkle tree over SHA-256: roots, proofs and their verification (RFC 9162 section 2.1).

A tree is never held whole. What is stored are the hashes of its *complete* subtrees: the one at `level` and
`position` covers the leaves from `position * 2**level` up to, not including, `(position + 1) * 2**level`, and
level 0 holds the leaf hashes. A function of that shape (`Subtree`) is all that roots and proofs are computed
from; it is asked for complete subtrees inside the tree only, of the order of `log2(size)` of them. Hashes are
32 bytes.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence

from lacre.errors import ProofImpossible, ProofInvalid
from lacre.text import _

HASH_SIZE = 32
EMPTY_ROOT = hashlib.sha256(b"").digest()

Subtree = Callable[[int, int], bytes]


def leaf_hash(entry: bytes) -> bytes:
    """Return the hash of the leaf that holds `entry`: H(0x00 || entry)."""
    return hashlib.sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of the node over two subtrees: H(0x01 || left || right)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root(leaf_hashes: Iterable[bytes]) -> bytes:
    """Return the root of the tree over `leaf_hashes`, in order."""
    frontier = Frontier()
    for leaf in leaf_hashes:
        frontier.append(leaf)
    return frontier.root()


class Frontier:
    """The right edge of a growing tree: the hashes of the complete subtrees its size is the sum of.

    Appending costs O(log n) hashes at worst and one on average; nothing else of the tree is needed.
    """

    __slots__ = ("_nodes", "_size")

    def __init__(self) -> None:
        self._size = 0
        self._nodes: list[bytes] = []

    @classmethod
    def from_nodes(cls, size: int, nodes: Sequence[bytes]) -> "Frontier":
        """Return the edge of a tree of `size` leaves from the hashes of `complete_subtrees(size)`, in order.

        Raises `ProofImpossible` when there are not as many hashes as the size asks for.
        """
        if size < 0 or len(nodes) != size.bit_count() or any(len(node) != HASH_SIZE for node in nodes):
            raise ProofImpossible(why=_("its edge does not fit its size"))
        frontier = cls()
        frontier._size = size
        frontier._nodes = list(nodes)
        return frontier

    @classmethod
    def at(cls, size: int, subtree: Subtree) -> "Frontier":
        """Return the edge of the tree of `size` leaves, read from its stored subtrees."""
        return cls.from_nodes(size, [subtree(*node) for node in complete_subtrees(size)])

    @property
    def size(self) -> int:
        """The number of leaves."""
        return self._size

    @property
    def nodes(self) -> tuple[bytes, ...]:
        """The hashes of `complete_subtrees(size)`, widest subtree first."""
        return tuple(self._nodes)

    def append(self, leaf: bytes) -> tuple[tuple[int, int, bytes], ...]:
        """Add a leaf by its hash; return the nodes it completes above the leaves as (level, position, hash).

        They come lowest first.
        """
        completed = []
        level, position, node = 0, self._size, leaf
        while position & 1:
            level, position, node = level + 1, position >> 1, node_hash(self._nodes.pop(), node)
            completed.append((level, position, node))
        self._nodes.append(node)
        self._size += 1
        return tuple(completed)

    def root(self) -> bytes:
        """Return the root of the tree as it stands."""
        return _fold(self._nodes)


def complete_subtrees(size: int) -> tuple[tuple[int, int], ...]:
    """Return the complete subtrees a tree of `size` leaves is made of as (level, position), widest first."""
    return tuple(_complete_subtrees(0, size))


def root_at(size: int, subtree: Subtree) -> bytes:
    """Return the root the tree had at `size` leaves; `ProofImpossible` for a negative size."""
    if size < 0:
        raise ProofImpossible(why=_("no tree has {size} entries").format(size=size))
    return _range_hash(0, size, subtree)


def inclusion_proof(index: int, size: int, subtree: Subtree) -> tuple[bytes, ...]:
    """Return the hashes that lead from leaf `index` to the root at `size`, lowest first (RFC 9162 2.1.3.1).

    Raises `ProofImpossible` when the tree has no such leaf.
    """
    if not 0 <= index < size:
        raise ProofImpossible(
            why=_("entry {index} of a tree of {size} entries").format(index=index, size=size)
        )
    proof = []
    begin, end = 0, size
    while end - begin > 1:
        middle = begin + _split(end - begin)
        if index < middle:
            proof.append(_range_hash(middle, end, subtree))
            end = middle
        else:
            proof.append(_range_hash(begin, middle, subtree))
            begin = middle
    return tuple(reversed(proof))


def consistency_proof(old: int, new: int, subtree: Subtree) -> tuple[bytes, ...]:
    """Return the hashes that show the tree of `new` leaves to extend that of `old` (RFC 9162 2.1.4.1).

    The proof from an empty tree, and between equal trees, is empty. Raises `ProofImpossible` when the old
    tree is larger than the new one.
    """
    if not 0 <= old <= new:
        raise ProofImpossible(why=_("a tree of {new} entries extends none of {old}").format(old=old, new=new))
    if old == 0:
        return ()
    proof = []
    begin, end = 0, new
    while end != old:
        middle = begin + _split(end - begin)
        if old <= middle:
            proof.append(_range_hash(middle, end, subtree))
            end = middle
        else:
            proof.append(_range_hash(begin, middle, subtree))
            begin = middle
    if begin:
        proof.append(_range_hash(begin, end, subtree))
    return tuple(reversed(proof))


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """Check that the leaf of hash `leaf` is entry `index` of the tree of `size` leaves under `root`.

    The algorithm is RFC 9162 section 2.1.3.2. Raises `ProofInvalid`.
    """
    if not 0 <= index < size:
        raise ProofInvalid(why=_("the tree is too small for the entry"))
    _check_widths((leaf, root, *proof))
    node = leaf
    for sibling, is_left in _climb(index, size - 1, proof):
        node = node_hash(sibling, node) if is_left else node_hash(node, sibling)
    if node != root:
        raise ProofInvalid(why=_("it leads to another root"))


def verify_consistency(old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]) -> None:
    """Check that the tree of `new` leaves under `new_root` extends that of `old` leaves under `old_root`.

    The algorithm is RFC 9162 section 2.1.4.2, with the two cases that section leaves out: every tree extends
    the empty one and itself, by an empty proof. Raises `ProofInvalid`.
    """
    if not 0 <= old <= new:
        raise ProofInvalid(why=_("the newer tree is smaller than the older one"))
    _check_widths((old_root, new_root, *proof))
    if old in (0, new):
        _check_extends_trivially(old, new, old_root, new_root, proof)
        return
    if not proof:
        raise ProofInvalid(why=_("it is too short"))
    # A complete old tree is a node of the new one: its root starts the path and is left out of the proof.
    start, *path = proof if old & (old - 1) else (old_root, *proof)
    before = after = start
    level = (old & -old).bit_length() - 1
    for node, is_left in _climb((old - 1) >> level, (new - 1) >> level, path):
        before = node_hash(node, before) if is_left else before
        after = node_hash(node, after) if is_left else node_hash(after, node)
    if (before, after) != (old_root, new_root):
        raise ProofInvalid(why=_("it leads to another root"))


def _check_extends_trivially(
    old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]
) -> None:
    if proof:
        raise ProofInvalid(why=_("it is too long"))
    if (old == 0 and old_root != EMPTY_ROOT) or (old == new and old_root != new_root):
        raise ProofInvalid(why=_("it leads to another root"))


def _climb(low: int, last: int, path: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield each hash of a path to the root, and whether it stands to the left of what it is joined to.

    `low` is the position the path starts at and `last` that of the rightmost node of its level: fn and sn of
    RFC 9162. A node that is last in its level without a sibling rises until it has one. Raises `ProofInvalid`
    when the root is met too early or not at all.
    """
    for node in path:
        if last == 0:
            raise ProofInvalid(why=_("it is too long"))
        is_left = bool(low & 1) or low == last
        yield node, is_left
        while is_left and low and not low & 1:
            low, last = low >> 1, last >> 1
        low, last = low >> 1, last >> 1
    if last:
        raise ProofInvalid(why=_("it is too short"))


def _check_widths(hashes: Iterable[bytes]) -> None:
    if any(len(digest) != HASH_SIZE for digest in hashes):
        raise ProofInvalid(why=_("a hash has not 32 bytes"))


def _split(width: int) -> int:
    """Return the largest power of two smaller than `width`, which is at least 2."""
    return 1 << ((width - 1).bit_length() - 1)


def _complete_subtrees(begin: int, end: int) -> Iterator[tuple[int, int]]:
    while begin < end:
        level = (end - begin).bit_length() - 1
        yield level, begin >> level
        begin += 1 << level


def _range_hash(begin: int, end: int, subtree: Subtree) -> bytes:
    """Return the hash over the leaves from `begin` to `end`, where a split of the tree put them together.

    `begin` is then a multiple of a power of two no smaller than the range, so each complete subtree of the
    range is one of the tree.
    """
    return _fold([subtree(level, position) for level, position in _complete_subtrees(begin, end)])


def _fold(nodes: Sequence[bytes]) -> bytes:
    if not nodes:
        return EMPTY_ROOT
    node = nodes[-1]
    for left in reversed(nodes[:-1]):
        node = node_hash(left, node)
    return node
