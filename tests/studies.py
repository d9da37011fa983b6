"""The plan that most tests live with, as the text of its file: one table of cases, errors compared by sex.

For plans that are documents there are their head, and rows read as a table.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from lacre.protocol.models import Protocol
from lacre.tables.columns import TypedTable
from lacre.tables.formats import Format
from lacre.tables.read import read_table

NOTHING: Mapping[str, str] = MappingProxyType({})
TESTE = MappingProxyType({"teste": ""})
PARITY = MappingProxyType({"parity": "teste"})
SEX = "{type: category, values: [female, male]}"
HEAD: Mapping[str, Any] = MappingProxyType(
    {
        "lacre": 1,
        "study": "study",
        "title": "Title",
        "question": "Question?",
        "language": "en",
        "data": {"identifiable": False, "prior_exposure": "none"},
    }
)
"""What every document begins with, whatever its tables, pools and analyses are."""


def plan(
    study: str = "small",
    *,
    columns: Mapping[str, str] = NOTHING,
    attribute: Mapping[str, str] = MappingProxyType({"sex": SEX}),
    tables: str = "",
    pools: Mapping[str, str] = TESTE,
    analyses: Mapping[str, str] = PARITY,
    gap: str = "0.5",
    criterion: str = "",
) -> str:
    """Return the plan: `columns` beyond case_id, label, prediction and the attribute, by name.

    `pools` gives after each name what is declared beyond its table of cases, `analyses` the pool of each, `tables`
    further tables and `criterion` more of the one criterion, which `gap` is the bar of.
    """
    ((by, declared),) = attribute.items()
    more = "".join(f"      {name}: {spec}\n" for name, spec in columns.items())
    held = "".join(f"  {name}: {{{spec or 'tables: [cases]'}}}\n" for name, spec in pools.items())
    run = "".join(
        f"  {name}: {{kind: group_fairness, pool: {pool}, table: cases, label: label, prediction: prediction,\n"
        f"    attributes: [{by}], "
        f"criteria: [{{id: gap, metric: error, by: [{by}], max_group_gap: {gap}{criterion}}}]}}\n"
        for name, pool in analyses.items()
    )
    return f"""\
lacre: 1
study: {study}
title: Errors by {by}
question: Does it err more often in one group?
language: en
data: {{identifiable: false, prior_exposure: none}}
tables:
  cases:
    key: case_id
    columns:
      case_id: {{type: text}}
      label: {{type: outcome, positive: "1", negative: "0"}}
      prediction: {{type: outcome, positive: "1", negative: "0", from: submission}}
      {by}: {declared}
{more}{tables}pools:
{held}analyses:
{run}"""


def typed(
    protocol: Protocol,
    rows: Sequence[Mapping[str, Any]],
    name: str = "cases",
    columns: Iterable[str] | None = None,
) -> TypedTable:
    """Return rows as a table of a protocol, or as some `columns` of it; they are numbered where they have no id."""
    declared = protocol.tables[name]
    held = {each: declared.columns[each] for each in columns or declared.columns}
    cells = [{"id": f"c{place}", **row} for place, row in enumerate(rows)]
    lines = [",".join(held), *(",".join(str(row.get(each, "")) for each in held) for row in cells)]
    form = declared.model_copy(update={"columns": held})
    return read_table(("\n".join(lines) + "\n").encode(), form, name, Format.CSV, only="pool")
