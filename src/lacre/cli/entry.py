"""One call of `lacre`: parse, invoke, and end with a status that means something, never with a traceback."""

import os
import sys
import warnings
from collections.abc import Sequence

import click

from lacre.cli import screen
from lacre.cli.click_words import translated
from lacre.cli.exits import DONE
from lacre.cli.language import wanted
from lacre.cli.verbs import Verbs, verbs
from lacre.errors import (
    EXIT_REFUSED,
    InternalError,
    Interrupted,
    LacreError,
    LanguageUnknown,
    OutputLost,
    UsageError,
    VerbUnclear,
)
from lacre.text import speaking


def main(argv: Sequence[str] | None = None) -> int:
    """Run `lacre` with `argv` (else the process's arguments) and return its exit status.

    That is what the verb answers; 2 for a refusal or a command line that cannot be understood, 70 for a fault
    of lacre's own, 130 when interrupted; and nothing else.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    screen.prepare()
    if not sys.warnoptions:
        # A library's warning may quote what it read; what a user must know, the outcomes say themselves.
        warnings.simplefilter("ignore")
    as_json = _asks_json(arguments)
    try:
        language = wanted(arguments, os.environ)
    except LanguageUnknown as error:
        return _end(error, as_json=as_json)
    with speaking(language), translated():
        try:
            return _invoke(verbs(), arguments)
        except Exception as error:  # noqa: BLE001 - the last door: a traceback could show a sealed cell
            return _end(error, as_json=as_json)
        except KeyboardInterrupt:
            return _end(Interrupted(), as_json=as_json)


def _invoke(group: Verbs, arguments: list[str]) -> int:
    # Not click's own `main`, which ends the process with 1 for a broken pipe.
    if not arguments:
        screen.write_error(group.get_help(group.context_class(group, info_name="lacre")))
        return EXIT_REFUSED
    try:
        with group.make_context("lacre", arguments) as context:
            answer = group.invoke(context)
    except click.exceptions.Exit as end:
        return int(end.exit_code)
    return DONE if answer is None else int(answer)


def _end(error: Exception, *, as_json: bool) -> int:
    if isinstance(error, BrokenPipeError):
        screen.silence(sys.stdout)
        return DONE
    refusal = _refusal(error)
    try:
        screen.refuse(refusal, as_json=as_json and not isinstance(refusal, OutputLost))
    except OutputLost:
        screen.refuse(refusal, as_json=False)
    return refusal.exit_status


def _refusal(error: Exception) -> LacreError:
    """Say in lacre's own words why a call ended."""
    if isinstance(error, LacreError):
        return error
    if isinstance(error, click.Abort | EOFError):
        return Interrupted()
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        verb = context.command_path.partition(" ")[2] if context is not None else ""
        why = " ".join(error.format_message().split())
        return VerbUnclear(why=why) if not verb else UsageError(why=why, verb=verb)
    return InternalError.of(error)


def _asks_json(arguments: Sequence[str]) -> bool:
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return any(option.partition("=")[0] == "--json" for option in options)
