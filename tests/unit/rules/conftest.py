"""A world of the law alone: requests are decided and folded, with no store, no keys and no files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from types import MappingProxyType
from typing import Any

import pytest

from lacre.ledger.envelope import PAYLOAD_REQUEST, Envelope, Signature
from lacre.ledger.keys import PrivateKey
from lacre.protocol.document import parse, protocol_hash
from lacre.protocol.models import Protocol
from lacre.protocol.thresholds import CalibratedThreshold
from lacre.rules.answers import (
    AmendFacts,
    CalibrateDecision,
    CalibrateFacts,
    CommitFacts,
    Decision,
    Engine,
    EraseFacts,
    ErratumFacts,
    Facts,
    Infeasible,
    NoFacts,
    Overlap,
    ReadDecision,
    ReadFacts,
    RegisterFacts,
    SampleFacts,
    SealFacts,
)
from lacre.rules.custody import covers
from lacre.rules.decide import decide
from lacre.rules.record import Answered, FirstKey, Genesis, Recorded, Result
from lacre.rules.requests import (
    HANDS_OUT,
    Amend,
    Calibrate,
    Commit,
    Deviate,
    Erase,
    Erratum,
    KeyChange,
    Read,
    Register,
    Request,
    Rewrap,
    Sample,
    Seal,
    SealedRecord,
    Submitted,
    Withdraw,
)
from lacre.rules.state import State, step

PERSON = PrivateKey.from_seed(b"\x01" * 32).public
CUSTODIAN = PrivateKey.from_seed(b"\x02" * 32).public
BROKER = PrivateKey.from_seed(b"\x03" * 32).public
LOG = PrivateKey.from_seed(b"\x04" * 32).public
NEW = PrivateKey.from_seed(b"\x05" * 32).public
ENGINE = Engine(lacre="1", statistics="1")
Z = "0" * 64
FOUND: Mapping[str, Any] = MappingProxyType(
    {"value": "0.5", "low": "0.4", "high": "0.6", "cases": 100, "confidence": "0.95"}
)
"""A threshold as a calibration found it, but for its name and system, and what its rule is."""

TEMPLATE = """
lacre: 1
study: {study}
title: Errors by sex
question: Does it err more often for one sex?
language: en
data: {{identifiable: false, prior_exposure: {exposure}}}
tables:
  cases:
    key: case_id
    columns:
      case_id: {{type: text}}
      label: {{type: outcome, positive: "1", negative: "0"}}
      prediction: {{type: outcome, positive: "1", negative: "0", from: submission}}
      sex: {{type: category, values: [female, male], is: input}}
pools:
  dev: {{tables: [cases]}}
  teste: {{tables: [cases], planned: {{cases: 100}}}}
  contraste: {{tables: [cases]}}
  guarda: {{tables: [cases], max_reads: 2}}
analyses:
  parity:
    kind: group_fairness
    pool: teste
    table: cases
    label: label
    prediction: prediction
    attributes: [sex]
    criteria: [{{id: gap, metric: error, by: [sex], max_group_gap: 0.05}}]
  rehearsal:
    kind: group_fairness
    pool: dev
    table: cases
    label: label
    prediction: prediction
    attributes: [sex]
    criteria: [{{id: gap, metric: error, by: [sex], max_group_gap: 0.05}}]
  differential:
    kind: group_fairness
    pool: contraste
    table: cases
    label: label
    prediction: prediction
    attributes: [sex]
    criteria: [{{id: gap, metric: error, by: [sex], {gap}}}]
