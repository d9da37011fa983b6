"""The cases of the COMPAS study, rebuilt from the counts that were published.

Source: J. Larson, S. Mattu, L. Kirchner and J. Angwin, "How We Analyzed the COMPAS Recidivism Algorithm",
ProPublica, 23 May 2016, the contingency tables by race of two-year recidivism against the score "Low" or not.
A count says how many defendants of one race had one outcome and one score, which is all that the study's
rates need. Which defendant was which is not in it, and each case here stands for one of them and for nobody.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Counts:
    """How many defendants of one race were scored rightly and wrongly; positive: charged within two years."""

    race: str
    true_negatives: int
    false_positives: int
    false_negatives: int
    true_positives: int


PUBLISHED = (
    Counts(
        "African-American", true_negatives=990, false_positives=805, false_negatives=532, true_positives=1369
    ),
    Counts("Caucasian", true_negatives=1139, false_positives=349, false_negatives=461, true_positives=505),
)

LOW = "Low"
NOT_LOW = "Medium"
"""The counts tell "Low" from the rest, and not "Medium" from "High"; the study takes these two for one."""


def _cases() -> Iterator[tuple[str, str, str, str]]:
    """Yield id, race, outcome and score of each case."""
    cells = [
        (counts.race, outcome, score, count)
        for counts in PUBLISHED
        for outcome, score, count in (
            ("0", LOW, counts.true_negatives),
            ("0", NOT_LOW, counts.false_positives),
            ("1", LOW, counts.false_negatives),
            ("1", NOT_LOW, counts.true_positives),
        )
    ]
    number = 0
    for race, outcome, score, count in cells:
        for _case in range(count):
            number += 1
            yield f"case-{number:04}", race, outcome, score


def _csv(rows: Iterable[tuple[str, ...]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def cases_csv() -> bytes:
    """Return the pool's table: `case_id`, `race` and `two_year_recid`, one row a defendant."""
    rows = ((case, race, outcome) for case, race, outcome, _score in _cases())
    return _csv([("case_id", "race", "two_year_recid"), *rows])


def submission_csv() -> bytes:
    """Return the score's submission: `case_id` and `score_text`, one row a defendant."""
    rows = ((case, score) for case, _race, _outcome, score in _cases())
    return _csv([("case_id", "score_text"), *rows])
