"""Who can open a pool: recipients, identities from elsewhere, other hands, and the grade that every output has."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyrage
import pytest

import lacre
from lacre import errors
from lacre.broker import finding, reading
from lacre.pools.seal import MOST_RECIPIENTS, Identity, check_recipients, identities_of_file

Study = Any


@pytest.fixture
def custodian(tmp_path: Path) -> tuple[str, Path]:
    """Somebody else's recipient, and the file of their identity, outside the ledger."""
    return _identity(tmp_path / "custodian.txt")


def _identity(path: Path) -> tuple[str, Path]:
    identity = Identity.generate()
    path.write_bytes(identity.to_file())
    return identity.recipient, path


def _own(study: Study) -> str:
    text = (Path(study.folder) / ".lacre/keys/identity.age").read_text()
    (line,) = [line for line in text.splitlines() if "public" in line]
    return line.rpartition(" ")[2]


def _blobs(study: Study) -> set[str]:
    return {path.name for path in study.ledger.folder.glob("pools/**/*") if path.is_file()}


# --- seal ---------------------------------------------------------------------------------------------------


def test_a_pool_is_sealed_to_the_ledger_unless_somebody_is_named(
    study: Study, custodian: tuple[str, Path]
) -> None:
    study.begin()
    own = study.seal("dev", 1000)
    assert (own.recipients, own.custody, own.opens_here) == ((_own(study),), "self-held", True)
    assert "One key alone can open it, keys/identity.age" in " ".join(str(own).split())
    theirs = study.seal("teste", 0, recipients=custodian[0])
    assert (theirs.recipients, theirs.custody) == ((custodian[0],), "second keyholder")
    assert theirs.opens_here is False
    text = " ".join(str(theirs).split())
    assert "Your own copies of the files stay where they are: delete them, or you can still look." in text
    assert "Your own copies" not in str(own)
    assert "No identity here opens it, so it was not opened again" in text
    assert "If that one is lost, so is the pool" in text
    assert "keys/identity.age" not in text
    both = study.seal("contraste", 2000, recipients=[custodian[0], _own(study)])
    assert (both.custody, both.opens_here) == ("self-held", True)
    assert "any of 2 keys" in str(both)


def test_the_grade_is_on_every_output(study: Study, custodian: tuple[str, Path]) -> None:
    study.begin()
    study.seal("dev", 1000)
    study.seal("teste", 0, recipients=custodian[0])
    inputs = study.ledger.inputs("parity", "teste", study.folder / "in.csv", identity=custodian[1])
    file = study.folder / "request.lacre"
    dry = study.ledger.request_reveal("parity", study.predictions(0), file, dry_run=True)
    asked = study.ledger.request_reveal("parity", study.predictions(0), file)
    looked = study.ledger.answer_reveal(file, identity=custodian[1], dry_run=True)
    plan = study.ledger.reveal("parity", study.predictions(0), identity=custodian[1], dry_run=True)
    result = study.ledger.reveal("parity", study.predictions(0), identity=custodian[1])
    reports = (inputs, dry, asked, looked, plan, result)
    for report in reports:
        assert (report.custody, report.as_json()["custody"]) == ("second keyholder", "second keyholder")
    grades = {"dev": "self-held", "teste": "second keyholder"}
    (status,) = study.ledger.status().as_json()["studies"]
    shown = study.ledger.show("parity")
    assert (status["custody"], shown.custody, shown.as_json()["custody"]) == (grades, grades, grades)
    assert "Custody: dev self-held; teste second keyholder" in str(study.ledger.status())
    for log in (study.ledger.log(), study.ledger.log("parity")):
        assert log.as_json()["custody"] == {"parity": grades}
        assert "Custody in parity: dev self-held; teste second keyholder" in str(log)
    assert study.ledger.audit(result.name).as_json()["story"]["seal"]["custody"] == "second keyholder"
    for page in (*reports, shown, study.ledger.audit(), study.ledger.audit(result.name)):
        text = " ".join(str(page).split())
        assert "second keyholder, as declared. It is sealed to a recipient that is not this ledger's" in text
        assert (
            "if that recipient is somebody else, and if whoever sealed it kept no copy of the files" in text
        )


