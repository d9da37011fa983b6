"""The verb of images: amplify."""

from pathlib import Path

import click

from lacre.cli.command import Call, Example, path_option, verb
from lacre.text import N_


@verb(
    "amplify",
    N_(
        "The variants are those that the protocol in force declares under `variants:`. Each image, a file or "
        "any file of a folder, is turned upright, brought to 8-bit RGB and changed: scaled, its gamma, its "
        "luminance equalised, without colour, in that order, and written to DIR/VARIANT without metadata: as "
        "PNG, or as JPEG where that is the change. The same images give the same bytes with the same "
        "libraries.\n\nWhat is no image, or broken, is named and skipped; so are hidden files, links, and "
        "images of more than 128 megapixels or 512 MiB. Only where nothing can be made is it refused. The "
        "files manifest.csv and manifest.json in DIR say what was made of what. Called again with the same "
        "DIR it goes on, and makes only what is missing there or changed.\n\nNothing goes on record, and no "
        "pool is read. It needs `pip install 'lacre[images]'`."
    ),
    [
        Example(
            "lacre amplify faces photos -o variants", N_("Of all images in a folder, and in those below it.")
        ),
        Example("lacre amplify faces a.jpg b.png -o variants", N_("Of some files.")),
    ],
)
@click.argument("study")
@click.argument("images", nargs=-1, required=True, metavar="IMAGES...")
@path_option(
    "-o",
    "--output",
    required=True,
    metavar="DIR",
    help=N_("Write to DIR: a new or empty folder, or that of an earlier run."),
)
def amplify_verb(call: Call, *, study: str, images: tuple[str, ...], output: Path) -> int:
    """Make the variants of images."""
    with call.ledger() as ledger:
        made = ledger.amplify(study, images, output)
    call.show(made)
    return 0
