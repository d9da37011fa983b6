"""Every outcome as one JSON document: which names it has is a contract, which more join it is not."""

import dataclasses
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lacre.audit.findings import Noted
from lacre.audit.report import AuditReport
from lacre.audit.story import Story
from lacre.broker import groundwork, outcomes
from lacre.broker.amplified import Amplified
from lacre.broker.scanned import Scanned
from lacre.protocol.document import value_of
from lacre.report import (
    change_json,
    corpus_json,
    draws_text,
    groundwork_json,
    history,
    images,
    keys_json,
    published,
    rebalance_text,
    scan_text,
)
from lacre.report.chosen import chosen
from lacre.report.values import PRESENTED, Document, lists, wires
from lacre.rules.history import ReadMade
from lacre.rules.record import Answered, Recorded
from lacre.rules.requests import Erratum
from lacre.rules.state import CorpusState, PoolState, StudyState

if TYPE_CHECKING:
    # SciPy comes with it.
    from lacre.analyses.feasibility import Need

FIRST = (
    *("study", "protocol", "pool", "standing", "now", "read", "confirmatory", "state"),
    *("analyses", "custody", "anchors", "engine"),
)
"""A result's own names, in their order."""


def result(shown: outcomes.ResultShown) -> Document:
    """Return a result: what was stored, as it was stored, and what is added when it is shown."""
    stored = shown.document
    added = {"now": shown.now, "custody": shown.custody, "anchors": []}
    known = {name: added[name] if name in added else stored[name] for name in FIRST}
    return {
        "result": shown.name,
        **known,
        **{name: value for name, value in stored.items() if name not in known},
        **change_json.beside(shown),
        "shortfall": wires(shown.shortfall),
        **draws_text.as_json(shown.draws),
        "ignored": lists(shown.ignored),
        "finished": shown.finished,
        **({} if shown.reads_left is None else {"reads_left": shown.reads_left}),
        **({"gated": wires(shown.gated)} if shown.gated else {}),
        "warnings": list(shown.warnings),
    }


def planned(plan: outcomes.ReadPlanned) -> Document:
    """Return what a read would be."""
    return {
        "study": plan.study,
        "pool": plan.pool,
        "dry_run": True,
        **plan.decision.as_json(),
        "custody": plan.custody,
        "submissions": wires(plan.submissions),
        "ignored": lists(plan.ignored),
        "outside": dict(plan.outside),
        "finishes": plan.finishes,
        "exposes": wires(plan.exposes),
        "unchecked": list(plan.unchecked),
        "undecidable": [dataclasses.asdict(each) for each in plan.undecidable],
        "by": plan.by,
        "name": plan.name,
        "reason": plan.reason,
        **({} if plan.reads_left is None else {"reads_left": plan.reads_left, "answered": plan.answered}),
        **({"gated": wires(plan.gated)} if plan.gated else {}),
    }


def made(ledger: outcomes.LedgerMade) -> Document:
    """Return a new ledger."""
    return {
        "ledger": str(ledger.folder),
        "origin": ledger.origin,
        "genesis": ledger.genesis,
        "verifier_key": ledger.verifier_key,
        "passphrase": ledger.passphrase,
        "name": ledger.name,
    }


def checked(check: outcomes.Checked) -> Document:
    """Return a valid protocol: its canonical form, and what it needs."""
    protocol = check.protocol
    return {
        "valid": True,
        "file": check.name,
        "study": protocol.study,
        "protocol": PRESENTED + check.protocol_hash,
        "pools": {
            name: {"role": pool.role, "tables": list(pool.tables), "planned": dict(pool.planned)}
            for name, pool in protocol.pools.items()
        },
        "analyses": {
            name: {"kind": plan.kind, "pool": plan.pool, "table": plan.table}
            for name, plan in protocol.analyses.items()
        },
        "needs": [_need(need) for need in check.needs],
        "rows": dict(check.rows),
        "outside": dict(check.outside),
        "submitted": dict(check.submitted),
        "warnings": list(check.warnings),
        "canonical": value_of(protocol),
    }


