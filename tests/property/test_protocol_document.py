"""Documents that are nearly protocols: read or refused, and what is read has one form and one hash."""

import copy
import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings, strategies as st

from lacre.canonical import canonical_json
from lacre.errors import LacreError
from lacre.protocol.difference import difference
from lacre.protocol.document import canonical, from_canonical, parse, protocol_hash, value_of
from lacre.protocol.models import Protocol

VECTORS = Path(__file__).resolve().parents[1] / "vectors" / "protocol"
WHOLE = parse((VECTORS / "every-part.yaml").read_bytes())
PLAIN = value_of(WHOLE)


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(each for key, part in inner for each in _paths(part, (*path, key)))]


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


PATHS = _paths(PLAIN)
KEYS = sorted({str(step) for path in PATHS for step in path} | {"id", "kind", "teste", "x", "é", ""})
# Whatever stands anywhere in a protocol may be put anywhere else: far likelier to be nearly right than noise.
PARTS: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(PATHS).map(lambda path: _at(PLAIN, path)),
    st.sampled_from(
        [None, True, 0, 1, -1, 0.5, "1/3", "", "x", [], {}, [None, None], {"fixed": 1}, [[]], 2**53 - 1]
    ),
    st.text(max_size=5),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
)


@st.composite
def documents(draw: st.DrawFn) -> Any:
    """Return the whole grammar with one to three parts replaced, added or taken out."""
    value = copy.deepcopy(PLAIN)
    for _spoiling in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(_paths(value)))
        here = _at(value, path)
        if isinstance(here, dict):
            here[draw(st.sampled_from(KEYS))] = copy.deepcopy(draw(PARTS))
        elif isinstance(here, list):
            here.append(copy.deepcopy(draw(PARTS)))
        elif draw(st.booleans()):
            _at(value, path[:-1])[path[-1]] = copy.deepcopy(draw(PARTS))
        else:
            del _at(value, path[:-1])[path[-1]]
    return value


def _read(data: bytes) -> Protocol | LacreError:
    try:
        return parse(data)
    except LacreError as error:
        return error


@given(documents())
@settings(max_examples=100, deadline=None)
def test_nearly_a_protocol(value: Any) -> None:
    outcome = _read(json.dumps(value).encode())
    if isinstance(outcome, LacreError):
        assert outcome.exit_status == 2
        assert "is not what stands here" not in outcome.message
        return
    form = canonical(outcome)
    assert from_canonical(form) == outcome
    assert (difference(WHOLE, outcome) == ()) == (protocol_hash(WHOLE) == protocol_hash(outcome))
    assert protocol_hash(parse(form)) == protocol_hash(outcome)  # the canonical form is a protocol file, too


@given(documents())
@settings(max_examples=100, deadline=None)
def test_canonical_bytes_of_anything(value: Any) -> None:
    data = canonical_json(value)
    try:
        assert canonical(from_canonical(data)) == data
    except LacreError as error:
        assert error.message.isprintable() or "\n" in error.message  # noqa: PT017 - either outcome is right
