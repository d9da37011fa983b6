"""What a person is told: every problem, where it stands, in plain words, with the nearest known name."""

import copy
import re
from collections.abc import Callable
from typing import Any

import pytest

from lacre.canonical import canonical_json
from lacre.errors import LacreError, ProtocolInvalid
from lacre.protocol import templates
from lacre.protocol.document import from_canonical, parse, value_of

Spoil = Callable[[str, str, str], str]
Problems = Callable[[str], list[str]]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        # keys
        (
            "study: loans",
            "studdy: loans",
            ["study: is missing", "studdy: `studdy` is not known here; did you mean `study`?"],
        ),
        ("language: en\n", "", ["language: is missing"]),
        ("language: en", "language:", ["language: is empty: give it a value, or take it out"]),
        (
            "title: Loans",
            "title: Loans\nauthor: me",
            [
                (
                    "author: `author` is not known here; there are `lacre`, `study`, `title`, `question`, "
                    "`language`, `data`, "
                    "`disclosure`, `systems`, `tables`, `variants`, `pools`, `disjoint`, ..."
                )
            ],
        ),
        ("id: {type: text}", "id: {typ: text}", ["tables.cases.columns.id.type: is missing"]),
        ("id: {type: text}", "id: text", ["tables.cases.columns.id: must be a map, of `key: value` lines"]),
        ("id: {type: text}", "id: [text]", ["tables.cases.columns.id: must be a map, of `key: value` lines"]),
        (
            "id: {type: text}",
            "id: {type: string}",
            [
                (
                    "tables.cases.columns.id.type: `string` is none of those known here: `text`, `category`, "
                    "`ordinal`, `number`, "
                    "`outcome`, `time`, `digest`"
                )
            ],
        ),
        (
            "id: {type: text}",
            "id: {type: text, min: 3}",
            [
                (
                    "tables.cases.columns.id.min: `min` is not known here; there are `is`, `from`, `part`, "
                    "`missing`, `path`, `type`"
                )
            ],
        ),
        (
            "max_group_gap: 0.1",
            "max_grup_gap: 0.1",
            [
                (
                    "analyses.gate.criteria.gap.max_grup_gap: `max_grup_gap` is not known here; did you mean "
                    "`max_group_gap`?"
                )
            ],
        ),
        # values
        ("lacre: 1", "lacre: 2", ["lacre: must be 1, the one format this version reads"]),
        ("lacre: 1", "lacre: true", ["lacre: must be 1, the one format this version reads"]),
        ("lacre: 1", "lacre: '1'", ["lacre: must be 1, the one format this version reads"]),
        (
            "study: loans",
            "study: Loans",
            [
                (
                    "study: `Loans` is no study name: use 1 to 64 small letters, digits and `-`, and no `-` "
                    "at either end"
                )
            ],
        ),
        ("study: loans", "study: 2026", ["study: must be text: write it in quotes"]),
        ("study: loans", "study: {a: b}", ["study: must be text"]),
        ("title: Loans", "title: '  '", ["title: must not be blank"]),
        (
            "title: Loans",
            'title: "a\\nb"',
            ["title: must be one line of text, without control characters"],
        ),
        ("Equal errors?", "a" * 10_001, ["question: must be at most 10,000 characters long"]),
        (
            "type: text",
            f"type: text, missing: {'a' * 1001}",
            ["tables.cases.columns.id.missing: must be at most 1000 characters long"],
        ),
        ("kind: group_fairness", "kind: 3", ["analyses.gate.kind: must be text"]),
        ("analyses:", "analyses:\n  other: 3", ["analyses.other: must be a map, of `key: value` lines"]),
        (
            "language: en",
            "language: English!",
            ["language: `English!` is no language tag: write one such as `en` or `pt-BR`"],
        ),
        ("identifiable: false", "identifiable: no", ["data.identifiable: must be true or false"]),
        (
            "prior_exposure: none",
            "prior_exposure: None",
            ["data.prior_exposure: must be `none`, or say in words who has seen what"],
        ),
        (
            'positive: "1"',
            "positive: 1",
            ["tables.cases.columns.repaid.positive: must be text: write it in quotes"],
        ),
        (
            'positive: "1"',
            "positive: True",
            ["tables.cases.columns.repaid.positive: must be text: write it in quotes"],
        ),
        (
            'positive: "1"',
            "positive: [Medium, 2]",
            ["tables.cases.columns.repaid.positive.1: must be text: write it in quotes"],
        ),
        (
            "values: [f, m]",
            "values: [f, null]",
            ["tables.cases.columns.sex.values.1: must be text: write it in quotes"],
        ),
        (
            "values: [f, m]",
            "values: [f, 1950]",
            ["tables.cases.columns.sex.values.1: must be text: write it in quotes"],
        ),
        ("values: [f, m]", "values: [f, m, f]", ["tables.cases.columns.sex.values.2: holds `f` twice"]),
        (
            "values: [f, m]",
            "values: f",
            ["tables.cases.columns.sex.values: must be a list, in brackets or with a dash before each"],
        ),
        ("values: [f, m]", "values: []", ["tables.cases.columns.sex.values: must hold at least one"]),
        ("cases: 900", "cases: 0", ["pools.teste.planned.cases: must be 1 or more"]),
        ("cases: 900", "cases: 9.5", ["pools.teste.planned.cases: must be a whole number"]),
        ("cases: 900", "cases: many", ["pools.teste.planned.cases: must be a whole number"]),
        (
            "max_group_gap: 0.1",
            "max_group_gap: 5",
            ["analyses.gate.criteria.gap.max_group_gap: must be from 0 to 1, and is 5"],
        ),
        (
            "max_group_gap: 0.1",
            'max_group_gap: "0.1"',
            [
                (
                    "analyses.gate.criteria.gap.max_group_gap: must be a number: write it without quotes, "
                    "and with a decimal point"
                )
            ],
        ),
        (
            "max_group_gap: 0.1",
            'max_group_gap: "5 %"',
            [
                (
                    "analyses.gate.criteria.gap.max_group_gap: must be a number, or a fraction in quotes "
                    'such as "1/3"'
                )
            ],
        ),
        (
            "max_group_gap: 0.1",
            'max_group_gap: "1/0"',
            ["analyses.gate.criteria.gap.max_group_gap: must not divide by zero"],
        ),
        (
            "max_group_gap: 0.1",
            "max_group_gap: true",
            ["analyses.gate.criteria.gap.max_group_gap: must be a number, not true or false"],
        ),
        (
            "metric: error",
            "metric: errors",
            [
                (
                    "analyses.gate.criteria.gap.metric: `errors` is none of those known here; did you "
                    "mean `error`?"
                )
            ],
        ),
        (
            "metric: error",
            "metric: 3",
            [
                (
                    "analyses.gate.criteria.gap.metric: must be one of `error`, `false_positive`, "
                    "`false_negative`, `selection`"
                )
            ],
        ),
        (
            "kind: group_fairness",
            "kind: group_farness",
            ["analyses.gate.kind: `group_farness` is no kind of analysis; did you mean `group_fairness`?"],
        ),
        (
            "kind: group_fairness",
            "kind: horoscope",
            [
                (
                    "analyses.gate.kind: `horoscope` is no kind of analysis; there are `group_fairness`, "
                    "`recall`, "
                    "`protective_failure`, `paired_variants`, `verification`, `self_agreement`, "
                    "`estimate`, `judge_agreement`"
                )
            ],
        ),
        ("    kind: group_fairness\n", "", ["analyses.gate.kind: is missing"]),
        ("  teste:", "  test:", ["pools.test: `test` is no pool; did you mean `teste`?"]),
        (
            "  teste:",
            "  holdout:",
            [
                (
                    "pools.holdout: `holdout` is no pool: a pool's name is its role, one of `dev`, `teste`, "
                    "`contraste`, "
                    "`guarda`, `corpus`"
                ),
                "analyses.gate.pool: `teste` is not declared under pools, which has `holdout`",
            ],
        ),
        # names
        (
            "tables: cases",
            "tables: case",
            [
                "pools.teste.tables: `case` is not declared under tables; did you mean `cases`?",
                "pools.teste.planned.cases: `cases` is not among the pool's tables",
                "analyses.gate.table: `cases` is not among the tables of teste",
            ],
        ),
        (
            "label: repaid",
            "label: repayd",
            [
                (
                    "analyses.gate.label: `repayd` is not declared under tables.cases.columns; did you mean "
                    "`repaid`?"
                )
            ],
        ),
        (
            "label: repaid",
            "label: zzz",
            [
                (
                    "analyses.gate.label: `zzz` is not declared under tables.cases.columns, which has "
                    "`granted`, `id`, `repaid`, `sex`"
                )
            ],
        ),
        (
            "pool: teste",
            "pool: dev",
            ["analyses.gate.pool: `dev` is not declared under pools, which has `teste`"],
        ),
        (
            "table: cases\n",
            "table: cases\n    systems: [a]\n",
            ["analyses.gate.systems.0: `a` is not declared: there is nothing under systems"],
        ),
        (
            "key: id",
            "key: [id, granted]",
            ["tables.cases.key.1: `granted` comes from the submission; it must be the pool's own"],
        ),
        (
            "key: id",
            "key: repaid",
            [
                (
                    "tables.cases.key: `repaid` is of type outcome; what names a case is text, category, "
                    "ordinal or digest"
                )
            ],
        ),
        (
            "key: id",
            "key: id\n    unit: person",
            [
                (
                    "tables.cases.unit: `person` is not declared under tables.cases.columns, which has "
                    "`granted`, `id`, `repaid`, `sex`"
                )
            ],
        ),
        ("key: id", "key: []", ["tables.cases.key: must hold at least one"]),
        (
            "analyses:",
            "locked: analyses.gate.criteria.gip\nanalyses:",
            ["locked: `analyses.gate.criteria.gip` leads nowhere in this protocol"],
        ),
        (
            "analyses:",
            "remedies: rebalance\nanalyses:",
            ["remedies: needs `max_rebalances`: how often a corpus may grow"],
        ),
        (
            "analyses:",
            "max_rebalances: 1\nanalyses:",
            ["max_rebalances: means nothing without `remedies: [rebalance]`"],
        ),
        (
            "analyses:",
            "disjoint: [photo, [sex, granted]]\nanalyses:",
            [
                "disjoint.0: `photo` is not declared under tables, which has `id`, `repaid`, `sex`",
                "disjoint.1.1: `granted` is not declared under tables, which has `id`, `repaid`, `sex`",
            ],
        ),
    ],
)
def test_what_is_said(
    loans: str, spoil: Spoil, problems: Problems, old: str, new: str, said: list[str]
) -> None:
    found = problems(spoil(loans, old, new))
    assert sorted(found) == sorted(said)


