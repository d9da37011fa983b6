"""What every result tells of how its cases were drawn, as sentences: draws that were made, and nonresponse."""

from collections.abc import Iterable, Iterator

from lacre.errors import printable
from lacre.report.values import Document
from lacre.rules.answers import DrawHeld
from lacre.rules.drawing import DrawTold
from lacre.text import _, ngettext


def draw_lines(draws: Iterable[DrawTold]) -> Iterator[str]:
    """Say, of each registered draw, how many were made of it, and which of its cases are not there."""
    for each in draws:
        said = ngettext(
            "{draw}: drawn once before the seal, at entry {entry}.",
            "{draw}: drawn {made} times before the seal, at entries {entries} (seeds: {seeds}, lists: {frames}); the "
            "draw that counts is at entry {entry}.",
            each.made,
        )
        entries = ", ".join(map(str, each.entries))
        yield said.format(
            draw=printable(each.draw), made=each.made, entry=each.entry, entries=entries,
            seeds=each.seeds, frames=each.frames,
        )  # fmt: skip
        if each.absent is None:
            yield _(
                "{draw}: the draw at entry {entry} does not tell its cases, so those sealed were not compared with it."
            ).format(draw=printable(each.draw), entry=each.entry)
        elif each.absent:
            yield _absent(each.draw, each.absent, each.size)


def sealed_lines(draws: Iterable[DrawHeld], rows: dict[str, int]) -> Iterator[str]:
    """Say which drawn cases are not among those that were just sealed."""
    for each in draws:
        if each.absent:
            yield _absent(each.draw, each.absent, rows.get(each.draw, 0) + each.absent)


def _absent(draw: str, absent: int, size: int) -> str:
    return ngettext(
        "{draw}: {absent} of {size} cases drawn was not sealed; it counts as left out where a result weighs by the "
        "draw.",
        "{draw}: {absent} of {size} cases drawn were not sealed; they count as left out where a result weighs by the "
        "draw.",
        absent,
    ).format(draw=printable(draw), absent=absent, size=size)


def as_json(draws: Iterable[DrawTold]) -> Document:
    """Return draws that tell their cases; results from before there were such tell none, and stay as they are."""
    told = [_draw(each) for each in draws if each.absent is not None]
    return {"draws": told} if told else {}


def _draw(each: DrawTold) -> Document:
    return {
        "sample": each.draw,
        "entry": each.entry,
        "size": each.size,
        "absent": each.absent,
        "made": each.made,
        "entries": list(each.entries),
        "seeds": each.seeds,
        "frames": each.frames,
    }