@pytest.mark.parametrize("bad", ["age1nobody", "AGE-SECRET-KEY-1QQ", "", "ssh-ed25519 AAAA", "\udcff"])
def test_a_recipient_that_is_none_is_refused_before_any_file_is_read(study: Study, bad: str) -> None:
    study.begin()
    with pytest.raises(errors.RecipientInvalid) as refused:
        study.ledger.seal("parity", "teste", "no-such-file.csv", recipients=[bad])
    assert "SECRET-KEY-1Q" not in str(refused.value)
    assert study.size == 2


def test_there_is_room_for_so_many_recipients_and_no_more(study: Study) -> None:
    study.begin()
    many = [Identity.generate().recipient for _each in range(MOST_RECIPIENTS + 1)]
    with pytest.raises(errors.RecipientsTooMany) as refused:
        study.seal("teste", 0, recipients=many)
    assert (refused.value.fields["limit"], refused.value.fields["count"]) == (32, 33)
    assert study.seal("teste", 0, recipients=many[:-1]).recipients == tuple(many[:-1])


def test_a_recipient_has_one_spelling() -> None:
    """Bech32 (BIP 173) reads the same in capitals; the grade compares texts, and must not be fooled by it."""
    one = Identity.generate().recipient
    assert check_recipients([one.upper(), f" {one} ", one]) == (one,)


# --- identities from elsewhere ------------------------------------------------------------------------------


def test_without_the_identity_nothing_is_spent(
    study: Study, custodian: tuple[str, Path], tmp_path: Path
) -> None:
    study.begin()
    study.seal("teste", 0, recipients=custodian[0])
    assert "Next: lacre reveal parity --submission FILE --request-out FILE" in str(study.ledger.status())
    assert "Next: lacre reveal parity --submission FILE --request-out FILE" in str(
        study.ledger.show("parity")
    )
    before = study.size, _blobs(study)
    _other, file = _identity(tmp_path / "other.txt")
    for identity in ((), file):
        with pytest.raises(errors.IdentityCannotOpen) as refused:
            study.ledger.reveal("parity", study.predictions(0), identity=identity)
        assert custodian[0] in refused.value.way_out
        assert "--identity" in refused.value.way_out
        assert "--request-out" in refused.value.way_out
    with pytest.raises(errors.RevealCannotOpen) as refused:
        study.ledger.reveal("parity", study.predictions(0), dry_run=True)
    assert "lacre reveal parity --submission FILE --request-out FILE" in refused.value.way_out
    assert "with --dry-run it only checks" in refused.value.way_out
    assert study.ledger.request_reveal("parity", study.predictions(0), tmp_path / "ask.lacre", dry_run=True)
    with pytest.raises(errors.InputsCannotOpen) as refused:
        study.ledger.inputs("parity", "teste", tmp_path / "in.csv")
    assert "run `lacre inputs parity teste -o FILE --identity FILE` in this ledger" in refused.value.way_out
    assert "--request-out" not in refused.value.way_out
    assert not (tmp_path / "in.csv").exists()
    assert (study.size, _blobs(study)) == before
    assert study.ledger.audit().ok


def test_an_identity_reveals_runs_and_hands_out_inputs(
    study: Study, custodian: tuple[str, Path], tmp_path: Path
) -> None:
    study.begin()
    for at, pool in enumerate(("teste", "dev", "contraste")):
        study.seal(pool, 1000 * at, recipients=custodian[0])
    held = [tmp_path / "unrelated.txt", custodian[1]]
    _identity(held[0])
    written = study.ledger.inputs("parity", "teste", tmp_path / "in.csv", identity=held)
    assert written.rows == 200
    plan = study.ledger.reveal("parity", study.predictions(0), identity=held, dry_run=True)
    assert plan.decision.confirmatory
    assert study.ledger.reveal("parity", study.predictions(0), identity=held).document["confirmatory"] is True
    for first, name in ((1000, "rehearsal"), (2000, "differential")):
        assert study.ledger.run("parity", name, study.predictions(first), identity=held).state in {
            "PASS",
            "INSUFFICIENT_EVIDENCE",
        }
    again = study.ledger.run("parity", "differential", study.predictions(2000), identity=custodian[1])
    assert again.document["exploratory"] == [], "its kept submission was opened and is the same"
    assert study.ledger.audit().ok


