"""The verb that shows what lacre does: demo."""

from pathlib import Path
from typing import TYPE_CHECKING

from lacre.cli import screen
from lacre.cli.command import Call, Example, path_option, verb
from lacre.text import N_, Choice, speaking

if TYPE_CHECKING:
    from lacre.demo.story import Step


@verb(
    "demo",
    N_(
        "It registers the parity of a published recidivism score, rebuilt from the counts ProPublica "
        "printed in 2016, and takes it through everything that can happen to a study. Nothing of yours is "
        "touched: the ledger, and the memory of it, are in a temporary folder."
    ),
    [
        Example("lacre demo", N_("The whole story.")),
        Example("lacre demo --keep tour", N_("Leave the ledger in ./tour to look around in.")),
    ],
)
@path_option("--keep", metavar="DIR", help=N_("Work in DIR, which must not exist, and leave it there."))
def demo_verb(call: Call, keep: Path | None) -> int:
    """Tell the story."""
    from lacre.demo import telling
    from lacre.demo.story import tell, workshop

    steps: list[Step] = []
    # One language for all of the story, its results too: their protocol's is not that of whoever watches.
    with speaking(Choice(call.language, asked=True)), workshop(keep) as folder:
        for step in tell(folder):
            steps.append(step)
            if not call.as_json:
                number = len(steps)
                screen.write(telling.step(number, step, width=screen.width(), colour=screen.colour()))
    if call.as_json:
        screen.write_json(telling.document(steps))
    else:
        screen.write(telling.moral(keep, width=screen.width(), colour=screen.colour()))
    return 0
