"""Whatever a verb meets, no cell of a sealed pool is in what it says: each failure by the command line and by Python.

Every file below is full of canary cells, and so are the faults. `Shell.lacre` looks for them in what is written, and
`tests/conftest.py` in every error on its way and in every file that is left. What Python would print of an exception
that leaves the API is looked at here. A verb to come joins by lines in `FAILURES`.
"""

import json
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest
from tests.dates import AGAIN
from tests.secrets.canaries import CANARY, COLUMN, sings
from tests.secrets.conftest import HEAD, Row, csv, predictions, rows

import lacre
from lacre.durable import Staged
from lacre.errors import DiskFull, InternalError, LacreError

Shell = Any
Provoke = Callable[[Shell], AbstractContextManager[object]]


class Failure(NamedTuple):
    """What is wrong, at which stage of the study, and the line that meets it; `way` is its exit status.

    `code` is that of the refusal, where it is not for the suites of the verbs alone to say.
    """

    provoke: Provoke
    line: str
    stage: str = "sealed"
    way: int = 2
    code: str | None = None


# --- what can be wrong


def table(change: Callable[[list[Row]], object], tag: str = "more", name: str = "faulty.csv") -> Provoke:
    """A pool's file with a change to its rows."""

    def write(shell: Shell) -> AbstractContextManager[object]:
        cases = rows(tag)
        change(cases)
        (shell.folder / name).write_text(csv(cases))
        return nullcontext()

    return write


def cell(column: str, value: str = CANARY, row: int | slice = 7, tag: str = "more") -> Provoke:
    """A pool's file with another cell."""

    def change(cases: list[Row]) -> None:
        for each in cases[row] if isinstance(row, slice) else [cases[row]]:
            each[column] = value

    return table(change, tag)


def written(name: str, content: bytes) -> Provoke:
    """A file that is no table of any kind."""

    def write(shell: Shell) -> AbstractContextManager[object]:
        (shell.folder / name).write_bytes(content)
        return nullcontext()

    return write


def submission(change: Callable[[str], str]) -> Provoke:
    """Predictions that are not as they should be."""
    lines = [
        f"{line},{COLUMN if number == 0 else CANARY}"
        for number, line in enumerate(change(predictions(rows("teste"))).splitlines())
    ]
    return written("faulty.csv", "\n".join(lines).encode())


def adapted(name: str, change: Callable[[str], str]) -> Provoke:
    """A file of the study of four pools with a change to its text, and canaries beside it, as another."""

    def write(shell: Shell) -> AbstractContextManager[object]:
        before = (shell.folder / name).read_text()
        assert change(before) != before
        head, *lines = change(before).splitlines()
        planted = [f"{head},{COLUMN}", *(f"{line},{CANARY}" for line in lines)]
        (shell.folder / "faulty.csv").write_text("\n".join(planted) + "\n")
        return nullcontext()

    return write


def blob(kind: str, change: Callable[[Path], object], pool: str = "secret/teste") -> Provoke:
    """A damaged file of the pool."""

    def damage(shell: Shell) -> AbstractContextManager[object]:
        for path in (shell.folder / ".lacre" / "pools" / pool).glob(f"*.{kind}"):
            change(path)
        return nullcontext()

    return damage


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def other_identity(shell: Shell) -> AbstractContextManager[object]:
    """The pool was sealed to another key than the one that is here."""
    shell.json("key", "new", "other.txt", "--identity")
    (shell.folder / ".lacre" / "keys" / "identity.age").write_bytes((shell.folder / "other.txt").read_bytes())
    return nullcontext()


def disk_full(_shell: Shell) -> AbstractContextManager[object]:
    """The disk takes nothing more."""
    return mock.patch.object(Staged, "write", side_effect=DiskFull(path="a disk"))


def crash(place: str, error: type[Exception] = ValueError) -> Provoke:
    """Code of lacre's raises an error that quotes what it was given, as a library's often does."""

    @contextmanager
    def quoting() -> Iterator[None]:
        def fail(*given: object, **named: object) -> None:
            warnings.warn(f"{CANARY} {given!r}", stacklevel=1)
            try:
                raise KeyError(CANARY)
            except KeyError as below:
                raise error(f"could not convert {CANARY!r}", given, named) from below

        with warnings.catch_warnings(), mock.patch(place, fail):
            warnings.simplefilter("ignore")
            yield

    return lambda _shell: quoting()


def as_json(cases: list[Row]) -> str:
    return json.dumps(cases)


