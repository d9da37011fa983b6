"""A process that has lacre loaded, and forks a child for each point where one is to die: `tests.crash.zygote SHIM`.

It reads a request a line, as JSON, and answers each with a line; `harness.py` is the other end. `SHIM` is
preloaded, and counts what the child writes. Nothing here judges: it tells what happened, and what lies there.
"""

import base64
import contextlib
import ctypes
import gc
import hashlib
import io
import json
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import once

from lacre.cli import main
from lacre.pools import seal
from lacre.rules.record import parse_entry

Content = dict[str, tuple[int, bytes | None]]
"""Mode and content of files by path; of folders, None."""
MODES = ("off", "count", "kill", "torn", "lost", "kept", "full", "dead")


class Shared(ctypes.Structure):
    """What the shim keeps, as far as its log."""

    _fields_ = [
        ("calls", ctypes.c_int64),
        ("fired", ctypes.c_int64),
        ("same", ctypes.c_int64),
        ("used", ctypes.c_int64),
        ("what", ctypes.c_char * 8192),
    ]


class Shim:
    """The preloaded library, from within."""

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)
        self._library.shim_shared.restype = ctypes.POINTER(Shared)
        self._shared = self._library.shim_shared()

    def arm(self, root: Path, mode: str, at: int) -> None:
        self._library.shim_arm(os.fsencode(root), MODES.index(mode), ctypes.c_long(at), int(mode == "count"))

    def disarm(self) -> None:
        self._library.shim_disarm()

    def mark(self, text: str) -> None:
        self._library.shim_mark(text.encode())

    def seen(self) -> dict[str, Any]:
        shared = self._shared.contents
        log = ctypes.string_at(ctypes.addressof(shared) + ctypes.sizeof(Shared), shared.used)
        return {
            "calls": shared.calls,
            "fired": bool(shared.fired),
            "same": bool(shared.same),
            "what": shared.what.decode(),
            "log": base64.b64encode(log).decode(),
        }


@contextlib.contextmanager
def stage(root: Path) -> Iterator[None]:
    """Be in the folder `work` of `root`, with state and temporary files beside it."""
    places = {"XDG_STATE_HOME": str(root / "state"), "TMPDIR": str(root / "tmp")}
    kept = dict(os.environ)
    os.environ.update(places)
    tempfile.tempdir = None
    os.chdir(root / "work")
    try:
        yield
    finally:
        os.chdir("/")
        os.environ.clear()
        os.environ.update(kept)


