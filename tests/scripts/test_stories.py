"""What happens to real studies, told on the command line, each story from an empty folder to a clean audit."""

import json
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Shell = Any
ROOT = Path(__file__).resolve().parents[2]
BAR = ("max_group_gap: 0.5", "max_group_gap: 0.4")


def rewrite(shell: Shell, name: str, old: str, new: str) -> str:
    """Change words of a file, which must be there."""
    path = shell.folder / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return name


def clean(shell: Shell) -> dict[str, Any]:
    """The audit, which finds nothing."""
    report: dict[str, Any] = shell.json("audit")
    assert report["findings"] == []
    return report


def amended(shell: Shell, *words: str, expect: int = 0) -> dict[str, Any]:
    """Amend the small study from its file."""
    return dict(shell.json("amend", "protocol.yaml", "--reason", "a new bar", *words, expect=expect))


# --- amendments


def test_an_amendment_before_any_read_burns_nothing(shell: Shell) -> None:
    reveal = shell.seal_small()
    rewrite(shell, "protocol.yaml", *BAR)
    refused = shell.lacre("reveal", "small", "--submission", "predictions.csv", "--protocol", "protocol.yaml")
    assert refused.status == 2, "the bar was moved in the file alone"
    shown = shell.lacre("amend", "protocol.yaml", "--reason", "a new bar", "--dry-run")
    assert shown.status == 0
    assert "max_group_gap" in shown.out
    assert shell.lacre("amend", "protocol.yaml", "--reason", "a new bar").status == 2, "nobody was asked"
    made = amended(shell, "--yes")
    assert (made["version"], made["burns"]) == (2, [])
    result = json.loads(shell.lacre(*reveal).out)
    assert (result["state"], result["confirmatory"], result["now"]) == ("PASS", True, "teste")
    assert result["analyses"][0]["criteria"][0]["threshold"] == 0.4
    clean(shell)


def test_an_amendment_after_the_read_burns_and_the_earlier_result_stands(shell: Shell) -> None:
    first = json.loads(shell.lacre(*shell.seal_small()).out)
    rewrite(shell, "protocol.yaml", *BAR)
    assert amended(shell, "--yes", expect=2)["error"]["code"] == "amendment-burns"
    made = amended(shell, "--yes", "--accept-burn")
    assert made["burns"] == ["teste"]
    again = shell.json("show", first["result"])
    assert (again["state"], again["confirmatory"]) == ("PASS", True)
    assert (again["standing"], again["now"]) == ("teste", "dev")
    assert again["analyses"] == first["analyses"]
    refused = shell.lacre("reveal", "small", "--submission", "predictions.csv")
    assert refused.status == 2
    second = shell.json("reveal", "small", "--submission", "predictions.csv", "--accept-dev", expect=3)
    assert (second["state"], second["standing"]) == ("INSUFFICIENT_EVIDENCE", "dev")
    table = shell.lacre("show", "small", "--deviations")
    assert table.status == 0
    assert "a new bar" in table.out
    for form, mark in (("markdown", "| "), ("csv", ",")):
        written = shell.lacre("show", "small", "--deviations", "--format", form)
        assert "a new bar" in written.out
        assert mark in written.out.splitlines()[0]
    clean(shell)


# --- replacement and errata


def test_a_wrong_file_is_replaced_before_a_read_and_not_after(shell: Shell) -> None:
    reveal = shell.seal_small()
    # The labels are all turned round, so that every right prediction would be wrong.
    lines = (shell.folder / "cases.csv").read_text().splitlines()
    turned = [lines[0], *(turn(line) for line in lines[1:])]
    (shell.folder / "turned.csv").write_text("\n".join(turned) + "\n")
    without_reason = shell.lacre("seal", "small", "teste", "turned.csv", "--replace")
    assert (without_reason.status, "--reason" in without_reason.err) == (2, True)
    again = shell.lacre("seal", "small", "teste", "turned.csv")
    assert (again.status, "--replace" in again.err) == (2, True)
    shell.json("seal", "small", "teste", "turned.csv", "--replace", "--reason", "an older export")
    shell.json("seal", "small", "teste", "cases.csv", "--replace", "--reason", "it was the right one")
    assert json.loads(shell.lacre(*reveal).out)["state"] == "PASS"
    refused = shell.json("seal", "small", "teste", "turned.csv", "--replace", "--reason", "x", expect=2)
    assert refused["error"]["code"] == "pool-already-read"
    clean(shell)


