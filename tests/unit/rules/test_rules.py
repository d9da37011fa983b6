"""Each rule of the law by its number: what it allows, what it refuses, and with which code."""

from collections.abc import Callable
from typing import Any

import pytest

from lacre.errors import (
    AlreadyRevealed,
    AnalysisNotDeclared,
    ExposesSealedPool,
    FinishDiffers,
    GuardaByGateOnly,
    InputsTakeNothing,
    KeyNotEntitled,
    LabelsBeforeRegistration,
    LabelsInTheFuture,
    LawError,
    NotBetweenGroups,
    NothingToReveal,
    PoolAlreadySealed,
    PoolNotDeclared,
    PoolNotSealed,
    PoolTablesDiffer,
    ProtocolNotInForce,
    RecordInvalid,
    RevealAlone,
    RevealOnlyTeste,
    RunsOneAnalysis,
    SealedAsDev,
    SharedCases,
    StudyAlreadyRegistered,
    StudyNotRegistered,
    StudySlugDiffers,
    SubmittedTablesDiffer,
    SystemsDiffer,
)
from lacre.rules.answers import Engine, SealDecision, SealFacts
from lacre.rules.verdicts import settle

World = Any


def test_rule_01_nothing_of_a_study_precedes_its_registration(world: World) -> None:
    with pytest.raises(StudyNotRegistered):
        world.seal("dev")
    with pytest.raises(StudyNotRegistered):
        world.reveal()


def test_rule_01_a_study_is_registered_once(registered: World) -> None:
    with pytest.raises(StudyAlreadyRegistered) as again:
        registered.register()
    assert again.value.code == "study-already-registered"
    with pytest.raises(StudyAlreadyRegistered) as other:
        registered.register(registered.add(exposure="the authors saw it"))
    assert other.value.code == "study-has-another-plan"


def test_rule_01_a_protocol_is_registered_under_its_own_name(world: World) -> None:
    with pytest.raises(StudySlugDiffers):
        world.register(world.add(study="elsewhere"))


def test_rule_02_only_declared_pools_are_sealed(registered: World) -> None:
    with pytest.raises(PoolNotDeclared):
        registered.seal("corpus")


def test_rule_02_a_pool_is_sealed_once(registered: World) -> None:
    registered.seal("teste")
    with pytest.raises(PoolAlreadySealed):
        registered.seal("teste")


@pytest.mark.parametrize("tables", [(), ("cases", "more"), ("more",)])
def test_rule_02_a_seal_holds_exactly_the_declared_tables(registered: World, tables: tuple[str, ...]) -> None:
    with pytest.raises(PoolTablesDiffer):
        registered.seal("teste", tables=tables)


@pytest.mark.parametrize("pool", ["teste", "contraste", "guarda"])
def test_rule_03_early_labels_are_refused_outside_dev(registered: World, pool: str) -> None:
    with pytest.raises(LabelsBeforeRegistration) as refused:
        registered.seal(pool, early_labels={"cases": 7})
    assert refused.value.fields["count"] == 7
    assert registered.seal("dev", early_labels={"cases": 7}).standing == "dev"
    assert registered.seal(pool, early_labels={"cases": 7}, as_dev=True).standing == "dev"


@pytest.mark.parametrize("pool", ["teste", "contraste", "guarda"])
def test_rule_03_labels_in_the_future_are_refused_outside_dev(registered: World, pool: str) -> None:
    with pytest.raises(LabelsInTheFuture) as refused:
        registered.seal(pool, late_labels={"cases": 7})
    assert refused.value.fields["count"] == 7
    assert registered.seal("dev", late_labels={"cases": 7}).standing == "dev"
    assert registered.seal(pool, late_labels={"cases": 7}, as_dev=True).standing == "dev"
    assert "late_labels" not in SealFacts(rows={"cases": 7}).as_json(), "entries of before have no such fact"


def test_rule_05_reads_are_numbered_and_need_a_seal(registered: World) -> None:
    with pytest.raises(PoolNotSealed):
        registered.read("inputs", "teste")
    registered.seal("teste")
    assert [registered.read("inputs", "teste").number for _ in range(2)] == [1, 2]
    assert registered.reveal().number == 1


