"""What is wrong with a protocol: where, in words, and with the nearest known name beside an unknown one."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from lacre.errors import LacreError, printable
from lacre.text import N_, _

Path = tuple[str | int, ...]
T = TypeVar("T")

MOST_NAMES = 12
MOST_PROBLEMS = 1000
"""More are not looked for: such a file is no protocol, and each costs a search for the nearest name."""
_MOST_COMPARED = 1000


@dataclass(frozen=True)
class Problem:
    """One thing wrong at one path.

    `refusal` is set when it is an error of its own and not a flaw of the file, `between_parts` when each
    part concerned is sound by itself, `alone` when the rest can be read with what stands there left out.
    """

    path: Path
    template: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    at_key: bool = False
    refusal: type[LacreError] | None = None
    between_parts: bool = False
    alone: bool = False

    @property
    def sentence(self) -> str:
        """What is wrong, in the language in use."""
        return _(self.template).format(**{name: _shown(value) for name, value in self.fields.items()})


@dataclass
class Findings:
    """The problems found so far, and the parts of the document that are known to be broken already.

    Nothing is said of a reference to a broken part: the part's own problem is listed.
    """

    broken: frozenset[Path] = frozenset()
    found: list[Problem] = field(default_factory=list)

    def add(
        self, path: Path, template: str, *, refusal: type[LacreError] | None = None, **fields: Any
    ) -> None:
        """Note a problem at `path`."""
        if len(self.found) < MOST_PROBLEMS:
            self.found.append(Problem(path, template, fields, refusal=refusal, between_parts=True))

    def known(self, name: str, among: Mapping[str, T], section: Path, path: Path) -> T | None:
        """Return what `name` names; None, with the problem noted at `path`, where it names nothing.

        `section` is where such things are declared: (“tables”,) for a table.
        """
        if name in among:
            return among[name]
        if len(self.found) >= MOST_PROBLEMS:
            return None
        if (*section, name) in self.broken or section in self.broken:
            return None
        unreadable = [str(part[-1]) for part in sorted(self.broken, key=str) if part[:-1] == section]
        self._unknown(path, name, [*among, *unreadable], ".".join(map(str, section)))
        return None

    def _unknown(self, path: Path, name: str, known: list[str], section: str) -> None:
        shown, close = quoted(name), nearest(name, known)
        if close is not None:
            template = N_("{name} is not declared under {section}; did you mean {close}?")
            self.add(path, template, name=shown, section=section, close=quoted(close))
        elif known:
            template = N_("{name} is not declared under {section}, which has {known}")
            self.add(path, template, name=shown, section=section, known=listed(known))
        else:
            template = N_("{name} is not declared: there is nothing under {section}")
            self.add(path, template, name=shown, section=section)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name closest to `name`, if any is close."""
    by_fold = {word.casefold(): word for word in islice(known, _MOST_COMPARED)}
    close = difflib.get_close_matches(name[:200].casefold(), list(by_fold), n=1, cutoff=0.65)
    return by_fold[close[0]] if close else None


def quoted(name: str) -> str:
    """Return a name as it is shown inside a sentence, shortened when it is very long."""
    return f"`{name if len(name) <= 80 else name[:77] + '...'}`" if name else '""'


def listed(names: Sequence[str]) -> str:
    """Return names as they are shown inside a sentence."""
    shown = ", ".join(quoted(name) for name in names[:MOST_NAMES])
    return shown if len(names) <= MOST_NAMES else f"{shown}, ..."


def dotted(path: Path, value: Any) -> str:
    """Return `path` as people write it: a list's things with an id by the id, others by position from 0."""
    steps: list[str] = []
    here = value
    for step in path:
        if isinstance(step, int) and not isinstance(here, list):
            continue  # an index into what was written without brackets
        if isinstance(here, list) and isinstance(step, int) and step < len(here):
            here = here[step]
            name = here.get("id") if isinstance(here, dict) else None
            steps.append(name if isinstance(name, str) else str(step))
        else:
            here = here.get(step) if isinstance(here, dict) else None
            steps.append(str(step))
    return ".".join(steps)


def _shown(value: Any) -> str:
    return printable(value if isinstance(value, str) else str(value))