def _need(need: "Need") -> Document:
    found, size = need.prospect, need.needed
    return {
        "analysis": need.analysis,
        "criterion": need.criterion,
        "metric": need.metric,
        "groups": need.groups,
        "to_pass": need.minimum.to_pass,
        "to_fail": need.minimum.to_fail,
        "can_pass": need.attainable.passes,
        "can_fail": need.attainable.fails,
        "planned": need.planned,
        "too_few_planned": need.too_few_planned,
        "p_pass": found.passes if found else None,
        "p_pass_error": found.passes_error if found else None,
        "p_fail": found.fails if found else None,
        "p_fail_error": found.fails_error if found else None,
        "simulations": found.simulations if found else None,
        "for_80": {"smallest_group": size.smallest, "rows": size.rows} if size else None,
        **({} if need.counted == "cases" and not need.more else {"counted": need.counted, **need.more}),
    }


def registered(study: outcomes.Registered) -> Document:
    """Return a registration, with its receipt."""
    return {
        "study": study.study,
        "entry": study.entry,
        "time": study.time,
        "protocol": PRESENTED + study.protocol_hash,
        "receipt": study.receipt.decode(),
        "infeasible": wires(study.infeasible),
        "warnings": list(study.warnings),
    }


def sealed(pool: outcomes.PoolSealed) -> Document:
    """Return a sealed pool."""
    return {
        "study": pool.study,
        "pool": pool.pool,
        "entry": pool.entry,
        "time": pool.time,
        "standing": pool.standing,
        "rows": dict(pool.rows),
        "undeclared": lists(pool.undeclared),
        "outside": dict(pool.outside),
        "shortfall": wires(pool.shortfall),
        "overlaps": wires(pool.overlaps),
        "remembered": pool.remembered,
        **({"draws": wires(pool.draws)} if pool.draws else {}),
        "recipients": list(pool.recipients),
        "custody": pool.custody,
        "opens_here": pool.opens_here,
        "replaces": pool.replaces,
        "handed_out": list(pool.handed_out),
        "warnings": list(pool.warnings),
    }


def rewrapped(pool: outcomes.PoolRewrapped) -> Document:
    """Return a pool in other hands."""
    return {
        "study": pool.study,
        "pool": pool.pool,
        "entry": pool.entry,
        "time": pool.time,
        "before": list(pool.before),
        "recipients": list(pool.recipients),
        "keys": pool.keys,
        "custody": pool.custody,
        "opens_here": pool.opens_here,
        "warnings": list(pool.warnings),
    }


def requested(request: outcomes.RequestWritten) -> Document:
    """Return a request that was written to a file."""
    return {
        "study": request.study,
        "pool": request.pool,
        "request_file": str(request.path),
        **request.decision.as_json(),
        "custody": request.custody,
        "recipients": list(request.recipients),
        "submissions": wires(request.submissions),
        "ignored": lists(request.ignored),
        "outside": dict(request.outside),
        "finishes": request.finishes,
        "unchecked": list(request.unchecked),
    }


def inputs(written: outcomes.InputsWritten) -> Document:
    """Return what was handed out."""
    return {
        "study": written.study,
        "pool": written.pool,
        "entry": written.entry,
        "table": written.table,
        "path": str(written.path),
        "rows": written.rows,
        "columns": list(written.columns),
        "custody": written.custody,
        "formulas": written.formulas,
        "warnings": list(written.warnings),
    }


def status(ledger: outcomes.LedgerStatus) -> Document:
    """Return where things stand."""
    return {
        "ledger": str(ledger.folder),
        "origin": ledger.origin,
        "genesis": ledger.genesis,
        "verifier_key": ledger.verifier_key,
        "entries": ledger.size,
        "root": ledger.root,
        "verifier_keys": list(ledger.verifier_keys),
        "keys": keys_json.keys_of(ledger.keys, ledger.names, ledger.erased),
        "studies": [
            {
                **_study(study),
                "custody": dict(ledger.custody.get(study.slug, {})),
                "departures": len(ledger.departures.get(study.slug, ())),
            }
            for study in ledger.studies
        ],
        "warnings": list(ledger.warnings),
    }


