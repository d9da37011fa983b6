"""The deviations of a study: all in which its course departed from its plan, with the words people gave."""

from collections.abc import Iterator

from lacre.broker.desk import Desk, names_of, protocols_of, view
from lacre.broker.outcomes import Deviations
from lacre.broker.texts import texts_of
from lacre.rules.common import require_study
from lacre.rules.deviations import departures
from lacre.rules.record import Recorded, parse_entry
from lacre.store.reader import Reader


def reads_elsewhere(reader: Reader, study: str) -> Iterator[Recorded]:
    """The reads of other studies, by which pools of this one may have been exposed."""
    for stored in reader.entries():
        if stored.kind == "read" and stored.study != study:
            yield parse_entry(stored.index, stored.envelope)


def deviations(desk: Desk, study: str) -> Deviations:
    """The deviations of a study, in log order; nothing is read from a pool."""
    with desk.snapshot() as reader:
        state = view(reader, study)
        slug = require_study(state, study).slug
        history = (parse_entry(stored.index, stored.envelope) for stored in reader.study_entries(study))
        rows = departures(history, protocols_of(reader), reads_elsewhere(reader, study))
        texts = texts_of(reader, dict.fromkeys(row.words for row in rows if row.words is not None))
        return Deviations(slug, rows, texts, names_of(reader, state))
