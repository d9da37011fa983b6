"""Files that are handed out: rows of text as they were written, as CSV, once that is on record."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lacre.broker.desk import Desk, SaltedText, put_on_record
from lacre.broker.unfinished import Unfinished, not_remembered_leaves, refusal_leaves
from lacre.durable import staged
from lacre.errors import NotWritten
from lacre.ledger.envelope import Envelope
from lacre.protocol.tables import Table
from lacre.rules.answers import Facts
from lacre.rules.record import Recorded
from lacre.text import _


def hand_out(
    desk: Desk,
    study: str,
    pool: str,
    signed: Envelope,
    facts: Facts,
    output: Path,
    made_of: Callable[[], Iterable[bytes]],
    unfinished: Unfinished,
    *,
    overwrite: bool,
    text: SaltedText | None = None,
) -> tuple[Recorded, tuple[str, ...]]:
    """Put a signed request on record, then write what `made_of` gives to `output`; return the entry and warnings.

    What cannot be written is found out before anything is on record. What fails afterwards is told as `unfinished`.
    """
    with staged(output.absolute().parent, what=output.name) as file:
        with not_remembered_leaves(unfinished):
            made, warnings = put_on_record(desk, study, signed, facts, text)
        with refusal_leaves(unfinished, made.index, pool):
            for piece in made_of():
                file.write(piece)
            if not file.keep(output.name, replace=overwrite):
                raise NotWritten(path=str(output), why=_("a file came there meanwhile"))
    return made, warnings


def delimiter_of(output: Path, declared: Table) -> str:
    """Return what stands between cells: a tab where the file's name says so, else what is declared."""
    return "\t" if output.suffix.lower() == ".tsv" else declared.delimiter


def encoding_of(declared: Table, formats: Iterable[str]) -> str:
    """Return the declared encoding, where all cells came from files in it; JSON and Parquet hold any text."""
    return declared.encoding if {*formats} <= {"csv", "tsv"} else "utf-8"


def as_csv(
    names: Sequence[str],
    cells: Sequence[npt.NDArray[np.object_]],
    rows: Iterable[int],
    delimiter: str,
    encoding: str,
) -> Iterator[bytes]:
    """Yield a header and the cells of `rows`, a thousand rows at a time; None is an empty cell.

    Cells that a spreadsheet would compute stay what they are, and are counted by whoever hands them out.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    # Before Python 3.13 a carriage return gets no quotes of its own, and the line's end would swallow it.
    quoting = csv.writer(buffer, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(names)
    for count, number in enumerate(rows, 1):
        row = ["" if column[number] is None else column[number] for column in cells]
        (quoting if any("\r" in cell for cell in row) else writer).writerow(row)
        if count % 1000 == 0:
            yield buffer.getvalue().encode(encoding)
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode(encoding)
