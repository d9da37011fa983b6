"""What the verbs before any read answer, as text: init, check, register, seal, inputs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lacre.broker.outcomes import Checked, InputsWritten, LedgerMade, PoolSealed, Registered
from lacre.errors import printable
from lacre.protocol.models import Protocol
from lacre.report import asked, needs_text, words
from lacre.report.custody_text import sealed_to
from lacre.report.draws_text import sealed_lines
from lacre.report.page import Cell, Column, Page, Row
from lacre.report.result_text import ignored, kept_infeasible, outside, say_custody, shortfalls, warnings
from lacre.rules.overlap_words import overlap_text
from lacre.text import _, ngettext

if TYPE_CHECKING:
    # SciPy comes with it.
    from lacre.analyses.need import Need


def made_page(made: LedgerMade) -> Page:
    """Write a new ledger for people."""
    page = Page()
    page.heading(_("A ledger was made in {folder}").format(folder=made.folder))
    page.say(_("Origin: {origin}").format(origin=made.origin))
    page.say(_("Genesis: {genesis}").format(genesis=made.genesis))
    page.say(_("Checkpoints are verified with: {key}").format(key=made.verifier_key))
    if made.name is not None:
        said = _("On record beside your key: the name {name}. `lacre erase @0 --which name` takes it out.")
        page.say(said.format(name=printable(made.name)))
    if made.passphrase:
        page.say(
            _("The keys are closed with your passphrase; without it nothing sealed here can ever be opened.")
        )
    else:
        page.say(_("The keys have no passphrase: whoever can read the folder can use them."))
    page.say(
        _(
            "Keep a copy of the folder's keys elsewhere. Next: `lacre new`, which lists plans to fill in, or "
            "`lacre register PROTOCOL`."
        )
    )
    return page


def checked_page(checked: Checked) -> Page:
    """Write what a valid protocol promises and asks for."""
    protocol = checked.protocol
    page = Page()
    page.heading(f"{checked.name}  ", Cell(_("valid"), "bold green"))
    page.say(protocol.title)
    page.say(_("Protocol sha256:{digest}").format(digest=checked.protocol_hash))
    page.say(_("Study: {study}").format(study=protocol.study))
    if protocol.data.retrospective:
        page.say(_("Prior exposure: {words}").format(words=protocol.data.prior_exposure))
        page.say(_("So every result will read retrospective, and none confirmatory."))
    _pools(page, protocol)
    for table, rows in checked.rows.items():
        page.say(
            ngettext("{table}: {rows} row read", "{table}: {rows} rows read", rows).format(
                table=table, rows=rows
            )
        )
    for table, rows in checked.submitted.items():
        said = ngettext(
            "{table}: {rows} row read, as a submission: the file has the key and the columns `from: submission`, and "
            "none of the pool's own",
            "{table}: {rows} rows read, as a submission: the file has the key and the columns `from: submission`, and "
            "none of the pool's own",
            rows,
        )
        page.say(said.format(table=table, rows=rows))
    outside(page, checked.outside)
    analyses(page, protocol, checked.needs)
    page.heading(_("What the columns hold"))
    needs_text.meaning(page, protocol, checked.needs)
    page.gap()
    needs_text.shortfalls(page, checked.needs)
    warnings(page, checked.warnings)
    page.gap()
    page.say(_after_check(checked))
    return page


def _after_check(checked: Checked) -> str:
    if any(need.infeasible for need in checked.needs):
        said = _(
            "Nothing was recorded. Next: plan more cases, or change the criterion, and check again; to keep it as it "
            'is, `lacre register {name} --accept-infeasible "REASON"`.'
        )
    else:
        said = _("Nothing was recorded. Next: `lacre register {name}`.")
    return said.format(name=checked.name)


def registered_page(registered: Registered) -> Page:
    """Write a registration for people."""
    page = Page()
    page.heading(_("{study} is registered").format(study=registered.study))
    page.say(words.on_record(registered.entry, registered.time))
    page.say(_("Protocol sha256:{digest}").format(digest=registered.protocol_hash))
    kept_infeasible(page, registered.infeasible)
    warnings(page, registered.warnings)
    return page


def receipt_note(path: Path) -> str:
    """Say where a registration's receipt is, and what it is good for."""
    return _(
        "Its receipt is in {file}. It proves to anyone, without this ledger, that the entry stands in the "
        "log: keep a copy where the ledger is not."
    ).format(file=path)


