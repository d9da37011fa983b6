"""Every text of the code that people read, and the part of the catalogues it belongs to."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lacre.cli import click_words
from lacre.locale.reading import PARTS

SOURCE = Path(__file__).resolve().parents[2] / "src" / "lacre"
_MARKS = ("_", "N_")
_ROOMS = {"report/html": "html", "report/kinds": "kinds"}


class Text(NamedTuple):
    """A text, and what is said instead of it where there are several; the part of the first room that has it."""

    one: str
    many: str | None
    part: str


def texts() -> list[Text]:
    """Return all texts, each once, by part and then by their words. Raises `ValueError` for one that is no literal."""
    found: dict[str, Text] = {}
    for text in sorted(_all(), key=lambda each: PARTS.index(each.part)):
        known = found.setdefault(text.one, text)
        if known.many is None and text.many is not None:
            found[text.one] = text._replace(part=known.part)
        elif text.many not in {None, known.many}:
            raise ValueError(f"two plurals of {text.one!r}")
    return sorted(found.values(), key=lambda each: (PARTS.index(each.part), each.one))


def _all() -> Iterator[Text]:
    for path in sorted(SOURCE.rglob("*.py")):
        part = _part(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield from _marked(node.func.id, node.args, part)
    for one, many in click_words.PLURALS:
        yield Text(one, many, "cli")


def _marked(name: str, given: list[ast.expr], part: str) -> Iterator[Text]:
    words = [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    if name == "ngettext" and len(words) == 2:
        yield Text(words[0], words[1], part)
    elif name in _MARKS and words:
        yield Text(words[0], None, part)
    elif name == "N_" or (name == "_" and any(map(_is_glued, given))):
        raise ValueError(f"{name} of no literal: {', '.join(map(ast.unparse, given))}")


def _is_glued(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr | ast.BinOp)


def _part(path: Path) -> str:
    rooms = path.relative_to(SOURCE).parts
    part = _ROOMS.get("/".join(rooms[:2]), rooms[0])
    return part if part in PARTS else "rest"
