"""Cells that a spreadsheet would compute instead of show: a matter of what is written out, never of what is read."""

import re

FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
"""How a formula begins, after blanks too, in full width too; or what moves on (OWASP, CSV injection)."""

_NUMBER = re.compile(r"[+-](?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")


def begins_as_formula(cell: str) -> bool:
    """Tell whether a spreadsheet may take the text of a cell for a formula; a signed number is none."""
    return FORMULA.match(cell) is not None and _NUMBER.fullmatch(cell) is None
