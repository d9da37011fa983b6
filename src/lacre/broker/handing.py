"""Files that are handed out: rows of text as they were written, as CSV."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt


def as_csv(
    names: Sequence[str],
    cells: Sequence[npt.NDArray[np.object_]],
    rows: Iterable[int],
    delimiter: str,
    encoding: str,
) -> Iterator[bytes]:
    """Yield a header and the cells of `rows`, a thousand rows at a time; None is an empty cell.

    Cells that a spreadsheet would compute stay what they are: a system is to predict on what was sealed.
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
