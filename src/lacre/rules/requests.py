"""What a person may ask, each as a frozen record."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from lacre.errors import RecordInvalid
from lacre.rules.wire import Count, Hex64, Name, Nonce, Slug, Wire, invalid
from lacre.text import _

Role = Literal["owner", "registrant", "custodian", "broker", "log"]
ReadClass = Literal["teste", "dev", "contraste", "guarda", "inputs", "relabel", "erratum", "corpus"]
CONTENT_CLASSES = frozenset({"teste", "dev", "contraste"})
"""The classes of reads that expose a pool's cases: `guarda` answers verdicts, the others hand out inputs alone."""

Purpose = Literal["inputs", "reveal", "run", "calibrate", "gate", "relabel"]
HANDS_OUT = frozenset({"inputs", "relabel"})
"""The purposes of reads that hand out ids and inputs, and have no result."""


class Seen(Wire):
    """The prefix of the log the signer had seen: its size and its root."""

    size: Count
    root: Hex64


class Bound(Wire):
    """What every request carries: the ledger it is for, the history its signer had seen, and a nonce."""

    genesis: Hex64
    seen: Seen
    nonce: Nonce


class _Asked(Bound):
    study: Slug


class Register(_Asked):
    """Put a protocol, by its hash, into the ledger as a new study.

    `accept_infeasible` is the salted digest of why a criterion that can only come out one way is kept.
    """

    verb: Literal["register"] = "register"
    protocol: Hex64
    accept_infeasible: Hex64 | None = None


class Amend(_Asked):
    """Put another protocol in force, in place of `replaces`; texts are named by salted digests."""

    verb: Literal["amend"] = "amend"
    protocol: Hex64
    replaces: Hex64
    reason: Hex64
    accept_burn: bool = False
    accept_infeasible: Hex64 | None = None


class Deviate(_Asked):
    """Put words on record about a study, or about its entry `about`; nothing else changes."""

    verb: Literal["deviate"] = "deviate"
    about: Count | None = None
    text: Hex64


class Withdraw(_Asked):
    """End a study; what it has on record stays."""

    verb: Literal["withdraw"] = "withdraw"
    reason: Hex64


class SealedRecord(Wire):
    """One sealed raw file: its table, how it is read, and its HMAC-SHA-256 under the salt of the seal."""

    table: Name
    format: Literal["csv", "tsv", "json", "jsonl", "parquet"]
    hmac: Hex64


class Seal(_Asked):
    """Commit to a pool: its encrypted content, wrapped key and fingerprints, all by digest.

    `replaces` is the entry of the seal that this one takes the place of, `reason` the salted digest of why.
    """

    verb: Literal["seal"] = "seal"
    pool: Name
    protocol: Hex64
    records: tuple[SealedRecord, ...]
    ciphertext: Hex64
    wrapped_key: Hex64
    fingerprints: Hex64
    recipients: tuple[Name, ...]
    as_dev: bool = False
    replaces: Count | None = None
    reason: Hex64 | None = None


class Submitted(Wire):
    """A system's submission: its files by salted digest, and the blob they are kept in."""

    system: Annotated[str, Field(max_length=128)]
    records: tuple[SealedRecord, ...]
    blob: Hex64
    wrapped_key: Hex64


class Read(_Asked):
    """Read a pool: `inputs` and `relabel` hand out ids and input columns, `reveal`, `run` and `gate` analyse.

    `calibrate` reads the scores of `thresholds`, which an entry of its own then freezes. `draw` names what is drawn
    to be labelled again, `rung` the mitigation by training that a run is of. `parts` are the entries of an open pool's
    parts, all that a run on it reads. `ciphertext` is that of the seal the
    signer means, so that no other is read in its place; requests of the first version did not name it.
    """

    verb: Literal["read"] = "read"
    purpose: Purpose
    pool: Name
    protocol: Hex64
    analyses: tuple[Name, ...] = ()
    submissions: tuple[Submitted, ...] = ()
    accept_dev: bool = False
    accept_exposure: bool = False
    finishes: Count | None = None
    reason: Hex64 | None = None
    ciphertext: Hex64 | None = None
    thresholds: tuple[Name, ...] | None = None
    accept_burn: Literal[True] | None = None
    draw: Name | None = None
    rung: Name | None = None
    parts: tuple[Count, ...] | None = None


class Calibrate(_Asked):
    """Freeze thresholds that the read at entry `read` found on `dev`."""

    verb: Literal["calibrate"] = "calibrate"
    protocol: Hex64
    read: Count
    thresholds: tuple[Name, ...]
    accept_burn: bool = False
    reason: Hex64 | None = None


