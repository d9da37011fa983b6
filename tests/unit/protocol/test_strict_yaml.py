"""Strict YAML: the core types, the refusals, and where each stands."""

from typing import Any

import pytest

from lacre.errors import ProtocolInvalid
from lacre.protocol.strict_yaml import MAX_BYTES, MAX_DEPTH, Position, load


def problem(data: bytes) -> str:
    with pytest.raises(ProtocolInvalid) as caught:
        load(data)
    return str(caught.value.fields["problems"])


# The core schema of YAML 1.2.2, section 10.3.2, and its example 10.9; and what 1.1 would have made of them.
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("Null", None),
        ("NULL", None),
        ("~", None),
        ("", None),
        ("nULL", "nULL"),
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("tRUE", "tRUE"),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("n", "n"),
        ("NO", "NO"),
        ("0", 0),
        ("-19", -19),
        ("+12", 12),
        ("007", 7),
        ("0o7", 7),
        ("0o17", 15),
        ("0x3A", 58),
        ("0xff", 255),
        ("0o8", "0o8"),
        ("0b1", "0b1"),
        ("1_000", "1_000"),
        ("-0x1", "-0x1"),
        ("-0o7", "-0o7"),
        ("0X1", "0X1"),
        ("0.", 0.0),
        ("-0.0", -0.0),
        (".5", 0.5),
        ("+12e03", 12000.0),
        ("-2E+05", -200000.0),
        ("1e3", 1000.0),
        ("685.230_15e+03", "685.230_15e+03"),
        (".", "."),
        ("1e", "1e"),
        ("e3", "e3"),
        ("+.5", 0.5),
        ("1.e1", 10.0),
        ("12:30", "12:30"),
        ("190:20:30", "190:20:30"),
        ("2001-12-14", "2001-12-14"),
        ("2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"),
        ("=", "="),
        ("1950s", "1950s"),
        ("NaN", "NaN"),
        ("nan", "nan"),
        ("inf", "inf"),
        ("Infinity", "Infinity"),
        ("9007199254740991", 2**53 - 1),
        ("-9007199254740991", 1 - 2**53),
        ("'1'", "1"),
        ('"true"', "true"),
        ("'null'", "null"),
        ('""', ""),
        ("'~'", "~"),
        ("|\n  1\n", "1\n"),
    ],
)
def test_core_schema(text: str, value: Any) -> None:
    loaded = load(f"k: {text}".encode()).value["k"]
    assert loaded == value
    assert type(loaded) is type(value)


@pytest.mark.parametrize(
    ("data", "where", "what"),
    [
        (b"a: 1\nb: 2\na: 3", "3:1", "stands twice in one map, first on line 1"),
        (b'a: 1\n"a": 3', "2:1", "twice"),
        (b"a: {b: 1, b: 2}", "1:11", "twice"),
        (b"a: &x 1", "1:4", "anchors"),
        (b"a: &x {b: 1}", "1:4", "anchors"),
        (b"a: &x 1\nb: *x", "2:4", "aliases"),
        (b"a: 1\n*x : 2", "2:1", "aliases"),
        (b"a: !!str 1", "1:4", "tags"),
        (b"a: ! x", "1:4", "tags"),
        (b"a: !!python/object/apply:os.system [ls]", "1:4", "tags"),
        (b"a:\n  <<: {b: 1}", "2:3", "merge keys"),
        (b"a: 1\n---\nb: 2", "2:1", "second document"),
        (b"a: 1\n...\n---\nb: 2", "3:1", "second document"),
        (b"%YAML 1.1\n---\na: 1", "1:1", "directives"),
        (b"%TAG ! tag:x,2000:\n---\na: 1", "1:1", "directives"),
        (b"decade:\n  1950: a", "2:3", "a key must be text: write `1950` in quotes"),
        (b"true: a", "1:1", "a key must be text: write `true` in quotes"),
        (b"~: a", "1:1", "a key must be text"),
        (b".nan: a", "1:1", "a key must be text"),
        (b"? [a, b]\n: c", "1:3", "a key must be text"),
        (b"{a: b}: c", "1:1", "a key must be text"),
        (b"a: .inf", "1:4", "not finite"),
        (b"a: -.INF", "1:4", "not finite"),
        (b"a: .NaN", "1:4", "not finite"),
        (b"a: 1e400", "1:4", "not finite"),
        (b"a: 9007199254740992", "1:4", "past 2^53"),
        (b"a: -9007199254740992", "1:4", "past 2^53"),
        (b"a: 0x20000000000000", "1:4", "past 2^53"),
        (b"a: " + b"1" * 10_000, "1:4", "past 2^53"),
        (b'a: "\\x07"', "1:4", "control character"),
        (b'a: "\\r"', "1:4", "control character"),
        (b'a: "\\ud800"', "1:4", "control character"),
        (b'"\\0": a', "1:1", "control character"),
        (b"a: b\n\x00", "2:1", "U+0000"),
        (b"a: \x1b[31m", "1:4", "U+001B"),
        ("a: x\u2028b".encode(), "1:5", "U+2028"),
        ("a: x\u0085b".encode(), "1:5", "U+0085"),
        ("a: \ufeffb".encode(), "1:4", "U+FEFF"),
        (b"a: b\nc: \xff\xfe", "2:4", "not UTF-8"),
        (b"\xff\xfea\x00", "1:1", "not UTF-8"),
        ("a: é\nb: ".encode() + b"\xe9", "2:4", "not UTF-8"),
        (b"", "1:1", "empty"),
        (b"# nothing\n", "1:1", "empty"),
        (b"a: [1, 2", "1:9", "not YAML"),
        (b"a: b: c", "1:5", "not YAML"),
        (b"a:\n\t- b", "2:1", "not YAML"),
        (b'a: "\\UFFFFFFFF"', "1:1", "not YAML"),
        (b"@", "1:1", "not YAML"),
    ],
)
def test_refusals_have_line_and_column(data: bytes, where: str, what: str) -> None:
    last = problem(data).split("\n")[-1]
    assert last.startswith(f"{where} ")
    assert what in last


