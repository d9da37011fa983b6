"""Receipts of what was put in the ledger: where each is written, found out before anything is recorded."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lacre.cli.command import path_option
from lacre.errors import LacreError, ReceiptLost
from lacre.text import N_, _

Keep = Callable[[str, int, bytes], Path]
"""Writes the receipt of an entry of a study; returns where."""

receipt_option = path_option(
    "--receipt", metavar="FILE", help=N_("Write the receipt to FILE (else STUDY@ENTRY.receipt, here).")
)


@contextmanager
def receipt_file(receipt: Path | None) -> Iterator[Keep]:
    """Make sure, before anything is recorded, that a receipt can be written: there is no second one."""
    from lacre.durable import staged

    folder = Path() if receipt is None else receipt.parent
    with staged(folder, what=_("the receipt") if receipt is None else receipt.name, mode=0o644) as file:

        def keep(study: str, entry: int, content: bytes) -> Path:
            name = f"{study}@{entry}.receipt" if receipt is None else receipt.name
            # The name may have been taken meanwhile; what was recorded gets its receipt all the same.
            names = itertools.chain([name], (f"{name}.{number}" for number in itertools.count(2)))
            try:
                file.write(content)
                return folder / next(each for each in names if file.keep(each, replace=False))
            except LacreError as error:
                raise ReceiptLost(entry=entry, why=error.message) from error

        yield keep
