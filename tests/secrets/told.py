"""A process that makes the calls it is given, one after the other: told.py, with a JSON list of them as its argument.

Each is `[[word…], status]`; a word `{custodian}` is the recipient in `custodian.txt`. With `--leak` it writes the file
`dev.csv` to a temporary file first, and removes that.
"""

import json
import sys
import tempfile
from pathlib import Path

from lacre.cli import main


def recipient() -> str:
    path = Path("custodian.txt")
    words = path.read_text().split() if path.exists() else []
    return next((word for word in words if word.startswith("age1")), "")


if __name__ == "__main__":
    if "--leak" in sys.argv:
        with tempfile.TemporaryFile() as file:
            file.write(Path("dev.csv").read_bytes())
    for words, status in json.loads(sys.argv[1]):
        ended = main([word.format(custodian=recipient()) for word in words])
        if ended != status:
            sys.exit(f"{words} ended with {ended}")
