"""An open ledger: its methods are the verbs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lacre.broker import show as _show
from lacre.broker.files import check_output
from lacre.broker.outcomes import LedgerMade
from lacre.durable import make_folder
from lacre.errors import NotAName, ResultNotNamed
from lacre.handle.audits import audit_store
from lacre.handle.evidence import Evidence
from lacre.handle.making import Passphrase, specs
from lacre.report import views
from lacre.report.views import (
    Amended,
    AmendmentPlanned,
    Amplified,
    Audit,
    Deviated,
    Deviations,
    Entry,
    Erased,
    Exported,
    InputsWritten,
    KeyChanged,
    Keys,
    KeysBackedUp,
    KeysRecovered,
    Log,
    PoolRewrapped,
    PoolSealed,
    Recovered,
    Registered,
    RegisterExported,
    ReportWritten,
    Result,
    Scanned,
    Status,
    Study,
    Withdrawn,
)

if TYPE_CHECKING:
    from lacre.broker.keys import Part
    from lacre.rules.named import Named
    from lacre.rules.requests import Role
    from lacre.rules.state import StudyState


@dataclass(frozen=True)
class Ledger(Evidence):
    """An open ledger. Each method is a verb of the command line and raises what that verb refuses with."""

    made: LedgerMade | None = None

    @property
    def folder(self) -> Path:
        """The `.lacre` folder."""
        return self._desk.layout.root

    def close(self) -> None:
        """Let go of the database."""
        self._desk.engine.dispose()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def register(self, protocol: str | Path | bytes, *, accept_infeasible: str | None = None) -> Registered:
        """Register a protocol (a path, or its bytes) as a new study; the receipt is yours to keep.

        A criterion that no outcome passes, or none fails, at the planned counts is refused
        (`CriterionInfeasible`), unless `accept_infeasible` says why it is kept; the reason goes on record.
        """
        from lacre.broker.register import register

        return Registered.of(register(self._desk, protocol, accept_infeasible=accept_infeasible))

    def seal(
        self,
        study: str,
        pool: str,
        files: str | Path | Sequence[str | Path],
        *,
        as_dev: bool = False,
        recipients: str | Sequence[str] = (),
        replace: bool = False,
        reason: str | None = None,
    ) -> PoolSealed:
        """Seal a pool: all its tables, each of one file or several, as `[TABLE=]FILE`.

        `recipients` (`age1…`) are who can open it, by default this ledger's own. With `replace`, and a reason, the
        files take the place of those of a pool that was not read yet.
        """
        from lacre.broker.seal import seal

        made = seal(
            self._desk,
            study,
            pool,
            specs(files),
            as_dev=as_dev,
            recipients=specs(recipients),
            replace=replace,
            reason=reason,
        )
        return PoolSealed.of(made)

    def rewrap(
        self,
        study: str,
        pool: str,
        recipients: str | Sequence[str],
        *,
        identity: str | Path | Sequence[str | Path] = (),
        reason: str | None = None,
    ) -> PoolRewrapped:
        """Hand a sealed pool, and all that is kept beside it, to other recipients; nothing of it is read.

        `identity` names age identity files to open it with, beside the ledger's own.
        """
        from lacre.broker.rewrap import rewrap

        made = rewrap(self._opening(identity), study, pool, specs(recipients), reason=reason)
        return PoolRewrapped.of(made)

    def inputs(
        self,
        study: str,
        pool: str,
        output: str | Path,
        *,
        table: str | None = None,
        overwrite: bool = False,
        reason: str | None = None,
        identity: str | Path | Sequence[str | Path] = (),
    ) -> InputsWritten:
        """Write a pool's ids and input columns as CSV to `output`; on record, and never a reveal."""
        from lacre.broker.inputs import inputs

        desk = self._opening(identity)
        made = inputs(desk, study, pool, Path(output), table=table, overwrite=overwrite, reason=reason)
        return InputsWritten.of(made)

    def amplify(self, study: str, images: str | Path | Sequence[str | Path], output: str | Path) -> Amplified:
        """Make the variants that the plan in force declares of `images`, files and folders, in the folder `output`.

        Nothing goes on record, and no pool is read. Called again it goes on, and makes only what is missing there or
        changed. Raises `ImagesError` and its kin; needs Pillow.
        """
        from lacre.broker.amplify import amplify

        return Amplified.of(amplify(self._desk, study, specs(images), Path(output)))

    def amend(
        self,
        protocol: str | Path | bytes,
        *,
        reason: str,
        accept_burn: bool = False,
        accept_infeasible: str | None = None,
        dry_run: bool = False,
        confirm: "Callable[[AmendmentPlanned], bool] | None" = None,
    ) -> Amended | AmendmentPlanned:
        """Put another protocol (a path, or its bytes) in force in the study that it names.

        `confirm` is shown what that does before it is done; its yes accepts the burn in it. With `dry_run`
        that is all there is.
        """
        from lacre.broker.amend import amend

        ask = None if confirm is None else lambda planned: confirm(AmendmentPlanned.of(planned))
        outcome = amend(
            self._desk,
            protocol,
            reason=reason,
            accept_burn=accept_burn,
            accept_infeasible=accept_infeasible,
            dry_run=dry_run,
            confirm=ask,
        )
        return views.amended_or_plan(outcome)

    def deviate(self, what: str, text: str) -> Deviated:
        """Put words on record about a `STUDY`, or about its entry or result `STUDY@ENTRY`."""
        from lacre.broker.deviate import deviate

        return Deviated.of(deviate(self._desk, what, text))

    def withdraw(
        self, study: str, *, reason: str, confirm: "Callable[[StudyState], bool] | None" = None
    ) -> Withdrawn:
        """End a study; what it has on record stays. `confirm` is asked first."""
        from lacre.broker.withdraw import withdraw

        return Withdrawn.of(withdraw(self._desk, study, reason=reason, confirm=confirm))

    def erratum(
        self,
        what: str,
        files: str | Path | Sequence[str | Path],
        *,
        reason: str,
        identity: str | Path | Sequence[str | Path] = (),
    ) -> Result:
        """Score the result `STUDY@ENTRY` again on corrected labels; files as `[TABLE=]FILE`, each table whole.

        `identity` names age identity files that open the pool, where the ledger's own does not.
        """
        from lacre.broker.erratum import erratum

        return Result.of(erratum(self._opening(identity), what, specs(files), reason=reason))

    def deviations(self, study: str) -> Deviations:
        """Return the table of a study's deviations: what, when, why, and what was known then."""
        from lacre.broker.deviations import deviations

        return Deviations.of(deviations(self._desk, study))

    def recover(self, *, dry_run: bool = False) -> Recovered:
        """Let a ledger restored from a backup grow again to what this machine remembers of it."""
        from lacre.broker.recover import recover

        return Recovered.of(recover(self._desk, dry_run=dry_run))

    def enrol(self, public: str | Path, *roles: "Role", name: str | None = None) -> KeyChanged:
        """Enrol a person's key: its 64 digits, or a PEM file, with the roles `owner`, `registrant`, `custodian`."""
        from lacre.broker.keys import enrol

        return KeyChanged.of(enrol(self._desk, str(public), roles, name))

    def revoke(self, key: str, *, reason: str | None = None) -> KeyChanged:
        """Revoke a key, named by its id, its public half, or eight digits or more of the beginning of either."""
        from lacre.broker.keys import revoke

        return KeyChanged.of(revoke(self._desk, key, reason))

    def rotate(self, part: "Part", *, name: str | None = None) -> KeyChanged:
        """Have a new key take the place of the ledger's own: that of the `person`, the `broker` or the `log`."""
        from lacre.broker.keys import rotate

        return KeyChanged.of(rotate(self._desk, part, name))

    def keys(self) -> Keys:
        """List every key that was ever enrolled."""
        from lacre.broker.keys import listed

        return Keys.of(listed(self._desk))

    def backup_keys(self, path: str | Path, *, passphrase: Passphrase) -> KeysBackedUp:
        """Write all key files into one, closed with `passphrase`; None leaves it open to whoever finds it."""
        from lacre.broker.keys import backup

        return KeysBackedUp.of(backup(self._desk, Path(path), passphrase))

    def recover_keys(self, path: str | Path, *, passphrase: Passphrase = None) -> KeysRecovered:
        """Put back the key files that are missing from a backup with this passphrase, if it is of this ledger.

        `passphrase` may be a function, asked only for a closed backup.
        """
        from lacre.broker.keys import recover

        return KeysRecovered.of(recover(self._desk, Path(path), passphrase))

    def erase(
        self, what: str, *, which: str | None = None, confirm: "Callable[[Named], bool] | None" = None
    ) -> Erased:
        """Take a text out of the ledger for good: that which the entry `@ENTRY` named, or one by its digest.

        Of several, `which` says the one: `name`, `reason`, `text`, or its digest. Copies elsewhere stay.
        """
        from lacre.broker.erase import erase

        return Erased.of(erase(self._desk, what, which=which, confirm=confirm))

    def status(self) -> Status:
        """Say where things stand."""
        return Status.of(_show.status(self._desk))

    def log(self, study: str | None = None) -> Log:
        """List the entries, of one study or of all."""
        return Log.of(_show.log(self._desk, study))

    def show(self, what: str | None = None) -> Status | Study | Result | Entry:
        """Show the ledger, a `STUDY`, a result `STUDY@ENTRY`, or any entry by `@ENTRY`."""
        return views.anything_shown(_show.show(self._desk, what))

    def report(self, what: str, output: str | Path, *, overwrite: bool = False) -> ReportWritten:
        """Write the result `STUDY@ENTRY` as one HTML file that needs nothing else; for people, and no proof."""
        from lacre.publish.parts import check_outside
        from lacre.report.html.written import write_report

        path = Path(output)
        check_outside(path, self._desk.layout)
        check_output(path, self._desk.layout, overwrite=overwrite)
        shown = self._result(what, "report")
        return ReportWritten.of(write_report(shown, path, overwrite=overwrite))

    def _result(self, what: str, verb: str) -> Result:
        """Return the result that is named. Raises `ResultNotNamed`, with those there are, and `NotAName`."""
        shown = self.show(what)
        if isinstance(shown, Result):
            return shown
        study = shown.study.slug if isinstance(shown, Study) else what.rpartition("@")[0]
        whole = self.show(study) if study else None
        reads = (
            [read for pool in whole.study.pools.values() for read in pool.reads]
            if isinstance(whole, Study)
            else []
        )
        made = sorted((read.result, read.state) for read in reads if read.result is not None)
        if not made:
            raise NotAName(what=what, verb=verb)
        results = "\n".join(f"{study}@{entry} {state}" for entry, state in made)
        raise ResultNotNamed(what=what, verb=verb, study=study, results=results)

    def export(
        self, what: str, output: str | Path, *, only_study: bool = False, overwrite: bool = False
    ) -> Exported:
        """Write the result `STUDY@ENTRY` and all that shows it to `output`, a bundle that `verify` checks.

        With `only_study` the entries of other studies are left out, so completeness is not shown.
        """
        from lacre.publish.bundle import export_bundle
        from lacre.publish.parts import check_outside, snapshot_to_export

        desk, path = self._desk, Path(output)
        check_outside(path, desk.layout)
        check_output(path, desk.layout, overwrite=overwrite)
        # While a snapshot lives nobody commits, so that what is shown in it is of the same moment.
        with snapshot_to_export(desk.memory, desk.engine) as reader:
            shown = self._result(what, "export")
            broker = desk.signers.broker(desk.signers.state(reader))
            return export_bundle(
                reader, shown, path, broker=broker, only_study=only_study, overwrite=overwrite
            )

    def export_registry(self, folder: str | Path) -> RegisterExported:
        """Write the public register to `folder`, or bring the one that is there up to date."""
        from lacre.publish.parts import check_outside, snapshot_to_export
        from lacre.publish.register import write_register
        from lacre.store.locks import hold

        desk = self._desk
        check_outside(Path(folder), desk.layout)
        with (
            hold(make_folder(desk.layout.locks) / "export"),
            snapshot_to_export(desk.memory, desk.engine) as reader,
        ):
            return RegisterExported.of(write_register(reader, Path(folder)))

    def scan(
        self,
        *paths: str | Path,
        history: bool = False,
        study: str | None = None,
        exclude: Sequence[str] = (),
    ) -> Scanned:
        """Look through files and folders, and their git history, for anything of the sealed pools.

        It is no read: it goes by fingerprints, and tells places and counts alone.
        """
        from lacre.broker.scan import scan

        looked = [Path(path) for path in paths or (".",)]
        return Scanned.of(scan(self._desk, looked, history=history, study=study, exclude=exclude))

    def audit(self, what: str | None = None, *, memory: Sequence[str | Path] = ()) -> Audit:
        """Re-derive the whole history from the signed entries; `what` is a `STUDY` or a result `STUDY@ENTRY`.

        `memory` names receipts and checkpoints kept elsewhere, which the ledger is held to as well.
        """
        desk = self._desk
        return audit_store(desk.engine, desk.layout, desk.memory, what, memory)
