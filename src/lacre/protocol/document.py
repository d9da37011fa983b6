"""A protocol as a document: read from a file, written in its one canonical form, and hashed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, islice
from typing import Any

from pydantic import ValidationError

from lacre.canonical import canonical_json, parse_canonical, sha256_hex
from lacre.errors import FewerThanTwoGroups, LacreError, NotCanonical, printable
from lacre.protocol.grammar import Reading
from lacre.protocol.models import PROBLEMS, Protocol
from lacre.protocol.pools import ROLES
from lacre.protocol.problems import MOST_PROBLEMS, Path, Problem, dotted, nearest
from lacre.protocol.sentences import problem_of
from lacre.protocol.strict_yaml import MAX_DEPTH, Loaded, Position, has_control, invalid, load
from lacre.text import N_, _

_MAPS = ("systems", "tables", "variants", "pools", "sampling", "relabel", "bins", "thresholds", "analyses")
_STAND_IN: Mapping[str, Any] = {
    "lacre": 1,
    "study": "study",
    "title": "title",
    "question": "question",
    "language": "en",
    "data": {"identifiable": False, "prior_exposure": "none"},
    "tables": {},
    "pools": {},
    "analyses": {},
}
_CRITERIA = ("analyses", "criteria")
_IN_CRITERIA = 3
"""The place of a criterion's number in its path, after `analyses`, a name and `criteria`."""
_ROUNDS = 5


def parse(data: bytes, name: str = "protocol.yaml") -> Protocol:
    """Return the protocol a file holds; `name` is what messages call the file.

    Raises `ProtocolInvalid`, listing every problem with its line and column; `FewerThanTwoGroups` (law 9) when
    all that is wrong is a difference between groups where fewer than two are declared.
    """
    return _read(load(data, name), name)


def canonical(protocol: Protocol) -> bytes:
    """Return the canonical form: RFC 8785 JSON, defaults of format 1 explicit, what is absent left out."""
    return canonical_json(value_of(protocol))


def protocol_hash(protocol: Protocol) -> str:
    """Return the SHA-256 of the canonical form in 64 hexadecimal digits."""
    return sha256_hex(canonical(protocol))


def value_of(protocol: Protocol) -> dict[str, Any]:
    """Return the canonical form as a value of maps, lists, text and numbers."""
    return protocol.model_dump(mode="json", by_alias=True, exclude_none=True)


def from_canonical(data: bytes, name: str = "protocol") -> Protocol:
    """Return the protocol whose canonical form `data` is.

    Raises `NotCanonical` for bytes that are no protocol's canonical form, and what `parse` raises for a
    value that is no protocol.
    """
    protocol = _read(Loaded(parse_canonical(data), {}, {}), name)
    if canonical(protocol) != data:
        raise NotCanonical(why=_("a protocol's canonical form says every default of its format"))
    return protocol


def _read(loaded: Loaded, name: str) -> Protocol:
    value = loaded.value
    problems = list(_unreadable(value, ()))
    reading = Reading()
    try:
        protocol = Protocol.model_validate(value, context=reading)
        if not problems:
            return protocol
    except ValidationError as error:
        told = {problem.path for problem in problems}
        problems += [each for each in _problems(error, value, reading) if each.path not in told]
    flaws = [problem for problem in problems if not problem.between_parts]
    if flaws and isinstance(value, dict):
        problems = [*flaws, *_between_sound_parts(value, flaws)]
    raise _refusal(problems, loaded, name)


def _problems(error: ValidationError, value: Any, reading: Reading) -> Iterator[Problem]:
    for each in islice(error.errors(include_url=False), MOST_PROBLEMS):
        if each["type"] == PROBLEMS:
            yield from each["ctx"]["problems"]
        else:
            yield problem_of(each, value, reading)


def _between_sound_parts(value: dict[str, Any], flaws: list[Problem]) -> list[Problem]:
    """Find what contradicts itself between the parts that can be read, so that all is told at once."""
    broken: frozenset[Path] = frozenset()
    for _round in range(_ROUNDS):
        broken |= {problem.path if problem.alone else _unit(problem.path, broken) for problem in flaws}
        broken |= {("pools", role) for problem in flaws if (role := _misnamed_pool(problem)) is not None}
        pruned = {**_STAND_IN, **_without(value, (), broken)}
        reading = Reading(broken=broken)
        try:
            Protocol.model_validate(pruned, context=reading)
        except ValidationError as error:
            found = list(_problems(error, pruned, reading))
            problems = [replace(each, path=_restored(each.path, broken)) for each in found]
        else:
            return []
        flaws = [replace(problem, alone=False) for problem in problems if not problem.between_parts]
        if not flaws:
            return problems
    return []


