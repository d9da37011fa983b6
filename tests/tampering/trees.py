"""Changes to a tree of files, a register or a bundle: every operation on every file of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.tampering.life import Life

from lacre.ledger.tiles import unpack
from lacre.rules.named import named_by
from lacre.rules.record import parse_entry

Files = Mapping[str, bytes]
Changed = tuple[str, dict[str, bytes], set[int | None]]

OPERATIONS = ("change", "drop", "swap", "repeat", "insert", "truncate")


class Tree:
    """Files, and which entries each is of."""

    def __init__(self, life: Life, files: Files) -> None:
        self.files = dict(files)
        self._named: dict[str, set[int | None]] = {}
        for index, data in enumerate(life.datas):
            for named in named_by(parse_entry(index, data)):
                self._named.setdefault(named.digest, set()).add(index)

    def entries(self, path: str, place: int | None = None) -> set[int | None]:
        """The entries that a finding about a file, or about a byte of it, must name one of; of some files none."""
        folder, _slash, name = path.rpartition("/")
        if folder == "documents":
            return self._named.get(name, set())
        if "@" in name:
            return {int(name.partition("@")[2].partition(".")[0])}
        if place is None:
            return set()
        if path.startswith("tile/0/"):
            return {place // 32}
        if path.startswith("tile/entries/"):
            at = 0
            for index, record in enumerate(unpack(self.files[path])):
                at += 2 + len(record)
                if place < at:
                    return {index}
        return set()

    def changed(self, path: str, operation: str) -> Iterator[Changed]:
        """The tree after an operation on a file: what was done, the files, and the entries to name."""
        match operation:
            case "change":
                yield from self._bytes_changed(path)
            case "drop":
                yield f"{path} dropped", self._without(path), self.entries(path)
            case "swap" | "repeat":
                yield from self._with_another(path, operation)
            case "insert":
                yield from self._inserted(path)
            case "truncate":
                data = self.files[path]
                for length in _places(path, len(data)):
                    yield (
                        f"{path} cut off at {length}",
                        {**self.files, path: data[:length]},
                        self.entries(path),
                    )

    def _without(self, path: str) -> dict[str, bytes]:
        return {other: data for other, data in self.files.items() if other != path}

    def _bytes_changed(self, path: str) -> Iterator[Changed]:
        data = self.files[path]
        for place in _places(path, len(data)):
            changed = bytearray(data)
            changed[place] ^= 1
            # The length before an entry is no part of it: the whole bundle cannot be read any more then.
            named = self.entries(path, place) if "entries" not in path else set()
            yield f"{path} byte {place}", {**self.files, path: bytes(changed)}, named

    def _with_another(self, path: str, operation: str) -> Iterator[Changed]:
        """With the next file, and with the next of its own folder, of other bytes."""
        paths = sorted(self.files)
        following = [*paths[paths.index(path) + 1 :], *paths[: paths.index(path)]]
        following = [other for other in following if self.files[other] != self.files[path]]
        own = [other for other in following if other.partition("/")[0] == path.partition("/")[0]]
        for other in dict.fromkeys((*following[:1], *own[:1])):
            mine, others = self.entries(path), self.entries(other)
            # Among a log whose entries cannot be read, no document's entry is known.
            named = mine | others if mine and others else set()
            if operation == "swap":
                swapped = {path: self.files[other], other: self.files[path]}
                yield f"{path} and {other}", {**self.files, **swapped}, named
            else:
                yield f"{path} over {other}", {**self.files, other: self.files[path]}, self.entries(other)

    def _inserted(self, path: str) -> Iterator[Changed]:
        """A byte in the middle of a file, and the file again beside itself under a name that its folder takes."""
        data = self.files[path]
        half = len(data) // 2
        yield f"{path} and a byte", {**self.files, path: data[:half] + b"x" + data[half:]}, self.entries(path)
        folder, _slash, name = path.rpartition("/")
        beside = f"{folder}/{name}0" if folder else f"documents/{name}"
        if folder == "documents":
            beside = f"documents/{name[::-1]}"
        elif "@" in name:
            beside = f"{folder}/{name.partition('@')[0]}@0.json"
        yield f"{path} again as {beside}", {**self.files, beside: data}, set()


def _places(path: str, size: int) -> list[int]:
    """Where a file is changed or cut off: a document, which has one digest, in the middle, and others all over."""
    if path.startswith("documents/") or "@" in path:
        return [size // 2]
    return sorted({0, size // 3, size // 2, size - 1})
