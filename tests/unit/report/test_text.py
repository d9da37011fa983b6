"""Every outcome as text: within its width, nothing in it obeyed, and saying what a reader must know."""

import dataclasses
import re
from typing import Any

import pytest
from rich.cells import cell_len

from lacre.analyses.attainable import Attainable, Minimum
from lacre.analyses.feasibility import Needed, Power
from lacre.audit.findings import finding, warned
from lacre.audit.report import AuditReport
from lacre.broker import amplified, groundwork, outcomes, scanned
from lacre.report import published
from lacre.report.json import DOCUMENTS, as_json
from lacre.report.text import PAGES, as_text
from lacre.rules.answers import Infeasible, Overlap, ReadDecision

from .conftest import Life

NAMES = (
    *("made", "empty", "checked", "registered", "waiting", "sealed", "unread", "inputs", "planned", "result"),
    *("replanned", "again", "rehearsed", "status", "log", "study", "entry", "genesis", "audit", "story"),
    *("told-again", "seen-again", "register", "exported", "verified", "reported"),
    *("amend-planned", "amended", "deviated", "erratum", "corrected", "amend-entry", "deviate-entry"),
    *("withdrawn", "withdrawn-study", "withdrawn-result", "withdrawn-status", "deviations", "changed-log"),
    *("changed-story", "requested", "request-looked-at", "rewrapped", "recovered", "amplified", "scanned"),
    *(
        "sampled",
        "calibrated",
        "relabels-out",
        "relabels-kept",
        "part-kept",
        "rebalanced",
        "grown",
        "grown-story",
        "faces",
        "differential",
        "gate",
    ),
    *("key-made", "identity-made", "enrolled", "rotated", "rotated-log", "revoked", "erased", "keys"),
    *("keys-status", "keys-audit", "keys-log", "backed-up", "keys-recovered"),
)
ESCAPE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def flat(text: str) -> str:
    """The words of a page, whatever its lines."""
    return " ".join(text.split())


def test_every_outcome_can_be_shown() -> None:
    declared = {
        kind
        for module in (outcomes, published, amplified, groundwork, scanned)
        for kind in vars(module).values()
        if dataclasses.is_dataclass(kind) and kind.__module__ == module.__name__
    }
    assert PAGES.keys() == DOCUMENTS.keys() == declared | {AuditReport}


