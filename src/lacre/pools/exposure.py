"""Which cases pools have in common, found from keyed hashes and never from the pools themselves.

`fingerprint` makes the set of one pool when its tables are in memory anyway. Each print is HMAC-SHA-256
under the ledger's fingerprint key, cut to 16 bytes, of a kind and length-prefixed parts:

    case      a row's key, within its table's `id_namespace`, or within ledger, study and table
    unit      a value of the table's `unit` column, likewise
    disjoint  a value of any column of one group under `disjoint:`, within ledger and study
    cohort    a value of such a column that names the frozen cohort of a verification, as `disjoint` makes it
    digest    a value of a column of type digest, anywhere
    id        a row's key by itself, anywhere
    content   a row's input columns, normalised (below), as often as they occur
    passage   those contents that hold a free text of `chance.PASSAGE` characters or more
    row       id and content together
    next      an id with the content of the row after it in the file (of the first row, after the last)
    file      the bytes of a file, anywhere, whatever the plan declares of its columns
    span      runs of words that one row's free texts alone hold, anywhere (`lacre.pools.spans`); to be found, not
              to decide

Content is every column marked `is: input` that is neither the key nor the unit, by name in sorted order: text
in NFC, casefolded, without blanks around it; a number as the shortest text that reads back as it; a time in
UTC. Rows without a single input are left out. Labels and a submission's columns are in no print: a label can
be guessed, and whoever holds the key could try.

Within a study ids decide, and within one `id_namespace` across studies too; and under another id a case of the
same study is still the same by its digest, or by contents beyond chance, unless these are declared values alone.
Otherwise the same case in two studies is one in the same file, byte for byte, or with the same digest, or with
more agreement of content, alone or with the id, than chance gives: `lacre.pools.chance` has the formulas.
"""

import hmac
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lacre.canonical import canonical_json
from lacre.errors import cells_untold
from lacre.pools import chance, spans
from lacre.pools.matching import Matches, comparable
from lacre.pools.normal import normalise
from lacre.pools.prints import WIDTH, Kind, PrintArray, Prints, Sections, as_array, common, sorted_set
from lacre.protocol.models import Protocol
from lacre.protocol.tables import Table
from lacre.tables.columns import Codes, Numbers, Outcomes, Texts, Times, TypedColumn, TypedTable

_DOMAIN = b"lacre fingerprint 1"
_ABSENT = b""
_UNDECLARED = b"?"
_VALUE = b"="


@dataclass(frozen=True, slots=True)
class Shared:
    """What two pools of one study have in common, in counts.

    `disjoint` names each group by its columns joined with ``+`` and leaves out those that share nothing. Contents
    count beyond chance alone; those that are `designed`, combinations of declared values and nothing else, are there
    to be told: two pools of other cases may hold the same ones by their design.
    """

    cases: int
    units: int
    disjoint: Mapping[str, int]
    digests: int
    contents: int
    designed: int = 0


@dataclass(frozen=True, slots=True)
class Matched:
    """A submission's ids against a pool's: how many the pool holds, does not hold, and holds without them."""

    known: int
    unknown: int
    absent: int


# --- making them -------------------------------------------------------------------------------------------


@cells_untold
def fingerprint(
    tables: Mapping[str, TypedTable],
    protocol: Protocol,
    *,
    study: str,
    genesis: str,
    key: bytes,
    files: Iterable[tuple[str, str]] = (),
) -> Prints:
    """Return the fingerprints of a pool's `tables`, by the names the protocol gives them.

    `key` is the ledger's fingerprint key of 32 bytes, or a person's own (`lacre.pools.met`); `files` are the raw
    files the tables were read from, each as its table's name and its SHA-256 in hexadecimal.
    """
    hasher = _Hasher(key, genesis, study)
    sections: Sections = {}
    for name, table in tables.items():
        declared = protocol.tables[name]
        sections["case", name] = hasher.cases(name, declared, table)
        if declared.unit is not None and declared.unit in table.columns:
            sections["unit", name] = hasher.units(name, declared, table.columns[declared.unit])
        _add_content(sections, hasher, declared, table)
    if said := spans.telling(
        row for name, table in tables.items() for row in _free(protocol.tables[name], table)
    ):
        sections["span", ""] = sorted_set(map(hasher.after("span"), map(_prefixed, said)))
    cohort = _cohort_columns(protocol)
    digests = [
        table.columns[column]
        for name, table in tables.items()
        for column, declared_column in protocol.tables[name].columns.items()
        if declared_column.type == "digest"
        and declared_column.source is None
        and column in table.columns
        and (name, column) not in cohort
    ]
    if digests:
        sections["digest", ""] = hasher.values("digest", (), digests)
    raws: dict[str, list[bytes]] = {}
    for name, sha256 in files:
        raws.setdefault(name, []).append(hasher.print("file", bytes.fromhex(sha256)))
    sections.update({("file", name): sorted_set(made) for name, made in raws.items()})
    for group in protocol.disjoint:
        columns = sorted(group)
        parts, label = (genesis, study, *columns), "+".join(columns)
        held = [(t, name) for t, each in tables.items() for name in columns if name in each.columns]
        kinds: tuple[tuple[Kind, bool], ...] = (("disjoint", False), ("cohort", True))
        for kind, frozen in kinds:
            found = [tables[t].columns[name] for t, name in held if ((t, name) in cohort) == frozen]
            if found:
                sections[kind, label] = hasher.values("disjoint", parts, found)
    return Prints(hasher.print("check"), sections)


