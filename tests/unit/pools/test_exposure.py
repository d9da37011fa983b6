"""Which cases pools share: what decides within a study, in a namespace, between studies; what never may."""

import hashlib
import hmac
import random
from collections.abc import Callable, Sequence

import pytest
from tests.four_pools import COHORT, PLAN, changed

from lacre.canonical import sha256_hex
from lacre.errors import PrintsInvalid
from lacre.pools import chance
from lacre.pools.exposure import (
    Shared,
    designed_contents,
    exposed,
    fingerprint,
    match_submission_ids,
    shared_between,
    shared_within_study,
)
from lacre.pools.prints import KINDS, Prints
from lacre.protocol.document import parse
from lacre.protocol.models import Protocol
from lacre.tables.columns import TypedTable
from lacre.tables.formats import Format
from lacre.tables.read import read_table

Make = Callable[..., TypedTable]
Take = Callable[..., Prints]

KEY = bytes(range(32))
GENESIS = "a" * 64


@pytest.fixture(scope="module")
def prints(protocol: Protocol, table: Make) -> Take:
    """Fingerprint one table: its ids and cells, and what is other than usual."""

    def take(
        ids: Sequence[str],
        *,
        name: str = "cases",
        study: str = "alvo",
        genesis: str = GENESIS,
        key: bytes = KEY,
        files: Sequence[bytes] = (),
        **cells: Sequence[object],
    ) -> Prints:
        tables, raws = {name: table(ids, name, **cells)}, [(name, sha256_hex(raw)) for raw in files]
        made = fingerprint(tables, protocol, study=study, genesis=genesis, key=key, files=raws)
        return Prints.decode(made.encode())

    return take


def _ids(count: int, prefix: str = "", start: int = 1) -> list[str]:
    return [f"{prefix}{number}" for number in range(start, start + count)]


def _sexes(count: int, seed: int) -> list[str]:
    return random.Random(seed).choices(["female", "male"], k=count)


def _ages(count: int, seed: int, among: int = 100_000) -> list[int]:
    return random.Random(seed).choices(range(among), k=count)


def _counts(cases: int = 0, units: int = 0, digests: int = 0, contents: int = 0, **disjoint: int) -> Shared:
    return Shared(cases, units, disjoint, digests, contents)


# --- within a study


def test_within_a_study_ids_decide(prints: Take) -> None:
    a = prints(["c1", "c2", "c3"], sex=["female", "male", "male"])
    b = prints(["c3", "c4", "c1 "], sex=["female", "male", "male"])
    assert shared_within_study(a, b) == _counts(cases=1)


def test_another_table_study_or_ledger_has_ids_of_its_own(prints: Take) -> None:
    a = prints(_ids(50))
    assert len(a.all("case")) == 50
    assert shared_within_study(a, prints(_ids(50), study="outro")).cases == 0
    assert shared_within_study(a, prints(_ids(50), genesis="b" * 64)).cases == 0
    assert shared_within_study(a, prints(_ids(50), name="registry")).cases == 0


def test_a_unit_in_two_pools_is_seen_and_a_missing_one_is_nobody(prints: Take) -> None:
    a = prints(_ids(4), person=["ana", "ana", "rui", None])
    b = prints(_ids(3, "x"), person=["ana", "Rui", None])
    assert shared_within_study(a, b) == _counts(units=1)


def test_columns_under_disjoint_share_their_values(prints: Take) -> None:
    """`disjoint: [[camera, lens]]`: what is a camera here may be a lens there."""
    a = prints(_ids(2), camera=["k1", "k2"], lens=["l1", None])
    b = prints(_ids(2, "x"), camera=["l1", "k3"], lens=["k2", "k2"])
    assert shared_within_study(a, b).disjoint == {"camera+lens": 2}
    assert shared_within_study(a, prints(_ids(2, "x"), camera=["k3", "k4"])).disjoint == {}
    assert shared_within_study(a, prints(_ids(2, "x"))).disjoint == {}