def test_a_closed_identity_file_is_opened_with_its_passphrase(
    study: Study, custodian: tuple[str, Path], tmp_path: Path
) -> None:
    study.begin()
    study.seal("teste", 0, recipients=custodian[0])
    closed = tmp_path / "closed.age"
    closed.write_bytes(pyrage.passphrase.encrypt(custodian[1].read_bytes(), "segredo"))
    with lacre.open(study.folder) as ledger, pytest.raises(errors.PassphraseNeeded):
        ledger.reveal("parity", study.predictions(0), identity=closed, dry_run=True)
    with (
        lacre.open(study.folder, identity_passphrase="other") as ledger,
        pytest.raises(errors.IdentityPassphraseWrong) as refused,
    ):
        ledger.reveal("parity", study.predictions(0), identity=closed, dry_run=True)
    assert "closed.age" in refused.value.message
    asked: list[Path] = []

    def several(file: Path) -> list[str]:
        asked.append(file)
        return ["other", "segredo"]

    with lacre.open(study.folder, identity_passphrase=several) as ledger:
        assert ledger.reveal("parity", study.predictions(0), identity=closed, dry_run=True)
    assert asked == [closed], "it is opened once"


@pytest.mark.parametrize(
    "content", [b"", b"# nothing\n", b"hello\n", b"AGE-SECRET-KEY-1QQ\n", b"\xff\xfe", b"A" * 70_000]
)
def test_a_file_that_holds_no_identity_is_refused(study: Study, tmp_path: Path, content: bytes) -> None:
    study.begin()
    study.seal("teste", 0)
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(errors.IdentityFileInvalid) as refused:
        study.ledger.reveal("parity", study.predictions(0), identity=tmp_path / "file")
    assert str(tmp_path / "file") in refused.value.message
    assert study.size == 3


def test_a_ledger_without_its_identity_works_with_a_given_one(
    study: Study, custodian: tuple[str, Path]
) -> None:
    study.begin()
    (study.ledger.folder / "keys/identity.age").unlink()
    sealed = study.seal("teste", 0, recipients=custodian[0])
    assert sealed.opens_here is False
    result = study.ledger.reveal("parity", study.predictions(0), identity=custodian[1])
    assert result.document["confirmatory"] is True


def test_an_own_identity_kept_elsewhere_opens_the_fingerprint_key_too(tmp_path: Path) -> None:
    """The fingerprint key of a ledger with a passphrase is closed to the ledger's own identity."""
    from .conftest import Study as Made

    with lacre.init(tmp_path, passphrase="segredo") as ledger:
        study = Made(tmp_path, ledger)
        recipient, file = _identity(tmp_path / "custodian.txt")
        study.begin()
        study.seal("teste", 0, recipients=recipient)
        study.seal("dev", 1000)
    away = tmp_path / "identity.age"
    (tmp_path / ".lacre/keys/identity.age").rename(away)
    with lacre.open(tmp_path, passphrase="segredo") as ledger:
        with pytest.raises(errors.FingerprintKeyClosed) as refused:
            ledger.reveal("parity", study.predictions(0), identity=file)
        assert "--identity" in refused.value.way_out
        assert ledger.status().size == 4, "nothing was spent"
        assert ledger.inputs("parity", "teste", tmp_path / "in.csv", identity=file).rows == 200
        rehearsed: Any = ledger.run("parity", "rehearsal", study.predictions(1000), identity=away)
        assert rehearsed.document["standing"] == "dev"
        result: Any = ledger.reveal("parity", study.predictions(0), identity=[file, away])
        assert result.document["confirmatory"] is True
        assert ledger.audit().ok


# --- other hands --------------------------------------------------------------------------------------------