def test_rule_05_keys_do_only_what_their_role_allows(registered: World) -> None:
    registered.seal("teste", by=registered.custodian)
    with pytest.raises(KeyNotEntitled):
        registered.reveal(by=registered.custodian)
    with pytest.raises(KeyNotEntitled):
        registered.reveal(by="f" * 64)


def test_rule_05_each_needed_system_submits_every_needed_table_once(
    sealed: World, submitted: Callable[..., Any]
) -> None:
    for wrong in ((), (submitted(), submitted()), (submitted("unknown"),), (submitted(), submitted("more"))):
        with pytest.raises(SystemsDiffer):
            sealed.reveal(submissions=wrong)
    with pytest.raises(SubmittedTablesDiffer):
        sealed.reveal(submissions=(submitted(table="more"),))
    assert sealed.reveal(submissions=(submitted(),)).read_class == "teste"


def test_rule_05_inputs_take_nothing(sealed: World, submitted: Callable[..., Any]) -> None:
    sealed.reveal()
    for wrong in ({"submissions": (submitted(),)}, {"finishes": sealed.index - 1}):
        with pytest.raises(InputsTakeNothing):
            sealed.read("inputs", "teste", **wrong)
    with pytest.raises(InputsTakeNothing):
        sealed.read("inputs", "teste", "parity")


def test_rule_09_a_run_is_of_one_analysis(sealed: World) -> None:
    for analyses in ((), ("differential", "differential"), ("differential", "parity")):
        with pytest.raises(RunsOneAnalysis):
            sealed.read("run", "contraste", *analyses)


def test_rule_06_the_first_read_is_teste_and_later_ones_dev(sealed: World) -> None:
    first = sealed.reveal()
    assert (first.read_class, first.number, first.confirmatory, first.burns) == ("teste", 1, True, False)
    assert sealed.standing("teste") == "teste"
    with pytest.raises(AlreadyRevealed):
        sealed.reveal()
    assert sealed.standing("teste") == "teste", "a refusal spends nothing"
    second = sealed.reveal(accept_dev=True)
    assert (second.read_class, second.number, second.confirmatory, second.burns) == ("dev", 2, False, True)
    assert sealed.standing("teste") == "dev"
    third = sealed.reveal(accept_dev=True)
    assert (third.number, third.burns) == (3, False), "a pool burns once"


def test_rule_06_accept_dev_changes_nothing_on_an_unread_pool(sealed: World) -> None:
    assert sealed.reveal(accept_dev=True).read_class == "teste"


def test_rule_06_only_teste_is_revealed_and_only_by_reveal(sealed: World) -> None:
    with pytest.raises(RevealOnlyTeste):
        sealed.read("reveal", "dev", "parity")
    with pytest.raises(RevealAlone):
        sealed.run("parity", "teste")
    with pytest.raises(NothingToReveal):
        sealed.read("reveal", "teste", "rehearsal")
    assert sealed.reveal().read_class == "teste", "and nothing of that was a read"


def test_rule_06_inputs_never_spend_a_pool(sealed: World) -> None:
    for _ in range(3):
        assert sealed.read("inputs", "teste").read_class == "inputs"
    assert sealed.reveal().read_class == "teste"


def test_rule_09_the_first_submission_of_each_system_to_contraste_is_confirmatory(
    sealed: World, submitted: Callable[..., Any]
) -> None:
    first = sealed.run("differential", "contraste", submissions=(submitted(),))
    assert (first.read_class, first.confirmatory, first.exploratory) == ("contraste", True, ())
    assert sealed.run("differential", "contraste", submissions=(submitted(),)).confirmatory, (
        "no other submission"
    )
    later = sealed.run("differential", "contraste", submissions=(submitted(digest="a" * 64),))
    assert (later.confirmatory, later.exploratory) == (False, ("later-submission",))
    assert sealed.standing("contraste") == "contraste"


def test_rule_09_contraste_takes_no_analysis_that_compares_no_groups(world: World) -> None:
    digest = world.add(gap="worst_group: {max: 0.3}")
    with pytest.raises(NotBetweenGroups):
        world.register(digest)


def test_rule_10_guarda_is_not_run(sealed: World) -> None:
    with pytest.raises(GuardaByGateOnly):
        sealed.run("parity", "guarda")


