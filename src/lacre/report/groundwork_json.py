"""What later results rest on, as JSON: calibrations, draws, second labels."""

from lacre.broker.groundwork import Calibrated, RelabelsHandedOut, RelabelsKept, Sampled
from lacre.report.values import Document, wires


def calibrated(made: Calibrated) -> Document:
    """Return a calibration: thresholds as numbers, an end of an interval null where it is open."""
    return {
        "study": made.study,
        "pool": made.pool,
        "entry": made.entry,
        "read": made.read,
        "time": made.time,
        "number": made.number,
        "thresholds": [
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
            for each in made.thresholds
        ],
        "known": wires(made.known),
        "burns": list(made.burns),
        "custody": made.custody,
        "warnings": list(made.warnings),
    }


def sampled(made: Sampled) -> Document:
    """Return a draw from a frame."""
    return {
        "study": made.study,
        "sample": made.name,
        "pool": made.pool,
        "entry": made.entry,
        "time": made.time,
        "number": made.number,
        "path": str(made.path),
        "rows": made.rows,
        "strata": wires(made.strata),
        "outside": made.outside,
        "column": made.column,
        "columns": list(made.columns),
        "formulas": made.formulas,
        "warnings": list(made.warnings),
    }


def handed_out(made: RelabelsHandedOut) -> Document:
    """Return what was handed out to be labelled again."""
    return {
        "study": made.study,
        "relabel": made.name,
        "pool": made.pool,
        "entry": made.entry,
        "path": str(made.path),
        "rows": made.rows,
        "population": made.population,
        "columns": list(made.columns),
        "again": list(made.again),
        "custody": made.custody,
        "warnings": list(made.warnings),
    }


def kept(made: RelabelsKept) -> Document:
    """Return second labels that were committed."""
    return {
        "study": made.study,
        "relabel": made.name,
        "pool": made.pool,
        "entry": made.entry,
        "read": made.read,
        "time": made.time,
        "rows": made.rows,
        "absent": made.absent,
        "days_apart": made.days_apart,
        "custody": made.custody,
        "warnings": list(made.warnings),
    }
