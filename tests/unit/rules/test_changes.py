"""What changes a study or who may act in it: rules 1, 2, 7, 9, 13, 14, 16, 17, and the keys."""

from typing import Any

import pytest

from lacre.canonical import parse_canonical, sha256_hex
from lacre.errors import (
    AmendmentBurns,
    CorrectsNoResult,
    CriterionInfeasible,
    EntryNotOfStudy,
    ErratumDiffers,
    ErratumTablesUnknown,
    FieldsLocked,
    FinishDiffers,
    KeyAlreadyEnrolled,
    KeyNotActive,
    KeyNotEntitled,
    KeyRolesMixed,
    KeyUnsound,
    LastKeyOfRole,
    NothingAmended,
    NothingToErase,
    NothingToReplace,
    PoolAlreadyRead,
    PoolAlreadySealed,
    ProtocolNotInForce,
    ReplacementUnexplained,
    RequestOutdated,
    RewrapDiffers,
    RotationUnderWay,
    SealedOtherwise,
    StudySlugDiffers,
    StudyWithdrawn,
)
from lacre.ledger.keys import PrivateKey
from lacre.protocol.difference import difference
from lacre.rules.answers import AmendDecision, Engine, Infeasible, KeyDecision, RewrapDecision, WordsDecision
from lacre.rules.changes import difference_document
from lacre.rules.custody import SECOND_KEYHOLDER, SELF_HELD
from lacre.rules.keys import active

from .conftest import BROKER, CUSTODIAN, LOG, NEW, PERSON, TEMPLATE, Z, one_submission

World = Any
NEXT = PrivateKey.from_seed(b"\x06" * 32).public
PLAN = TEMPLATE.format(study="parity", exposure="none", gap="max_group_gap: 0.05")


def changed(world: World, *changes: tuple[str, str], plan: str = PLAN) -> str:
    """The study's protocol with words of it replaced, as a document; its hash."""
    for old, new in changes:
        assert plan.count(old) >= 1, old
        plan = plan.replace(old, new, 1)
    return str(world.put(plan))


TITLE = ("title: Errors by sex", "title: Errors, by sex")
PARITY_BAR = ("criteria: [{id: gap, metric: error, by: [sex], max_group_gap: 0.05}]",
              "criteria: [{id: gap, metric: error, by: [sex], max_group_gap: 0.2}]")  # fmt: skip
LABEL = ('label: {type: outcome, positive: "1", negative: "0"}',
         'label: {type: outcome, positive: ["1", "yes"], negative: "0"}')  # fmt: skip


def rehearsal_bar(plan: str = PLAN) -> str:
    """The plan with another bar in the analysis on `dev` alone."""
    head, mark, tail = plan.partition("  rehearsal:")
    return head + mark + tail.replace("max_group_gap: 0.05", "max_group_gap: 0.2", 1)


# --- rule 1: infeasible criteria ---------------------------------------------------------------------------


def test_rule_01_a_criterion_that_only_comes_out_one_way_needs_a_reason(world: World) -> None:
    never = Infeasible(analysis="parity", criterion="gap", passes=False, fails=True)
    with pytest.raises(CriterionInfeasible) as refused:
        world.register(infeasible=(never,))
    assert "parity.gap can pass at no outcome" in refused.value.message
    world.register(infeasible=(never,), accept_infeasible=Z)
    assert world.state.study.in_force.accepted == Z


def test_rule_01_an_amendment_is_held_to_the_same(registered: World) -> None:
    never = Infeasible(analysis="parity", criterion="gap", passes=True, fails=False)
    new = changed(registered, PARITY_BAR)
    with pytest.raises(CriterionInfeasible, match="can fail at no outcome"):
        registered.amend(new, infeasible=(never,))
    registered.amend(new, infeasible=(never,), accept_infeasible=Z)


# --- rule 2: replacement, handing over ---------------------------------------------------------------------