def test_rule_11_requests_name_the_protocol_in_force(sealed: World) -> None:
    with pytest.raises(ProtocolNotInForce):
        sealed.seal("dev", protocol="a" * 64)
    with pytest.raises(ProtocolNotInForce):
        sealed.reveal(protocol="a" * 64)
    with pytest.raises(ProtocolNotInForce):
        sealed.read("inputs", "teste", protocol="a" * 64)


def test_rule_11_analyses_are_the_registered_ones(sealed: World) -> None:
    with pytest.raises(AnalysisNotDeclared):
        sealed.run("invented", "dev")


@pytest.mark.parametrize("pool", ["teste", "contraste", "guarda"])
def test_rule_12_shared_and_exposed_cases_are_refused_at_the_seal(
    registered: World, overlap: Callable[..., Any], pool: str
) -> None:
    registered.seal("dev")
    shared = (overlap("parity", "dev"),)
    with pytest.raises(SharedCases) as refused:
        registered.seal(pool, shared=shared)
    assert "3 cases of parity/dev" in refused.value.message
    with pytest.raises(SharedCases):
        registered.seal(pool, exposed=(overlap(),))
    assert registered.seal(pool, shared=shared, exposed=(overlap(),), as_dev=True).standing == "dev"


def test_rule_12_dev_may_not_take_cases_of_a_pool_that_stands_apart(
    registered: World, overlap: Callable[..., Any]
) -> None:
    registered.seal("teste")
    with pytest.raises(SharedCases):
        registered.seal("dev", shared=(overlap("parity", "teste"),))
    assert registered.seal("dev", exposed=(overlap(),)).standing == "dev", "dev may hold exposed cases"


@pytest.mark.parametrize("kind", ["digests", "contents"])
def test_rule_12_what_is_alike_under_other_ids_bars_where_it_decides(
    registered: World, overlap: Callable[..., Any], kind: str
) -> None:
    """Entries of the first version only told of it, and are judged as they were: by the fact that is not there."""
    told = overlap("parity", "dev", kind)
    decides = told.model_copy(update={"decides": True})
    registered.seal("dev")
    for pool in ("teste", "contraste", "guarda"):
        with pytest.raises(SharedCases) as refused:
            registered.seal(pool, shared=(decides,))
        assert f"3 {kind} of parity/dev" in refused.value.message
        assert "--as-dev" in refused.value.way_out
        assert registered.seal(pool, shared=(told,)).standing == pool
    assert "decides" not in told.as_json()
    assert registered.reveal(shared=(told,)).read_class == "teste"


def test_rule_12_nor_may_dev_hold_the_same_cases_by_other_names(
    registered: World, overlap: Callable[..., Any]
) -> None:
    registered.seal("teste")
    decides = overlap("parity", "teste", "contents").model_copy(update={"decides": True})
    with pytest.raises(SharedCases):
        registered.seal("dev", shared=(decides,))
    registered.seal("dev")
    with pytest.raises(SharedCases):
        registered.reveal(shared=(decides.model_copy(update={"pool": "dev"}),))


def test_rule_12_exposure_is_looked_at_again_when_teste_is_read(
    sealed: World, overlap: Callable[..., Any]
) -> None:
    with pytest.raises(SharedCases):
        sealed.reveal(exposed=(overlap(),))
    read = sealed.reveal(exposed=(overlap(),), accept_dev=True)
    assert (read.read_class, read.burns, read.confirmatory) == ("dev", True, False)


def test_rule_12_exposing_another_study_is_asked_for(sealed: World, overlap: Callable[..., Any]) -> None:
    exposes = (overlap("other", "teste"),)
    with pytest.raises(ExposesSealedPool):
        sealed.reveal(exposes=exposes)
    with pytest.raises(ExposesSealedPool):
        sealed.run("rehearsal", "dev", exposes=exposes)
    assert sealed.reveal(exposes=exposes, accept_exposure=True).read_class == "teste"


def test_rule_14_a_short_pool_is_a_deviation_by_itself(registered: World) -> None:
    decision = registered.seal("teste", rows=99)
    assert isinstance(decision, SealDecision)
    (short,) = decision.shortfall
    assert (short.table, short.planned, short.rows) == ("cases", 100, 99)


def test_rule_14_as_planned_or_more_is_none(registered: World) -> None:
    assert registered.seal("teste", rows=100).shortfall == ()