class Sample(_Asked):
    """Draw cases from a frame, whose SHA-256 is `frame`, as `draw` is registered; no pool is read.

    A frame is a list of what there is to be drawn, no secret: anybody who has it can make the draw again. `cases` is
    the SHA-256 of the fingerprints of the cases drawn, which lie beside `pool` for its seal to be held against; both
    are absent from requests of the first version.
    """

    verb: Literal["sample"] = "sample"
    protocol: Hex64
    draw: Name
    frame: Hex64
    pool: Name | None = None
    cases: Hex64 | None = None


class Commit(_Asked):
    """Commit to second labels of the cases that the read at entry `read` handed out to be labelled again.

    They are kept encrypted beside the pool, as a submission is.
    """

    verb: Literal["commit"] = "commit"
    part: Literal["relabels"]
    pool: Name
    protocol: Hex64
    draw: Name
    read: Count
    records: tuple[SealedRecord, ...]
    blob: Hex64
    wrapped_key: Hex64


class OpenFile(Wire):
    """One file of an open pool: its table, how it is read, and the plain SHA-256 of its bytes, which all may have."""

    table: Name
    format: Literal["csv", "tsv", "json", "jsonl", "parquet"]
    sha256: Hex64


class CommitPart(_Asked):
    """Commit to one part of an open pool: its cases, their labels, or their scores; nothing is encrypted.

    The files stand beside the log as documents. `fingerprints` are those of the cases, and come with that part.
    """

    verb: Literal["commit"] = "commit"
    part: Literal["cases", "labels", "scores"]
    pool: Name
    protocol: Hex64
    files: tuple[OpenFile, ...]
    fingerprints: Hex64 | None = None


class Rebalance(_Asked):
    """Let a corpus grow, since the result at entry `result` flags a kappa paradox; `reason` is a salted digest."""

    verb: Literal["rebalance"] = "rebalance"
    pool: Name
    protocol: Hex64
    result: Count
    reason: Hex64 | None = None


class Erratum(_Asked):
    """Score the submissions of the result at entry `corrects` again, on corrected tables.

    Analyses, submissions and protocol are those of the read that gave it. The corrected files are sealed
    beside the pool; tables without one stay as they were sealed.
    """

    verb: Literal["erratum"] = "erratum"
    purpose: Literal["erratum"] = "erratum"
    pool: Name
    protocol: Hex64
    corrects: Count
    analyses: tuple[Name, ...]
    submissions: tuple[Submitted, ...]
    records: tuple[SealedRecord, ...]
    ciphertext: Hex64
    wrapped_key: Hex64
    recipients: tuple[Name, ...]
    reason: Hex64

    @property
    def finishes(self) -> None:
        """A crashed erratum is asked for again, as another one."""
        return None


class Rewrap(_Asked):
    """Hand a sealed pool to other recipients: its key, and those of all that is kept beside it; no read.

    `wrapped_key` is the file with all those keys, the keyset, however many they are; `covers` says of which
    ciphertexts, by the SHA-256 of the canonical JSON list of their digests, sorted.
    """

    verb: Literal["rewrap"] = "rewrap"
    pool: Name
    recipients: tuple[Name, ...]
    wrapped_key: Hex64
    covers: Hex64
    reason: Hex64 | None = None


class KeyChange(Bound):
    """Change who may act: enrol a key, revoke one, or have one take another's place (`replaces`, a key id).

    `public` is the raw Ed25519 key in hex: the new one's, or of a revocation the revoked one's.
    """

    verb: Literal["key"] = "key"
    action: Literal["enrol", "revoke", "rotate"]
    public: Hex64
    roles: tuple[Role, ...] = ()
    replaces: Hex64 | None = None
    name: Hex64 | None = None
    reason: Hex64 | None = None


class Erase(Bound):
    """Take a text (a name, a reason, the words of a deviation) out of the ledger; its digest stays."""

    verb: Literal["erase"] = "erase"
    digest: Hex64


Committing = Annotated[Commit | CommitPart, Field(discriminator="part")]
Request = (
    Register
    | Amend
    | Deviate
    | Withdraw
    | Seal
    | Read
    | Calibrate
    | Sample
    | Committing
    | Rebalance
    | Erratum
    | Rewrap
    | KeyChange
    | Erase
)
ReadLike = Read | Erratum
"""What opens a pool and has a result."""
_REQUEST: TypeAdapter[Request] = TypeAdapter(Annotated[Request, Field(discriminator="verb")])


def decode_request(data: bytes) -> Request:
    """Read a request's canonical bytes; `RecordInvalid` for anything else."""
    try:
        request = _REQUEST.validate_json(data)
    except ValidationError as error:
        raise invalid(_("request"), error) from error
    if request.encode() != data:
        raise RecordInvalid(what=_("request"), why=_("not in canonical form"))
    return request