def _cohort_columns(protocol: Protocol) -> frozenset[tuple[str, str]]:
    """The columns, by table, that name faces of a frozen cohort: it is the same in every pool, and no case of any."""
    return frozenset(
        (table, name)
        for plan in protocol.analyses.values()
        for table, own in plan.cohorts().items()
        for name in protocol.tables[table].columns
        if name not in own
    )


@cells_untold
def match_submission_ids(
    prints: Prints,
    name: str,
    declared: Table,
    submission: TypedTable,
    *,
    study: str,
    genesis: str,
    key: bytes,
) -> Matched:
    """Compare a submission's ids for the table `name` with those of a pool, without opening the pool.

    `key` is the one `prints` was made under. Raises `PrintsInvalid` when it is another.
    """
    hasher = _Hasher(key, genesis, study)
    prints.require_same_key(Prints(hasher.print("check"), {}))
    given = hasher.cases(name, declared, submission)
    held = prints.section("case", name)
    known = len(common(given, held))
    return Matched(known=known, unknown=len(given) - known, absent=len(held) - known)


Make = Callable[[str], bytes]


def marks(
    prints: Prints, protocol: Protocol, *, study: str, genesis: str, key: bytes
) -> list[tuple[Literal["case", "unit", "digest", "span"], Make, PrintArray]]:
    """Return what one piece of text may be of a pool: what makes a print of it, and the pool's prints to find it in.

    `key` is the one `prints` was made under; raises `PrintsInvalid` when it is another. A key of several columns is
    no piece of text: tables are held against the pool for that.
    """
    hasher = _Hasher(key, genesis, study)
    prints.require_same_key(Prints(hasher.print("check"), {}))
    found: list[tuple[Literal["case", "unit", "digest", "span"], Make, PrintArray]] = []
    for name, declared in protocol.tables.items():
        cases, units = prints.section("case", name), prints.section("unit", name)
        if len(cases) and len(declared.key) == 1:
            found.append(("case", _of_text(hasher.case_maker(name, declared)), cases))
        if len(units):
            found.append(("unit", _of_cell(hasher.unit_maker(name, declared)), units))
    if len(digests := prints.all("digest")):
        found.append(("digest", _of_cell(hasher.after("digest")), digests))
    if len(said := prints.all("span")):
        found.append(("span", _of_text(hasher.after("span")), said))
    return found


def file_print(sha256: str, *, key: bytes) -> bytes:
    """Return the print of a file with this SHA-256 in hexadecimal, whatever ledger or study it is in."""
    return _Hasher(key, "", "").print("file", bytes.fromhex(sha256))


def _of_text(make: Callable[[bytes], bytes], mark: bytes = b"") -> Make:
    def made(text: str) -> bytes:
        part = mark + text.encode(errors="replace")
        return make(len(part).to_bytes(4, "big") + part)  # as `_prefixed` has it, of one part

    return made


def _of_cell(make: Callable[[bytes], bytes]) -> Make:
    return _of_text(make, _VALUE)