def turn(line: str) -> str:
    """A row of the small study with its label turned round."""
    *before, label, sex = line.split(",")
    return ",".join([*before, str(1 - int(label)), sex])


def test_a_label_erratum_keeps_both_numbers(shell: Shell) -> None:
    """Of 200 right predictions, those of 20 relabelled women become wrong: 20 of 100, and of men 0 of 100."""
    first = json.loads(shell.lacre(*shell.seal_small()).out)
    lines = (shell.folder / "cases.csv").read_text().splitlines()
    women = [n for n, line in enumerate(lines) if line.endswith(",female")][:20]
    corrected = [turn(line) if n in women else line for n, line in enumerate(lines)]
    (shell.folder / "corrected.csv").write_text("\n".join(corrected) + "\n")
    rescored = shell.json(
        "erratum", first["result"], "corrected.csv", "--reason", "two raters had swapped forms", expect=3
    )
    assert (rescored["standing"], rescored["confirmatory"]) == ("erratum", False)
    (wrong,) = [
        each
        for each in rescored["analyses"][0]["estimates"]
        if each["metric"] == "error" and each["group"] == {"sex": "female"}
    ]
    assert (wrong["numerator"], wrong["denominator"]) == (20, 100)
    assert rescored["erratum"] == {"corrects": first["result"], "changed": {"cases.label": 20}}
    original = shell.json("show", first["result"])
    assert (original["state"], original["analyses"]) == ("PASS", first["analyses"])
    assert [each["result"] for each in original["errata"]] == [rescored["result"]]
    # Another change than of a label is no erratum, and what was tried stays on record.
    rewrite(shell, "corrected.csv", "9,9,", "9,another note,")
    refused = shell.lacre("erratum", first["result"], "corrected.csv", "--reason", "and a note")
    assert refused.status == 2
    assert "another note" not in refused.out + refused.err
    clean(shell)


# --- a crash


def test_a_crash_between_read_and_result_is_finished_on_the_next_call(shell: Shell) -> None:
    """The process is killed where the read is spent and nothing is opened yet: a full stop of the machine."""
    reveal = shell.seal_small()
    code = (
        "import os, lacre.broker.reading as reading\n"
        "reading.open_tables = lambda *given, **more: os._exit(9)\n"
        "from lacre.cli import main\n"
        f"main({list(reveal)!r})\n"
    )
    crashed = subprocess.run(
        [sys.executable, "-c", code],
        cwd=shell.folder,
        env=dict(shell.environment),
        check=False,
        capture_output=True,
    )
    assert crashed.returncode == 9
    assert [each["kind"] for each in shell.json("log", "small")["history"]] == ["register", "seal", "read"]
    rewrite(shell, "protocol.yaml", *BAR)
    amended(shell, "--yes", "--accept-burn")
    finished = json.loads(shell.lacre(*reveal).out)
    assert (finished["state"], finished["confirmatory"], finished["finished"]) == ("PASS", True, 3)
    assert finished["analyses"][0]["criteria"][0]["threshold"] == 0.5, "as it was when the read was spent"
    clean(shell)


# --- keys


