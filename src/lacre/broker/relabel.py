"""Labelling again: a share of a pool's cases handed out blind, and the second labels committed."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lacre.analyses.days import days_apart, times_of
from lacre.broker import handing
from lacre.broker.desk import BLANK, Desk, ask_beforehand, put_on_record, sign_request
from lacre.broker.evidence import read_relabels, relabels_context
from lacre.broker.files import check_output, parse_given
from lacre.broker.groundwork import RelabelsHandedOut, RelabelsKept
from lacre.broker.handing import as_csv, delimiter_of, encoding_of
from lacre.broker.ingest import Raw, contents, load, records_of, unsealed
from lacre.broker.inputs import handed_out
from lacre.broker.opening import open_tables, sealed_of
from lacre.broker.register import engine
from lacre.broker.submissions import context_of
from lacre.broker.unfinished import Unfinished, not_remembered_leaves, refusal_leaves
from lacre.errors import (
    CommitUnfinished,
    InputsUnfinished,
    OneDrawAtATime,
    RelabelsForeign,
    RelabelsNotBlind,
    RelabelsOutOfPlace,
    RelabelsUndated,
    RelabelsUndeclared,
    cells_untold,
)
from lacre.pools import vault
from lacre.protocol.models import Protocol
from lacre.protocol.pools import Relabel
from lacre.protocol.tables import Table
from lacre.rules.answers import CommitFacts, ReadFacts
from lacre.rules.common import require_study
from lacre.rules.custody import grade_of
from lacre.rules.drawing import handings_of, relabel_of
from lacre.rules.reading import sealed_pool
from lacre.rules.record import Recorded
from lacre.rules.requests import Commit, Read
from lacre.rules.state import PoolState, State, StudyState
from lacre.stats.draws import Share, share
from lacre.tables.columns import UNDECLARED, Codes, Numbers, Outcomes, Times, TypedColumn, TypedTable
from lacre.tables.formulas import begins_as_formula
from lacre.text import ngettext

RELABELS = "relabels"


# --- handing out -------------------------------------------------------------------------------------------


def hand_out(
    desk: Desk, study: str, name: str, output: Path, *, overwrite: bool = False
) -> RelabelsHandedOut:
    """Write the registered share of a pool's cases to `output`: ids, inputs, and empty columns for their labels."""
    state = desk.view(study)
    known = require_study(state, study)
    protocol = known.in_force.protocol
    plan = relabel_of(protocol, name)
    pool = sealed_pool(known, plan.pool)
    check_output(output, desk.layout, overwrite=overwrite)
    vault.check_pool(desk.vault, context_of(state, study, pool), sealed_of(pool), desk.identities())
    fields = _read_fields(known, pool, name)
    ask_beforehand(desk, state, Read, ReadFacts(engine=engine()), **fields)
    signed = sign_request(desk, Read, **fields)
    declared = protocol.tables[name]
    columns = handed_out(declared)
    blank = (*plan.columns, *times_of(declared))
    drawn: list[tuple[TypedTable, Share]] = []

    def made_of() -> Iterator[bytes]:
        table = open_tables(desk, state, known, pool, content=False, keep=columns)[name]
        found = _shared(table, plan)
        drawn.append((table, found))
        formats = (each.format for each in pool.sealed.request.records if each.table == name)
        encoding = encoding_of(declared, formats)
        cells = [
            *(table.texts[each] for each in columns),
            *([np.full(table.rows, None, object)] * len(blank)),
        ]
        rows = found.drawn.tolist()
        return as_csv((*columns, *blank), cells, rows, delimiter_of(output, declared), encoding)

    made, warnings = handing.hand_out(
        desk, study, pool.name, signed, ReadFacts(engine=engine()), output, made_of,
        _handing_unfinished(pool.name), overwrite=overwrite,
    )  # fmt: skip
    ((table, share_of),) = drawn
    handed = (table.texts[each][row] for each in columns for row in share_of.drawn.tolist())
    return RelabelsHandedOut(
        study=study, name=name, pool=pool.name, entry=made.index, path=output, rows=share_of.size,
        population=share_of.population, columns=columns, again=blank,
        custody=grade_of(pool, state.recipient), warnings=warnings,
        formulas=sum(begins_as_formula(cell) for cell in handed if cell),
    )  # fmt: skip


@cells_untold
def _shared(table: TypedTable, plan: Relabel) -> Share:
    return share(table.keys.tolist(), plan.fraction, plan.seed)