def test_rule_02_a_pool_is_replaced_until_its_first_read(registered: World) -> None:
    registered.seal("teste")
    first = registered.state.study.pools["teste"].sealed.entry
    with pytest.raises(PoolAlreadySealed):
        registered.seal("teste")
    with pytest.raises(PoolAlreadySealed):
        registered.seal("teste", replaces=first + 7)
    registered.read("inputs", "teste")
    registered.seal("teste", 90, replaces=first, reason=Z)
    pool = registered.state.study.pools["teste"]
    assert [sealed.entry for sealed in pool.replaced] == [first]
    assert (pool.sealed.facts.rows, pool.standing) == ({"cases": 90}, "teste")
    assert [read.read_class for read in pool.reads] == ["inputs"]
    registered.reveal()
    with pytest.raises(PoolAlreadyRead) as refused:
        registered.seal("teste")
    assert "--replace" not in refused.value.way_out, "it would be refused next"
    with pytest.raises(PoolAlreadyRead) as refused:
        registered.seal("teste", replaces=pool.sealed.entry, reason=Z)
    assert refused.value.rule == 2


def test_rule_02_a_read_is_of_the_seal_its_signer_means(registered: World) -> None:
    registered.seal("teste")
    for purpose in ("inputs", "reveal"):
        with pytest.raises(RequestOutdated):
            registered.read(purpose, "teste", *(["parity"] * (purpose == "reveal")), ciphertext="1" * 64)
    assert registered.reveal(ciphertext=Z).read_class == "teste"


def test_rule_02_a_read_that_names_no_seal_is_of_one_its_signer_had_seen(registered: World) -> None:
    """The entry of the seal is among the first `size` ones, or the request was signed before it."""
    registered.seal("teste")
    sealed = registered.state.study.pools["teste"].sealed.entry
    with pytest.raises(RequestOutdated) as refused:
        registered.reveal(seen={"size": sealed, "root": Z})
    assert (refused.value.rule, refused.value.fields["entry"]) == (2, sealed)
    registered.seal("teste", replaces=sealed, reason=Z)
    with pytest.raises(RequestOutdated):
        registered.read("inputs", "teste", seen={"size": sealed + 1, "root": Z})
    assert registered.reveal(seen={"size": sealed + 2, "root": Z}).read_class == "teste"


def test_rule_02_a_replacement_replaces_something(registered: World) -> None:
    with pytest.raises(NothingToReplace):
        registered.seal("teste", replaces=1)


def test_rule_02_a_replacement_says_why(registered: World) -> None:
    registered.seal("teste")
    entry = registered.state.study.pools["teste"].sealed.entry
    with pytest.raises(ReplacementUnexplained):
        registered.seal("teste", replaces=entry)


def test_rule_02_a_replacement_may_make_the_pool_dev(registered: World) -> None:
    registered.seal("teste")
    entry = registered.state.study.pools["teste"].sealed.entry
    registered.seal("teste", replaces=entry, reason=Z, as_dev=True)
    assert registered.standing("teste") == "dev"


@pytest.mark.parametrize(
    "change",
    [
        ("key: case_id", "key: [case_id, sex]"),
        ("case_id: {type: text}", "case_id: {type: text}\n      more: {type: number}"),
        ("values: [female, male], is: input", "values: [female, male]"),
        ("    key: case_id", "    key: case_id\n    delimiter: ';'"),
        ("    key: case_id", "    key: case_id\n    unit: sex"),
    ],
)
def test_rule_02_what_is_declared_otherwise_is_sealed_again(sealed: World, change: tuple[str, str]) -> None:
    sealed.amend(changed(sealed, change))
    with pytest.raises(SealedOtherwise):
        sealed.reveal()
    entry = sealed.state.study.pools["teste"].sealed.entry
    sealed.seal("teste", replaces=entry, reason=Z)
    assert sealed.reveal().read_class == "teste"


@pytest.mark.parametrize(
    "change",
    [
        LABEL,
        ("values: [female, male]", "values: [female, male, other]"),
        ("    key: case_id", "    key: case_id\n    exclude: [{column: sex, missing: true}]"),
        ("planned: {cases: 100}", "planned: {cases: 90}"),
    ],
)
def test_rule_02_what_reads_the_same_files_needs_no_second_seal(
    sealed: World, change: tuple[str, str]
) -> None:
    sealed.amend(changed(sealed, change))
    assert sealed.reveal().read_class == "teste"


def test_rule_02_a_column_may_be_left_out_of_the_plan_but_no_input(sealed: World) -> None:
    """`extra` was sealed with the files, which do not change when nobody asks for it any more."""
    world = sealed
    plan = PLAN.replace("case_id: {type: text}", "case_id: {type: text}\n      extra: {type: number}", 1)
    world.amend(world.put(plan))
    world.seal("teste", replaces=world.state.study.pools["teste"].sealed.entry, reason=Z)
    world.amend(world.put(PLAN))
    assert world.reveal().read_class == "teste"