def test_all_is_said_at_once(loans: str, spoil: Spoil, problems: Problems) -> None:
    """Problems of the parts do not hide those between the parts that are sound."""
    text = spoil(loans, "title: Loans", "titel: Loans")
    text = spoil(text, "language: en", "language: 3")
    text = spoil(text, "id: {type: text}", "id: {type: txt}")
    text = spoil(text, "label: repaid", "label: repayed")
    text = spoil(text, "by: sex, ", "by: age, max_grup_gap: 1, ")
    assert problems(text) == [
        "title: is missing",
        "titel: `titel` is not known here; did you mean `title`?",
        "language: must be text: write it in quotes",
        "tables.cases.columns.id.type: `txt` is none of those known here; did you mean `text`?",
        "analyses.gate.label: `repayed` is not declared under tables.cases.columns; did you mean `repaid`?",
        "analyses.gate.criteria.gap.by: `age` is not among the attributes",
        (
            "analyses.gate.criteria.gap.max_grup_gap: `max_grup_gap` is not known here; did you mean "
            "`max_group_gap`?"
        ),
    ]


def test_a_criterion_that_cannot_be_read_hides_nothing_of_the_others(
    spoil: Spoil, problems: Problems
) -> None:
    """It alone is left out of the look at how the parts agree; the place of those after it is that in the file."""
    text = spoil(
        templates.read("faces"), "metric: recall, by: [age, height]", "metric: recal, by: [age, height]"
    )
    text = spoil(text, "by: [[height], [age, height]]", "by: [[heigth], [age, height]]")
    text = spoil(text, "{age: child, height: large}", "{age: chld, height: large}")
    assert [each.partition(": ")[0] for each in problems(text)] == [
        "analyses.recall.by.0.0",
        "analyses.recall.criteria.worst-cell.metric",
        "analyses.recall.criteria.children.between.0.age",
    ]