class _Hasher:
    """Makes the prints of one pool under one key."""

    def __init__(self, key: bytes, genesis: str, study: str) -> None:
        self._key = key
        self._scope = (genesis, study)

    def print(self, kind: str, *parts: bytes | str) -> bytes:
        return hmac.digest(self._key, _prefixed(_DOMAIN, kind, *parts), "sha256")[:WIDTH]

    def after(self, kind: str, *parts: bytes | str) -> Callable[[bytes], bytes]:
        """Return what makes the print of `parts` and one part more, given with its length before it."""
        prefix = _prefixed(_DOMAIN, kind, *parts)
        key = self._key
        return lambda last: hmac.digest(key, prefix + last, "sha256")[:WIDTH]

    def case_maker(self, name: str, declared: Table) -> Callable[[bytes], bytes]:
        return self.after("case", *self._namespace(name, declared))

    def unit_maker(self, name: str, declared: Table) -> Callable[[bytes], bytes]:
        return self.after("unit", *self._namespace(name, declared))

    def cases(self, name: str, declared: Table, table: TypedTable) -> PrintArray:
        make = self.case_maker(name, declared)
        return sorted_set(make(_prefixed(key)) for key in table.keys)

    def units(self, name: str, declared: Table, column: TypedColumn) -> PrintArray:
        return self.values("unit", self._namespace(name, declared), [column])

    def values(self, kind: str, parts: Iterable[str], columns: Iterable[TypedColumn]) -> PrintArray:
        make = self.after(kind, *parts)
        cells = {cell for column in columns for cell in _cells(column) if cell.startswith(_VALUE)}
        return sorted_set(make(_prefixed(cell)) for cell in cells)

    def _namespace(self, name: str, declared: Table) -> tuple[str, ...]:
        if declared.id_namespace is not None:
            return ("namespace", declared.id_namespace)
        return ("study", *self._scope, name)


def _add_content(sections: Sections, hasher: _Hasher, declared: Table, table: TypedTable) -> None:
    names = _input_columns(declared, table)
    if not names:
        return
    contents = [b"".join(map(_prefixed, cells)) for cells in zip(*_normalised(table, names), strict=True)]
    empty = b"".join(_prefixed(_ABSENT) for _name in names)
    rows = [row for row, content in enumerate(contents) if content != empty]
    keys = [_prefixed(table.keys[row]) for row in rows]
    inputs = [contents[row] for row in rows]
    columns = canonical_json(names)
    content_of, row_of, id_of = (hasher.after(kind, columns) for kind in ("content", "row", "id"))
    hashed = [content_of(content) for content in inputs]
    long = _passages(table, names)
    made: dict[Kind, PrintArray] = {
        "id": sorted_set(map(id_of, keys)),
        "content": np.sort(as_array(hashed)),
        "passage": sorted_set(hashed[place] for place, row in enumerate(rows) if long[row]),
        "row": sorted_set(row_of(key + content) for key, content in zip(keys, inputs, strict=True)),
        # A lone row is its own neighbour, which says nothing of the order of the file.
        "next": sorted_set(
            row_of(key + content) for key, content in zip(keys, inputs[1:] + inputs[:1], strict=True)
        )
        if len(rows) > 1
        else as_array(()),
    }
    label = _content_label(declared, names)
    for kind, prints in made.items():
        before = sections.get((kind, label), as_array(()))
        both = np.concatenate([before, prints])
        sections[kind, label] = np.sort(both) if kind == "content" else np.unique(both)


def _free(declared: Table, table: TypedTable) -> Iterable[tuple[str | None, ...]]:
    """The free texts among the inputs of each row."""
    columns = (table.columns[name] for name in _input_columns(declared, table))
    return zip(*(column.values for column in columns if isinstance(column, Texts)), strict=True)


def _input_columns(declared: Table, table: TypedTable) -> list[str]:
    return _inputs_of(declared, table.columns)


def _inputs_of(declared: Table, names: Iterable[str]) -> list[str]:
    # An id among the inputs would make every content unique, and alike wherever people are counted from 1.
    naming = {*declared.key, declared.unit}
    return sorted(
        name
        for name in names
        if "input" in declared.columns[name].is_ and not declared.supplied(name) and name not in naming
    )


def _content_label(declared: Table, names: Sequence[str]) -> str:
    return canonical_json([declared.id_namespace, *names]).decode()


def designed_contents(protocols: Iterable[Protocol]) -> frozenset[str]:
    """Return the labels of contents made of declared values alone, which a design may repeat from pool to pool."""
    found = set()
    for table in (table for protocol in protocols for table in protocol.tables.values()):
        names = _inputs_of(table, table.columns)
        if names and all(table.columns[name].type in {"category", "ordinal", "outcome"} for name in names):
            found.add(_content_label(table, names))
    return frozenset(found)


def _normalised(table: TypedTable, names: Iterable[str]) -> list[list[bytes]]:
    return [_cells(table.columns[name], normalise=normalise) for name in names]


