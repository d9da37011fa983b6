"""All verbs in a language in which every letter is another: what is still in English went through no catalogue."""

import base64
import json
import re
import shlex
import sqlite3
import string
from contextlib import closing
from functools import cache
from html import unescape
from pathlib import Path

import pytest
from tests import four_pools
from tests.catalogues.texts import texts

from lacre import text
from lacre.audit.findings import FINDINGS, WARNINGS
from lacre.cli import main
from lacre.cli.verbs import GROUPS, VERBS
from lacre.shipped import registry_folder

CODE = re.compile(
    r"`[^`]*`|{[^}]*}|(?<![\w-])--?[a-z][a-z-]*(?!\w)|\b[A-Z][A-Z_]+\b|\blacre\b|\b(?:dev|teste|contraste|guarda|corpus)\b"
)
"""What is the same in every language: code in backticks, options, placeholders, states, pools."""


def other(words: str) -> str:
    """Return a text with each letter as an italic one, but for fields and code: as many characters, all printable."""
    made, place = "", 0
    for code in CODE.finditer(words):
        made += "".join(map(_italic, words[place : code.start()])) + code[0]
        place = code.end()
    return made + "".join(map(_italic, words[place:]))


def _italic(letter: str) -> str:
    if letter in string.ascii_lowercase:
        return chr(0x1D622 + ord(letter) - ord("a"))
    return chr(0x1D608 + ord(letter) - ord("A")) if letter in string.ascii_uppercase else letter


FOUND = re.compile("|".join(sorted(map(re.escape, {*FINDINGS, *WARNINGS}), key=len, reverse=True)))
"""The codes of an audit."""


class Other:
    """A catalogue that has all texts of the code, and no others."""

    def __init__(self) -> None:
        self.texts = {each.one: each for each in texts()}

    @cache  # noqa: B019 - one catalogue, as long as the tests
    def find(self, words: str, *, plural: bool = False) -> str | None:
        known = self.texts.get(words)
        if known is None:
            return None
        return other(known.many if plural and known.many is not None else known.one)


@pytest.fixture(scope="module")
def spoken() -> Other:
    """One for all tests: it takes a while to gather."""
    return Other()


@pytest.fixture(autouse=True)
def _other_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, spoken: Other) -> None:
    monkeypatch.setattr(text, "_catalogue", lambda _language: spoken)
    monkeypatch.setenv("LACRE_LANG", "pt-BR")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)


ROLES = ("owner", "registrant", "custodian")
NAMES = {
    *re.findall(r"[A-Za-z]+", four_pools.PLAN),
    *re.findall(
        r"[a-z]+",
        "scores likeness drawn blank again frame good bad broker log zoe zzz relabels read true markdown",
    ),
    *re.findall(r"[A-Za-z]+", "csv html yaml zip json key pub txt UTC SHA sha age lacre"),
    *re.findall(r"[A-Z][a-z]+", "Clopper Pearson Wilson Jeffreys Newcombe Holm Hájek Horvitz Thompson"),
    *ROLES,
    *VERBS,
}


def left(said: str) -> set[str]:
    """Return the words of an output that are neither of the other language nor names, digests, commands or code."""
    lines = [line for line in said.splitlines() if not re.match(r"\W*(Next: )?\$? *lacre [a-z]", line)]
    bare = CODE.sub(" ", FOUND.sub(" ", " ".join(lines)))
    bare = re.sub(r"\S*[/@:\d]\S*", " ", bare)
    return {word for word in re.findall(r"[A-Za-z]{3,}", bare) if word not in NAMES}


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int | None = 0) -> str:
    capsys.readouterr()
    ended = main(list(words))
    written = capsys.readouterr()
    assert status is None or ended == status, written
    return written.out + written.err


