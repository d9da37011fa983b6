"""A report's page as a tree, and what stands in it."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

import html5lib


def parsed(text: str) -> Element:
    """The page's tree; what HTML does not allow is an error."""
    root: Element = html5lib.HTMLParser(strict=True).parse(text)
    return root


def parsed_fragment(text: str) -> Element:
    """A fragment's tree."""
    root: Element = html5lib.HTMLParser(strict=True).parseFragment(text)
    return root


def tag(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def words(element: Element) -> str:
    """The text of an element, in one line."""
    return " ".join("".join(element.itertext()).split())


def all_of(root: Element, *names: str) -> Iterator[Element]:
    return (each for each in root.iter() if isinstance(each.tag, str) and tag(each) in names)


def rows(root: Element, caption: str) -> list[list[str]]:
    """The cells of the tables whose caption begins so."""
    found = []
    for table in all_of(root, "table"):
        if words(table[0]).startswith(caption):
            found += [[words(cell) for cell in row] for row in table[2]]
    return found
