"""The verbs of the command line and the module of each; no module is imported before its verb is invoked."""

import difflib
import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import click

from lacre.text import N_, _
from lacre.version import VERSION


class Entry(NamedTuple):
    """A verb's section in the help, the module that holds it, and its one line of help."""

    section: str
    module: str
    about: str


BEGIN, POOLS, READ, CHANGE = N_("Plan"), N_("Seal"), N_("Read"), N_("Change")
LOOK, KEEP = N_("Look"), N_("Keep")

VERBS: dict[str, Entry] = {
    "init": Entry(BEGIN, "plan", N_("Make a ledger and its keys.")),
    "new": Entry(BEGIN, "plan", N_("Print a commented protocol to fill in.")),
    "check": Entry(BEGIN, "plan", N_("Check a protocol: is it valid, and what does it ask of the data?")),
    "register": Entry(BEGIN, "plan", N_("Put a protocol in the ledger, before any data.")),
    "amplify": Entry(POOLS, "images", N_("Make the declared variants of images, to predict on.")),
    "sample": Entry(POOLS, "draws", N_("Draw cases with known chances, or cases to be labelled again.")),
    "seal": Entry(POOLS, "pools", N_("Encrypt a pool's files and commit to their content.")),
    "inputs": Entry(POOLS, "pools", N_("Write a pool's ids and input columns, to predict on.")),
    "commit": Entry(
        POOLS, "draws", N_("Commit to cases, labels or scores in the open, or to second labels.")
    ),
    "rebalance": Entry(POOLS, "rebalance", N_("Let an open corpus grow, where a kappa paradox is flagged.")),
    "rewrap": Entry(POOLS, "pools", N_("Hand a sealed pool to other recipients; nothing is read.")),
    "calibrate": Entry(READ, "reads", N_("Set the registered thresholds on dev, and freeze them.")),
    "reveal": Entry(READ, "reads", N_("Read teste, once, and run all its registered analyses.")),
    "run": Entry(READ, "reads", N_("Run one analysis on dev, contraste or an open corpus.")),
    "gate": Entry(READ, "reads", N_("Ask guarda whether a release passes: verdicts alone.")),
    "amend": Entry(CHANGE, "change", N_("Put another plan in force, with why and what had been read.")),
    "deviate": Entry(CHANGE, "change", N_("Put on record what went otherwise than planned.")),
    "erratum": Entry(CHANGE, "change", N_("Score a result's submission again on corrected labels.")),
    "withdraw": Entry(CHANGE, "change", N_("End a study, on record; nothing of it goes away.")),
    "status": Entry(LOOK, "look", N_("Say where things stand.")),
    "log": Entry(LOOK, "look", N_("List the ledger's entries, in words.")),
    "show": Entry(LOOK, "look", N_("Show a study, a result or an entry.")),
    "report": Entry(LOOK, "reporting", N_("Write a result as one HTML file, to be read or printed.")),
    "audit": Entry(LOOK, "look", N_("Derive the history again from the signed entries.")),
    "export": Entry(LOOK, "give", N_("Write a bundle for a stranger, or the public register.")),
    "verify": Entry(LOOK, "give", N_("Check a bundle, offline.")),
    "scan": Entry(LOOK, "scan", N_("Look for anything of sealed pools in a repository.")),
    "demo": Entry(LOOK, "show_demo", N_("Watch a study's whole life in a temporary ledger.")),
    "key": Entry(KEEP, "keys", N_("Make keys, enrol, replace, revoke them, and back them up.")),
    "erase": Entry(KEEP, "keys", N_("Take a name or other words out of the ledger for good.")),
    "recover": Entry(KEEP, "keep", N_("Bring back what a restored backup lacks.")),
}

OF_KEYS, OF_FILES = N_("Who may act"), N_("The key files")
GROUPS: dict[str, dict[str, Entry]] = {
    "key": {
        "list": Entry(OF_KEYS, "keys", N_("List the keys: whose, which roles, since when, until when.")),
        "new": Entry(OF_KEYS, "keys", N_("Make a key for a person, or an age identity for a custodian.")),
        "enrol": Entry(OF_KEYS, "keys", N_("Let a person's key act in the ledger.")),
        "rotate": Entry(OF_KEYS, "keys", N_("Have a new key take the place of one of the ledger's own.")),
        "revoke": Entry(OF_KEYS, "keys", N_("End what a key may do.")),
        "backup": Entry(OF_FILES, "keys", N_("Write all key files into one, closed with a passphrase.")),
        "recover": Entry(OF_FILES, "keys", N_("Put back key files that are missing.")),
    },
}
"""Verbs that are groups of verbs."""


def entry(path: str) -> Entry:
    """Return what is told of a verb, or of one of a group's verbs, by the words that are typed."""
    group, _blank, name = path.partition(" ")
    return GROUPS[group][name] if name else VERBS[group]


class Verbs(click.Group):
    """The group of all verbs, or one of them that is a group itself; `table` is what it holds."""

    def __init__(self, name: str, *, table: Mapping[str, Entry], path: str = "", **settings: Any) -> None:
        super().__init__(name, **settings)
        self.table = table
        self.path = path

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the verbs in the order they are told."""
        return list(self.table)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb."""
        if cmd_name not in self.table:
            return None
        if cmd_name in GROUPS and not self.path:
            return _group(cmd_name)
        module = importlib.import_module(f"lacre.cli.{self.table[cmd_name].module}")
        command: click.Command = getattr(module, f"{self.path}{cmd_name}_verb")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb that the arguments begin with; a misspelt one is refused with its nearest."""
        name = args[0]
        if name not in self.table and not name.startswith("-"):
            near = difflib.get_close_matches(name, self.table, n=1)
            hint = _(" Did you mean {verb!r}?").format(verb=near[0]) if near else ""
            ctx.fail(_("There is no verb {name!r}.").format(name=name) + hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs by section, from the table alone."""
        for section in dict.fromkeys(entry.section for entry in self.table.values()):
            with formatter.section(_(section)):
                formatter.write_dl(
                    [(name, _(entry.about)) for name, entry in self.table.items() if entry.section == section]
                )


def _group(name: str) -> Verbs:
    return Verbs(
        name,
        table=GROUPS[name],
        path=f"{name}_",
        help=_(VERBS[name].about),
        options_metavar="",
        subcommand_metavar=_("VERB …"),
        no_args_is_help=False,
    )


ABOUT = N_(
    "A pre-registration ledger with a sealed-pool workflow: fix the bar before the data is seen, look at the "
    "test pool once, and let a stranger check both. `lacre demo` shows all of it in a few seconds."
)


def verbs() -> Verbs:
    """Build the group, with its help in the language in use."""
    return Verbs(
        "lacre",
        table=VERBS,
        help=_(ABOUT),
        params=[_version_option()],
        options_metavar="",
        subcommand_metavar=_("VERB …"),
    )


def _version_option() -> click.Option:
    def show(ctx: click.Context, _param: click.Parameter, asked: bool) -> None:
        if asked and not ctx.resilient_parsing:
            click.echo(f"lacre {VERSION}")
            ctx.exit()

    return click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help=_("Show the version."),
    )
