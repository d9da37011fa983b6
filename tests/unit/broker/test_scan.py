"""`scan`: whatever of a sealed pool lies about is found by its place and its count, and never shown."""

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lacre
from lacre import errors

PLAN = """
lacre: 1
study: leaks
title: Errors by sex
question: Does it err more often for one sex?
language: en
data: {identifiable: false, prior_exposure: none}
tables:
  cases:
    key: case_id
    unit: person
    columns:
      case_id: {type: text}
      person: {type: text}
      image: {type: digest}
      words: {type: text, is: input}
      age: {type: number, is: input}
      label: {type: outcome, positive: "1", negative: "0"}
      prediction: {type: outcome, positive: "1", negative: "0", from: submission}
      sex: {type: category, values: [female, male]}
pools:
  dev: {tables: [cases]}
  teste: {tables: [cases]}
analyses:
  parity: {kind: group_fairness, pool: teste, table: cases, label: label, prediction: prediction,
           attributes: [sex], criteria: [{id: gap, metric: error, by: [sex], max_group_gap: 0.9}]}
"""
NOUNS = tuple("abcdefghijkl")


def image(n: int) -> bytes:
    return f"image {n}".encode()


def told(n: int) -> str:
    """Some twenty words that no other case has in a row."""
    return f"case note {n} says " + " ".join(f"{NOUNS[(n * k + k) % 12]}{n + k}" for k in range(1, 18))


def rows(first: int, count: int = 30) -> str:
    lines = ["case_id,person,image,words,age,label,sex"]
    for n in range(first, first + count):
        digest = hashlib.sha256(image(n)).hexdigest()
        lines.append(
            f"CASE-{n:05d},P{n:07d},{digest},{told(n)},{n / 8},{n % 2},{'male' if n % 3 else 'female'}"
        )
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> lacre.Ledger:
    folder = tmp_path_factory.mktemp("ledger")
    ledger = lacre.init(folder, state=folder / "state")
    (folder / "plan.yaml").write_text(PLAN)
    ledger.register(folder / "plan.yaml")
    for pool, first in (("dev", 0), ("teste", 100)):
        (folder / f"{pool}.csv").write_text(rows(first))
        ledger.seal("leaks", pool, folder / f"{pool}.csv")
    return ledger


def found(scanned: Any) -> dict[tuple[str, str], int]:
    assert all(find.pool == "teste" for find in scanned.finds)
    return {(Path(find.place).name, find.what): find.count for find in scanned.finds}


def test_a_repository_without_anything_is_clean(sealed: lacre.Ledger, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("for case in range(100, 130):\n    print('CASE', case)\n" * 50)
    (tmp_path / "dev.csv").write_text(rows(0))
    (tmp_path / "empty").write_bytes(b"")
    scanned = sealed.scan(tmp_path)
    assert scanned.ok
    assert (scanned.files, scanned.pools) == (3, (("leaks", "teste"),))
    assert "Nothing of a sealed pool was found" in str(scanned)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "run.log",
            f"scored CASE-{101:05d} and CASE-{102:05d}, CASE-{101:05d} again\n".encode(),
            {"case": 2},
        ),
        ("join.py", b"KNOWN = {'P0000107': 1}\n", {"unit": 1}),
        ("sums.txt", hashlib.sha256(image(103)).hexdigest().upper().encode(), {"digest": 1}),
        ("photo.png", image(104), {"digest": 1}),
        ("prompt.txt", f"Q: {told(105).upper()}\nA: yes".encode(), {"span": 3}),
        ("latin.txt", f"caf\xe9 CASE-{106:05d}".encode("latin-1"), {"case": 1}),
        ("wide.txt", f"one\r\nCASE-{106:05d}\r\n".encode("utf-16"), {"case": 1}),
        ("kept.pkl", b"\x80\x04\x00\x00" + f"CASE-{107:05d}".encode() + b"\x00", {"case": 1}),
        ("old.log.gz", gzip.compress(f"CASE-{108:05d}\n".encode(), mtime=0), {"case": 1}),
        ("line.json", b" " * 2**20 + f'["CASE-{109:05d}"]'.encode() + b" " * 2**20, {"case": 1}),
    ],
    ids=["log", "source", "digest", "image", "prompt", "latin-1", "utf-16", "binary", "gzip", "endless"],
)
def test_what_lies_about_is_found(
    sealed: lacre.Ledger, tmp_path: Path, name: str, content: bytes, expected: dict[str, int]
) -> None:
    """The twenty-one words of a note are cut at words 0, 8 and 13: three spans."""
    (tmp_path / name).write_bytes(content)
    scanned = sealed.scan(tmp_path)
    assert found(scanned) == {(name, what): count for what, count in expected.items()}
    assert not scanned.ok


