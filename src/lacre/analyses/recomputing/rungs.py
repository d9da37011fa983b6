"""The rungs of a ladder rebuilt from the tables that a result tells: counts, rates and obstacles of each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import ValidationError

from lacre.analyses.comparisons import RATES
from lacre.analyses.estimate import Group
from lacre.analyses.ladder import Rung, planned
from lacre.analyses.reasons import Reason
from lacre.analyses.recomputing.base import Again
from lacre.analyses.recomputing.counted import NOTHING, GroupTold, Which, counts_of, rates_of
from lacre.analyses.told import Key
from lacre.protocol.kinds.verification import VerificationPlan
from lacre.text import _

OBSTACLES = ("cohort-overlaps", "cohort-missing", "cohort-degenerate")


class Rungs(Again[VerificationPlan]):
    """Comparisons by group, on every rung that the read computed."""

    rung: str | None = None
    """The mitigation of training that the read asked for."""

    @property
    def ids(self) -> list[str]:
        """The rungs that the read computed, in order."""
        return ["" if each is None else each.id for each in planned(self.plan, self.rung)]

    @property
    def cells(self) -> list[Group]:
        """Everybody, then each group."""
        return [(), *self.groups([self.plan.group])]

    def details(self, rung: str, **more: str | float) -> frozenset[tuple[str, str | int | float]]:
        """Return a rung's details with more of one number's own."""
        return frozenset({**({"rung": rung} if rung else {}), **more}.items())

    def beside(self, document: Mapping[str, Any]) -> None:
        """Take the rung that the read asked for, and the thresholds, by name and system."""
        rung, stated = document.get("rung"), document.get("thresholds")
        if rung is not None and not self.tally.fits("rung", rung, ", ".join(self.plan.training()),
                                                    fits=rung in self.plan.training()):  # fmt: skip
            rung = None
        self.rung = rung
        self.thresholds: dict[tuple[str, str], object] = {}
        for each in stated if isinstance(stated, list) else []:
            if isinstance(each, dict):
                systems = self.systems if each.get("system") is None else (str(each.get("system")),)
                for system in systems:
                    self.thresholds[str(each.get("name")), system] = each.get("value")

    # --- the rungs as they are told

    def go(self) -> None:
        """Rebuild the rungs from what is told, then hold all of it."""
        self.lines: dict[tuple[Which, frozenset[tuple[str, str]]], GroupTold] = {}
        self.hidden: set[Which] = set()
        self.rungs = self._rungs()
        self.built = {which: self._rung(which) for which in self.rungs}
        super().go()

    def _rungs(self) -> dict[Which, Mapping[str, Any]]:
        """Hold the table "rungs": every rung of the plan, and whether it was computed."""
        ids = [each.id for each in self.plan.mitigations] or [""]
        kinds = {each.id: each.kind for each in self.plan.mitigations}
        rows = self.told.tables.get("rungs", [])
        stated = [(row.get("system") or "", row.get("rung") or "", row.get("kind")) for row in rows]
        wanted = [(system, rung, kinds.get(rung)) for system in self.systems for rung in ids]
        if not self.tally.holds(f"{self.name}.rungs", stated, wanted):
            return {}
        named = {Which(of, rung): row for (of, rung, _kind), row in zip(wanted, rows, strict=True)}
        for which, row in named.items():
            if which.rung not in self.ids:
                self.tally.holds(
                    f"{self.name}.rungs.{which.rung}", (row.get("ran"), row.get("state")), (False, None)
                )
        return {which: row for which, row in named.items() if which.rung in self.ids}

    def obstacle(self, which: Which) -> Reason | None:
        """Return why a rung has no scores, None where it has."""
        row = self.rungs[which]
        reason = row.get("reason")
        if row.get("ran") is not True and isinstance(reason, dict):
            code, fields = reason.get("code"), reason.get("fields")
            return Reason(str(code), fields if isinstance(fields, dict) else {})
        return None

    def _rung(self, which: Which) -> Rung | None:
        """Return a rung with the counts that its lines tell; None where some are withheld or cannot be read."""
        what = ".".join(filter(None, (self.name, "groups", *which)))
        obstacle, row = self.obstacle(which), self.rungs[which]
        normalised = which.rung in {each.id for each in self.plan.normalised}
        if obstacle is not None:
            self.tally.fits(
                what, obstacle.code, _("an obstacle"), fits=normalised and obstacle.code in OBSTACLES
            )
        self.tally.holds(f"{what}.ran", row.get("ran"), obstacle is None)
        if obstacle is not None:
            lines = [self._empty(which, group) for group in self.cells]
        else:
            lines = self._lines(what, which)
        if any(each is None for each in lines):
            return None
        whole, *groups = [each for each in lines if each is not None]
        unit = None if normalised else getattr(self.table.columns[self.plan.score], "unit", None)
        return Rung(
            id=which.rung, kind=row.get("kind"), score=np.zeros(0), threshold=0.0, unit=unit,
            groups=counts_of(groups), whole=counts_of([whole]),
            by_group={rate: rates_of(groups, rate) for rate in RATES},
            everybody={rate: rates_of([whole], rate) for rate in RATES},
            obstacle=obstacle, enrolled=None,
        )  # fmt: skip

    def _empty(self, which: Which, group: Group) -> GroupTold | None:
        """Return a line of a rung without scores: its denominators are those of the estimates."""
        cases = []
        for rate in RATES:
            answer = self.answers.get(
                Key(rate, which.system, frozenset(group), None, self.details(which.rung))
            )
            if answer is None or answer.denominator is None:
                return None
            cases.append(answer.denominator)
        return NOTHING.model_copy(update={"impostor": cases[0], "genuine": cases[1]})

    def _shown(self, which: Which, group: Group) -> GroupTold | None:
        """Return a withheld line with the counts of a rate that is shown nevertheless: one label's cases may be many.

        None where these do not give the line's numbers: of everybody, and where subjects make cases worth less.
        """
        found: dict[str, int | float] = {}
        for rate, cases in (("false_match", "impostor"), ("false_non_match", "genuine")):
            key = Key(rate, which.system, frozenset(group), None, self.details(which.rung))
            answer = self.answers.get(key)
            if answer is not None and answer.denominator is not None:
                found |= {rate: answer.numerator or 0, cases: answer.denominator}
                found[f"{rate}_size"] = float(answer.denominator)
        line = NOTHING.model_copy(update=found)
        return line if group and line.fits and not (found and self.table.cluster) else None

    def _lines(self, what: str, which: Which) -> list[GroupTold | None]:
        rows = {name: self.of_rung(name, which) for name in ("groups", "operating", "det")}
        wanted = [dict(group) for group in self.cells]
        lines: list[GroupTold | None] = []
        for name, each in rows.items():
            self.tally.holds(f"{what}.{name}", [row.get("group") for row in each], wanted)
        for row, group in zip(rows["groups"], self.cells, strict=False):
            called = f"{what}.{'.'.join(value for _name, value in group)}"
            if row.get("withheld") is True:
                self.hidden.add(which)
                self.tally.withheld += 1
                self.tally.fits(called, "withheld", "counts", fits=self.least is not None)
                lines.append(self._shown(which, group))
                continue
            line = self._line(called, row)
            lines.append(line)
            if line is not None:
                self.lines[which, frozenset(group)] = line
        if which not in self.hidden:
            self._totals(what, lines)
        self._operating(what, which, rows["operating"])
        return lines if len(lines) == len(wanted) else [None]

    def of_rung(self, name: str, which: Which) -> list[Mapping[str, Any]]:
        """Return a table's lines of one rung; a bare line has no rung, and goes by its place."""
        rows = self.told.tables.get(name, [])
        own = [row for row in rows if (row.get("system") or "") == which.system]
        ran = [
            each.rung for each in self.rungs if each.system == which.system and self.obstacle(each) is None
        ]
        per = len(own) // max(1, len(ran))
        start = ran.index(which.rung) * per if which.rung in ran else 0
        found = own[start : start + per]
        for row in found:
            if row.get("withheld") is not True:
                self.tally.holds(f"{self.name}.{name}.rung", row.get("rung") or "", which.rung)
        return list(found)

    def _line(self, what: str, row: Mapping[str, Any]) -> GroupTold | None:
        try:
            told = GroupTold.model_validate(dict(row))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            self.tally.differs(f"{what}.{first['loc'][0]}", first["type"], "-")
            return None
        self.tally.holds(
            f"{what}.abstained", told.abstained, told.abstained_impostor + told.abstained_genuine
        )
        for rate, cases in (("false_match", told.impostor), ("false_non_match", told.genuine)):
            size, units = getattr(told, f"{rate}_size"), getattr(told, f"{rate}_subjects")
            if self.table.cluster:
                fits = units is not None and 0 <= units <= 2 * cases
                self.tally.fits(f"{what}.{rate}_subjects", units, "subjects", fits=fits)
                self.tally.beyond += 1
                continue
            self.tally.holds(f"{what}.{rate}_subjects", units, None)
            self.tally.holds(f"{what}.{rate}_size", size, float(cases))
            self.tally.holds(f"{what}.{rate}_dense", getattr(told, f"{rate}_dense"), False)
        return (
            told if self.tally.fits(what, told.counts, _("counts of comparisons"), fits=told.fits) else None
        )

    def _totals(self, what: str, lines: Sequence[GroupTold | None]) -> None:
        """Groups are of everybody: what is left out for want of a group is missing."""
        if not lines or any(each is None for each in lines):
            return
        whole, *groups = [each for each in lines if each is not None]
        gone = [n - sum(each.counts[at] for each in groups) for at, n in enumerate(whole.counts)]
        out = sum(each.count for each in self.told.left_out
                  if each.column == self.plan.group and each.reason != "excluded")  # fmt: skip
        cases = gone[1] + gone[3] + gone[4] + gone[5]
        fits = all(each >= 0 for each in gone) and gone[0] <= gone[1] and gone[2] <= gone[3]
        self.tally.fits(what, gone, f"{out} in no group", fits=fits and cases == out)

    def _operating(self, what: str, which: Which, rows: Sequence[Mapping[str, Any]]) -> None:
        for row, group in zip(rows, self.cells, strict=False):
            line = self.lines.get((which, frozenset(group)))
            if line is None:
                continue
            for name, events, cases in (
                ("fmr", line.false_match, line.impostor),
                ("fnmr", line.false_non_match, line.genuine),
            ):
                expected = events / cases if cases else None
                self.tally.holds(f"{what}.operating.{name}", row.get(name), expected)
            own = next((each.threshold for each in self.plan.mitigations if each.id == which.rung), None)
            value = self.thresholds.get((own or self.plan.threshold, which.system))
            if isinstance(value, float | int):
                self.tally.holds(f"{what}.operating.threshold", row.get("threshold"), value)