def test_digests_in_common_are_told(prints: Take) -> None:
    one, two, three = (hashlib.sha256(bytes([value])).hexdigest() for value in range(3))
    a = prints(_ids(3), image=[one, two, None])
    b = prints(_ids(3, "x"), image=[two, three, None])
    assert shared_within_study(a, b) == _counts(digests=1)


def test_contents_in_common_count_beyond_chance(prints: Take) -> None:
    """By the module's formula: of two pools of 14 it takes more than all, 0.52^14 = 1.0e-4; of 30 each it is 2e-9."""
    ages = _ages(30, 1)
    a, b = prints(_ids(30), age=ages), prints(_ids(30, "x"), age=ages)
    assert shared_within_study(a, b) == _counts(contents=30)
    few = prints(_ids(14), age=ages[:14]), prints(_ids(14, "x"), age=ages[:14])
    assert shared_within_study(*few) == _counts()


CROSSED = """
lacre: 1
study: alvo
title: t
question: q
language: en
data: {{identifiable: false, prior_exposure: none}}
tables:
  cases:
    key: case_id
    columns:
      case_id: {{type: text}}
      label: {{type: outcome, positive: "1", negative: "0"}}
      guess: {{type: outcome, positive: "1", negative: "0", from: submission}}
      line: {{type: ordinal, values: [{ten}], is: input}}
      row: {{type: {row}, is: input}}
pools: {{teste: {{tables: [cases]}}}}
analyses:
  p: {{kind: group_fairness, pool: teste, table: cases, label: label, prediction: guess, attributes: [line],
      criteria: [{{id: gap, metric: error, by: [line], max_group_gap: 0.1}}]}}
"""
TEN = ", ".join(f'"{value}"' for value in range(10))


@pytest.mark.parametrize(
    ("row", "contents", "designed"), [("text", 100, 0), (f"category, values: [{TEN}]", 0, 100)]
)
def test_declared_values_alone_are_told_and_do_not_decide(row: str, contents: int, designed: int) -> None:
    """A design may give each pool all combinations, once: of lines and rows, both declared, there are 10 x 10."""
    protocol = parse(CROSSED.format(ten=TEN, row=row).encode())
    pools = []
    for prefix in ("a", "b"):
        lines = [f"{prefix}{n},1,{n // 10},{n % 10}" for n in range(100)]
        raw = "\n".join(["case_id,label,line,row", *lines]).encode()
        cases = read_table(raw, protocol.tables["cases"], "cases", Format.CSV, only="pool")
        pools.append(fingerprint({"cases": cases}, protocol, study="alvo", genesis=GENESIS, key=KEY))
    labels = designed_contents([protocol])
    assert shared_within_study(*pools, designed=labels) == Shared(0, 0, {}, 0, contents, designed)


def test_a_frozen_cohort_is_no_case_by_its_digests_either() -> None:
    """Both pools are compared with the same twenty faces; what they may not share is a face that is judged."""
    image, face = "image: {type: text}\n", "face: {type: text}\n"
    plan = changed(
        PLAN, *COHORT, (image, image.replace("text", "digest")), (face, face.replace("text", "digest"))
    )
    protocol = parse(changed(plan, ("one: {type: text}", "one: {type: digest}")).encode())
    faces = [sha256_hex(bytes([n])) for n in range(20)]
    made = []
    for pool in ("dev", "contraste"):
        own = sha256_hex(pool.encode())
        rows = {
            "pairs": [f"pair_id,one,two,group,same\n{pool},{own},x,a,1"],
            "cohort": ["image,face,subject", *(f"{own},{face},x" for face in faces)],
        }
        tables = {
            name: read_table("\n".join(lines).encode(), protocol.tables[name], name, Format.CSV, only="pool")
            for name, lines in rows.items()
        }
        made.append(fingerprint(tables, protocol, study="faces", genesis=GENESIS, key=KEY))
    assert [len(each.all("digest")) for each in made] == [1, 1]
    assert shared_within_study(*made) == _counts()


def test_a_file_is_its_cases_whatever_its_table_is_called(prints: Take) -> None:
    a = prints(_ids(50), files=[b"the file"])
    b = prints(_ids(50, "x"), name="registry", files=[b"another", b"the file"])
    assert shared_within_study(a, b) == _counts(cases=50)
    assert shared_within_study(a, prints(_ids(50, "x"), name="registry", files=[b"another"])) == _counts()


