"""What pydantic finds wrong, in words a person who never heard of pydantic can act on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lacre.protocol.grammar import REFUSED, Reading
from lacre.protocol.problems import Path, Problem, listed, nearest, quoted
from lacre.text import N_

_WHOLE = N_("must be a whole number")
_MAP = N_("must be a map, of `key: value` lines")
_LIST = N_("must be a list, in brackets or with a dash before each")

_SENTENCES: Mapping[str, str] = {
    "bool_type": N_("must be true or false"),
    "int_type": _WHOLE,
    "int_from_float": _WHOLE,
    "int_parsing": _WHOLE,
    "dict_type": _MAP,
    "model_type": _MAP,
    "model_attributes_type": _MAP,
    "list_type": _LIST,
    "greater_than_equal": N_("must be {ge} or more"),
    "less_than_equal": N_("must be {le} or less"),
    "string_too_long": N_("must be at most {max_length} characters long"),
    "string_pattern_mismatch": N_("must be `sha256:` and 64 small hexadecimal digits"),
    "too_short": N_("must hold at least {min_length}, and holds {actual_length}"),
}


def problem_of(error: Mapping[str, Any], value: Any, reading: Reading) -> Problem:
    """Return one of a `ValidationError`'s errors, found in the document `value`, as a problem."""
    kind, context = error["type"], error.get("ctx") or {}
    path, here, parent = _place(error["loc"], value)
    at_key = error["loc"][-1:] == ("[key]",)
    if kind == REFUSED:
        return Problem((*path, *context["at"]), context["template"], context["fields"], at_key=at_key)
    if kind == "extra_forbidden":
        return _unknown_key(path, reading.known.get(id(parent), ()))
    special = _SPECIAL.get(kind)
    if special is not None:
        return replace(special(error, path, here), at_key=at_key)
    template = _SENTENCES.get(kind)
    if template is None:
        return Problem(
            path, N_("is not what stands here in a protocol ({kind})"), {"kind": kind}, at_key=at_key
        )
    return Problem(path, template, dict(context), at_key=at_key)


def _place(loc: tuple[str | int, ...], value: Any) -> tuple[Path, Any, Any]:
    """Return the part of `loc` that exists in the document, what stands there, and the map or list around it.

    The rest is pydantic's own: the tag of a union, an index into what was written without brackets, `[key]`.
    """
    path: list[str | int] = []
    parent = None
    for step in loc:
        if isinstance(value, dict):
            exists = step in value
        else:
            exists = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if exists:
            path.append(step)
            parent, value = value, value[step]
    return tuple(path), value, parent


def _unknown_key(path: Path, known: Sequence[str]) -> Problem:
    name = str(path[-1])
    close = nearest(name, known)
    if close is not None:
        fields = {"name": quoted(name), "close": quoted(close)}
        return Problem(
            path, N_("{name} is not known here; did you mean {close}?"), fields, at_key=True, alone=True
        )
    fields = {"name": quoted(name), "known": listed(known)}
    return Problem(path, N_("{name} is not known here; there are {known}"), fields, at_key=True, alone=True)


def _missing(error: Mapping[str, Any], path: Path, _here: Any) -> Problem:
    return Problem((*path, error["loc"][-1]), N_("is missing"))


def _not_text(_error: Mapping[str, Any], path: Path, here: Any) -> Problem:
    if isinstance(here, bool | int | float) or here is None:
        return Problem(path, N_("must be text: write it in quotes"))
    return Problem(path, N_("must be text"))


def _not_among(error: Mapping[str, Any], path: Path, here: Any) -> Problem:
    expected = error["ctx"].get("expected") or error["ctx"]["expected_tags"]
    known = [each.strip("' ") for each in expected.replace(" or ", ",").split(",") if each.strip()]
    at_key = error["loc"][-1:] == ("[key]",)
    if error["type"] == "union_tag_invalid":
        name, path = here["type"], (*path, "type")
    else:
        name = path[-1] if at_key else here
    if known == ["True"]:  # the one literal that is no text
        return Problem(path, N_("must be true, or be left out"))
    if not isinstance(name, str):
        return Problem(path, N_("must be one of {known}"), {"known": listed(known)})
    if len(known) == 1 and nearest(name, known) is None:
        return Problem(
            path, N_("must be {known}, and is {name}"), {"known": quoted(known[0]), "name": quoted(name)}
        )
    close = nearest(name, known)
    if close is not None:
        fields = {"name": quoted(name), "close": quoted(close)}
        return Problem(path, N_("{name} is none of those known here; did you mean {close}?"), fields)
    return Problem(
        path,
        N_("{name} is none of those known here: {known}"),
        {"name": quoted(name), "known": listed(known)},
    )


def _no_type(_error: Mapping[str, Any], path: Path, _here: Any) -> Problem:
    return Problem((*path, "type"), N_("is missing"))


_SPECIAL: Mapping[str, Callable[[Mapping[str, Any], Path, Any], Problem]] = {
    "missing": _missing,
    "string_type": _not_text,
    "literal_error": _not_among,
    "union_tag_invalid": _not_among,
    "union_tag_not_found": _no_type,
}
