"""The deviations of a study: all in which its course departed from its plan, with the words people gave."""

from collections.abc import Iterable, Iterator

from lacre.broker.desk import Desk, names_of, protocols_of, view
from lacre.broker.outcomes import Deviations
from lacre.broker.texts import texts_of
from lacre.rules.common import require_study
from lacre.rules.deviations import Departure, departures
from lacre.rules.record import Recorded, parse_entry
from lacre.store.reader import Reader


def reads_elsewhere(reader: Reader, study: str) -> Iterator[Recorded]:
    """The reads of other studies, by which pools of this one may have been exposed."""
    for stored in reader.entries():
        if stored.kind == "read" and stored.study != study:
            yield parse_entry(stored.index, stored.envelope)


def departures_of(reader: Reader, study: str, reads: Iterable[Recorded]) -> tuple[Departure, ...]:
    """The rows of a study's table; `reads` are those of other studies, and may be all there are."""
    history = (parse_entry(stored.index, stored.envelope) for stored in reader.study_entries(study))
    return departures(history, protocols_of(reader), (each for each in reads if each.study != study))


def deviations(desk: Desk, study: str) -> Deviations:
    """The deviations of a study, in log order; nothing is read from a pool."""
    with desk.snapshot() as reader:
        state = view(reader, study)
        slug = require_study(state, study).slug
        rows = departures_of(reader, study, reads_elsewhere(reader, study))
        texts = texts_of(reader, dict.fromkeys(row.words for row in rows if row.words is not None))
        return Deviations(slug, rows, texts, names_of(reader, state))
