"""Every outcome as text: which page shows which type."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from lacre.audit.report import AuditReport
from lacre.broker import groundwork, outcomes
from lacre.broker.amplified import Amplified
from lacre.broker.scanned import Scanned
from lacre.report import (
    audit_text,
    change_text,
    corpus_text,
    custody_text,
    deviations_text,
    evidence_text,
    images,
    keep_text,
    keys_text,
    plan_text,
    published,
    rebalance_text,
    result_text,
    scan_text,
    status_text,
)
from lacre.report.chosen import chosen
from lacre.report.page import Page
from lacre.text import reporting

PAGES: Mapping[type[Any], Callable[[Any], Page]] = MappingProxyType(
    {
        outcomes.LedgerMade: plan_text.made_page,
        outcomes.Checked: plan_text.checked_page,
        outcomes.Registered: plan_text.registered_page,
        outcomes.AmendmentPlanned: change_text.planned_page,
        outcomes.Amended: change_text.amended_page,
        outcomes.Deviated: change_text.deviated_page,
        outcomes.Withdrawn: change_text.withdrawn_page,
        outcomes.Deviations: deviations_text.deviations_page,
        outcomes.PoolSealed: plan_text.sealed_page,
        outcomes.PoolRewrapped: custody_text.rewrapped_page,
        outcomes.RequestWritten: custody_text.request_page,
        outcomes.InputsWritten: plan_text.inputs_page,
        groundwork.Calibrated: evidence_text.calibrated_page,
        groundwork.Sampled: evidence_text.sampled_page,
        groundwork.RelabelsHandedOut: evidence_text.handed_out_page,
        groundwork.RelabelsKept: evidence_text.kept_page,
        groundwork.PartKept: corpus_text.kept_page,
        groundwork.Rebalanced: rebalance_text.rebalanced_page,
        Amplified: images.amplified_page,
        Scanned: scan_text.scanned_page,
        outcomes.ReadPlanned: result_text.plan_page,
        outcomes.ResultShown: result_text.result_page,
        outcomes.LedgerStatus: status_text.status_page,
        outcomes.Recovered: keep_text.recovered_page,
        outcomes.KeyMade: keys_text.made_page,
        outcomes.IdentityMade: keys_text.identity_page,
        outcomes.KeyChanged: keys_text.changed_page,
        outcomes.KeysShown: keys_text.shown_page,
        outcomes.KeysBackedUp: keys_text.backed_up_page,
        outcomes.KeysRecovered: keys_text.recovered_page,
        outcomes.Erased: keys_text.erased_page,
        outcomes.Log: status_text.log_page,
        outcomes.StudyShown: status_text.study_page,
        outcomes.EntryShown: status_text.entry_page,
        AuditReport: audit_text.audit_page,
        published.RegisterExported: published.register_page,
        published.ReportWritten: published.report_page,
        published.Exported: published.exported_page,
        published.Verified: published.verified_page,
    }
)


def as_text(outcome: Any, *, note: str = "", width: int = 80, colour: bool = False) -> str:
    """Return an outcome of `lacre.broker.outcomes` or an `AuditReport` in lines of `width` columns at most.

    `note` is a paragraph of the caller's, below it. A result is in its protocol's language, if no other was asked for.
    """
    with reporting(getattr(outcome, "language", "")):
        page = chosen(PAGES, outcome)(outcome)
        if note:
            page.say(note)
        return page.render(width, colour=colour)
