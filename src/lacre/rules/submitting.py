"""What systems submit for a read: rule 5."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lacre.errors import SubmittedTablesDiffer, SystemsDiffer
from lacre.protocol.models import Protocol
from lacre.rules.requests import Read
from lacre.rules.systems import systems_analysed
from lacre.rules.thresholds import basis_of, systems_of_threshold
from lacre.text import _


@dataclass(frozen=True, slots=True)
class Wanted:
    """The systems that submit, in declared order, and the tables that each does; both empty where nobody need."""

    systems: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()


def wanted(protocol: Protocol, request: Read) -> Wanted:
    """What a read needs submitted."""
    if request.purpose == "calibrate":
        return wanted_for_thresholds(protocol, request.thresholds or ())
    return wanted_for_analyses(protocol, request.analyses, request.rung)


def wanted_for_analyses(protocol: Protocol, analyses: Iterable[str], rung: str | None = None) -> Wanted:
    """What analyses need submitted: each table of which they use a column that comes from the submission.

    Of a mitigation by training only the analysis's own table is.
    """
    plans = [protocol.analyses[name] for name in analyses]
    systems = {system for plan in plans for system in systems_analysed(protocol, plan)}
    reads = [{plan.table: plan.columns()} if rung is not None else plan.reads() for plan in plans]
    return _of(protocol, systems, reads)


def wanted_for_thresholds(protocol: Protocol, names: Iterable[str]) -> Wanted:
    """What a calibration needs submitted: the scores, and those of the cohort they are normalised by."""
    systems: set[str] = set()
    reads: list[Mapping[str, Iterable[str]]] = []
    for name in names:
        systems |= set(systems_of_threshold(protocol, name))
        basis = basis_of(protocol, name)
        if basis is not None:
            reads += [{basis.table: (basis.score,)}, basis.cohort_reads()]
    return _of(protocol, systems, reads)


def _of(protocol: Protocol, systems: set[str], reads: Sequence[Mapping[str, Iterable[str]]]) -> Wanted:
    used = {(table, column) for each in reads for table, columns in each.items() for column in columns}
    needed = {table for table, column in used if protocol.tables[table].supplied(column)}
    tables = tuple(name for name in protocol.tables if name in needed)
    return Wanted(tuple(s for s in (*protocol.systems, "") if s in systems) if tables else (), tables)


def check_submissions(protocol: Protocol, request: Read) -> None:
    """Rule 5: each system the read needs submits once, every table it needs, and nobody else does."""
    want = wanted(protocol, request)
    named = [submitted.system for submitted in request.submissions]
    if sorted(named) != sorted(want.systems):
        raise SystemsDiffer(needed=_listed(want.systems), given=_listed(named))
    for submitted in request.submissions:
        given = {record.table for record in submitted.records}
        if given != set(want.tables):
            raise SubmittedTablesDiffer(needed=", ".join(sorted(want.tables)), given=", ".join(sorted(given)))


def _listed(systems: Sequence[str]) -> str:
    return ", ".join(system or _("the one unnamed system") for system in systems) or _("none")