def test_a_part_that_cannot_be_read_is_no_unknown_name(loans: str, spoil: Spoil, problems: Problems) -> None:
    """Whoever names a broken part has named it rightly."""
    assert problems(spoil(loans, "values: [f, m]", "values: 3")) == [
        "tables.cases.columns.sex.values: must be a list, in brackets or with a dash before each"
    ]
    assert problems(spoil(loans, "tables: cases,", "tables: 3,")) == [
        "pools.teste.tables: must be text: write it in quotes"
    ]
    assert problems(spoil(loans, "key: id", "key: 1")) == [
        "tables.cases.key: must be text: write it in quotes"
    ]


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("lacre: 1", "lacre: 2", "2:8"),
        ("title: Loans", "titel: Loans", "4:1"),
        ("    key: id\n", "", "9:3"),  # what is missing stands where it should have stood: in its map
        ("label: repaid", "label: payed", "23:12"),
        ("max_group_gap: 0.1", "max_group_gap: 2", "27:58"),
        ("metric: error", "metrik: error", "27:19"),
    ],
)
def test_where_it_stands(loans: str, spoil: Spoil, old: str, new: str, where: str) -> None:
    with pytest.raises(ProtocolInvalid) as caught:
        parse(spoil(loans, old, new).encode())
    assert where in [line.split(" ")[0] for line in str(caught.value.fields["problems"]).split("\n")]