def test_every_problem_is_listed() -> None:
    lines = problem(b"a: &x 1\nb: .inf\nb: !!int 2\n7: c\n").split("\n")
    assert [line.split(" ")[0] for line in lines] == ["1:4", "2:4", "3:1", "3:4", "4:1"]


def test_a_bomb_of_aliases_is_refused_before_it_grows() -> None:
    """Nine levels of nine aliases each would be 9^9 texts."""
    levels = ["a0: &a0 [lol]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10))]
    assert "2:10 aliases" in problem("\n".join(levels).encode())


def test_depth() -> None:
    assert load(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH).value
    assert "nested deeper" in problem(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))
    assert "nested deeper" in problem(b"{a: " * 50_000)


def test_size() -> None:
    comment = b"a: 1\n#"
    assert load(comment + b" " * (MAX_BYTES - len(comment))).value == {"a": 1}
    assert problem(comment + b" " * (MAX_BYTES - len(comment) + 1)).startswith("1:1 the file is over")


def test_problems_past_a_hundred_are_counted() -> None:
    with pytest.raises(ProtocolInvalid) as caught:
        load(b"a: [" + b".inf, " * 150 + b"1]")
    assert caught.value.fields["count"] == 150
    assert caught.value.fields["problems"].split("\n")[-1] == "... and 50 more"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_mark(end: bytes, mark: bytes) -> None:
    loaded = load(mark + end.join([b"a: |", b"  x", b"  y", b"b: [1,", b"  'z']", b""]))
    assert loaded.value == {"a": "x\ny\n", "b": [1, "z"]}
    assert loaded.positions["b", 1] == Position(5, 3)


def test_positions() -> None:
    loaded = load("tables:\n  cases:\n    é: x\n    key: [a, {b: c}]\n".encode())
    assert loaded.positions[()] == Position(1, 1)
    assert loaded.positions["tables",] == Position(1, 1)
    assert loaded.positions["tables", "cases"] == Position(2, 3)
    assert loaded.positions["tables", "cases", "é"] == Position(3, 8)
    assert loaded.positions["tables", "cases", "key"] == Position(4, 5)
    assert loaded.positions["tables", "cases", "key", 0] == Position(4, 11)
    assert loaded.positions["tables", "cases", "key", 1, "b"] == Position(4, 18)
    assert loaded.keys["tables", "cases", "key", 1, "b"] == Position(4, 15)


def test_an_explicit_document_is_one_document() -> None:
    assert load(b"%YAML 1.2\n---\na: 1\n...\n").value == {"a": 1}
