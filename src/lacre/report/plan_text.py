"""What the verbs before any read answer, as text: init, check, register, seal, inputs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lacre.broker.outcomes import Checked, InputsWritten, LedgerMade, PoolSealed, Registered
from lacre.errors import printable
from lacre.protocol.grammar import as_float
from lacre.protocol.kinds.group_fairness import Criterion
from lacre.protocol.models import Protocol
from lacre.report import words
from lacre.report.custody_text import sealed_to
from lacre.report.page import Cell, Column, Page, Row
from lacre.report.result_text import ignored, kept_infeasible, outside, say_custody, shortfalls, warnings
from lacre.rules.overlap_words import overlap_text
from lacre.text import _, ngettext

if TYPE_CHECKING:
    # SciPy comes with it.
    from lacre.analyses.feasibility import Need, Needed, Power


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
            "Keep a copy of the folder's keys elsewhere. Next: `lacre new fairness`, or `lacre register PROTOCOL`."
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
    analyses(page, protocol, {(need.analysis, need.criterion): need for need in checked.needs})
    page.gap()
    page.say(
        _(
            "“to pass” and “to fail” are the fewest cases that each group must have in the rate's denominator "
            "for the rule to be able to, even if every case speaks for it. To be likely to takes many more."
        )
    )
    _simulated(page, checked.needs)
    for name, plan in protocol.analyses.items():
        if protocol.tables[plan.table].cluster:
            page.say(
                _(
                    "{analysis}: the counts hold where each case is a cluster of its own. A plan does not say how "
                    "large clusters are, so nothing is simulated."
                ).format(analysis=name)
            )
    for need in checked.needs:
        for line in _one_way(need):
            page.say(Cell(_("Warning: "), "yellow"), f"{need.analysis}, {need.criterion}: ", line)
    if any(need.infeasible for need in checked.needs):
        page.say(
            _(
                "A criterion that can only come out one way is refused by `lacre register`, unless "
                '--accept-infeasible "REASON" says why it is kept.'
            )
        )
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


def _simulated(page: Page, needs: "Sequence[Need]") -> None:
    """Say what the simulated numbers rest on."""
    if any(need.prospect for need in needs):
        page.say(
            _(
                "P(PASS) and P(FAIL) are simulated with the planned cases, in groups of the planned composition or "
                "of equal size, at the assumed rates in every group; the rest is INSUFFICIENT_EVIDENCE. “±” is the "
                "simulation's standard error; where none or all came out so, 3/n bounds the share at 95 %."
            )
        )
    if any(need.needed for need in needs):
        page.say(
            _(
                "“for 80 %” is about how many cases the smallest group must have in the rate's denominator for "
                "P(PASS) to be 80 % at the assumed rates, and “rows” how many the table has then; “never” means "
                "that no size of up to 10,000,000 cases is enough."
            )
        )


def _one_way(need: "Need") -> list[str]:
    """Say which verdict a criterion cannot come to, and what it would take."""
    least, said = need.minimum, []
    if least.to_pass is None and least.to_fail is None:
        return [_("can neither pass nor fail, for want of an interval that holds for such a sample.")]
    if not need.attainable.passes:
        said.append(
            _("no outcome can pass, with up to a billion cases in each group.")
            if least.to_pass is None
            else _(
                "cannot pass as planned. It needs {least} cases in the rate's denominator in each of {groups} groups, "
                "and what is planned leaves no room for that."
            ).format(least=least.to_pass, groups=need.groups)
        )
    if not need.attainable.fails:
        said.append(
            _("no outcome can fail, with up to a billion cases in each group.")
            if least.to_fail is None
            else _(
                "cannot fail as planned. It needs a group of {least} cases in the rate's denominator (a gap two), "
                "and what is planned leaves no room for that."
            ).format(least=least.to_fail)
        )
    return said


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
    for line in shortfalls(sealed.shortfall):
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


def analyses(page: Page, protocol: Protocol, needs: "Mapping[tuple[str, str], Need] | None" = None) -> None:
    """Write the registered criteria, with what each `needs` of the data where that is known."""
    simulated = any(need.prospect or need.needed for need in (needs or {}).values())
    titles = (_("P(PASS)"), _("P(FAIL)"), _("for 80 %"), _("rows"))
    columns = [
        Column(_("criterion"), wraps=True, names=True),
        Column(_("rule"), wraps=True),
        *([] if needs is None else [Column(_("to pass"), right=True), Column(_("to fail"), right=True)]),
        *([Column(title, right=True) for title in titles] if simulated else []),
    ]
    for name, plan in protocol.analyses.items():
        page.heading(
            _("{name} ({kind}) on {pool}").format(name=name, kind=words.kind(plan.kind), pool=plan.pool)
        )
        rows: list[Row] = []
        for criterion in getattr(plan, "criteria", ()):
            row: list[str | Cell] = [Cell(criterion.id, "bold"), _rule(criterion)]
            if needs is not None:
                need = needs[name, criterion.id]
                row += [_least(need.minimum.to_pass), _least(need.minimum.to_fail)]
                row += [*_prospect(need.prospect), *_size(need.needed)] if simulated else []
            rows.append(row)
        page.table(columns, rows)


def _prospect(found: "Power | None") -> list[str | Cell]:
    if found is None:
        return ["–", "–"]
    return [
        _simulated_share(found.passes, found.passes_error, found.simulations),
        _simulated_share(found.fails, found.fails_error, found.simulations),
    ]


def _simulated_share(share: float, error: float, simulations: int) -> str:
    """Write a share with its standard error; of none or all of them, with the bound that the rule of three gives."""
    if share in (0.0, 1.0):
        bound = words.percent(abs(share - 3 / simulations))
        return f"< {bound}" if share == 0 else f"> {bound}"
    spread = f"{100 * error:.1f}"
    return f"{words.rate(share)} ± {'<0.1' if float(spread) == 0 else spread}"


def _size(found: "Needed | None") -> list[str | Cell]:
    if found is None:
        return ["–", "–"]
    rows = "–" if found.rows is None else str(found.rows)
    return [_least(found.smallest), rows]


def _least(cases: int | None) -> str | Cell:
    return Cell(_("never"), "red") if cases is None else str(cases)


def _rule(criterion: Criterion) -> str:
    form, limit = "max_group_gap", criterion.max_group_gap
    if criterion.worst_group is not None:
        bound = criterion.worst_group
        form, limit = ("worst_group_min", bound.min) if bound.max is None else ("worst_group_max", bound.max)
    assert limit is not None
    return words.rule(criterion.metric, criterion.by, form, as_float(limit))