def sealed_page(sealed: PoolSealed) -> Page:
    """Write a seal for people."""
    page = Page()
    counts = _("{pool} of {study} is sealed and counts as {standing}")
    page.heading(counts.format(pool=sealed.pool, study=sealed.study, standing=sealed.standing))
    page.say(words.on_record(sealed.entry, sealed.time))
    for table, rows in sealed.rows.items():
        page.say(ngettext("{table}: {rows} row", "{table}: {rows} rows", rows).format(table=table, rows=rows))
    for line in (*shortfalls(sealed.shortfall), *sealed_lines(sealed.draws, dict(sealed.rows))):
        page.say(line)
    ignored(page, sealed.undeclared)
    outside(page, sealed.outside)
    for found in sealed.overlaps:
        page.say(_("Shared with another pool: {overlap}.").format(overlap=overlap_text(found)))
    if sealed.remembered:
        page.say(
            ngettext(
                "{count} of its cases was read before on this machine: results will read retrospective.",
                "{count} of its cases were read before on this machine: results will read retrospective.",
                sealed.remembered,
            ).format(count=sealed.remembered)
        )
    if sealed.replaces is not None:
        page.say(
            _("It takes the place of what was sealed at entry {entry}, which stays on record.").format(
                entry=sealed.replaces
            )
        )
    if sealed.handed_out:
        said = ngettext(
            "The inputs handed out at entry {entries} are those of the old files: hand them out again.",
            "The inputs handed out at entries {entries} are those of the old files: hand them out again.",
            len(sealed.handed_out),
        )
        page.say(Cell(_("Warning: "), "yellow"), said.format(entries=", ".join(map(str, sealed.handed_out))))
    sealed_to(page, sealed)
    warnings(page, sealed.warnings)
    return page


def inputs_page(written: InputsWritten) -> Page:
    """Write what was handed out."""
    page = Page()
    page.heading(
        ngettext(
            "{rows} row of {table} was written to {path}",
            "{rows} rows of {table} were written to {path}",
            written.rows,
        ).format(rows=written.rows, table=written.table, path=written.path)
    )
    page.say(_("Columns: {columns}").format(columns=words.listing(written.columns)))
    page.say(
        _(
            "It is on record as entry {entry}. Nothing else left {pool}, which counts as what it did before."
        ).format(entry=written.entry, pool=written.pool)
    )
    say_custody(page, written.custody)
    if written.formulas:
        said = ngettext(
            "{count} cell in it begins as a formula does. It is as it was sealed, for a system to predict on: "
            "bring the file into a spreadsheet as text only.",
            "{count} cells in it begin as formulas do. They are as they were sealed, for a system to predict on: "
            "bring the file into a spreadsheet as text only.",
            written.formulas,
        )
        page.say(Cell(_("Warning: "), "yellow"), said.format(count=written.formulas))
    warnings(page, written.warnings)
    return page


def _pools(page: Page, protocol: Protocol) -> None:
    page.heading(_("Pools"))
    columns = [Column(_("pool")), Column(_("tables"), wraps=True), Column(_("planned"), wraps=True)]
    rows: list[Row] = []
    for name, pool in protocol.pools.items():
        planned = ", ".join(f"{count} {printable(table)}" for table, count in pool.planned.items())
        rows.append([Cell(name, "bold"), words.listing(pool.tables), planned or "–"])
    page.table(columns, rows)


def analyses(page: Page, protocol: Protocol, needs: "Sequence[Need] | None" = None) -> None:
    """Write the registered criteria, with what each `needs` of the data where that is known."""
    for name, plan in protocol.analyses.items():
        page.heading(
            _("{name} ({kind}) on {pool}").format(name=name, kind=words.kind(plan.kind), pool=plan.pool)
        )
        own = [need for need in needs or () if need.analysis == name]
        beside = None if needs is None else needs_text.Asked([each for each in own if each.criterion])
        by_id = {need.criterion: need for need in own}
        rows: list[Row] = []
        for criterion in getattr(plan, "criteria", ()):
            cells = [] if beside is None else beside.cells(by_id[criterion.id])
            rows.append([Cell(criterion.id, "bold"), asked.rule(protocol, plan, criterion), *cells])
        if rows:
            titles = [Column(_("criterion"), wraps=True, names=True), Column(_("rule"), wraps=True)]
            page.table([*titles, *([] if beside is None else beside.columns())], rows)
        else:
            page.say(_("Nothing is decided: it is reported."), indent=1)
        needs_text.whole(page, own)