def test_the_message_is_lines_and_safe_to_print(loans: str, spoil: Spoil) -> None:
    text = spoil(loans, "title: Loans", '"ti\\nt\\u202ele": Loans')
    with pytest.raises(ProtocolInvalid) as caught:
        parse(text.encode(), "plan.yaml")
    heading, *lines = caught.value.message.split("\n")
    assert heading == "plan.yaml cannot be accepted as it stands (2 to mend):"
    assert len(lines) == 2
    assert all(re.match(r"  \d+:\d+ ", line) and line.isprintable() for line in lines)


def test_no_word_of_pydantic_reaches_a_person(whole: str) -> None:
    """Each value of the whole grammar is replaced by things of another shape."""
    plain = value_of(parse(whole.encode()))
    for path in _paths(plain):
        for other in ([[7]], {"x": {"y": 7}}, 7.5, True, "?"):
            value = copy.deepcopy(plain)
            here: Any = value
            for step in path[:-1]:
                here = here[step]
            here[path[-1]] = other
            said = _said(value)
            assert not re.search(r"pydantic|Input should|is not what|valid|_type|\bdict|\bNone|[{}]", said), (
                said
            )


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [each for key, part in inner for each in [(*path, key), *_paths(part, (*path, key))]]


def _said(value: Any) -> str:
    try:
        from_canonical(canonical_json(value))
    except LacreError as error:
        return error.message
    return ""


def test_a_thousand_problems_are_enough() -> None:
    text = "\n".join(f"k{n}: 1" for n in range(5000))
    with pytest.raises(ProtocolInvalid) as caught:
        parse(text.encode())
    assert caught.value.fields["problems"].endswith("more")