def _read_fields(study: StudyState, pool: PoolState, name: str) -> dict[str, Any]:
    return {
        "purpose": "relabel",
        "study": study.slug,
        "pool": pool.name,
        "protocol": study.in_force.protocol_hash,
        "ciphertext": pool.sealed.request.ciphertext,
        "draw": name,
    }


def _handing_unfinished(pool: str) -> Unfinished:
    return lambda entry, why, way_out: InputsUnfinished(pool=pool, entry=entry, why=why, next=way_out)


# --- committing --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Given:
    """Second labels as they came, of which registered draw; `inputs` are the columns of inputs that came with them."""

    name: str
    plan: Relabel
    raws: tuple[Raw, ...]
    typed: TypedTable
    inputs: tuple[str, ...]


def commit_relabels(desk: Desk, study: str, files: Sequence[str]) -> RelabelsKept:
    """Commit to second labels, given as `[TABLE=]FILE`.

    They are of cases that were handed out, hold no first label, and were given days after. Raises
    `OneDrawAtATime`, `RelabelsOutOfPlace`, `RelabelsNotBlind`, `RelabelsUndated`, and what reading does, before
    anything is read;
    `RelabelsForeign` and `RelabelsTooSoon` after the look at the first labels, which is on record.
    """
    state = desk.view(study)
    known = require_study(state, study)
    protocol = known.in_force.protocol
    given = _given(desk, protocol, files)
    pool = sealed_pool(known, given.plan.pool)
    _require_handed_out(known, pool, given.name)
    vault.check_pool(desk.vault, context_of(state, study, pool), sealed_of(pool), desk.identities())
    fields = _read_fields(known, pool, given.name)
    ask_beforehand(desk, state, Read, ReadFacts(engine=engine()), **fields)
    unfinished = _unfinished(pool.name)
    with not_remembered_leaves(unfinished):
        looked, _warnings = put_on_record(
            desk, study, sign_request(desk, Read, **fields), ReadFacts(engine=engine())
        )
    with refusal_leaves(unfinished, looked.index, pool.name):
        first = open_tables(desk, state, known, pool, content=False, keep=given.inputs)[given.name]
        facts = _compare(protocol, given, first)
        made, warnings = _keep(desk, state, known, pool, given, looked.index, facts)
    return RelabelsKept(
        study=study, name=given.name, pool=pool.name, entry=made.index, read=looked.index, time=made.time,
        rows=facts.rows, absent=facts.absent, days_apart=facts.days_apart,
        custody=grade_of(pool, state.recipient),
        warnings=(*warnings, *_dated_ahead(protocol.tables[given.name], given.typed, made.time)),
    )  # fmt: skip


def _unfinished(pool: str) -> Unfinished:
    return lambda entry, why, way_out: CommitUnfinished(pool=pool, entry=entry, why=why, next=way_out)


@cells_untold
def _given(desk: Desk, protocol: Protocol, files: Sequence[str]) -> _Given:
    parsed = parse_given(files, tuple(protocol.relabel) or ("",))
    names = list(dict.fromkeys(each.table for each in parsed))
    if len(names) > 1:
        raise OneDrawAtATime(draws=", ".join(names))
    name = names[0] if names else ""
    plan = relabel_of(protocol, name)
    raws = load(parsed)
    typed = read_relabels(protocol, name, raws, desk.progress)
    declared = protocol.tables[name]
    inputs = {each for each, column in declared.columns.items() if "input" in column.is_}
    strange = sorted(set(typed.undeclared) - inputs)
    if strange:
        raise RelabelsNotBlind(file=raws[0].name or name, columns=", ".join(strange[:20]))
    back = tuple(each for each in declared.columns if each in inputs and each in typed.undeclared)
    if back:
        typed = read_relabels(protocol, name, raws, desk.progress, back)
    for column in plan.columns:
        codes = getattr(typed.columns[column], "codes", None)
        unknown = 0 if codes is None else int((codes == UNDECLARED).sum())
        if unknown:
            values = ", ".join(declared.columns[column].named_values)
            raise RelabelsUndeclared(count=unknown, column=column, values=values)
    times = times_of(declared)
    undated = sum(int(typed.columns[each].missing.sum()) for each in times)
    if plan.min_days_apart and (not times or undated):
        raise RelabelsUndated(file=raws[0].name or name, count=undated if times else typed.rows)
    return _Given(name, plan, raws, typed, back)


