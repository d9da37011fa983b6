"""What the verbs have in common: their options, their help, and the way they answer."""

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec

import click

from lacre.cli import screen
from lacre.cli.exits import DONE, VERDICTS
from lacre.cli.language import OPTION, tag
from lacre.cli.verbs import entry
from lacre.text import N_, _, language

if TYPE_CHECKING:
    from lacre.api import Ledger
    from lacre.broker.outcomes import Amended, ReadPlanned, Registered, ResultShown

P = ParamSpec("P")


class Example(NamedTuple):
    """A line to type, and what it does."""

    line: str
    about: str


class Option(click.Option):
    """An option whose help is looked up in the language in use when it is shown."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return what is typed and what it does."""
        record = super().get_help_record(ctx)
        if record is None or not self.help:
            return record
        return record[0], record[1].replace(self.help, _(self.help), 1)


class Verb(click.Command):
    """A verb: its help says what it does, then its options, then examples."""

    def __init__(self, path: str, *, about: str, examples: Sequence[Example], **kwargs: Any) -> None:
        super().__init__(path.rpartition(" ")[2], **kwargs)
        self.line = entry(path).about
        self.about = about
        self.examples = tuple(examples)

    def format_help_text(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the verb does."""
        for paragraph in (_(self.line), *_(self.about).split("\n\n")):
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(paragraph)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option `--help`, in the language in use: click makes it once and keeps it."""
        found = super().get_help_option(ctx)
        if found is not None:
            found.help = _("Show this message and exit.")
        return found

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, each line as it is typed."""
        with formatter.section(_("Examples")):
            for example in self.examples:
                formatter.write(f"  {example.line}\n")
                formatter.indent()
                formatter.indent()
                formatter.write_text(_(example.about))
                formatter.dedent()
                formatter.dedent()


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a verb: what it may answer to, and how; and the key that its request is signed with."""

    as_json: bool
    folder: Path | None
    language: str
    signing_key: Path | None = None

    @contextmanager
    def ledger(self, passphrase_file: Path | None = None) -> Iterator["Ledger"]:
        """Open the ledger that the call is about, with progress shown on a terminal."""
        from lacre import api
        from lacre.cli.passphrase import asking, trying
        from lacre.cli.progress import bars

        with (
            bars() as progress,
            api.open(
                self.folder,
                passphrase=asking(passphrase_file),
                identity_passphrase=trying(passphrase_file),
                key=self.signing_key,
                progress=progress,
            ) as ledger,
        ):
            yield ledger

    def show(self, outcome: Any, note: str = "", **more: Any) -> None:
        """Write an outcome: as text with `note` below it, or as the one JSON document with `more` in it."""
        if self.as_json:
            from lacre.report.json import as_json

            screen.write_json({**as_json(outcome), **more})
        else:
            from lacre.report.text import as_text

            screen.write(as_text(outcome, note=note, width=screen.width(), colour=screen.colour()))

    def show_receipt(self, registered: "Registered | Amended", path: Path) -> None:
        """Show a registration or an amendment, and where its receipt is."""
        from lacre.report.plan_text import receipt_note

        self.show(registered, note=receipt_note(path), receipt_file=str(path))

    def show_read(self, outcome: "ResultShown | ReadPlanned") -> int:
        """Show what a read gave, and return the exit status: its verdict, or done for a dry run."""
        self.show(outcome)
        state = getattr(outcome, "state", None)
        return DONE if state is None else VERDICTS[state]

    def say(self, document: dict[str, Any], text: str) -> None:
        """Write `document` as the one JSON document of this call, or else `text`."""
        if self.as_json:
            screen.write_json(document)
        else:
            screen.write(text)


def verb(
    name: str, about: str, examples: Sequence[Example]
) -> Callable[[Callable[Concatenate[Call, P], int]], Verb]:
    """Make a function that answers a `Call` with an exit status into the verb `name`: of a group, with its name."""

    def make(function: Callable[Concatenate[Call, P], int]) -> Verb:
        @functools.wraps(function)
        def call(*, as_json: bool, ledger: Path | None, lang: str | None, **given: Any) -> int:
            signing_key = given.pop("signing_key", None)
            return function(Call(as_json, ledger, lang or language(), signing_key), **given)  # type: ignore[call-arg]  # click passes by name

        params = [*reversed(getattr(function, "__click_params__", [])), *_shared()]
        return Verb(name, params=params, callback=call, about=about, examples=examples)

    return make


def option(*names: str, **settings: Any) -> Callable[[Callable[P, int]], Callable[P, int]]:
    """Declare an option of a verb."""
    return click.option(*names, cls=Option, **settings)


def path_option(*names: str, **settings: Any) -> Callable[[Callable[P, int]], Callable[P, int]]:
    """Declare an option that takes a file or folder, which lacre itself looks at."""
    return option(*names, type=click.Path(path_type=Path), **settings)


passphrase_option = path_option(
    "--passphrase-file",
    metavar="FILE",
    help=N_("Read the keys' passphrase from FILE (else LACRE_PASSPHRASE, else it is asked on a terminal)."),
)

key_option = path_option(
    "--key",
    "signing_key",
    metavar="FILE",
    help=N_("Sign with the key in FILE (else LACRE_KEY, else the ledger's own)."),
)

reason_option = option("--reason", metavar="TEXT", help=N_("Put on record why; the words can be erased."))
required_reason_option = option(
    "--reason", metavar="TEXT", required=True, help=N_("Put on record why; the words can be erased.")
)
yes_option = option("--yes", is_flag=True, help=N_("Do it without asking, as where there is no terminal."))
accept_infeasible_option = option(
    "--accept-infeasible",
    metavar="TEXT",
    help=N_("Put on record why a criterion is kept that no outcome passes, or none fails."),
)

identity_option = path_option(
    "--identity",
    multiple=True,
    metavar="FILE",
    help=N_("Open the pool with the age identity in FILE, too; as often as needed."),
)


def signing_options(function: Callable[P, int]) -> Callable[P, int]:
    """Declare the options of a verb that signs a request; the key is `Call`'s to use."""
    return passphrase_option(key_option(function))


def _shared() -> list[click.Parameter]:
    return [
        Option(
            ["--json", "as_json"], is_flag=True, help=N_("Answer with one JSON document on standard output.")
        ),
        Option(
            ["--ledger"],
            type=click.Path(path_type=Path),
            metavar="DIR",
            help=N_("Use the ledger in DIR (else LACRE_LEDGER, else the nearest .lacre, upwards from here)."),
        ),
        Option(
            [OPTION],
            metavar="TAG",
            callback=tag,
            help=N_("Speak this language: en, pt-BR or es-419 (else LACRE_LANG, else the locale's)."),
        ),
    ]
