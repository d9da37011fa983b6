"""What must be true after a cut, whatever it was, and when the same call is given again."""

import json
import re
import traceback
from typing import Any

from tests.crash.verbs import Verb

Seen = dict[str, Any]
VERDICTS = (0, 1, 3, 4)
PRIVATE = re.compile(r"(work/\.lacre(-unfinished-\w+)?|state)/")
UNFINISHED = ".lacre-unfinished-"
STANDS = re.compile(r"[Ee]ntry (\d+)")
UNCERTAIN = ("store-commit-uncertain", "read-uncertain")
OF_A_RESULT = ("standing", "confirmatory", "state")


def first_line(error: AssertionError) -> str:
    """What was wrong, in a line."""
    said = str(error).splitlines() or [str(traceback.extract_tb(error.__traceback__)[-1].line)]
    return said[0]


def check(verb: Verb, whole: Seen, seen: Seen) -> None:
    """Raise `AssertionError` for what is wrong with what was `seen` of a verb that does `whole` if nothing happens."""
    assert not seen["plain"], f"plaintext in {seen['plain']}"
    before = whole["before"]
    after = before if seen["unchanged"] else seen["after"]
    if not seen["unchanged"]:
        _check_sound(before, after, verb.findings)
    if seen["said"] is not None:
        _check_said(verb, before, after, seen["said"])
        if seen["mode"] != "dead" and seen["what"][0] not in "ou":  # else it could not tidy up
            left = [path for path in after["files"].keys() - before["files"].keys() if UNFINISHED in path]
            assert not left, f"left behind: {left}"
    if seen["marks"]:
        assert _added(before, after), f"{seen['marks'][0]}, and nothing on record"
        assert after["remembered"] > len(before["entries"]), f"{seen['marks'][0]}, and nothing is remembered"
    if seen["unchanged"]:
        return
    if verb.then:
        assert seen["then"]["status"] == 0, seen["then"]["out"]
    _check_again(verb, whole, seen)


def _added(before: Seen, after: Seen) -> list[str]:
    """The kinds of the entries that came; all that stood there still stands."""
    stood, stands = before["entries"], after["entries"]
    assert stands[: len(stood)] == stood, "an entry is lost"
    return [entry[0] for entry in stands[len(stood) :]]


def _check_sound(before: Seen, after: Seen, findings: tuple[str, ...] = ()) -> None:
    audit = json.loads(after["audit"]["out"])
    if not after["entries"]:
        assert audit["error"]["code"] == "ledger-not-found", audit
    else:
        assert "error" not in audit, audit
        assert {finding["code"] for finding in audit["findings"]} <= {*findings}, audit["findings"]
    firsts = [tuple(e[1:3]) for e in after["entries"] if e[0] == "read" and e[3] == "teste" and e[4] is None]
    assert len({*firsts}) == len(firsts), f"first reads: {firsts}"
    _added(before, after)
    _check_beside(after)
    for path, mode in after["files"].items():
        if PRIVATE.match(path):
            assert not mode & 0o077, f"{path} is {mode:o}"


def _check_beside(after: Seen) -> None:
    """What goes with the entries: the documents that are remembered of them, and the fingerprints that are held."""
    assert all(after["kept"].values()), f"documents of the memory are damaged: {after['kept']}"
    if after["remembered"] == len(after["entries"]):
        assert after["kept"].keys() >= {*after["documents"]}, "a document is not remembered"
    assert {*after["held"]} >= {*after["prints"]}, "prints of a sealed pool are not held"


def _check_said(verb: Verb, before: Seen, after: Seen, said: Seen) -> None:
    """A call that lived through it tells the truth."""
    assert not said["err"], said["err"]
    added = _added(before, after)
    document = json.loads(said["out"])
    if said["status"] in VERDICTS:
        assert re.fullmatch(verb.adds, " ".join(added)), f"done, and added {added}"
        return
    assert said["status"] == 2, said
    code, message = document["error"]["code"], document["error"]["message"]
    told = f"{added} on record, and told {code}: {message} {document['error']['way_out']}"
    stands = STANDS.search(message)
    if code in UNCERTAIN:
        most = 2 if stands else 1
        assert len(added) <= most or re.fullmatch(verb.adds, " ".join(added)), told
    elif stands is None:
        assert not added, told
    else:
        assert int(stands[1]) == len(before["entries"]) + len(added) - 1, told


def _check_again(verb: Verb, whole: Seen, seen: Seen) -> None:
    """The same call does it, or is refused because it is done; either way all is well."""
    before, last, again = whole["before"], seen["last"], seen["again"]
    _check_sound(before, last)
    added = " ".join(_added(before, last))
    assert re.fullmatch(verb.adds, added), f"given again, {added!r}: {again}"
    assert not seen["left"], f"not gone from {seen['left']}"
    if verb.tidies:
        left = [path for path in last["files"] if re.match(verb.tidies, path) and UNFINISHED in path]
        assert not left, f"not tidied: {left}"
    assert not again["err"], again["err"]
    document = json.loads(again["out"])
    if again["status"] not in VERDICTS:
        assert document["error"]["code"] in verb.done, document["error"]
    else:
        first = json.loads(whole["said"]["out"])
        assert [document.get(key) for key in OF_A_RESULT] == [first.get(key) for key in OF_A_RESULT]
