"""The verbs of an open ledger that read pools, and those that put on record what results rest on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args, overload

from lacre.broker.desk import Desk
from lacre.errors import PartUnknown
from lacre.handle.making import Files, Plan, specs
from lacre.protocol.grammar import Part
from lacre.report import views
from lacre.report.views import (
    Calibrated,
    PartKept,
    ReadPlanned,
    RelabelsHandedOut,
    RelabelsKept,
    RequestWritten,
    Result,
    Sampled,
)

PARTS = get_args(Part)
"""The parts of an open pool."""


@dataclass(frozen=True)
class Evidence:
    """The desk that the verbs work at, and the verbs that find evidence; the others are `Ledger`'s own."""

    _desk: Desk = field(repr=False)

    def _opening(self, identity: Files) -> Desk:
        """The desk, which opens pools with the identities in these files, too."""
        return self._desk.with_identities([Path(file) for file in specs(identity)])

    def reveal(
        self,
        study: str,
        submission: Files = (),
        *,
        accept_dev: bool = False,
        accept_exposure: bool = False,
        dry_run: bool = False,
        protocol: Plan = None,
        reason: str | None = None,
        identity: Files = (),
    ) -> Result | ReadPlanned:
        """Reveal `teste`: the one read, running all its analyses; files as `[SYSTEM:][TABLE=]FILE`.

        `identity` names age identity files to open the pool with, beside the ledger's own.
        """
        from lacre.broker.reveal import reveal

        outcome = reveal(
            self._opening(identity),
            study,
            specs(submission),
            accept_dev=accept_dev,
            accept_exposure=accept_exposure,
            dry_run=dry_run,
            protocol=protocol,
            reason=reason,
        )
        return views.result_or_plan(outcome)

    def request_reveal(
        self,
        study: str,
        submission: Files,
        output: str | Path,
        *,
        accept_dev: bool = False,
        accept_exposure: bool = False,
        dry_run: bool = False,
        protocol: Plan = None,
        reason: str | None = None,
        overwrite: bool = False,
    ) -> RequestWritten | ReadPlanned:
        """Sign a request to reveal `teste` and write it to `output`, for whoever can open the pool.

        Nothing is appended to the ledger. Without a submission the request is to finish a reveal that crashed.
        """
        from lacre.broker.reveal import asked, request_read

        ask = asked(
            self._desk,
            study,
            specs(submission),
            accept_dev=accept_dev,
            accept_exposure=accept_exposure,
            dry_run=dry_run,
            protocol=protocol,
            reason=reason,
        )
        return views.request_or_plan(request_read(self._desk, ask, Path(output), overwrite=overwrite))

    def answer_reveal(
        self,
        request: str | Path,
        *,
        study: str | None = None,
        dry_run: bool = False,
        protocol: Plan = None,
        identity: Files = (),
    ) -> Result | ReadPlanned:
        """Reveal `teste` as the request in a file asks, which somebody else signed; with `dry_run` only look."""
        from lacre.broker.answer import answer

        outcome = answer(
            self._opening(identity), Path(request), study=study, dry_run=dry_run, protocol=protocol
        )
        return views.result_or_plan(outcome)

    def run(
        self,
        study: str,
        analysis: str,
        submission: Files = (),
        *,
        pool: str | None = None,
        rung: str | None = None,
        accept_exposure: bool = False,
        dry_run: bool = False,
        protocol: Plan = None,
        reason: str | None = None,
        identity: Files = (),
    ) -> Result | ReadPlanned:
        """Run one analysis on `dev` or `contraste`; `rung` names a mitigation by training, once it is open."""
        from lacre.broker.run import run

        outcome = run(
            self._opening(identity),
            study,
            analysis,
            specs(submission),
            pool=pool,
            rung=rung,
            accept_exposure=accept_exposure,
            dry_run=dry_run,
            protocol=protocol,
            reason=reason,
        )
        return views.result_or_plan(outcome)

    def gate(
        self,
        study: str,
        submission: Files = (),
        *,
        dry_run: bool = False,
        protocol: Plan = None,
        reason: str | None = None,
        identity: Files = (),
    ) -> Result | ReadPlanned:
        """Ask `guarda` whether a release passes: verdicts alone, as often as its budget allows."""
        from lacre.broker.gate import gate

        outcome = gate(
            self._opening(identity),
            study,
            specs(submission),
            dry_run=dry_run,
            protocol=protocol,
            reason=reason,
        )
        return views.result_or_plan(outcome)

    def calibrate(
        self,
        study: str,
        submission: Files = (),
        *,
        thresholds: str | Sequence[str] = (),
        accept_burn: bool = False,
        accept_exposure: bool = False,
        dry_run: bool = False,
        protocol: Plan = None,
        reason: str | None = None,
        identity: Files = (),
    ) -> Calibrated | ReadPlanned:
        """Set the registered thresholds (or those named) on `dev`, and freeze them in an entry.

        After a reveal whose analyses use them, that makes `teste` dev, and is asked for with `accept_burn`.
        """
        from lacre.broker.calibrate import calibrate

        outcome = calibrate(
            self._opening(identity),
            study,
            specs(thresholds),
            specs(submission),
            accept_burn=accept_burn,
            accept_exposure=accept_exposure,
            dry_run=dry_run,
            protocol=protocol,
            reason=reason,
        )
        return views.calibrated_or_plan(outcome)

    def sample(
        self, study: str, name: str, frame: str | Path, output: str | Path, *, overwrite: bool = False
    ) -> Sampled:
        """Draw cases from `frame` as the plan's `sampling` registers `name`, and write them to `output`."""
        from lacre.broker.sample import sample

        return Sampled.of(sample(self._desk, study, name, Path(frame), Path(output), overwrite=overwrite))

    def sample_relabels(
        self,
        study: str,
        name: str,
        output: str | Path,
        *,
        overwrite: bool = False,
        identity: Files = (),
    ) -> RelabelsHandedOut:
        """Write the share of a pool's cases that the plan has labelled again to `output`, without their labels."""
        from lacre.broker.relabel import hand_out

        made = hand_out(self._opening(identity), study, name, Path(output), overwrite=overwrite)
        return RelabelsHandedOut.of(made)

    @overload
    def commit(
        self,
        study: str,
        part: Part,
        files: str | Path | Sequence[str | Path],
        *,
        identity: str | Path | Sequence[str | Path] = (),
    ) -> PartKept: ...

    @overload
    def commit(
        self,
        study: str,
        part: Literal["relabels"],
        files: Files,
        *,
        identity: Files = (),
    ) -> RelabelsKept: ...

    def commit(
        self,
        study: str,
        part: Literal["relabels", "cases", "labels", "scores"],
        files: Files,
        *,
        identity: Files = (),
    ) -> RelabelsKept | PartKept:
        """Commit to a part of an open pool (`cases`, `labels`, `scores`), or to second labels (`relabels`).

        Files as `[TABLE=]FILE`. Those of an open pool stand in the ledger as they are; second labels are kept encrypted
        beside their pool, which `identity` names files to open with.
        """
        if part in PARTS:
            from lacre.broker.corpus import commit_part

            return PartKept.of(commit_part(self._desk, study, part, specs(files)))
        if part != "relabels":
            raise PartUnknown(part=part, known=", ".join((*PARTS, "relabels")))
        from lacre.broker.relabel import commit_relabels

        return RelabelsKept.of(commit_relabels(self._opening(identity), study, specs(files)))

    def rebalance(
        self,
        study: str,
        output: str | Path,
        *,
        reason: str | None = None,
        dry_run: bool = False,
        overwrite: bool = False,
    ) -> views.Rebalanced:
        """Let an open corpus grow, under a paradox that its result flags; write what to label again to `output`."""
        from lacre.broker.rebalance import rebalance

        made = rebalance(self._desk, study, Path(output), reason=reason, dry_run=dry_run, overwrite=overwrite)
        return views.Rebalanced.of(made)
