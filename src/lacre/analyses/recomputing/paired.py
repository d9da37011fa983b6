"""Rows of the table "paired" computed again: from the counts of pairs, as `lacre.analyses.pairing` compares them."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from lacre.analyses.pairing import P_VALUES, POWER_AT, SIGN_FLIPS, Asked, Compared, adjusted
from lacre.analyses.reasons import Reason
from lacre.analyses.recomputing.tally import Tally
from lacre.analyses.told import CodeTold, Told
from lacre.stats.clusters import MIN_CLUSTERS
from lacre.stats.paired import EXACT, mcnemar
from lacre.stats.paired_intervals import tango
from lacre.stats.paired_power import conditional_power, discordant_needed
from lacre.text import _

MOST = 2**53

needed_at = lru_cache(256)(discordant_needed)
"""Rows of one family ask it again and again."""


class PairTold(Told):
    """A comparison of two outcomes of the same items."""

    pairs: int
    clusters: int | None
    both: int
    first_only: int
    second_only: int
    neither: int
    blank: int
    difference: float | None
    low: float | None
    high: float | None
    confidence: float
    simultaneous: int
    method: str | None
    test: str
    p: float | None
    p_adjusted: float | None
    p_exact: float | None
    p_mid: float | None
    p_asymptotic: float | None
    p_continuity: float | None
    moved: int
    power: float | None
    power_at: float
    needed: int
    note: CodeTold | None

    @property
    def discordant(self) -> int:
        """Pairs that differ."""
        return self.first_only + self.second_only

    @property
    def fits(self) -> bool:
        """Whether the counts are those of pairs."""
        parts = (self.both, self.first_only, self.second_only, self.neither)
        if min(*parts, self.blank, self.moved) < 0 or sum(parts) != self.pairs or self.pairs > MOST:
            return False
        clusters = self.clusters is None or min(1, self.pairs) <= self.clusters <= self.pairs
        p = [self.p, self.p_adjusted, self.power]
        return clusters and self.blank <= self.pairs and all(each is None or 0 <= each <= 1 for each in p)


def told_pair(what: str, row: Mapping[str, Any], tally: Tally) -> PairTold | None:
    """Return a row typed; None, which is a difference, where it is none."""
    try:
        told = PairTold.model_validate(dict(row))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        tally.differs(".".join((what, *map(str, first["loc"]))), first["type"], "-")
        return None
    return told if tally.fits(what, told.pairs, _("counts of pairs"), fits=told.fits) else None


class PairAgain:
    """One row: what it tells, how it was asked for, and what follows.

    `sign` is -1 where the difference is the second's share less the first's. `obstacle` is why the design allows
    no interval at all, None where it does. `clustered` tells whether pairs are in a declared cluster.
    """

    def __init__(
        self,
        what: str,
        told: PairTold,
        asked: Asked,
        tally: Tally,
        *,
        clustered: bool,
        sign: int,
        obstacle: str | None,
    ) -> None:
        self.what = what
        self.told = told
        self.asked = asked
        self.tally = tally
        self.clustered = clustered
        self.sign = sign
        self.obstacle = obstacle
        self.several = told.clusters is not None and told.clusters < told.pairs
        self.known = told.pairs > 0 and not (self.several and (told.clusters or 0) < MIN_CLUSTERS)

    def holds(self, name: str, expected: object) -> bool:
        """Hold one field."""
        return self.tally.holds(f"{self.what}.{name}", getattr(self.told, name), expected)

    def go(self) -> Compared:
        """Hold the row; return the comparison it tells."""
        told, asked, several = self.told, self.asked, self.several
        test = SIGN_FLIPS if several else asked.test
        fair = self.tally.fits(f"{self.what}.clusters", told.clusters, _("clusters as declared"),
                               fits=(told.clusters is not None) == self.clustered)  # fmt: skip
        difference = (
            self.sign * (told.first_only - told.second_only) / told.pairs + 0.0 if told.pairs else None
        )
        fair &= self.holds("difference", difference)
        fair &= self.holds("confidence", asked.confidence)
        fair &= self.holds("simultaneous", asked.family)
        fair &= self.holds("test", test)
        fair &= self.holds("power_at", POWER_AT)
        fair &= self.holds("needed", needed_at(asked.level, EXACT if several else asked.test))
        fair &= self._tests()
        fair &= self._moved()
        self.tally.estimates += fair
        reason = self._note()
        self._interval()
        return Compared(
            asked=asked, pairs=told.pairs, clusters=told.clusters, both=told.both, first_only=told.first_only,
            second_only=told.second_only, neither=told.neither, blank=told.blank, difference=difference,
            low=told.low, high=told.high, obstacle=reason, method=told.method, test=test, p=told.p,
            moved=told.moved, power=told.power, needed=told.needed, p_adjusted=told.p_adjusted,
        )  # fmt: skip

    def _tests(self) -> bool:
        """Every test of McNemar's beside the one that was registered, where pairs are independent."""
        told, fair = self.told, True
        for name, test in P_VALUES.items():
            p = None
            if told.pairs and not self.several:
                p = float(mcnemar(told.first_only, told.second_only, test).p)
            fair &= self.holds(name, p)
        return fair

    def _moved(self) -> bool:
        """What speaks for a side: discordant pairs or, where clusters hold several, clusters; and its power."""
        told, level = self.told, self.asked.level
        if not told.pairs:
            return self.holds("moved", 0) & self.holds("power", None)
        test = EXACT if self.several else self.asked.test
        power = float(conditional_power(told.moved, POWER_AT, level, test))
        if not self.several:
            return self.holds("moved", told.discordant) & self.holds("power", power)
        most = min(told.clusters or 0, told.discordant)
        least = 1 if told.first_only != told.second_only else 0
        fits = least <= told.moved <= most
        return self.holds("power", power) & self.tally.fits(
            f"{self.what}.moved", told.moved, f"{least} - {most}", fits=fits
        )

    def _note(self) -> Reason | None:
        """Return why there is no interval, which follows from the design and the numbers of pairs and clusters."""
        told, expected = self.told, None
        code = None if told.note is None else told.note.code
        if self.obstacle is not None:
            expected = self.obstacle
        elif not told.pairs:
            expected = "no-pairs"
        elif not self.known:
            expected = "too-few-clusters"
        noted = expected or (None if told.discordant else "no-discordant-pairs")
        weights = expected == "weighted-sample" and code == "weighted-sample"
        self.tally.holds(f"{self.what}.note", code, noted)
        if told.note is not None and not weights:
            fields = {"least": MIN_CLUSTERS} if noted == "too-few-clusters" else {}
            self.tally.same_fields(f"{self.what}.note", told.note.fields, fields)
        return None if expected is None or told.note is None else told.note.reason

    def _interval(self) -> None:
        """The interval and p: Tango's and the registered test's of independent pairs, each with an outcome."""
        told, asked = self.told, self.asked
        method = None
        if self.known:
            method = "Tango"
            if self.several:
                method = f"cluster bootstrap, percentile, {asked.drawn} resamples, seed {asked.seed}"
        fair = self.holds("method", method)
        if self.obstacle is not None or not told.pairs:
            for name in ("low", "high", "p"):
                fair &= self.holds(name, None)
            self.tally.bounds += fair
            return
        if not self.known:
            self.holds("low", None)
            self.holds("high", None)
        if self.several:
            self.tally.beyond += 1
            self.tally.fits(f"{self.what}.p", told.p, "a p value", fits=told.p is not None)
            if self.known:
                self._holds_value()
            return
        ends = tango(told.first_only, told.second_only, told.pairs, asked.level)
        low, high = sorted((self.sign * float(ends.low) + 0.0, self.sign * float(ends.high) + 0.0))
        p = float(mcnemar(told.first_only, told.second_only, asked.test).p)
        if not told.blank:
            fair &= self.holds("low", low) & self.holds("high", high) & self.holds("p", p)
            self.tally.bounds += fair
            return
        self.tally.beyond += 1
        wide = (
            told.low is not None
            and told.high is not None
            and told.low <= low + 1e-9
            and high <= told.high + 1e-9
        )
        self.tally.fits(
            self.what, f"[{told.low}, {told.high}]", f"no narrower than [{low}, {high}]", fits=wide
        )
        self.tally.fits(f"{self.what}.p", told.p, f">= {p}", fits=told.p is not None and told.p >= p - 1e-12)
        self._holds_value()

    def _holds_value(self) -> None:
        told = self.told
        low, high = told.low, told.high
        fits = low is not None and high is not None and -1 <= low <= high <= 1
        self.tally.fits(self.what, f"[{low}, {high}]", _("an interval of differences"), fits=fits)


def check_adjusted(name: str, rows: Sequence[tuple[str, Compared]], tally: Tally) -> None:
    """Hold the p values that are adjusted over a family against those that are not."""
    found = adjusted([each for _what, each in rows])
    for (what, told), again in zip(rows, found, strict=True):
        expected = again.p_adjusted if told.p is not None else None
        tally.holds(f"{name}.{what}.p_adjusted", told.p_adjusted, expected)
