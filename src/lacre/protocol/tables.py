"""Tables: how a file of cases is written and what its columns mean."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from lacre.protocol.columns import Column, Text
from lacre.protocol.grammar import (
    Identifier,
    Many,
    Model,
    Name,
    Number,
    in_order,
    not_empty,
    refuse,
)
from lacre.protocol.problems import Findings, Path, quoted
from lacre.text import N_

NAMING_TYPES = ("text", "category", "ordinal", "digest")
"""The types whose columns may name a case, a unit or a cluster: those that are compared as text."""


def _delimiter(value: str) -> str:
    if len(value) != 1 or (value.isascii() and value.isalnum()) or value in '"\r\n.-+':
        raise refuse(N_('must be one character, such as "," or ";" or "\\t"'))
    return value


def _range(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2 or value == [None, None]:
        raise refuse(N_("must be a list of two numbers, [from, to], one of which may be null"))
    return tuple(value)


class Exclusion(Model):
    """A registered condition; a row for which it holds is dropped, and counted."""

    column: Name
    in_: Annotated[Many[Text], AfterValidator(not_empty)] | None = Field(alias="in", default=None)
    missing: Literal[True] | None = None
    outside: Annotated[tuple[Number | None, Number | None], BeforeValidator(_range)] | None = None

    @model_validator(mode="after")
    def _is_one_condition(self) -> Self:
        if sum(each is not None for each in (self.in_, self.missing, self.outside)) != 1:
            raise refuse(N_("needs exactly one condition: `in`, `missing` or `outside`"))
        if self.outside is not None:
            low, high = self.outside
            if low is not None and high is not None and low > high:
                raise refuse(N_("must go from a lower to a higher number"), at=("outside",))
        return self


class Table(Model):
    """One kind of row, its key and its columns, and the way its files are written."""

    key: Annotated[Many[Name], AfterValidator(not_empty)]
    unit: Name | None = None
    cluster: Many[Name] = Field(default_factory=list)
    columns: Annotated[dict[Name, Column], AfterValidator(in_order)]
    delimiter: Annotated[str, AfterValidator(_delimiter)] = ","
    decimal: Literal[".", ","] = "."
    encoding: Literal["utf-8", "latin-1"] = "utf-8"
    strip_header: bool = False
    exclude: list[Exclusion] = Field(default_factory=list)
    id_namespace: Identifier | None = None

    def supplied(self, name: str) -> bool:
        """Tell whether a column is a submission's: its own, or an outcome made from one of its own."""
        column = self.columns[name]
        if column.source is not None:
            return True
        parts = column.equals if column.type == "outcome" else None
        return any(part in self.columns and self.columns[part].source is not None for part in parts or ())

    def derived(self, name: str) -> bool:
        """Tell whether a column stands in no file because it is made from two others."""
        column = self.columns[name]
        return column.type == "outcome" and column.equals is not None


def check_table(table: Table, path: Path, findings: Findings) -> None:
    """Find what contradicts itself between the columns of one table."""
    section = (*path, "columns")
    if not table.columns and not any(broken[:3] == section for broken in findings.broken):
        findings.add(section, N_("must hold at least one"))
    _check_names(table, path, findings)
    for name, column in table.columns.items():
        if column.type == "outcome" and column.equals is not None:
            for index, part in enumerate(column.equals):
                at = (*section, name, "equals", index)
                if findings.known(part, table.columns, section, at) is not None and table.derived(part):
                    findings.add(at, N_("{name} is itself made from two columns"), name=quoted(part))
    _check_exclusions(table, path, findings)


def _check_exclusions(table: Table, path: Path, findings: Findings) -> None:
    section = (*path, "columns")
    for index, exclusion in enumerate(table.exclude):
        at = (*path, "exclude", index, "column")
        excluded = findings.known(exclusion.column, table.columns, section, at)
        if excluded is None:
            continue
        if table.supplied(exclusion.column):
            findings.add(at, N_("rows cannot be dropped for what a submission says of them"))
        elif exclusion.outside is not None and excluded.type != "number":
            findings.add(
                at, N_("{name} is no number, so nothing lies outside"), name=quoted(exclusion.column)
            )
        elif exclusion.in_ is not None and (
            excluded.type in ("number", "time") or table.derived(exclusion.column)
        ):
            findings.add(at, N_("{name} holds no text to be compared"), name=quoted(exclusion.column))


def _check_names(table: Table, path: Path, findings: Findings) -> None:
    section = (*path, "columns")
    named: list[tuple[str, Path]] = [(name, (*path, "key", index)) for index, name in enumerate(table.key)]
    named += [(name, (*path, "cluster", index)) for index, name in enumerate(table.cluster)]
    if table.unit is not None:
        named.append((table.unit, (*path, "unit")))
    for name, at in named:
        column = findings.known(name, table.columns, section, at)
        if column is None:
            continue
        if table.supplied(name):
            findings.add(
                at, N_("{name} comes from the submission; it must be the pool's own"), name=quoted(name)
            )
        elif column.type not in NAMING_TYPES:
            findings.add(
                at,
                N_("{name} is of type {type}; what names a case is text, category, ordinal or digest"),
                name=quoted(name),
                type=column.type,
            )
