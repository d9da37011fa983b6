"""Help: complete, and with examples that are what they say."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from lacre.cli.command import Verb
from lacre.cli.verbs import GROUPS, VERBS, Verbs, entry, verbs
from lacre.version import VERSION

from .conftest import Lacre

SHARED = {"--json", "--ledger", "--lang"}


LEAVES = [name for name in VERBS if name not in GROUPS]
LEAVES += [f"{group} {name}" for group, held in GROUPS.items() for name in held]
"""Every verb by the words that are typed, a group's verbs after its name."""


def command(path: str) -> Verb:
    found: click.Command | None = verbs()
    for name in path.split():
        assert isinstance(found, Verbs)
        found = found.get_command(click.Context(found), name)
    assert isinstance(found, Verb)
    return found


def test_help_lists_every_verb_with_its_line(lacre: Lacre) -> None:
    answer = lacre("--help")
    assert answer.status == 0
    for name, told in VERBS.items():
        assert f"  {name}" in answer.out
        assert told.about.split(":")[0] in " ".join(answer.out.split())


@pytest.mark.parametrize("name", LEAVES)
def test_each_verb_has_the_shared_options_and_examples(lacre: Lacre, name: str) -> None:
    answer = lacre(*name.split(), "--help")
    assert answer.status == 0
    assert entry(name).about in " ".join(answer.out.split())
    for option in SHARED:
        assert option in answer.out
    assert "Examples:" in answer.out
    assert "None" not in answer.out


@pytest.mark.parametrize("name", LEAVES)
def test_each_example_is_a_command_line_of_its_verb(name: str) -> None:
    examples = command(name).examples
    assert examples
    for example in examples:
        words = shlex.split(example.line.partition(" > ")[0])
        path = ["lacre", *name.split()]
        assert words[: len(path)] == path
        assert len(example.line) <= 76
        with command(name).make_context(name, words[len(path) :]):
            pass


@pytest.mark.parametrize("name", LEAVES)
def test_every_option_says_what_it_is_for(name: str) -> None:
    for parameter in command(name).params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


def test_every_verb_is_a_method_of_the_api() -> None:
    from lacre import api

    known = {*dir(api.Ledger), *vars(api)}
    assert set(VERBS) - known == {"new", "demo", "key"}
    assert {"enrol", "rotate", "revoke", "keys", "backup_keys", "recover_keys", "new_key"} <= known


def test_a_misspelt_verb_is_refused_with_its_nearest(lacre: Lacre) -> None:
    answer = lacre("regster")
    assert answer.status == 2
    assert answer.out == ""
    assert answer.err == "lacre: There is no verb 'regster'. Did you mean 'register'?\nSee `lacre --help`.\n"
    assert "Did you mean" not in lacre("xyzzy").err


def test_no_verb_shows_the_help_and_is_a_usage_error(lacre: Lacre) -> None:
    answer = lacre()
    assert answer.status == 2
    assert answer.out == ""
    assert "register" in answer.err


def test_the_version_is_the_package_s(lacre: Lacre) -> None:
    answer = lacre("--version")
    assert (answer.status, answer.out) == (0, f"lacre {VERSION}\n")


def test_as_a_module_it_is_the_same() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lacre", "new", "--json"], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["templates"]


def test_the_command_is_installed() -> None:
    program = Path(sys.executable).with_name("lacre")
    assert os.access(program, os.X_OK)
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"lacre {VERSION}\n"


def test_the_group_lists_what_is_in_the_table() -> None:
    group = verbs()
    assert isinstance(group, Verbs)
    assert group.list_commands(click.Context(group)) == list(VERBS)
    assert group.get_command(click.Context(group), "nothing") is None
