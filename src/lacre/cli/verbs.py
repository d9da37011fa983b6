"""The verbs of the command line and the module of each; no module is imported before its verb is invoked."""

import difflib
import importlib
from typing import NamedTuple

import click

from lacre.text import N_, _
from lacre.version import VERSION


class Entry(NamedTuple):
    """A verb's section in the help, the module that holds it, and its one line of help."""

    section: str
    module: str
    about: str


BEGIN, POOLS, READ, LOOK, KEEP = N_("Plan"), N_("Seal"), N_("Read"), N_("Look"), N_("Keep")

VERBS: dict[str, Entry] = {
    "init": Entry(BEGIN, "plan", N_("Make a ledger and its keys.")),
    "new": Entry(BEGIN, "plan", N_("Print a commented protocol to fill in.")),
    "check": Entry(BEGIN, "plan", N_("Check a protocol: is it valid, and what does it ask of the data?")),
    "register": Entry(BEGIN, "plan", N_("Put a protocol in the ledger, before any data.")),
    "seal": Entry(POOLS, "pools", N_("Encrypt a pool's files and commit to their content.")),
    "inputs": Entry(POOLS, "pools", N_("Write a pool's ids and input columns, to predict on.")),
    "reveal": Entry(READ, "reads", N_("Read teste, once, and run all its registered analyses.")),
    "run": Entry(READ, "reads", N_("Run one analysis on dev or contraste.")),
    "status": Entry(LOOK, "look", N_("Say where things stand.")),
    "log": Entry(LOOK, "look", N_("List the ledger's entries, in words.")),
    "show": Entry(LOOK, "look", N_("Show a study, a result or an entry.")),
    "audit": Entry(LOOK, "look", N_("Derive the history again from the signed entries.")),
    "demo": Entry(LOOK, "show_demo", N_("Watch a study's whole life in a temporary ledger.")),
    "recover": Entry(KEEP, "keep", N_("Bring back what a restored backup lacks.")),
}


class Verbs(click.Group):
    """The group of all verbs."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the verbs in the order of a study's life."""
        return list(VERBS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"lacre.cli.{VERBS[cmd_name].module}")
        command: click.Command = getattr(module, f"{cmd_name}_verb")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb that the arguments begin with; a misspelt one is refused with its nearest."""
        name = args[0]
        if name not in VERBS and not name.startswith("-"):
            near = difflib.get_close_matches(name, VERBS, n=1)
            hint = _(" Did you mean {verb!r}?").format(verb=near[0]) if near else ""
            ctx.fail(_("There is no verb {name!r}.").format(name=name) + hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs by section, from the table alone."""
        for section in dict.fromkeys(entry.section for entry in VERBS.values()):
            with formatter.section(_(section)):
                formatter.write_dl(
                    [(name, _(entry.about)) for name, entry in VERBS.items() if entry.section == section]
                )


ABOUT = N_(
    "A pre-registration ledger with a sealed-pool workflow: fix the bar before the data is seen, look at the "
    "test pool once, and let a stranger check both. `lacre demo` shows all of it in a few seconds."
)


def verbs() -> Verbs:
    """Build the group, with its help in the language in use."""
    return Verbs(
        "lacre", help=_(ABOUT), params=[_version_option()], options_metavar="", subcommand_metavar=_("VERB …")
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