def test_rule_02_a_pool_is_handed_over_whole(sealed: World) -> None:
    sealed.reveal()
    with pytest.raises(RewrapDiffers):
        sealed.rewrap("teste", ("age1other",), ())
    with pytest.raises(RewrapDiffers):
        sealed.rewrap("teste", ("age1other",), (Z, "2" * 64))
    with pytest.raises(RewrapDiffers):
        sealed.rewrap("teste", (), (Z,))
    with pytest.raises(KeyNotEntitled):
        sealed.rewrap("teste", ("age1other",), (Z,), by=BROKER.keyid)
    # The submission of this world has the pool's own digest, so that one key opens all there is.
    decision = sealed.rewrap("teste", ("age1other",), (Z,), by=CUSTODIAN.keyid)
    assert decision == RewrapDecision(custody=SELF_HELD), "the ledger's own wrapped key is still there"
    pool = sealed.state.study.pools["teste"]
    assert (pool.recipients, pool.wrapped_keys) == (("age1other",), {Z: "1" * 64})


def test_rule_02_a_pool_that_was_never_the_ledgers_own_is_a_second_keyholders(registered: World) -> None:
    registered.seal("teste", recipients=("age1custodian",))
    assert registered.rewrap("teste", ("age1other",), (Z,)) == RewrapDecision(custody=SECOND_KEYHOLDER)
    assert registered.rewrap("teste", ("age1",), (Z,)) == RewrapDecision(custody=SELF_HELD)


# --- rules 7, 9, 13, 14: amendments ------------------------------------------------------------------------


def test_rule_07_an_amendment_before_any_read_burns_nothing(sealed: World) -> None:
    decision = sealed.amend(changed(sealed, PARITY_BAR))
    assert isinstance(decision, AmendDecision)
    assert (decision.version, decision.burns, decision.known) == (2, (), ())
    assert sealed.reveal().confirmatory


@pytest.mark.parametrize("change", [PARITY_BAR, LABEL, ("identifiable: false", "identifiable: true")])
def test_rule_07_after_the_read_what_teste_uses_burns_it(sealed: World, change: tuple[str, str]) -> None:
    sealed.reveal()
    sealed.result(sealed.index - 1)
    new = changed(sealed, change)
    with pytest.raises(AmendmentBurns) as refused:
        sealed.amend(new)
    assert refused.value.rule == 7
    assert sealed.standing("teste") == "teste"
    decision = sealed.amend(new, accept_burn=True)
    assert decision.burns == ("teste",)
    assert [(k.pool, k.read_class, k.count) for k in decision.known] == [("teste", "teste", 1)]
    pool = sealed.state.study.pools["teste"]
    assert (pool.standing, pool.burned) == ("dev", sealed.index - 1)
    assert pool.reads[0].decision.confirmatory, "the earlier result stands as reported at the time"
    assert sealed.reveal(accept_dev=True).read_class == "dev"


def test_rule_07_what_no_analysis_of_teste_uses_burns_nothing(sealed: World) -> None:
    sealed.reveal()
    for new in (changed(sealed, TITLE), sealed.put(rehearsal_bar())):
        assert sealed.amend(new).burns == ()
    assert sealed.standing("teste") == "teste"


def test_rule_07_a_pool_that_is_dev_is_not_burned_again(sealed: World) -> None:
    sealed.reveal()
    sealed.reveal(accept_dev=True)
    assert sealed.amend(changed(sealed, PARITY_BAR)).burns == ()


def test_rule_09_an_analysis_amended_after_contraste_was_read_is_exploratory(sealed: World) -> None:
    assert sealed.run("differential", "contraste").confirmatory
    head, mark, tail = PLAN.partition("  differential:")
    sealed.amend(sealed.put(head + mark + tail.replace("0.05", "0.2", 1)))
    again = sealed.run("differential", "contraste")
    assert again.exploratory == ("amended-since-read",)
    assert not again.confirmatory


def test_rule_09_an_amendment_of_something_else_leaves_contraste(sealed: World) -> None:
    sealed.run("differential", "contraste")
    sealed.amend(changed(sealed, TITLE))
    assert sealed.run("differential", "contraste").confirmatory


