"""The verbs that keep a ledger going: recover."""

from lacre.cli.command import Call, Example, option, verb
from lacre.text import N_


@verb(
    "recover",
    N_(
        "For a ledger whose folder was restored from a backup. This machine remembers the entries and "
        "documents of every ledger it saw: those that the backup lacks are put back as they were signed, all "
        "or none, and the ledger has the same root as before. No key is needed. Sealed files are not "
        "remembered; those that are missing are listed."
    ),
    [
        Example("lacre recover --dry-run", N_("What would come back?")),
        Example("lacre recover", N_("Bring it back.")),
    ],
)
@option("--dry-run", is_flag=True, help=N_("Say what would come back, and write nothing."))
def recover_verb(call: Call, *, dry_run: bool) -> int:
    """Bring back what a restored backup lacks."""
    with call.ledger() as ledger:
        recovered = ledger.recover(dry_run=dry_run)
    call.show(recovered)
    return 0
