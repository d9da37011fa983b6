"""What later results rest on, as JSON: calibrations, draws, second labels."""

from collections.abc import Iterable

from lacre.broker.groundwork import Calibrated, RelabelsHandedOut, RelabelsKept, Sampled
from lacre.report.values import Document, told, wires
from lacre.rules.answers import FrozenThreshold
from lacre.rules.state import StudyState


def calibrated(made: Calibrated) -> Document:
    """Return a calibration: thresholds as numbers, an end of an interval null where it is open."""
    return told(made, thresholds=_thresholds(made.thresholds))


def sampled(made: Sampled) -> Document:
    """Return a draw from a frame."""
    return told(made, {"name": "sample"})


def handed_out(made: RelabelsHandedOut) -> Document:
    """Return what was handed out to be labelled again."""
    return told(made, {"name": "relabel"})


def kept(made: RelabelsKept) -> Document:
    """Return second labels that were committed."""
    return told(made, {"name": "relabel"})


def on_record(study: StudyState) -> Document:
    """Return the calibrations, draws and second labels that a study has on record."""
    return {
        "calibrations": [
            {
                "entry": each.entry,
                "time": each.time,
                "by": each.by,
                "read": each.request.read,
                "number": each.decision.number,
                "thresholds": _thresholds(each.facts.thresholds),
                "burns": list(each.decision.burns),
            }
            for each in study.calibrations
        ],
        "draws": [
            {
                "entry": each.entry,
                "time": each.time,
                "by": each.by,
                "sample": each.request.draw,
                "frame": each.request.frame,
                "strata": wires(each.facts.strata),
                "outside": each.facts.outside,
            }
            for each in study.draws
        ],
        "relabels": [
            {
                "entry": each.entry,
                "time": each.time,
                "by": each.by,
                "relabel": each.request.draw,
                "pool": pool.name,
                "read": each.request.read,
                "rows": each.facts.rows,
                "absent": each.facts.absent,
                "days_apart": each.facts.days_apart,
            }
            for pool in study.pools.values()
            for each in pool.commits
        ],
    }


def _thresholds(frozen: Iterable[FrozenThreshold]) -> list[Document]:
    return [
        {
            "name": each.name,
            "system": each.system or None,
            "value": float(each.value),
            "rule": {each.target: float(each.at)},
            "events": each.events,
            "cases": each.cases,
            "low": None if each.low is None else float(each.low),
            "high": None if each.high is None else float(each.high),
            "confidence": float(each.confidence),
            "unresolved": each.unresolved,
        }
        for each in frozen
    ]