def test_lines_are_told_and_content_is_not(sealed: lacre.Ledger, tmp_path: Path) -> None:
    notebook = {"cells": [{"source": ["x = 1\n"], "outputs": [{"text": [told(110) + "\n", "CASE-00110\n"]}]}]}
    (tmp_path / "look.ipynb").write_text(json.dumps(notebook, indent=1))
    (tmp_path / "CASE-00111").mkdir()
    (tmp_path / "CASE-00111" / "CASE-00112.txt").write_text("nothing")
    scanned = sealed.scan(tmp_path)
    in_notebook = {find.what: find for find in scanned.finds if find.place.endswith("ipynb")}
    lines = (tmp_path / "look.ipynb").read_text().split("\n")
    assert [n for n, line in enumerate(lines, 1) if "CASE-00110" in line] == list(in_notebook["case"].lines)
    assert "span" in in_notebook
    named = [find.place for find in scanned.finds if find.what == "name"]
    assert named == [f"{tmp_path}/…/…", f"{tmp_path}/…"]
    whole = str(scanned) + json.dumps(scanned.as_json())
    assert not any(f"CASE-{n:05d}" in whole for n in range(100, 130))
    assert told(110) not in whole


def test_a_table_tells_ids_too_plain_for_a_text(tmp_path: Path) -> None:
    """Numbers from 1 on stand anywhere; beside the declared names they are the pool's cases."""
    ledger = lacre.init(tmp_path / "l", state=tmp_path / "state")
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    ledger.register(plan)
    cases = tmp_path / "teste.csv"
    cases.write_text(rows(100).replace("CASE-00", ""))
    ledger.seal("leaks", "teste", cases)
    looked = tmp_path / "repository"
    looked.mkdir()
    (looked / "counts.csv").write_text("case_id,n\n" + "".join(f"{n},1\n" for n in range(100, 130)))
    (looked / "numbers.txt").write_text("100\n101\n102\n")
    assert ledger.scan(looked).ok
    (looked / "out.csv").write_text(
        "score;case_id;prediction\n" + "".join(f".5;{n};1\n" for n in (101, 101, 102, 7))
    )
    (looked / "out.jsonl").write_text(
        "".join(f'{{"case_id": "{n}", "age": {n / 8}}}\n' for n in (103, 104, 105))
    )
    (looked / "copy.tsv").write_text(rows(100).replace("CASE-00", "x-").replace(",", "\t"))
    scanned = {
        key: count for key, count in found(ledger.scan(looked)).items() if key[1] in ("case", "content")
    }
    assert scanned == {("out.csv", "case"): 2, ("out.jsonl", "case"): 3, ("copy.tsv", "content"): 30}


def test_archives_are_looked_into_and_bombs_are_not(sealed: lacre.Ledger, tmp_path: Path) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/b.csv", rows(120, 3))
    (tmp_path / "kept.zip").write_bytes(held.getvalue())
    (tmp_path / "broken.zip").write_bytes(held.getvalue()[:60])
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(300 * 2**20), 1))
    scanned = sealed.scan(tmp_path)
    assert {(name, what) for name, what in found(scanned) if what == "case"} == {("kept.zip", "case")}
    assert sum(count for _why, count in scanned.skipped) == 2