def test_rule_13_what_is_locked_is_not_amended(world: World) -> None:
    locked = PLAN + "locked: [analyses.parity.criteria.gap, question]\n"
    world.register(world.put(locked))
    with pytest.raises(FieldsLocked) as refused:
        world.amend(changed(world, PARITY_BAR, plan=locked))
    assert "analyses.parity.criteria.gap.max_group_gap" in refused.value.message
    with pytest.raises(FieldsLocked):
        world.amend(changed(world, ("question: Does", "question: But does"), plan=locked))
    with pytest.raises(FieldsLocked):
        world.amend(world.put(PLAN))
    head, _mark, tail = locked.partition("  parity:")
    with pytest.raises(FieldsLocked):
        world.amend(world.put(head + "  parity2:" + tail.replace("analyses.parity.criteria.gap, ", "")))
    world.amend(changed(world, TITLE, plan=locked))


def test_rule_13_what_is_unlocked_is_not_locked_later(registered: World) -> None:
    """The list of what is locked is itself locked, in both directions."""
    with pytest.raises(FieldsLocked):
        registered.amend(registered.put(PLAN + "locked: [question]\n"))


def test_rule_14_an_amendment_records_the_difference(sealed: World) -> None:
    before = sealed.in_force()
    new = changed(sealed, TITLE, PARITY_BAR)
    decision = sealed.amend(new)
    body = difference_document(difference(sealed.protocols[before], sealed.protocols[new]))
    assert decision.difference == sha256_hex(body)
    assert parse_canonical(body) == [
        {"path": "title", "before": "Errors by sex", "after": "Errors, by sex"},
        {"path": "analyses.parity.criteria.gap.max_group_gap", "before": 0.05, "after": 0.2},
    ]
    version = sealed.state.study.in_force
    assert (version.protocol_hash, version.amended, version.reason) == (new, decision, Z)


def test_rule_14_amendments_change_something_of_this_study_that_is_in_force(registered: World) -> None:
    with pytest.raises(NothingAmended):
        registered.amend(registered.in_force())
    with pytest.raises(StudySlugDiffers):
        registered.amend(registered.add(study="another"))
    with pytest.raises(ProtocolNotInForce):
        registered.amend(changed(registered, TITLE), replaces=Z)
    with pytest.raises(KeyNotEntitled):
        registered.amend(changed(registered, TITLE), by=CUSTODIAN.keyid)


def test_rule_15_a_prior_exposure_is_not_amended_away(world: World) -> None:
    world.register(world.add(exposure="the authors saw it"))
    world.amend(world.put(PLAN))
    world.seal("teste")
    decision = world.reveal()
    assert decision.retrospective
    assert not decision.confirmatory


def test_rule_14_a_deviation_is_words_and_changes_nothing(sealed: World) -> None:
    sealed.reveal()
    read = sealed.index - 1
    sealed.result(read)
    before = sealed.state.study
    decision = sealed.deviate(about=sealed.index - 1)
    assert isinstance(decision, WordsDecision)
    assert [(k.read_class, k.last) for k in decision.known] == [("teste", read)]
    after = sealed.state.study
    assert (after.versions, after.pools) == (before.versions, before.pools)
    assert after.deviations[0].about == sealed.index - 2
    with pytest.raises(EntryNotOfStudy):
        sealed.deviate(about=0)
    with pytest.raises(EntryNotOfStudy):
        sealed.deviate(about=sealed.index)


# --- rule 16 -----------------------------------------------------------------------------------------------


def test_rule_16_a_crashed_read_is_finished_under_the_plan_it_was_made_under(sealed: World) -> None:
    """Neither an amendment in between nor the burn it brings takes the one read away."""
    old = sealed.in_force()
    first = sealed.reveal()
    read = sealed.index - 1
    sealed.amend(changed(sealed, PARITY_BAR), accept_burn=True)
    with pytest.raises(FinishDiffers):
        sealed.reveal(finishes=read)
    finished = sealed.reveal(finishes=read, protocol=old)
    assert (finished.read_class, finished.confirmatory, finished.number) == ("teste", True, first.number)


# --- rule 17 -----------------------------------------------------------------------------------------------


