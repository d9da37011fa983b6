"""`register`: put a validated protocol in the ledger, before any data exists."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lacre.analyses.reach import out_of_reach
from lacre.broker.desk import (
    Desk,
    Progress,
    answered,
    put_on_record,
    sign_request,
)
from lacre.broker.files import parse_given
from lacre.broker.outcomes import Checked, Registered
from lacre.broker.texts import salted_words, visible
from lacre.durable import read_given
from lacre.errors import CriterionInfeasible
from lacre.ledger.merkle import inclusion_proof
from lacre.ledger.proof import Receipt
from lacre.protocol.document import canonical, parse, protocol_hash
from lacre.protocol.models import Protocol
from lacre.protocol.strict_yaml import MAX_BYTES
from lacre.rules.answers import Engine, Infeasible, RegisterFacts
from lacre.rules.record import PROTOCOL_MEDIA
from lacre.rules.requests import Register
from lacre.stats import VERSION as STATISTICS
from lacre.text import _
from lacre.version import VERSION


def engine() -> Engine:
    """What computes here."""
    return Engine(lacre=VERSION, statistics=STATISTICS)


def load_protocol(source: str | Path | bytes) -> tuple[str, Protocol]:
    """The protocol of a file (or of its bytes), with a name to show."""
    if isinstance(source, bytes):
        return "protocol", parse(source)
    path = Path(source)
    return path.name, parse(read_given(path, most=MAX_BYTES), path.name)


def check(source: str | Path | bytes, files: Sequence[str], progress: Progress) -> Checked:
    """Validate a protocol and say what its criteria need; touches no ledger.

    `files` are read as the protocol declares its tables, so that a plan can be tried on cases that are no
    secret before it is registered.
    """
    from lacre.analyses.feasibility import requirements

    name, protocol = load_protocol(source)
    tried = _try(protocol, files, progress) if files else {}
    needs, said = requirements(protocol, progress), resampling(protocol)
    return Checked(name, protocol, protocol_hash(protocol), needs, warnings=said, **tried)


def resampling(protocol: Protocol) -> tuple[str, ...]:
    """Say of which analyses fewer resamples are registered than their bounds take; nothing is refused for it."""
    from lacre.analyses.feasible_verification import few_resamples
    from lacre.analyses.reasons import render

    return tuple(map(render, few_resamples(protocol)))


def _try(protocol: Protocol, files: Sequence[str], progress: Progress) -> dict[str, dict[str, int]]:
    """Read files as those of a pool, or of a submission where they look like one; the fields of `Checked`."""
    from lacre.broker.ingest import (
        check_units,
        load,
        looks_submitted,
        outside,
        read_pool_tables,
        read_submission_tables,
    )

    raws = load(parse_given(files, tuple(protocol.tables)))
    submitted = [raw for raw in raws if looks_submitted(protocol, raw)]
    tables = read_pool_tables(protocol, [raw for raw in raws if raw not in submitted], progress)
    check_units(protocol, tables)
    answers = read_submission_tables(protocol, submitted, progress)
    return {
        "rows": {name: table.typed.rows for name, table in tables.items()},
        "outside": outside(protocol, tables) | outside(protocol, answers),
        "submitted": {name: table.typed.rows for name, table in answers.items()},
    }


def infeasible_criteria(protocol: Protocol) -> tuple[Infeasible, ...] | None:
    """The criteria that pass, or fail, at no outcome at all; None where there are none, as facts have it."""
    from lacre.analyses.feasibility import infeasible

    return infeasible(protocol) or None


@contextmanager
def numbers_told(protocol: Protocol) -> Iterator[None]:
    """Have a refusal of criteria say what each would take: the law knows that a verdict is out of reach, not why."""
    try:
        yield
    except CriterionInfeasible as refused:
        from lacre.analyses.feasibility import infeasible_needs

        lines = [line for need in infeasible_needs(protocol) for line in out_of_reach(need)]
        raise CriterionInfeasible(criteria="\n".join(lines)) from refused


def register(desk: Desk, source: str | Path | bytes, *, accept_infeasible: str | None = None) -> Registered:
    """Register a protocol as a new study and give its receipt (rule 1).

    `accept_infeasible` is why a criterion is kept that no outcome passes, or none fails; `CriterionInfeasible`
    without it. Where there is no such criterion it is not kept, and the answer says so.
    """
    _name, protocol = load_protocol(source)
    digest = protocol_hash(protocol)
    study = protocol.study
    facts = RegisterFacts(engine=engine(), infeasible=infeasible_criteria(protocol))
    reason = salted_words(desk, visible(accept_infeasible), "register") if facts.infeasible else None
    signed = sign_request(
        desk, Register, study=study, protocol=digest, accept_infeasible=reason.digest if reason else None
    )
    documents = [(canonical(protocol), PROTOCOL_MEDIA)]
    with numbers_told(protocol):
        made, warnings = put_on_record(desk, study, signed, facts, reason, documents=documents)
    return Registered(
        study=study,
        entry=made.index,
        time=answered(made).time,
        protocol_hash=digest,
        receipt=receipt(desk, made.index),
        infeasible=facts.infeasible or (),
        warnings=(*not_needed(accept_infeasible, facts), *resampling(protocol), *warnings),
    )


def not_needed(reason: str | None, facts: RegisterFacts) -> tuple[str, ...]:
    """Say when a reason for keeping infeasible criteria was given, and there are none."""
    if reason is None or facts.infeasible:
        return ()
    return (_("Every criterion can pass and can fail, so the reason given is not on record."),)


def receipt(desk: Desk, index: int) -> bytes:
    """A C2SP tlog-proof that the entry at `index` stands in the tree of the latest checkpoint."""
    with desk.snapshot() as reader:
        checkpoint = reader.checkpoint()
        assert checkpoint is not None
        hashes = inclusion_proof(index, reader.size, reader.subtree)
        return Receipt(index, hashes, checkpoint).format()
