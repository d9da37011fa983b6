"""A block `fairness` becomes a protocol: what it says is carried, what it leaves open is told, nothing is dropped."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lacre.errors import ImportInvalid
from lacre.protocol.document import parse, value_of
from lacre.protocol.importing.fairness import Imported, import_fairness
from lacre.protocol.importing.writing import slug_of
from lacre.protocol.kinds.group_fairness import GroupFairnessPlan
from lacre.protocol.models import Protocol
from lacre.protocol.strict_yaml import load

WHOLE = """
fairness:
  name: Triage of loans
  cases: 12000
  label: {column: default, positive: "yes", negative: [no, unknown]}
  prediction: {column: decision, positive: refuse, negative: grant}
  probability: score
  attributes:
    sex: [F, M]
    age: [young, middle, old]
  intersections: [[sex, age]]
  min_cell: 20
  unit: person_id
  calibration_bins: 15
  rules:
    - {id: miss-gap, rate: false_negative, attribute: sex, max_group_gap: 0.05, max_left_out: 0.02}
    - {id: crossed, rate: false_positive, attribute: "sex*age", max_group_gap: "1/10"}
    - {id: ceiling, rate: error, attribute: age, worst_group: 0.25}
    - {id: floor, rate: selection, attribute: [age, sex], worst_group: {min: 0.4}}
"""

SMALL = """
fairness:
  name: small
  label: label
  prediction: prediction
  attributes: {sex: [F, M]}
  rules: [{id: gap, rate: error, attribute: sex, max_group_gap: 0.1}]