def recovered(ledger: outcomes.Recovered) -> Document:
    """Return what came back, or would."""
    return {
        "ledger": str(ledger.folder),
        "dry_run": ledger.dry_run,
        "before": ledger.before,
        "entries": ledger.size,
        "root": ledger.root,
        "recovered": _history(ledger.entries, ledger.names),
        "documents": ledger.documents,
        "erased": ledger.erased,
        "lost_documents": [dataclasses.asdict(each) for each in ledger.lost_documents],
        "lost_files": [{**dataclasses.asdict(each), "path": str(each.path)} for each in ledger.lost_blobs],
        "warnings": list(ledger.warnings),
    }


def log(entries: outcomes.Log) -> Document:
    """Return entries in words, under the names of an audit's history."""
    return {
        "history": _history(entries.entries, entries.names),
        "custody": {study: dict(grades) for study, grades in entries.custody.items()},
        "warnings": list(entries.warnings),
    }


def study(shown: outcomes.StudyShown) -> Document:
    """Return one study, whole."""
    protocol = shown.study.in_force.protocol
    return {
        **_study(shown.study),
        **groundwork_json.on_record(shown.study),
        "texts": {digest: change_json.text(each) for digest, each in shown.texts.items()},
        "title": protocol.title,
        "question": protocol.question,
        "custody": dict(shown.custody),
        "departures": len(shown.departures),
        "history": _history(shown.entries, shown.names),
        "canonical": value_of(protocol),
        "warnings": list(shown.warnings),
    }


def entry(shown: outcomes.EntryShown) -> Document:
    """Return one entry: in words, signed, and its statement."""
    recorded = shown.recorded
    return {
        **_line(recorded, shown.names),
        "leaf_hash": recorded.leaf_hash.hex(),
        "envelope": recorded.envelope.as_json(),
        "statement": json.loads(recorded.envelope.payload),
        "documents": {
            digest: None if body is None else body.decode("utf-8", "replace")
            for digest, body in shown.documents.items()
        },
        "texts": {digest: change_json.text(each) for digest, each in shown.texts.items()},
        "warnings": list(shown.warnings),
    }


def audit(report: AuditReport) -> Document:
    """Return an audit, with the story of a result where one was asked for."""
    return {
        "ok": report.ok,
        "entries": report.entries,
        "root": report.root,
        "checkpoint": report.checkpoint,
        "findings": [_noted(each) for each in report.findings],
        "warnings": [_noted(each) for each in report.warnings],
        "erased": [dataclasses.asdict(each) for each in report.erased],
        "history": _history(report.history, report.names),
        "story": None if report.story is None else _story(report.story),
    }


DOCUMENTS: Mapping[type[Any], Callable[[Any], Document]] = MappingProxyType(
    {
        outcomes.LedgerMade: made,
        outcomes.Checked: checked,
        outcomes.Registered: registered,
        outcomes.AmendmentPlanned: change_json.planned,
        outcomes.Amended: change_json.amended,
        outcomes.Deviated: change_json.deviated,
        outcomes.Withdrawn: change_json.withdrawn,
        outcomes.Deviations: change_json.deviations,
        outcomes.PoolSealed: sealed,
        outcomes.PoolRewrapped: rewrapped,
        outcomes.RequestWritten: requested,
        outcomes.InputsWritten: inputs,
        groundwork.Calibrated: groundwork_json.calibrated,
        groundwork.Sampled: groundwork_json.sampled,
        groundwork.RelabelsHandedOut: groundwork_json.handed_out,
        groundwork.RelabelsKept: groundwork_json.kept,
        groundwork.PartKept: corpus_json.kept,
        groundwork.Rebalanced: rebalance_text.rebalanced_json,
        Amplified: images.amplified_json,
        Scanned: scan_text.scanned_json,
        outcomes.ReadPlanned: planned,
        outcomes.ResultShown: result,
        outcomes.LedgerStatus: status,
        outcomes.Recovered: recovered,
        outcomes.KeyMade: keys_json.made,
        outcomes.IdentityMade: keys_json.identity,
        outcomes.KeyChanged: keys_json.changed,
        outcomes.KeysShown: keys_json.shown,
        outcomes.KeysBackedUp: keys_json.backed_up,
        outcomes.KeysRecovered: keys_json.recovered,
        outcomes.Erased: keys_json.erased,
        outcomes.Log: log,
        outcomes.StudyShown: study,
        outcomes.EntryShown: entry,
        AuditReport: audit,
        published.RegisterExported: published.register_json,
        published.ReportWritten: published.report_json,
        published.Exported: published.exported_json,
        published.Verified: published.verified_json,
    }
)


