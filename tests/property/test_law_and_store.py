"""Random requests are put to the law alone and to the real store with its broker, and the two agree.

The model is the law folded in memory over what was accepted; the store is SQLite, written through the
broker's own `enter` and read back through `view`. Facts are drawn, since the law takes them as given.
"""

import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.studies import plan

from lacre import api
from lacre.broker.desk import append, enter, remember, sign_request, view
from lacre.errors import LacreError, LawError, ReadAlreadySpent
from lacre.ledger.keys import PrivateKey
from lacre.protocol.document import canonical, from_canonical, parse, protocol_hash
from lacre.rules.answers import AmendFacts, ErratumFacts, NoFacts, ReadFacts, RegisterFacts, SealFacts
from lacre.rules.custody import covers
from lacre.rules.decide import decide
from lacre.rules.record import LAW, PROTOCOL_MEDIA, Answered, Result, parse_entry, result_statement
from lacre.rules.requests import (
    Amend,
    Deviate,
    Erratum,
    KeyChange,
    Read,
    Register,
    Rewrap,
    Seal,
    SealedRecord,
    Withdraw,
    decode_request,
)
from lacre.rules.state import State, step

Z = "0" * 64
POOLS = ("dev", "teste", "contraste", "guarda")
ENGINES = ({"lacre": "1", "statistics": "1"}, {"lacre": "1", "statistics": "2"})
SUBMITTED = (
    {
        "system": "",
        "records": ({"table": "cases", "format": "csv", "hmac": Z},),
        "blob": Z,
        "wrapped_key": Z,
    },
)
CHANGES = (
    (b"title: Errors by sex", b"title: Errors, by sex"),
    (b"max_group_gap: 0.05", b"max_group_gap: 0.1"),
    (b"    key: case_id", b"    key: case_id\n    delimiter: ';'"),
)
KEYS = tuple(PrivateKey.from_seed(bytes([number]) * 32).public.raw.hex() for number in (31, 32))
OVERLAPS = ((), ({"study": "other", "pool": "dev", "kind": "cases", "count": 2},))

PROTOCOL = plan(
    "drawn",
    pools={
        "dev": "",
        "teste": "tables: [cases], planned: {cases: 100}",
        "contraste": "",
        "guarda": "tables: [cases], max_reads: 2",
    },
    analyses={"parity": "teste", "rehearsal": "dev"},
    gap="0.05",
).encode()