SEAL = "seal secret contraste faulty.csv"
REVEAL = "reveal secret --submission teste-predictions.csv"
RUN = "run secret rehearsal --submission dev-predictions.csv"
ERRATUM = "erratum secret@5 corrected.csv --reason swapped"
INPUTS = "inputs secret teste -o inputs-out.csv"
MORE = "seal secret contraste more.csv"
SAMPLE = "sample faces faces faulty.csv -o drawn-again.csv"
CALIBRATE = "calibrate faces detector --submission faulty.csv"
CALIBRATED = "calibrate faces detector --submission dev-scores.csv"
RELABEL = "sample faces --relabel faces -o blank-again.csv"
COMMIT = "commit faces relabels faulty.csv"
GATE = "gate faces --submission faulty.csv"

FAILURES = {
    # of a file that is to be sealed
    "seal-number": Failure(cell("age"), SEAL),
    "seal-time": Failure(cell("seen"), SEAL),
    "seal-labels-undeclared": Failure(cell("label", row=slice(None)), SEAL),
    "seal-categories-undeclared": Failure(cell("sex", row=slice(None)), SEAL),
    "seal-key-repeated": Failure(cell("case_id", row=slice(3, 9)), SEAL),
    "seal-key-missing": Failure(cell("case_id", value=""), SEAL),
    "seal-early-label": Failure(cell("seen", value="1999-01-01"), SEAL),
    "seal-delimiter": Failure(cell("note", value=f"{CANARY},{CANARY}"), SEAL),
    "seal-quote": Failure(cell("note", value=f'"{CANARY}'), SEAL),
    "seal-quote-inside": Failure(cell("note", value=f'"{CANARY}"{CANARY}'), SEAL),
    "seal-nul": Failure(cell("note", value=f"{CANARY}\0"), SEAL),
    "seal-bytes": Failure(
        written("faulty.csv", csv(rows("more")).encode() + b"\xff" + CANARY.encode()), SEAL
    ),
    "seal-line-breaks": Failure(cell("note", value=f"{CANARY}\r{CANARY}"), SEAL),
    "seal-head-absent": Failure(
        written("faulty.csv", csv(rows("more"), [*HEAD[:6], "x", "y"]).encode()), SEAL
    ),
    "seal-head-doubled": Failure(
        written("faulty.csv", csv(rows("more"), [*HEAD[:6], "age", "note"]).encode()), SEAL
    ),
    "seal-shared": Failure(table(lambda _cases: None, tag="dev"), SEAL),
    "seal-json-broken": Failure(
        written("faulty.json", as_json(rows("more")).replace("]", f' "{CANARY}').encode()),
        "seal secret contraste faulty.json",
    ),
    "seal-json-nested": Failure(
        written("faulty.json", as_json(rows("more")).replace('"20"', f'{{"a": "{CANARY}"}}').encode()),
        "seal secret contraste faulty.json",
    ),
    "seal-json-number": Failure(
        written("faulty.json", as_json(rows("more")).replace('"20"', f'"{CANARY}"').encode()),
        "seal secret contraste faulty.json",
    ),
    "seal-jsonl-broken": Failure(
        written("faulty.jsonl", "\n".join([json.dumps(rows("more")[0]), f'{{"{COLUMN}": {CANARY}']).encode()),
        "seal secret contraste faulty.jsonl",
    ),
    "seal-parquet-broken": Failure(
        written("faulty.parquet", b"PAR1" + csv(rows("more")).encode() + b"PAR1"),
        "seal secret contraste faulty.parquet",
    ),
    "seal-again": Failure(table(lambda _cases: None), "seal secret teste faulty.csv"),
    "seal-disk-full": Failure(disk_full, MORE, code="disk-full"),
    "check-number": Failure(cell("age"), "check protocol.yaml faulty.csv"),
    # of a submission
    "reveal-foreign": Failure(
        submission(lambda text: text.replace("teste7,", f"{CANARY},")),
        "reveal secret --submission faulty.csv",
    ),
    "reveal-repeated": Failure(
        submission(lambda text: text + f"{CANARY},1\n{CANARY},1\n"), "reveal secret --submission faulty.csv"
    ),
    "reveal-junk": Failure(
        submission(lambda text: text.replace(",1", f",{CANARY}").replace(",0", f",{CANARY}")),
        "reveal secret --submission faulty.csv",
    ),
    "reveal-absent": Failure(submission(lambda text: text), "reveal secret"),
    # of a pool
    "reveal-changed": Failure(blob("pool", flip), REVEAL),
    "reveal-cut": Failure(blob("pool", lambda path: path.write_bytes(path.read_bytes()[:-9])), REVEAL),
    "reveal-lost": Failure(blob("pool", Path.unlink), REVEAL),
    "reveal-key-changed": Failure(blob("key", flip), REVEAL),
    "reveal-prints-changed": Failure(blob("prints", flip), REVEAL),
    "reveal-wrong-key": Failure(other_identity, REVEAL),
    "reveal-disk-full": Failure(disk_full, REVEAL, code="disk-full"),
    "inputs-changed": Failure(blob("pool", flip), INPUTS),
    "inputs-wrong-key": Failure(other_identity, INPUTS),
    "inputs-disk-full": Failure(disk_full, INPUTS, code="inputs-unfinished"),
    "rewrap-wrong-key": Failure(other_identity, "rewrap secret teste --recipient {recipient}"),
    "erratum-number": Failure(cell("age", tag="teste"), "erratum secret@5 faulty.csv --reason x", "revealed"),
    "erratum-other-case": Failure(
        cell("case_id", tag="teste"), "erratum secret@5 faulty.csv --reason x", "revealed"
    ),
    "erratum-other-input": Failure(
        cell("code", tag="teste"), "erratum secret@5 faulty.csv --reason x", "revealed"
    ),
    "erratum-more": Failure(
        cell("note", "x", tag="teste"), "erratum secret@5 faulty.csv --reason x", "revealed"
    ),
    "erratum-changed": Failure(blob("pool", flip), ERRATUM, "revealed"),
    "erratum-disk-full": Failure(disk_full, ERRATUM, "revealed", code="disk-full"),
    # of lacre's own
    "seal-crash-reading": Failure(crash("lacre.tables.read.objects"), MORE, way=70),
    "seal-crash-prints": Failure(crash("lacre.pools.exposure._add_content"), MORE, way=70),
    "seal-crash-encrypting": Failure(crash("lacre.pools.seal.encrypt"), MORE, way=70),
    "seal-crash-facts": Failure(crash("lacre.tables.parts._instant", OverflowError), MORE, way=70),
    "reveal-crash-decrypting": Failure(crash("lacre.pools.seal.decrypt"), REVEAL, way=70),
    "reveal-crash-reading": Failure(crash("lacre.tables.read.objects", MemoryError), REVEAL, way=70),
    "reveal-crash-analysis": Failure(crash("lacre.broker.evaluate.analyse"), REVEAL, way=70),
    "reveal-crash-joining": Failure(crash("lacre.broker.evaluate.join_submission", KeyError), REVEAL, way=70),
    "run-crash-analysis": Failure(crash("lacre.broker.evaluate.analyse"), RUN, way=70),
    "inputs-crash-reading": Failure(crash("lacre.tables.read.objects", RecursionError), INPUTS, way=70),
    "erratum-crash-comparing": Failure(crash("lacre.broker.corrections._differ"), ERRATUM, "revealed", 70),
    "erratum-crash-prints": Failure(crash("lacre.pools.exposure._add_content"), ERRATUM, "revealed", 70),
    "erratum-crash-analysis": Failure(crash("lacre.broker.evaluate.analyse"), ERRATUM, "revealed", 70),
    "check-crash": Failure(crash("lacre.tables.read.objects"), "check protocol.yaml more.csv", way=70),
    # of what results rest on
    "sample-junk": Failure(adapted("frame.csv", lambda t: t.replace("high", CANARY)), SAMPLE, "faces"),
    "sample-repeated": Failure(adapted("frame.csv", lambda t: t.replace("t7,", "t8,")), SAMPLE, "faces"),
    "sample-crash": Failure(
        crash("lacre.broker.sample.stratified"), SAMPLE.replace("faulty", "frame"), "faces", 70
    ),
    "calibrate-foreign": Failure(
        adapted("dev-scores.csv", lambda t: t.replace("d7,", f"{CANARY},")), CALIBRATE, "faces"
    ),
    "calibrate-junk": Failure(
        adapted("dev-scores.csv", lambda t: t.replace("d7,0.08", f"d7,{CANARY}")), CALIBRATE, "faces"
    ),
    "calibrate-changed": Failure(blob("pool", flip, "faces/dev"), CALIBRATED, "faces"),
    "calibrate-crash-joining": Failure(
        crash("lacre.broker.evaluate.join_submission"), CALIBRATED, "faces", 70
    ),
    "calibrate-crash-setting": Failure(
        crash("lacre.broker.calibrate.set_threshold"), CALIBRATED, "faces", 70
    ),
    "relabel-changed": Failure(blob("pool", flip, "faces/teste"), RELABEL, "faces"),
    "relabel-disk-full": Failure(disk_full, RELABEL, "faces", code="inputs-unfinished"),
    "relabel-crash-reading": Failure(crash("lacre.tables.read.objects"), RELABEL, "faces", 70),
    "relabel-crash-drawing": Failure(crash("lacre.broker.relabel.share"), RELABEL, "faces", 70),
    "commit-not-blind": Failure(
        adapted("again.csv", lambda t: t.replace("paper", "screen")),
        COMMIT,
        "faces",
        code="relabels-not-blind",
    ),
    "commit-time": Failure(adapted("again.csv", lambda t: t.replace(AGAIN, CANARY)), COMMIT, "faces"),
    "commit-changed": Failure(blob("pool", flip, "faces/teste"), COMMIT.replace("faulty", "again"), "faces"),
    "commit-crash": Failure(
        crash("lacre.broker.relabel.days_apart"), COMMIT.replace("faulty", "again"), "faces", 70
    ),
    "gate-foreign": Failure(adapted("good.csv", lambda t: t.replace("g7,", f"{CANARY},")), GATE, "faces"),
    "gate-crash-analysis": Failure(
        crash("lacre.broker.evaluate.analyse"), GATE.replace("faulty", "good"), "faces", 70
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_no_cell_is_in_what_a_verb_says_of_a_failure(at: Callable[[str], Shell], name: str) -> None:
    failure = FAILURES[name]
    shell = at(failure.stage)
    words = _words(shell, failure)
    with failure.provoke(shell):
        ran = shell.lacre(*words, "--json")
        told = shell.lacre(*words)
    assert ran.status == failure.way, ran.out
    assert (ran.document["error"]["code"] == "internal") == (failure.way == 70)
    assert failure.code in {None, ran.document["error"]["code"]}
    assert told.status in {2, 70}
    assert told.err
    assert "Traceback" not in ran.err + told.err
    shell.lacre("log")
    shell.lacre("audit")


@pytest.mark.parametrize("name", FAILURES)
def test_no_cell_is_in_what_python_prints_of_an_exception(at: Callable[[str], Shell], name: str) -> None:
    failure = FAILURES[name]
    shell = at(failure.stage)
    words = _words(shell, failure)
    state = Path(shell.environment["XDG_STATE_HOME"]) / "lacre"
    with failure.provoke(shell), pytest.raises(LacreError) as raised:
        _called(shell.folder, state, words)
    assert (raised.type is InternalError) == (failure.way == 70)
    shown = traceback.format_exception(raised.value)
    assert not sings("".join(shown).replace(repr(CANARY), "")), "the lines of this file name it, and no more"
    cause: BaseException | None = raised.value
    while cause is not None:
        assert not sings(f"{cause!r} {cause} {cause.args}")
        assert isinstance(cause, LacreError) or not sings(str(cause))
        cause = cause.__cause__ or cause.__context__


def _words(shell: Shell, failure: Failure) -> list[str]:
    line = failure.line
    if "{recipient}" in line:
        line = line.format(recipient=shell.json("key", "new", "to.txt", "--identity")["recipient"])
    return line.split()


def _called(folder: Path, state: Path, words: list[str]) -> object:
    """Make the call that a line stands for through the Python API."""
    verb, *rest = words
    options = {
        rest[at].removeprefix("--"): rest[at + 1] for at in range(len(rest) - 1) if rest[at].startswith("-")
    }
    places = [
        word for at, word in enumerate(rest) if not word.startswith("-") and not rest[at - 1].startswith("-")
    ]
    files = [str(folder / word) for word in places if "." in word]
    given = str(folder / options["submission"]) if "submission" in options else ()
    if verb == "check":
        return lacre.check(Path(files[0]), files[1:])
    with lacre.open(folder, state=state) as ledger:
        calls: dict[str, Callable[[], object]] = {
            "seal": lambda: ledger.seal(places[0], places[1], files),
            "reveal": lambda: ledger.reveal(places[0], given),
            "run": lambda: ledger.run(places[0], places[1], given),
            "inputs": lambda: ledger.inputs(places[0], places[1], folder / options["-o"]),
            "rewrap": lambda: ledger.rewrap(places[0], places[1], options["recipient"]),
            "erratum": lambda: ledger.erratum(places[0], files, reason=options["reason"]),
            "sample": lambda: ledger.sample(places[0], places[1], files[0], folder / options["-o"]),
            "calibrate": lambda: ledger.calibrate(places[0], given, thresholds=places[1]),
            "commit": lambda: ledger.commit(places[0], "relabels", files),
            "gate": lambda: ledger.gate(places[0], given),
        }
        if "relabel" in options:
            return ledger.sample_relabels(places[0], options["relabel"], folder / options["-o"])
        return calls[verb]()
