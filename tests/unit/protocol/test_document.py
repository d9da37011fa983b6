"""The canonical form and its hash: what changes them, and what never does."""

import copy
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lacre.canonical import canonical_json
from lacre.errors import LacreError, NotCanonical, ProtocolInvalid
from lacre.protocol.document import canonical, from_canonical, parse, protocol_hash, value_of

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "protocol"
HASHES: dict[str, str] = json.loads((VECTORS / "hashes.json").read_text())


def hash_of(text: str) -> str:
    return protocol_hash(parse(text.encode("utf-8")))


# --- golden ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(HASHES))
def test_golden_hashes(name: str) -> None:
    assert protocol_hash(parse((VECTORS / name).read_bytes())) == HASHES[name]


def test_every_vector_is_pinned() -> None:
    assert {path.name for path in VECTORS.glob("*.yaml")} == {*HASHES}


def test_the_canonical_form_says_every_default() -> None:
    """`loans.yaml`, written out by hand from the grammar, and hashed with nothing of lacre's."""
    text = {"is": [], "missing": [""]}
    expected = {
        "lacre": 1,
        "study": "loans",
        "title": "Loans",
        "question": "Equal errors?",
        "language": "en",
        "data": {"identifiable": False, "prior_exposure": "none"},
        "systems": {},
        "tables": {
            "cases": {
                "key": ["id"],
                "cluster": [],
                "delimiter": ",",
                "decimal": ".",
                "encoding": "utf-8",
                "strip_header": False,
                "exclude": [],
                "columns": {
                    "id": {"type": "text", **text},
                    "repaid": {"type": "outcome", "positive": ["1"], "negative": ["0"], **text},
                    "granted": {
                        "type": "outcome",
                        "positive": ["yes", "maybe"],
                        "negative": ["no"],
                        "from": "submission",
                        **text,
                    },
                    "sex": {"type": "category", "values": ["f", "m"], "missing": [""], "is": ["input"]},
                },
            }
        },
        "variants": {},
        "pools": {"teste": {"tables": ["cases"], "planned": {"cases": 900}, "composition": {}}},
        "disjoint": [],
        "sampling": {},
        "relabel": {},
        "bins": {},
        "thresholds": {},
        "analyses": {
            "gate": {
                "kind": "group_fairness",
                "pool": "teste",
                "table": "cases",
                "label": "repaid",
                "prediction": "granted",
                "attributes": ["sex"],
                "intersections": [],
                "confidence": 0.95,
                "min_cell": 30,
                "requires_manual_review": False,
                "criteria": [
                    {
                        "id": "gap",
                        "metric": "error",
                        "by": ["sex"],
                        "max_group_gap": 0.1,
                        "max_left_out": 0.1,
                        "requires_manual_review": False,
                    }
                ],
            }
        },
        "locked": [],
        "remedies": [],
    }
    form = json.dumps(expected, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    protocol = parse((VECTORS / "loans.yaml").read_bytes())
    assert canonical(protocol) == form
    assert protocol_hash(protocol) == hashlib.sha256(form).hexdigest() == HASHES["loans.yaml"]


# --- what never changes a hash ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(HASHES))
def test_writing_never_changes_a_hash(name: str) -> None:
    """Key order, comments, quoting, flow or block, line ends and a byte order mark."""
    data = (VECTORS / name).read_bytes()
    value = yaml.load(
        data, Loader=yaml.BaseLoader
    )  # every scalar as text: what is written, not what it means
    plain = json.loads(canonical(parse(data)))
    turned = json.dumps(_turned(plain), indent=1, ensure_ascii=True)
    texts = [
        data.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + data,
        b"# first\n" + re.sub(rb"(?m)$", b"   # said beside", data) if b"|" not in data else data,
        turned.encode(),
        yaml.safe_dump(plain, sort_keys=False, allow_unicode=True).encode(),
        yaml.safe_dump(plain, default_flow_style=True, width=60).encode(),
        yaml.safe_dump(plain, default_style=None, sort_keys=True, indent=7).encode(),
    ]
    assert value["lacre"] == "1"
    assert {protocol_hash(parse(text)) for text in texts} == {HASHES[name]}


def _turned(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _turned(each) for key, each in reversed(value.items())}
    return [_turned(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("max_group_gap: 0.1}", "max_group_gap: 0.10}"),
        ("max_group_gap: 0.1}", "max_group_gap: 1.0e-1}"),
        ("max_group_gap: 0.1}", "max_group_gap: +.1}"),
        ("max_group_gap: 0.1}", "max_group_gap: 0.1, max_left_out: 0.100}"),
        ("lacre: 1", "lacre: 1.0"),
        ("planned: {cases: 900}", "planned: {cases: 900.0}"),
        ("planned: {cases: 900}", "planned: {cases: 0x384}"),
        ("tables: cases,", "tables: [cases],"),
        ("key: id", "key: [id]"),
        ("attributes: sex", "attributes: [sex]"),
        ("is: input", "is: ['input']"),
        ("negative: no", "negative: ['no']"),
        ("Equal errors?", "'Equal errors?'"),
        ("type: text", "type: text, missing: ''"),
        ("type: text", "missing: [''], type: text, is: []"),
        ("    criteria:", "    confidence: 0.950\n    min_cell: 30\n    criteria:"),
        ("language: en", "systems: {}\nbins: {}\nlocked: []\nlanguage: en"),
    ],
)
def test_spelling_never_changes_a_hash(
    loans: str, spoil: Callable[[str, str, str], str], old: str, new: str
) -> None:
    assert hash_of(spoil(loans, old, new)) == HASHES["loans.yaml"]


def test_fractions_are_in_lowest_terms(
    vector: Callable[[str], str], spoil: Callable[[str, str, str], str]
) -> None:
    text = vector("two-systems.yaml")
    assert hash_of(spoil(text, '"1/20"', '"5/100"')) == HASHES["two-systems.yaml"]
    assert hash_of(spoil(text, '"4/2"', "2")) == HASHES["two-systems.yaml"]
    assert hash_of(spoil(text, '"1/20"', "0.05")) != HASHES["two-systems.yaml"]


# --- what always does ------------------------------------------------------------------------------------


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(each, (*path, key))
    else:
        yield path


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1 if value >= 1 else value / 2 + 0.01
    return "none" if value is None else f"{value}x"


@pytest.mark.parametrize("name", ["loans.yaml", "two-systems.yaml"])
def test_any_other_value_is_another_hash_or_no_protocol(name: str) -> None:
    plain = value_of(parse((VECTORS / name).read_bytes()))
    changed = kept = 0
    for path in _leaves(plain):
        other = copy.deepcopy(plain)
        here: Any = other
        for step in path[:-1]:
            here = here[step]
        here[path[-1]] = _other(here[path[-1]])
        try:
            assert protocol_hash(parse(json.dumps(other).encode())) != HASHES[name], path
            changed += 1
        except LacreError:
            kept += 1
    assert changed >= 12, (changed, kept)


def test_every_pair_of_values_has_hashes_of_its_own(
    loans: str, spoil: Callable[[str, str, str], str]
) -> None:
    texts = [
        loans,
        spoil(loans, "max_group_gap: 0.1}", "max_group_gap: 0.2}"),
        spoil(loans, "max_group_gap: 0.1}", "worst_group: {max: 0.1}}"),
        spoil(loans, "max_group_gap: 0.1}", "worst_group: {min: 0.1}}"),
        spoil(loans, "max_group_gap: 0.1}", "max_group_gap: 0.1, max_left_out: 0.2}"),
        spoil(loans, "metric: error", "metric: selection"),
        spoil(loans, "values: [f, m]", "values: [m, f]"),
        spoil(loans, "type: category", "type: ordinal"),
        spoil(loans, "is: input", "is: [input, demographic]"),
        spoil(loans, "type: text", "type: text, missing: []"),
        spoil(loans, "pools:", "disclosure: {min_count: 5}\npools:"),
        spoil(loans, "key: id", "key: id\n    unit: id"),
        spoil(loans, "prior_exposure: none", "prior_exposure: nothing"),
        spoil(loans, "Equal errors?", "'Equal errors? '"),
    ]
    assert len({hash_of(text) for text in texts}) == len(texts)


# --- there and back --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(HASHES))
def test_there_and_back(name: str) -> None:
    protocol = parse((VECTORS / name).read_bytes())
    again = from_canonical(canonical(protocol))
    assert again == protocol
    assert canonical(again) == canonical(protocol)
    assert {key: pool.role for key, pool in again.pools.items()} == {key: key for key in protocol.pools}


def test_maps_come_back_in_the_order_they_had(loans: str, whole: str) -> None:
    """What an analysis iterates over must not depend on whether it came from the file or from the ledger."""
    for text in (loans, whole):
        protocol = parse(text.encode())
        again = from_canonical(canonical(protocol))
        assert list(protocol.tables) == list(again.tables)
        for name, table in protocol.tables.items():
            assert list(table.columns) == list(again.tables[name].columns) == sorted(table.columns)
        assert list(protocol.pools) == list(again.pools)
        assert [list(bins) for bins in protocol.bins.values()] == [list(bins) for bins in again.bins.values()]
    assert list(parse(whole.encode()).bins["degree"]) == ["low", "middle", "high"]


def test_any_other_bytes_are_refused(loans: str) -> None:
    value = value_of(parse(loans.encode()))
    cases = value["tables"]["cases"]
    for data in (
        canonical_json(value) + b"\n",
        json.dumps(value).encode(),
        canonical_json({key: each for key, each in value.items() if key != "locked"}),  # a default left out
        canonical_json({**value, "tables": {"cases": {**cases, "key": "id"}}}),  # a lone string
        canonical_json(value)[:-1],
        b"{",
        b"\xff",
        b"NaN",
    ):
        with pytest.raises(NotCanonical):
            from_canonical(data)


@pytest.mark.parametrize(
    "data", [b"[]", b"1", b"{}", b'{"lacre":1}', b"null", b'"\x7f"', b"[" * 900 + b"]" * 900]
)
def test_canonical_bytes_of_no_protocol_are_refused(data: bytes) -> None:
    with pytest.raises((ProtocolInvalid, NotCanonical)):
        from_canonical(data)


def test_control_characters_are_refused_there_too(loans: str) -> None:
    value = value_of(parse(loans.encode()))
    with pytest.raises(ProtocolInvalid) as caught:
        from_canonical(canonical_json({**value, "title": "a\x1b[31mb"}))
    assert "title: holds a control character" in caught.value.fields["problems"]
    assert "\x1b" not in caught.value.message
    with pytest.raises(ProtocolInvalid) as caught:
        from_canonical(canonical_json({**value, "a\x1b": 1}))
    assert "a\\x1b: holds a control character" in caught.value.fields["problems"]


def test_endless_depth_is_refused(loans: str) -> None:
    deep: Any = 1
    for _level in range(60):
        deep = {"a": deep}
    with pytest.raises(ProtocolInvalid) as caught:
        from_canonical(canonical_json({**value_of(parse(loans.encode())), "bins": deep}))
    assert "is nested deeper than 50" in caught.value.fields["problems"]