def stored(database: Path) -> list[str]:
    """Return what a ledger holds in the other language: entries and documents are the same, whatever is spoken."""
    with closing(sqlite3.connect(database)) as open_one:
        documents = [bytes(row[0]) for row in open_one.execute("SELECT body FROM documents")]
        entries = [json.loads(row[0]) for row in open_one.execute("SELECT envelope FROM entries")]
    payloads = [base64.b64decode(entry["payload"]) for entry in entries]
    assert len(payloads) > 18
    assert len(documents) > 5
    texts = [each.decode("utf-8") for each in (*documents, *payloads)]
    return [
        each
        for each in texts
        if not each.isascii() and any(_italic("a") <= letter <= _italic("z") for letter in each)
    ]


VERBS_AND_GROUPS = [*VERBS, *(f"{group} {name}" for group, held in GROUPS.items() for name in held)]


def test_all_help_is_in_the_language(capsys: pytest.CaptureFixture[str]) -> None:
    verbs = {*VERBS, *(name for held in GROUPS.values() for name in held)}
    found = {path: left(said(capsys, *path.split(), "--help")) - verbs for path in ["", *VERBS_AND_GROUPS]}
    assert "\n".join(f"{path}: {sorted(words)}" for path, words in found.items() if words) == ""


@pytest.mark.parametrize(
    "line",
    [
        "", "statsu", "status a b", "status --no-such", "status --jsno", "seal", "seal a", "withdraw s", "key enrol",
        "key enrol x --role king", "commit s other", "init --origin", "key nothing", "--nothing",
    ],
)  # fmt: skip
def test_a_line_that_is_not_understood_is_refused_in_the_language(
    capsys: pytest.CaptureFixture[str], line: str
) -> None:
    given = {*re.findall("[a-z]+", line), *VERBS, *ROLES, "relabels", "cases", "labels", "scores"}
    assert left(said(capsys, *line.split(), status=2)) - given == set()


