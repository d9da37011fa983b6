"""A result written to a file as a page."""

import hashlib
from pathlib import Path

from lacre.broker.outcomes import ResultShown
from lacre.durable import create_durably, write_durably
from lacre.errors import FileExists
from lacre.report.html.result_html import page
from lacre.report.published import ReportWritten

READABLE = 0o644
"""What may be read by all: it is made to be shown."""


def write_report(shown: ResultShown, path: Path, *, overwrite: bool) -> ReportWritten:
    """Write the page of a result to `path`, whole or not at all. Raises `FileExists`, `DiskFull`, `NotWritten`."""
    data = page(shown).encode()
    if overwrite:
        write_durably(path, data, mode=READABLE)
    elif not create_durably(path, data, mode=READABLE):
        raise FileExists(file=str(path))
    return ReportWritten(
        path=path,
        result=shown.name,
        state=shown.state,
        bytes=len(data),
        digest=hashlib.sha256(data).hexdigest(),
    )
