"""What the broker found beside a request, and what the law answered, each as a frozen record.

Facts come from outside the ledger; a stranger reads them as declared.
"""

from typing import Annotated, Literal

from pydantic import Field

from lacre.canonical import MAX_SAFE
from lacre.rules.requests import ReadClass, Role
from lacre.rules.wire import Count, Hex64, Name, Real, Slug, Wire


class Engine(Wire):
    """What computes: lacre's version and that of its statistics."""

    lacre: Name
    statistics: Name


class Infeasible(Wire):
    """A criterion that no outcome at all can pass, or none can fail."""

    analysis: Name
    criterion: Name
    passes: bool
    fails: bool


class RegisterFacts(Wire):
    """What was found when a protocol was registered.

    `infeasible` is absent where every criterion can pass and can fail.
    """

    engine: Engine
    infeasible: tuple[Infeasible, ...] | None = None


class AmendFacts(RegisterFacts):
    """What was found when a protocol was amended."""


class NoFacts(Wire):
    """There was nothing to find outside the ledger."""


class ErratumFacts(Wire):
    """What was found in the corrected files: their rows, all of them cases of the pool."""

    engine: Engine
    rows: dict[str, Count]


class FrozenThreshold(Wire):
    """A threshold as it was found: its value in the score's unit, what it attains, and how well it is known.

    `events` among `cases` stand at it, of the registered `target`; `low` and `high` are its interval's ends, absent
    where no score is far enough out. `unresolved`: the target allows less than one event among so many.
    """

    name: Name
    system: Annotated[str, Field(max_length=128)]
    value: Real
    target: Name
    at: Real
    events: Count
    cases: Count
    low: Real | None = None
    high: Real | None = None
    confidence: Real
    unresolved: bool = False


class CalibrateFacts(Wire):
    """What the scores of `dev` gave."""

    engine: Engine
    thresholds: tuple[FrozenThreshold, ...]


class DrawnStratum(Wire):
    """A stratum of a frame: its units, and those drawn from it."""

    stratum: Annotated[str, Field(max_length=1000)]
    population: Count
    drawn: Count


class SampleFacts(Wire):
    """What the frame held: units by stratum, and rows that are in none of the declared ones."""

    strata: tuple[DrawnStratum, ...]
    outside: Count = 0


class CommitFacts(Wire):
    """What was found in second labels: their rows, drawn cases without one, and how many came too soon.

    `days_apart` is the least whole number of days between both labels of a case. `inputs` counts, by each column of
    inputs that came back with the labels, the cells that are not what was handed out; it is absent where none did.
    """

    rows: Count
    absent: Count
    early: Count = 0
    days_apart: Count | None = None
    inputs: dict[Name, Count] | None = None


class EraseFacts(Wire):
    """The entry that named the erased text."""

    named: Count


class Overlap(Wire):
    """Cases that two pools have in common, and how that was seen.

    `decides` marks digests, and contents beyond chance, that count as ids do; the first entries only told of them.
    """

    study: Slug
    pool: Name
    kind: Literal["cases", "units", "disjoint", "digests", "contents"]
    count: Count
    label: Name | None = None
    decides: Literal[True] | None = None

    @property
    def bars(self) -> bool:
        """Whether pools of one study may not have it in common; what is alike and may be by design is told."""
        return self.decides is True or self.kind in {"cases", "units", "disjoint"}


class Gated(Wire):
    """Verdicts that `guarda` of another study gave on cases that a pool shares: `reads` of a budget of `most`."""

    study: Slug
    pool: Name
    cases: Count
    reads: Count
    most: Annotated[int, Field(ge=1, le=MAX_SAFE)]


class DrawHeld(Wire):
    """What was found in a pool's files of the registered draw `draw` of its cases.

    `chances` counts rows with another chance of being drawn than the draw gave. `entry` is the draw whose cases they
    were held against: `undrawn` of them were not drawn, `absent` were drawn and are not there. It is absent where no
    draw on record tells its cases.
    """

    draw: Name
    chances: Count = 0
    entry: Count | None = None
    undrawn: Count | None = None
    absent: Count | None = None


class Grown(Wire):
    """What a part of a corpus that grew holds beside the version before it; anybody can find it again.

    Of the cases: old ones that are `dropped` or whose cells `changed`, and how many were `added`. Of labels and scores:
    rows of old cases that were not drawn to be labelled again (`undrawn`), drawn ones without a row (`unlabelled`), and
    drawn ones of which a cell is blank that held something before (`dropped`).
    """

    dropped: Count = 0
    changed: Count = 0
    added: Count = 0
    undrawn: Count = 0
    unlabelled: Count = 0


class PartFacts(Wire):
    """What was found in the files of one part of an open pool; all but the last four anybody can find in them again.

    By table: `rows`, columns that are not used (`undeclared`), and cases without a row (`absent`). `foreign` counts
    rows of no committed case, `misplaced` names columns of other parts, `early` counts labels from before the
    registration, `disordered` cases whose label is not shown to come before their score.
    """

    rows: dict[str, Count]
    undeclared: dict[str, Count] = Field(default_factory=dict)
    absent: dict[str, Count] = Field(default_factory=dict)
    foreign: Count = 0
    misplaced: tuple[Name, ...] = ()
    early: Count = 0
    disordered: Count = 0
    grown: Grown | None = None
    shared: tuple[Overlap, ...] = ()
    exposed: tuple[Overlap, ...] = ()
    exposes: tuple[Overlap, ...] = ()
    remembered: Count = 0


