"""A corpus that grew under a paradox: which old cases are labelled again, and what every version's number is (rule 13).

All of it follows from the committed files and the results on record, so that anybody can find it again.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from lacre.analyses.given import Given
from lacre.analyses.judge_agreement import TABLE
from lacre.analyses.judge_cases import Judged, prepare
from lacre.protocol.kinds.judge_agreement import JudgeAgreementPlan
from lacre.protocol.models import Protocol
from lacre.rules.rebalance import results_of
from lacre.rules.state import CorpusState
from lacre.stats import agreement
from lacre.stats.draws import share
from lacre.tables.columns import TypedTable
from lacre.tables.exclude import apply_exclusions
from lacre.tables.parts import PartCounts, PartRead, count_part, join_parts
from lacre.tables.versions import Drawn, GrownCounts, Version, asked_of, count_cases, count_of_drawn, standing

SHARE = Fraction(1, 10)
"""The share of the old cases that is labelled again, rounded up to a whole case: that of agreement with oneself."""

_NUMBERS = ("n", "agree", "raw", "raw_low", "raw_high", "kappa", "kappa_low", "kappa_high", "paradox")


class Earlier(NamedTuple):
    """The first result of an analysis on an earlier version: the version, the result's entry and document."""

    version: int
    result: int
    document: Mapping[str, Any]


def told_of_versions(
    protocol: Protocol,
    corpus: CorpusState,
    analysis: str,
    flagging: str,
    versions: Sequence[Version],
    document_at: Callable[[int], Mapping[str, Any]],
) -> dict[str, Any]:
    """Return what stands in a result on the last of `versions`, of `analysis`, about those before it.

    `flagging` is the analysis whose paradox let the corpus grow; `document_at` gives the document of the result at an
    entry.
    """
    before = standing(versions[:-1])
    number = len(versions)
    drawn = draw_again(protocol, flagging, before["cases"], number)
    earlier = earlier_results(corpus, analysis, number, document_at)
    now = join_parts(standing(versions))
    return {"corpus": versions_json(protocol, analysis, join_parts(before), now, drawn, number, earlier)}


def earlier_results(
    corpus: CorpusState, analysis: str, number: int, document_at: Callable[[int], Mapping[str, Any]]
) -> list[Earlier]:
    """Return the first result of an analysis on each version before `number`; none of one it was not run on."""
    found = []
    for version in range(1, number):
        entry = next(
            (read.result for read in results_of(corpus, version) if read.request.analyses == (analysis,)),
            None,
        )
        if entry is not None:
            found.append(Earlier(version, entry, document_at(entry)))
    return found


def flagged(document: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the paradoxes of pooled kappas that a result flags: analysis, dimension, and the bin that holds most."""
    return [
        (analysis["id"], row["dimension"], row["paradox"]["bin"])
        for analysis in document["analyses"]
        for row in analysis.get("tables", {}).get(TABLE, ())
        if row["paradox"] is not None and not row["group"]
    ]


def draw_again(protocol: Protocol, analysis: str, cases: PartRead, version: int) -> dict[str, frozenset[str]]:
    """Return the keys of the cases that are labelled again for `version`, drawn from the version before it.

    The draw is `lacre.stats.draws.share` under the analysis's seed plus the version's number, so that each version
    draws anew.
    """
    plan = protocol.analyses[analysis]
    assert isinstance(plan, JudgeAgreementPlan), "no other kind flags a paradox"
    keys = cases.tables[plan.table].keys.tolist()
    drawn = share(keys, SHARE, plan.bootstrap.seed + version)
    return {plan.table: frozenset(keys[row] for row in drawn.drawn.tolist())}


def count_version(
    protocol: Protocol, analysis: str, part: str, read: PartRead, versions: Sequence[Version], since: str
) -> tuple[PartCounts, GrownCounts]:
    """Count what the law asks of a part of a later version: `versions` are those so far, the last one this one's.

    `analysis` flagged the paradox, and `since` is when the corpus was let grow: labels are written after it.
    """
    *earlier, own = versions
    before = standing(earlier)["cases"]
    if part == "cases":
        return count_part(protocol, part, read, {}, since), count_cases(read, before)
    drawn = draw_again(protocol, analysis, before, len(versions))
    asked: dict[str, PartRead] = {**own, "cases": asked_of(own["cases"], before, drawn)}
    counts, grown = count_part(protocol, part, read, asked, since), count_of_drawn(read, before, drawn)
    return replace(counts, foreign=counts.foreign - grown.undrawn), grown


def versions_json(
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
    cases that were labelled again in between.
    """
    plan = protocol.analyses[analysis]
    assert isinstance(plan, JudgeAgreementPlan), "no other kind flags a paradox"
    kept = [_kept(plan, protocol, tables, drawn.get(plan.table, frozenset())) for tables in (before, now)]
    return {
        "version": version,
        "earlier": [_earlier(each, analysis) for each in earlier],
        "changes": [_change(old, new) for old, new in zip(*kept, strict=True)],
    }


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
    rows = [row for row in found["tables"][TABLE] if not row["group"]]
    return {
        "version": each.version,
        "result": each.result,
        "state": found["state"],
        "numbers": [
            {"dimension": row["dimension"], **{name: row[name] for name in _NUMBERS}} for row in rows
        ],
    }


def _change(old: _Kept, new: _Kept) -> dict[str, Any]:
    """Return a dimension's cells before and after, and how cases labelled again moved into agreement, or out of it."""
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
