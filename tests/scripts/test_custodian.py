"""A custodian in another folder reveals for a researcher who cannot: two people, two machines' memories, one ledger."""

import json
import random
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyrage
import pytest

from lacre.pools.seal import Identity

Shell = Any
CALL = ("reveal", "small", "--submission", "predictions.csv")


@dataclass(frozen=True)
class Two:
    """The researcher's folder, which holds the ledger, and the custodian's, which holds the identity."""

    researcher: Shell
    custodian: Shell

    @property
    def ledger(self) -> tuple[str, str]:
        """How the custodian names the ledger."""
        return "--ledger", str(self.researcher.folder / ".lacre")

    @property
    def answer(self) -> tuple[str, ...]:
        """How the custodian answers."""
        return ("reveal", "--request", "ask.lacre", "--identity", "identity.txt", *self.ledger)

    def send(self) -> None:
        """Take the request to the custodian."""
        (self.custodian.folder / "ask.lacre").write_bytes((self.researcher.folder / "ask.lacre").read_bytes())

    @property
    def size(self) -> int:
        """The number of entries."""
        return int(self.researcher.json("status")["entries"])


@pytest.fixture
def two(shell: Shell, shells: Callable[[], Shell]) -> Two:
    """A study sealed to the custodian alone."""
    custodian = shells()
    identity = Identity.generate()
    (custodian.folder / "identity.txt").write_bytes(identity.to_file())
    shell.write_small()
    shell.json("init")
    shell.json("register", "protocol.yaml")
    sealed = shell.json("seal", "small", "teste", "cases.csv", "--recipient", identity.recipient)
    assert (sealed["custody"], sealed["opens_here"]) == ("second keyholder", False)
    return Two(shell, custodian)


def test_a_custodian_reveals_for_a_researcher_who_cannot(two: Two) -> None:
    before = two.size
    refused = two.researcher.json(*CALL, expect=2)
    assert refused["error"]["code"] == "reveal-cannot-open"
    assert "--request-out" in refused["error"]["way_out"]
    assert two.size == before, "nothing was spent"
    assert two.researcher.json("audit")["findings"] == []

    told = " ".join(two.researcher.lacre("reveal", "--help").out.split())
    assert "with --ledger on a folder that both of you reach, never on a copy" in told
    asked = two.researcher.lacre(*CALL, "--request-out", "ask.lacre", "--reason", "for the paper")
    assert asked.status == 0
    assert "lacre reveal --request ask.lacre --identity FILE" in asked.out
    assert two.size == before, "nothing is on record yet"

    two.send()
    looked = two.custodian.lacre(*two.answer, "--dry-run")
    assert looked.status == 0
    assert "for the paper" in looked.out
    assert two.size == before

    result = two.custodian.json(*two.answer)
    assert (result["state"], result["standing"], result["confirmatory"]) == ("PASS", "teste", True)
    assert result["custody"] == "second keyholder"
    again = two.custodian.json(*two.answer, expect=2)
    assert again["error"]["code"] == "request-answered"
    assert result["result"] in again["error"]["message"]

    for shell in (two.researcher, two.custodian):
        report = shell.json("audit", result["result"], *two.ledger)
        assert (report["ok"], report["findings"]) == (True, [])
        assert report["story"]["seal"]["custody"] == "second keyholder"
    shown = two.researcher.lacre("show", result["result"])
    assert "Only both together can look" in " ".join(shown.out.split())
    refused = two.researcher.json(*CALL, expect=2)
    assert refused["error"]["code"] == "teste-already-read"


def test_the_custodian_s_machine_holds_the_ledger_and_the_researcher_s_key_is_enrolled(
    shell: Shell, shells: Callable[[], Shell]
) -> None:
    """The researcher has the entries and a key of their own; pools, broker and identity are the custodian's."""
    custodian, researcher = shell, shells()
    custodian.write_small()
    for name in ("protocol.yaml", "predictions.csv"):
        (researcher.folder / name).write_bytes((custodian.folder / name).read_bytes())
    custodian.json("init")
    made = researcher.json("key", "new", "me.pem")
    enrolled = custodian.json("key", "enrol", made["public"], "--role", "registrant")
    assert enrolled["entry"] == 1
    custodian.json("register", "protocol.yaml")
    custodian.json("seal", "small", "teste", "cases.csv")
    copy = researcher.folder / ".lacre"
    copy.mkdir()
    (copy / "ledger.db").write_bytes((custodian.folder / ".lacre/ledger.db").read_bytes())

    asked = researcher.json(*CALL, "--key", "me.pem", "--request-out", "ask.lacre")
    assert asked["unchecked"] == ["ids", "overlaps"]
    (custodian.folder / "ask.lacre").write_bytes((researcher.folder / "ask.lacre").read_bytes())
    looked = custodian.json("reveal", "--request", "ask.lacre", "--dry-run")
    assert looked["by"] == made["keyid"]
    result = custodian.json("reveal", "--request", "ask.lacre")
    assert (result["standing"], result["confirmatory"]) == ("teste", True)
    history = custodian.json("log", "small")["history"]
    assert [entry["by"] for entry in history if entry["kind"] == "read"] == [made["keyid"]]
    assert custodian.json("audit")["findings"] == []

    custodian.json("key", "revoke", made["keyid"])
    researcher.json(*CALL, "--key", "me.pem", "--accept-dev", "--request-out", "more.lacre")
    (custodian.folder / "more.lacre").write_bytes((researcher.folder / "more.lacre").read_bytes())
    refused = custodian.json("reveal", "--request", "more.lacre", expect=2)
    assert refused["error"]["code"] == "request-key-revoked"
    assert custodian.json("audit")["ok"] is True