def test_rule_17_nothing_more_is_done_in_a_withdrawn_study(sealed: World) -> None:
    sealed.withdraw()
    for act in (
        sealed.reveal,
        sealed.withdraw,
        lambda: sealed.seal("teste"),
        lambda: sealed.amend(changed(sealed, TITLE)),
        lambda: sealed.read("inputs", "teste"),
        lambda: sealed.erratum(3),
    ):
        with pytest.raises(StudyWithdrawn):
            act()
    sealed.deviate()
    assert sealed.state.study.withdrawn is not None


@pytest.fixture
def revealed(sealed: World) -> World:
    """A study with a result; its entry is the last."""
    sealed.reveal(submissions=(submission(),))
    sealed.result(sealed.index - 1)
    return sealed


def submission(digest: str = "2" * 64) -> Any:
    return one_submission(digest=digest)


def test_rule_17_an_erratum_scores_the_same_submission_again(revealed: World) -> None:
    entry = revealed.index - 1
    decision = revealed.erratum(entry, submissions=(submission(),))
    assert (decision.read_class, decision.number) == ("erratum", 1)
    assert (decision.confirmatory, decision.exploratory) == (False, ("label-erratum",))
    read = revealed.index - 1
    revealed.result(read)
    pool = revealed.state.study.pools["teste"]
    assert pool.result_of(read) == revealed.index - 1
    assert revealed.state.study.result_read(entry)[1].result == entry
    assert (pool.standing, pool.unfinished) == ("teste", ())
    assert revealed.erratum(entry, submissions=(submission(),)).number == 2


def test_rule_17_an_erratum_takes_everything_else_as_it_was(revealed: World) -> None:
    entry = revealed.index - 1
    same = (submission(),)
    with pytest.raises(ErratumDiffers):
        revealed.erratum(entry, submissions=(submission("3" * 64),))
    with pytest.raises(ErratumDiffers):
        revealed.erratum(entry, submissions=same, analyses=("rehearsal",))
    with pytest.raises(ErratumDiffers):
        revealed.erratum(entry, submissions=same, pool="dev")
    with pytest.raises(ErratumTablesUnknown):
        revealed.erratum(entry, ("people",), submissions=same)
    with pytest.raises(ErratumTablesUnknown):
        revealed.erratum(entry, (), submissions=same)
    with pytest.raises(CorrectsNoResult):
        revealed.erratum(entry - 1, submissions=same)
    revealed.erratum(entry, submissions=same)
    revealed.result(revealed.index - 1)
    with pytest.raises(CorrectsNoResult):
        revealed.erratum(revealed.index - 1, submissions=same)


def test_rule_17_an_erratum_follows_the_read_through_amendments(revealed: World) -> None:
    entry, old = revealed.index - 1, revealed.in_force()
    revealed.amend(changed(revealed, PARITY_BAR), accept_burn=True)
    with pytest.raises(ErratumDiffers):
        revealed.erratum(entry, submissions=(submission(),))
    assert revealed.erratum(entry, submissions=(submission(),), protocol=old).review == ()


def test_rule_17_other_statistics_make_an_erratum_a_review(revealed: World) -> None:
    engine = Engine(lacre="2", statistics="2")
    decision = revealed.erratum(revealed.index - 1, submissions=(submission(),), engine=engine)
    assert decision.review == ("statistics-changed",)


def test_rule_17_a_text_is_erased_by_an_owner_and_was_there(registered: World) -> None:
    with pytest.raises(KeyNotEntitled):
        registered.erase(0, by=CUSTODIAN.keyid)
    with pytest.raises(NothingToErase):
        registered.erase(registered.index)
    last = registered.state.last
    registered.erase(0)
    assert registered.state.last == last, "it belongs to no study"


# --- keys --------------------------------------------------------------------------------------------------


def test_a_key_acts_from_its_enrolment_until_its_revocation(registered: World) -> None:
    with pytest.raises(KeyNotEntitled):
        registered.seal("dev", by=NEW.keyid)
    decision = registered.key("enrol", NEW.raw.hex(), roles=("custodian", "registrant"))
    assert decision == KeyDecision(enrols=NEW.keyid, roles=("registrant", "custodian"))
    registered.seal("dev", by=NEW.keyid)
    registered.key("revoke", NEW.raw.hex())
    with pytest.raises(KeyNotEntitled):
        registered.seal("teste", by=NEW.keyid)
    key = registered.state.keys[NEW.keyid]
    assert key.may("custodian", key.revoked - 1)
    assert not key.may("custodian", key.revoked)
    with pytest.raises(KeyAlreadyEnrolled):
        registered.key("enrol", NEW.raw.hex(), roles=("custodian",))
    with pytest.raises(KeyNotActive):
        registered.key("revoke", NEW.raw.hex())


