"""The power goes, and what was not flushed goes with it: the order of flushes, names and entries is what is tested.

kill -9 leaves to the system what was written; a power cut does not. After each call of a run the disks that it may
leave (`disk.py`) are laid out and looked at, as after a kill: so a blob is on the disk, under its name, before an entry
names it; an entry, and this machine's memory of it, before a byte is decrypted; and all of it when the call answers.
"""

from typing import Any

import pytest
from tests.crash.checks import UNFINISHED, Seen, check, first_line
from tests.crash.disk import KINDS, Disk, Tree, lay_out, tree_at
from tests.crash.harness import Harness, goes_on
from tests.crash.verbs import ALL, VERBS, Verb

MAIN = [name for name, verb in VERBS.items() if verb.modes == ALL]


@pytest.mark.parametrize("name", VERBS)
def test_the_shim_misses_nothing_and_the_end_is_flushed(harness: Harness, name: str) -> None:
    """The calls that were kept make the very folder, and of that a power cut after the answer takes nothing."""
    verb = VERBS[name]
    whole = harness.whole(verb)
    there = tree_at(harness.place)
    disk = Disk(harness.place, harness.state(verb.start), whole["inodes"])
    for call in whole["log"]:
        disk.do(call)
    assert disk.tree("both") == there
    assert _worth(disk.tree("neither")) == _worth(there)


def _worth(tree: Tree) -> Tree:
    """All but what may be lost: temporary files whose names are gone, and locks, which are empty."""
    return {path: content for path, content in tree.items() if UNFINISHED not in path and content != b""}


@pytest.mark.slow
@pytest.mark.parametrize("name", MAIN)
def test_what_a_power_cut_may_leave(harness: Harness, name: str) -> None:
    verb = VERBS[name]
    whole = harness.whole(verb)
    disk = Disk(harness.place, harness.state(verb.start), whole["inodes"])
    known = {_key(disk.tree("neither"), [])}
    marks: list[str] = []
    wrong: list[str] = []
    for at, call in enumerate(whole["log"], 1):
        disk.do(call)
        marks += [call.one] if call.op == "#" else []
        if goes_on(whole["log"][:at]) and not verb.every:
            continue
        for kind in KINDS:
            tree = disk.tree(kind)
            if _key(tree, marks) not in known:
                known.add(_key(tree, marks))
                wrong += _wrong(harness, verb, whole, tree, marks, f"{kind} after {call.op} {call.one}")
    assert not wrong, "\n".join([f"{len(wrong)} of {len(known)}:", *wrong])
    assert len(known) > 20


def _key(tree: Tree, marks: list[str]) -> tuple[Any, bool]:
    return frozenset(tree.items()), bool(marks)


def _wrong(harness: Harness, verb: Verb, whole: Seen, tree: Tree, marks: list[str], where: str) -> list[str]:
    lay_out(tree, harness.place)
    seen = {**harness.examine(verb), "said": None, "marks": marks}
    try:
        check(verb, whole, seen)
    except AssertionError as error:
        return [f"{where}: {first_line(error)}"]
    return []
