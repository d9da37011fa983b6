"""What the verbs that keep a ledger going answer, as text: recover."""

from collections.abc import Sequence
from pathlib import Path

from lacre.broker.outcomes import Recovered
from lacre.broker.parts import LostBlob, LostDocument
from lacre.report import history
from lacre.report.page import Cell, Column, Page, Row
from lacre.report.result_text import warnings
from lacre.text import _, ngettext


def recovered_page(recovered: Recovered) -> Page:
    """Write what came back, and what did not."""
    page = Page()
    page.heading(_headline(recovered))
    if recovered.entries:
        page.say(_("From {before} entries to {size}").format(before=recovered.before, size=recovered.size))
    page.say(_("Root: {root}").format(root=recovered.root))
    for said in _texts(recovered):
        page.say(said)
    if recovered.entries:
        page.gap()
        history.table(page, recovered.entries, recovered.names)
    _documents(page, recovered.lost_documents)
    _files(page, recovered)
    warnings(page, recovered.warnings)
    page.gap()
    if recovered.dry_run:
        page.say(_after_dry_run(recovered))
    else:
        page.say(_("Next: `lacre audit`."))
    return page


def _texts(recovered: Recovered) -> list[str]:
    """Say which texts and other documents came back, or would, and which were taken out again."""
    said = []
    if recovered.documents:
        came = (
            ngettext("{n} document would come back.", "{n} documents would come back.", recovered.documents)
            if recovered.dry_run
            else ngettext("{n} document came back.", "{n} documents came back.", recovered.documents)
        )
        said.append(came.format(n=recovered.documents))
    if recovered.erased:
        gone = (
            ngettext(
                "{n} text that was erased since would be taken out again.",
                "{n} texts that were erased since would be taken out again.",
                recovered.erased,
            )
            if recovered.dry_run
            else ngettext(
                "{n} text that was erased since is out again.",
                "{n} texts that were erased since are out again.",
                recovered.erased,
            )
        )
        said.append(gone.format(n=recovered.erased))
    return said


def _after_dry_run(recovered: Recovered) -> str:
    if recovered.entries or recovered.documents or recovered.erased:
        return _("Nothing was written. Next: `lacre recover`, which does all of this.")
    return _("Nothing was written, and `lacre recover` would write nothing.")


def _headline(recovered: Recovered) -> str:
    count = len(recovered.entries)
    if recovered.dry_run and count:
        would = ngettext("{n} entry would come back", "{n} entries would come back", count)
        return would.format(n=count)
    if count:
        return ngettext("{n} entry came back", "{n} entries came back", count).format(n=count)
    if recovered.documents or recovered.erased:
        return _("No entry was missing")
    return _("Nothing to recover: the ledger has all that this machine remembers of it")


def _documents(page: Page, lost: Sequence[LostDocument]) -> None:
    if not lost:
        return
    page.heading(_("Documents that are lost"))
    columns = [Column(_("entry"), right=True), Column(_("what")), Column(_("SHA-256"), wraps=True)]
    page.table(columns, [[Cell(str(each.entry), "bold"), each.what, each.digest] for each in lost])
    page.say(
        _(
            "Neither this ledger nor the memory has them. A newer copy of the ledger's folder may: restore it, "
            "and recover again."
        )
    )


def _files(page: Page, recovered: Recovered) -> None:
    lost = recovered.lost_blobs
    if not lost:
        return
    page.heading(_("Sealed files that are not there"))
    columns = [
        Column(_("entry"), right=True),
        Column(_("study")),
        Column(_("pool")),
        Column(_("kind")),
        Column(_("file"), wraps=True),
    ]
    page.say(_("In {folder}").format(folder=recovered.folder))
    page.table(columns, [_file(each, recovered.folder) for each in lost])
    page.say(
        _(
            "The memory does not keep them. Put them back from wherever there is a copy; a pool that was not "
            "read yet can be sealed again with `lacre seal --replace`. Results stand without them."
        )
    )


def _file(lost: LostBlob, folder: Path) -> Row:
    where = str(lost.path.relative_to(folder))
    return [Cell(str(lost.entry), "bold"), lost.study, lost.pool, lost.kind, where]