def _require_handed_out(study: StudyState, pool: PoolState, name: str) -> None:
    if not handings_of(study, pool, name):
        raise RelabelsOutOfPlace(pool=pool.name, draw=name, entry=pool.sealed.entry, study=study.slug)


@cells_untold
def _compare(protocol: Protocol, given: _Given, first: TypedTable) -> CommitFacts:
    """Hold second labels against the first: of drawn cases alone, and days apart."""
    drawn = share(first.keys.tolist(), given.plan.fraction, given.plan.seed)
    rows_of = {first.keys[row]: row for row in drawn.drawn.tolist()}
    foreign = sum(key not in rows_of for key in given.typed.keys)
    if foreign:
        raise RelabelsForeign(draw=given.name, count=foreign, drawn=drawn.size)
    rows = np.fromiter((rows_of[key] for key in given.typed.keys), np.intp, given.typed.rows)
    days = days_apart(protocol.tables[given.name], given.typed, first, rows)
    least = given.plan.min_days_apart
    early = int((days < least).sum()) if least and days is not None else 0
    return CommitFacts(
        rows=given.typed.rows,
        absent=drawn.size - given.typed.rows,
        early=early,
        days_apart=None if days is None or not len(days) else max(0, int(days.min())),
        inputs={name: _altered(given.typed, first, name, rows) for name in given.inputs} or None,
    )


def _altered(again: TypedTable, first: TypedTable, name: str, rows: npt.NDArray[np.intp]) -> int:
    """Count the cells of a column that are not those of the same case as it was sealed: neither text nor value is.

    A spreadsheet may well write 25 for 25.0, which is the same input, and so is the same text with its lines ended, or
    its accents composed, in another way.
    """
    texts = zip(again.texts[name], first.texts[name][rows], strict=True)
    written = np.fromiter((_same_text(one or "", other or "") for one, other in texts), np.bool_, again.rows)
    return int((~written & ~_same_value(again.columns[name], first.columns[name].take(rows))).sum())


def _same_text(one: str, other: str) -> bool:
    return one == other or _composed(one) == _composed(other)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n"))


def _same_value(one: TypedColumn, other: TypedColumn) -> npt.NDArray[np.bool_]:
    """Tell where two columns of one declaration hold the same declared value, number or instant."""
    if isinstance(one, Codes | Outcomes) and isinstance(other, Codes | Outcomes):
        return np.asarray((one.codes == other.codes) & (one.codes >= 0))
    if isinstance(one, Numbers | Times) and isinstance(other, Numbers | Times):
        return np.asarray(one.values == other.values)
    return np.zeros(len(other.missing), np.bool_)


def _dated_ahead(declared: Table, again: TypedTable, now: str) -> tuple[str, ...]:
    """Say how many second labels are dated after `now`, an entry's time."""
    ahead = np.zeros(again.rows, np.bool_)
    for name in times_of(declared):
        column = again.columns[name]
        assert isinstance(column, Times)
        ahead |= column.values > np.datetime64(now.removesuffix("Z"), "us")
    count = int(ahead.sum())
    if not count:
        return ()
    said = ngettext(
        "{count} second label is dated later than now: days apart are as true as the dates.",
        "{count} second labels are dated later than now: days apart are as true as the dates.",
        count,
    )
    return (said.format(count=count),)


def _keep(
    desk: Desk,
    state: State,
    study: StudyState,
    pool: PoolState,
    given: _Given,
    read: int,
    facts: CommitFacts,
) -> tuple[Recorded, tuple[str, ...]]:
    """Encrypt second labels beside the pool, and commit to them."""
    fields = {
        "part": RELABELS,
        "study": study.slug,
        "pool": pool.name,
        "protocol": study.in_force.protocol_hash,
        "draw": given.name,
        "read": read,
    }
    blank = {"records": unsealed(given.raws)["records"], "blob": BLANK, "wrapped_key": BLANK}
    ask_beforehand(desk, desk.view(study.slug), Commit, facts, **fields, **blank)
    sealed = vault.seal_submission(
        desk.vault,
        context_of(state, study.slug, pool, relabels_context(given.name)),
        contents(given.raws),
        recipients=pool.recipients,
        entropy=desk.entropy,
    )
    signed = sign_request(
        desk,
        Commit,
        **fields,
        records=records_of(given.raws, sealed.records),
        blob=sealed.ciphertext,
        wrapped_key=sealed.wrapped_key,
    )
    return put_on_record(desk, study.slug, signed, facts)