def _passages(table: TypedTable, names: Iterable[str]) -> NDArray[np.bool_]:
    long = np.zeros(table.rows, dtype=np.bool_)
    for column in (table.columns[name] for name in names):
        if isinstance(column, Texts):
            long |= np.fromiter(
                (cell is not None and len(normalise(cell)) >= chance.PASSAGE for cell in column.values),
                np.bool_,
                table.rows,
            )
    return long


def _cells(column: TypedColumn, normalise: Callable[[str], str] = str) -> list[bytes]:
    """Return what is hashed of each cell: `_VALUE` and its text, or that it is missing or undeclared."""
    if isinstance(column, Codes | Outcomes):
        values = column.values if isinstance(column, Codes) else ("negative", "positive")
        tokens = [_VALUE + normalise(value).encode() for value in values]
        # Indexed from the end, as MISSING (-1) and UNDECLARED (-2) are.
        tokens += [_UNDECLARED, _ABSENT]
        return [tokens[code] for code in column.codes]
    known: dict[str | None, bytes] = {None: _ABSENT}
    cells = []
    for text in _texts(column):
        if text not in known:
            known[text] = _VALUE + normalise(text or "").encode()
        cells.append(known[text])
    return cells


def _texts(column: TypedColumn) -> Iterable[str | None]:
    if isinstance(column, Numbers):
        return (None if value != value else _number(value) for value in column.values.tolist())  # noqa: PLR0124
    if isinstance(column, Times):
        written = np.datetime_as_string(column.values)
        return (None if lost else str(text) for text, lost in zip(written, column.missing, strict=True))
    texts: Iterable[str | None] = column.array.tolist()
    return texts


def _number(value: float) -> str:
    # 25 in one study's file and 25.0 in another's are one number; so is 25 in a column read as text.
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def _prefixed(*parts: bytes | str) -> bytes:
    encoded = (part.encode() if isinstance(part, str) else part for part in parts)
    return b"".join(len(part).to_bytes(4, "big") + part for part in encoded)


# --- comparing them ----------------------------------------------------------------------------------------


def shared_within_study(
    a: Prints, b: Prints, *, ids_decide: bool = True, designed: Container[str] = ()
) -> Shared:
    """Return what two pools of one study have in common. Raises `PrintsInvalid` for sets under two keys.

    A byte-identical file is the same cases, whatever their tables are called. With `ids_decide` false (the two
    have no table in common, or one whose key was amended in between) what tells pools of two studies alike tells
    these, too. `designed` are labels of contents that do not decide (`designed_contents`).
    """
    a.require_same_key(b)
    groups = {label: _not_disjoint(a, b, label) for label in {*a.labels("disjoint"), *a.labels("cohort")}}
    telling, by_design = Matches(), Matches()
    for mine, other in comparable(a, b, ids_decide=False):
        matches = by_design if mine in designed or other in designed else telling
        matches.add_content(a, mine, b, other)
    by_file = Matches()
    by_file.add_files(a, b)
    alike = (len(common(a.all("case"), b.all("case"))), by_file.count(), 0 if ids_decide else exposed(a, [b]))
    return Shared(
        cases=max(alike),
        units=len(common(a.all("unit"), b.all("unit"))),
        disjoint={label: groups[label] for label in sorted(groups) if groups[label]},
        digests=len(common(a.all("digest"), b.all("digest"))),
        contents=telling.contents(),
        designed=by_design.contents(),
    )


def _not_disjoint(a: Prints, b: Prints, label: str) -> int:
    """Count the values of one group in both pools; two pools may have the cohort in common, and nothing else."""
    pairs: tuple[tuple[Kind, Kind], ...] = (
        ("disjoint", "disjoint"), ("disjoint", "cohort"), ("cohort", "disjoint")
    )  # fmt: skip
    found = [common(a.section(mine, label), b.section(other, label)) for mine, other in pairs]
    return len(np.unique(np.concatenate(found)))


def shared_between(a: Prints, b: Prints) -> int:
    """Return how many cases, at least, pools of two studies have in common. Raises `PrintsInvalid`."""
    return exposed(a, [b])


def exposed(pool: Prints, others: Iterable[Prints]) -> int:
    """Return how many of a pool's cases, at least, are among those of pools of other studies or ledgers.

    A case that several of `others` hold counts once. Raises `PrintsInvalid` for sets under two keys.
    """
    matches = Matches()
    for other in others:
        pool.require_same_key(other)
        matches.add("case", "", common(pool.all("case"), other.all("case")))
        matches.add("digest", "", common(pool.all("digest"), other.all("digest")))
        matches.add_files(pool, other)
        for mine, its in comparable(pool, other, ids_decide=True):
            matches.add_content(pool, mine, other, its)
    return matches.count()
