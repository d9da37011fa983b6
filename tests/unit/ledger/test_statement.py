"""in-toto statements in RFC 8785 form, and nothing else."""

import json
from typing import Any

import pytest

from lacre.errors import StatementInvalid
from lacre.ledger.statement import KINDS, Statement, Subject

DIGEST = "0123456789abcdef" * 4
STATEMENT = Statement("seal", (Subject("pool/teste", DIGEST),), {"rows": 7214, "é": None})


def test_the_form_is_written_out() -> None:
    """An in-toto Statement v1 with its keys sorted, no white space, text as UTF-8 (RFC 8785 section 3.2)."""
    assert (
        STATEMENT.encode()
        == (
            '{"_type":"https://in-toto.io/Statement/v1","predicate":{"rows":7214,"é":null},'
            '"predicateType":"urn:lacre:seal:v1","subject":[{"digest":{"sha256":"'
            + DIGEST
            + '"},"name":"pool/teste"}]}'
        ).encode()
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_statement_of_every_kind_survives_its_bytes(kind: str) -> None:
    statement = Statement(
        kind, (Subject("a", DIGEST), Subject("b", DIGEST)), {"deep": [{"x": [1, 0.5, True]}]}
    )
    assert Statement.decode(statement.encode()) == statement


def test_a_kind_is_a_type_of_predicate() -> None:
    assert len(set(KINDS)) == 16
    assert b'"predicateType":"urn:lacre:erase:v1"' in Statement("erase", STATEMENT.subjects, {}).encode()


def changed(**members: Any) -> bytes:
    value = {**json.loads(STATEMENT.encode()), **members}
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


SUBJECT = {"digest": {"sha256": DIGEST}, "name": "a"}


@pytest.mark.parametrize(
    "payload",
    [
        changed(_type="https://in-toto.io/Statement/v0.1"),
        changed(predicateType="urn:lacre:seal:v2"),
        changed(predicateType="urn:lacre:unknown:v1"),
        changed(predicateType="urn:lacre::v1"),
        changed(predicateType=1),
        changed(predicate=[]),
        changed(predicate=None),
        changed(more=1),
        changed(subject={}),
        changed(subject=[]),
        changed(subject=[SUBJECT, SUBJECT]),
        changed(subject=[{**SUBJECT, "uri": ""}]),
        changed(subject=[{**SUBJECT, "name": ""}]),
        changed(subject=[{**SUBJECT, "name": None}]),
        changed(subject=[{"name": "a"}]),
        changed(subject=[{"name": "a", "digest": {}}]),
        changed(subject=[{"name": "a", "digest": {"sha256": DIGEST, "sha1": ""}}]),
        changed(subject=[{"name": "a", "digest": {"sha256": DIGEST.upper()}}]),
        changed(subject=[{"name": "a", "digest": {"sha256": DIGEST[:-1]}}]),
        changed(subject=["a"]),
        json.dumps(json.loads(STATEMENT.encode())).encode(),
        STATEMENT.encode() + b"\n",
        STATEMENT.encode()[:-1] + b',"subject":[]}',
        STATEMENT.encode().replace("é".encode(), b"\\u00e9"),
        STATEMENT.encode().replace(b"7214", b"7214.0"),
        STATEMENT.encode().replace(b"7214", b"9007199254740993"),
        STATEMENT.encode().replace(b"7214", b"NaN"),
        STATEMENT.encode().replace(b"7214", b'"\\ud800"'),
        STATEMENT.encode().replace(b"7214", b"[" * 200 + b"]" * 200),
        b"",
        b"{}",
        b"null",
        b"\xff\xfe",
        b"[" * 40_000,
    ],
)
def test_no_other_payload_is_a_statement(payload: bytes) -> None:
    with pytest.raises(StatementInvalid):
        Statement.decode(payload)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**53, "\ud800", {1: 2}, {"\ud800": 1}, object(), b"bytes", {"set"}]
)
def test_a_predicate_without_a_canonical_form_is_refused(value: object) -> None:
    with pytest.raises(StatementInvalid):
        Statement("seal", (Subject("a", DIGEST),), {"value": value}).encode()


@pytest.mark.parametrize(
    ("kind", "subjects"),
    [
        ("", (Subject("a", DIGEST),)),
        ("reveal", (Subject("a", DIGEST),)),
        ("seal", ()),
        ("seal", (Subject("", DIGEST),)),
        ("seal", (Subject("a", "sha256:" + DIGEST),)),
        ("seal", (Subject("a", DIGEST), Subject("a", "f" * 64))),
    ],
)
def test_a_statement_is_not_built_from_anything_else(kind: str, subjects: tuple[Subject, ...]) -> None:
    with pytest.raises(StatementInvalid):
        Statement(kind, subjects, {})