def test_every_outcome_was_seen(life: Life) -> None:
    assert set(NAMES) == set(life.outcomes)
    seen = {kind for outcome in life.outcomes.values() for kind in type(outcome).__mro__}
    assert PAGES.keys() <= seen


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("name", NAMES)
def test_no_line_is_wider_than_the_terminal(life: Life, name: str, width: int) -> None:
    text = as_text(life.outcomes[name], width=width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert not ESCAPE.search(text)


@pytest.mark.parametrize("name", NAMES)
def test_colour_is_for_those_who_ask(life: Life, name: str) -> None:
    plain = as_text(life.outcomes[name])
    coloured = as_text(life.outcomes[name], colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured).split() == plain.split()
    assert not ESCAPE.search(re.sub(r"\x1b\[[0-9;]*m", "", coloured))


def test_names_of_people_are_shown_and_not_obeyed(life: Life) -> None:
    for name in ("status", "log", "story", "entry"):
        assert r"Ana [red]\x1b[31mLima\x07" in flat(as_text(life.outcomes[name], width=200)), name
    assert r"Reason given: \x1b[2Jbecause" in as_text(life.outcomes["entry"])


def test_a_result_says_what_it_is_and_what_it_rests_on(life: Life) -> None:
    text = flat(as_text(life.outcomes["result"], width=100))
    for said in (
        "screen@5 INSUFFICIENT_EVIDENCE",
        "Confirmatory: the first read of teste",
        "false negatives by sex: no two groups further apart than 5 points",
        "false positives by sex: at most 25 % in every group",
        "female 10 of 50 20.0 %",
        "0 of 50, 1 blank",
        ": With a prediction: 2, fewer than the 30 asked for.",
        # 3/50, the rule of three
        "up to 6.0 %",
        "The intervals hold for the 3 declared groups together, at 95 % (Clopper-Pearson).",
        "1 case is left out of this (1: sex holds a value that is not declared).",
        "expected calibration error, 4 bins",
        "must pass, which needs no correction",
        "uncorrected",
        "Deviation: cases holds 200 rows, and 300 were planned.",
        "Not used, of cases: extra",
        "Custody: self-held. One person has the data and the key, and can look without a trace.",
        "Anchors: none",
        "Engine: lacre",
        "Read 1 of teste, in class teste. Today teste counts as teste, and its one reveal is spent.",
    ):
        assert said in text, said


def test_variants_are_told_with_what_was_skipped_and_what_is_left_over(life: Life) -> None:
    text = flat(as_text(life.outcomes["amplified"], width=200))
    for said in (
        "The variants of 1 image are in",
        "grand scale 100, gamma 2 1",
        "original none: the picture as it is 1",
        "turned upright, by its orientation on record: 1",
        "in another format than the name says: 1",
        r"Warning: 1 was skipped: Ana [red]\x1b[31mLima\x07: empty",
        "Warning: 3 files of an earlier run stand there that no image is behind now",
        "Nothing was recorded, and no pool was read.",
    ):
        assert said in text, said


def test_a_later_read_says_why_it_confirms_nothing(life: Life) -> None:
    text = flat(as_text(life.outcomes["again"], width=200))
    assert "Exploratory: this is read 2 of teste, in class dev" in text
    assert "Today teste counts as dev." in text
    seen = flat(as_text(life.outcomes["seen-again"], width=200))
    assert "Confirmatory: the first read of teste" in seen
    assert "Read 1 of teste, in class teste. Today teste counts as dev." in seen


def test_a_plan_of_a_read_says_that_nothing_was_read(life: Life) -> None:
    first = flat(as_text(life.outcomes["planned"]))
    assert "this read of teste would be allowed; nothing was read" in first
    assert "Class teste, number 1. Confirmatory" in first
    assert "It would make teste dev, for good." in flat(as_text(life.outcomes["replanned"]))


def test_a_read_that_finishes_another_says_so(life: Life) -> None:
    planned = dataclasses.replace(life.outcomes["planned"], finishes=3)
    assert "It would finish the read at entry 3, which crashed." in as_text(planned)
    finished = dataclasses.replace(life.outcomes["result"], finished=3, warnings=("The clock.",))
    text = as_text(finished)
    assert "This finished the read at entry 3, which had crashed." in text
    assert "Warning: The clock." in text


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        (
            {"read_class": "contraste", "confirmatory": True},
            "Confirmatory: the first submission of its system to p",
        ),
        (
            {"read_class": "corpus", "confirmatory": True},
            "Confirmatory: by a plan registered before the labels of p, which stands as it was then",
        ),
        (
            {"read_class": "guarda", "confirmatory": True},
            "Confirmatory: read 1 of p, within its budget and by a plan registered before it.",
        ),
        (
            {"read_class": "corpus", "exploratory": ("amended-since-labels",)},
            "Exploratory: this is read 1 of p, in class corpus; ",
        ),
        ({"read_class": "teste", "retrospective": True}, "Retrospective: somebody had seen these cases"),
        ({"read_class": "dev"}, "Not confirmatory: p was read in class dev"),
        (
            {"read_class": "contraste", "exploratory": ("later-submission",)},
            "not the first submission of its system",
        ),
        ({"read_class": "dev", "exploratory": ("of-a-later-version",)}, "in class dev; of-a-later-version."),
    ],
)
def test_every_standing_has_its_sentence(life: Life, decision: dict[str, Any], said: str) -> None:
    judged = ReadDecision.model_validate({"number": 1, **decision})
    planned = dataclasses.replace(life.outcomes["planned"], pool="p", decision=judged)
    assert said in flat(as_text(planned))


def test_a_check_says_what_it_asks_of_the_data(life: Life) -> None:
    checked = life.outcomes["checked"]
    text = flat(as_text(checked))
    # No error in K = 3 groups of n: the gap is at most 1 - (0.05 / 2K)^(1/n), which is 0.05 at n = 93.3.
    assert "misses false negatives by sex: no two groups further 94 30 apart than 5 points" in text
    assert "teste cases 300 cases" in text
    never = dataclasses.replace(
        checked.needs[0], minimum=dataclasses.replace(checked.needs[0].minimum, to_pass=None)
    )
    assert "never" in as_text(dataclasses.replace(checked, needs=(never, *checked.needs[1:])))


