"""What a person may ask, what the broker found, and what the law answered, each as a frozen record."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from lacre.errors import RecordInvalid
from lacre.rules.wire import Count, Hex64, Name, Nonce, Slug, Wire, invalid
from lacre.text import _

ReadClass = Literal["teste", "dev", "contraste", "inputs"]
CONTENT_CLASSES = frozenset({"teste", "dev", "contraste"})


class Seen(Wire):
    """The prefix of the log the signer had seen: its size and its root."""

    size: Count
    root: Hex64


class _Asked(Wire):
    genesis: Hex64
    seen: Seen
    nonce: Nonce
    study: Slug


class Register(_Asked):
    """Put a protocol, by its hash, into the ledger as a new study."""

    verb: Literal["register"] = "register"
    protocol: Hex64


class SealedRecord(Wire):
    """One sealed raw file: its table, how it is read, and its HMAC-SHA-256 under the salt of the seal."""

    table: Name
    format: Literal["csv", "tsv", "json", "jsonl", "parquet"]
    hmac: Hex64


class Seal(_Asked):
    """Commit to a pool: its encrypted content, wrapped key and fingerprints, all by digest."""

    verb: Literal["seal"] = "seal"
    pool: Name
    protocol: Hex64
    records: tuple[SealedRecord, ...]
    ciphertext: Hex64
    wrapped_key: Hex64
    fingerprints: Hex64
    recipients: tuple[Name, ...]
    as_dev: bool = False


class Submitted(Wire):
    """A system's submission: its files by salted digest, and the blob they are kept in."""

    system: Annotated[str, Field(max_length=128)]
    records: tuple[SealedRecord, ...]
    blob: Hex64
    wrapped_key: Hex64


class Read(_Asked):
    """Read a pool: `inputs` hands out ids and input columns, `reveal` and `run` analyse."""

    verb: Literal["read"] = "read"
    purpose: Literal["inputs", "reveal", "run"]
    pool: Name
    protocol: Hex64
    analyses: tuple[Name, ...] = ()
    submissions: tuple[Submitted, ...] = ()
    accept_dev: bool = False
    accept_exposure: bool = False
    finishes: Count | None = None
    reason: Hex64 | None = None


Request = Register | Seal | Read
_REQUEST: TypeAdapter[Request] = TypeAdapter(Annotated[Request, Field(discriminator="verb")])


def decode_request(data: bytes) -> Request:
    """Read a request's canonical bytes; `RecordInvalid` for anything else."""
    with invalid(_("request")):
        request = _REQUEST.validate_json(data)
    if request.encode() != data:
        raise RecordInvalid(what=_("request"), why=_("not in canonical form"))
    return request


# --- facts: found by the broker outside the ledger; a stranger reads them as declared ----------------------


class Engine(Wire):
    """What computes: lacre's version and that of its statistics."""

    lacre: Name
    statistics: Name


class RegisterFacts(Wire):
    """What was found when a study was registered."""

    engine: Engine


class Overlap(Wire):
    """Cases that two pools have in common, and how that was seen."""

    study: Slug
    pool: Name
    kind: Literal["cases", "units", "disjoint", "digests", "contents"]
    count: Count
    label: Name | None = None

    @property
    def bars(self) -> bool:
        """Whether pools of one study may not have it in common: ids decide, what else is alike is told."""
        return self.kind in {"cases", "units", "disjoint"}


class SealFacts(Wire):
    """What was found in the files of a pool."""

    rows: dict[str, Count]
    undeclared: dict[str, Count] = Field(default_factory=dict)
    early_labels: dict[str, Count] = Field(default_factory=dict)
    shared: tuple[Overlap, ...] = ()
    exposed: tuple[Overlap, ...] = ()
    remembered: Count = 0


class SubmissionFacts(Wire):
    """What was found in a submission: its rows, and the pool's cases it says nothing about."""

    system: Annotated[str, Field(max_length=128)]
    table: Name
    rows: Count
    absent: Count


class ReadFacts(Wire):
    """What was found before a read."""

    engine: Engine
    submissions: tuple[SubmissionFacts, ...] = ()
    shared: tuple[Overlap, ...] = ()
    exposed: tuple[Overlap, ...] = ()
    exposes: tuple[Overlap, ...] = ()
    remembered: Count = 0


Facts = RegisterFacts | SealFacts | ReadFacts

# --- decisions ---------------------------------------------------------------------------------------------


class RegisterDecision(Wire):
    """The version a registration begins."""

    version: Count


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


Decision = RegisterDecision | SealDecision | ReadDecision