def test_rewrap_hands_over_the_pool_and_all_that_is_kept_beside_it(
    study: Study, custodian: tuple[str, Path], tmp_path: Path
) -> None:
    study.begin()
    study.seal("contraste", 0, recipients=custodian[0])
    study.ledger.run("parity", "differential", study.predictions(0), identity=custodian[1])
    heir, file = _identity(tmp_path / "heir.txt")
    before = _blobs(study)
    with pytest.raises(errors.IdentityCannotOpen):
        study.ledger.rewrap("parity", "contraste", heir)
    assert _blobs(study) == before, "nothing is written unless all of it opens"
    handed = study.ledger.rewrap("parity", "contraste", heir, identity=custodian[1], reason="she left")
    assert (handed.before, handed.recipients, handed.keys) == ((custodian[0],), (heir,), 2)
    assert (handed.custody, handed.opens_here) == ("second keyholder", False)
    assert before < _blobs(study), "the old wrapped keys stay"
    assert "can still open the pool" in " ".join(str(handed).split())
    assert "she left" in str(study.ledger.show(f"@{handed.entry}"))
    with pytest.raises(errors.IdentityCannotOpen):
        study.ledger.run("parity", "differential", study.predictions(0), identity=custodian[1])
    again = study.ledger.run("parity", "differential", study.predictions(0), identity=file)
    assert again.document["exploratory"] == [], "the kept submission was recognised, under its new key"
    later = study.ledger.run("parity", "differential", study.predictions(0, wrong=1), identity=file)
    assert later.document["exploratory"] == ["later-submission"], (
        "a submission made after is wrapped to the heir"
    )
    assert study.ledger.audit().ok
    (shown,) = study.ledger.status().as_json()["studies"]
    assert shown["pools"]["contraste"]["recipients"] == [heir]
    assert [each["entry"] for each in shown["pools"]["contraste"]["handed"]] == [handed.entry]
    assert f"in other hands since entry {handed.entry}" not in str(study.ledger.status())
    assert f"in other hands since {handed.entry}" in " ".join(str(study.ledger.status()).split())
    story = study.ledger.audit(again.name)
    assert [each["entry"] for each in story.as_json()["story"]["handed"]] == [handed.entry]
    assert f"handed contraste to {heir}" in "".join(str(story).split()) or heir[:20] in str(story)


def test_a_pool_with_many_submissions_is_handed_on_twice_in_one_file_each_time(
    study: Study, custodian: tuple[str, Path]
) -> None:
    """Its keyset: of each ciphertext, in order, its SHA-256 and 64 bytes of key and salt."""
    study.begin()
    study.seal("dev", 0)
    first = study.ledger.run("parity", "rehearsal", study.predictions(0))
    study.ledger.run("parity", "rehearsal", study.predictions(0, wrong=1))
    folder = study.ledger.folder / "pools/parity/dev"
    corrected = study.folder / "corrected.csv"
    head, line, *lines = study.cases(0).read_text().splitlines()
    cells = line.split(",")
    cells[2] = str(1 - int(cells[2]))
    corrected.write_text("\n".join([head, ",".join(cells), *lines]) + "\n")
    before = _blobs(study)
    assert study.ledger.rewrap("parity", "dev", custodian[0]).keys == 3
    (keyset,) = _blobs(study) - before
    study.ledger.run("parity", "rehearsal", study.predictions(0, wrong=2), identity=custodian[1])
    assert study.ledger.rewrap("parity", "dev", [_own(study), custodian[0]], identity=custodian[1]).keys == 4
    (second,) = _blobs(study) - before - {keyset} - {each for each in _blobs(study) if "submission" in each}
    study.ledger.erratum(first.name, corrected, reason="a label")
    assert study.ledger.rewrap("parity", "dev", custodian[0]).keys == 5
    (identity,) = identities_of_file(custodian[1].read_bytes()) or ()
    for name, ciphertexts in ((keyset, 3), (second, 4)):
        held = identity.decrypt((folder / name).read_bytes())
        assert held is not None
        assert len(held) == 96 * ciphertexts
        digests = [held[at : at + 32].hex() for at in range(0, len(held), 96)]
        assert digests == sorted(digests)
        assert all(
            (folder / f"{each}.pool").exists() or (folder / f"{each}.submission").exists() for each in digests
        )
    made = study.ledger.erratum(first.name, corrected, reason="again", identity=custodian[1])
    assert made.document["erratum"]["changed"] == {"cases.label": 1}
    assert study.ledger.audit().ok


