"""Rows that are refused together."""


class Tally:
    """How many rows were noted, and the first of them, counted from 1; 0 and 0 while there is none."""

    def __init__(self) -> None:
        self.count = 0
        self.first = 0

    def note(self, row: int, count: int = 1) -> None:
        """Note `count` rows, `row` the first of them."""
        self.count += count
        self.first = min(self.first or row, row)