class Paradox(Wire):
    """A dimension whose pooled kappa is a paradox, and the bin that holds most of both marginals."""

    dimension: Name
    bin: Name


class RebalanceFacts(Wire):
    """What a rebalance rests on: the paradoxes that its result flags, and of how many cases how many were drawn."""

    paradoxes: tuple[Paradox, ...]
    population: Count
    drawn: Count


class SealFacts(Wire):
    """What was found in the files of a pool.

    `late_labels` is absent where no label is dated in the future, `draws` where the plan draws none of its cases.
    """

    rows: dict[str, Count]
    undeclared: dict[str, Count] = Field(default_factory=dict)
    early_labels: dict[str, Count] = Field(default_factory=dict)
    late_labels: dict[str, Count] | None = None
    shared: tuple[Overlap, ...] = ()
    exposed: tuple[Overlap, ...] = ()
    remembered: Count = 0
    draws: tuple[DrawHeld, ...] | None = None


class SubmissionFacts(Wire):
    """What was found in a submission: its rows, and the pool's cases it says nothing about."""

    system: Annotated[str, Field(max_length=128)]
    table: Name
    rows: Count
    absent: Count


class ReadFacts(Wire):
    """What was found before a read.

    `gated` is absent where no case was asked of another study's `guarda` before, and of other pools than `guarda`.
    `draws` is absent where no draw on record tells cases of the pool.
    """

    engine: Engine
    submissions: tuple[SubmissionFacts, ...] = ()
    shared: tuple[Overlap, ...] = ()
    exposed: tuple[Overlap, ...] = ()
    exposes: tuple[Overlap, ...] = ()
    remembered: Count = 0
    gated: tuple[Gated, ...] | None = None
    draws: tuple[DrawHeld, ...] | None = None


Facts = (
    RegisterFacts
    | SealFacts
    | ReadFacts
    | CalibrateFacts
    | SampleFacts
    | CommitFacts
    | PartFacts
    | RebalanceFacts
    | ErratumFacts
    | NoFacts
    | EraseFacts
)

# --- decisions ---------------------------------------------------------------------------------------------


class RegisterDecision(Wire):
    """The version a registration begins."""

    version: Count


class Known(Wire):
    """What had been read of a pool when something was changed: how often in a class, and last at which entry."""

    pool: Name
    read_class: ReadClass
    count: Count
    last: Count


class AmendDecision(Wire):
    """The version an amendment begins, the digest of the difference, what had been read, what it burns."""

    version: Count
    difference: Hex64
    known: tuple[Known, ...] = ()
    burns: tuple[Name, ...] = ()


class WordsDecision(Wire):
    """What had been read when the words were put on record."""

    known: tuple[Known, ...] = ()


class Shortfall(Wire):
    """A table with fewer rows than planned."""

    table: Name
    planned: Count
    rows: Count


class SealDecision(Wire):
    """What the pool counts as once sealed, and where it falls short of the plan."""

    standing: Name
    shortfall: tuple[Shortfall, ...] = ()


class ReadDecision(Wire):
    """How a read was classed and what its result can be.

    `exploratory` and `review` hold reason codes; `burns` is true when this read makes the pool `dev`.
    """

    read_class: ReadClass
    number: Count
    burns: bool = False
    confirmatory: bool = False
    exploratory: tuple[Name, ...] = ()
    retrospective: bool = False
    review: tuple[Name, ...] = ()


class CalibrateDecision(Wire):
    """The number of the calibration, what had been read, and what it burns (rule 7)."""

    number: Count
    known: tuple[Known, ...] = ()
    burns: tuple[Name, ...] = ()


class SampleDecision(Wire):
    """The number of the draw, among those of its name and plan."""

    number: Count


class CommitDecision(Wire):
    """Second labels are committed, and what had been read."""

    known: tuple[Known, ...] = ()


class PartDecision(Wire):
    """A part of an open pool is committed: where its cases fall short of the plan, and what had been read."""

    shortfall: tuple[Shortfall, ...] = ()
    known: tuple[Known, ...] = ()


class RebalanceDecision(Wire):
    """A corpus grows: which of its versions comes next, and what had been read."""

    version: Count
    known: tuple[Known, ...] = ()


class RewrapDecision(Wire):
    """Who can open the pool from now on: the custody grade."""

    custody: Name


class KeyDecision(Wire):
    """The key that may act from this entry on, with its roles, and the one that no longer may (key ids)."""

    enrols: Hex64 | None = None
    roles: tuple[Role, ...] = ()
    revokes: Hex64 | None = None


class EraseDecision(Wire):
    """The text is out of the ledger."""

    erased: Literal[True] = True


Decision = (
    RegisterDecision
    | AmendDecision
    | WordsDecision
    | SealDecision
    | ReadDecision
    | CalibrateDecision
    | SampleDecision
    | CommitDecision
    | PartDecision
    | RebalanceDecision
    | RewrapDecision
    | KeyDecision
    | EraseDecision
)