"""


def made(text: str) -> tuple[Imported, Protocol]:
    imported = import_fairness(text.encode(), "spec.yaml")
    return imported, parse(imported.text.encode())


def plan_of(protocol: Protocol) -> GroupFairnessPlan:
    (plan,) = protocol.analyses.values()
    assert isinstance(plan, GroupFairnessPlan)
    return plan


def problems(text: str) -> list[str]:
    with pytest.raises(ImportInvalid) as caught:
        import_fairness(text.encode(), "spec.yaml")
    assert caught.value.code == "import-invalid"
    lines: list[str] = caught.value.fields["problems"].splitlines()
    return lines


def test_everything_the_block_says_is_carried() -> None:
    imported, protocol = made(WHOLE)
    value = value_of(protocol)
    assert (value["study"], value["title"]) == ("triage-of-loans", "Triage of loans")
    table = value["tables"]["cases"]
    assert (table["key"], table["unit"]) == (["case_id"], "person_id")
    columns = table["columns"]
    said = {
        name: {
            key: column[key] for key in ("type", "positive", "negative", "values", "from") if key in column
        }
        for name, column in columns.items()
    }
    assert said == {
        "case_id": {"type": "text"},
        "person_id": {"type": "text"},
        "default": {"type": "outcome", "positive": ["yes"], "negative": ["no", "unknown"]},
        "decision": {"type": "outcome", "positive": ["refuse"], "negative": ["grant"], "from": "submission"},
        "score": {"type": "number", "from": "submission"},
        "sex": {"type": "category", "values": ["F", "M"]},
        "age": {"type": "category", "values": ["young", "middle", "old"]},
    }
    assert (columns["score"]["min"], columns["score"]["max"]) == (0, 1)
    assert {name: pool["planned"] for name, pool in value["pools"].items()} == {
        "dev": {},
        "teste": {"cases": 12000},
    }
    plan = plan_of(protocol)
    assert (plan.pool, plan.table, plan.label, plan.prediction, plan.probability) == (
        *("teste", "cases", "default", "decision", "score"),
    )
    assert (plan.attributes, plan.intersections) == (["sex", "age"], [["sex", "age"]])
    assert (plan.min_cell, plan.calibration_bins, plan.confidence) == (20, 15, 0.95)
    rules = [
        (
            *(rule.id, rule.metric, rule.by, rule.max_group_gap, rule.max_left_out),
            (rule.worst_group.max, rule.worst_group.min) if rule.worst_group else None,
        )
        for rule in plan.criteria
    ]
    assert rules == [
        ("miss-gap", "false_negative", ["sex"], 0.05, 0.02, None),
        ("crossed", "false_positive", ["sex", "age"], Fraction(1, 10), 0.10, None),
        ("ceiling", "error", ["age"], None, 0.10, (0.25, None)),
        ("floor", "selection", ["age", "sex"], None, 0.10, (None, 0.4)),
    ]
    assert imported.not_carried == ()
    assert not any("min_cell" in each or "values of" in each for each in imported.assumed)


def test_what_is_assumed_is_told_and_marked_in_the_text() -> None:
    imported, protocol = made(SMALL)
    text = " ".join(line.lstrip(" #") for line in imported.text.splitlines())
    for sentence in imported.assumed:
        assert f"assumed: {sentence}" in text
    for word in (
        *("question", "language", "identifiable", "prior_exposure", "key", "min_cell", "max_left_out"),
        *('"1" is positive', "submission", "no size is planned"),
    ):
        assert any(word in each for each in imported.assumed), word
    assert not any("study" in each for each in imported.assumed), "its name is the file's"
    value = value_of(protocol)
    assert value["data"]["identifiable"] is True
    assert protocol.data.retrospective, "that nobody has seen the data is not for an import to claim"
    label = value["tables"]["cases"]["columns"]["label"]
    assert (label["positive"], label["negative"]) == (["1"], ["0"])
    assert plan_of(protocol).min_cell == 30


def test_predictions_have_the_labels_values_unless_they_say_their_own() -> None:
    text = SMALL.replace("label: label", "label: {column: label, positive: bad, negative: good}")
    imported, protocol = made(text)
    column = value_of(protocol)["tables"]["cases"]["columns"]["prediction"]
    assert (column["positive"], column["negative"]) == (["bad"], ["good"])
    assert "the predictions have the values of label." in imported.assumed


@pytest.mark.parametrize(
    ("said", "table", "planned", "comment"),
    [
        ("cases: triage", "triage", {}, None),
        ("cases: data/loans.csv", "cases", {}, '"data/loans.csv"'),
        ("cases: loans.parquet", "cases", {}, '"loans.parquet"'),
        ("cases: 'all of 2023: \"closed\"'", "cases", {}, '"all of 2023: \\"closed\\""'),
        ("cases: 800", "cases", {"cases": 800}, None),
        ("cases: 800.0", "cases", {"cases": 800}, None),
        ("cases: 'no'", "no", {}, None),
    ],
)
def test_cases_are_a_table_a_file_or_a_count(
    said: str, table: str, planned: dict[str, int], comment: str | None
) -> None:
    imported, protocol = made(SMALL + f"  {said}\n")
    assert list(protocol.tables) == [table]
    assert dict(protocol.pools["teste"].planned) == planned
    lines = [line.strip() for line in imported.text.splitlines()]
    assert (f"# cases: {comment}" in lines) == (comment is not None)
    assert len(imported.not_carried) == (comment is not None)


@pytest.mark.parametrize(
    ("spelt", "metric"),
    [
        *((rate, rate) for rate in ("error", "false_positive", "false_negative", "selection")),
        *((f"{rate}_rate", rate) for rate in ("error", "false_positive", "false_negative", "selection")),
        ("fpr", "false_positive"),
        ("fnr", "false_negative"),
    ],
)
def test_rates_by_their_documented_spellings(spelt: str, metric: str) -> None:
    _imported, protocol = made(SMALL.replace("rate: error", f"rate: {spelt}"))
    assert plan_of(protocol).criteria[0].metric == metric


def test_the_worst_group_of_a_selection_rate_is_a_floor_and_said_so() -> None:
    bare = SMALL.replace("rate: error", "rate: selection").replace("max_group_gap: 0.1", "worst_group: 0.3")
    imported, protocol = made(bare)
    bound = plan_of(protocol).criteria[0].worst_group
    assert bound is not None
    assert (bound.min, bound.max) == (0.3, None)
    assert any(each.startswith("gap: the worst group of a selection rate") for each in imported.assumed)
    imported, protocol = made(bare.replace("worst_group: 0.3", "worst_group: {max: 0.3}"))
    bound = plan_of(protocol).criteria[0].worst_group
    assert bound is not None
    assert (bound.min, bound.max) == (None, 0.3)
    assert not any("selection" in each for each in imported.assumed)


def test_a_crossing_that_only_a_rule_asks_for_is_added_and_said_so() -> None:
    text = SMALL.replace("{sex: [F, M]}", "{sex: [F, M], age: [a, b]}").replace(
        "attribute: sex", "attribute: sex * age"
    )
    imported, protocol = made(text)
    assert plan_of(protocol).intersections == [["sex", "age"]]
    assert (
        "crossed because a rule asks for it, though `intersections` does not: [sex, age]." in imported.assumed
    )


def test_attributes_as_a_list_and_a_name_with_a_star() -> None:
    text = SMALL.replace(
        "attributes: {sex: [F, M]}",
        "attributes: [{name: sex, values: [F, M]}, {name: 'a*b', values: [x, y]}]",
    ).replace("attribute: sex", "attribute: a*b")
    plan = plan_of(made(text)[1])
    assert (plan.attributes, plan.criteria[0].by, plan.intersections) == (["sex", "a*b"], ["a*b"], [])


def test_values_are_the_text_they_are_written_as() -> None:
    text = SMALL.replace(
        "[F, M]", '[1, 02, 1.0, 1e3, true, No, +5, 0x1F, "007", 12:30, 2024-01-31, ~x]'
    ).replace("label: label", "label: {column: label, positive: 1, negative: [0, false, -1]}")
    columns = value_of(made(text)[1])["tables"]["cases"]["columns"]
    assert columns["sex"]["values"] == [
        *("1", "02", "1.0", "1e3", "true", "No", "+5", "0x1F", "007", "12:30", "2024-01-31", "~x"),
    ]
    assert (columns["label"]["positive"], columns["label"]["negative"]) == (["1"], ["0", "false", "-1"])


def test_values_one_to_a_line_are_read_where_they_stand() -> None:
    text = SMALL.replace(
        "attributes: {sex: [F, M]}", "attributes:\n    sex:\n      - 1   # one\n      - 2.50\n      -   true"
    )
    text = "\ufeff" + text.replace("\n", "\r\n")
    assert value_of(made(text)[1])["tables"]["cases"]["columns"]["sex"]["values"] == ["1", "2.50", "true"]


def test_a_key_gets_a_name_that_no_column_has() -> None:
    text = SMALL.replace("label: label", "label: case_id").replace("prediction: prediction", "prediction: id")
    assert list(made(text)[1].tables["cases"].key) == ["row_id"]
    assert list(made(SMALL + "  unit: case_id\n")[1].tables["cases"].key) == ["case_id"]
    names = ("case_id", "id", "row_id", "case_number")
    attributes = ", ".join(f"{name}: [a, b]" for name in names)
    text = SMALL.replace("{sex: [F, M]}", f"{{{attributes}}}").replace("attribute: sex", "attribute: id")
    assert list(made(text)[1].tables["cases"].key) == ["case_id_2"]


def test_other_blocks_are_named_and_not_dropped_in_silence() -> None:
    imported, _protocol = made("model: {name: x}\n" + SMALL + "'the rest: of it': 3\n")
    assert [each for each in imported.not_carried if "block" in each] == [
        "The block model of the file: only `fairness` makes a protocol.",
        'The block "the rest: of it" of the file: only `fairness` makes a protocol.',
    ]
    assert "# - The block model of the file" in imported.text


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Triagem de crédito", "triagem-de-credito"),
        ("  Ação: nº 1!  ", "acao-no-1"),
        ("日本", ""),
        ("x" * 70, "x" * 64),
        ("a" * 63 + " b", "a" * 63),
    ],
)
def test_study_names(name: str, slug: str) -> None:
    assert slug_of(name) == slug
    _imported, protocol = made(SMALL.replace("name: small", f"name: '{name}'"))
    assert protocol.study == (slug or "imported")


# --- refusals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        # keys
        ("name: small", "nmae: small", ["3:3 fairness.nmae: `nmae` is not known here; did you mean `name`?"]),
        (
            "name: small",
            "name: small\n  zzz: 1",
            [
                ("4:3 fairness.zzz: `zzz` is not known here; there are `name`, `cases`, `label`, `prediction`, "
                "`probability`, `attributes`, `intersections`, `min_cell`, `unit`, `calibration_bins`, `rules`")
            ],
        ),
        (
            "max_group_gap: 0.1",
            "max_group_gp: 0.1",
            [
                ("7:50 fairness.rules.gap.max_group_gp: `max_group_gp` is not known here; did you mean "
                "`max_group_gap`?")
            ],
        ),
        ("label: label", "label: {colum: label}", ["`colum` is not known here; did you mean `column`?"]),
        ("  label: label\n", "", ["2:1 fairness.label: is missing"]),
        ("name: small", "name:", ["3:3 fairness.name: is empty: give it a value, or take it out"]),
        ("name: small", "name: 3", ["fairness.name: must be text: write it in quotes"]),
        ("name: small", 'name: "a\\nb"', ["fairness.name: must be one line of text"]),
        ("\nfairness:", "\nfairnes:", ["2:1 fairnes: `fairnes` is not known here; did you mean `fairness`?"]),
        ("\nfairness:", "\nother:", ["fairness: is missing: it is the block a protocol is made from"]),
        # columns
        ("label: label", "label: [label]", ["fairness.label: must be text"]),
        ("label: label", "label: {positive: 1}", ["fairness.label.column: is missing"]),
        (
            "label: label",
            "label: {column: label, positive: 1}",
            ["fairness.label: needs `positive` and `negative`, the values that mean each, or neither"],
        ),
        (
            "label: label",
            "label: {column: label, positive: [1, 2], negative: [2]}",
            ["fairness.label: has `2` as positive and as negative"],
        ),
        (
            "label: label",
            "label: {column: label, positive: [], negative: 0}",
            ["fairness.label.positive: must hold at least one"],
        ),
        (
            "label: label",
            "label: {column: label, positive: , negative: 0}",
            ["fairness.label.positive: is empty: if it is a text, write it in quotes"],
        ),
        ("prediction: prediction", "prediction: label", ["fairness.prediction: `label` is `label` too"]),
        ("label: label", "label: sex", ["fairness.attributes.sex: `sex` is `label` too"]),
        ("label: label", "label: label\n  unit: label", ["fairness.unit: `label` is `label` too"]),
        (
            "label: label",
            "label: label\n  calibration_bins: 10",
            ["fairness.calibration_bins: needs `probability`, the column to be calibrated"],
        ),
        (
            "label: label",
            "label: label\n  probability: p\n  calibration_bins: 0",
            ["fairness.calibration_bins: must be 1 or more"],
        ),
        ("label: label", "label: label\n  min_cell: 0", ["fairness.min_cell: must be 1 or more"]),
        ("label: label", "label: label\n  min_cell: 2.5", ["fairness.min_cell: must be a whole number"]),
        ("label: label", "label: label\n  cases: 0", ["fairness.cases: must be 1 or more"]),
        (
            "label: label",
            "label: label\n  cases: '800'",
            ["fairness.cases: is a number in quotes: write how many cases are planned without them"],
        ),
        (
            "label: label",
            "label: label\n  cases: [a]",
            ["fairness.cases: must be a file, the name of a table, or how many cases are planned"],
        ),
        ("label: label", "label: label\n  cases:", ["fairness.cases: is empty"]),
        # attributes
        ("[F, M]", "[]", ["6:16 fairness.attributes.sex: must hold at least one"]),
        ("[F, M]", "F", ["fairness.attributes.sex: must be a list"]),
        ("[F, M]", "", ["fairness.attributes.sex: is empty"]),
        ("[F, M]", "[F, F]", ["fairness.attributes.sex.1: holds `F` twice"]),
        ("[F, M]", "[1, '1']", ["fairness.attributes.sex.1: holds `1` twice"]),
        ("[F, M]", "[F, '']", ["fairness.attributes.sex.1: is the empty cell, which counts as missing"]),
        ("[F, M]", "[F, null]", ["fairness.attributes.sex.1: is empty: if it is a text, write it in quotes"]),
        ("[F, M]", "[F, [M]]", ["fairness.attributes.sex.1: must be text"]),
        ("{sex: [F, M]}", "{}", ["fairness.attributes: must hold at least one"]),
        ("{sex: [F, M]}", "sex", ["fairness.attributes: must be a map"]),
        ("{sex: [F, M]}", "[sex]", ["fairness.attributes.0: must be a map"]),
        ("{sex: [F, M]}", "[{name: sex}]", ["fairness.attributes.0.values: is missing"]),
        ("{sex: [F, M]}", "[{values: [F, M]}]", ["fairness.attributes.0.name: is missing"]),
        (
            "{sex: [F, M]}",
            "[{name: sex, values: [F, M]}, {name: sex, values: [F]}]",
            ["fairness.attributes.1.name: holds `sex` twice"],
        ),
        # intersections
        (
            "label: label",
            "label: label\n  intersections: [sex]",
            ["fairness.intersections.0: crosses one attribute alone; write two or more, such as [[sex, age]]"],
        ),
        ("label: label", "label: label\n  intersections: 2", ["fairness.intersections: must be a list"]),
        (
            "label: label",
            "label: label\n  intersections: [[sex, sexx]]",
            ["fairness.intersections.0: `sexx` is not among the attributes; did you mean `sex`?"],
        ),
        (
            "label: label",
            "label: label\n  intersections: [[sex, sex]]",
            ["fairness.intersections.0: holds `sex` twice"],
        ),
        ("label: label", "label: label\n  intersections: [[]]", ["must hold at least one"]),
        # rules
        ("rules: [", "rules: [{id: gap, rate: error, attribute: sex, max_group_gap: 0}, ",
         ["fairness.rules.gap.id: `gap` is another rule's id too"]),
        ("[{id: gap, rate: error, attribute: sex, max_group_gap: 0.1}]", "[]",
         ["fairness.rules: must hold at least one"]),
        ("[{id: gap, rate: error, attribute: sex, max_group_gap: 0.1}]", "{a: 1}",
         ["fairness.rules: must be a list"]),
        ("[{id: gap, rate: error, attribute: sex, max_group_gap: 0.1}]", "[3]",
         ["fairness.rules.0: must be a map"]),
        ("id: gap, ", "", ["fairness.rules.0.id: is missing"]),
        ("id: gap", "id: 'a gap'", ["`a gap` is no name"]),
        ("rate: error", "rate: recall",
         [("fairness.rules.gap.rate: `recall` is none of those known here: `error`, `false_positive`, "
          "`false_negative`, `selection`")]),
        ("rate: error", "rate: FPR", ["`FPR` is none of those known here"]),
        ("attribute: sex", "attribute: gender",
         ["fairness.rules.gap.attribute: `gender` is not among the attributes, which are `sex`"]),
        ("attribute: sex", "attribute: sex*race", ["`race` is not among the attributes, which are `sex`"]),
        ("attribute: sex", "attribute: []", ["fairness.rules.gap.attribute: must hold at least one"]),
        ("attribute: sex", "attribute: '*sex'", ["fairness.rules.gap.attribute: \"\" is not among the attributes"]),
        ("max_group_gap: 0.1", "max_group_gap: 5", ["must be from 0 to 1, and is 5"]),
        ("max_group_gap: 0.1", "max_group_gap: -0.1", ["must be from 0 to 1, and is -0.1"]),
        ("max_group_gap: 0.1", "max_group_gap: '0.1'", ["must be a number: write it without quotes"]),
        ("max_group_gap: 0.1", "max_group_gap: true", ["must be a number, not true or false"]),
        ("max_group_gap: 0.1", "max_group_gap: 0.1, max_left_out: 2",
         ["fairness.rules.gap.max_left_out: must be from 0 to 1, and is 2"]),
        ("max_group_gap: 0.1", "worst_group: 1.5", ["must be from 0 to 1, and is 1.5"]),
        ("max_group_gap: 0.1", "worst_group: {max: 0.1, min: 0.1}", ["needs exactly one bound: `max` or `min`"]),
        ("max_group_gap: 0.1", "worst_group: {most: 0.1}",
         ["`most` is not known here; there are `max`, `min`"]),
        ("max_group_gap: 0.1", "worst_group: {}", ["needs exactly one bound: `max` or `min`"]),
        (", max_group_gap: 0.1", "", ["needs exactly one rule: `max_group_gap` or `worst_group`"]),
        ("max_group_gap: 0.1", "max_group_gap: 0.1, worst_group: 0.2",
         ["needs exactly one rule: `max_group_gap` or `worst_group`"]),
        ("[F, M]", "[F]", ["`sex` has one declared group, and a difference needs two"]),
    ],
)  # fmt: skip
def test_each_refusal(old: str, new: str, said: list[str]) -> None:
    assert SMALL.count(old) == 1
    lines = "\n".join(problems(SMALL.replace(old, new)))
    for sentence in said:
        assert sentence in lines


def test_every_problem_is_listed_at_once_with_its_place() -> None:
    text = """
