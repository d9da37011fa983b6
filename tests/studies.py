"""The plan that most tests live with, as the text of its file: one table of cases, errors compared by sex."""

from collections.abc import Mapping
from types import MappingProxyType

NOTHING: Mapping[str, str] = MappingProxyType({})
TESTE = MappingProxyType({"teste": ""})
PARITY = MappingProxyType({"parity": "teste"})
SEX = "{type: category, values: [female, male]}"


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
