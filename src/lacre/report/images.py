"""What `amplify` made, as text and as JSON."""

from collections import Counter

from lacre.broker.amplified import Amplified
from lacre.errors import printable
from lacre.images.manifest import CSV_NAME, JSON_NAME, WHY, Skipped, change_of, document
from lacre.report.page import Cell, Column, Page, Row
from lacre.report.values import Document
from lacre.text import N_, _, ngettext

MOST_SHOWN = 20
NOTES = {
    "first-frame": N_("of several frames or pages, the first"),
    "16-bit": N_("grey of 16 bits, brought to 8"),
    "cmyk": N_("CMYK, brought to RGB without profiles"),
    "alpha": N_("see-through, laid on white"),
    "profile": N_("with a colour profile, which was not applied"),
    "oriented": N_("turned upright, by its orientation on record"),
}


def amplified_json(made: Amplified) -> Document:
    """Return what was made: the manifest, and what is to say of this run."""
    named = (made.study, made.protocol_hash, made.variants, made.engine)
    return {
        "folder": str(made.folder),
        "manifest": str(made.folder / CSV_NAME),
        "kept": made.kept,
        "left_over": list(made.left_over),
        **document(*named, made.made, made.skipped),
    }


def amplified_page(made: Amplified) -> Page:
    """Write what was made for people."""
    page = Page()
    images = len({each.id for each in made.made})
    said = ngettext(
        "The variants of {count} image are in {folder}",
        "The variants of {count} images are in {folder}",
        images,
    )
    page.heading(said.format(count=images, folder=made.folder))
    _variants(page, made)
    page.gap()
    if made.kept:
        said = ngettext(
            "{count} file was there already, unchanged.",
            "{count} files were there already, unchanged.",
            made.kept,
        )
        page.say(said.format(count=made.kept))
    page.say(
        _(
            "{csv} and {json} name each source and each file with their SHA-256, and what was skipped. The protocol "
            "in force, sha256:{digest}, declares the variants; made with {engine}."
        ).format(csv=CSV_NAME, json=JSON_NAME, digest=made.protocol_hash, engine=_engine(made))
    )
    _notes(page, made)
    _skipped(page, made.skipped)
    if made.left_over:
        said = ngettext(
            "{count} file of an earlier run stands there that no image is behind now; the manifest does not name it.",
            "{count} files of an earlier run stand there that no image is behind now; the manifest names none.",
            len(made.left_over),
        )
        page.say(Cell(_("Warning: "), "yellow"), said.format(count=len(made.left_over)))
    page.say(_("Nothing was recorded, and no pool was read."))
    return page


def _engine(made: Amplified) -> str:
    return ", ".join(f"{name} {version}" for name, version in made.engine.items())


def _variants(page: Page, made: Amplified) -> None:
    files = Counter(each.variant for each in made.made)
    columns = [Column(_("variant")), Column(_("changes"), wraps=True), Column(_("files"), right=True)]
    rows: list[Row] = []
    for name, variant in made.variants.items():
        changes = ", ".join(
            f"{what} {value}" for what, value in change_of(variant).items() if value is not False
        )
        rows.append([Cell(name, "bold"), changes or _("none: the picture as it is"), str(files[name])])
    page.table(columns, rows)


def _notes(page: Page, made: Amplified) -> None:
    """Say how many images were not simply read."""
    noted = {each.id: each.notes for each in made.made}
    counts = Counter(note for notes in noted.values() for note in notes)
    for note, said in NOTES.items():
        if counts[note]:
            page.say(f"{_(said)}: {counts[note]}", indent=1)
    other = sum(count for note, count in counts.items() if note.startswith("is-"))
    if other:
        page.say(f"{_('in another format than the name says')}: {other}", indent=1)


def _skipped(page: Page, skipped: tuple[Skipped, ...]) -> None:
    if not skipped:
        return
    said = ngettext("{count} was skipped:", "{count} were skipped:", len(skipped))
    page.say(Cell(_("Warning: "), "yellow"), said.format(count=len(skipped)))
    for each in skipped[:MOST_SHOWN]:
        what = f"{printable(each.source)} ({each.variant})" if each.variant else printable(each.source)
        page.say(f"{what}: {_(WHY[each.code])}", indent=1)
    if len(skipped) > MOST_SHOWN:
        more = _("and {count} more, which the manifest names").format(count=len(skipped) - MOST_SHOWN)
        page.say(more, indent=1)