def test_a_revoked_key_is_refused_from_then_on_and_its_old_entries_stand(shell: Shell) -> None:
    reveal = shell.seal_small()
    made = shell.json("key", "new", "ana.pem")
    refused = shell.lacre(*reveal[:-1], "--key", "ana.pem")
    assert (refused.status, "registrant" in refused.err) == (2, True)
    shell.json("key", "enrol", made["public"], "--role", "registrant", "--name", "Ana")
    result = json.loads(shell.lacre(*reveal, "--key", "ana.pem").out)
    assert result["confirmatory"]
    shell.json("key", "revoke", made["keyid"], "--reason", "she left")
    refused = shell.lacre(*reveal[:-1], "--accept-dev", "--key", "ana.pem")
    assert refused.status == 2
    report = clean(shell)
    assert [each["by"] for each in report["history"] if each["kind"] == "read"] == [made["keyid"]]
    assert "Ana" in shell.lacre("log", "small").out
    shell.json("erase", "@3", "--which", "name", "--yes")
    report = clean(shell)
    assert "Ana" not in shell.lacre("log").out
    assert [(each["what"], each["named"], each["entry"]) for each in report["erased"]] == [("name", 3, 7)]


def test_log_keys_are_replaced_and_both_sign_meanwhile(shell: Shell) -> None:
    shell.seal_small()
    old = shell.json("status")["verifier_key"]
    shell.json("key", "rotate", "log")
    both = shell.json("status")["verifier_keys"]
    assert old in both
    (new,) = set(both) - {old}
    for known in both:
        shell.json("export", "--registry", "register")
        assert shell.json("audit", "--registry", "register", "--key", known)["findings"] == []
    keyid = next(k["keyid"] for k in shell.json("status")["keys"] if k["roles"] == ["log"])
    shell.json("key", "revoke", keyid)
    shell.json("export", "--registry", "register")
    assert shell.json("audit", "--registry", "register", "--key", new)["findings"] == []
    assert shell.json("audit", "--registry", "register", "--key", old, expect=1)["findings"]
    clean(shell)


# --- for a stranger


@pytest.fixture(scope="session")
def wheel_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel's code alone, beside this environment's libraries."""
    root = tmp_path_factory.mktemp("wheel")
    built = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(root),
        str(ROOT),
    ]
    subprocess.run(built, check=True, capture_output=True, timeout=300)
    (wheel,) = root.glob("lacre-*.whl")
    environment = root / "venv"
    venv.create(environment, with_pip=False)
    site = next((environment / "lib").glob("python3.*")) / "site-packages"
    shutil.unpack_archive(wheel, site, "zip")
    beside = next(Path(path) for path in sys.path if path.endswith("site-packages"))
    (site / "libraries.pth").write_text(f"{beside}\n")
    return environment / "bin" / "python"


def test_a_bundle_is_verified_in_an_empty_folder_with_only_the_wheel(
    shell: Shell, shells: Callable[[], Shell], wheel_python: Path
) -> None:
    result = json.loads(shell.lacre(*shell.seal_small()).out)
    known = shell.json("status")["verifier_key"]
    shell.json("export", result["result"], "-o", "r.zip")
    stranger = shells()
    shutil.copy(shell.folder / "r.zip", stranger.folder)

    def verify(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [wheel_python, "-I", "-m", "lacre", "verify", *words, "--json"],
            cwd=stranger.folder,
            env=dict(stranger.environment),
            capture_output=True,
            text=True,
            check=False,
        )

    where = subprocess.run(
        [wheel_python, "-I", "-c", "import lacre; print(lacre.__file__)"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert str(wheel_python.parent.parent) in where.stdout, "not the checkout's code"
    found = verify("r.zip", "--key", known)
    assert found.returncode == 0, found.stdout + found.stderr
    document = json.loads(found.stdout)
    assert (document["ok"], document["result"], document["findings"]) == (True, result["result"], [])
    assert document["not_shown"]
    assert not (Path(stranger.environment["XDG_STATE_HOME"]) / "lacre").exists()
    # Its bar is changed in one place, and nothing else.
    data = (stranger.folder / "r.zip").read_bytes()
    at = data.index(b'"max_group_gap":0.5')
    (stranger.folder / "r.zip").write_bytes(data[: at + 18] + b"9" + data[at + 19 :])
    assert verify("r.zip", "--key", known).returncode == 1
    assert [path.name for path in stranger.folder.iterdir()] == ["r.zip"]
