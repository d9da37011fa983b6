"""The story `lacre demo` tells: one study, from its plan to its audit, and what may not be done, tried.

Each step is what a user would type, carried out through the API in a ledger of its own, and what came of it.
A step that ends otherwise than the story says is a fault of lacre's own.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lacre import api
from lacre.broker.outcomes import ResultShown
from lacre.demo.cases import cases_csv, submission_csv
from lacre.durable import make_folder, write_durably
from lacre.errors import FolderTaken, InternalError, LacreError
from lacre.shipped import registry_folder
from lacre.text import N_, _

STUDY = "compas"
PLAN = "protocol.yaml"
MOVED = "moved.yaml"
CASES = "cases.csv"
SCORES = "scores.csv"
COPY = "tampered"

BAR = b"metric: false_positive, by: [race], max_group_gap: 0.05"
MOVED_BAR = b"metric: false_positive, by: [race], max_group_gap: 0.30"


@dataclass(frozen=True, slots=True)
class Step:
    """A step as it was taken: its words, the command for it, and what that gave or was refused with.

    `brief` says that what it gave was shown whole in an earlier step; `receipt` is the file of one, if any.
    """

    title: str
    about: str
    command: str
    outcome: Any = None
    refusal: LacreError | None = None
    brief: bool = False
    receipt: Path | None = None


def tell(folder: Path) -> Iterator[Step]:
    """Take the steps in `folder`, which is empty, and yield each once it is taken.

    Raises `InternalError` when a step ends otherwise than it should, and whatever else a full disk may cause.
    """
    stage = _Stage(folder)
    stage.set_up()
    yield from stage.plan()
    yield from stage.reads()
    yield from stage.history()


@contextmanager
def workshop(keep: Path | None) -> Iterator[Path]:
    """Give an empty folder: `keep`, which must not exist and stays, or one that is gone afterwards.

    Raises `FolderTaken`, `NotWritten`.
    """
    if keep is not None:
        if keep.exists():
            raise FolderTaken(path=str(keep))
        yield make_folder(keep)
        return
    with tempfile.TemporaryDirectory(prefix="lacre-demo-") as folder:
        yield Path(folder)


class _Stage:
    """The folder the story plays in, its ledger, and what the steps leave for each other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._state = folder / "state"
        self._result = ""
        self._receipt = ""

    def set_up(self) -> None:
        plan = (registry_folder() / STUDY / PLAN).read_bytes()
        moved = plan.replace(BAR, MOVED_BAR)
        if moved == plan:
            raise InternalError(kind="no bar to move", where=__name__)
        for name, content in ((PLAN, plan), (MOVED, moved), (CASES, cases_csv()), (SCORES, submission_csv())):
            write_durably(self._folder / name, content, mode=0o644)

    def plan(self) -> Iterator[Step]:
        yield self._done(
            N_("A ledger"),
            N_("A folder with a log that only grows, and the keys that sign it."),
            "lacre init --name Demo",
            lambda: api.init(self._folder, name="Demo", state=self._state).made,
        )
        registered = self._done(
            N_("The plan, before any data"),
            N_(
                "Which groups, which errors, and how far apart they may be: written down, hashed, signed. "
                "The receipt proves it to anyone."
            ),
            f"lacre register {PLAN}",
            lambda: self._with(lambda ledger: ledger.register(self._folder / PLAN)),
        )
        self._receipt = f"{STUDY}@{registered.outcome.entry}.receipt"
        write_durably(self._folder / self._receipt, registered.outcome.receipt, mode=0o644)
        yield replace(registered, receipt=Path(self._receipt))
        yield self._refused(
            N_("An analysis before its time"),
            N_("Nothing is sealed yet, so there is nothing to look at."),
            f"lacre reveal {STUDY} --submission {SCORES}",
            "pool-not-sealed",
            self._reveal,
        )
        yield self._done(
            N_("The cases, sealed"),
            N_(
                "6150 defendants, rebuilt from the counts that ProPublica published in 2016: encrypted, and "
                "committed to in the log, as the pool teste (Portuguese for test), which is read once for the result."
            ),
            f"lacre seal {STUDY} teste {CASES}",
            lambda: self._with(lambda ledger: ledger.seal(STUDY, "teste", [self._folder / CASES])),
        )

    def reads(self) -> Iterator[Step]:
        yield self._refused(
            N_("A bar that was moved"),
            N_(
                "Somebody has widened the gap that is allowed, from 5 to 30 points, and would like to be "
                "judged by that."
            ),
            f"lacre reveal {STUDY} --submission {SCORES} --protocol {MOVED}",
            "protocol-not-in-force",
            lambda: self._reveal(protocol=self._folder / MOVED),
        )
        revealed = self._done(
            N_("The one look"),
            N_(
                "Recorded before a byte was decrypted; then every analysis that was registered, and "
                "nothing else."
            ),
            f"lacre reveal {STUDY} --submission {SCORES}",
            self._reveal,
        )
        assert isinstance(revealed.outcome, ResultShown)
        if revealed.outcome.state != "FAIL":
            raise InternalError(kind="another verdict", where=__name__)
        self._result = revealed.outcome.name
        yield revealed
        yield self._refused(
            N_("A second look, refused"),
            N_("Nothing is spent by asking."),
            f"lacre reveal {STUDY} --submission {SCORES}",
            "teste-already-read",
            self._reveal,
        )
        yield self._done(
            N_("A second look, on the record"),
            N_("Allowed to whoever says so. It is exploratory, and the pool will never be teste again."),
            f"lacre reveal {STUDY} --submission {SCORES} --accept-dev",
            lambda: self._reveal(accept_dev=True),
            brief=True,
        )
        yield self._done(
            N_("What that made of teste"),
            N_("It counts as dev now. The first result stands as it was."),
            "lacre status",
            lambda: self._with(lambda ledger: ledger.status()),
        )

    def history(self) -> Iterator[Step]:
        tampered = self._done(
            N_("A tampered copy"),
            N_(
                "The folder is copied, the database's guards are taken off, and one byte of the result's "
                "entry is changed."
            ),
            f"lacre audit --ledger {COPY}",
            self._audit_tampered,
            brief=True,
        )
        if tampered.outcome.ok:
            raise InternalError(kind="tampering not found", where=__name__)
        yield tampered
        audited = self._done(
            N_("The story of a result"),
            N_(
                "What a stranger needs to know about the number, derived again from the signed entries, "
                "and held to the receipt."
            ),
            f"lacre audit {self._result} --memory {self._receipt}",
            lambda: self._with(
                lambda ledger: ledger.audit(self._result, memory=[self._folder / self._receipt])
            ),
        )
        if not audited.outcome.ok:
            raise InternalError(kind="unsound", where=__name__)
        yield audited

    def _with(self, ask: Callable[[api.Ledger], Any]) -> Any:
        with api.open(self._folder, state=self._state) as ledger:
            return ask(ledger)

    def _reveal(self, **asked: Any) -> Any:
        return self._with(lambda ledger: ledger.reveal(STUDY, [self._folder / SCORES], **asked))

    def _audit_tampered(self) -> Any:
        copy = self._folder / COPY
        with api.open(self._folder, state=self._state) as ledger:
            shutil.copytree(ledger.folder, copy / ledger.folder.name)
            place = copy / ledger.folder.name
        _change_one_byte(place / "ledger.db", int(self._result.rpartition("@")[2]))
        return api.audit(copy, state=self._state)

    def _done(
        self, title: str, about: str, command: str, act: Callable[[], Any], *, brief: bool = False
    ) -> Step:
        return Step(_(title), _(about), command, act(), brief=brief)

    def _refused(self, title: str, about: str, command: str, code: str, act: Callable[[], Any]) -> Step:
        try:
            act()
        except LacreError as error:
            if error.code != code:
                raise
            return Step(_(title), _(about), command, refusal=error)
        raise InternalError(kind=f"{code} did not come", where=__name__)


def _change_one_byte(database: Path, entry: int) -> None:
    """Change a byte in the middle of an entry, as somebody could who has the file; the triggers stand as before."""
    with closing(sqlite3.connect(database)) as connection, connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _sql in triggers:
            connection.execute(f'DROP TRIGGER "{name}"')
        (data,) = connection.execute('SELECT envelope FROM entries WHERE "index" = ?', (entry,)).fetchone()
        middle = len(data) // 2
        other = b"A" if data[middle : middle + 1] != b"A" else b"B"
        changed = data[:middle] + other + data[middle + 1 :]
        connection.execute('UPDATE entries SET envelope = ? WHERE "index" = ?', (changed, entry))
        for _name, sql in triggers:
            connection.execute(sql)
