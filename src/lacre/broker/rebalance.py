"""`rebalance`: let a corpus grow under a flagged paradox, and hand out the old cases to be labelled again."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from lacre.broker.beside import result_document
from lacre.broker.corpus import POOL, files_of, open_versions
from lacre.broker.desk import Desk, ask_beforehand, recorded, sign_request
from lacre.broker.files import check_output
from lacre.broker.groundwork import Rebalanced
from lacre.broker.handing import as_csv, delimiter_of, encoding_of, hand_out
from lacre.broker.texts import salted_words
from lacre.durable import staged
from lacre.errors import LacreError, NotWritten, RebalanceNeedsResult, RebalanceUnfinished, cells_untold
from lacre.protocol.models import Protocol
from lacre.protocol.pools import part_of
from lacre.rules.answers import Paradox, RebalanceDecision, RebalanceFacts
from lacre.rules.common import require_study
from lacre.rules.corpus import next_part
from lacre.rules.rebalance import (
    as_registered,
    drawn_again,
    flagged,
    flagging_plan,
    rebalanced_corpus,
    redrawn,
    results_of,
)
from lacre.rules.record import Result
from lacre.rules.requests import Rebalance
from lacre.rules.state import CorpusState, StudyState
from lacre.tables.parts import read_cases
from lacre.tables.versions import keys_in, standing
from lacre.text import _


def rebalance(
    desk: Desk,
    study: str,
    output: Path,
    *,
    reason: str | None = None,
    dry_run: bool = False,
    overwrite: bool = False,
) -> Rebalanced:
    """Let the corpus of a study grow, and write the old cases that are labelled again to `output` (rule 13).

    Where a version is under way, and its labels are not committed, the same cases are written again and nothing is
    put on record. A dry run writes nothing. Raises what the law refuses, and what writing does.
    """
    state = desk.view(study)
    known = require_study(state, study)
    check_output(output, desk.layout, overwrite=overwrite)
    if known.corpus is not None and _is_under_way(known, known.corpus):
        return _again(desk, known, known.corpus, output, dry_run=dry_run, overwrite=overwrite)
    corpus = rebalanced_corpus(known, POOL)
    protocol = known.in_force.protocol
    entry, analysis, paradoxes = _paradoxes(desk, known, corpus)
    cases = standing(open_versions(desk, corpus, protocol))["cases"]
    table = protocol.analyses[analysis].table
    drawn = drawn_again(protocol, analysis, cases.tables[table].keys.tolist(), corpus.version + 1)
    facts = RebalanceFacts(paradoxes=paradoxes, population=cases.tables[table].rows, drawn=len(drawn))
    text = salted_words(desk, reason, "rebalance")
    fields = {
        "study": study,
        "pool": POOL,
        "protocol": known.in_force.protocol_hash,
        "result": entry,
        "reason": text.digest if text else None,
    }
    decision = ask_beforehand(desk, state, Rebalance, facts, **fields)
    assert isinstance(decision, RebalanceDecision)
    told = _told(known, analysis, entry, facts, decision.version, output)
    if dry_run:
        return told
    made, warnings = hand_out(
        desk,
        study,
        POOL,
        sign_request(desk, Rebalance, **fields),
        facts,
        output,
        lambda: _rows(desk, protocol, corpus, corpus.version, table, drawn, output),
        _unfinished,
        overwrite=overwrite,
        text=text,
    )
    return replace(told, entry=made.index, time=made.time, warnings=warnings)


def _told(
    study: StudyState, analysis: str, result: int, facts: RebalanceFacts, version: int, path: Path
) -> Rebalanced:
    """What a rebalance comes to, before it is on record."""
    return Rebalanced(
        study=study.slug,
        pool=POOL,
        analysis=analysis,
        result=result,
        version=version,
        left=(study.in_force.protocol.max_rebalances or 0) - version + 1,
        paradoxes=tuple((each.dimension, each.bin) for each in facts.paradoxes),
        population=facts.population,
        rows=facts.drawn,
        path=path,
        entry=None,
        time=None,
    )


def _is_under_way(study: StudyState, corpus: CorpusState) -> bool:
    pool = study.in_force.protocol.pools.get(corpus.name)
    return corpus.version > 1 and pool is not None and next_part(study, pool) in ("cases", "labels")


def _again(
    desk: Desk, study: StudyState, corpus: CorpusState, output: Path, *, dry_run: bool, overwrite: bool
) -> Rebalanced:
    last = corpus.rebalances[-1]
    protocol, analysis = flagging_plan(study, last)
    versions = open_versions(desk, corpus, protocol)
    ((table, drawn),) = redrawn(
        study, corpus, corpus.version, keys_in(standing(versions[:-1])["cases"])
    ).items()
    told = _told(study, analysis, last.request.result, last.facts, corpus.version, output)
    if dry_run:
        return replace(told, again=True)
    with staged(output.absolute().parent, what=output.name) as file:
        for piece in _rows(desk, protocol, corpus, corpus.version - 1, table, drawn, output):
            file.write(piece)
        if not file.keep(output.name, replace=overwrite):
            raise NotWritten(path=str(output), why=_("a file came there meanwhile"))
    return replace(told, entry=last.entry, time=last.time, again=True)


def _paradoxes(desk: Desk, study: StudyState, corpus: CorpusState) -> tuple[int, str, tuple[Paradox, ...]]:
    """The latest result of the version that flags a paradox, or the latest at all: its entry, analysis, paradoxes.

    Under the plan of the labels, where there is one.
    """
    latest: tuple[int, str, tuple[Paradox, ...]] | None = None
    with desk.snapshot() as reader:
        reads = results_of(corpus, corpus.version)
        for read in sorted(reads, key=lambda read: (as_registered(read), read.entry), reverse=True):
            assert read.result is not None
            content = recorded(reader, read.result).content
            assert isinstance(content, Result)
            found = flagged(result_document(reader, content.result))
            paradoxes = tuple(Paradox(dimension=dimension, bin=name) for _id, dimension, name in found)
            if paradoxes and (latest is None or as_registered(read)):
                return read.result, read.request.analyses[0], paradoxes
            latest = latest or (read.result, read.request.analyses[0], ())
    if latest is None:
        raise RebalanceNeedsResult(study=study.slug, version=corpus.version)
    return latest


@cells_untold
def _rows(
    desk: Desk,
    protocol: Protocol,
    corpus: CorpusState,
    version: int,
    name: str,
    drawn: frozenset[str],
    output: Path,
) -> Iterator[bytes]:
    """Yield the drawn cases of a version as they were committed: no label and no score, but empty cells for labels."""
    declared = protocol.tables[name]
    names = [n for n, c in declared.columns.items() if part_of(c) == "cases" and not declared.derived(n)]
    blank = [n for n, c in declared.columns.items() if part_of(c) == "labels" and not declared.derived(n)]
    (made,) = (each for each in corpus.of_version(version) if each.request.part == "cases")
    files = [file for file in files_of(desk, corpus, made) if file.table == name]
    table = read_cases(protocol, name, files)
    rows = [row for row, key in enumerate(table.keys.tolist()) if key in drawn]
    nothing = np.full(table.rows, None, object)
    cells = [*(table.texts[each] for each in names), *(nothing for _each in blank)]
    encoding = encoding_of(declared, [file.format.value for file in files])
    yield from as_csv([*names, *blank], cells, rows, delimiter_of(output, declared), encoding)


def _unfinished(entry: int, why: str, way_out: str) -> LacreError:
    return RebalanceUnfinished(entry=entry, why=why, next=way_out)