def test_a_check_says_how_likely_it_is_and_what_it_takes(life: Life) -> None:
    """Of the simulation what it found, its standard error, and of none or all of it the rule of three."""
    checked = life.outcomes["checked"]
    first, second = checked.needs
    needs = (
        dataclasses.replace(first, prospect=Power(0.2, 0.0, 10_000), needed=Needed(3000, 400)),
        dataclasses.replace(second, prospect=Power(1.0, 0.5, 10_000), needed=Needed(None, None)),
    )
    text = flat(as_text(dataclasses.replace(checked, needs=needs), width=200))
    assert "94 30 20.0 % ± 0.4 < 0.03 % 400 3000" in text  # sqrt(.2 * .8 / 10000) = .004, 3 / 10000
    assert "> 99.97 % 50.0 % ± 0.5 never –" in text
    assert "simulated with the planned cases" in text
    cut = dataclasses.replace(second, prospect=None, needed=Needed(None, 77))
    text = flat(as_text(dataclasses.replace(checked, needs=(first, cut)), width=200))
    assert "– – 77 –" in text
    assert "simulated with the planned cases" not in text


@pytest.mark.parametrize(
    ("to_pass", "to_fail", "passes", "fails", "said"),
    [
        (94, 30, False, True, "parity.misses cannot pass as planned. It needs 94 cases"),
        (None, 30, False, True, "No outcome of parity.misses can pass, with up to a billion cases"),
        (94, 30, True, False, "parity.misses cannot fail as planned. It needs a group of 30 cases"),
        (94, None, True, False, "No outcome of parity.misses can fail, with up to a billion cases"),
        (None, None, False, False, "parity.misses can neither pass nor fail, for want of an interval"),
        (94, 30, True, True, None),
    ],
)
def test_a_check_says_what_can_only_come_out_one_way(
    life: Life, to_pass: int | None, to_fail: int | None, passes: bool, fails: bool, said: str | None
) -> None:
    checked = life.outcomes["checked"]
    need = dataclasses.replace(
        checked.needs[0], minimum=Minimum(to_pass, to_fail), attainable=Attainable(passes, fails)
    )
    text = flat(as_text(dataclasses.replace(checked, needs=(need, *checked.needs[1:]))))
    assert ("Warning: " in text) == (said is not None)
    assert ("--accept-infeasible" in text) == (said is not None)
    assert said is None or said in text


def test_clusters_are_said_not_to_be_simulated(life: Life) -> None:
    checked = life.outcomes["checked"]
    table = checked.protocol.tables["cases"].model_copy(update={"cluster": ["sex"]})
    clustered = checked.protocol.model_copy(update={"tables": {"cases": table}})
    assert "nothing is simulated" in flat(as_text(dataclasses.replace(checked, protocol=clustered)))
    assert "nothing is simulated" not in flat(as_text(checked))


def test_a_registration_says_what_was_kept_all_the_same(life: Life) -> None:
    kept = Infeasible(analysis="parity", criterion="misses", passes=False, fails=True)
    registered = dataclasses.replace(life.outcomes["registered"], infeasible=(kept,))
    assert "Warning: PASS or FAIL is out of reach of parity.misses; it is kept for the reason given." in flat(
        as_text(registered)
    )
    assert as_json(registered)["infeasible"] == [kept.as_json()]
    assert as_json(life.outcomes["registered"])["infeasible"] == []


def test_prior_exposure_is_said_from_the_start(life: Life) -> None:
    checked = life.outcomes["checked"]
    data = checked.protocol.data.model_copy(update={"prior_exposure": "We saw it."})
    seen = dataclasses.replace(checked, protocol=checked.protocol.model_copy(update={"data": data}))
    text = flat(as_text(seen))
    assert "Prior exposure: We saw it." in text
    assert "every result will read retrospective" in text