def test_letters_beyond_ascii_are_read_where_a_long_line_is_cut_and_beside_a_bad_byte(tmp_path: Path) -> None:
    """A line of two-byte letters is cut at an odd place or an even one, whichever; one bad byte garbles one line."""
    ledger = lacre.init(tmp_path / "l", state=tmp_path / "state")
    (tmp_path / "plan.yaml").write_text(PLAN)
    ledger.register(tmp_path / "plan.yaml")
    (tmp_path / "teste.csv").write_text(rows(100).replace("CASE-", "SÃO-"), encoding="utf-8")
    ledger.seal("leaks", "teste", tmp_path / "teste.csv")
    looked = tmp_path / "looked"
    looked.mkdir()
    for begins in ("", "a"):
        line = f'{begins}{"é" * 3 * 2**19} "SÃO-00101" {"é" * 3 * 2**19}'
        (looked / f"{begins}line.json").write_bytes(line.encode())
    (looked / "mixed.log").write_bytes("SÃO-00102 não\n".encode() + b"caf\xe9\n")
    names = {("line.json", "case"): 1, ("aline.json", "case"): 1, ("mixed.log", "case"): 1}
    assert found(ledger.scan(looked)) == names


def test_a_packed_file_that_is_damaged_is_counted(sealed: lacre.Ledger, tmp_path: Path) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.csv", rows(120, 3))
    damaged = bytearray(held.getvalue())
    for place in range(60, 100):
        damaged[place] ^= 0x5A
    (tmp_path / "kept.zip").write_bytes(damaged)
    assert dict(sealed.scan(tmp_path).skipped) == {"packed in a way that could not be opened": 1}
    (tmp_path / "kept.zip").unlink()  # what is left is unpacked, to look for secrets in it


def test_a_path_too_long_for_the_system_is_counted(
    sealed: lacre.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for _depth in range(19):
        os.mkdir("d" * 230)  # noqa: PTH102 - one by one: the whole is longer than a path may be
        os.chdir("d" * 230)
    scanned = sealed.scan(tmp_path)
    assert dict(scanned.skipped) == {"could not be read": 1}


def test_links_ledgers_and_what_is_excluded_are_left_out_and_counted(
    sealed: lacre.Ledger, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "teste.csv").write_text(rows(100))
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "link.csv").symlink_to(tmp_path / "data" / "teste.csv")
    shutil.copytree(sealed.folder, tmp_path / ".lacre")
    scanned = sealed.scan(tmp_path, exclude=["data/*.csv"])
    assert scanned.ok
    assert dict(scanned.skipped) == {
        "a symbolic link": 2,
        "excluded by --exclude": 1,
        "the folder of a ledger": 1,
    }
    assert ("teste.csv", "file") in found(sealed.scan(tmp_path))


def test_a_folder_named_as_a_case_is_told_once_in_files_and_in_the_history(
    sealed: lacre.Ledger, tmp_path: Path, git: Callable[..., str]
) -> None:
    """Pictures are often kept in a folder for each person."""
    folder = tmp_path / "photos" / "P0000107"
    folder.mkdir(parents=True)
    for name in ("front.txt", "left.txt"):
        (folder / name).write_text(name)
    git("add", ".")
    git("commit", "-qm", "first")
    scanned = sealed.scan(tmp_path, history=True)
    assert [(find.place, find.what, find.count) for find in scanned.finds] == [
        (f"{tmp_path}/photos/…", "name", 1),
        ("photos/…", "name", 1),
    ]
    assert [bool(find.commit) for find in scanned.finds] == [False, True]


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., str]:
    def run(*words: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *who, *words], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    run("init", "-q")
    return run


