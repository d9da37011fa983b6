"""Whatever stands in names, words and files, nothing lacre writes is obeyed by a terminal or passes for its own.

A whole life with hostile names in it is lived on the command line, once as text and once with ``--json``, and
every verb is called with hostile arguments. Of each output: no character is a control or format character (JSON
spells them as escapes), and no line begins, at the margin, with words that somebody else wrote, however they were
broken or how long they are.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from tests import faces
from tests.scripts.conftest import Ran, Shell, _shell as make_shell

from lacre.cli import screen
from lacre.cli.progress import Bars
from lacre.cli.verbs import GROUPS, VERBS
from lacre.errors import printable, printable_json
from lacre.protocol import templates
from lacre.report.page import Cell, Column, Page

FORGED = "FORGED "
# Set the clipboard, clear the screen, make a link, go back to the margin; then turn the text around, and hide.
ESCAPES = "\x1b]52;c;SGk=\x07\x1b[2J\x9b31m\x1b]8;;http://example.org\x1b\\\r\b\x7f\u202e\u2066\u200b\ufeff\U000e0041"
WORDS = f"why{ESCAPES}\n{FORGED}: sound\v{FORGED}\f{FORGED}\x85{FORGED}\u2028{FORGED} " + FORGED * 60
NAME = f"Ana{ESCAPES}\n{FORGED} " + FORGED * 12
FILE = "\x1b[2J\n" + FORGED + "\u202e\udcff"
HIDDEN = "\u202e\u200b\u2066"
"""What a protocol may hold: format characters, which some scripts need."""

GROUPED = (f"fe{HIDDEN}male\n{FORGED}", "male " + FORGED * 8)

PROTOCOL = f"""
lacre: 1
study: small
title: "Err{HIDDEN}ors {FORGED * 30}"
question: "Does it err?\\n{FORGED}: it does not\\n{FORGED * 30}"
language: en
data: {{identifiable: false, prior_exposure: none}}
systems: {{old: {{version: "1"}}, new: {{version: "1{HIDDEN}"}}}}
tables:
  cases:
    key: case_id
    columns:
      case_id: {{type: text}}
      "no{HIDDEN}te": {{type: text, is: input}}
      label: {{type: outcome, positive: "1", negative: "0"}}
      prediction: {{type: outcome, positive: "1", negative: "0", from: submission}}
      "s{HIDDEN}ex": {{type: category, values: {json.dumps(GROUPED)}}}
pools:
  dev: {{tables: [cases]}}
  teste: {{tables: [cases], planned: {{cases: 80}}}}
analyses:
  parity:
    kind: group_fairness
    pool: teste
    table: cases
    label: label
    prediction: prediction
    attributes: ["s{HIDDEN}ex"]
    criteria:
      - {{id: gap, metric: error, by: ["s{HIDDEN}ex"], max_group_gap: 0.5}}
"""


EVERY = [
    *(verb for verb in VERBS if verb not in GROUPS),
    *(f"{verb} {each}" for verb, group in GROUPS.items() for each in group),
]


def assert_harmless(ran: Ran, *, as_json: bool) -> None:
    """See that a terminal obeys nothing in it, and that no line of it is somebody else's."""
    assert ran.status != 70, ran.err
    for stream in (ran.out, ran.err):
        for line in stream.split("\n"):
            assert line.isprintable(), ascii(line)
            assert not line.startswith(FORGED.strip()), line
    if as_json:
        json.loads(ran.out)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return make_shell(tmp_path)


class Life:
    """Calls of one shell, each looked at; the verbs that were called."""

    def __init__(self, shell: Shell, *, as_json: bool) -> None:
        self._shell = shell
        self._as_json = as_json
        self.called: set[str] = set()

    def __call__(self, verb: str, *words: str, status: int = 0) -> Ran:
        self.called.add(verb)
        options = ["--json"] if self._as_json else []
        ran = self._shell.lacre(*verb.split(), *words, *options)
        assert_harmless(ran, as_json=self._as_json)
        assert ran.status == status, f"{verb}: {ran.out} {ran.err}"
        return ran

    def text(self, *words: str) -> None:
        """A form that is no JSON."""
        ran = self._shell.lacre(*words)
        assert ran.status == 0
        for line in ran.out.split("\n"):
            assert line.removesuffix("\r").isprintable(), ascii(line)


