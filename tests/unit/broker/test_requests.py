"""A custodian who is someone else: a read that one person signs, and another carries out."""

import hashlib
import json
import shutil
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import lacre
from lacre import errors
from lacre.broker import asking, reading
from lacre.broker.asking import RequestFile
from lacre.broker.desk import sign_request
from lacre.broker.ingest import Raw
from lacre.broker.submissions import context_of, submitted
from lacre.ledger.envelope import PAYLOAD_REQUEST, Envelope
from lacre.ledger.keys import PrivateKey
from lacre.pools import vault
from lacre.pools.content import Held
from lacre.pools.seal import Identity
from lacre.rules.requests import Read
from lacre.store.locks import try_lock
from lacre.tables.formats import Format

Study = Any


@dataclass
class Story:
    """A study whose `teste` is sealed to somebody else, on a machine of their own."""

    study: Any
    recipient: str
    identity: Path
    state: Path

    @property
    def file(self) -> Path:
        """Where the request is."""
        return Path(self.study.folder) / "ask.lacre"

    def ask(self, **more: Any) -> Any:
        """Write the researcher's request."""
        given = {"submission": self.study.predictions(0), "output": self.file, **more}
        return self.study.ledger.request_reveal("parity", **given)

    @contextmanager
    def custodian(self) -> Iterator[lacre.Ledger]:
        """The same ledger, on the custodian's machine."""
        with lacre.open(self.study.folder, state=self.state) as ledger:
            yield ledger

    def answer(self, file: Path | None = None, **more: Any) -> Any:
        """The custodian answers."""
        with self.custodian() as ledger:
            return ledger.answer_reveal(file or self.file, **{"identity": self.identity, **more})

    def blobs(self) -> set[str]:
        """The files in the vault."""
        return {path.name for path in self.study.ledger.folder.glob("pools/**/*") if path.is_file()}

    def refused(self, error: type[errors.LacreError], file: Path | None = None, **more: Any) -> Any:
        """The custodian is refused, and there is nothing more than before."""
        before = self.study.size, self.blobs()
        with pytest.raises(error) as refusal:
            self.answer(file, **more)
        assert (self.study.size, self.blobs()) == before
        return refusal.value


