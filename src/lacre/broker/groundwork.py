"""What calibrations, draws and second labels came to: records that later results rest on."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lacre.rules.answers import DrawnStratum, FrozenThreshold, Known, Overlap, Shortfall


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Thresholds frozen by an entry, from the read at `read`; `burns` are pools that it made `dev`."""

    study: str
    pool: str
    entry: int
    read: int
    time: str
    number: int
    thresholds: tuple[FrozenThreshold, ...]
    known: tuple[Known, ...]
    burns: tuple[str, ...]
    custody: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sampled:
    """Cases drawn from a frame, the entry that records it, and how many of how many in each stratum.

    `column` is what the file calls the chances, and `left_out` are the frame's columns that did not come along: they
    are not the key, a stratum or marked `is: input`. `outside` counts rows of the frame in no declared stratum,
    `formulas` cells that a spreadsheet would take for formulas.
    """

    study: str
    name: str
    pool: str
    entry: int
    time: str
    number: int
    path: Path
    rows: int
    strata: tuple[DrawnStratum, ...]
    outside: int
    column: str
    columns: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    formulas: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelabelsHandedOut:
    """Cases handed out to be labelled again: `rows` of `population`, without their labels."""

    study: str
    name: str
    pool: str
    entry: int
    path: Path
    rows: int
    population: int
    columns: tuple[str, ...]
    again: tuple[str, ...]
    custody: str
    formulas: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelabelsKept:
    """Second labels committed by an entry; `absent` drawn cases have none, `days_apart` is the least between both."""

    study: str
    name: str
    pool: str
    entry: int
    read: int
    time: str
    rows: int
    absent: int
    days_apart: int | None
    custody: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartKept:
    """One part of an open pool, committed by an entry; `next` is the part to come, and None after the last.

    `reason` is why the pool may be open, `files` are SHA-256 digests. By table: `rows`, cases without a row
    (`absent`), and columns that are not used (`undeclared`); by `table.column`, cells of no declared value (`outside`).
    """

    study: str
    pool: str
    part: str
    entry: int
    time: str
    reason: str
    rows: Mapping[str, int]
    absent: Mapping[str, int]
    undeclared: Mapping[str, tuple[str, ...]]
    outside: Mapping[str, int]
    files: tuple[str, ...]
    shortfall: tuple[Shortfall, ...]
    overlaps: tuple[Overlap, ...]
    remembered: int
    next: str | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rebalanced:
    """A corpus let grow since `result` flags `paradoxes` (dimension and bin): `rows` of `population` to label again.

    They are in `path`. `left` is how often it may still grow. Of a dry run `entry` and `time` are None; with `again`
    the draw of a version under way was written once more.
    """

    study: str
    pool: str
    analysis: str
    result: int
    version: int
    left: int
    paradoxes: tuple[tuple[str, str], ...]
    population: int
    rows: int
    path: Path
    entry: int | None
    time: str | None
    again: bool = False
    warnings: tuple[str, ...] = ()