def call(root: Path, words: list[str]) -> dict[str, Any]:
    """Run lacre in this process; what it said, and how it ended."""
    out, err = io.StringIO(), io.StringIO()
    with (
        stage(root),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        sys.stdin = io.StringIO()
        status = main(words)
    return {"status": status, "out": out.getvalue(), "err": err.getvalue()}


def die_in(shim: Shim, root: Path, words: list[str], mode: str, at: int) -> Any:
    """Run lacre in a child that the shim has an eye on; None where it was killed."""
    reading, writing = os.pipe()
    shim.arm(root, "off", 0)
    child = os.fork()
    if not child:
        try:
            gc.disable()
            os.close(reading)
            shim.arm(root, mode, at)
            said = json.dumps(call(root, words)).encode()
            shim.disarm()
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(said)
        except BaseException:  # noqa: BLE001 - a child must never go on as its parent
            traceback.print_exc()
            os._exit(99)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    _pid, ended = os.waitpid(child, 0)
    if os.WIFSIGNALED(ended) and os.WTERMSIG(ended) == signal.SIGKILL:
        return None
    assert os.WEXITSTATUS(ended) == 0, f"{words} ended with {ended} and {said!r}"
    return json.loads(said)


def look(root: Path) -> dict[str, Any]:
    """What lies there: the audit, the ledger, what the memory has of it, and the mode of every file."""
    audit = call(root, ["audit", "--json"])
    modes = {path: mode for path, (mode, _content) in content_of(root).items()}
    return {"audit": audit, "files": modes, **ledger_at(root), **memory_at(root / "state" / "lacre")}


def ledger_at(root: Path) -> dict[str, Any]:
    """Entries as the columns have them, which the audit derives; documents and pools' fingerprints by digest."""
    path = root / "work" / ".lacre" / "ledger.db"
    if not path.is_file():
        return {"entries": [], "documents": [], "prints": []}
    columns = "kind, study, pool, read_class, finishes, hex(leaf_hash), envelope"
    with contextlib.closing(sqlite3.connect(path)) as ledger:
        rows = ledger.execute(f'SELECT {columns} FROM entries ORDER BY "index"').fetchall()
        documents = [digest for (digest,) in ledger.execute("SELECT digest FROM documents")]
    contents: list[Any] = [parse_entry(index, row[-1]).content for index, row in enumerate(rows)]
    prints = [
        content.request.fingerprints for row, content in zip(rows, contents, strict=True) if row[0] == "seal"
    ]
    return {"entries": [row[:-1] for row in rows], "documents": documents, "prints": prints}


def memory_at(state: Path) -> dict[str, Any]:
    """How many entries the memory has of the one ledger it knows, its documents (whether whole), and held prints."""
    sizes, kept = [0], {}
    for ledger in state.glob("ledgers/*"):
        slots = (ledger / "checkpoint").read_bytes() if (ledger / "checkpoint").is_file() else b""
        for slot in (slots[:8192], slots[8192:]):
            said, _newline, rest = slot.partition(b"\0")[0].partition(b"\n")
            whole = hashlib.sha256(rest).hexdigest().encode() == said
            sizes.append(int(rest.split()[0]) if whole else 0)
        for path in ledger.glob("documents/[!.]*"):
            said, _newline, rest = path.read_bytes().partition(b"\n")
            kept[path.name] = hashlib.sha256(rest).hexdigest().encode() == said
    return {"remembered": max(sizes), "kept": kept, "held": [path.name for path in state.glob("held/[!.]*")]}


def content_of(root: Path) -> Content:
    """The mode and content of every file and folder below `root` but those that were given."""
    found: Content = {}
    for folder, folders, files in os.walk(root):
        if folder == str(root):
            folders.remove("given")
        for name in (*folders, *files):
            path = f"{folder}/{name}"
            content = None if name in folders else Path(path).read_bytes()
            found[path[len(str(root)) + 1 :]] = (os.lstat(path).st_mode, content)
    return found


def put_back(root: Path, start: Path) -> Content:
    """Make `root` what `start` is, which is told."""
    wanted = content_of(start)
    if not root.exists() or (root / "given").stat().st_mtime_ns != (start / "given").stat().st_mtime_ns:
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(start, root)
        return wanted
    there = content_of(root)
    for path in sorted(there, reverse=True):  # what is in a folder, then the folder
        if wanted.get(path) != there[path]:
            (root / path).rmdir() if there[path][1] is None else (root / path).unlink()
    for path in sorted(wanted):
        mode, content = wanted[path]
        if wanted[path] != there.get(path):
            (root / path).mkdir() if content is None else (root / path).write_bytes(content)
            (root / path).chmod(mode)
    return wanted


def holding(found: Content, needles: list[bytes]) -> list[str]:
    """The files that hold one of the needles."""
    return [
        path for path, (_mode, data) in found.items() if data and any(needle in data for needle in needles)
    ]


def examine(asked: dict[str, Any], root: Path, begun: Content | None) -> dict[str, Any]:
    """Look, give the call again, and look again; nothing of it where all is as it was when it was `begun`.

    What is byte for byte as before the call needs no second look: of that state it is known what it is, and what
    the call does to it. The same where the call that was given again left all as it was.
    """
    needles = [bytes.fromhex(needle) for needle in asked["needles"]]
    there = content_of(root)
    plain = holding(there, needles)
    if there == begun:
        return {"unchanged": True, "plain": plain}
    seen: dict[str, Any] = {"unchanged": False, "after": look(root)}
    if asked["then"]:
        seen["then"] = call(root, asked["then"])
    if not asked["again"]:
        return {**seen, "plain": plain}
    before = content_of(root)
    seen["again"] = call(root, asked["again"])
    after = content_of(root)
    seen["last"] = look(root) if after != before else seen["after"]
    left = holding(after, [asked["gone"].encode()]) if asked["gone"] else []
    return {**seen, "left": left, "plain": sorted({*plain, *holding(after, needles)})}


def answer(shim: Shim, asked: dict[str, Any]) -> dict[str, Any]:
    """Do what a request asks for."""
    root = Path(asked["root"])
    if asked["do"] == "call":
        return call(root, asked["words"])
    if asked["do"] == "look":
        return look(root)
    if asked["do"] == "examine":
        return examine(asked, root, None)
    begun = put_back(root, Path(asked["start"]))
    inodes = {}
    if asked["mode"] == "count":
        inodes = {str(p.relative_to(root)): p.lstat().st_ino for p in (root, *root.rglob("*"))}
    said = die_in(shim, root, asked["words"], asked["mode"], asked["at"])
    seen = {**shim.seen(), "said": said, "inodes": inodes}
    if seen["same"]:
        return seen
    return {**seen, **examine(asked, root, None if inodes else begun)}


def warm(shim: Shim) -> None:
    """Have the opening of what was sealed before mark itself, and spend no time twice."""
    encrypt, decrypt = seal.encrypt, seal.decrypt
    own: set[tuple[int, bytes]] = set()

    def noted(key: bytes, context: seal.Context, plaintext: Any) -> Iterator[bytes]:
        own.add((os.getpid(), key))
        return encrypt(key, context, plaintext)

    def marked(key: bytes, context: seal.Context, ciphertext: Any) -> Iterator[bytes]:
        if context.system is None and (os.getpid(), key) not in own:
            shim.mark(f"decrypt {context.pool}")
        return decrypt(key, context, ciphertext)

    seal.encrypt, seal.decrypt = noted, marked
    patch = pytest.MonkeyPatch()
    once.load_once(patch)
    once.simulate_once(patch)
    once.read_once(patch)
    once.compile_once(patch)
    gc.collect()
    gc.freeze()


def serve() -> None:
    """Answer until there are no more requests."""
    shim = Shim(sys.argv[1])
    warm(shim)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    for line in requests:
        try:
            said = answer(shim, json.loads(line))
        except Exception:  # noqa: BLE001 - whoever asked is told
            said = {"failed": traceback.format_exc()}
        answers.write(json.dumps(said) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
