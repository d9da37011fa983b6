"""Somebody who holds every key of a ledger, and writes its history again with everything made right for it.

What follows from a change is signed anew too: a request that was bound to the history before it is bound to
the new one. So only the one thing that was done, and nothing that follows from it, is there to be found.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lacre.canonical import canonical_json, parse_canonical
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.envelope import PAYLOAD_ENTRY, PAYLOAD_REQUEST, Envelope
from lacre.ledger.keys import PrivateKey
from lacre.ledger.merkle import Frontier, inclusion_proof, leaf_hash, root
from lacre.ledger.proof import Receipt
from lacre.ledger.tiles import bundles_of, pack, tiles_of
from lacre.rules.keys import log_verifiers
from lacre.rules.record import Recorded, parse_entry
from lacre.rules.state import State, fold_ledger

Predicate = dict[str, Any]
Edit = Callable[[int, Predicate], None]


def key_changes(datas: Sequence[bytes]) -> State:
    """The ledger's keys, after its last entry."""
    recorded = [parse_entry(index, data) for index, data in enumerate(datas)]
    return fold_ledger(each for each in recorded if each.study is None)


@dataclass
class History:
    """Entries, and all that follows from them."""

    datas: list[bytes]
    keys: Mapping[str, PrivateKey]

    @property
    def leaves(self) -> list[bytes]:
        return [leaf_hash(data) for data in self.datas]

    def nodes(self) -> dict[tuple[int, int], bytes]:
        frontier, nodes = Frontier(), {}
        for leaf in self.leaves:
            for level, position, node in frontier.append(leaf):
                nodes[level, position] = node
        return nodes

    def signers(self, size: int | None = None) -> list[PrivateKey]:
        """The keys of the log that are active at a size."""
        size = len(self.datas) if size is None else size
        state = key_changes(self.datas)
        keys = log_verifiers(state.origin, state.keys.values(), size)
        return [self.keys[each.public.keyid] for each in keys]

    def checkpoint(self, size: int | None = None, by: Sequence[PrivateKey] | None = None) -> bytes:
        """The signed checkpoint of the first `size` entries."""
        size = len(self.datas) if size is None else size
        head = Checkpoint(key_changes(self.datas[:1]).origin, size, root(self.leaves[:size]))
        return SignedCheckpoint.sign(head, self.signers(size) if by is None else by).note

    def receipt(self, index: int, size: int) -> bytes:
        """The receipt of an entry, in the tree of the first `size`."""
        leaves = self.leaves[:size]

        def subtree(level: int, position: int) -> bytes:
            return root(leaves[position << level : (position + 1) << level])

        return Receipt(index, inclusion_proof(index, size, subtree), self.checkpoint(size)).format()

    def files(self, by: Sequence[PrivateKey] | None = None) -> dict[str, bytes]:
        """The files of a register's log, by path; `by` are who sign its checkpoint, if not the keys active."""
        nodes, leaves, size = self.nodes(), self.leaves, len(self.datas)

        def at(level: int, position: int) -> bytes:
            return nodes[level, position] if level else leaves[position]

        files = {tile.path: tile.hashes(at) for tile in tiles_of(size)}
        files |= {tile.path: pack(self.datas[tile.start : tile.stop]) for tile in bundles_of(size)}
        return {**files, "checkpoint": self.checkpoint(by=by)}


class Forger:
    """Holds the entries of a ledger and its keys, by key id."""

    def __init__(self, datas: Sequence[bytes], keys: Mapping[str, PrivateKey]) -> None:
        self.datas = list(datas)
        self.keys = dict(keys)

    def recorded(self, index: int) -> Recorded:
        """An entry, read."""
        return parse_entry(index, self.datas[index])

    def history(self, datas: Sequence[bytes] | None = None) -> History:
        """A history of these entries, or of the ledger's own."""
        return History(list(self.datas if datas is None else datas), self.keys)

    def rewritten(
        self,
        edit: Edit = lambda _index, _predicate: None,
        *,
        entry_by: Mapping[int, PrivateKey] | None = None,
        request_by: Mapping[int, PrivateKey] | None = None,
    ) -> History:
        """Write the history again, its predicates edited, some of it signed by other keys than before.

        What is not touched and stands before the first change keeps its bytes.
        """
        entry_by, request_by = entry_by or {}, request_by or {}
        old, new = [leaf_hash(data) for data in self.datas], Frontier()
        roots = [new.root()]
        datas: list[bytes] = []
        genesis = (old[0].hex(), old[0].hex())
        for index, data in enumerate(self.datas):
            envelope = Envelope.decode(data)
            statement = parse_canonical(envelope.payload)
            before = canonical_json(statement)
            edit(index, statement["predicate"])
            if "request" in statement["predicate"]:
                self._bind(statement["predicate"], roots, genesis, request_by.get(index))
            payload = canonical_json(statement)
            if payload != before or index in entry_by:
                by = [entry_by[index]] if index in entry_by else self._signers(envelope)
                data = Envelope.sign(PAYLOAD_ENTRY, payload, by).encode()
            datas.append(data)
            new.append(leaf_hash(data))
            roots.append(new.root())
            if index == 0:
                genesis = (old[0].hex(), leaf_hash(data).hex())
        return History(datas, self.keys)

    def _signers(self, envelope: Envelope) -> list[PrivateKey]:
        return [self.keys[each.keyid] for each in envelope.signatures]

    def _bind(
        self, predicate: Predicate, roots: Sequence[bytes], genesis: tuple[str, str], by: PrivateKey | None
    ) -> None:
        envelope = Envelope.from_json(predicate["request"])
        request = parse_canonical(envelope.payload)
        seen = request["seen"]
        seen["root"] = roots[seen["size"]].hex()
        was, now = genesis
        request["genesis"] = now if request["genesis"] == was else request["genesis"]
        payload = canonical_json(request)
        if payload != envelope.payload or by is not None:
            signers = self._signers(envelope) if by is None else [by]
            predicate["request"] = Envelope.sign(PAYLOAD_REQUEST, payload, signers).as_json()


def request_of(predicate: Predicate) -> Predicate:
    """What a request says."""
    said: Predicate = parse_canonical(base64.b64decode(predicate["request"]["payload"]))
    return said
