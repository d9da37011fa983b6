"""Questions before what cannot be undone: asked on a terminal, and without one refused with the option to give."""

import click

from lacre.cli import screen
from lacre.errors import InterruptedBefore, NotConfirmed
from lacre.text import _


def sure(question: str, *, verb: str, option: str, about: object | None = None) -> bool:
    """Show what it is about on standard error, and ask. Raises `NotConfirmed` where nobody can be asked."""
    if not screen.can_ask():
        raise NotConfirmed(verb=verb, option=option)
    if about is not None:
        from lacre.report.text import as_text

        screen.write_error(as_text(about, width=screen.width()))
    try:
        said = click.prompt(f"{question} {_('[y/N]')}", default="", show_default=False, err=True)
    except click.Abort:
        raise InterruptedBefore from None
    # Translated: the words for yes, with blanks between them. Any other answer is none.
    return str(said).strip().lower() in {"y", "yes", *_("y yes").split()}