"""


@dataclass
class World:
    """The law's view of one ledger and one study, told in keyword arguments."""

    protocols: dict[str, Protocol] = field(default_factory=dict)
    study: str = "parity"
    clock: int = 0
    index: int = 0
    history: list[Recorded] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.state = State(self.protocols.__getitem__)
        keys = (
            FirstKey(public=PERSON.raw.hex(), roles=("owner", "registrant", "custodian")),
            FirstKey(public=CUSTODIAN.raw.hex(), roles=("custodian",)),
            FirstKey(public=BROKER.raw.hex(), roles=("broker",)),
            FirstKey(public=LOG.raw.hex(), roles=("log",)),
        )
        genesis = Genesis(law=1, time=self.tick(), ledger=Z, origin="o", keys=keys, recipient="age1")
        self._append("genesis", genesis)

    @property
    def custodian(self) -> str:
        """A key that may seal and nothing else."""
        return CUSTODIAN.keyid

    def tick(self) -> str:
        """One minute later."""
        self.clock += 1
        return f"2026-01-01T{self.clock // 60:02d}:{self.clock % 60:02d}:00.000000Z"

    def add(self, exposure: str = "none", study: str | None = None, gap: str = "max_group_gap: 0.05") -> str:
        """A protocol of the study, as a document; its hash."""
        protocol = parse(TEMPLATE.format(study=study or self.study, exposure=exposure, gap=gap).encode())
        self.protocols[protocol_hash(protocol)] = protocol
        return protocol_hash(protocol)

    def ask(self, request: Request, facts: Facts, by: str = PERSON.keyid) -> Decision:
        """Decide and, unless refused, record."""
        decision = decide(self.state, request, by, facts)
        envelope = Envelope(PAYLOAD_REQUEST, request.encode(), (Signature(by, bytes(64)),))
        answered = Answered(self.tick(), self.state.last, by, request, envelope, facts, decision)
        self._append(request.verb, answered)
        return decision

    def _append(self, kind: str, content: Genesis | Answered | Result) -> None:
        envelope = Envelope(PAYLOAD_REQUEST, b"{}", (Signature(Z, bytes(64)),))
        recorded = Recorded(self.index, kind, envelope, bytes(32), content)
        self.state = step(self.state, recorded)
        self.history.append(recorded)
        self.index += 1

    def _bound(self, **fields: Any) -> dict[str, Any]:
        nonce = f"{self.index:032x}"
        seen = {"size": self.index, "root": Z}
        return {"genesis": self.state.genesis, "seen": seen, "nonce": nonce, "study": self.study, **fields}

    def register(
        self,
        protocol: str | None = None,
        by: str = PERSON.keyid,
        *,
        infeasible: tuple[Infeasible, ...] | None = None,
        accept_infeasible: str | None = None,
    ) -> Decision:
        """Register the study."""
        fields = self._bound(protocol=protocol or self.add(), accept_infeasible=accept_infeasible)
        facts = RegisterFacts(engine=ENGINE, infeasible=infeasible)
        return self.ask(Register.model_validate(fields), facts, by)

    def in_force(self) -> str:
        """The hash of the protocol in force."""
        assert self.state.study is not None
        return self.state.study.in_force.protocol_hash

    def seal(
        self,
        pool: str,
        rows: int = 100,
        *,
        by: str = PERSON.keyid,
        tables: tuple[str, ...] = ("cases",),
        **more: Any,
    ) -> Decision:
        """Seal a pool; `more` are facts, or fields of the request."""
        names = ("as_dev", "protocol", "replaces", "reason", "recipients")
        asked = {key: more.pop(key) for key in names if key in more}
        records = tuple(SealedRecord(table=t, format="csv", hmac=Z) for t in tables)
        fields = self._bound(pool=pool, records=records, ciphertext=Z, wrapped_key=Z, fingerprints=Z)
        protocol = asked.pop("protocol", None) or (self.in_force() if self.state.study else Z)
        request = Seal.model_validate({**fields, "protocol": protocol, "recipients": ("age1",), **asked})
        return self.ask(request, SealFacts.model_validate({"rows": dict.fromkeys(tables, rows), **more}), by)

    def read(
        self, purpose: str, pool: str, *analyses: str, by: str = PERSON.keyid, **more: Any
    ) -> ReadDecision:
        """Read a pool; `more` are facts, or fields of the request."""
        asked = {key: more.pop(key) for key in Read.model_fields if key in more}
        protocol = asked.pop("protocol", None) or (self.in_force() if self.state.study else Z)
        if purpose not in HANDS_OUT:
            asked.setdefault("submissions", (one_submission(),))
        fields = self._bound(purpose=purpose, pool=pool, analyses=analyses, protocol=protocol, **asked)
        request = Read.model_validate(fields)
        decision = self.ask(request, ReadFacts.model_validate({"engine": ENGINE, **more}), by)
        assert isinstance(decision, ReadDecision)
        return decision

    def reveal(self, **more: Any) -> ReadDecision:
        """Reveal `teste`."""
        return self.read("reveal", "teste", "parity", **more)

    def put(self, text: str) -> str:
        """Keep a protocol as a document; its hash."""
        protocol = parse(text.encode())
        self.protocols[protocol_hash(protocol)] = protocol
        return protocol_hash(protocol)

    def amend(self, protocol: str, by: str = PERSON.keyid, **more: Any) -> Decision:
        """Amend the study; `more` are facts, or fields of the request."""
        names = ("accept_burn", "accept_infeasible", "replaces")
        asked = {key: more.pop(key) for key in names if key in more}
        asked.setdefault("replaces", self.in_force())
        fields = self._bound(protocol=protocol, reason=Z, **asked)
        facts = AmendFacts.model_validate({"engine": ENGINE, **more})
        return self.ask(Amend.model_validate(fields), facts, by)

    def deviate(self, about: int | None = None) -> Decision:
        """Put words on record."""
        return self.ask(Deviate.model_validate(self._bound(about=about, text=Z)), NoFacts())

    def withdraw(self) -> Decision:
        """Withdraw the study."""
        return self.ask(Withdraw.model_validate(self._bound(reason=Z)), NoFacts())

    def erratum(self, corrects: int, tables: tuple[str, ...] = ("cases",), **more: Any) -> ReadDecision:
        """Score the result at `corrects` again; `more` are fields of the request, or the engine."""
        engine = more.pop("engine", ENGINE)
        given = {
            "pool": "teste",
            "protocol": self.in_force(),
            "analyses": ("parity",),
            "submissions": (one_submission(),),
            **more,
        }
        records = tuple(SealedRecord(table=t, format="csv", hmac=Z) for t in tables)
        fields = self._bound(
            corrects=corrects, records=records, ciphertext=Z, wrapped_key=Z, recipients=("age1",), reason=Z
        )
        facts = ErratumFacts(engine=engine, rows=dict.fromkeys(tables, 100))
        decision = self.ask(Erratum.model_validate({**fields, **given}), facts)
        assert isinstance(decision, ReadDecision)
        return decision

    def rewrap(
        self,
        pool: str,
        recipients: tuple[str, ...],
        kept: tuple[str, ...],
        keyset: str = "1" * 64,
        **more: Any,
    ) -> Decision:
        """Hand a pool to others, with the keys of the ciphertexts `kept`."""
        fields = self._bound(pool=pool, recipients=recipients, wrapped_key=keyset, covers=covers(kept))
        return self.ask(Rewrap.model_validate(fields), NoFacts(), **more)

    def key(self, action: str, public: str, by: str = PERSON.keyid, **more: Any) -> Decision:
        """Change who may act."""
        fields = self._bound(action=action, public=public, **more)
        del fields["study"]
        return self.ask(KeyChange.model_validate(fields), NoFacts(), by)

    def erase(self, named: int, by: str = PERSON.keyid) -> Decision:
        """Erase the text that the entry `named` named."""
        fields = self._bound(digest=Z)
        del fields["study"]
        return self.ask(Erase.model_validate(fields), EraseFacts(named=named), by)

    def result(
        self, read: int, state: str = "FAIL", pool: str = "teste", computed: str | None = None
    ) -> None:
        """Record a result of the read at entry `read`."""
        content = Result.model_validate(
            {
                "law": 1,
                "time": self.tick(),
                "previous": self.state.last or 0,
                "study": self.study,
                "pool": pool,
                "read": read,
                "result": Z,
                "state": state,
                "confirmatory": True,
                "computed": computed,
            }
        )
        self._append("result", content)

    def run(self, analysis: str, pool: str, **more: Any) -> ReadDecision:
        """Run one analysis on a pool."""
        return self.read("run", pool, analysis, **more)

    def attained(self, name: str) -> dict[str, Any]:
        """The rule of a threshold, and as many of a hundred cases at it as the rule says."""
        registered = self.state.study.in_force.protocol.thresholds.get(name) if self.state.study else None
        ((target, at),) = (
            registered.at.items() if isinstance(registered, CalibratedThreshold) else [("-", 0.5)]
        )
        return {"target": target, "at": repr(float(at)), "events": round(100 * float(at))}

    def calibrate(
        self,
        read: int,
        thresholds: tuple[str, ...],
        frozen: tuple[tuple[str, str], ...] | None = None,
        *,
        by: str = PERSON.keyid,
        found: Mapping[str, Any] = MappingProxyType({}),
        **more: Any,
    ) -> CalibrateDecision:
        """Freeze thresholds that the read at entry `read` found; `frozen` are names and systems, if not just those.

        `found` is said of them in place of what the rule gives.
        """
        named = [(name, "") for name in thresholds] if frozen is None else frozen
        said = tuple(
            {**FOUND, **self.attained(name), "name": name, "system": system, **found}
            for name, system in named
        )
        facts = CalibrateFacts.model_validate({"engine": ENGINE, "thresholds": said})
        fields = self._bound(read=read, thresholds=thresholds, **{"protocol": self.in_force(), **more})
        decision = self.ask(Calibrate.model_validate(fields), facts, by)
        assert isinstance(decision, CalibrateDecision)
        return decision

    def sample(
        self,
        drawn: dict[str, int],
        frame: str = Z,
        draw: str = "faces",
        by: str = PERSON.keyid,
        population: int = 1000,
        **more: Any,
    ) -> Decision:
        """Draw from a frame of so many units a stratum; `more` are fields of the request, or rows in no stratum."""
        strata = tuple({"stratum": s, "population": population, "drawn": n} for s, n in drawn.items())
        facts = SampleFacts.model_validate({"strata": strata, "outside": more.pop("outside", 0)})
        fields = self._bound(protocol=self.in_force(), draw=draw, frame=frame, **more)
        return self.ask(Sample.model_validate(fields), facts, by)

    def commit(self, read: int, pool: str = "teste", draw: str = "faces", **found: Any) -> Decision:
        """Commit to second labels of the whole share drawn, two days apart, or as `found` says."""
        study = self.state.study
        plan = None if study is None else study.in_force.protocol.relabel.get(draw)
        rows = {} if study is None else study.pools[pool].sealed.facts.rows
        share = ceil(float(plan.fraction) * rows.get(draw, 0)) if plan else 0
        facts = CommitFacts.model_validate({"rows": share, "absent": 0, "days_apart": 2, **found})
        records = (SealedRecord(table="faces", format="csv", hmac=Z),)
        fields = self._bound(
            part="relabels", pool=pool, protocol=self.in_force(), draw=draw, read=read, records=records, blob=Z,
            wrapped_key=Z,
        )  # fmt: skip
        return self.ask(Commit.model_validate(fields), facts)

    def standing(self, pool: str) -> str:
        """What the pool counts as now."""
        assert self.state.study is not None
        return self.state.study.pools[pool].standing


@pytest.fixture
def world() -> World:
    """A ledger with keys and nothing else."""
    return World()


@pytest.fixture
def registered(world: World) -> World:
    """A ledger with the study registered."""
    world.register()
    return world


@pytest.fixture
def sealed(registered: World) -> World:
    """A study with all its pools sealed."""
    for pool in ("dev", "teste", "contraste", "guarda"):
        registered.seal(pool)
    return registered


@pytest.fixture
def overlap() -> Callable[..., Overlap]:
    """An overlap with another pool."""

    def make(study: str = "other", pool: str = "dev", kind: str = "cases", count: int = 3) -> Overlap:
        return Overlap.model_validate({"study": study, "pool": pool, "kind": kind, "count": count})

    return make


def one_submission(system: str = "", digest: str = Z, table: str = "cases") -> Submitted:
    """A submission on record."""
    record = SealedRecord(table=table, format="csv", hmac=digest)
    return Submitted(system=system, records=(record,), blob=digest, wrapped_key=Z)


@pytest.fixture
def submitted() -> Callable[..., Submitted]:
    """A submission on record."""
    return one_submission
