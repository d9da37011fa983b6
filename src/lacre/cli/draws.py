"""The verbs of draws and second labels: sample, commit."""

from pathlib import Path
from typing import Literal

import click

from lacre.cli.command import Call, Example, identity_option, option, path_option, signing_options, verb
from lacre.cli.exits import DONE
from lacre.errors import SampleUnclear
from lacre.text import N_


@verb(
    "sample",
    N_(
        "Draws cases from a frame as `sampling:` registers it: so many of each stratum, by the registered seed. Seed, "
        "the SHA-256 of the frame and the chances are on record, and anybody who has the frame can draw the same cases "
        "again. A draw comes before its pool is sealed.\n\nWith --relabel, the share of a sealed pool's cases that "
        "`relabel:` registers is written out without their labels, to be labelled again, blind, on a later day; "
        "`lacre commit` takes the second labels."
    ),
    [
        Example("lacre sample faces faces frame.csv -o drawn.csv", N_("The registered stratified sample.")),
        Example("lacre sample faces --relabel faces -o blank.csv", N_("A tenth, to be labelled again.")),
    ],
)
@click.argument("study")
@click.argument("name", required=False)
@click.argument("frame", required=False, type=click.Path(path_type=Path))
@option("--relabel", metavar="NAME", help=N_("Draw cases of a sealed pool to be labelled again."))
@path_option("-o", "--output", metavar="FILE", required=True, help=N_("Write what was drawn to FILE."))
@option("--overwrite", is_flag=True, help=N_("Write over FILE if it is there."))
@identity_option
@signing_options
def sample_verb(
    call: Call,
    /,
    *,
    study: str,
    name: str | None,
    frame: Path | None,
    relabel: str | None,
    output: Path,
    overwrite: bool,
    identity: tuple[Path, ...],
    passphrase_file: Path | None,
) -> int:
    """Draw."""
    with call.ledger(passphrase_file) as ledger:
        if relabel is not None and name is None:
            call.show(ledger.sample_relabels(study, relabel, output, overwrite=overwrite, identity=identity))
        elif relabel is None and name is not None and frame is not None and not identity:
            call.show(ledger.sample(study, name, frame, output, overwrite=overwrite))
        else:
            raise SampleUnclear
    return DONE


@verb(
    "commit",
    N_(
        "Commits to a part of an open pool: its cases, their labels, their scores, each once and in the order of "
        "the plan. The files stand in the ledger as they are, and in every copy of it, so that anybody can compute "
        "the results again; they are never taken out. A label comes before its score, by the entries and by the times "
        "of the case; a file with labels holds no scores, and one with scores no labels.\n\n`relabels` commits to "
        "second labels of cases that "
        "`lacre sample STUDY --relabel NAME` handed out. They must be of those cases alone, hold nothing but what was "
        "handed out, and come as many days after the first labels as the plan asks. They are kept encrypted beside the "
        "pool."
    ),
    [
        Example(
            "lacre commit judge cases cases.csv", N_("The cases of an open pool, then `labels` and `scores`.")
        ),
        Example("lacre commit faces relabels again.csv", N_("The second labels of the drawn cases.")),
    ],
)
@click.argument("study")
@click.argument("part", type=click.Choice(["cases", "labels", "scores", "relabels"]))
@click.argument("files", nargs=-1, required=True, metavar="[TABLE=]FILE…")
@identity_option
@signing_options
def commit_verb(
    call: Call,
    /,
    *,
    study: str,
    part: Literal["cases", "labels", "scores", "relabels"],
    files: tuple[str, ...],
    identity: tuple[Path, ...],
    passphrase_file: Path | None,
) -> int:
    """Commit to a part of an open pool, or to second labels."""
    with call.ledger(passphrase_file) as ledger:
        call.show(ledger.commit(study, part, files, identity=identity))
    return DONE