def test_where_ids_do_not_decide_content_does(prints: Take) -> None:
    ages = _ages(400, 1, among=10**9)
    a, b = prints(_ids(400), age=ages), prints(_ids(400, "x"), name="registry", age=ages)
    assert shared_within_study(a, b).cases == 0
    assert shared_within_study(a, b, ids_decide=False).cases == 400
    unrelated = prints(_ids(400, "x"), name="registry", age=_ages(400, 2, among=10**9))
    assert shared_within_study(a, unrelated, ids_decide=False).cases == 0


# --- in a namespace


def test_in_one_namespace_ids_decide_across_studies(prints: Take) -> None:
    a = prints(_ids(40), name="registry", age=_ages(40, 1))
    b = prints(_ids(40, start=38), name="registry", study="outro", genesis="b" * 64, age=_ages(40, 2))
    assert shared_between(a, b) == 3


def test_in_one_namespace_equal_content_under_other_ids_is_another_case(prints: Take) -> None:
    """Outside the namespace the same content is found; inside it the ids say that these are others."""
    ages = _ages(400, 1, among=10**9)
    registered = prints(_ids(400), name="registry", age=ages)
    others = prints(_ids(400, "x"), name="registry", study="outro", age=ages)
    assert shared_between(registered, others) == 0
    assert shared_between(registered, prints(_ids(400, "x"), study="outro", age=ages)) == 400


# --- between studies


def test_unrelated_people_share_the_ids_1_to_7214(prints: Take) -> None:
    a = prints(_ids(7214), sex=_sexes(7214, 1), age=_ages(7214, 2, among=80))
    b = prints(_ids(7214), study="outro", sex=_sexes(7214, 3), age=_ages(7214, 4, among=80))
    assert shared_between(a, b) == 0


def test_unrelated_files_sorted_alike_are_no_copies(prints: Take) -> None:
    """The same numbers, sorted by sex in both: nine in ten rows of a number agree in sex, by order alone."""
    a = prints(_ids(1000), sex=["female"] * 500 + ["male"] * 500, age=_ages(1000, 2, among=5))
    b = prints(_ids(1000), study="outro", sex=["female"] * 600 + ["male"] * 400, age=_ages(1000, 4, among=5))
    assert shared_between(a, b) == 0


def test_the_same_file_in_another_study_is_found_even_when_contents_repeat(prints: Take) -> None:
    sexes, ages = _sexes(300, 1), _ages(300, 2, among=3)
    a = prints(_ids(300), sex=sexes, age=ages)
    assert shared_between(a, prints(_ids(300), study="outro", sex=sexes, age=ages)) == 300
    assert shared_between(a, prints(_ids(300, "x"), study="outro", sex=sexes, age=ages)) == 0


def test_telling_content_is_found_under_any_id(prints: Take) -> None:
    sexes, ages = _sexes(300, 1), _ages(300, 2, among=10**9)
    a = prints(_ids(300), sex=sexes, age=ages)
    b = prints(_ids(100, "x"), study="outro", sex=sexes[:100], age=ages[:100])
    assert shared_between(a, b) == shared_between(b, a) == 100


def test_two_cases_with_their_ids_and_telling_content_are_enough(prints: Take) -> None:
    ages = _ages(1000, 1, among=10**9)
    a = prints(_ids(1000), age=ages)
    b = prints(_ids(1000), study="outro", age=ages[:2] + _ages(998, 2, among=10**9))
    assert shared_between(a, b) == 2


def test_one_digest_in_common_is_a_case_in_common(prints: Take) -> None:
    one, two, three = (hashlib.sha256(bytes([value])).hexdigest() for value in range(3))
    a = prints(_ids(2), image=[one, two])
    assert shared_between(a, prints(_ids(2, "x"), study="outro", image=[two, three])) == 1


def _long(seed: int, length: int = chance.PASSAGE) -> str:
    return "".join(random.Random(seed).choices("abcdefghij ", k=length - 1)) + "."