fairness:
  label: {column: label, positive: 1}
  prediction: prediction
  attributes: {sex: [], age: [a, b]}
  rules:
    - {id: a, rate: recall, attribute: agee, max_group_gap: 7}
    - {id: a, rate: error, attribute: sex, worst_group: 0.1}
  min_cel: 3
"""
    assert problems(text) == [
        "2:1 fairness.name: is missing",
        "3:3 fairness.label: needs `positive` and `negative`, the values that mean each, or neither",
        "5:16 fairness.attributes.sex: must hold at least one",
        (
            "7:21 fairness.rules.a.rate: `recall` is none of those known here: `error`, `false_positive`, "
            "`false_negative`, `selection`"
        ),
        "7:40 fairness.rules.a.attribute: `agee` is not among the attributes; did you mean `age`?",
        "7:61 fairness.rules.a.max_group_gap: must be from 0 to 1, and is 7",
        "8:12 fairness.rules.a.id: `a` is another rule's id too",
        "9:3 fairness.min_cel: `min_cel` is not known here; did you mean `min_cell`?",
    ]


def test_nothing_is_said_of_attributes_that_could_not_be_read() -> None:
    assert problems(SMALL.replace("{sex: [F, M]}", "3")) == [
        "6:15 fairness.attributes: must be a map, of `key: value` lines"
    ]


def test_more_groups_than_can_be_told_apart_are_refused() -> None:
    values = ", ".join(f"v{number}" for number in range(101))
    text = SMALL.replace("{sex: [F, M]}", f"{{sex: [{values}], age: [{values}]}}").replace(
        "attribute: sex", "attribute: sex*age"
    )
    assert problems(text) == [
        "7:45 fairness.rules.gap.attribute: makes 10201 groups; at most 10000 can be told apart"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- fairness",
        "fairness: &a {name: x}",
        "fairness: *a",
        "fairness: !!python/object:os.system {}",
        "fairness: {name: x, name: y}",
        "a: 1\n---\nb: 2",
        "fairness: {min_cell: .nan}",
        "fairness: [" * 60,
        "fairness: {<<: {name: x}}",
        "fairness: {1: 2}",
        "fairness: \x01",
        "fairness: {attributes: {a: [99999999999999999999]}}",
        "x" * (2**18 + 1),
        "fairness:",
        "fairness: 3",
    ],
)
def test_hostile_files_are_refused_as_hostile_protocols_are(text: str) -> None:
    assert problems(text)


# --- quoting ------------------------------------------------------------------------------------------------

NAMES = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"), exclude_characters="*\ufeff\ufffe\uffff"),
    min_size=1,
    max_size=30,
).filter(lambda text: text.strip() == text)
TRICKY = st.sampled_from(
    [
        *("null", "~", "true", "No", "off", "1", "0x1F", "1e5", ".5", "- a", "a: b", "a #b", "'", '"', "\\", "{", "]"),
        *("São João: \"o bom\"", "está, ou não?", "<<", "?", "!x", "&a", "@", "%", "|", ">", "`", "\\n", "é"),
    ]
)  # fmt: skip


def quoted(text: str) -> str:
    """Single quotes hold any one line of text, with the quote itself doubled (YAML 1.2.2, 7.3.2)."""
    return "'" + text.replace("'", "''") + "'"


@given(st.lists(st.one_of(NAMES, TRICKY), min_size=9, max_size=9, unique=True))
def test_names_and_values_survive(names: list[str]) -> None:
    title, label, prediction, attribute, unit, *values = names
    text = f"""
fairness:
  name: {quoted(title)}
  label: {{column: {quoted(label)}, positive: {quoted(values[0])}, negative: {quoted(values[1])}}}
  prediction: {quoted(prediction)}
  unit: {quoted(unit)}
  attributes: {{{quoted(attribute)}: [{", ".join(map(quoted, values))}]}}
  rules: [{{id: gap, rate: error, attribute: [{quoted(attribute)}], max_group_gap: 0.1}}]
"""
    imported = import_fairness(text.encode(), "spec.yaml")
    loaded: Any = load(imported.text.encode()).value
    columns = loaded["tables"]["cases"]["columns"]
    assert loaded["title"] == title
    assert loaded["tables"]["cases"]["unit"] == unit
    assert {label, prediction, attribute, unit} <= set(columns)
    assert columns[attribute]["values"] == values
    assert columns[label]["positive"] == columns[prediction]["positive"] == values[0]
    assert loaded["analyses"]["fairness"]["criteria"][0]["by"] == [attribute]
    parse(imported.text.encode())