def test_a_seal_says_what_was_noticed(life: Life) -> None:
    shared = Overlap(study="other", pool="dev", kind="disjoint", count=3, label="site\x07")
    sealed = dataclasses.replace(
        life.outcomes["sealed"],
        overlaps=(shared,),
        remembered=2,
        custody="second keyholder",
        recipients=("a", "b"),
    )
    text = flat(as_text(sealed))
    assert r"Shared with another pool: 3 values that must stay apart (site\x07) of other/dev." in text
    assert "2 of its cases were read before on this machine" in text
    assert "Only both together can look without a trace if that recipient is somebody else" in text
    assert "One key alone" not in text
    assert "One key alone" in as_text(life.outcomes["sealed"])


def test_a_pool_in_other_hands_says_who_can_still_open_it(life: Life) -> None:
    text = flat(as_text(life.outcomes["rewrapped"], width=200))
    (former,) = life.outcomes["rewrapped"].before
    assert "1 key was wrapped anew; nothing was read." not in text, "its submission's went along"
    assert "2 keys were wrapped anew; nothing was read." in text
    assert f"Until now it was {former}. The old wrapped keys stay where they are" in text
    assert "This ledger's own identity is not among them" in text
    assert "Custody, through all its hands: self-held." in text


def test_a_request_says_whom_it_is_for_and_what_it_would_be(life: Life) -> None:
    requested = life.outcomes["requested"]
    text = flat(as_text(requested, width=200))
    assert "Nothing was read, and nothing is on record yet." in text
    assert f"whoever holds an identity of {requested.recipients[0]}" in text
    assert "Exploratory" in text
    assert "Not checked here" not in text
    blind = dataclasses.replace(requested, unchecked=("ids", "overlaps"), finishes=7)
    text = flat(as_text(blind, width=200))
    assert "whether the submission's ids are those of the pool" in text
    assert "which cases other pools share" in text
    assert "It would finish the read at entry 7" in text
    looked = flat(as_text(life.outcomes["request-looked-at"], width=200))
    assert r"Asked by Ana [red]\x1b[31mLima\x07 (" in looked
    assert r"Reason given: Ana [red]\x1b[31mLima\x07" in looked


def test_a_ledger_says_whether_its_keys_are_closed(life: Life) -> None:
    made = life.outcomes["made"]
    assert "whoever can read the folder can use them" in flat(as_text(made))
    assert "closed with your passphrase" in flat(as_text(dataclasses.replace(made, passphrase=True)))


def test_a_status_says_what_comes_next(life: Life) -> None:
    assert "There is no study yet" in as_text(life.outcomes["empty"])
    assert "Next: lacre seal screen teste FILE" in as_text(life.outcomes["waiting"])
    assert "Next: lacre reveal screen --submission FILE" in as_text(life.outcomes["unread"])
    text = flat(as_text(life.outcomes["status"], width=110))
    assert "dev, since entry 6" in text
    assert "@5 INSUFFICIENT_EVIDENCE (confirmatory), @7 INSUFFICIENT_EVIDENCE" in text
    assert "Next:" not in text


def test_a_status_lists_results_in_the_order_of_their_entries(life: Life) -> None:
    """Of two reads that went on beside each other the later one may have its result first."""
    status = life.outcomes["status"]
    (study,) = status.studies
    teste = study.pools["teste"]
    ended = [read for read in teste.reads if read.result is not None]
    swapped = {ended[0].entry: ended[1].result, ended[1].entry: ended[0].result}
    reads = tuple(
        dataclasses.replace(read, result=swapped.get(read.entry, read.result)) for read in teste.reads
    )
    pools = {**study.pools, "teste": dataclasses.replace(teste, reads=reads)}
    crossed = dataclasses.replace(status, studies=(dataclasses.replace(study, pools=pools),))
    text = flat(as_text(crossed, width=110))
    assert 0 < text.index("@5 INSUFFICIENT_EVIDENCE") < text.index("@7 INSUFFICIENT_EVIDENCE")


def test_a_story_tells_a_result_from_its_plan_to_today(life: Life) -> None:
    text = flat(as_text(life.outcomes["story"], width=200))
    places = [
        text.index(said)
        for said in (
            "Audit: sound",
            "registered screen",
            "sealed teste",
            "was handed ids and inputs of teste",
            "read teste: class teste, number 1.",
            "This is the result: INSUFFICIENT_EVIDENCE.",
            "read teste: class dev, number 2. From here on teste counts as dev. Its result is",
            "Confirmatory: the first read of teste",
            "Deviation: cases holds 200 rows",
            "Today teste counts as dev. It was read once after that.",
            "Custody: self-held",
        )
    ]
    assert places == sorted(places)
    assert "It was not read again." in flat(as_text(life.outcomes["told-again"], width=200))


