"""The command line: click, thin and lazy. `main` is what `lacre` runs; a verb is imported when invoked."""

from lacre.cli.entry import main

__all__ = ["main"]
