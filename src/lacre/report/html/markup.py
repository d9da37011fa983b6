"""HTML and SVG as a tree of frozen elements, and the one place where text becomes markup.

Nothing here takes markup from a string: whatever is said is text, and is escaped when it is written. Tags and
attributes are those of the lists below, among which is nothing that runs, loads or leads elsewhere.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lacre.errors import printable

_TAGS = """
html head meta title style body main header footer section div span p h1 h2 h3 h4 h5 h6 strong em code pre bdi br
ul ol li dl dt dd figure figcaption table caption thead tbody tr th td
svg g desc line polyline path rect circle text tspan
"""
_ATTRIBUTES = """
id class lang dir charset name content http-equiv role scope tabindex aria-label aria-labelledby aria-hidden
viewBox width height x y dx x1 y1 x2 y2 cx cy r d points text-anchor transform overflow
"""
_INLINE = "span strong em code bdi line polyline path rect circle text tspan"
TAGS, ATTRIBUTES = frozenset(_TAGS.split()), frozenset(_ATTRIBUTES.split())
VOID = frozenset({"meta", "br"})
_EMPTY = frozenset({"line", "polyline", "path", "rect", "circle"})
_LINES = TAGS - frozenset(_INLINE.split())
_UNSAFE_STYLE = re.compile(r"[<\\]|@import|url\(", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Element:
    """An element: its tag, its attributes in the order they are written, and what is in it."""

    tag: str
    attributes: tuple[tuple[str, str], ...] = ()
    children: "tuple[Element | str, ...]" = ()


Node = Element | str
Nodes = Iterable["Node | None"]


def el(tag: str, *children: Node | Nodes | None, **attributes: str | float | None) -> Element:
    """Return an element. Names of attributes are written `class_`, `aria_label`; None leaves one out.

    Children may be elements, text, None, or any of these in a list. Raises `ValueError` for a tag or an attribute
    that is not of the lists, and for a style that could load something or end its element.
    """
    named = [(_name(name), _value(value)) for name, value in attributes.items() if value is not None]
    unknown = [name for name, _ in named if name not in ATTRIBUTES]
    if tag not in TAGS or unknown:
        raise ValueError(f"no markup of a report: {tag} {' '.join(unknown)}")
    inside = tuple(_flat(children))
    if tag == "style" and any(not isinstance(each, str) or _UNSAFE_STYLE.search(each) for each in inside):
        raise ValueError("no style of a report")
    return Element(tag, tuple(named), inside)


def name(text: str, *, lang: str | None = None) -> Element:
    """Return what somebody else chose, such as a name, kept from turning the text around it about."""
    return el("bdi", text, lang=lang)


def escaped(text: str) -> str:
    """Return `text` as markup for it, in an element or in an attribute; control characters as their escapes."""
    shown = printable(text)
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        shown = shown.replace(char, entity)
    return shown


def render(node: Node) -> str:
    """Return the markup of a tree."""
    parts: list[str] = []
    _write(node, parts)
    return "".join(parts)


def _write(node: Node, parts: list[str]) -> None:
    if isinstance(node, str):
        parts.append(escaped(node))
        return
    attributes = "".join(f' {key}="{escaped(value)}"' for key, value in node.attributes)
    after = "\n" if node.tag in _LINES else ""
    if node.tag in VOID:
        parts.append(f"<{node.tag}{attributes}>{after}")
        return
    if node.tag in _EMPTY and not node.children:
        parts.append(f"<{node.tag}{attributes}/>")
        return
    parts.append(f"<{node.tag}{attributes}>")
    for index, child in enumerate(node.children):
        if node.tag == "pre" and index:
            parts.append("\n")
        if node.tag == "style":
            parts.append(str(child))
        else:
            _write(child, parts)
    parts.append(f"</{node.tag}>{after}")


def _name(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    """Write a number of a drawing shortly, and the same on every machine."""
    if isinstance(value, str):
        return value
    text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return "0" if text == "-0" else text


def _flat(children: Iterable[Node | Nodes | None]) -> Iterable[Node]:
    for each in children:
        if each is None:
            continue
        if isinstance(each, Element | str):
            yield each
        else:
            yield from _flat(each)


class Ids:
    """Names for the elements of one page, of which no two are the same."""

    def __init__(self, page: str) -> None:
        self._page = "lacre-" + re.sub(r"[^A-Za-z0-9]+", "-", page).strip("-")
        self._used = 0

    def new(self) -> str:
        """Return a name that was not given yet."""
        self._used += 1
        return f"{self._page}-{self._used}"