def write_files(folder: Path) -> None:
    """Write the tables, with escapes in cells and in the names of columns that nobody declared."""
    (folder / "protocol.yaml").write_text(PROTOCOL)
    for name, first in (("dev", 0), ("teste", 1000), ("again", 3000)):
        header = f'case_id,no{HIDDEN}te,label,s{HIDDEN}ex,"un{ESCAPES}used\n{FORGED}"\n'
        rows = [
            f'{n},"=1+{ESCAPES}\n{FORGED}",{n // 2 % 2},"{GROUPED[n % 2]}",x'
            for n in range(first, first + 80)
        ]
        (folder / f"{name}{FILE}.csv").write_text(header + "\n".join(rows) + "\n")
        predicted = [f"{n},{n // 2 % 2},x" for n in range(first, first + 80)]
        header = f'case_id,prediction,"un{ESCAPES}used\n{FORGED}"\n'
        (folder / f"{name}-predicted{FILE}.csv").write_text(header + "\n".join(predicted) + "\n")
    (folder / "fairness.yaml").write_text(
        f'fairness: {{name: "Tri{HIDDEN}age", cases: "da{HIDDEN}ta.csv", label: "de{HIDDEN}fault", '
        f'prediction: decision, attributes: {{"s{HIDDEN}ex": [F, M]}}, '
        f'rules: [{{id: gap, rate: error, attribute: "s{HIDDEN}ex", max_group_gap: 0.1}}]}}\n'
    )


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_a_life_with_hostile_names(shell: Shell, *, as_json: bool) -> None:
    folder = shell.folder
    write_files(folder)
    call = Life(shell, as_json=as_json)
    changed = folder / f"changed{FILE}.yaml"
    changed.write_text(PROTOCOL.replace("Err", f"On err{HIDDEN}"))
    systems = [f"{system}:teste-predicted{FILE}.csv" for system in ("old", "new")]
    submitted = [word for each in systems for word in ("--submission", each)]

    call("init", "--name", NAME)
    call("new", "fairness", "--from", "fairness.yaml")
    call("check", "protocol.yaml", f"teste{FILE}.csv")
    call("register", "protocol.yaml", "--receipt", f"small{FILE}.receipt")
    call("seal", "small", "dev", f"dev{FILE}.csv")
    call("seal", "small", "teste", f"again{FILE}.csv")
    call("seal", "small", "teste", f"teste{FILE}.csv", "--replace", "--reason", WORDS)
    call("inputs", "small", "teste", "-o", f"inputs{FILE}.csv", "--reason", WORDS)
    call("key new", f"other{FILE}.pem", "--name", NAME)
    call("key new", f"keeper{FILE}.age", "--identity")
    call("key enrol", f"other{FILE}.pem", "--role", "registrant", "--name", NAME)
    call("key rotate", "person", "--name", NAME)
    call("key list")
    keys = json.loads(shell.lacre("key", "list", "--json").out)["keys"]
    (enrolled,) = (each["keyid"] for each in keys if each["roles"] == ["registrant"])
    call("key revoke", enrolled, "--reason", WORDS)
    recipient = json.loads(shell.lacre("key", "new", "k2.age", "--identity", "--json").out)["recipient"]
    call(
        "run", "small", "parity", "--pool", "dev", *(w.replace("teste-", "dev-") for w in submitted), status=3
    )
    call("reveal", "small", *submitted, "--dry-run", "--reason", WORDS)
    call("reveal", "small", *submitted, "--reason", WORDS)
    last = json.loads(shell.lacre("log", "--json").out)["history"][-1]["entry"]
    result = f"small@{last}"
    call("rewrap", "small", "teste", "--recipient", recipient, "--reason", WORDS)
    call("amend", str(changed), "--reason", WORDS, "--dry-run")
    call("amend", str(changed), "--reason", WORDS, "--yes", "--accept-burn")
    call("deviate", result, WORDS)
    call("deviate", "small", WORDS)
    corrected = folder / f"corrected{FILE}.csv"
    corrected.write_bytes((folder / f"teste{FILE}.csv").read_bytes().replace(b'",1,', b'",0,', 1))
    call("erratum", result, corrected.name, "--reason", WORDS, "--identity", "k2.age", status=3)
    for what in ([], ["small"], [result], ["@0"], ["@1"], ["@3"], ["@5"], ["@7"], ["@9"]):
        call("show", *what)
    call("show", "small", "--deviations")
    call.text("show", "small", "--deviations", "--format", "markdown")
    call.text("show", "small", "--deviations", "--format", "csv")
    call("status")
    call("log")
    call("log", "small")
    call("audit")
    call("audit", result, "--memory", f"small{FILE}.receipt")
    call("report", result, "-o", f"report{FILE}.html")
    call("export", result, "-o", f"result{FILE}.zip")
    call("export", "--registry", f"public{FILE}")
    call("verify", f"result{FILE}.zip")
    call("audit", "--registry", f"public{FILE}")
    (folder / f"public{FILE}" / f"stranger{FILE}").write_text("x")
    call("audit", "--registry", f"public{FILE}")
    (folder / f"public{FILE}" / "tile" / f"stranger{FILE}").write_text("x")
    call("audit", "--registry", f"public{FILE}", status=1)
    call("key backup", f"keys{FILE}.tar", "--open")
    call("key recover", f"keys{FILE}.tar")
    call("scan", f"teste{FILE}.csv", "--exclude", WORDS, status=1)
    call("rebalance", "small", "-o", f"grown{FILE}.csv", "--reason", WORDS, status=2)
    call("erase", "@0", "--which", "name", "--yes")
    call("withdraw", "small", "--reason", WORDS, "--yes")
    call("recover", "--dry-run")
    every = {*EVERY} - {"demo", *OF_FACES}  # the first has no names but its own
    assert call.called == every


