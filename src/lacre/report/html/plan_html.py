"""The part of a plan that a result rests on, as YAML that people read: what fits stands in one line."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

ROOM = 96
"""Columns of a line."""

_ENDLESS = 1 << 30
_WHOLE = ("study", "data", "disclosure", "systems", "disjoint", "locked")
"""What the plan says of every analysis."""

_NAMED = ("tables", "variants", "sampling", "relabel", "bins", "thresholds")
"""What an analysis, or what it names, may name."""


def relevant(plan: Mapping[str, Any], pool: str, analyses: Sequence[str]) -> dict[str, Any]:
    """Return the parts of a plan, in its canonical form, that some of its analyses on a pool rest on."""
    own = {each: plan["analyses"][each] for each in analyses if each in plan["analyses"]}
    named = set(_texts(own))
    # A threshold names its table, and a table the bins of its columns.
    for _round in range(2):
        for part in _NAMED:
            held = (plan.get(part) or {}).items()
            named |= {text for key, each in held if key in named for text in _texts(each)}
    kept: dict[str, Any] = {name: plan[name] for name in _WHOLE if plan.get(name)}
    for part in _NAMED:
        found = {key: each for key, each in (plan.get(part) or {}).items() if key in named}
        if found:
            kept[part] = found
    kept["pools"] = {key: each for key, each in plan["pools"].items() if key == pool}
    return {**kept, "analyses": own}


def lines(value: Mapping[str, Any]) -> list[str]:
    """Return a map as lines of YAML, its empty parts left out."""
    return _block(_full(value), "")


def _full(value: Any) -> Any:
    if isinstance(value, Mapping):
        kept = {key: _full(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each not in ([], {})}
    return [_full(each) for each in value] if isinstance(value, list) else value


def _block(value: Mapping[str, Any], indent: str) -> list[str]:
    said: list[str] = []
    for key, each in value.items():
        head, flow = f"{indent}{_flow(key)}:", _flow(each)
        if not isinstance(each, Mapping | list) or len(head) + 1 + len(flow) <= ROOM:
            said.append(f"{head} {flow}")
        elif isinstance(each, Mapping):
            said += [head, *_block(each, f"{indent}  ")]
        else:
            said += [head, *(f"{indent}  - {_flow(item)}" for item in each)]
    return said


def _flow(value: Any) -> str:
    """Return a value in one line."""
    text = yaml.safe_dump(value, allow_unicode=True, sort_keys=False, default_flow_style=True, width=_ENDLESS)
    return text.removesuffix("\n").removesuffix("\n...")


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield str(key)
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
