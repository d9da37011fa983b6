"""Columns, tables, pools, draws and thresholds: what each may say, and what contradicts itself."""

from collections.abc import Callable

import pytest

from lacre.protocol.columns import OutcomeColumn, path_steps
from lacre.protocol.document import parse
from lacre.protocol.pools import Variant
from lacre.protocol.thresholds import CalibratedThreshold, FixedThreshold

Spoil = Callable[[str, str, str], str]
Problems = Callable[[str], list[str]]

COLUMN = "tables.people.columns."


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        # what a column may be
        (
            "photo: {type: digest, is: input}",
            "photo: {type: digest, is: weight}",
            "photo.is: a column of this type cannot be `weight`; it may be `input`",
        ),
        (
            "household: {type: text}",
            "household: {type: text, is: labelled}",
            "household.is: a column of this type cannot be `labelled`; it may be `input`",
        ),
        (
            "drawn: {type: number, is: inclusion_probability}",
            "drawn: {type: number, is: scored}",
            (
                "drawn.is: a column of this type cannot be `scored`; it may be `input`, `demographic`, "
                "`inclusion_probability`, `weight`"
            ),
        ),
        (
            "said_at: {type: time, is: scored, from",
            "said_at: {type: time, is: [scored, input], from",
            "said_at.is: comes from the submission, so it cannot be `input`",
        ),
        (
            "said_at: {type: time, is: scored, from",
            "said_at: {type: time, is: [scored, labelled], from",
            "said_at.is: comes from the submission, so it cannot be `labelled`",
        ),
        (
            "scored_at: {type: time, is: scored, part",
            "scored_at: {type: time, is: [scored, labelled], part",
            "scored_at.is: cannot be when a case was labelled and when it was scored",
        ),
        (
            "judged: {type: outcome,",
            "judged: {type: outcome, is: input,",
            "judged.is: an input is handed out before labels and scores are, so it is no part",
        ),
        (
            "judged: {type: outcome,",
            "judged: {type: outcome, from: submission,",
            "judged.part: comes from the submission, so it is no part of the pool",
        ),
        (
            "judged: {type: outcome,",
            "judged: {type: outcome, from: sub,",
            "judged.from: must be `submission`, and is `sub`",
        ),
        (
            "consent: {type: category,",
            "consent: {type: category, is: gold,",
            (
                "consent.is: `gold` is none of those known here: `input`, `labelled`, `scored`, "
                "`demographic`, `inclusion_probability`, `weight`"
            ),
        ),
        # values
        (
            'missing: ["", unknown]',
            'missing: ["", south]',
            "village: has `south` among its values and as missing",
        ),
        ("negative: well", "negative: [well, dead]", "sick: has `dead` as positive and as negative"),
        (
            "negative: well, ",
            "",
            "sick: needs `positive` and `negative`, the values that mean each, or `equals`",
        ),
        (
            "negative: well, ",
            "equals: [village, consent], ",
            "sick: `equals` makes the outcome from two other columns; say nothing else of it",
        ),
        (
            "age: {type: number, min: 0, max: 120",
            "age: {type: number, min: 120, max: 120",
            "age.max: `min` must be below `max`",
        ),
        (
            "old: [30, 120]",
            "old: [31, 120]",
            "age.bins.old: bins must meet: `young` ends at 30 and `old` begins at 31",
        ),
        ("old: [30, 120]", "old: [30, 20]", "age.bins.old: must go from a lower to a higher number"),
        ("young: [0, 30]", "young: [0, null]", "age.bins.young: only the last bin may be open above"),
        ("old: [30, 120]", "old: [30, 120, 1]", "age.bins.old: must be a list of two, such as [a, b]"),
        # times and paths
        (
            "America/Sao_Paulo",
            "America/Sao_Paolo",
            "labelled_at.zone: `America/Sao_Paolo` is no time zone; did you mean `America/Sao_Paulo`?",
        ),
        (
            "America/Sao_Paulo",
            "../../etc/passwd",
            "labelled_at.zone: `../../etc/passwd` is no time zone: write a name such as `America/Sao_Paulo`",
        ),
        ("America/Sao_Paulo", "America", "labelled_at.zone: `America` is no time zone"),
        (
            "household: {type: text}",
            "household: {type: text, path: a.b}",
            "household.path: `a.b` is no path: write `$.field`, `$['a field']` or `$.list[0]`",
        ),
    ],
)
def test_columns(whole: str, spoil: Spoil, problems: Problems, old: str, new: str, said: str) -> None:
    (found,) = problems(spoil(whole, old, new))
    assert found.startswith(COLUMN + said)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        # tables
        (
            'delimiter: ";"',
            'delimiter: ";;"',
            'tables.people.delimiter: must be one character, such as "," or ";" or "\\t"',
        ),
        (
            'delimiter: ";"',
            "delimiter: a",
            'tables.people.delimiter: must be one character, such as "," or ";" or "\\t"',
        ),
        (
            "encoding: latin-1",
            "encoding: latin1",
            "tables.people.encoding: `latin1` is none of those known here; did you mean `latin-1`?",
        ),
        (
            "id_namespace: census.2026",
            "id_namespace: a b",
            (
                "tables.people.id_namespace: `a b` is no name: use 1 to 64 letters, "
                "digits, `_`, `.` and `-`, beginning with a letter, a digit or `_`"
            ),
        ),
        (
            "unit: household",
            "unit: age",
            (
                "tables.people.unit: `age` is of type number; what names a case is text, category, "
                "ordinal or digest"
            ),
        ),
        (
            "unit: household",
            "unit: risk",
            "tables.people.unit: `risk` comes from the submission; it must be the pool's own",
        ),
        (
            '{column: consent, in: ["no"]}',
            "{column: consent}",
            "tables.people.exclude.0: needs exactly one condition: `in`, `missing` or `outside`",
        ),
        (
            '{column: consent, in: ["no"]}',
            '{column: consent, in: ["no"], missing: true}',
            "tables.people.exclude.0: needs exactly one condition: `in`, `missing` or `outside`",
        ),
        (
            '{column: consent, in: ["no"]}',
            '{column: consnt, in: ["no"]}',
            (
                "tables.people.exclude.0.column: `consnt` is not declared under tables.people.columns; did "
                "you mean `consent`?"
            ),
        ),
        (
            '{column: consent, in: ["no"]}',
            '{column: said, in: ["no"]}',
            "tables.people.exclude.0.column: rows cannot be dropped for what a submission says of them",
        ),
        (
            '{column: consent, in: ["no"]}',
            '{column: age, in: ["7"]}',
            "tables.people.exclude.0.column: `age` holds no text to be compared",
        ),
        (
            "{column: age, outside: [0, 120]}",
            "{column: consent, outside: [0, 120]}",
            "tables.people.exclude.1.column: `consent` is no number, so nothing lies outside",
        ),
        (
            "outside: [0, 120]",
            "outside: [120, 0]",
            "tables.people.exclude.1.outside: must go from a lower to a higher number",
        ),
        (
            "outside: [0, 120]",
            "outside: [null, null]",
            (
                "tables.people.exclude.1.outside: must be a list of two numbers, [from, to], one of which "
                "may be null"
            ),
        ),
        (
            "{column: village, missing: true}",
            "{column: village, missing: false}",
            "tables.people.exclude.3.missing: must be true, or be left out",
        ),
        # pools
        (
            "max_reads: 4",
            "groups: stage",
            "pools.guarda: needs `max_reads`: every read of guarda spends a share of its error rate",
        ),
        (
            "contraste: {tables: [people],",
            "contraste: {tables: [people], max_reads: 3,",
            "pools.contraste.max_reads: only `guarda` has a budget of reads",
        ),
        (
            "open: made by hand, ",
            "",
            "pools.corpus: needs `open`: the reason why this pool may be committed in the open",
        ),
        (
            "contraste: {tables: [people],",
            "contraste: {tables: [people], open: why not,",
            "pools.contraste.open: only `corpus` may be open; contraste is sealed",
        ),
        (
            "order: [cases, labels, scores]",
            "order: [cases, scores, labels]",
            (
                "pools.corpus.order: must be [cases, labels, scores] or [cases, labels]: labels come "
                "before scores"
            ),
        ),
        (
            "contraste: {tables: [people], groups: stage}",
            "contraste: {tables: [people], groups: stag}",
            "pools.contraste.groups: `stag` is not declared under tables; did you mean `stage`?",
        ),
        (
            "contraste: {tables: [people], groups: stage}",
            "contraste: {tables: [people], groups: age}",
            "pools.contraste.groups: `age` has no declared values",
        ),
        (
            "composition: {village: {north: 300",
            "composition: {village: {east: 300",
            (
                "pools.teste.composition.village.east: `east` is not a declared value of `village`, which "
                "has `north`, `south`"
            ),
        ),
        (
            "composition: {village: {north: 300",
            "composition: {village: {north: 301",
            "pools.teste.composition.village: adds up to more rows than are planned (600)",
        ),
        (
            "dev: {tables: people, planned: {people: 100}}",
            "dev: {tables: people, planned: {persons: 100}}",
            "pools.dev.planned.persons: `persons` is not among the pool's tables",
        ),
        # draws
        (
            "  people: {pool: teste, strata: village,",
            "  people: {pool: teste, strata: household,",
            "sampling.people.strata: `household` has no declared values of the pool's own",
        ),
        (
            "sizes: {north: 300",
            "sizes: {east: 300",
            (
                "sampling.people.sizes.east: `east` is not a declared value of `village`, which has "
                "`north`, `south`"
            ),
        ),
        (
            "sizes: {north: 300",
            "sizes: {north: 301",
            "sampling.people.sizes: adds up to more rows than are planned (600)",
        ),
        (
            "  people: {pool: teste, strata",
            "  peoples: {pool: teste, strata",
            "sampling.peoples: `peoples` is not declared under tables; did you mean `people`?",
        ),
        (
            "{pool: teste, fraction: 0.1,",
            "{pool: test, fraction: 0.1,",
            "relabel.people.pool: `test` is not declared under pools; did you mean `teste`?",
        ),
        ("fraction: 0.1,", "fraction: 0,", "relabel.people.fraction: must lie between 0 and 1, and is 0"),
        (
            "columns: sick,",
            "columns: risk,",
            "relabel.people.columns: `risk` is not a label a person could give again",
        ),
        ("seed: 12", "seed: -1", "relabel.people.seed: must be 0 or more"),
        # the rest
        ("jpeg_quality: 30", "jpeg_quality: 101", "variants.rough.jpeg_quality: must be 100 or less"),
        ("scale: 0.5", "scale: 0", "variants.small.scale: must lie between 0 and 100, and is 0"),
        ("min_count: 8", "min_count: 0", "disclosure.min_count: must be 1 or more"),
        ("sha256:2222", "sha256:2", "systems.now.digest: must be `sha256:` and 64 small hexadecimal digits"),
        (
            "calibrate_on: dev",
            "calibrate_on: teste",
            "thresholds.found.calibrate_on: must be dev: a threshold is never tuned on another pool",
        ),
        ("score: risk,", "score: age,", "thresholds.found.score: `age` must be a number from the submission"),
        (
            "at: {recall: 0.95}",
            "at: {recall: 0.95, false_match: 0.1}",
            "thresholds.found.at: must hold one target rate, such as {recall: 0.95}",
        ),
        (
            "at: {recall: 0.95}",
            "at: {accuracy: 0.95}",
            (
                "thresholds.found.at.accuracy: `accuracy` is none of those known here: `recall`, "
                "`false_positive`, "
                "`false_negative`, `false_match`, `false_non_match`"
            ),
        ),
        (
            "half: {fixed: 0.5}",
            "half: {fixed: 0.5, table: people}",
            "thresholds.half.table: `table` is not known here; there are `fixed`",
        ),
        (
            "normalise: z-norm",
            "normalise: znorm",
            "thresholds.found.normalise: `znorm` is none of those known here; did you mean `z-norm`?",
        ),
        ("remedies: rebalance", "remedies: retrain", "remedies: must be `rebalance`, and is `retrain`"),
    ],
)
def test_the_other_parts(whole: str, spoil: Spoil, problems: Problems, old: str, new: str, said: str) -> None:
    assert problems(spoil(whole, old, new)) == [said]


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("$.a", ("a",)),
        ("$.a.b-c", ("a", "b-c")),
        ("$['a b'].c[10]['d.e']", ("a b", "c", 10, "d.e")),
        ("$.ação", ("ação",)),
        ("$[0]", (0,)),
        ("$", ()),
        ("a", ()),
        ("$a", ()),
        ("$.", ()),
        ("$..a", ()),
        ("$.a[*]", ()),
        ("$.a[-1]", ()),
        ("$.a[01]", ()),
        ("$.a ", ()),
        ("$.a\n", ()),
        ("$['']", ()),
        ("$.0", ()),
    ],
)
def test_paths(path: str, steps: tuple[str | int, ...]) -> None:
    assert path_steps(path) == steps