def test_one_long_text_in_common_is_a_case_in_common(prints: Take) -> None:
    a = prints(_ids(20), note=[_long(seed) for seed in range(20)])
    b = prints(_ids(20, "x"), study="outro", note=[_long(seed) for seed in range(19, 39)])
    assert shared_between(a, b) == 1
    short_a = prints(_ids(20), note=[_long(seed, 127) for seed in range(20)])
    short_b = prints(_ids(20, "x"), study="outro", note=[_long(seed, 127) for seed in range(19, 39)])
    assert shared_between(short_a, short_b) == 0


def test_boilerplate_is_no_case(prints: Take) -> None:
    """A few long texts that come twice within a pool: two more that come once in each are no news."""
    twice = [_long(seed) for seed in (1, 2, 3)] * 2
    a = prints(_ids(22), note=[*twice, *(_long(seed) for seed in range(100, 116))])
    b = prints(_ids(22, "x"), study="outro", note=[_long(seed) for seed in range(114, 136)])
    assert shared_between(a, b) == 0


def test_other_input_columns_are_other_content(prints: Take) -> None:
    ages = _ages(300, 1)
    a = prints(_ids(300), age=ages)
    assert shared_between(a, prints(_ids(300), study="outro", age=ages, sex=["female"] * 300)) == 0


def test_a_case_that_several_pools_hold_counts_once(prints: Take) -> None:
    ages = _ages(300, 1, among=10**9)
    pool = prints(_ids(300), age=ages)
    others = [
        prints(_ids(100, "x"), study="a", age=ages[:100]),
        prints(_ids(100, "y"), study="b", age=ages[50:150]),
        prints(_ids(100, "z"), study="c", age=_ages(100, 5, among=10**9)),
    ]
    assert exposed(pool, others) == 150
    assert exposed(pool, []) == 0


# --- what is hashed, and what never is


def test_a_print_is_the_documented_hmac(prints: Take) -> None:
    def prefixed(*parts: str) -> bytes:
        return b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in parts)

    message = prefixed("lacre fingerprint 1", "case", "study", GENESIS, "alvo", "cases", "çase-1")
    expected = hmac.new(KEY, message, hashlib.sha256).digest()[:16]
    assert prints(["çase-1"]).section("case", "cases").tobytes() == expected


def test_no_label_and_nothing_submitted_is_in_any_print(prints: Take) -> None:
    cells = {"sex": _sexes(20, 1), "age": _ages(20, 2)}
    plain = prints(_ids(20), **cells).encode()
    for labels in ([0] * 20, [1] * 20, [None] * 20):
        assert prints(_ids(20), label=labels, prediction=labels, **cells).encode() == plain


def test_only_a_key_makes_prints_comparable(prints: Take) -> None:
    a, b = prints(_ids(3)), prints(_ids(3), key=KEY[::-1])
    assert set(a.all("case").tolist()).isdisjoint(b.all("case").tolist())
    for compare in (shared_within_study, shared_between):
        with pytest.raises(PrintsInvalid):
            compare(a, b)


def _same_content(a: Prints, b: Prints) -> bool:
    (label,) = a.labels("content")
    assert b.labels("content") == (label,)
    return a.section("content", label).tobytes() == b.section("content", label).tobytes()


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ação", "AC\u0327A\u0303O"), (" STRASSE\t", "straße"), ("x", "X\u00a0"), ("İ", "i\u0307")],
)
def test_text_is_compared_without_case_accent_form_or_blanks_around(
    prints: Take, one: str, other: str
) -> None:
    assert _same_content(prints(["1"], note=[one]), prints(["2"], note=[other]))


@pytest.mark.parametrize(("one", "other"), [("a b", "ab"), ("a", "á"), ("1", "1.0"), ("a", None)])
def test_other_text_is_other_content(prints: Take, one: str, other: str | None) -> None:
    ages = [7]
    assert not _same_content(prints(["1"], note=[one], age=ages), prints(["2"], note=[other], age=ages))


