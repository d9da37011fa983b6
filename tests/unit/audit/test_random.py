"""Tampering at random: whatever it is, the audit ends, and finds it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings, strategies as st

from lacre.audit.heads import Memory
from lacre.canonical import canonical_json
from lacre.errors import LacreError
from lacre.ledger.envelope import PAYLOAD_ENTRY, PAYLOAD_REQUEST, Envelope
from lacre.ledger.proof import Receipt
from lacre.ledger.statement import Statement

if TYPE_CHECKING:
    from tests.unit.audit.conftest import Builder, Held

ENTRIES = 13

shared = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _with(datas: list[bytes], index: int, data: bytes) -> list[bytes]:
    return [*datas[:index], data, *datas[index + 1 :]]


def _tampered(draw: st.DataObject, datas: list[bytes]) -> list[bytes]:
    index = draw.draw(st.integers(0, len(datas) - 1))
    other = draw.draw(st.integers(0, len(datas) - 1))
    data = datas[index]
    position = draw.draw(st.integers(0, len(data) - 1)) if data else 0
    match draw.draw(st.sampled_from(["flip", "cut", "fill", "drop", "swap", "repeat", "insert", "splice"])):
        case "flip" if data:
            flipped = bytes([data[position] ^ draw.draw(st.integers(1, 255))])
            return _with(datas, index, data[:position] + flipped + data[position + 1 :])
        case "cut":
            return _with(datas, index, data[:position])
        case "fill":
            return _with(datas, index, draw.draw(st.binary(max_size=40)))
        case "drop":
            return [*datas[:index], *datas[index + 1 :]] or datas
        case "swap":
            return _with(_with(datas, index, datas[other]), other, data)
        case "repeat":
            return [*datas[:other], data, *datas[other:]]
        case "insert":
            inserted = draw.draw(st.binary(min_size=1, max_size=4))
            return _with(datas, index, data[:position] + inserted + data[position:])
        case _:
            return _with(datas, index, data[:position] + datas[other][position:])


@shared
@given(st.data())
def test_any_tampering_at_all_is_found(held: Held, data: st.DataObject) -> None:
    datas = held.datas
    for _time in range(data.draw(st.integers(1, 4))):
        datas = _tampered(data, datas)
    found = held.with_datas(datas).found()
    assert bool(found) == (datas != held.datas)


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield from _leaves(each, (*path, key))


def _replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[path[0]] = _replaced(value[path[0]], path[1:], new)
    return copied


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 20),
    st.sampled_from(
        ["", "x", "one", "two", "teste", "dev", "parity", "FAIL", "00" * 32, "\x1b[2J", "../../x"]
    ),
    st.just([]),
    st.just({}),
)


@shared
@given(st.data())
def test_whatever_a_broker_signs_the_audit_comes_to_an_end(builder: Builder, data: st.DataObject) -> None:
    """Every member of every entry takes other values, and broker and person sign what comes out.

    Not all of it is against the law (row counts are as the broker declares them), so only that the audit
    ends, with words for all it found, is asked here.
    """
    index = data.draw(st.integers(0, ENTRIES - 1))
    statement = Statement.decode(Envelope.decode(builder.datas[index]).payload)
    predicate: Any = dict(statement.predicate)
    if "request" in predicate and data.draw(st.booleans()):
        request = json.loads(base64.b64decode(predicate["request"]["payload"]))
        path = data.draw(st.sampled_from(list(_leaves(request))))
        payload = canonical_json(_replaced(request, path, data.draw(VALUES)))
        predicate["request"] = Envelope.sign(PAYLOAD_REQUEST, payload, [builder.person]).as_json()
    else:
        path = data.draw(st.sampled_from([p for p in _leaves(predicate) if p]))
        predicate = _replaced(predicate, path, data.draw(VALUES))
    signers = [builder.person, builder.broker] if index == 0 else [builder.broker]
    payload = Statement(statement.kind, statement.subjects, predicate).encode()
    builder = builder.fork()
    builder.datas[index] = Envelope.sign(PAYLOAD_ENTRY, payload, signers).encode()
    builder.held().found()


@shared
@given(st.lists(st.binary(max_size=60), max_size=5), st.binary(max_size=80))
def test_no_bytes_at_all_make_the_audit_fail_otherwise_than_by_a_finding(
    held: Held, datas: list[bytes], note: bytes
) -> None:
    assert replace(held.with_datas(datas), note=note).found()


@shared
@given(st.binary(max_size=200))
def test_memories_are_parsed_or_refused(data: bytes) -> None:
    for prefix in (b"", b"c2sp.org/tlog-proof@v1\n", b"c2sp.org/tlog-proof@v1\nindex 0\n\n"):
        try:
            memory = Memory.parse("file", prefix + data)
        except LacreError:
            continue
        assert memory.receipt is None or isinstance(memory.receipt, Receipt)