class LawAndStore(RuleBasedStateMachine):
    """One ledger, one study, any order of requests."""

    @initialize()
    def _begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        root = Path(self.folder.name)
        self.ledger = api.init(root, name="A", state=root / "state")
        self.desk = self.ledger._desk
        plans = [parse(PROTOCOL), *(parse(PROTOCOL.replace(*change)) for change in CHANGES)]
        self.protocols = {protocol_hash(plan): plan for plan in plans}
        self.hashes = list(self.protocols)
        documents = {key: from_canonical(canonical(plan)) for key, plan in self.protocols.items()}
        self.model = State(documents.__getitem__)
        with self.desk.snapshot() as reader:
            self._fold(reader.entry(0).envelope)

    def teardown(self) -> None:
        if hasattr(self, "ledger"):
            self.ledger.close()
            self.folder.cleanup()

    @property
    def in_force(self) -> str:
        """The protocol in force, by its hash; before the registration the one to come."""
        study = self.model.study
        return self.hashes[0] if study is None else study.in_force.protocol_hash

    def _fold(self, envelope: bytes) -> None:
        self.model = step(self.model, parse_entry(self.model.next_index, envelope))

    def _ask(self, kind: Any, facts: Any, **fields: Any) -> None:
        """Put one request to both; either both refuse with one code, or both decide alike."""
        if "study" in kind.model_fields:
            fields["study"] = "drawn"
        if "protocol" in kind.model_fields:
            fields.setdefault("protocol", self.in_force)
        signed = sign_request(self.desk, kind, **fields)
        by = self.desk.person(self.model).public.keyid
        try:
            expected: Any = decide(self.model, decode_request(signed.payload), by, facts)
        except LacreError as refusal:
            expected = refusal.code
        refused = None
        try:
            with self.desk.writer.transaction() as tx:
                for protocol in self.protocols.values():
                    tx.put_document(canonical(protocol), PROTOCOL_MEDIA)
                made = enter(self.desk, tx, view(tx, "drawn"), signed, facts)
            remember(self.desk, tx)
        except LawError as refusal:
            refused = refusal.code
        if refused is not None:
            assert refused == expected
            return
        assert isinstance(made.content, Answered)
        assert made.content.decision == expected
        self._fold(made.envelope.encode())

    @rule()
    def register(self) -> None:
        """Register the study, the first time or again."""
        self._ask(Register, RegisterFacts.model_validate({"engine": ENGINES[0]}))

    @rule(
        pool=st.sampled_from((*POOLS, "corpus")),
        rows=st.sampled_from((10, 100)),
        early=st.sampled_from((0, 0, 3)),
        overlaps=st.sampled_from(OVERLAPS),
        as_dev=st.booleans(),
        replaces=st.booleans(),
        tables=st.sampled_from((("cases",), ("cases",), ("more",))),
    )
    def seal(self, pool: str, rows: int, early: int, overlaps: Any, tables: Any, **asked: Any) -> None:
        """Seal some pool with some files, or seal it again."""
        study = self.model.study
        before = study.pools.get(pool) if study else None
        asked["replaces"] = before.sealed.entry if before and asked["replaces"] else None
        asked["reason"] = Z if asked["replaces"] and rows > 10 else None
        facts = SealFacts.model_validate(
            {
                "rows": dict.fromkeys(tables, rows),
                "early_labels": {"cases": early} if early else {},
                "exposed": overlaps,
            }
        )
        records = tuple(SealedRecord(table=table, format="csv", hmac=Z) for table in tables)
        digests = dict.fromkeys(("ciphertext", "wrapped_key", "fingerprints"), Z)
        self._ask(Seal, facts, pool=pool, **asked, records=records, recipients=("age1",), **digests)

    @rule(
        version=st.integers(0, len(CHANGES)),
        accept_burn=st.booleans(),
        engine=st.sampled_from(ENGINES),
    )
    def amend(self, version: int, accept_burn: bool, engine: Any) -> None:
        """Put another of the plans in force, or the same."""
        facts = AmendFacts.model_validate({"engine": engine})
        fields = {"protocol": self.hashes[version], "replaces": self.in_force, "reason": Z}
        self._ask(Amend, facts, accept_burn=accept_burn, **fields)

    @rule(about=st.one_of(st.none(), st.integers(0, 20)))
    def deviate(self, about: int | None) -> None:
        """Say something of the study or of an entry."""
        self._ask(Deviate, NoFacts(), about=about, text=Z)

    @precondition(lambda self: self.model.next_index > 12)
    @rule()
    def withdraw(self) -> None:
        """End the study."""
        self._ask(Withdraw, NoFacts(), reason=Z)

    @rule(corrects=st.integers(0, 20), pool=st.sampled_from(("teste", "dev")), same=st.booleans())
    def erratum(self, corrects: int, pool: str, same: bool) -> None:
        """Score some result again."""
        study = self.model.study
        found = study.result_read(corrects) if study and same else None
        asked = found[1].request if found else None
        records = (SealedRecord(table="cases", format="csv", hmac=Z),)
        self._ask(
            Erratum,
            ErratumFacts.model_validate({"engine": ENGINES[0], "rows": {"cases": 10}}),
            pool=asked.pool if asked else pool,
            protocol=asked.protocol if asked else self.in_force,
            analyses=asked.analyses if asked else ("parity",),
            submissions=asked.submissions if asked else (),
            corrects=corrects,
            records=records,
            recipients=("age1",),
            reason=Z,
            **dict.fromkeys(("ciphertext", "wrapped_key"), Z),
        )

    @rule(pool=st.sampled_from(("teste", "dev")), whole=st.booleans())
    def rewrap(self, pool: str, whole: bool) -> None:
        """Hand a pool over, whole or not."""
        kept = covers((Z,) if whole else ())
        self._ask(Rewrap, NoFacts(), pool=pool, recipients=("age1x",), wrapped_key=Z, covers=kept)

    @rule(
        action=st.sampled_from(("enrol", "revoke", "rotate")),
        public=st.sampled_from(KEYS),
        roles=st.sampled_from((("registrant",), ("owner", "custodian"), ("log",), ())),
    )
    def key(self, action: str, public: str, roles: Any) -> None:
        """Change keys that sign nothing here."""
        self._ask(KeyChange, NoFacts(), action=action, public=public, roles=roles, replaces=public)

    @rule(
        purpose=st.sampled_from(("reveal", "reveal", "run", "inputs")),
        pool=st.sampled_from(("teste", "teste", "dev", "contraste", "guarda")),
        analyses=st.sampled_from((("parity",), ("parity",), ("rehearsal",), ())),
        accept_dev=st.booleans(),
        accept_exposure=st.booleans(),
        finishes=st.one_of(st.none(), st.none(), st.integers(0, 12)),
        exposed=st.sampled_from(OVERLAPS),
        exposes=st.sampled_from(OVERLAPS),
        engine=st.sampled_from(ENGINES),
        submissions=st.sampled_from((SUBMITTED, SUBMITTED, ())),
    )
    def read(self, exposed: Any, exposes: Any, engine: Any, **fields: Any) -> None:
        """Read some pool for some purpose."""
        facts = ReadFacts.model_validate({"engine": engine, "exposed": exposed, "exposes": exposes})
        self._ask(Read, facts, **fields)

    @rule(data=st.data())
    def result(self, data: st.DataObject) -> None:
        """Give a read without a result its result."""
        study = self.model.study
        pools = study.pools.values() if study else ()
        waiting = [r.entry for p in pools for r in p.unfinished]
        waiting += [r.entry for p in pools for r in p.reads if r.read_class == "erratum" and r.result is None]
        if not waiting or study is None:
            return
        read = data.draw(st.sampled_from(waiting))
        pool = next(p.name for p in study.pools.values() if any(r.entry == read for r in p.reads))
        content = Result.model_validate(
            {
                "law": LAW,
                "time": self.desk.now(),
                "previous": self.model.last,
                "study": "drawn",
                "pool": pool,
                "read": read,
                "result": Z,
                "state": "FAIL",
                "confirmatory": False,
            }
        )
        with self.desk.writer.transaction() as tx:
            made = append(self.desk, tx, result_statement(content))
        remember(self.desk, tx)
        self._fold(made.envelope.encode())

    @invariant()
    def agree(self) -> None:
        """What the store folds to is what the law alone came to."""
        if not hasattr(self, "ledger"):
            return
        stored = self.desk.view("drawn")
        assert stored.study == self.model.study
        assert stored.keys == self.model.keys
        assert (stored.next_index, stored.last) == (self.model.next_index, self.model.last)

    @invariant()
    def one_first_read(self) -> None:
        """No pool has two reads of class `teste`, whatever was asked, and the index would refuse one."""
        if not hasattr(self, "ledger"):
            return
        with sqlite3.connect(self.desk.layout.database) as connection:
            query = "SELECT count(*) FROM entries WHERE read_class = 'teste' AND finishes IS NULL"
            (count,) = connection.execute(query).fetchone()
        connection.close()
        assert count <= 1