def test_an_audit_tells_what_it_found(life: Life) -> None:
    report = dataclasses.replace(
        life.outcomes["audit"],
        findings=(finding("entry-missing", 3, index=3), finding("checkpoint-missing")),
        warnings=(warned("story-not-told", result="screen@5\x07"),),
    )
    text = flat(as_text(report))
    assert "Audit: 2 findings" in text
    assert "3 entry-missing There is no entry 3" in text
    assert "– checkpoint-missing There is no checkpoint." in text
    assert r"The story of screen@5\x07 cannot be told" in text
    assert "as the broker declared it" in text


def test_an_audit_says_who_can_look(life: Life) -> None:
    assert "Custody of screen/teste, screen/dev: self-held." in flat(
        as_text(life.outcomes["audit"], width=200)
    )


def test_what_had_been_met_before_is_told(life: Life) -> None:
    audit = life.outcomes["story"]
    seal = dataclasses.replace(audit.story.seal, remembered=2)
    met = dataclasses.replace(audit, story=dataclasses.replace(audit.story, seal=seal))
    assert "2 cases had been read before on the broker's machine." in flat(as_text(met, width=200))


def test_a_review_is_told_with_its_reason(life: Life) -> None:
    shown = life.outcomes["result"]
    (analysis,) = shown.document["analyses"]
    document = {**shown.document, "review": ["engine-changed"], "analyses": [{**analysis, "notes": []}]}
    text = flat(as_text(dataclasses.replace(shown, document=document)))
    assert "Review: Another version of lacre finished this read." in text
    assert "All criteria must pass, which needs no correction; a FAIL of any is uncorrected." in text


def test_a_study_shows_its_plan(life: Life) -> None:
    text = flat(as_text(life.outcomes["study"]))
    assert "parity (group fairness) on teste" in text
    assert "alarms false positives by sex: at most 25 % in every group" in text


def test_a_long_history_is_cut_at_its_beginning(life: Life) -> None:
    audit = life.outcomes["audit"]
    report = dataclasses.replace(audit, history=audit.history * 30)
    assert f"{len(report.history) - 200} earlier entries: see `lacre log`." in as_text(report)


def test_a_crashed_read_is_told(life: Life) -> None:
    """As the story would have it had the second read been an attempt to finish the first."""
    audit = life.outcomes["story"]
    reads = list(audit.story.reads)
    reads[-1] = dataclasses.replace(reads[-1], finishes=4, burns=False, result=None)
    report = dataclasses.replace(audit, story=dataclasses.replace(audit.story, reads=tuple(reads)))
    text = flat(as_text(report, width=200))
    assert "went on with the read at entry 4, which had crashed. It gave no result." in text


def test_a_note_stands_below(life: Life) -> None:
    assert as_text(life.outcomes["registered"], note="Kept in x.").endswith("\nKept in x.\n")


@pytest.mark.parametrize(("error", "said"), [(0.0004, "± <0.1"), (0.0005001, "± 0.1"), (0.012, "± 1.2")])
def test_a_standard_error_never_reads_none(error: float, said: str) -> None:
    from lacre.report.needs_text import _simulated_share

    assert _simulated_share(0.998, error, 4000) == f"99.8 % {said}"


def test_a_dry_run_of_recover_tells_what_would_be(life: Life) -> None:
    from lacre.broker.outcomes import Recovered

    nothing = Recovered(life.folder, True, 3, 3, "0" * 64, (), 0, 0, (), (), {})
    text = flat(as_text(nothing))
    assert "Nothing to recover" in text
    assert text.endswith("Nothing was written, and `lacre recover` would write nothing.")
    text = flat(as_text(dataclasses.replace(nothing, documents=2, erased=1)))
    assert "2 documents would come back. 1 text that was erased since would be taken out again." in text
    assert text.endswith("Next: `lacre recover`, which does all of this.")
    text = flat(as_text(dataclasses.replace(nothing, documents=2, erased=1, dry_run=False)))
    assert "2 documents came back. 1 text that was erased since is out again." in text
