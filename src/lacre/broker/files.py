"""The files a verb is given, as `[SYSTEM:][TABLE=]FILE`; a prefix counts only when it is a declared name."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lacre.errors import FileExists, FileNotGiven, FilePrefixNeeded, FilePrefixUnknown, NotWritten
from lacre.store.discover import Layout
from lacre.text import _


@dataclass(frozen=True, slots=True)
class Given:
    """A file, the table it holds, and the system it comes from (empty where a study names none)."""

    system: str
    table: str
    path: Path


def parse_given(
    specs: Sequence[str], tables: Sequence[str], systems: Sequence[str] = ()
) -> tuple[Given, ...]:
    """Read file arguments against the declared names.

    Raises `FilePrefixNeeded` where a prefix is missing and more than one name is declared.
    """
    given = []
    for spec in specs:
        system, rest = _prefix(spec, ":", systems, what=_("system"))
        table, path = _prefix(rest, "=", tables, what=_("table"))
        given.append(Given(system, table, Path(path)))
    return tuple(given)


def _prefix(spec: str, mark: str, names: Sequence[str], *, what: str) -> tuple[str, str]:
    head, found, tail = spec.partition(mark)
    if found and head in names:
        return head, tail
    shown = {"what": what, "names": ", ".join(names)}
    if found and names and not Path(spec).exists() and head.isidentifier():
        raise FilePrefixUnknown(name=head, example=f"{names[0]}{mark}{tail}", **shown)
    if len(names) > 1:
        raise FilePrefixNeeded(file=spec, example=f"{names[0]}{mark}{tail or spec}", **shown)
    return (names[0] if names else ""), spec


def require_tables(given: Sequence[Given], tables: Sequence[str]) -> None:
    """Refuse when a declared table has no file."""
    missing = [table for table in tables if not any(g.table == table for g in given)]
    if missing:
        raise FileNotGiven(tables=", ".join(missing))


def check_beside(output: Path, layout: Layout) -> None:
    """Refuse the folder of the ledger, and what is in it. Raises `NotWritten`."""
    try:
        real, own = output.resolve(), layout.root.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise NotWritten(path=str(output), why=why) from error
    if real == own or own in real.parents:
        raise NotWritten(path=str(output), why=_("it is the folder of this ledger, or in it"))


def check_output(output: Path, layout: Layout, *, overwrite: bool) -> None:
    """Refuse early where a file cannot be written, or must not be. Raises `FileExists`, `NotWritten`."""
    check_beside(output, layout)
    if output.exists() and not overwrite:
        raise FileExists(file=str(output))
    if output.is_symlink() or (output.exists() and not output.is_file()):
        raise NotWritten(path=str(output), why=_("it is no file, or a link to one"))
    if not output.absolute().parent.is_dir():
        raise NotWritten(path=str(output), why=_("there is no such folder"))
