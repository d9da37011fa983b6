"""Rule 12: which pools call their cases alike. Each plan is amended, so that a pool was sealed under another."""

import pytest

from lacre.rules.identity import ids_decide

from .conftest import TEMPLATE, World

KEY = "    key: case_id\n"
OTHERS = """  visits:
    key: case_id
    columns:
      case_id: {type: text}
"""


def plan(*changes: tuple[str, str]) -> str:
    text = TEMPLATE.format(study="parity", exposure="none", gap="max_group_gap: 0.05")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


NAMESPACE = (KEY, KEY + "    id_namespace: people\n")
RENAMED = ("key: case_id\n", "key: [case_id, sex]\n")
SECOND = ("pools:\n", OTHERS + "pools:\n")
ON_VISITS = ("guarda: {tables: [cases]", "guarda: {tables: [visits]")
ON_BOTH = ("guarda: {tables: [cases]", "guarda: {tables: [cases, visits]")


@pytest.mark.parametrize(
    ("sealed", "now", "decide"),
    [
        ([], [], True),
        ([NAMESPACE], [NAMESPACE], True),
        ([], [NAMESPACE], False),  # ids of a namespace are not those of a table
        ([], [RENAMED], False),  # another key, other ids
        ([SECOND, ON_VISITS], [SECOND], False),  # another table's
        ([SECOND, ON_BOTH], [SECOND], True),  # one table in common, and none that is at odds
        ([SECOND, ON_BOTH], [SECOND, RENAMED], False),
    ],
)
def test_rule_12_ids_decide_where_cases_are_called_alike(
    world: World, sealed: list[tuple[str, str]], now: list[tuple[str, str]], decide: bool
) -> None:
    """`guarda` as it was sealed under one plan, held against `teste` under the one in force."""
    world.register(world.put(plan(*sealed)))
    tables = tuple(
        name
        for name in ("cases", "visits")
        if name in plan(*sealed).split("guarda: {tables: [")[1].split("]")[0]
    )
    world.seal("guarda", tables=tables)
    if now != sealed:
        world.amend(world.put(plan(*now)))
    study = world.state.study
    assert study is not None
    assert ids_decide(study, "teste", study.pools["guarda"]) is decide


def test_rule_12_of_a_pool_that_is_declared_no_more_no_ids_decide(world: World) -> None:
    world.register(world.put(plan()))
    world.seal("guarda")
    study = world.state.study
    assert study is not None
    assert not ids_decide(study, "gone", study.pools["guarda"])
