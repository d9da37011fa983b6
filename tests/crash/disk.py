"""A disk that keeps what was flushed, and what it likes of the rest: what a power cut may leave.

The calls that the shim kept of one run are done again on a tree in memory that knows, of each file, the content at
its last flush, and of each folder, the names at its last. After each call three disks are asked for, which are the
extremes of what file systems do with the rest: `neither`, where names and content are as last flushed; `names`, where
names went to the disk at once and content did not (a file that was never flushed is there, and empty);
`content`, the other way round. `both` is what the run itself sees.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.harness import Call

Tree = dict[str, bytes | None]
"""What is on a disk: content by path, None for a folder."""
KINDS = ("neither", "names", "content")


@dataclass(eq=False)
class _File:
    content: bytearray
    flushed: bytes = b""


@dataclass(eq=False)
class _Folder:
    names: "dict[str, _File | _Folder]" = field(default_factory=dict)
    flushed: "dict[str, _File | _Folder]" = field(default_factory=dict)


class Disk:
    """The folder `root` as a run found it, which lay at `start`; `inodes` are its files' and folders', by path."""

    def __init__(self, root: Path, start: Path, inodes: dict[str, int]) -> None:
        self._root = str(root)
        self._files: dict[int, _File] = {}
        self._top = _Folder()
        for path in sorted(inodes):
            there = start / path
            if path == ".":
                continue
            parent, name = self._parent(f"{root}/{path}")
            node: _File | _Folder = _Folder()
            if there.is_file():
                content = there.read_bytes()
                node = self._files[inodes[path]] = _File(bytearray(content), content)
            parent.names[name] = parent.flushed[name] = node

    def do(self, call: Call) -> None:
        """Do a call that was kept."""
        match call.op:
            case "o":
                self._open(call)
            case "w":
                content = self._files[call.file].content
                content.extend(bytes(max(0, call.number - len(content))))
                content[call.number : call.number + len(call.data)] = call.data
            case "t":
                content = self._files[call.file].content
                content[:] = content[: call.number].ljust(call.number, b"\0")
            case "s":
                self._flush(call)
            case "r":
                self._name(call.two, self._unname(call.one))
            case "l":
                self._name(call.two, self._find(call.one))
            case "u":
                self._unname(call.one)
            case "m":
                self._name(call.one, _Folder())

    def tree(self, kind: str) -> Tree:
        """What a power cut leaves now, on a disk of this kind."""
        return dict(self._walk(self._top, "", kind))

    def _walk(self, folder: _Folder, path: str, kind: str) -> Iterator[tuple[str, bytes | None]]:
        names, content = kind in {"names", "both"}, kind in {"content", "both"}
        for name, node in (folder.names if names else folder.flushed).items():
            if isinstance(node, _Folder):
                yield f"{path}{name}", None
                yield from self._walk(node, f"{path}{name}/", kind)
            else:
                yield f"{path}{name}", bytes(node.content) if content else node.flushed

    def _parts(self, path: str) -> list[str]:
        inside = os.path.normpath(path).removeprefix(self._root).strip("/")
        return inside.split("/") if inside else []

    def _find(self, path: str) -> _File | _Folder:
        node: _File | _Folder = self._top
        for name in self._parts(path):
            assert isinstance(node, _Folder)
            node = node.names[name]
        return node

    def _parent(self, path: str) -> tuple[_Folder, str]:
        *_above, name = self._parts(path)
        parent = self._find(os.path.dirname(os.path.normpath(path)))  # noqa: PTH120 - a path of text, as kept
        assert isinstance(parent, _Folder)
        return parent, name

    def _name(self, path: str, node: _File | _Folder) -> None:
        parent, name = self._parent(path)
        parent.names[name] = node

    def _unname(self, path: str) -> _File | _Folder:
        parent, name = self._parent(path)
        return parent.names.pop(name)

    def _open(self, call: Call) -> None:
        if call.number:  # without a name
            self._files[call.file] = _File(bytearray())
            return
        parent, name = self._parent(call.one)
        there = parent.names.get(name)
        if isinstance(there, _File):
            there.content.clear()
            return
        parent.names[name] = self._files[call.file] = _File(bytearray())

    def _flush(self, call: Call) -> None:
        node = self._files.get(call.file)
        if node is None or not self._is_file(call.one):
            folder = self._find(call.one)
            assert isinstance(folder, _Folder)
            folder.flushed = dict(folder.names)
        else:
            node.flushed = bytes(node.content)

    def _is_file(self, path: str) -> bool:
        if path.endswith(" (deleted)"):
            return True
        return isinstance(self._find(path), _File)


def lay_out(tree: Tree, root: Path) -> None:
    """Put a tree in the place of what is at `root`, private as all of it is."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(mode=0o700)
    for path, content in tree.items():
        if content is None:
            (root / path).mkdir(mode=0o700)
        else:
            (root / path).write_bytes(content)
            (root / path).chmod(0o600)


def tree_at(root: Path) -> Tree:
    """The tree that lies at `root`."""
    return {str(p.relative_to(root)): None if p.is_dir() else p.read_bytes() for p in root.rglob("*")}