def test_rule_15_another_pool_makes_a_result_exploratory(sealed: World) -> None:
    rehearsal = sealed.run("rehearsal", "dev")
    assert (rehearsal.exploratory, rehearsal.confirmatory) == ((), False)
    assert settle("PASS", rehearsal) == "PASS"
    elsewhere = sealed.run("parity", "dev")
    assert elsewhere.exploratory == ("not-the-registered-pool",)
    assert settle("PASS", elsewhere) == "INSUFFICIENT_EVIDENCE"
    assert settle("FAIL", elsewhere) == "FAIL"
    assert settle("MANUAL_REVIEW", elsewhere) == "MANUAL_REVIEW"


def test_rule_15_a_pool_sealed_as_dev_gives_no_confirmation(registered: World) -> None:
    registered.seal("teste", as_dev=True)
    with pytest.raises(SealedAsDev):
        registered.reveal()
    read = registered.reveal(accept_dev=True)
    assert (read.read_class, read.confirmatory) == ("dev", False)
    assert settle("PASS", read) == "INSUFFICIENT_EVIDENCE"


@pytest.mark.parametrize("how", ["declared", "remembered"])
def test_rule_15_prior_exposure_makes_results_retrospective(world: World, how: str) -> None:
    world.register(world.add(exposure="published in 2016" if how == "declared" else "none"))
    world.seal("teste")
    read = world.reveal(remembered=0 if how == "declared" else 5)
    assert (read.read_class, read.retrospective, read.confirmatory) == ("teste", True, False)
    assert settle("PASS", read) == "PASS", "the verdict stays as computed"


def test_rule_16_a_spent_read_without_a_result_may_be_finished(sealed: World) -> None:
    first = sealed.reveal()
    entry = sealed.index - 1
    again = sealed.reveal(finishes=entry)
    assert (again.read_class, again.number, again.confirmatory) == (first.read_class, 1, True)
    once_more = sealed.reveal(finishes=entry)
    assert once_more.number == 1
    sealed.result(sealed.index - 1)
    with pytest.raises(FinishDiffers):
        sealed.reveal(finishes=entry)
    assert sealed.reveal(accept_dev=True).number == 2, "attempts are the same read"


def test_rule_16_only_for_the_same_request_and_inputs(sealed: World, submitted: Callable[..., Any]) -> None:
    sealed.reveal(submissions=(submitted(digest="a" * 64),))
    entry = sealed.index - 1
    for wrong in (
        {"submissions": (submitted(digest="b" * 64),)},
        {"submissions": (submitted(digest="a" * 64),), "accept_dev": True},
    ):
        with pytest.raises(FinishDiffers):
            sealed.reveal(finishes=entry, **wrong)
    with pytest.raises(FinishDiffers):
        sealed.reveal(finishes=entry - 1, submissions=(submitted(digest="a" * 64),))


def test_rule_16_another_engine_makes_it_a_manual_review(sealed: World) -> None:
    sealed.reveal()
    entry = sealed.index - 1
    again = sealed.reveal(finishes=entry, engine=Engine(lacre="2", statistics="1"))
    assert again.review == ("engine-changed",)
    assert settle("PASS", again) == "MANUAL_REVIEW"


def test_statistics_changed_since_registration_are_a_manual_review(sealed: World) -> None:
    read = sealed.reveal(engine=Engine(lacre="1", statistics="2"))
    assert read.review == ("statistics-changed",)


def test_rule_17_results_are_given_once_and_stay(sealed: World) -> None:
    sealed.reveal()
    read = sealed.index - 1
    sealed.result(read)
    with pytest.raises(RecordInvalid):
        sealed.result(read)
    sealed.reveal(accept_dev=True)
    pool = sealed.state.study.pools["teste"]
    assert pool.reads[0].state == "FAIL"
    assert pool.result_of(read) is not None


def test_every_refusal_names_its_rule() -> None:
    def leaves(error: type[LawError]) -> list[type[LawError]]:
        below = error.__subclasses__()
        return [leaf for each in below for leaf in leaves(each)] if below else [error]

    refusals = leaves(LawError)
    assert len(refusals) > 20
    assert {each.rule for each in refusals} <= set(range(1, 20))
    assert all(each.__doc__ for each in refusals)
