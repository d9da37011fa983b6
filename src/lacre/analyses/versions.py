"""A corpus that grew under a paradox: which old cases are labelled again, and what every version's number is (rule 13).

All of it follows from the committed files and the results on record, so that anybody can find it again.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lacre.analyses.disclosure import min_count
from lacre.analyses.given import Given
from lacre.analyses.judge_agreement import TABLE
from lacre.analyses.judge_cases import Judged, prepare
from lacre.analyses.reasons import Reason
from lacre.analyses.suppression import shows_few
from lacre.protocol.kinds.judge_agreement import JudgeAgreementPlan
from lacre.protocol.models import Protocol
from lacre.rules.rebalance import as_registered, redrawn, results_of
from lacre.rules.state import CorpusState, StudyState
from lacre.stats import agreement
from lacre.tables.columns import TypedTable
from lacre.tables.exclude import apply_exclusions
from lacre.tables.parts import join_parts
from lacre.tables.versions import Drawn, Version, keys_in, standing

_NUMBERS = ("n", "agree", "raw", "raw_low", "raw_high", "kappa", "kappa_low", "kappa_high", "paradox")


class Earlier(NamedTuple):
    """The first result of an analysis on an earlier version: the version, the result's entry and document."""

    version: int
    result: int
    document: Mapping[str, Any]


def told_of_versions(
    study: StudyState,
    protocol: Protocol,
    analysis: str,
    versions: Sequence[Version],
    document_at: Callable[[int], Mapping[str, Any]],
) -> dict[str, Any]:
    """Return what stands in a result on the last of `versions`, of `analysis`, about those before it.

    `document_at` gives the document of the result at an entry.
    """
    corpus = study.corpus
    assert corpus is not None, "its versions are given"
    before = standing(versions[:-1])
    number = len(versions)
    drawn = redrawn(study, corpus, number, keys_in(before["cases"]))
    earlier = _earlier_results(corpus, analysis, number, document_at)
    now = join_parts(standing(versions))
    return {"corpus": _versions_json(protocol, analysis, join_parts(before), now, drawn, number, earlier)}


def _earlier_results(
    corpus: CorpusState, analysis: str, number: int, document_at: Callable[[int], Mapping[str, Any]]
) -> list[Earlier]:
    """Return the first result of an analysis on each version before `number`; none of one it was not run on.

    That is the first under the plan of the labels, where there is one: no plan amended for a while stands for it.
    """
    found = []
    for version in range(1, number):
        reads = [read for read in results_of(corpus, version) if read.request.analyses == (analysis,)]
        first = min(reads, key=lambda read: (not as_registered(read), read.result or 0), default=None)
        if first is not None and first.result is not None:
            found.append(Earlier(version, first.result, document_at(first.result)))
    return found


def _versions_json(
    protocol: Protocol,
    analysis: str,
    before: Mapping[str, TypedTable],
    now: Mapping[str, TypedTable],
    drawn: Drawn,
    version: int,
    earlier: Sequence[Earlier],
) -> dict[str, Any]:
    """Return what a result on a later version says of the others: their numbers, and the changes since the last.

    `before` and `now` are the tables of the version before and of this one, labels and scores joined; `drawn` are the
    cases that were labelled again in between. Cells are a judge's: other kinds tell their states alone.
    """
    plan = protocol.analyses[analysis]
    told = {"version": version, "earlier": [_earlier(each, analysis) for each in earlier]}
    if not isinstance(plan, JudgeAgreementPlan):
        return {**told, "changes": []}
    kept = [_kept(plan, protocol, tables, drawn.get(plan.table, frozenset())) for tables in (before, now)]
    least = min_count(protocol, plan.pool)
    return {**told, "changes": [_change(old, new, least) for old, new in zip(*kept, strict=True)]}


class _Kept(NamedTuple):
    """A dimension in one version: its table of bins, and the two bins of each case that was drawn, by key."""

    judged: Judged
    counts: agreement.Ints
    drawn: Mapping[str, tuple[int, int]]


def _kept(
    plan: JudgeAgreementPlan, protocol: Protocol, tables: Mapping[str, TypedTable], drawn: frozenset[str]
) -> list[_Kept]:
    system = next(iter(plan.systems or protocol.systems))
    given = Given(protocol, {(system, name): table for name, table in tables.items()})
    table = tables[plan.table]
    keys = table.keys[apply_exclusions(table, protocol.tables[plan.table].exclude).kept].tolist()
    found = []
    for each in prepare(plan, given, system).dimensions:
        human, judge = each.human.codes, each.judge.codes
        counts = agreement.cross(human[each.kept], judge[each.kept], len(each.bins)).table
        rows = [row for row in np.flatnonzero(each.kept).tolist() if keys[row] in drawn]
        found.append(_Kept(each, counts, {keys[row]: (int(human[row]), int(judge[row])) for row in rows}))
    return found


def _earlier(each: Earlier, analysis: str) -> dict[str, Any]:
    (found,) = (one for one in each.document["analyses"] if one["id"] == analysis)
    rows = [
        row for row in found.get("tables", {}).get(TABLE, ()) if not row["group"] and not row.get("withheld")
    ]
    return {
        "version": each.version,
        "result": each.result,
        "state": found["state"],
        "numbers": [
            {"dimension": row["dimension"], **{name: row[name] for name in _NUMBERS}} for row in rows
        ],
    }


def _change(old: _Kept, new: _Kept, least: int | None) -> dict[str, Any]:
    """Return a dimension's cells before and after, and how cases labelled again moved into agreement, or out of it.

    None of it is told where one of the two tables has a margin under `least`.
    """
    if least is not None and any(shows_few(each.counts, least) for each in (old, new)):
        note = Reason("withheld", {"min_count": least})
        return {"dimension": new.judged.name, "note": note.as_json()}
    both = [(old.drawn[key], new.drawn[key]) for key in old.drawn if key in new.drawn]
    agreed = Counter((a[0] == a[1], b[0] == b[1]) for a, b in both)
    moved = {
        f"{was}_{now}": agreed[was == "agreed", now == "agrees"]
        for was in ("agreed", "differed")
        for now in ("agrees", "differs")
    }
    return {
        "dimension": new.judged.name,
        "bins": list(new.judged.bins),
        "before": old.counts.tolist(),
        "after": new.counts.tolist(),
        "relabelled": len(both),
        "labels_changed": sum(a[0] != b[0] for a, b in both),
        "scores_changed": sum(a[1] != b[1] for a, b in both),
        **moved,
    }