def test_a_missing_new_key_is_a_finding(study: Study, custodian: tuple[str, Path]) -> None:
    study.begin()
    study.seal("teste", 0)
    before = _blobs(study)
    study.ledger.rewrap("parity", "teste", custodian[0])
    (made,) = _blobs(study) - before
    next(study.ledger.folder.glob(f"pools/**/{made}")).unlink()
    assert [found.code for found in study.ledger.audit().findings] == ["blob-missing"]


def test_who_held_a_pool_once_counts_in_its_grade(study: Study, custodian: tuple[str, Path]) -> None:
    """The old wrapped key lies beside the new: the ledger's own identity opens the pool as before."""
    study.begin()
    study.seal("teste", 0)
    (old,) = study.ledger.folder.glob("pools/parity/teste/*.key")
    handed = study.ledger.rewrap("parity", "teste", custodian[0])
    assert handed.custody == "self-held"
    (own,) = study.reopened()._desk.identities()
    assert own.decrypt(old.read_bytes()) is not None
    result = study.ledger.reveal("parity", study.predictions(0), identity=custodian[1])
    assert result.custody == "self-held"
    assert study.ledger.audit(result.name).as_json()["story"]["seal"]["custody"] == "self-held"


def test_a_custodian_can_share_a_pool_with_the_ledger(study: Study, custodian: tuple[str, Path]) -> None:
    study.begin()
    study.seal("teste", 0, recipients=custodian[0])
    handed = study.ledger.rewrap("parity", "teste", [custodian[0], _own(study)], identity=custodian[1])
    assert (handed.custody, handed.opens_here) == ("self-held", True)
    assert study.ledger.reveal("parity", study.predictions(0)).custody == "self-held"


def test_rewrap_is_refused_where_there_is_nothing_to_hand_over(
    study: Study, custodian: tuple[str, Path]
) -> None:
    study.begin()
    with pytest.raises(errors.PoolNotSealed):
        study.ledger.rewrap("parity", "teste", custodian[0])
    study.seal("teste", 0)
    for bad, error in (((), errors.RecipientInvalid), ("age1x", errors.RecipientInvalid)):
        with pytest.raises(error):
            study.ledger.rewrap("parity", "teste", bad)
    assert study.size == 3


