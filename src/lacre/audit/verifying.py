"""Whether each signature is its key's: most of the work of an audit, and the part that can be done beside it.

A few are verified here. Of many, a process of its own does the work (`answer_all`) while the walk goes on: it runs
this very file, is given one record after the other on its standard input, and when that ends it writes how many
they were, and the number of each that is not its key's, as lines of decimal numbers. Where it cannot be had, or
does not answer for all of them, everything is verified here.
"""

import os
import re
import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from lacre.audit.findings import Finding, finding
from lacre.errors import SignatureInvalid
from lacre.ledger.envelope import Envelope
from lacre.ledger.keys import PublicKey

MANY = 2_000
"""Signatures: as long to verify as another process takes to begin."""

_RECORD = struct.Struct(">32s64sI")  # a raw public key, a signature, the length of what follows: the message
_ANSWER = re.compile(rb"[0-9]{1,18}(?:\n[0-9]{1,18})*\n")
_BUFFER = 1 << 16  # each writing wakes the other process, often on the processor that this one runs on
_PIPE = 1 << 20  # what waits for the other process, so that neither waits for the other while both have work


@dataclass(frozen=True, slots=True)
class _Expected:
    """An envelope that must bear a signature of a key (raw, in hexadecimal), and what is found, where, if not."""

    envelope: Envelope
    key: str
    code: str
    entry: int


class Verifying:
    """All signatures that an audit expects, and in the end which of them are not there.

    Past `many` of them a second process is set to work, if there is a processor for it.
    """

    def __init__(self, many: int = MANY) -> None:
        self._many = many
        self._expected: list[_Expected] = []
        self._beside: _Beside | None = None

    def expect(self, envelope: Envelope, key: str, code: str, entry: int) -> None:
        """Have it verified that `key` (raw, in hexadecimal) signed `envelope`.

        If it did not, the finding `code` is made of `entry`.
        """
        one = _Expected(envelope, key, code, entry)
        self._expected.append(one)
        if self._beside is not None:
            self._beside.give(one)
        elif len(self._expected) == self._many and _processors() > 1:
            self._beside = _Beside.begin()
            if self._beside is not None:
                for each in self._expected:
                    self._beside.give(each)

    def check(self) -> Iterator[Finding]:
        """Yield what is found of the signatures that were expected."""
        suspects = None if self._beside is None else self._beside.answer()
        suspected = self._expected if suspects is None else [self._expected[number] for number in suspects]
        # What the other process could not confirm is looked at again here, where an envelope may bear several.
        for each in suspected:
            try:
                each.envelope.verify(PublicKey(bytes.fromhex(each.key)))
            except SignatureInvalid:
                yield finding(each.code, each.entry)

    def close(self) -> None:
        """End the other process, if it still works."""
        if self._beside is not None:
            self._beside.end()


class _Beside:
    """The process that verifies beside this one; once it fails, it is given nothing more and answers nothing."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._given = 0
        self._broken = False

    @classmethod
    def begin(cls) -> "_Beside | None":
        """Start it; None where this cannot be."""
        if not sys.executable:
            return None
        # This process's own modules and no others, wherever it was started and whatever stands in the environment.
        paths = [
            str(Path(__file__).resolve().parents[2]),
            *(path for path in sys.path if Path(path).is_absolute()),
        ]
        program = f"import sys; sys.path[:] = {paths!a}; from {__name__} import answer_all; answer_all()"
        command = [sys.executable, "-I", "-c", program]
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(  # noqa: S603 - Python itself, with words of our own
                command, _BUFFER, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, pipesize=_PIPE
            )
        except OSError:
            return None
        return cls(process)

    def give(self, one: _Expected) -> None:
        """Hand over what to verify: the first signature, as the one that the key is looked up by."""
        if self._broken:
            return
        assert self._process.stdin is not None
        message = one.envelope.signed_bytes()
        record = _RECORD.pack(bytes.fromhex(one.key), one.envelope.signatures[0].sig, len(message))
        try:
            self._process.stdin.write(record + message)
        except OSError:
            self._broken = True
        self._given += 1

    def answer(self) -> list[int] | None:
        """Return the numbers of those that it could not confirm; None where it did not answer for all."""
        if self._broken:
            return None
        try:
            said, _nothing = self._process.communicate()
        except OSError:
            return None
        if self._process.returncode != 0 or _ANSWER.fullmatch(said) is None:
            return None
        done, *wrong = map(int, said.split())
        rising = all(one < next_one for one, next_one in pairwise([-1, *wrong, self._given]))
        return wrong if done == self._given and rising else None

    def end(self) -> None:
        """Stop it, whatever it does."""
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        self._process.wait()


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count() or 1


def _work(given: BinaryIO) -> Iterable[int]:
    """Return how many records were given, and the number of each whose signature is not its key's."""
    count, wrong = 0, []
    while head := given.read(_RECORD.size):
        key, signature, length = _RECORD.unpack(head)
        try:
            PublicKey(key).verify(given.read(length), signature)
        except SignatureInvalid:
            wrong.append(count)
        count += 1
    return [count, *wrong]


def answer_all() -> None:
    """Be the other process: verify what comes in, and answer."""
    sys.stdout.write("".join(f"{number}\n" for number in _work(sys.stdin.buffer)))