def test_the_whole_grammar_is_read(whole: str) -> None:
    protocol = parse(whole.encode())
    people = protocol.tables["people"]
    assert people.key == ["person id"]
    assert (people.delimiter, people.decimal, people.encoding, people.strip_header) == (
        ";",
        ",",
        "latin-1",
        True,
    )
    assert people.exclude[0].in_ == ["no"]
    assert people.exclude[2].outside == (None, 110.5)
    assert people.columns["age"].is_ == ["demographic", "input"]
    assert people.columns["risk"].source == "submission"
    assert people.columns["village"].named_values == ("north", "south")
    assert people.columns["sick"].named_values == ("ill", "dead", "well")
    assert {name: pool.role for name, pool in protocol.pools.items()} == {
        name: name for name in protocol.pools
    }
    assert protocol.pools["corpus"].order == ["cases", "labels", "scores"]
    assert protocol.disjoint == [["photo"], ["household", "person id"]]
    assert protocol.variants["dark"] == Variant.model_validate({"gamma": "1/2", "equalize": True})
    assert isinstance(protocol.thresholds["half"], FixedThreshold)
    assert isinstance(protocol.thresholds["found"], CalibratedThreshold)
    assert protocol.max_rebalances == 2


def test_what_comes_from_the_submission(vector: Callable[[str], str]) -> None:
    answers = parse(vector("two-systems.yaml").encode()).tables["answers"]
    assert answers.supplied("given")
    assert answers.supplied("correct")  # made from `given`
    assert not answers.supplied("truth")
    assert answers.derived("correct")
    assert not answers.derived("given")
    assert isinstance(answers.columns["correct"], OutcomeColumn)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "equals: [given, expected]",
            "equals: [given, given]",
            "correct.equals: `equals` must name two different columns",
        ),
        (
            "equals: [given, expected]",
            "equals: [given, expcted]",
            (
                "correct.equals.1: `expcted` is not declared under tables.answers.columns; did you mean "
                "`expected`?"
            ),
        ),
        (
            "equals: [given, expected]",
            "equals: [given, correct]",
            "correct.equals.1: `correct` is itself made from two columns",
        ),
        (
            "equals: [given, expected]",
            "equals: given",
            "correct.equals: must be a list of two, such as [a, b]",
        ),
        (
            "equals: [given, expected]",
            "equals: [given, expected], from: submission",
            "correct: `equals` makes the outcome from two other columns; say nothing else of it",
        ),
    ],
)
def test_derived_outcomes(
    vector: Callable[[str], str], spoil: Spoil, problems: Problems, old: str, new: str, said: str
) -> None:
    assert problems(spoil(vector("two-systems.yaml"), old, new)) == [f"tables.answers.columns.{said}"]


def test_empty_sections_are_named(loans: str, problems: Problems) -> None:
    start, rest = loans.split("tables:\n")
    pools = rest[rest.index("pools:") :]
    assert problems(f"{start}tables: {{}}\npools: {{}}\nanalyses: {{}}\n") == [
        "tables: must hold at least one",
        "pools: must hold at least one",
        "analyses: must hold at least one",
    ]
    assert problems(f"{start}tables:\n  cases: {{key: id, columns: {{}}}}\n{pools}")[0] == (
        "tables.cases.key: `id` is not declared: there is nothing under tables.cases.columns"
    )
