"""However a call ends, its status means something and nothing is traced."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import click
import pytest

from lacre import api
from lacre.cli import main, screen
from lacre.errors import StudyNotRegistered

from .conftest import Lacre

SECRET = "cell-of-a-sealed-pool"


def raising(error: BaseException) -> object:
    def fail(*_arguments: object, **_options: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--json"],
        ["--json", "status"],
        ["seal", "a", "b", "--json"],
        ["nothing", "--json"],
        ["check", "x", "--json", "--unknown"],
        ["status", "--lang", "xx", "--json"],
        ["inputs", "a", "b", "--json"],
    ],
)
def test_a_usage_error_is_a_refusal_in_json_too(lacre: Lacre, arguments: list[str]) -> None:
    answer = lacre(*arguments)
    assert (answer.status, answer.err) == (2, "")
    assert answer.document["error"].keys() == {"code", "message", "way_out"}
    assert answer.document["error"]["code"].startswith("usage")


def test_json_after_the_end_of_options_is_a_file(lacre: Lacre) -> None:
    answer = lacre("check", "--", "--json")
    assert answer.status == 2
    assert answer.out == ""
    assert "--json" in answer.err


def test_a_usage_error_names_the_verb_s_help(lacre: Lacre) -> None:
    assert lacre("check").err.endswith("See `lacre check --help`.\n")
    assert lacre("status", "a").err.endswith("See `lacre status --help`.\n")


def test_a_refusal_is_two_lines(lacre: Lacre, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "check", raising(StudyNotRegistered(study="s")))
    answer = lacre("check", "x")
    assert answer.status == 2
    assert (
        answer.err
        == f"lacre: {StudyNotRegistered(study='s').message}\n{StudyNotRegistered(study='s').way_out}\n"
    )
    assert lacre("check", "x", "--json").document["error"]["code"] == "study-not-registered"


@pytest.mark.parametrize(
    "error", [ValueError(SECRET), KeyError(SECRET), MemoryError(SECRET), RecursionError(SECRET)]
)
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_fault_of_our_own_says_where_and_never_what(
    lacre: Lacre, monkeypatch: pytest.MonkeyPatch, error: Exception, options: list[str]
) -> None:
    monkeypatch.setattr(api, "check", raising(error))
    answer = lacre("check", "x", *options)
    assert answer.status == 70
    written = answer.out + answer.err
    assert f"{type(error).__name__} at lacre.cli.plan:" in written
    assert SECRET not in written
    assert "Traceback" not in written
    if options:
        assert answer.document["error"]["code"] == "internal"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort(), EOFError()])
def test_an_interruption_is_130(lacre: Lacre, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    monkeypatch.setattr(api, "check", raising(error))
    answer = lacre("check", "x")
    assert (answer.status, answer.out) == (130, "")
    assert answer.err.startswith("lacre: Interrupted.\n")
    assert lacre("check", "x", "--json").document["error"]["code"] == "interrupted"


def test_an_exit_of_click_s_is_taken_as_it_is(lacre: Lacre, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "check", raising(click.exceptions.Exit(3)))
    assert lacre("check", "x").status == 3


def test_another_error_of_click_s_is_of_usage(lacre: Lacre, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "check", raising(click.ClickException("what")))
    answer = lacre("check", "x")
    assert (answer.status, answer.err.splitlines()[0]) == (2, "lacre: what")


def test_what_was_typed_is_not_obeyed(lacre: Lacre) -> None:
    answer = lacre("\x1b[31mred")
    assert answer.status == 2
    assert "\x1b" not in answer.err


def test_a_library_s_warning_is_not_shown(lacre: Lacre, monkeypatch: pytest.MonkeyPatch) -> None:
    def warn(*_arguments: object) -> None:
        warnings.warn(SECRET, stacklevel=1)
        raise StudyNotRegistered(study="s")

    monkeypatch.setattr(api, "check", warn)
    with warnings.catch_warnings():
        monkeypatch.setattr(sys, "warnoptions", [])
        assert SECRET not in lacre("check", "x").err


# --- as a process -------------------------------------------------------------------------------------------


def process(*arguments: str, shell: str = "", **environment: str) -> "subprocess.CompletedProcess[str]":
    line = ["bash", "-c", f'set -o pipefail; "$0" -m lacre "$@" {shell}', sys.executable, *arguments]
    return subprocess.run(
        line, capture_output=True, text=True, check=False, env={**os.environ, **environment}, timeout=60
    )


def test_a_reader_that_goes_away_is_no_failure(tmp_path: Path) -> None:
    for arguments in (["new", "fairness"], ["new", "fairness", "--json"], ["--help"]):
        done = process(*arguments, shell="| true")
        assert (done.returncode, done.stderr) == (0, "")


def test_a_full_disk_is_refused() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    for options in ([], ["--json"]):
        done = process("new", *options, shell="> /dev/full")
        assert done.returncode == 2
        assert done.stderr.startswith("lacre: The answer could not be written")
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_outputs_change_no_status(closed: str) -> None:
    assert process("new", shell=closed).returncode == 0
    assert process("nothing", shell=closed).returncode == 2


def test_characters_that_cannot_be_written_are_escaped(tmp_path: Path) -> None:
    name = str(tmp_path / "protocolo-é.yaml")
    for options in ([], ["--json"]):
        done = process("check", name, *options, PYTHONIOENCODING="ascii")
        assert done.returncode == 2
        assert r"protocolo-\x" in done.stderr + done.stdout or r"protocolo-\u00e9" in done.stdout
    assert "protocolo-é" in json.loads(done.stdout)["error"]["message"]


def test_an_interrupted_process_ends_with_130() -> None:
    script = (
        "import os, signal, sys\n"
        "from lacre import api\n"
        "from lacre.cli import main\n"
        "api.check = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.exit(main(['check', 'x']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.startswith("lacre: Interrupted.\n")


def test_a_closed_output_takes_no_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    screen.write("x")
    screen.write_error("x")
    assert main(["new"]) == 0
