"""Strict YAML: whatever the bytes, an answer or a refusal; and what JSON says, YAML says."""

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings, strategies as st

from lacre.errors import LacreError, ProtocolInvalid
from lacre.protocol.document import parse
from lacre.protocol.strict_yaml import Loaded, load

# Text made of YAML's own signs finds far more of a parser's corners than text at large.
SIGNS = st.lists(
    st.sampled_from(
        [*"-?:,[]{}#&*!|>'\"%@`~<=\\/ \t\n\r", "\r\n", "a", "é", "0", "1.5", "null", "true", ".inf", "---\n",
         "...\n", "&a ", "*a", "!!str ", "! ", "<<", "  ", "k: ", "- ", "0x1F", "0o17", "\\x00", "\\ud800",
         "\\U00110000", "\ufeff", "\x85", "\u2028", "\x00", "%YAML 1.1\n", "%TAG ! x\n", "|2-\n", ">+\n"]
    ),
    max_size=40,
).map("".join)  # fmt: skip


BYTES = st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode), SIGNS.map(str.encode))


@given(BYTES)
@example(b'"\\U00110000"')
@example(b'"\\UFFFFFFFF"')
@example(b"%YAML 99999999999999999999.1\n--- a")
@example(b"9" * 5000)
@example(b"1e" + b"9" * 5000)
@example(b"0x" + b"f" * 5000)
@example(b"[" * 100_000)
@example(b"? " * 1000)
@example(b"- " * 1000)
@settings(max_examples=250, deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    outcome = _loaded(data)
    if isinstance(outcome, ProtocolInvalid):
        assert re.match(r"\d+:\d+ ", outcome.fields["problems"])
        assert outcome.message
    else:
        assert () in outcome.positions
        json.dumps(outcome.value, allow_nan=False).encode()


def _loaded(data: bytes) -> Loaded | ProtocolInvalid:
    try:
        return load(data)
    except ProtocolInvalid as error:
        return error


@given(SIGNS.map(str.encode))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_a_protocol_or_refused(data: bytes) -> None:
    with pytest.raises(LacreError) as caught:
        parse(data)
    assert caught.value.exit_status == 2


TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\ufeff\ufffe\uffff")
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXT,
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=4)),
    max_leaves=20,
)


@given(VALUES)
@settings(max_examples=150, deadline=None)
def test_json_is_read_as_json(value: Any) -> None:
    """YAML 1.2 contains JSON: what the json module writes must come back as it was, type by type."""
    loaded = load(json.dumps(value, ensure_ascii=False).encode("utf-8")).value
    assert loaded == value
    assert _types(loaded) == _types(value)


def _types(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _types(each) for key, each in value.items()}
    return [_types(each) for each in value] if isinstance(value, list) else type(value)


@given(
    st.dictionaries(st.text("abcxyz", min_size=1), st.one_of(TEXT, st.lists(TEXT, max_size=3)), max_size=5)
)
@settings(max_examples=200, deadline=None)
def test_quoted_text_is_text_in_block_style(value: dict[str, Any]) -> None:
    """PyYAML's own emitter, told to quote every scalar, is an independent writer of block style."""
    written = yaml.dump(value, default_style='"', default_flow_style=False, allow_unicode=True)
    assert load(written.encode("utf-8")).value == value