OF_FACES = ("amplify", "sample", "calibrate", "commit", "gate")
STRATUM, GROUP = f"ra{HIDDEN}re\n{FORGED}", f"group a{HIDDEN}\n{FORGED * 8}"


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_four_pools_with_hostile_names(shell: Shell, *, as_json: bool) -> None:
    """The verbs of a face study, with the names of strata and groups that somebody made to be obeyed."""
    folder = shell.folder
    faces.write_before(folder)
    text = (
        templates.read("faces").replace("title: D", f'title: "{HIDDEN}D').replace("by group\n", 'by group"\n')
    )
    text = text.replace("[rare, common]", json.dumps([STRATUM, "common"]))
    text = text.replace("{rare: 900", f"{{{json.dumps(STRATUM)}: 900")
    text = text.replace("[group-a, group-b]", json.dumps([GROUP, "group-b"]))
    (folder / "protocol.yaml").write_text(text)
    _spell(folder / "frame.csv", ",rare", STRATUM)
    _spell(folder / "c-pairs.csv", ",group-a", GROUP)
    _spell(folder / "d-pairs.csv", ",group-a", GROUP)
    (folder / "photos" / f"none{FILE}").write_bytes(b"no image")
    call = Life(shell, as_json=as_json)
    pools = {"dev": "images faces variants pairs", "teste": "images faces variants"}
    held = {pool: [f"{name}={pool[0]}-{name}.csv" for name in names.split()] for pool, names in pools.items()}

    call("init", "--name", NAME)
    call("check", "protocol.yaml")
    call("register", "protocol.yaml")
    call("sample", "my-faces", "faces", "frame.csv", "-o", f"drawn{FILE}.csv")
    faces.write_faces(folder, "t", faces.read(folder / f"drawn{FILE}.csv"))
    call("amplify", "my-faces", "photos", "-o", f"variants{FILE}")
    call("seal", "my-faces", "dev", *held["dev"])
    scored = ("--submission", "faces=d-scores.csv", "--submission", "pairs=d-similarities.csv")
    call("calibrate", "my-faces", *scored, "--reason", WORDS)
    call("seal", "my-faces", "teste", *held["teste"])
    call("sample", "my-faces", "--relabel", "faces", "-o", f"blank{FILE}.csv")
    (folder / "blank.csv").write_bytes((folder / f"blank{FILE}.csv").read_bytes())
    faces.write_again(folder)
    call("commit", "my-faces", "relabels", "again.csv")
    answers = [f"--submission={name}=t-{file}.csv" for name, file in
               (("images", "found"), ("faces", "scores"), ("variants", "changed"))]  # fmt: skip
    call("reveal", "my-faces", *answers)
    call("seal", "my-faces", "contraste", "c-pairs.csv")
    call("run", "my-faces", "differential", "--submission", "c-similarities.csv", status=3)
    call("seal", "my-faces", "guarda", "g-images.csv")
    call("gate", "my-faces", "--submission", "g-found.csv", "--reason", WORDS, status=3)
    results = [
        each for each in json.loads(shell.lacre("log", "--json").out)["history"] if each["kind"] == "result"
    ]
    for each in results:
        call("show", f"my-faces@{each['entry']}")
    call("report", f"my-faces@{results[1]['entry']}", "-o", "report.html")
    for verb in ("status", "log", "audit"):
        call(verb)
    call("show", "my-faces")
    assert call.called >= {*OF_FACES}


