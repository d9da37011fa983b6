"""The verb that shows what lacre does: demo."""

from pathlib import Path

from lacre.cli import screen
from lacre.cli.command import Call, Example, path_option, verb
from lacre.text import N_


@verb(
    "demo",
    N_(
        "It registers the parity of a published recidivism score, rebuilt from the counts ProPublica "
        "printed in 2016, and takes it through everything that can happen to a study. Nothing of yours is "
        "touched: the ledger, and the memory of it, are in a temporary folder."
    ),
    [
        Example("lacre demo", N_("Half a minute.")),
        Example("lacre demo --keep tour", N_("Leave the ledger in ./tour to look around in.")),
    ],
)
@path_option("--keep", metavar="DIR", help=N_("Work in DIR, which must not exist, and leave it there."))
def demo_verb(call: Call, keep: Path | None) -> int:
    """Tell the story."""
    from lacre.demo.story import tell

    if call.as_json:
        screen.write_json(tell(keep=keep).as_json())
    else:
        tell(keep=keep, show=screen.write, width=screen.width(), colour=screen.colour())
    return 0