def test_a_study_is_told_in_the_language(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    four_pools.write_files(tmp_path)
    found: dict[str, set[str]] = {}

    def lacre(line: str, status: int | None = 0) -> str:
        out = said(capsys, *shlex.split(line), status=status)
        found[line] = left(out) - {*re.findall("[a-z]+", line)}
        return out

    lacre("status", 2)
    lacre("init --name zoe")
    lacre("check faces.yaml")
    lacre("register faces.yaml")
    lacre("sample faces faces frame.csv -o drawn.csv")
    four_pools.write_drawn(tmp_path)
    for pool, *files in four_pools.SEALS:
        lacre(f"seal faces {pool} {' '.join(files)}")
    lacre("reveal faces --submission scores.csv", 2)
    lacre("calibrate faces --submission faces=dev-scores.csv --submission pairs=dev-likeness.csv")
    lacre("sample faces --relabel faces -o blank.csv")
    four_pools.write_again(tmp_path)
    lacre("commit faces relabels again.csv")
    lacre("inputs faces teste -o in.csv")
    lacre("reveal faces --submission scores.csv --dry-run")
    lacre("reveal faces --submission scores.csv", None)
    lacre("reveal faces --submission scores.csv", 2)
    lacre("run faces differential --submission contraste-likeness.csv", None)
    lacre("gate faces --submission good.csv", None)
    lacre("gate faces --submission bad.csv", None)
    lacre("deviate faces@14 zzz")
    lacre("status")
    lacre("log")
    for name in ("faces", "faces@14", "@2", "@13"):
        lacre(f"show {name}")
    lacre("audit")
    lacre("export faces@14 -o r.zip")
    lacre("export --registry register")
    lacre("verify r.zip")
    lacre("report faces@14 -o r.html")
    lacre("key list")
    lacre("key new zoe.key --name zoe")
    lacre("reveal faces --submission scores.csv --accept-dev", None)
    (tmp_path / "other.yaml").write_text(four_pools.changed(four_pools.PLAN, ("max: 0.2", "max: 0.3")))
    lacre("amend faces other.yaml --reason zzz --yes", None)
    lacre("withdraw faces --reason zzz --yes")
    lacre("audit")
    page = re.sub(
        r"<style>.*?</style>|<pre.*?</pre>|<[^>]*>",
        " ",
        (tmp_path / "r.html").read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    found["r.html"] = left(unescape(page))
    assert "\n".join(f"{line}: {sorted(words)}" for line, words in found.items() if words) == ""


JUDGED = """\
lacre: 1
study: zj
title: Zt
question: Zq?
language: en
data: {identifiable: false, prior_exposure: none}
systems: {zjudge: {version: "1", digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000"}}
tables:
  zcases:
    key: zid
    columns:
      zid: {type: text}
      zlocale: {type: category, values: [za, zb]}
      zhuman: {type: number, min: 0, max: 1, part: labels}
      zlabelled: {type: time, is: labelled, part: labels}
      zscore: {type: number, min: 0, max: 1, part: scores}
      zscored: {type: time, is: scored, part: scores}
pools:
  corpus: {tables: [zcases], open: zwhy, order: [cases, labels, scores], planned: {zcases: 90}}
bins:
  zdegree: {zlow: [0, 0.4], zmiddle: [0.4, 0.8], zhigh: [0.8, 1]}
analyses:
  zagree:
    kind: judge_agreement
    pool: corpus
    table: zcases
    bins: zdegree
    weights: linear
    dimensions: {ztruth: {human: zhuman, judge: zscore}}
    diagnostics_by: [zlocale]
    target: 0.65
    bootstrap: {resamples: 1000, seed: 5}
    criteria: [{id: zbar, metric: kappa, dimension: ztruth, min: 0.6, decide_on: point}]
locked: [bins, analyses.zagree.criteria]
"""


def test_a_judge_is_told_of_in_the_language(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Eighty of ninety cases in one bin for both: much agreement, and little of it beyond chance."""
    found: dict[str, set[str]] = {}
    plan_words = {*re.findall(r"[A-Za-z_]+", JUDGED)} - {
        "table",
        "weights",
    }

    def lacre(line: str, status: int | None = 0) -> None:
        found[line] = left(said(capsys, *line.split(), status=status)) - {
            *re.findall("[a-z]+", line),
            *plan_words,
        }

    (tmp_path / "zj.yaml").write_text(JUDGED)
    cases, labels, scores = ["zid,zlocale"], ["zid,zhuman,zlabelled"], ["zid,zscore,zscored"]
    for n in range(90):
        cases.append(f"z{n},{'zb' if n % 3 else 'za'}")
        labels.append(f"z{n},{0.9 if n < 84 else 0.2},2099-01-01T00:00:00Z")
        scores.append(f"z{n},{0.9 if n < 80 or n > 87 else 0.2},2099-01-02T00:00:00Z")
    for name, lines in (("cases", cases), ("labels", labels), ("scores", scores)):
        (tmp_path / f"z{name}.csv").write_text("\n".join(lines) + "\n")
    lacre("init --name zoe")
    lacre("check zj.yaml")
    lacre("register zj.yaml")
    lacre("commit zj scores zscores.csv", 2)
    for part in ("cases", "labels", "scores"):
        lacre(f"commit zj {part} z{part}.csv")
    lacre("run zj zagree", None)
    for line in ("status", "log", "show zj", "show zj@6", "audit", "export zj@6 -o zj.zip", "verify zj.zip"):
        lacre(line)
    lacre("report zj@6 -o zj.html")
    page = re.sub(
        r"<style>.*?</style>|<pre.*?</pre>|<[^>]*>", " ", (tmp_path / "zj.html").read_text(), flags=re.DOTALL
    )
    found["zj.html"] = left(unescape(page)) - plan_words
    assert "\n".join(f"{line}: {sorted(words)}" for line, words in found.items() if words) == ""


def test_the_demo_is_told_in_the_language(capsys: pytest.CaptureFixture[str]) -> None:
    protocol = (registry_folder() / "compas" / "protocol.yaml").read_text(encoding="utf-8")
    names = {*re.findall("[A-Za-z]+", protocol), "tampered", "Demo"}
    assert sorted(left(said(capsys, "demo")) - names) == []