def _misnamed_pool(problem: Problem) -> str | None:
    """Return the role a pool's name is close to: whoever names that role is not told it is unknown."""
    if len(problem.path) == 2 and problem.path[0] == "pools" and problem.at_key:
        return nearest(str(problem.path[1]), ROLES)
    return None


def _without(value: Any, path: Path, broken: frozenset[Path]) -> Any:
    if isinstance(value, dict):
        return {
            key: _without(each, (*path, key), broken)
            for key, each in value.items()
            if (*path, key) not in broken
        }
    if isinstance(value, list):
        kept = [index for index in range(len(value)) if not _left_out(path, index, broken)]
        return [_without(value[index], (*path, index), broken) for index in kept]
    return value


def _left_out(path: Path, index: int, broken: frozenset[Path]) -> bool:
    """Tell whether a thing in the list at `path` is left out: of lists only those of criteria lose any."""
    return path[::2] == _CRITERIA and len(path) == _IN_CRITERIA and (*path, index) in broken


def _restored(path: Path, broken: frozenset[Path]) -> Path:
    """Return a path in what was left of the document as that in the whole: criteria before it may be out."""
    before, index, after = (
        path[:_IN_CRITERIA],
        path[_IN_CRITERIA : _IN_CRITERIA + 1],
        path[_IN_CRITERIA + 1 :],
    )
    if before[::2] != _CRITERIA or not index or not isinstance(index[0], int):
        return path
    kept = (place for place in count() if not _left_out(before, place, broken))
    return (*before, next(islice(kept, index[0], None)), *after)


def _unit(path: Path, broken: frozenset[Path]) -> Path:
    """Return the smallest part that can be left out for a problem at `path`, and has not been left out yet.

    A column or another key of a table goes alone, since nothing is made up in its place, and so does a criterion;
    of what stands in other maps, one whole entry.
    """
    longest = 4 if path[2:3] == ("columns",) else 3
    sizes: Sequence[int] = (2,) if path and path[0] in _MAPS else ()
    if path[:1] == ("tables",):
        sizes = range(longest, 1, -1)
    elif path[:_IN_CRITERIA][::2] == _CRITERIA:
        sizes = (4, 2)
    units = (path[:size] for size in sizes if len(path) >= size)
    return next((unit for unit in units if unit not in broken), path[:1])


def _unreadable(value: Any, path: Path) -> Iterator[Problem]:
    """Find what no part of a protocol may hold: keys without a value, control characters, endless depth."""
    if len(path) >= MAX_DEPTH:
        yield Problem(path, N_("is nested deeper than {depth}"), {"depth": MAX_DEPTH})
    elif isinstance(value, dict):
        for key, each in value.items():
            if each is None:
                yield Problem((*path, key), N_("is empty: give it a value, or take it out"))
            if has_control(key):
                yield Problem((*path, key), N_("holds a control character"), at_key=True)
            yield from _unreadable(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _unreadable(each, (*path, index))
    elif isinstance(value, str) and has_control(value):
        yield Problem(path, N_("holds a control character"))


def _refusal(problems: list[Problem], loaded: Loaded, name: str) -> LacreError:
    flaws = [problem for problem in problems if problem.refusal is None]
    if flaws:
        flaws += [problem for problem in problems if problem.refusal is FewerThanTwoGroups]
        lines = {line_of(problem, loaded) for problem in flaws}
        return invalid(name, [f"{at.line}:{at.column} {text}" for at, text in sorted(lines)])
    return FewerThanTwoGroups(where=", ".join(dotted(each.path, loaded.value) for each in problems))


def line_of(problem: Problem, loaded: Loaded) -> tuple[Position, str]:
    """Return where a problem of a document stands, and what is said of it."""
    path = problem.path
    places = loaded.keys if problem.at_key else loaded.positions
    while path not in places and path:
        path = path[:-1]
        places = loaded.positions
    at = places.get(path, Position(1, 1))
    where = printable(dotted(problem.path, loaded.value))
    return at, f"{where}: {problem.sentence}" if where else problem.sentence
