"""A page of text for a terminal: headings, paragraphs and tables that stay within its width.

Whatever is written is shown as it is: control characters as their escapes, and nothing is taken for markup. A
table that does not fit is written row by row instead, each cell after its column's title. Where a paragraph
goes on in a further line, that is indented: so names and words of strangers, however long, begin no line where
only lacre's own begin.
"""

import io
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lacre.errors import printable

GAP = 2
INDENT = 2
LEAST_WRAPPED = 22  # columns that a column of prose needs to be read
MOST_KEPT = 32  # a word longer than this may be broken
HEAD = "bold cyan"


class Column(NamedTuple):
    """A column's title and habits: numbers stand to the right, prose may be wrapped.

    A `spare` column says what stands elsewhere too, and is left out where there is little room. One of `names`
    may be as narrow as its longest word.
    """

    title: str
    right: bool = False
    wraps: bool = False
    spare: bool = False
    names: bool = False


class Cell(NamedTuple):
    """A cell's text, and how it is to stand out."""

    text: str
    style: str = ""


Row = Sequence[str | Cell]


class Page:
    """Lines of text, in the order they were said."""

    def __init__(self) -> None:
        self._parts: list[Padding | Text | _Paragraph] = []

    def heading(self, *parts: str | Cell) -> None:
        """Begin a section."""
        if self._parts:
            self.gap()
        self._parts.append(_Paragraph(_line(parts, HEAD)))

    def say(self, *parts: str | Cell, indent: int = 0) -> None:
        """Write a paragraph."""
        self._parts.append(_Paragraph(_line(parts, ""), INDENT * indent))

    def block(self, text: str, *, indent: int = 1) -> None:
        """Write several lines as they stand, however long; the control characters in them are escaped."""
        for line in text.removesuffix("\n").split("\n"):
            self.say(line, indent=indent)

    def gap(self) -> None:
        """Leave a line free."""
        self._parts.append(Text(""))

    def table(self, columns: Sequence[Column], rows: Sequence[Row], *, indent: int = 1) -> None:
        """Write a table, or, where it does not fit, its rows one under the other."""
        cells = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
        self._parts.append(Padding(_Adaptive(columns, cells), (0, 0, 0, INDENT * indent), expand=False))

    def render(self, width: int, *, colour: bool = False) -> str:
        """Return the page in `width` columns, with colour codes if asked for."""
        file = io.StringIO()
        console = Console(
            file=file,
            width=width,
            height=100,
            force_terminal=colour,
            force_jupyter=False,
            color_system="standard" if colour else None,
            no_color=not colour,
            legacy_windows=False,
            highlight=False,
            markup=False,
            emoji=False,
        )
        for part in self._parts:
            console.print(part)
        lines = file.getvalue().splitlines()
        return "\n".join(line.rstrip() for line in lines) + "\n"


def _line(parts: Sequence[str | Cell], style: str) -> Text:
    text = Text(style=style, overflow="fold")
    for part in parts:
        cell = part if isinstance(part, Cell) else Cell(part)
        text.append(printable(cell.text), style=cell.style or None)
    return text


class _Paragraph:
    """A text `left` columns from the margin; what does not fit into its first line goes on further in."""

    def __init__(self, text: Text, left: int = 0) -> None:
        self._text = text
        self._left = left

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = max(options.max_width - self._left, 1)
        lines: Iterable[Text] = [self._text]
        if cell_len(self._text.plain) > room:
            lines = self._text.wrap(console, max(room - INDENT, 1), overflow="fold")
        for number, line in enumerate(lines):
            yield Padding(line, (0, 0, 0, self._left + (INDENT if number else 0)), expand=False)


class _Adaptive:
    """A table where there is room for one."""

    def __init__(self, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> None:
        self._columns = columns
        self._rows = rows

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        every = range(len(self._columns))
        kept = [place for place in every if not self._columns[place].spare]
        for places in (every, kept):
            widths = self._widths(places, options.max_width)
            if widths is not None:
                yield self._table(places, widths)
                return
        yield from self._stack(kept, options.max_width - INDENT)

    def _widths(self, places: Sequence[int], room: int) -> list[int] | None:
        """Share `room` out: to each column the least it needs, then more from the left; None if short."""
        wanted, least = [], []
        for place in places:
            column = self._columns[place]
            texts = [column.title, *(printable(row[place].text) for row in self._rows)]
            longest = max(cell_len(text) for text in texts)
            word = max((cell_len(word) for text in texts for word in text.split()), default=0)
            wanted.append(longest)
            narrow = 0 if column.names else min(longest, LEAST_WRAPPED)
            least.append(max(narrow, min(word, MOST_KEPT)) if column.wraps else longest)
        left = room - sum(least) - GAP * (len(least) - 1)
        if left < 0:
            return None
        for place, (most, now) in enumerate(zip(wanted, least, strict=True)):
            more = min(most - now, left)
            least[place] += more
            left -= more
        return least

    def _table(self, places: Sequence[int], widths: Sequence[int]) -> Table:
        # The gaps are columns of their own: how padding counts in a column's width differs between versions.
        table = Table(box=None, padding=0, pad_edge=False, header_style="dim")
        for number, (place, width) in enumerate(zip(places, widths, strict=True)):
            column = self._columns[place]
            if number:
                table.add_column(width=GAP)
            table.add_column(
                Text(column.title),
                justify="right" if column.right else "left",
                no_wrap=not column.wraps,
                overflow="fold",
                width=width,
            )
        for row in self._rows:
            cells = [_line([row[place]], "") for place in places]
            table.add_row(*[part for cell in cells for part in (Text(), cell)][1:])
        return table

    def _stack(self, places: Sequence[int], room: int) -> RenderResult:
        first = self._columns[places[0]]
        for row in self._rows:
            # A number says nothing without its title.
            yield _Paragraph(_line([f"{first.title} " if first.right else "", row[places[0]]], "bold"))
            for line in self._packed(row, places[1:], room):
                yield _Paragraph(_line(line, ""), INDENT)

    def _packed(self, row: Sequence[Cell], places: Sequence[int], room: int) -> list[list[Cell]]:
        """Put cells after their titles, several in a line of `room` columns; a long one has a line of its own."""
        lines: list[list[Cell]] = []
        used = room
        for place in places:
            if not row[place].text:
                continue
            title = f"{self._columns[place].title}: "
            size = cell_len(title) + cell_len(printable(row[place].text))
            fits = used + len("; ") + size <= room
            lines = lines if fits else [*lines, []]
            used = used + len("; ") + size if fits else size
            lines[-1] += [*([Cell("; ")] if fits else []), Cell(title, "dim"), row[place]]
        return lines
