"""README.pt-BR.md says the same as README.md, as far as a program can tell: the same commands, headings and links."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENGLISH, PORTUGUESE = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.pt-BR.md"))
BLOCK = re.compile(r"```(?:sh|python)\n.*?```", re.DOTALL)


def shape(text: str) -> list[str]:
    """Return what a README is made of, in order: headings by their depth, blocks, points and rows of a table."""
    found = []
    for line in BLOCK.sub("```", text).split("\n"):
        mark = re.match(r"#+ |```|- |\|", line)
        if mark:
            found.append(mark[0].strip())
    return found


def test_the_commands_are_the_same() -> None:
    """Those of README.md are run (`tests/scripts/test_documents.py`)."""
    assert BLOCK.findall(ENGLISH)
    assert BLOCK.findall(PORTUGUESE) == BLOCK.findall(ENGLISH)


def test_the_parts_are_the_same() -> None:
    assert shape(PORTUGUESE) == shape(ENGLISH)


def test_what_is_named_in_code_is_the_same_in_every_part() -> None:
    """Options, files, verbs, kinds, in backticks; words given as an example may be another language's."""
    for english, portuguese in zip(ENGLISH.split("\n## "), PORTUGUESE.split("\n## "), strict=True):
        names = [
            {
                re.sub(r'"[^"]*"', '""', code)
                for code in re.findall(r"`[^`]+`", re.sub(r"\s+", " ", BLOCK.sub("", text)))
            }
            for text in (english, portuguese)
        ]
        assert names[1] == names[0]


def test_the_links_lead_to_the_same_places_and_the_two_to_each_other() -> None:
    linked = [set(re.findall(r"\]\(([^)]*)\)", text)) for text in (ENGLISH, PORTUGUESE)]
    assert linked[0] - {"README.pt-BR.md"} == linked[1] - {"README.md"}
    assert "README.pt-BR.md" in linked[0]
    assert "README.md" in linked[1]