def as_json(outcome: Any) -> Document:
    """Return an outcome of `lacre.broker.outcomes` or an `AuditReport` as JSON values."""
    return chosen(DOCUMENTS, outcome)(outcome)


def _history(entries: Sequence[Recorded], names: Mapping[str, str]) -> list[Document]:
    errata = history.errata_among(entries)
    return [_line(recorded, names, errata) for recorded in entries]


def _line(recorded: Recorded, names: Mapping[str, str], errata: Collection[int] = ()) -> Document:
    asked = history.by(recorded)
    content = recorded.content
    line = {
        "entry": recorded.index,
        "time": recorded.time,
        "kind": recorded.kind,
        "study": recorded.study,
        "by": asked,
        "what": history.what(recorded, errata),
        "name": names.get(asked) if asked else None,
    }
    return {**line, "pool": getattr(content.request, "pool", None)} if isinstance(content, Answered) else line


def _noted(noted: Noted) -> Document:
    return {"code": noted.code, "entry": noted.entry, "message": noted.message}


def _story(told: Story) -> Document:
    seal = told.seal and {
        **{name: value for name, value in dataclasses.asdict(told.seal).items() if name != "draws"},
        "shortfall": wires(told.seal.shortfall),
        **draws_text.as_json(told.seal.draws),
        "recipients": list(told.seal.recipients),
        "custody": told.custody,
    }
    result_ = {
        **dataclasses.asdict(told.result),
        "exploratory": list(told.result.exploratory),
        "review": list(told.result.review),
    }
    return {
        "result": told.name,
        "study": told.study,
        "pool": told.pool,
        # Where entries are left out that may be of the study, nobody knows.
        "now": None if told.left_out else told.now,
        "last": told.last,
        "left_out": told.left_out,
        "registration": dataclasses.asdict(told.registration),
        "seal": seal,
        **corpus_json.told(told),
        "replaced": list(told.replaced),
        "handed": [{**dataclasses.asdict(each), "recipients": list(each.recipients)} for each in told.handed],
        "reads": [dataclasses.asdict(read) for read in told.reads],
        **change_json.told(told),
        "outcome": result_,
    }


def _study(state: StudyState) -> Document:
    in_force = state.in_force
    return {
        "study": state.slug,
        "registered": {"entry": state.registered.entry, "time": state.registered.time},
        "protocol": PRESENTED + in_force.protocol_hash,
        "version": len(state.versions),
        **change_json.study(state),
        "pools": {
            name: _pool(state.holding(name))
            for name in dict.fromkeys((*in_force.protocol.pools, *(pool.name for pool in state.holds)))
        },
    }


def _pool(pool: PoolState | CorpusState | None) -> Document | None:
    if pool is None or isinstance(pool, CorpusState):
        return (
            None
            if pool is None
            else {**corpus_json.pool(pool), "reads": [_read(each) for each in pool.reads]}
        )
    sealed_ = pool.sealed
    return {
        "now": pool.standing,
        "sealed": {"entry": sealed_.entry, "time": sealed_.time, "by": sealed_.by},
        "rows": dict(sealed_.facts.rows),
        "burned": pool.burned,
        "replaced": [{"entry": each.entry, "time": each.time, "by": each.by} for each in pool.replaced],
        "recipients": list(pool.recipients),
        "handed": [
            {
                "entry": each.entry,
                "time": each.time,
                "by": each.by,
                "recipients": list(each.request.recipients),
            }
            for each in pool.handed
        ],
        "shortfall": wires(sealed_.decision.shortfall),
        **({} if sealed_.facts.draws is None else {"draws": wires(sealed_.facts.draws)}),
        "reads": [_read(read) for read in pool.reads],
    }


def _read(read: ReadMade) -> Document:
    return {
        "entry": read.entry,
        "time": read.time,
        "by": read.by,
        "purpose": read.request.purpose,
        "class": read.read_class,
        "number": read.decision.number,
        "confirmatory": read.decision.confirmatory,
        "burns": read.decision.burns,
        "finishes": read.request.finishes,
        "corrects": read.request.corrects if isinstance(read.request, Erratum) else None,
        "result": read.result,
        "state": read.state,
    }
