"""The command line: click, thin and lazy. `main` is what `lacre` runs; each verb is imported when it is asked for."""

from lacre.cli.entry import main

__all__ = ["main"]