def test_what_was_taken_out_is_in_the_history(
    sealed: lacre.Ledger, tmp_path: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file, a message, a stash, and what was only added; the place of each is the commit that has it, if one does.

    So it is within a hook, which git tells of the repository that it runs in.
    """
    leak = tmp_path / "a file.log"
    leak.write_text("CASE-00100\n")
    git("add", ".")
    git("commit", "-qm", "first")
    first = git("rev-parse", "--short", "HEAD")
    leak.write_text("")
    git("commit", "-qam", "took out CASE-00101")
    message = git("rev-parse", "HEAD")
    leak.write_text("CASE-00102\n")
    git("stash")
    leak.write_text("CASE-00103\n")
    git("add", ".")
    leak.write_text("")
    assert sealed.scan(tmp_path).ok
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "another"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    scanned = sealed.scan(tmp_path, history=True)
    places = {(find.place, find.commit) for find in scanned.finds}
    assert ("a file.log", first) in places
    assert (f"commit {message[:10]}", message[:10]) in places
    assert len([find for find in scanned.finds if find.place == "a file.log"]) == 3
    assert scanned.commits == 4  # a stash is two commits
    assert "must be rewritten" in " ".join(str(scanned).split())


def test_nothing_that_a_repository_names_is_run(
    sealed: lacre.Ledger, tmp_path: Path, git: Callable[..., str]
) -> None:
    """Not the program that its settings have check signatures with, nor the file that they have order by."""
    ran, program = tmp_path / "ran", tmp_path / "check.sh"
    program.write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    program.chmod(0o755)
    (tmp_path / "leak.log").write_text("CASE-00100\n")
    git("add", ".")
    git("commit", "-qm", "first")
    head, message = git("cat-file", "commit", "HEAD").split("\n\n", 1)
    (tmp_path / "signed").write_text(f"{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n eA==\n\n{message}\n")
    git("update-ref", "HEAD", git("hash-object", "-t", "commit", "-w", "signed"))
    for name, value in {
        "log.showSignature": "true",
        "gpg.program": str(program),
        "diff.orderFile": str(tmp_path / "nowhere"),
    }.items():
        git("config", name, value)
    in_history = [find for find in sealed.scan(tmp_path, history=True).finds if find.commit]
    assert [find.place for find in in_history] == ["leak.log"]
    assert not ran.exists()


def test_names_in_a_history_that_end_a_line_of_text(
    sealed: lacre.Ledger, tmp_path: Path, git: Callable[..., str]
) -> None:
    for number, name in enumerate(("a\u2028b c", "d\x0be f", "g\x85h i")):
        (tmp_path / name).write_text(f"CASE-{100 + number:05d}\n")
    git("add", ".")
    git("commit", "-qm", "first")
    scanned = sealed.scan(tmp_path, history=True)
    assert len({find.place for find in scanned.finds if find.commit}) == 3
    assert not scanned.skipped


def test_the_history_is_of_the_folder_asked_for_in_a_hook_of_another_repository(
    sealed: lacre.Ledger, tmp_path: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    leak = tmp_path / "leak.log"
    leak.write_text("CASE-00100\n")
    git("add", ".")
    git("commit", "-qm", "first")
    leak.unlink()
    other = tmp_path / "other"
    git("init", "-q", str(other))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other / ".git" / "objects"))
    (find,) = sealed.scan(tmp_path, history=True).finds
    assert find.place == "leak.log"


def test_a_history_needs_a_repository(
    sealed: lacre.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(errors.GitFailed):
        sealed.scan(tmp_path, history=True)
    with pytest.raises(errors.FileMissing):
        sealed.scan(tmp_path / "nowhere")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(errors.GitNeeded):
        sealed.scan(tmp_path, history=True)


def test_without_the_key_nothing_is_looked_for(sealed: lacre.Ledger, tmp_path: Path) -> None:
    folder = tmp_path / ".lacre"
    shutil.copytree(sealed.folder, folder)
    (folder / "keys" / "fingerprint.key").unlink()
    with pytest.raises(errors.FingerprintsNotHere):
        lacre.open(tmp_path, state=tmp_path / "state").scan(tmp_path)
