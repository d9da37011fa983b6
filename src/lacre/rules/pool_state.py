"""A pool as the entries of its study make it: sealed, or open."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from lacre.rules.answers import Shortfall
from lacre.rules.history import Committed, Handed, PartMade, ReadMade, Rebalanced, Sealed
from lacre.rules.requests import CONTENT_CLASSES, Erratum

ANALYSED = frozenset({"reveal", "run", "gate"})
"""The purposes of reads that end in a result."""


class Reads:
    """What is known of a pool by its reads, sealed or open."""

    __slots__ = ()

    name: str
    reads: tuple[ReadMade, ...]

    def of_class(self, *classes: str) -> tuple[ReadMade, ...]:
        """The reads of the given classes; attempts to finish a read are that same read."""
        return tuple(r for r in self.reads if r.read_class in classes and r.request.finishes is None)

    def result_of(self, entry: int) -> int | None:
        """The entry of the result of the read at `entry`, whichever attempt gave it."""
        return next((r.result for r in self.reads if r.first_attempt == entry and r.result is not None), None)

    @property
    def unfinished(self) -> tuple[ReadMade, ...]:
        """The analysed reads that were spent and have no result, latest first."""
        return tuple(
            read
            for read in reversed(self.reads)
            if read.request.purpose in ANALYSED
            and read.request.finishes is None
            and self.result_of(read.entry) is None
        )


@dataclass(frozen=True, slots=True)
class PoolState(Reads):
    """All that happened to a pool.

    `replaced` are the seals that another took the place of, oldest first; `handed` the changes of recipients
    since the seal that counts; `commits` are second labels of its cases; `burned` is the entry that made it `dev`,
    if one did.
    """

    name: str
    sealed: Sealed
    reads: tuple[ReadMade, ...] = ()
    burned: int | None = None
    replaced: tuple[Sealed, ...] = ()
    handed: tuple[Handed, ...] = ()
    commits: tuple[Committed, ...] = ()

    @property
    def since(self) -> int:
        """The entry of the seal that counts."""
        return self.sealed.entry

    @property
    def declared_by(self) -> str:
        """The hash of the protocol that it was sealed under."""
        return self.sealed.request.protocol

    @property
    def fingerprints(self) -> str:
        """The digest of its cases' fingerprints."""
        return self.sealed.request.fingerprints

    @property
    def remembered(self) -> int:
        """How many of its cases this machine had met in other ledgers when it was sealed."""
        return self.sealed.facts.remembered

    @property
    def shortfall(self) -> tuple[Shortfall, ...]:
        """Where it holds fewer rows than planned."""
        return self.sealed.decision.shortfall

    @property
    def recipients(self) -> tuple[str, ...]:
        """Who can open the pool, and whatever will be kept beside it, as age recipients."""
        return self.handed[-1].request.recipients if self.handed else self.sealed.request.recipients

    @property
    def wrapped_keys(self) -> Mapping[str, str]:
        """The file with the key of each ciphertext of the pool: its own, its submissions', its errata's, its relabels'.

        It is the file that came with the ciphertext, or the keyset of the pool's last handing since.
        """
        came = {self.sealed.request.ciphertext: (self.sealed.entry, self.sealed.request.wrapped_key)}
        for read in self.reads:
            for each in read.request.submissions:
                came.setdefault(each.blob, (read.entry, each.wrapped_key))
            if isinstance(read.request, Erratum):
                came.setdefault(read.request.ciphertext, (read.entry, read.request.wrapped_key))
        for made in self.commits:
            came.setdefault(made.request.blob, (made.entry, made.request.wrapped_key))
        last = self.handed[-1] if self.handed else None
        return {
            ciphertext: last.request.wrapped_key if last is not None and entry < last.entry else own
            for ciphertext, (entry, own) in came.items()
        }

    @property
    def keysets(self) -> frozenset[str]:
        """Those of the wrapped keys that are keysets, each of the whole pool as it was when it changed hands."""
        return frozenset(handed.request.wrapped_key for handed in self.handed)

    @property
    def standing(self) -> str:
        """What the pool counts as now: its role, or `dev` once sealed as such or burned."""
        return "dev" if self.burned is not None else self.sealed.decision.standing

    @property
    def unread(self) -> bool:
        """Whether its first read of class `teste` is still to be had."""
        return self.standing == "teste" and not self.of_class("teste", "dev")

    @property
    def was_read(self) -> bool:
        """Whether its content was ever read, so that its cases are exposed (rule 12)."""
        return bool(self.of_class(*CONTENT_CLASSES))

    @property
    def is_to_stay_unseen(self) -> bool:
        """Whether reading its cases elsewhere would spoil it (rule 12): it stands apart, and nobody has read it."""
        return self.standing != "dev" and not self.was_read


@dataclass(frozen=True, slots=True)
class CorpusState(Reads):
    """An open pool: its parts, in the order they were committed, and the rebalances that let it grow.

    Each rebalance begins a further version, whose parts hold the new cases and those labelled again.
    """

    name: str
    parts: tuple[PartMade, ...]
    reads: tuple[ReadMade, ...] = ()
    rebalances: tuple[Rebalanced, ...] = ()

    @property
    def version(self) -> int:
        """Which version of it is the latest, from 1."""
        return len(self.rebalances) + 1

    def of_version(self, version: int) -> tuple[PartMade, ...]:
        """The parts that were committed for a version."""
        begins = self.rebalances[version - 2].entry if version > 1 else 0
        ends = self.rebalances[version - 1].entry if version <= len(self.rebalances) else None
        return tuple(
            made for made in self.parts if begins < made.entry and (ends is None or made.entry < ends)
        )

    def version_of(self, parts: Collection[int]) -> int:
        """The version that a read of the parts at these entries was of."""
        return 1 + sum(rebalance.entry < max(parts) for rebalance in self.rebalances)

    @property
    def cases(self) -> PartMade:
        """The part with its cases, of the latest version that has one."""
        return next(made for made in reversed(self.parts) if made.request.part == "cases")

    @property
    def since(self) -> int:
        """The entry that first committed to its cases."""
        return self.parts[0].entry

    @property
    def declared_by(self) -> str:
        """The hash of the protocol that its cases were first committed under."""
        return self.parts[0].request.protocol

    @property
    def fingerprints(self) -> str:
        """The digest of its cases' fingerprints."""
        return self.cases.request.fingerprints or ""

    @property
    def remembered(self) -> int:
        """How many of its cases this machine had met in other ledgers when they were committed."""
        return self.cases.facts.remembered

    @property
    def shortfall(self) -> tuple[Shortfall, ...]:
        """Where it holds fewer rows than planned."""
        return self.cases.decision.shortfall

    @property
    def standing(self) -> str:
        """What it counts as: nothing is ever made of it."""
        return "corpus"

    @property
    def was_read(self) -> bool:
        """Its cases are in the open, so they are exposed from the beginning (rule 12)."""
        return True

    @property
    def is_to_stay_unseen(self) -> bool:
        """Nothing of it is."""
        return False

    @property
    def entries(self) -> tuple[int, ...]:
        """The entries of its parts, of all versions."""
        return tuple(made.entry for made in self.parts)

    def part(self, name: str) -> PartMade | None:
        """The part of a name in the latest version, once it is committed."""
        return next((made for made in self.of_version(self.version) if made.request.part == name), None)
