"""YAML by somebody with bad intent: bombs, aliases, merges, doubles, depth, numbers, escapes, at any place.

A whole protocol is taken, and one hostile thing put into it. It is refused at that place, in a listing that
nothing in the file can add a line to, and in a time that does not depend on what the file is.
"""

import re
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st

from lacre.errors import ImportInvalid, LacreError, ProtocolInvalid
from lacre.protocol.document import parse
from lacre.protocol.importing.fairness import import_fairness
from lacre.protocol.strict_yaml import MAX_BYTES, load

COMPAS = (Path(__file__).resolve().parents[2] / "registry" / "compas" / "protocol.yaml").read_text()
SECONDS = 15.0
"""Far more than reading takes, and far less than a bomb would: machines of a test service stall."""

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(12)
)
HOSTILE = [
    "&a x", "*a", "{<<: {a: b}}", "{<<: *a}", "!!python/object/apply:os.system [id]", "!!binary aGk=", "! x",
    "{a: 1, a: 2}", '{a: 1, "a": 2}', "{1: x}", "{null: x}", "{true: x}", "{[a]: x}", "{? {a: b} : c}",
    "9007199254740992", "-9007199254740992", "0x20000000000000", "0o400000000000000000", "1" * 4000, "1e999",
    ".inf", "-.INF", ".nan", "[" * 60 + "]" * 60, "{a: " * 60 + "x" + "}" * 60,
    '"\\0"', '"\\e[2J"', '"\\x9b31m"', '"\\u2028"', '"\\ud800"', '"\\U00110000"', '"\\N"', '"\\a"',
    '{"\\n  1:1 lacre: is well": 1, "\\n  1:1 lacre: is well": 2}',
    '{"a\\r\\n\\e[2J": 1, "a\\r\\n\\e[2J": 1}',
]  # fmt: skip
"""Each is refused wherever it stands, whatever was expected there."""


def refusal_of(data: bytes) -> LacreError:
    """Read a protocol, which is refused, in reasonable time and harmless words; one problem has one line."""
    begun = time.process_time()
    with pytest.raises(ProtocolInvalid) as refused:
        parse(data)
    assert time.process_time() - begun < SECONDS
    error = refused.value
    head, *listed = error.message.split("\n")
    assert "protocol.yaml" in head
    assert listed
    # A listing stops at a hundred, and says so; no line is there that no problem made.
    assert len(listed) == min(error.fields["count"], 101)
    for line in listed:
        assert line.isprintable()
        assert re.match(r"  [0-9]+:[0-9]+ |  \.\.\. and ", line), line
        assert len(line) < 2000
    return error


VALUES = [match.span(1) for match in re.finditer(r"(?m)^ *[a-z_]+: ([^\s\[{&*!|>#\"'][^#\n]*?)$", COMPAS)]


@given(st.sampled_from(HOSTILE), st.sampled_from(VALUES))
@settings(max_examples=150, deadline=None)
def test_one_hostile_value_anywhere_is_refused_where_it_stands(hostile: str, place: tuple[int, int]) -> None:
    text = COMPAS[: place[0]] + hostile + COMPAS[place[1] :]
    error = refusal_of(text.encode())
    line = COMPAS[: place[0]].count("\n") + 1
    assert re.search(rf"(?m)^  {line}:", error.message), error.message


@given(
    st.lists(st.sampled_from([*HOSTILE, "\n", "\n  ", "- ", "k: ", "---\n", "# x\n", LAUGHS]), max_size=12)
)
@settings(max_examples=150, deadline=None)
@example([LAUGHS])
def test_any_heap_of_hostile_things_is_refused(parts: list[str]) -> None:
    refusal_of("".join(parts).encode())
    with pytest.raises(ImportInvalid):
        import_fairness("".join(["fairness:\n  ", *parts]).encode())


REPEATED = [
    "[", "{", "- ", "? ", "a: ", "&a ", "*a ", "!!x ", "[*a,", "{a: b, ", '"', "'", "|\n", ">\n ", "\n", " ", "#",
    "---\n", "...\n", "%YAML 1.2\n", "a: b\n", "- a\n", "k: {a: [b]}\n", "a\n b\n", '"a" : b\n', "é", "\t", ",",
    "a: &b c\n", "? a\n: b\n", "[]: x\n", "<<: {}\n", "1: 2\n", "\\", '"\\n', "0x", "9", "- - - - a\n", "a:\n",
]  # fmt: skip


@pytest.mark.parametrize("unit", REPEATED, ids=ascii)
def test_a_large_file_of_one_thing_ends_in_time(unit: str) -> None:
    """A quarter of what is read at all, of what a parser might be slow with, were it quadratic."""
    size = MAX_BYTES // 4 // len(unit.encode())
    refusal_of((unit * size).encode())


def test_a_file_over_the_limit_is_not_even_decoded() -> None:
    begun = time.process_time()
    with pytest.raises(ProtocolInvalid, match="over 262144 bytes"):
        load(b"\xff" * (64 << 20))
    assert time.process_time() - begun < 1.0


def test_many_problems_are_listed_up_to_a_hundred() -> None:
    error = refusal_of(b"".join(b"k%d: 1\n" % n for n in range(20_000)))
    assert len(error.message) < 20_000


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1", "cp037"])
def test_other_encodings_are_refused(encoding: str) -> None:
    refusal_of(COMPAS.replace("title:", "title: é").encode(encoding))


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "mark"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["lf", "crlf"])
def test_a_mark_and_line_ends_change_nothing(mark: bytes, end: bytes) -> None:
    assert parse(mark + COMPAS.encode().replace(b"\n", end)) == parse(COMPAS.encode())