SMALL_ORDER = (
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
)
"""Of order 1, 2, 4, 8 and 8: the table of small-order points in "Taming the many EdDSAs" (Chalkias et al., 2020)."""


@pytest.mark.parametrize("public", [*SMALL_ORDER, "f" * 64, "02" + "0" * 62])
def test_a_key_under_which_anybody_could_sign_is_not_enrolled(registered: World, public: str) -> None:
    """The last two are no encodings: y is past the prime, and no x belongs to y = 2."""
    with pytest.raises(KeyUnsound):
        registered.key("enrol", public, roles=("registrant",))
    with pytest.raises(KeyUnsound):
        registered.key("rotate", public, replaces=PERSON.keyid)


def test_keys_that_are_made_are_sound() -> None:
    assert all(PrivateKey.from_seed(bytes([n]) * 32).public.sound for n in range(100))


def test_only_an_owner_changes_keys(registered: World) -> None:
    for action in ("enrol", "revoke", "rotate"):
        with pytest.raises(KeyNotEntitled):
            registered.key(action, NEW.raw.hex(), by=CUSTODIAN.keyid, roles=("owner",))


@pytest.mark.parametrize("roles", [(), ("broker",), ("log",), ("owner", "log"), ("registrant", "broker")])
def test_people_have_peoples_roles(registered: World, roles: tuple[str, ...]) -> None:
    with pytest.raises(KeyRolesMixed):
        registered.key("enrol", NEW.raw.hex(), roles=roles)


@pytest.mark.parametrize("key", [PERSON, BROKER, LOG])
def test_the_last_owner_broker_and_log_stay(registered: World, key: Any) -> None:
    with pytest.raises(LastKeyOfRole):
        registered.key("revoke", key.raw.hex())


def test_a_second_owner_lets_the_first_go(registered: World) -> None:
    registered.key("enrol", NEW.raw.hex(), roles=("owner",))
    registered.key("revoke", PERSON.raw.hex(), by=NEW.keyid)
    with pytest.raises(LastKeyOfRole):
        registered.key("revoke", NEW.raw.hex(), by=NEW.keyid)
    with pytest.raises(KeyNotEntitled):
        registered.seal("dev")


@pytest.mark.parametrize("key", [PERSON, BROKER])
def test_a_rotated_key_takes_the_others_place_at_once(registered: World, key: Any) -> None:
    roles = registered.state.keys[key.keyid].roles
    registered.key("rotate", NEW.raw.hex(), replaces=key.keyid)
    assert registered.state.keys[key.keyid].revoked == registered.index - 1
    assert registered.state.keys[NEW.keyid].roles == roles
    assert [k.keyid for k in active(registered.state, min(roles))][-1] == NEW.keyid


def test_both_log_keys_sign_until_the_old_one_is_revoked(registered: World) -> None:
    registered.key("rotate", NEW.raw.hex(), replaces=LOG.keyid)
    assert [key.keyid for key in active(registered.state, "log")] == [LOG.keyid, NEW.keyid]
    with pytest.raises(RotationUnderWay):
        registered.key("rotate", NEXT.raw.hex(), replaces=NEW.keyid)
    registered.key("revoke", LOG.raw.hex())
    assert [key.keyid for key in active(registered.state, "log")] == [NEW.keyid]
    registered.key("rotate", NEXT.raw.hex(), replaces=NEW.keyid)


def test_a_rotation_replaces_a_key_that_acts(registered: World) -> None:
    with pytest.raises(KeyNotActive):
        registered.key("rotate", NEW.raw.hex(), replaces=NEXT.keyid)
    with pytest.raises(KeyAlreadyEnrolled):
        registered.key("rotate", PERSON.raw.hex(), replaces=PERSON.keyid)


def test_key_entries_belong_to_no_study(registered: World) -> None:
    before = registered.state
    registered.key("enrol", NEW.raw.hex(), roles=("registrant",))
    assert (registered.state.last, registered.state.study) == (before.last, before.study)
    assert registered.state.next_index == before.next_index + 1
