"""The Merkle tree against the published vectors and against the RFC's own recursive definitions."""

from collections.abc import Callable

import pytest

from lacre.errors import ProofImpossible, ProofInvalid
from lacre.ledger.merkle import (
    EMPTY_ROOT,
    Frontier,
    complete_subtrees,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root,
    root_at,
    verify_consistency,
    verify_inclusion,
)

# The leaves, roots and proofs of the certificate-transparency reference tests (merkle_tree_test.cc).
LEAVES = [
    bytes.fromhex(digits)
    for digits in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
INCLUSION = {
    (0, 1): [],
    (0, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (5, 8): [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 3): ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
    (1, 5): [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
CONSISTENCY = {
    (1, 1): [],
    (1, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (6, 8): [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 5): [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
HASHES = [leaf_hash(leaf) for leaf in LEAVES]


def naive_root(leaves: list[bytes]) -> bytes:
    """MTH of RFC 6962 section 2.1."""
    if not leaves:
        return EMPTY_ROOT
    if len(leaves) == 1:
        return leaves[0]
    split = max(2**k for k in range(12) if 2**k < len(leaves))
    return node_hash(naive_root(leaves[:split]), naive_root(leaves[split:]))


def naive_inclusion(index: int, leaves: list[bytes]) -> list[bytes]:
    """PATH of RFC 6962 section 2.1.1."""
    if len(leaves) == 1:
        return []
    split = max(2**k for k in range(12) if 2**k < len(leaves))
    if index < split:
        return [*naive_inclusion(index, leaves[:split]), naive_root(leaves[split:])]
    return [*naive_inclusion(index - split, leaves[split:]), naive_root(leaves[:split])]


def naive_consistency(old: int, leaves: list[bytes], *, whole: bool = True) -> list[bytes]:
    """SUBPROOF of RFC 6962 section 2.1.2; `whole` is its third argument."""
    if old == len(leaves):
        return [] if whole else [naive_root(leaves)]
    split = max(2**k for k in range(12) if 2**k < len(leaves))
    if old <= split:
        return [*naive_consistency(old, leaves[:split], whole=whole), naive_root(leaves[split:])]
    return [*naive_consistency(old - split, leaves[split:], whole=False), naive_root(leaves[:split])]


def subtrees(leaves: list[bytes]) -> Callable[[int, int], bytes]:
    """Complete subtrees by the definition; anything that sticks out of the tree fails the test."""

    def subtree(level: int, position: int) -> bytes:
        begin, end = position << level, (position + 1) << level
        assert 0 <= begin < end <= len(leaves)
        return naive_root(leaves[begin:end])

    return subtree


def some_leaves(count: int) -> list[bytes]:
    return [leaf_hash(b"%d" % index) for index in range(count)]


@pytest.mark.parametrize("size", range(9))
def test_roots_are_the_published_ones(size: int) -> None:
    assert root(HASHES[:size]).hex() == ROOTS[size]
    assert root_at(size, subtrees(HASHES)).hex() == ROOTS[size]


@pytest.mark.parametrize(("index", "size"), INCLUSION)
def test_inclusion_proofs_are_the_published_ones(index: int, size: int) -> None:
    proof = inclusion_proof(index, size, subtrees(HASHES))
    assert [node.hex() for node in proof] == INCLUSION[index, size]
    verify_inclusion(HASHES[index], index, size, proof, bytes.fromhex(ROOTS[size]))


@pytest.mark.parametrize(("old", "new"), CONSISTENCY)
def test_consistency_proofs_are_the_published_ones(old: int, new: int) -> None:
    proof = consistency_proof(old, new, subtrees(HASHES))
    assert [node.hex() for node in proof] == CONSISTENCY[old, new]
    verify_consistency(old, new, bytes.fromhex(ROOTS[old]), bytes.fromhex(ROOTS[new]), proof)


@pytest.mark.parametrize("size", range(1, 36))
def test_every_proof_of_a_small_tree_follows_the_definition_and_holds(size: int) -> None:
    leaves = some_leaves(size)
    subtree, top = subtrees(leaves), naive_root(leaves)
    assert root_at(size, subtree) == root(leaves) == top
    for index in range(size):
        proof = inclusion_proof(index, size, subtree)
        assert list(proof) == naive_inclusion(index, leaves)
        verify_inclusion(leaves[index], index, size, proof, top)
    for old in range(1, size + 1):
        proof = consistency_proof(old, size, subtree)
        assert list(proof) == naive_consistency(old, leaves)
        verify_consistency(old, size, naive_root(leaves[:old]), top, proof)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 7, 8, 11])
def test_a_changed_inclusion_proof_is_refused(size: int) -> None:
    leaves = some_leaves(size)
    top = naive_root(leaves)
    for index in range(size):
        proof = list(inclusion_proof(index, size, subtrees(leaves)))
        others = [(leaves[index], at, list(proof), top) for at in range(-1, size + 1) if at != index]
        others += [(leaves[index], index, [*proof, top], top), (leaves[index], index, [top, *proof], top)]
        others += [(leaves[index], index, proof[:at] + proof[at + 1 :], top) for at in range(len(proof))]
        others += [(leaves[index], index, changed, top) for changed in every_bit_flip(proof)]
        others += [(changed[0], index, proof, top) for changed in every_bit_flip([leaves[index]])]
        others += [(leaves[index], index, proof, changed[0]) for changed in every_bit_flip([top])]
        for leaf, at, path, head in others:
            with pytest.raises(ProofInvalid):
                verify_inclusion(leaf, at, size, path, head)


@pytest.mark.parametrize(
    ("old", "new"), [(1, 2), (2, 3), (3, 4), (4, 8), (5, 7), (6, 8), (7, 11), (0, 3), (3, 3)]
)
def test_a_changed_consistency_proof_is_refused(old: int, new: int) -> None:
    leaves = some_leaves(new)
    before, after = naive_root(leaves[:old]), naive_root(leaves)
    proof = list(consistency_proof(old, new, subtrees(leaves)))
    verify_consistency(old, new, before, after, proof)
    others = [(before, after, [*proof, after]), (before, after, [before, *proof])]
    others += [(before, after, proof[:at] + proof[at + 1 :]) for at in range(len(proof))]
    others += [(before, after, changed) for changed in every_bit_flip(proof)]
    others += [(changed[0], after, proof) for changed in every_bit_flip([before])]
    if old:  # every tree extends the empty one, so that nothing is said of the newer root
        others += [(before, changed[0], proof) for changed in every_bit_flip([after])]
    for old_root, new_root, path in others:
        with pytest.raises(ProofInvalid):
            verify_consistency(old, new, old_root, new_root, path)


def test_a_proof_longer_than_the_tree_is_deep_is_refused_under_the_root_it_leads_to() -> None:
    """What is joined above the root makes another root: of a tree of 1 or 2 leaves there is nothing above."""
    leaf, other, more = some_leaves(3)
    with pytest.raises(ProofInvalid):
        verify_inclusion(leaf, 0, 1, [more], node_hash(more, leaf))
    before, after = node_hash(more, leaf), node_hash(more, node_hash(leaf, other))
    for old_root in (leaf, before):
        with pytest.raises(ProofInvalid):
            verify_consistency(1, 2, old_root, after, [other, more])


def every_bit_flip(hashes: list[bytes]) -> list[list[bytes]]:
    flipped = []
    for at, digest in enumerate(hashes):
        for bit in range(8 * len(digest)):
            changed = bytearray(digest)
            changed[bit // 8] ^= 1 << bit % 8
            flipped.append([*hashes[:at], bytes(changed), *hashes[at + 1 :]])
    return flipped


def test_a_rewritten_log_is_no_extension() -> None:
    """Trees of 4 and of 7 leaves that differ in leaf 1: neither's proof joins the root of the other."""
    honest, forged = some_leaves(7), some_leaves(7)
    forged[1] = leaf_hash(b"another past")
    for leaves in (honest, forged):
        proof = consistency_proof(4, 7, subtrees(leaves))
        with pytest.raises(ProofInvalid):
            verify_consistency(4, 7, naive_root(honest[:4]), naive_root(forged), proof)


def test_a_leaf_is_no_node() -> None:
    """RFC 6962 separates the domains: the entry `left || right` does not hash to the node over the two."""
    left, right = HASHES[0], HASHES[1]
    assert leaf_hash(left + right) != node_hash(left, right)


@pytest.mark.parametrize("size", [2**40 + 12345, 2**62 + 1, 2**63 - 1])
def test_a_tree_of_any_size_costs_its_depth(size: int) -> None:
    """Where all leaves are one, the hash of a complete subtree depends on its level alone."""
    levels = [leaf_hash(b"the same")]
    for _ in range(63):
        levels.append(node_hash(levels[-1], levels[-1]))
    asked = 0

    def subtree(level: int, position: int) -> bytes:
        nonlocal asked
        asked += 1
        assert (position + 1) << level <= size
        return levels[level]

    top = root_at(size, subtree)
    for index in (0, 1, size // 3, size - 2, size - 1):
        asked = 0
        verify_inclusion(levels[0], index, size, inclusion_proof(index, size, subtree), top)
        assert asked <= 2 * 63
    for old in (1, 2**39, size // 3, size - 1):
        asked = 0
        proof = consistency_proof(old, size, subtree)
        assert asked <= 3 * 63
        verify_consistency(old, size, root_at(old, subtree), top, proof)


def test_a_frontier_names_every_node_once_and_holds_the_root() -> None:
    leaves = some_leaves(67)
    frontier = Frontier()
    nodes: dict[tuple[int, int], bytes] = {}
    assert frontier.root() == EMPTY_ROOT
    for size, leaf in enumerate(leaves, start=1):
        for level, position, node in frontier.append(leaf):
            assert (level, position) not in nodes
            nodes[level, position] = node
        assert frontier.size == size
        assert frontier.root() == naive_root(leaves[:size])
        again = Frontier.from_nodes(size, frontier.nodes)
        assert (again.size, again.nodes, again.root()) == (size, frontier.nodes, frontier.root())
    expected = {
        (level, position): naive_root(leaves[position << level : (position + 1) << level])
        for level in range(1, 7)
        for position in range(67 >> level)
    }
    assert nodes == expected


def test_a_frontier_is_found_again_in_stored_subtrees() -> None:
    leaves = some_leaves(21)
    assert complete_subtrees(21) == ((4, 0), (2, 4), (0, 20))
    frontier = Frontier.at(21, subtrees(leaves))
    assert frontier.root() == naive_root(leaves)
    frontier.append(leaf_hash(b"one more"))
    assert frontier.root() == naive_root([*leaves, leaf_hash(b"one more")])


@pytest.mark.parametrize(
    ("size", "nodes"), [(1, []), (2, [b"\0" * 32] * 2), (1, [b"\0" * 31]), (-1, [b"\0" * 32])]
)
def test_a_frontier_that_fits_no_size_is_refused(size: int, nodes: list[bytes]) -> None:
    with pytest.raises(ProofImpossible):
        Frontier.from_nodes(size, nodes)


def test_what_no_tree_has_is_refused() -> None:
    subtree = subtrees(HASHES)
    for index, size in ((8, 8), (-1, 8), (0, 0)):
        with pytest.raises(ProofImpossible):
            inclusion_proof(index, size, subtree)
    for old, new in ((4, 3), (-1, 3)):
        with pytest.raises(ProofImpossible):
            consistency_proof(old, new, subtree)
        with pytest.raises(ProofInvalid):
            verify_consistency(old, new, EMPTY_ROOT, EMPTY_ROOT, [])
    with pytest.raises(ProofImpossible):
        root_at(-1, subtree)


def test_hashes_of_another_length_prove_nothing() -> None:
    with pytest.raises(ProofInvalid):
        verify_inclusion(b"", 0, 1, [], b"")
    with pytest.raises(ProofInvalid):
        verify_consistency(1, 1, b"", b"", [])


def test_the_empty_tree_is_extended_by_all() -> None:
    assert consistency_proof(0, 8, subtrees(HASHES)) == ()
    verify_consistency(0, 8, EMPTY_ROOT, bytes.fromhex(ROOTS[8]), [])
    verify_consistency(0, 0, EMPTY_ROOT, EMPTY_ROOT, [])
    with pytest.raises(ProofInvalid):
        verify_consistency(0, 0, EMPTY_ROOT, bytes.fromhex(ROOTS[8]), [])