def test_numbers_and_times_are_compared_by_value(prints: Take) -> None:
    assert _same_content(prints(["1"], age=["25"]), prints(["2"], age=["25.0"]))
    assert not _same_content(prints(["1"], age=["25"]), prints(["2"], age=["25.5"]))
    assert not _same_content(prints(["1"], age=["1e300"]), prints(["2"], age=["2e300"]))
    early, late = "2026-09-02T10:00:00", "2026-09-02T10:00:00.000001"
    assert _same_content(prints(["1"], seen=[early]), prints(["2"], seen=[early]))
    assert not _same_content(prints(["1"], seen=[early]), prints(["2"], seen=[late]))


def test_an_undeclared_category_is_neither_missing_nor_declared(prints: Take) -> None:
    forms = [prints(["1"], age=[1], sex=[sex]) for sex in ("female", "male", "other", None)]
    (label,) = forms[0].labels("content")
    assert len({form.section("content", label).tobytes() for form in forms}) == 4


def test_a_row_without_any_input_has_no_content(prints: Take) -> None:
    made = prints(_ids(3), age=[1, None, None], sex=[None, None, "male"])
    (label,) = made.labels("content")
    assert len(made.section("content", label)) == len(made.section("row", label)) == 2


def test_without_input_columns_there_is_no_content_and_no_digest(prints: Take) -> None:
    made = prints(_ids(3), label=[1, 0, 1])
    assert {kind for kind, _label in made.sections} == {"case"}
    lone = prints(["1"], age=[4])
    assert [len(lone.all(kind)) for kind in KINDS if kind in ("row", "next")] == [1, 0]


def test_names_among_the_inputs_are_no_content(table: Make) -> None:
    """Were ids content, unrelated people numbered from 1 would be alike and unique, and seem the same."""
    text = """
lacre: 1
study: alvo
title: t
question: q
language: en
data: {identifiable: false, prior_exposure: none}
tables:
  cases:
    key: case_id
    unit: person
    columns:
      case_id: {type: text, is: input}
      person:  {type: text, is: input}
      label:   {type: outcome, positive: "1", negative: "0"}
      guess:   {type: outcome, positive: "1", negative: "0", from: submission}
      sex:     {type: category, values: [female, male], is: input}
pools: {teste: {tables: [cases]}}
analyses:
  p: {kind: group_fairness, pool: teste, table: cases, label: label, prediction: guess, attributes: [sex],
      criteria: [{id: gap, metric: error, by: [sex], max_group_gap: 0.1}]}
"""
    protocol = parse(text.encode())
    pools = []
    for seed in (1, 2):
        cells = {"person": _ids(200), "sex": _sexes(200, seed)}
        tables = {"cases": table(_ids(200), **cells)}
        pools.append(fingerprint(tables, protocol, study=f"s{seed}", genesis=GENESIS, key=KEY))
    assert pools[0].labels("content") == ('[null,"sex"]',)
    assert shared_between(*pools) == 0


# --- a submission's ids


def test_a_submissions_ids_are_matched_without_the_pool(
    prints: Take, protocol: Protocol, table: Make
) -> None:
    pool = prints(_ids(10), sex=_sexes(10, 1))
    submission = table([*_ids(7), "foreign", "1 "], prediction=[1] * 9)
    declared = protocol.tables["cases"]
    found = match_submission_ids(pool, "cases", declared, submission, study="alvo", genesis=GENESIS, key=KEY)
    assert (found.known, found.unknown, found.absent) == (7, 2, 3)
    found = match_submission_ids(
        pool, "registry", declared, submission, study="alvo", genesis=GENESIS, key=KEY
    )
    assert (found.known, found.unknown, found.absent) == (0, 9, 0)
    with pytest.raises(PrintsInvalid):
        match_submission_ids(
            pool, "cases", declared, submission, study="alvo", genesis=GENESIS, key=bytes(32)
        )


def test_a_namespaced_tables_submission_is_matched_too(prints: Take, protocol: Protocol, table: Make) -> None:
    pool = prints(_ids(10), name="registry")
    found = match_submission_ids(
        pool,
        "registry",
        protocol.tables["registry"],
        table(_ids(3), "registry"),
        study="alvo",
        genesis=GENESIS,
        key=KEY,
    )
    assert (found.known, found.unknown, found.absent) == (3, 0, 7)