TestLawAndStore = pytest.mark.slow(LawAndStore.TestCase)
TestLawAndStore.settings = settings(
    max_examples=15,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def test_the_index_itself_refuses_a_second_first_read(tmp_path: Path) -> None:
    """A broker that forgot the law could not write two first reads: the unique index stands behind it."""
    machine = LawAndStore()
    machine._begin()
    machine.register()
    machine.seal(
        pool="teste", rows=100, early=0, overlaps=(), as_dev=False, replaces=False, tables=("cases",)
    )
    first = {"purpose": "reveal", "pool": "teste", "analyses": ("parity",), "submissions": SUBMITTED}
    machine.read(exposed=(), exposes=(), engine=ENGINES[0], **first)
    stale = machine.model
    before = State(stale.protocols)
    with machine.desk.snapshot() as reader:
        for entry in list(reader.entries(0, reader.size))[:-1]:
            before = step(before, parse_entry(entry.index, entry.envelope))
    signed = sign_request(machine.desk, Read, study="drawn", protocol=machine.in_force, **first)
    facts = ReadFacts.model_validate({"engine": ENGINES[0]})
    with pytest.raises(ReadAlreadySpent), machine.desk.writer.transaction() as tx:
        enter(machine.desk, tx, before, signed, facts)
    machine.teardown()