def _spell(path: Path, word: str, name: str) -> None:
    """Write a name of the plan where a file has another, as CSV quotes it."""
    quoted = f'"{name}"'
    path.write_bytes(path.read_bytes().replace(word.encode(), f",{quoted}".encode()))


@pytest.mark.parametrize("verb", EVERY)
def test_hostile_arguments_are_refused_harmlessly(verb: str, shell: Shell) -> None:
    """Names and files that are not there, options that do not exist, and too many of everything."""
    for words in (
        [FILE],
        [WORDS],
        [f"--{WORDS}"],
        [FILE] * 2,
        [FILE, NAME, WORDS],
        [f"--ledger={FILE}", FILE],
    ):
        for options in ([], ["--json"]):
            ran = shell.lacre(*verb.split(), *words, *options)
            assert_harmless(ran, as_json=bool(options))


def test_hostile_verbs_are_refused_harmlessly(shell: Shell) -> None:
    for words in (
        [FILE],
        ["key", FILE],
        [f"--{ESCAPES}"],
        ["key", f"--{ESCAPES}"],
        ["init", "--origin", WORDS],
    ):
        for options in ([], ["--json"]):
            ran = shell.lacre(*words, *options)
            assert ran.status == 2
            assert_harmless(ran, as_json=bool(options))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_obeys_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = Terminal()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setenv("TERM", "xterm")
    clock = iter(range(100))
    bars = Bars(lambda: float(next(clock)))
    for done in (0, 1, 2):
        bars(f"[bold]clipboard\n{ESCAPES}", done, 2)
    bars.close()
    drawn = stderr.getvalue()
    assert "clipboard" in drawn
    assert not {"\x07", "\x9b", "\u202e", "\u200b"} & set(drawn)
    assert "]52" not in drawn.replace(r"\x1b]52", "")


ANY = st.text(max_size=40) | st.text(st.sampled_from(list(ESCAPES + '\n\t a"\\é漢')), max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | ANY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY, inner, max_size=3),
    max_leaves=8,
)


@given(value=st.dictionaries(ANY, VALUES, max_size=4), encoding=st.sampled_from(["utf-8", "ascii"]))
@settings(deadline=None)
def test_json_says_the_same_in_harmless_characters(value: dict[str, object], encoding: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="backslashreplace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        screen.write_json(value)
    text = raw.getvalue().decode(encoding)
    assert all(line.isprintable() for line in text.split("\n"))
    assert json.loads(text) == value


@given(ANY)
def test_the_escaped_form_of_a_text_is_one_line(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert printable(shown) == shown
    written = printable_json(json.dumps(text, ensure_ascii=False))
    assert written.isprintable()
    assert json.loads(written) == text


@given(
    words=st.lists(st.sampled_from(["x" * 9, "y", "漢字", FORGED, " ", "\n", "-"]), min_size=1, max_size=60),
    width=st.integers(20, 110),
)
@settings(deadline=None)
def test_no_width_brings_words_of_others_to_the_margin(words: Sequence[str], width: int) -> None:
    """Words that follow lacre's own in a paragraph begin no line, however they wrap; nor do those in tables."""
    said = " ".join(words)
    makers: list[Callable[[Page], None]] = [
        lambda page: page.heading("Title: ", Cell(said)),
        lambda page: page.say("Why: ", said),
        lambda page: page.table([Column("one"), Column("why", wraps=True)], [["name", said]]),
        lambda page: page.block(said),
    ]
    for make in makers:
        page = Page()
        make(page)
        lines = page.render(width).split("\n")
        own = [line for line in lines if line and not line.startswith(" ")]
        assert all(line.startswith(("Title:", "Why:")) for line in own)


def test_lines_of_a_block_end_at_line_feeds_alone() -> None:
    """What Python's own `splitlines` would break at is shown as what it is."""
    page = Page()
    page.block("one\x0b\x0c\x1c\x85\u2028two\r\nthree\n")
    assert page.render(80) == "  one\\x0b\\x0c\\x1c\\x85\\u2028two\\r\n  three\n"
