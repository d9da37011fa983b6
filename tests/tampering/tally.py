"""What was tried, and what came of it: found, refused by the database itself, or no change of the history."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

from lacre.audit.findings import Finding, Warned
from lacre.errors import LacreError


class Report(Protocol):
    """What an audit and a check of a bundle have in common."""

    @property
    def findings(self) -> Sequence[Finding]: ...
    @property
    def warnings(self) -> Sequence[Warned]: ...


class Tally:
    """Counts changes, and keeps those that nothing was found of, or not where it should be."""

    def __init__(self) -> None:
        self.tried = self.refused = self.same = 0
        self.slipped: list[str] = []

    def counts(self) -> dict[str, int]:
        """The numbers, by what they are of."""
        return {
            "tampering changes tried and found": self.tried - len(self.slipped),
            "tampering changes that the database itself refuses": self.refused,
            "tampering changes that leave the history the same": self.same,
        }

    def judge(
        self,
        what: str,
        audit: Callable[[], Any],
        *,
        entries: Collection[int | None] = (),
        codes: Collection[str] = (),
        refusal: type[LacreError] | None = None,
    ) -> Any:
        """Count a change; it must be found, at one of `entries` and as one of `codes` if any are named.

        A `refusal` may stand for a finding, where there is nothing that could be audited.
        """
        self.tried += 1
        try:
            report: Report = audit()
        except Exception as error:  # noqa: BLE001 - whatever it is, an audit does not end in it
            if refusal is not None and isinstance(error, refusal):
                return None
            self.slipped.append(f"{what}: {type(error).__name__}: {error}")
            return None
        found = {(each.code, each.entry) for each in report.findings}
        worded = all(each.message for each in (*report.findings, *report.warnings))
        named = not entries or any(entry in entries for _code, entry in found)
        coded = not codes or any(code in codes for code, _entry in found)
        if not (found and worded and named and coded):
            told = sorted(found, key=str)[:5]
            self.slipped.append(
                f"{what}: {told} of {len(found)}, expected {sorted(codes)} at {sorted(map(str, entries))}"
            )
        return report

    def refuse(self) -> None:
        """Count a change that the database does not take, so that nobody can have made it there."""
        self.refused += 1

    def unchanged(self, what: str, report: Report, before: Report) -> None:
        """Count a change after which the history is the same: its audit must say the very same of it."""
        self.same += 1
        same = getattr(report, "root", None) == getattr(before, "root", None)
        if report.findings or not same:
            self.slipped.append(f"{what}: {[(each.code, each.entry) for each in report.findings][:5]}")