def test_what_is_said_in_the_request_is_not_said_beside_it(two: Two) -> None:
    two.researcher.json(*CALL, "--request-out", "ask.lacre")
    two.send()
    for words in (("--accept-dev",), ("--accept-exposure",), ("--reason", "x"), ("--submission", "a.csv")):
        refused = two.custodian.json(*two.answer, *words, expect=2)
        assert refused["error"]["code"] == "request-carries-all"
        assert words[0] in refused["error"]["message"]
    assert two.custodian.json("reveal", *two.ledger, expect=2)["error"]["code"] == "study-not-named"
    other = two.custodian.json(*two.answer[:1], "other", *two.answer[1:], expect=2)
    assert other["error"]["code"] == "request-of-other-study"
    assert two.custodian.json(*two.answer[:1], "small", *two.answer[1:])["state"] == "PASS"


def test_a_pool_is_handed_on_and_the_first_custodian_can_no_longer_answer(two: Two) -> None:
    heir = Identity.generate()
    (two.custodian.folder / "heir.txt").write_bytes(heir.to_file())
    words = ("rewrap", "small", "teste", "--recipient", heir.recipient, "--reason", "she left")
    handed = two.custodian.json(*words, "--identity", "identity.txt", *two.ledger)
    assert (handed["keys"], handed["custody"]) == (1, "second keyholder")
    two.researcher.json(*CALL, "--request-out", "ask.lacre")
    two.send()
    assert two.custodian.json(*two.answer, expect=2)["error"]["code"] == "identity-cannot-open"
    result = two.custodian.json(*two.answer, "--identity", "heir.txt")
    assert (result["confirmatory"], result["custody"]) == (True, "second keyholder")
    assert two.researcher.json("audit")["findings"] == []


def test_an_identity_closed_with_a_passphrase_opens_with_it(two: Two) -> None:
    folder: Path = two.custodian.folder
    closed = pyrage.passphrase.encrypt((folder / "identity.txt").read_bytes(), "segredo")
    (folder / "identity.txt").write_bytes(closed)
    two.researcher.json(*CALL, "--request-out", "ask.lacre")
    two.send()
    refused = two.custodian.json(*two.answer, expect=2)
    assert refused["error"]["code"] == "passphrase-not-asked"
    (folder / "phrase").write_text("segredo\n")
    assert two.custodian.json(*two.answer, "--passphrase-file", "phrase")["state"] == "PASS"


def test_age_keygen_makes_a_custodian(
    shell: Shell, shells: Callable[[], Shell], tool: Callable[[str], str]
) -> None:
    custodian = shells()
    command = [tool("age-keygen"), "-o", str(custodian.folder / "identity.txt")]
    subprocess.run(command, check=True, capture_output=True)
    shown = subprocess.run(
        [tool("age-keygen"), "-y", str(custodian.folder / "identity.txt")],
        check=True,
        capture_output=True,
        text=True,
    )
    shell.write_small()
    shell.json("init")
    shell.json("register", "protocol.yaml")
    shell.json("seal", "small", "teste", "cases.csv", "--recipient", shown.stdout.strip())
    shell.json(*CALL, "--request-out", "ask.lacre")
    two = Two(shell, custodian)
    two.send()
    assert two.custodian.json(*two.answer)["confirmatory"] is True


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_killed_answer_is_finished_by_the_same_request(two: Two, seed: int) -> None:
    """kill -9 at any moment; the read is spent once, and the request gets its one result."""
    two.researcher.json(*CALL, "--request-out", "ask.lacre")
    two.send()
    draw = random.Random(seed)
    for _ in range(3):
        process = two.custodian.start(*two.answer, "--json")
        time.sleep(draw.uniform(0.3, 2.5))
        process.kill()
        process.communicate()
        assert two.researcher.json("audit")["findings"] == []
    last = two.custodian.lacre(*two.answer, "--json")
    document = json.loads(last.out)
    assert last.status == 0 or document["error"]["code"] == "request-answered"
    history = two.researcher.json("log")["history"]
    results = [entry for entry in history if entry["kind"] == "result"]
    assert len(results) == 1
    shown = two.researcher.json("show", f"small@{results[0]['entry']}")
    assert (shown["standing"], shown["read"], shown["confirmatory"]) == ("teste", 1, True)
    assert two.researcher.json("audit")["ok"] is True