@pytest.fixture
def story(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Story:
    identity = Identity.generate()
    theirs = tmp_path_factory.mktemp("custodian")
    (theirs / "identity.txt").write_bytes(identity.to_file())
    study.begin()
    study.seal("teste", 0, recipients=identity.recipient)
    return Story(study, identity.recipient, theirs / "identity.txt", theirs / "state")


def _die(*_arguments: object, **_more: object) -> None:
    raise KeyboardInterrupt


# --- asked and answered -------------------------------------------------------------------------------------


def test_a_request_appends_nothing_and_its_answer_is_the_one_reveal(story: Story) -> None:
    before = story.study.size, story.blobs()
    asked = story.ask(reason="for the paper")
    assert (story.study.size, story.blobs()) == before
    assert (asked.decision.confirmatory, asked.recipients, asked.unchecked) == (True, (story.recipient,), ())
    assert [(facts.rows, facts.absent) for facts in asked.submissions] == [(200, 0)]
    assert f"lacre reveal --request {story.file.name} --identity FILE --ledger DIR" in str(asked)
    assert "never a copy of it: an answer in a copy forks the log" in " ".join(str(asked).split())
    assert b"00000" not in story.file.read_bytes(), "ids of the submission are encrypted"
    result = story.answer()
    assert (result.state, result.custody, result.name) == ("PASS", "second keyholder", "parity@4")
    assert (result.document["confirmatory"], result.document["read"]) == (True, 1)
    entry = story.study.ledger.show("@3")
    assert "for the paper" in str(entry)
    signed = RequestFile.load(story.file).envelope
    assert entry.recorded.content.request_envelope == signed, "the entry holds the researcher's own signature"
    assert story.study.ledger.audit().ok


def test_a_dry_run_tells_the_custodian_what_is_asked_and_by_whom(story: Story) -> None:
    story.ask(reason="for the paper")
    before = story.study.size, story.blobs()
    plan = story.answer(dry_run=True)
    assert (story.study.size, story.blobs()) == before
    assert (plan.name, plan.reason, plan.decision.confirmatory) == ("Ana", "for the paper", True)
    assert [(facts.rows, facts.absent) for facts in plan.submissions] == [(200, 0)]
    text = " ".join(str(plan).split())
    assert "Asked by Ana" in text
    assert "for the paper" in text
    assert story.answer().state == "PASS"


def test_what_the_researcher_accepts_travels_in_the_request(story: Story) -> None:
    story.ask()
    story.answer()
    with pytest.raises(errors.AlreadyRevealed):
        story.ask(overwrite=True)
    asked = story.ask(accept_dev=True, overwrite=True)
    assert (asked.decision.read_class, asked.decision.burns) == ("dev", True)
    again = story.answer()
    assert (again.state, again.now) == ("INSUFFICIENT_EVIDENCE", "dev")


def test_an_exposure_is_found_when_asking_and_accepted_there(story: Story) -> None:
    study = story.study
    study.begin("other")
    study.ledger.seal("other", "teste", study.cases(0))
    with pytest.raises(errors.ExposesSealedPool):
        story.ask()
    assert not story.file.exists()
    story.ask(accept_exposure=True)
    plan = story.answer(dry_run=True)
    assert [(each.study, each.count) for each in plan.exposes] == [("other", 200)]
    assert "It would expose 200 cases of other/teste, sealed and unread." in " ".join(str(plan).split())
    assert story.answer().document["confirmatory"] is True


def test_an_exposure_since_the_request_is_found_when_answering(story: Story) -> None:
    story.ask()
    story.study.begin("other")
    story.study.ledger.seal("other", "teste", story.study.cases(0))
    story.refused(errors.ExposesSealedPool)


def test_asking_checks_all_that_can_be_checked(story: Story) -> None:
    bad = story.study.folder / "bad.csv"
    bad.write_text("case_id,prediction\nX1,1\n")
    for given, error in (
        ({"submission": bad}, errors.ForeignCases),
        ({"submission": ()}, errors.SubmissionMissing),
        ({"output": story.study.folder / "no" / "ask.lacre"}, errors.NotWritten),
        ({"protocol": story.study.protocol(gap="0.95")}, errors.ProtocolNotInForce),
    ):
        with pytest.raises(error):
            story.ask(**given)
    assert not story.file.exists()
    story.file.write_text("mine")
    with pytest.raises(errors.FileExists):
        story.ask()
    assert story.file.read_text() == "mine"
    assert story.ask(dry_run=True, overwrite=True).decision.confirmatory
    assert story.file.read_text() == "mine", "a dry run writes nothing"


def test_a_copy_without_keys_and_pools_can_still_ask(story: Story, tmp_path: Path) -> None:
    """The researcher's machine holds the entries and a signing key; ids are then matched by the custodian."""
    shutil.copytree(story.study.ledger.folder, tmp_path / "copy" / ".lacre")
    copy = tmp_path / "copy" / ".lacre"
    shutil.rmtree(copy / "pools")
    for name in ("identity.age", "fingerprint.key", "broker.pem", "log.pem"):
        (copy / "keys" / name).unlink()
    with lacre.open(copy) as ledger:
        asked = ledger.request_reveal("parity", story.study.predictions(0), story.file)
        foreign = tmp_path / "foreign.csv"
        foreign.write_text("case_id,prediction\nX1,1\n")
        ledger.request_reveal("parity", foreign, tmp_path / "foreign.lacre")
    assert asked.unchecked == ("ids", "overlaps")
    assert "Not checked here" in str(asked)
    story.refused(errors.ForeignCases, tmp_path / "foreign.lacre")
    assert story.answer().document["confirmatory"] is True
    assert story.study.ledger.audit().ok


def test_without_the_fingerprint_key_the_answer_is_refused_and_nothing_spent(story: Story) -> None:
    story.ask()
    key = story.study.ledger.folder / "keys/fingerprint.key"
    key.rename(key.with_suffix(".away"))
    story.refused(errors.KeyMissing)


def test_who_cannot_open_the_pool_is_told_who_can(story: Story) -> None:
    story.ask()
    refusal = story.refused(errors.IdentityCannotOpen, identity=())
    assert story.recipient in refusal.way_out


# --- once ---------------------------------------------------------------------------------------------------


def test_the_same_request_again_names_its_result(story: Story) -> None:
    story.ask()
    story.answer()
    refusal = story.refused(errors.RequestAnswered)
    assert refusal.exit_status == 2
    assert "parity@4" in refusal.message
    assert "parity@4" in story.refused(errors.RequestAnswered, dry_run=True).message


def test_a_crashed_answer_is_finished_by_the_same_request(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.ask(reason="for the paper")
    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(reading, "record_result", _die)
            with pytest.raises(KeyboardInterrupt):
                story.answer()
    assert story.study.size == 5, "the spent read, and an attempt to finish it"
    assert story.answer(dry_run=True).finishes == 3
    result = story.answer()
    assert (result.finished, result.document["read"], result.document["confirmatory"]) == (3, 1, True)
    assert "parity@6" in story.refused(errors.RequestAnswered).message
    assert story.study.ledger.audit().ok


def test_a_second_request_can_ask_to_finish_a_crashed_answer(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.ask()
    with monkeypatch.context() as patch:
        patch.setattr(reading, "record_result", _die)
        with pytest.raises(KeyboardInterrupt):
            story.answer()
    with pytest.raises(errors.FinishNotCompared) as refused:
        story.ask(overwrite=True)
    assert "--submission" in refused.value.way_out
    again = story.study.folder / "again.lacre"
    asked = story.ask(submission=(), output=again)
    assert (asked.finishes, asked.decision.confirmatory) == (3, True)
    assert RequestFile.load(again).blobs == {}
    result = story.answer(again)
    assert (result.finished, result.document["confirmatory"]) == (3, True)
    for file in (again, story.file):
        assert "parity@5" in story.refused(errors.RequestAnswered, file).message
    assert story.study.ledger.audit().ok


def test_two_processes_do_not_answer_one_request(story: Story) -> None:
    story.ask()
    nonce = RequestFile.load(story.file).asked.nonce
    lock = try_lock(story.study.ledger.folder / "locks", nonce)
    assert lock is not None
    story.refused(errors.RequestInProgress)
    lock.release()
    assert story.answer().state == "PASS"


def test_two_requests_are_two_reads_and_one_is_the_reveal(story: Story) -> None:
    story.ask()
    second = story.study.folder / "second.lacre"
    story.ask(output=second, submission=story.study.predictions(0, wrong=1))
    story.answer()
    story.refused(errors.AlreadyRevealed, second)


# --- refused, and nothing spent -----------------------------------------------------------------------------


def test_a_request_of_another_ledger_is_refused(
    story: Story, another: Callable[[], Study], tmp_path: Path
) -> None:
    other = another()
    other.begin()
    other.seal("teste", 0, recipients=story.recipient)
    other.ledger.request_reveal("parity", other.predictions(0), tmp_path / "other.lacre")
    assert "another ledger" in story.refused(errors.RecordInvalid, tmp_path / "other.lacre").message


def test_a_request_for_another_study_than_is_named_is_refused(story: Story) -> None:
    story.ask()
    assert "'other'" in story.refused(errors.RequestOfOtherStudy, study="other").message
    assert story.answer(study="parity").state == "PASS"


def test_a_protocol_file_is_held_against_the_request(story: Story) -> None:
    story.ask()
    story.refused(errors.ProtocolNotInForce, protocol=story.study.protocol(gap="0.95"))
    assert story.answer(protocol=story.study.protocol()).state == "PASS"


def _resigned(story: Story, key: PrivateKey) -> Path:
    """The same request, signed by another key."""
    request = RequestFile.load(story.file)
    signed = Envelope.sign(PAYLOAD_REQUEST, request.envelope.payload, [key])
    path = Path(story.study.folder) / "resigned.lacre"
    replace(request, envelope=signed).write(path, overwrite=True)
    return path


def test_a_request_of_nobody_here_is_refused(story: Story) -> None:
    story.ask()
    refusal = story.refused(errors.KeyNotEntitled, _resigned(story, PrivateKey.from_seed(b"7" * 32)))
    assert "registrant" in refusal.message


def test_a_request_of_a_key_that_may_not_ask_is_refused(story: Story) -> None:
    story.ask()
    keys = story.study.reopened()._desk.keys
    for key in (keys.broker, keys.log):
        story.refused(errors.KeyNotEntitled, _resigned(story, key))


def test_a_signature_under_somebody_elses_name_is_refused(story: Story) -> None:
    story.ask()
    request = RequestFile.load(story.file)
    forged = Envelope.sign(PAYLOAD_REQUEST, request.envelope.payload, [PrivateKey.from_seed(b"7" * 32)])
    named = replace(forged.signatures[0], keyid=request.by)
    path = story.study.folder / "forged.lacre"
    replace(request, envelope=replace(forged, signatures=(named,))).write(path)
    story.refused(errors.SignatureInvalid, path)


def test_a_request_of_a_revoked_key_is_refused(story: Story) -> None:
    ledger = story.study.ledger
    person = PrivateKey.from_seed(b"8" * 32)
    ledger.enrol(person.public.raw.hex(), "registrant")
    story.ask()
    path = _resigned(story, person)
    assert story.answer(path, dry_run=True).decision.confirmatory
    ledger.revoke(person.public.keyid)
    story.refused(errors.RequestKeyRevoked, path)
    assert story.answer().state == "PASS"


def test_a_request_answered_before_its_key_was_revoked_is_still_answered(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its read stands, and whoever runs it signs for going on with it."""
    ledger = story.study.ledger
    person = PrivateKey.from_seed(b"8" * 32)
    ledger.enrol(person.public.raw.hex(), "registrant")
    story.ask()
    path = _resigned(story, person)
    with monkeypatch.context() as patch:
        patch.setattr(reading, "record_result", _die)
        with pytest.raises(KeyboardInterrupt):
            story.answer(path)
    ledger.revoke(person.public.keyid)
    assert story.answer(path).finished == 4
    story.refused(errors.RequestAnswered, path)
    assert ledger.audit().ok


def test_a_request_that_saw_a_fork_is_refused(story: Story, tmp_path: Path) -> None:
    """Two copies of one ledger go on apart: what was signed on the one is not for the other."""
    shutil.copytree(story.study.ledger.folder, tmp_path / "fork" / ".lacre")
    with lacre.open(tmp_path / "fork", state=tmp_path / "state") as fork:
        fork.deviate("parity", "here")
        fork.request_reveal("parity", story.study.predictions(0), story.file)
        assert "3" in story.refused(errors.RequestHistoryDiffers).message, "this one is shorter"
        story.study.ledger.deviate("parity", "there")
        refusal = story.refused(errors.RequestHistoryDiffers)
        assert "others" in refusal.message
        assert "lacre audit" in refusal.way_out


def test_a_request_from_before_is_good_while_the_ledger_grows(story: Story) -> None:
    story.ask()
    story.study.ledger.deviate("parity", "in between")
    assert story.answer().document["confirmatory"] is True


def test_a_request_for_a_pool_that_was_replaced_since_is_refused(story: Story) -> None:
    story.ask()
    story.study.ledger.seal("parity", "teste", story.study.cases(0), replace=True, reason="wrong export")
    assert story.refused(errors.RequestOutdated).fields["entry"] == 3
    story.ask(overwrite=True)
    assert story.answer().document["confirmatory"] is True


def test_a_request_under_a_plan_that_was_amended_since_is_refused(story: Story) -> None:
    story.ask()
    path = story.study.folder / "amended.yaml"
    path.write_text(
        (story.study.folder / "parity.yaml").read_text().replace("title: Errors", "title: Faults")
    )
    amended = story.study.ledger.amend(path, reason="words")
    refusal = story.refused(errors.RequestBeforeAmendment)
    assert refusal.fields["entry"] == amended.entry
    assert "lacre reveal parity --submission FILE --request-out FILE" in refusal.way_out
    story.ask(overwrite=True)
    assert story.answer().document["confirmatory"] is True


def test_a_request_whose_key_was_rotated_since_is_void(story: Story) -> None:
    story.ask()
    changed = story.study.ledger.rotate("person")
    assert "that nobody has answered yet are void" in " ".join(str(changed).split())
    refusal = story.refused(errors.RequestKeyRevoked)
    assert refusal.fields["entry"] == changed.entry
    assert "--key" not in refusal.way_out
    assert "lacre reveal parity --submission FILE --request-out FILE" in refusal.way_out
    story.ask(overwrite=True)
    assert story.answer().document["confirmatory"] is True


def test_what_a_key_asked_for_is_finished_though_it_was_revoked_meanwhile(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.ask()
    with monkeypatch.context() as patch:
        patch.setattr(reading, "record_result", _die)
        with pytest.raises(KeyboardInterrupt):
            story.answer()
    story.study.ledger.rotate("person")
    assert story.answer().document["confirmatory"] is True


def test_a_request_from_before_the_pool_changed_hands_is_made_anew(story: Story, tmp_path: Path) -> None:
    story.ask()
    heir = Identity.generate()
    (tmp_path / "heir.txt").write_bytes(heir.to_file())
    story.study.ledger.rewrap("parity", "teste", heir.recipient, identity=story.identity)
    story.refused(errors.IdentityCannotOpen)
    refusal = story.refused(errors.SubmissionCannotOpen, identity=tmp_path / "heir.txt")
    assert "made anew" in " ".join(refusal.way_out.split())
    assert story.answer(identity=[story.identity, tmp_path / "heir.txt"], dry_run=True), "both together can"
    story.ask(overwrite=True)
    assert story.answer(identity=tmp_path / "heir.txt").document["confirmatory"] is True


def test_a_withdrawn_study_answers_nothing(story: Story) -> None:
    story.ask()
    story.study.ledger.withdraw("parity", reason="over")
    story.refused(errors.StudyWithdrawn)


def test_a_nonce_that_another_request_used_is_refused(story: Story) -> None:
    """Two different requests under one nonce: the store takes the first."""
    story.ask()
    request = RequestFile.load(story.file)
    twin = _signed(story, request, accept_dev=True)
    story.answer()
    with pytest.raises(errors.NonceRepeated):
        story.answer(twin)
    assert story.study.size == 5


def _signed(story: Story, request: RequestFile, **changed: Any) -> Path:
    """The request with other fields, signed anew by the same person."""
    fields = request.asked.model_dump(exclude={"genesis", "seen", "verb"}, exclude_none=True)
    signed = sign_request(story.study.ledger._desk, Read, **{**fields, **changed})
    read = Read.model_validate_json(signed.payload)
    path = Path(story.study.folder) / "signed.lacre"
    replace(request, envelope=signed, asked=read).write(path, overwrite=True)
    return path


# --- the file -----------------------------------------------------------------------------------------------


def _parts(data: bytes) -> tuple[bytes, dict[str, Any], bytes]:
    """Magic, head and blobs of a file, by its documented layout alone."""
    magic, rest = data[:17], data[17:]
    (length,) = struct.unpack(">I", rest[:4])
    return magic, json.loads(rest[4 : 4 + length]), rest[4 + length :]


def _whole(magic: bytes, head: dict[str, Any], blobs: bytes) -> bytes:
    body = json.dumps(head, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()
    return magic + struct.pack(">I", len(body)) + body + blobs


def test_the_file_is_laid_out_as_documented(story: Story) -> None:
    story.ask(reason="porquê")
    data = story.file.read_bytes()
    magic, head, blobs = _parts(data)
    assert magic == b"lacre-request-v1\n"
    assert head.keys() == {"request", "reason", "sizes"}
    request = RequestFile.load(story.file).asked
    salt, text = bytes.fromhex(head["reason"]["salt"]), head["reason"]["text"]
    assert text == "porquê"
    assert hashlib.sha256(salt + text.encode()).hexdigest() == request.reason
    (submitted,) = request.submissions
    first, second = head["sizes"]
    assert hashlib.sha256(blobs[:first]).hexdigest() == submitted.blob
    assert hashlib.sha256(blobs[first:]).hexdigest() == submitted.wrapped_key
    assert len(blobs) == first + second
    assert _whole(magic, head, blobs) == data
    assert b"".join(RequestFile.decode(data, "x").encode()) == data


def test_one_byte_changed_anywhere_is_refused_and_nothing_appended(story: Story) -> None:
    """Each byte of magic and head, and every 97th of the blobs, in turn; decoding alone finds most of them."""
    story.ask(reason="why")
    data = story.file.read_bytes()
    start = len(data) - len(_parts(data)[2])
    changed = story.study.folder / "changed.lacre"
    before = story.study.size, story.blobs()
    whole = 0
    for place in [*range(start), *range(start, len(data), 97), len(data) - 1]:
        damaged = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        try:
            RequestFile.decode(damaged, "x")
        except errors.RequestFileInvalid:
            continue
        whole += 1
        if whole % 7:
            continue  # what the signature must find is alike; some of it is enough
        changed.write_bytes(damaged)
        with pytest.raises(errors.LacreError):
            story.answer(changed)
    assert whole, "a signature or key id changed is still a request file"
    assert (story.study.size, story.blobs()) == before
    for cut in (0, 5, 17, 20, 21, start - 1, start, len(data) - 1):
        with pytest.raises(errors.RequestFileInvalid):
            RequestFile.decode(data[:cut], "x")
    with pytest.raises(errors.RequestFileInvalid):
        RequestFile.decode(data + b"\0", "x")
    assert story.answer().state == "PASS"


def _without(head: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in head.items() if name not in names}


HOSTILE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no list": lambda _head: [1],
    "no request": lambda head: _without(head, "request"),
    "no sizes": lambda head: _without(head, "sizes"),
    "one member more": lambda head: {**head, "more": 1},
    "a reason nobody signed": lambda head: {**head, "reason": {"salt": "0" * 64, "text": "x"}},
    "a reason of another form": lambda head: {**head, "reason": {"salt": "0", "text": "x"}},
    "sizes of text": lambda head: {**head, "sizes": ["1", "2"]},
    "sizes of truth": lambda head: {**head, "sizes": [True, sum(head["sizes"]) - 1]},
    "a negative size": lambda head: {**head, "sizes": [-1, sum(head["sizes"]) + 1]},
    "too few sizes": lambda head: {**head, "sizes": [sum(head["sizes"])]},
    "too many sizes": lambda head: {**head, "sizes": [*head["sizes"], 0]},
    "sizes in another order": lambda head: {**head, "sizes": head["sizes"][::-1]},
    "huge sizes": lambda head: {**head, "sizes": [2**53 - 1, 2**53 - 1]},
    "an envelope of something else": lambda head: {
        **head,
        "request": {**head["request"], "payloadType": "application/vnd.in-toto+json"},
    },
    "two signatures": lambda head: {
        **head,
        "request": {
            **head["request"],
            "signatures": [
                *head["request"]["signatures"],
                {**head["request"]["signatures"][0], "keyid": "0" * 64},
            ],
        },
    },
    "no signature": lambda head: {**head, "request": {**head["request"], "signatures": []}},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_head_is_refused(story: Story, name: str) -> None:
    story.ask()
    magic, head, blobs = _parts(story.file.read_bytes())
    path = story.study.folder / "hostile.lacre"
    path.write_bytes(_whole(magic, HOSTILE[name](head), blobs))
    story.refused(errors.RequestFileInvalid, path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04",
        b"lacre-request-v2\n",
        b"lacre-request-v1\n\xff\xff\xff\xff{}",
        b"lacre-request-v1\n\x00\x00\x00\x02{}",
        b"lacre-request-v1\n\x00\x00\x00\x04null",
        b"lacre-request-v1\n\x00\x00\x20\x00" + b"[" * 0x2000,
        b"lacre-request-v1\n\x00\x00\x00\x05\xff\xff\xff\xff\xff",
    ],
)
def test_what_is_no_request_file_is_refused(story: Story, content: bytes) -> None:
    path = story.study.folder / "a\x1b[31m.lacre"
    path.write_bytes(content)
    refusal = story.refused(errors.RequestFileInvalid, path)
    assert "\x1b" not in refusal.message


def test_other_requests_are_not_for_answering(story: Story) -> None:
    story.ask()
    nothing = {"purpose": "inputs", "analyses": (), "submissions": ()}
    inputs = _signed(story, RequestFile.load(story.file), **nothing)
    assert "asks for no result" in story.refused(errors.RequestFileInvalid, inputs).message
    seal = story.study.ledger.show("@2").recorded.content.request_envelope
    path = story.study.folder / "seal.lacre"
    path.write_bytes(_whole(asking.MAGIC, {"request": seal.as_json(), "sizes": []}, b""))
    assert "asks for no result" in story.refused(errors.RequestFileInvalid, path).message


def test_a_request_for_a_run_is_not_answered_by_a_reveal(story: Story) -> None:
    story.ask()
    path = _signed(story, RequestFile.load(story.file), purpose="run")
    assert "it asks for a `run`" in story.refused(errors.RequestFileInvalid, path).message


def test_other_analyses_than_the_registered_are_refused(story: Story) -> None:
    story.ask()
    path = _signed(story, RequestFile.load(story.file), analyses=("rehearsal",))
    story.refused(errors.NothingToReveal, path)


def test_a_request_to_finish_what_is_no_crashed_read_is_refused(story: Story) -> None:
    story.ask()
    request = replace(RequestFile.load(story.file), blobs={})
    for entry in (0, 2, 77):
        story.refused(errors.FinishDiffers, _signed(story, request, finishes=entry))


def test_a_file_is_bounded(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.ask()
    monkeypatch.setattr(asking, "MOST", story.file.stat().st_size // 2)  # age pads at random
    assert "larger" in story.refused(errors.RequestFileInvalid).message
    with pytest.raises(errors.RequestFileInvalid):
        story.ask(overwrite=True)
    monkeypatch.setattr(asking, "MOST", 1 << 30)
    monkeypatch.setattr(asking, "MOST_HEAD", 100)
    assert "head" in story.refused(errors.RequestFileInvalid).message


def test_a_submission_that_does_not_fit_is_found_before_anything_is_spent(story: Story) -> None:
    """Who signs can encrypt anything; it is opened, typed and matched before the read."""
    desk = story.study.ledger._desk
    story.ask()
    request = RequestFile.load(story.file)
    state = desk.view("parity")
    pool = state.study.pools["teste"]
    for content, error in (
        (b"case_id,prediction\n000001,1\n000001,0\n", errors.TableKeyRepeated),
        (b"case_id,predicted\n000001,1\n", errors.TableColumnAbsent),
        (b"case_id,prediction\nX1,1\n", errors.ForeignCases),
    ):
        raws = (Raw("cases", Format.CSV, Held(content)),)
        sealed, ciphertext, wrapped = vault.encrypt_submission(
            context_of(state, "parity", pool, ""),
            [("cases", Held(content))],
            recipients=pool.recipients,
            entropy=desk.entropy,
        )
        other = replace(request, blobs={sealed.ciphertext: ciphertext, sealed.wrapped_key: wrapped})
        story.refused(error, _signed(story, other, submissions=(submitted("", raws, sealed),)))
    assert story.answer().state == "PASS"


def test_a_submission_made_for_another_pool_does_not_open_here(story: Story) -> None:
    """Its ciphertext is bound to study, pool, ledger and system."""
    desk = story.study.ledger._desk
    story.ask()
    request = RequestFile.load(story.file)
    state = desk.view("parity")
    pool = state.study.pools["teste"]
    content = story.study.predictions(0).read_bytes()
    sealed, ciphertext, wrapped = vault.encrypt_submission(
        replace(context_of(state, "parity", pool, ""), pool="dev"),
        [("cases", Held(content))],
        recipients=pool.recipients,
        entropy=desk.entropy,
    )
    other = replace(request, blobs={sealed.ciphertext: ciphertext, sealed.wrapped_key: wrapped})
    raws = (Raw("cases", Format.CSV, Held(content)),)
    story.refused(errors.PoolBlobChanged, _signed(story, other, submissions=(submitted("", raws, sealed),)))
