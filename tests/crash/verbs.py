"""The verbs whose every write is a point where the power may be cut: one line each, and a verb to come adds its own."""

from dataclasses import dataclass

from tests.crash.study import NAME, RECIPIENT

ALL = ("kill", "torn", "lost", "kept", "full", "dead")
KILL = ("kill",)
NONE = ()  # what it does is done by another, too


@dataclass(frozen=True)
class State:
    """A ledger as some calls left it, begun where the state `after` ends.

    `-FILE` removes a file, `=FOLDER` keeps a copy of a folder, and `~FOLDER` puts that copy back.
    """

    after: str | None
    calls: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verb:
    """A call, where it begins, and what is true once it is done."""

    words: str
    start: str
    adds: str = ""
    """What the kinds of the entries that it adds match, given once or again: a regular expression, blanks between."""
    done: tuple[str, ...] = ()
    """The codes by which the same call is refused once it is done."""
    modes: tuple[str, ...] = KILL
    every: bool = False
    """Whether it is tried at each write of a run of writes to one file; others are at the first two, and after it."""
    findings: tuple[str, ...] = ()
    """What an audit may find until the call is given again."""
    then: str = ""
    """What must end with 0 after every cut, too."""
    gone: str = ""
    """What must be in no file once it is done."""
    tidies: str = ""
    """Where it clears away what it left unfinished when it was killed: a regular expression of paths."""


_CASES = "../given/open/cases-judge-0-200.csv"
POOLS = ("dev", "teste", "contraste")
STATES = {
    "nothing": State(None),
    "made": State("nothing", (f"init --name {NAME}", "key new ../given/ana.pem")),
    "registered": State("made", ("register ../given/plan.yaml",)),
    "sealed": State("registered", tuple(f"seal small {pool} ../given/{pool}.csv" for pool in POOLS)),
    "faces": State("made", ("register ../given/faces/faces.yaml",)),
    "drawn": State(
        "faces",
        (
            "sample faces faces ../given/faces/frame.csv -o drawn.csv",
            "seal faces dev faces=../given/faces/dev-faces.csv pairs=../given/faces/dev-pairs.csv",
            "seal faces teste ../given/faces/teste-faces.csv",
            "seal faces guarda ../given/faces/guarda.csv",
        ),
    ),
    "open": State("made", ("register ../given/open/open.yaml",)),
    "scored": State(
        "open",
        (
            f"commit judge cases {_CASES}",
            "commit judge labels ../given/open/labels.csv",
            "commit judge scores ../given/open/scores.csv",
        ),
    ),
    "handed": State("drawn", ("sample faces --relabel faces -o blank.csv",)),
    "asked": State(
        "sealed", ("reveal small --submission ../given/teste-predictions.csv --request-out ask.lacre",)
    ),
    "revealed": State("sealed", ("reveal small --submission ../given/teste-predictions.csv",)),
    "exported": State("revealed", ("export --registry public", "deviate small late", "erase @0 --yes")),
    "keyless": State(
        "made", ("key backup keys.tar --open", "-.lacre/keys/person.pem", "-.lacre/keys/log.pem")
    ),
    "older": State(
        "made", ("=.lacre", "register ../given/plan.yaml", "deviate small late", "erase @0 --yes", "~.lacre")
    ),
}

_REVEAL = "reveal small --submission ../given/teste-predictions.csv"
_RUN = "run small {} --pool {} --submission ../given/{}-predictions.csv"
_ONCE = "read( read)* result"
_ANEW = "read( read)? result( read result)?"

VERBS = {
    "register": Verb("register ../given/plan.yaml", "made", "register", ("study-already-registered",), ALL),
    "seal": Verb(
        "seal small teste ../given/teste.csv", "registered", "seal", ("pool-already-sealed",), ALL, every=True
    ),
    "amend": Verb(
        "amend ../given/amended.yaml --reason why --yes", "sealed", "amend", ("nothing-amended",), ALL
    ),
    "reveal": Verb(_REVEAL, "sealed", _ONCE, ("teste-already-read",), ALL, every=True),
    "init": Verb(f"init --name {NAME}", "nothing", "genesis", ("ledger-exists",), tidies=r"work/\.lacre-"),
    "ask": Verb(f"{_REVEAL} --request-out ask.lacre", "sealed", done=("file-exists",)),
    "answer": Verb("reveal --request ask.lacre", "asked", _ONCE, ("request-answered",)),
    "read-again": Verb(f"{_REVEAL} --accept-dev", "revealed", _ANEW, modes=NONE),
    "run-dev": Verb(_RUN.format("parity", "dev", "dev"), "sealed", _ANEW),
    "run-contraste": Verb(
        _RUN.format("contrast", "contraste", "contraste"), "sealed", f"{_ONCE}( read result)?"
    ),
    "inputs": Verb("inputs small teste -o in.csv", "sealed", "read( read)?", ("file-exists",)),
    "erratum": Verb(
        "erratum small@6 ../given/corrected.csv --reason why",
        "revealed",
        "erratum( erratum)? result( erratum result)?",
    ),
    "replace": Verb("seal small teste ../given/other.csv --replace --reason why", "sealed", "seal( seal)?"),
    "rewrap": Verb(
        f"rewrap small teste --recipient {RECIPIENT}", "sealed", "rewrap", ("identity-cannot-open",)
    ),
    "calibrate": Verb(
        "calibrate faces detector --submission ../given/faces/dev-scores.csv",
        "drawn",
        "read( read)? calibrate( read calibrate)?",
    ),
    "gate": Verb("gate faces --submission ../given/faces/good.csv", "drawn", f"{_ONCE}( {_ONCE})?"),
    "sample": Verb(
        "sample faces faces ../given/faces/frame.csv -o again.csv",
        "faces",
        "sample( sample)?",
        ("file-exists",),
    ),
    "relabel": Verb("sample faces --relabel faces -o again.csv", "drawn", "read( read)?", ("file-exists",)),
    "commit": Verb(
        "commit faces relabels ../given/faces/again.csv",
        "handed",
        "read( read)? commit",
        ("relabels-committed",),
    ),
    "commit-open": Verb(f"commit judge cases {_CASES}", "open", "commit", ("part-already-committed",)),
    "run-open": Verb("run judge parity", "scored", _ANEW, modes=NONE),
    "deviate": Verb("deviate small late", "registered", "deviate( deviate)?"),
    "withdraw": Verb("withdraw small --reason why --yes", "registered", "withdraw", ("study-withdrawn",)),
    "erase": Verb("erase @0 --yes", "registered", "erase", ("nothing-to-erase",), gone=NAME),
    "rotate": Verb("key rotate broker", "made", "key( key)?"),
    "enrol": Verb("key enrol ../given/ana.pem --role owner", "made", "key", ("key-already-enrolled",)),
    "backup": Verb("key backup keys.tar --open", "made", done=("key-backup-exists",)),
    "key-recover": Verb("key recover keys.tar", "keyless"),
    "recover": Verb("recover", "older", "register deviate erase", findings=("memory-shrunk",), gone=NAME),
    "report": Verb("report small@6 -o out.html", "revealed", done=("file-exists",)),
    "bundle": Verb("export small@6 -o out.zip", "revealed", done=("file-exists",)),
    "registry": Verb(
        "export --registry public",
        "exported",
        then="audit --registry public",
        gone=NAME,
        tidies="work/public",
    ),
}
