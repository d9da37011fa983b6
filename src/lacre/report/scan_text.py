"""What `scan` found, as text and as JSON: places and counts, and never content."""

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from lacre.broker.parts import Find
from lacre.broker.scanned import Scanned
from lacre.report import words
from lacre.report.page import Cell, Column, Page
from lacre.report.result_text import warnings
from lacre.report.values import Document
from lacre.text import N_, _, ngettext

MOST_LINES = 5
WHAT: Mapping[str, str] = MappingProxyType(
    {
        "case": N_("ids of cases"),
        "unit": N_("values of the unit"),
        "digest": N_("digests of cases"),
        "span": N_("runs of words of a case's text"),
        "content": N_("rows with the inputs of a case"),
        "file": N_("a file of the pool itself"),
        "name": N_("ids in names of files"),
    }
)


def scanned_json(scanned: Scanned) -> Document:
    """Return what was found."""
    return {
        "ok": scanned.ok,
        "paths": list(scanned.paths),
        "pools": [{"study": study, "pool": pool} for study, pool in scanned.pools],
        "finds": [{**dataclasses.asdict(find), "lines": list(find.lines)} for find in scanned.finds],
        "files": scanned.files,
        "bytes": scanned.bytes,
        "versions": scanned.versions,
        "commits": scanned.commits,
        "skipped": [{"reason": reason, "count": count} for reason, count in scanned.skipped],
        "warnings": list(scanned.warnings),
    }


def scanned_page(scanned: Scanned) -> Page:
    """Write what was found."""
    page = Page()
    places = len({(find.commit, find.place) for find in scanned.finds})
    if not scanned.pools:
        page.heading(_("There is no sealed pool to look for"))
    elif scanned.ok:
        page.heading(Cell(_("Nothing of a sealed pool was found"), "bold green"))
    else:
        said = ngettext(
            "{n} place holds something of a sealed pool", "{n} places hold something of a sealed pool", places
        )
        page.heading(Cell(said.format(n=places), "bold red"))
    for (study, pool), found in groupby(_ordered(scanned.finds), key=lambda find: (find.study, find.pool)):
        page.gap()
        page.say(Cell(_("{pool} of {study}").format(pool=pool, study=study), "bold"))
        _table(page, list(found))
    page.gap()
    _looked(page, scanned)
    warnings(page, scanned.warnings)
    if not scanned.ok:
        _advice(page, scanned)
    return page


def _ordered(finds: Sequence[Find]) -> list[Find]:
    return sorted(finds, key=lambda find: (find.study, find.pool))


def _table(page: Page, finds: Sequence[Find]) -> None:
    past = any(find.commit for find in finds)
    columns = [
        Column(_("place"), wraps=True, names=True),
        *([Column(_("commit"))] if past else []),
        Column(_("lines"), wraps=True),
        Column(_("what"), wraps=True),
        Column(_("how many"), right=True),
    ]
    page.table(
        columns,
        [
            [
                find.place,
                *([find.commit or ""] if past else []),
                _lines(find),
                _(WHAT[find.what]),
                str(find.count),
            ]
            for find in finds
        ],
    )


def _lines(find: Find) -> str:
    shown = ", ".join(map(str, find.lines[:MOST_LINES]))
    return _("{lines} and more").format(lines=shown) if len(find.lines) > MOST_LINES else shown


def _looked(page: Page, scanned: Scanned) -> None:
    said = ngettext("{n} file was looked through.", "{n} files were looked through.", scanned.files)
    page.say(said.format(n=scanned.files))
    if scanned.commits:
        said = ngettext(
            "So was the history: {n} commit, {versions} versions of files and words of commits.",
            "So was the history: {n} commits, {versions} versions of files and words of commits.",
            scanned.commits,
        )
        page.say(said.format(n=scanned.commits, versions=scanned.versions))
    if scanned.pools:
        pools = words.listing([f"{study}/{pool}" for study, pool in scanned.pools])
        page.say(_("Looked for: {pools}. Pools that count as dev are no secret.").format(pools=pools))
    for reason, count in scanned.skipped:
        page.say(_("Not looked through: {n} × {reason}.").format(n=count, reason=_(reason)))
    page.say(
        _(
            "Recognised are ids of some length, digests, whole rows of inputs and runs of eight words, as they were "
            "sealed; a picture made smaller or a text told in other words is not. No pool was read for it."
        )
    )


def _advice(page: Page, scanned: Scanned) -> None:
    page.gap()
    page.say(
        _(
            "Take it out of these places, and put on record who could have seen it: `lacre deviate STUDY`. Whatever "
            "was developed here since may know these cases."
        )
    )
    if any(find.commit for find in scanned.finds):
        page.say(_("A commit that takes it out leaves it in the history, which must be rewritten for that."))