def test_a_read_that_crashed_before_a_rewrap_is_finished_after_it(
    study: Study, custodian: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    study.begin()
    study.seal("teste", 0)
    with monkeypatch.context() as patch:
        patch.setattr(reading, "record_result", _die)
        with pytest.raises(KeyboardInterrupt):
            study.ledger.reveal("parity", study.predictions(0))
    assert study.ledger.rewrap("parity", "teste", custodian[0]).keys == 2
    with pytest.raises(errors.IdentityCannotOpen):
        study.ledger.reveal("parity", study.predictions(0))
    result = study.ledger.reveal("parity", study.predictions(0), identity=custodian[1])
    assert (result.finished, result.document["confirmatory"]) == (3, True)
    assert study.ledger.audit().ok


# --- finishing under another plan ---------------------------------------------------------------------------


def _die(*_arguments: object, **_more: object) -> None:
    raise KeyboardInterrupt


def _amend(study: Study, change: Callable[[str], str], **more: Any) -> None:
    path = study.folder / "amended.yaml"
    path.write_text(change((study.folder / "parity.yaml").read_text()))
    study.ledger.amend(path, reason="a better plan", **more)


def test_rule_16_a_crashed_read_is_finished_under_its_own_plan(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """20 errors among 100 women and none among 100 men: far from a gap of 0.9, and well past one of 0.06."""
    study.begin(gap="0.9")
    study.seal("teste", 0)
    wrong = study.folder / "wrong.csv"
    lines = study.predictions(0).read_text().splitlines()
    flipped = [f"{line[:-1]}{1 - int(line[-1])}" if n % 10 == 1 else line for n, line in enumerate(lines[1:])]
    wrong.write_text("\n".join([lines[0], *flipped]) + "\n")
    with monkeypatch.context() as patch:
        patch.setattr(reading, "record_result", _die)
        with pytest.raises(KeyboardInterrupt):
            study.ledger.reveal("parity", wrong)
    first = (study.folder / "parity.yaml").read_text()
    _amend(study, lambda text: text.replace("max_group_gap: 0.9", "max_group_gap: 0.06"), accept_burn=True)
    with pytest.raises(errors.ProtocolNotInForce):
        study.ledger.reveal("parity", wrong, protocol=study.folder / "amended.yaml")
    result = study.ledger.reveal("parity", wrong, protocol=first.encode())
    assert (result.finished, result.state, result.now) == (3, "PASS", "dev")
    # Amended at entry 4, after the read had been begun: what it was made by is the first version.
    assert (result.version, result.amended) == (1, (4,))
    assert result.document["confirmatory"] is True
    assert result.document["analyses"][0]["criteria"][0]["threshold"] == 0.9
    assert study.ledger.audit().ok


def test_rule_16_an_analysis_that_was_amended_away_is_finished_too(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.begin()
    study.seal("contraste", 0)
    with monkeypatch.context() as patch:
        patch.setattr(reading, "record_result", _die)
        with pytest.raises(KeyboardInterrupt):
            study.ledger.run("parity", "differential", study.predictions(0))
    _amend(study, lambda text: text.replace("  differential:", "  renamed:"), accept_burn=True)
    with pytest.raises(errors.AnalysisNotDeclared):
        study.ledger.run("parity", "nothing", study.predictions(0))
    result = study.ledger.run("parity", "differential", study.predictions(0))
    assert result.finished == 3
    assert [each["id"] for each in result.document["analyses"]] == ["differential"]
    with pytest.raises(errors.AnalysisNotDeclared):
        study.ledger.run("parity", "differential", study.predictions(0))
    assert study.ledger.run("parity", "renamed", study.predictions(0)).finished is None
    assert study.ledger.audit().ok


def test_files_for_the_plan_in_force_are_no_hindrance_beside_a_crashed_read_of_another(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.begin()
    study.seal("contraste", 0)
    with monkeypatch.context() as patch:
        patch.setattr(reading, "record_result", _die)
        with pytest.raises(KeyboardInterrupt):
            study.ledger.run("parity", "differential", study.predictions(0))
    renamed = ("prediction: {", "answer: {"), ("prediction: prediction", "prediction: answer")
    _amend(study, lambda text: text.replace(*renamed[0]).replace(*renamed[1]), accept_burn=True)
    answers = study.folder / "answers.csv"
    answers.write_text(study.predictions(0).read_text().replace("prediction", "answer"))
    made = study.ledger.run("parity", "differential", answers)
    assert made.finished is None
    assert study.ledger.run("parity", "differential", study.predictions(0)).finished == 3


# --- withdrawn studies --------------------------------------------------------------------------------------


def test_a_withdrawn_study_has_nothing_left_to_expose(study: Study) -> None:
    study.begin()
    study.seal("teste", 0)
    study.begin("other")
    study.ledger.seal("other", "dev", study.cases(0))
    with pytest.raises(errors.ExposesSealedPool):
        study.ledger.run("other", "rehearsal", study.predictions(0))
    study.ledger.withdraw("parity", reason="no longer needed")
    assert study.ledger.run("other", "rehearsal", study.predictions(0)).document["standing"] == "dev"
    assert study.ledger.audit().ok


def test_facts_found_before_a_withdrawal_are_found_again(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is declared is what stands at the entry, though it was looked for before another study ended."""
    study.begin()
    study.seal("teste", 0)
    study.begin("other")
    study.ledger.seal("other", "dev", study.cases(0))
    other = study.reopened()
    look = finding.find

    def slowly(*arguments: Any, **more: Any) -> finding.Found:
        found = look(*arguments, **more)
        other.withdraw("parity", reason="meanwhile")
        return found

    monkeypatch.setattr(reading, "find", slowly)
    result = study.ledger.run("other", "rehearsal", study.predictions(0), accept_exposure=True)
    entry = study.ledger.show(f"@{result.entry - 1}").recorded.content
    assert entry.request.accept_exposure
    assert entry.facts.exposes == ()
