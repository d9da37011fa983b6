"""Amending a plan: rules 7, 13 and 14."""

from collections.abc import Iterable
from typing import Any

from lacre.canonical import canonical_json, parse_canonical, sha256_hex
from lacre.errors import AmendmentBurns, FieldsLocked, NotCanonical, NothingAmended, StudySlugDiffers
from lacre.protocol.difference import ABSENT, Change, difference
from lacre.protocol.document import value_of
from lacre.protocol.models import Protocol
from lacre.protocol.tables import Table
from lacre.rules.answers import AmendDecision, AmendFacts
from lacre.rules.common import (
    known_of,
    require_feasible,
    require_in_force,
    require_open,
    require_role,
    require_study,
)
from lacre.rules.registration import require_between_groups
from lacre.rules.requests import Amend
from lacre.rules.state import State, StudyState

NEVER_AMENDED = ("locked", "remedies", "max_rebalances")
WORDS_ONLY = frozenset({"title", "question", "language"})
"""What no result is made from."""
BY_NAME = frozenset({"pools", "analyses", "tables", "bins", "thresholds", "sampling", "relabel", "variants"})
FREE_TO_CHANGE = frozenset({"text", "category", "outcome", "ordinal", "digest"})
"""The types whose cells no declaration refuses: other values or other words for missing read the same file."""


def decide_amend(state: State, request: Amend, by: str, facts: AmendFacts) -> AmendDecision:
    """Whether a protocol may take the place of the one in force, and which pools that makes `dev`."""
    require_role(state, by, "registrant")
    study = require_study(state, request.study)
    require_open(study)
    require_in_force(study, request.replaces)
    before, after = study.in_force.protocol, state.protocols(request.protocol)
    if after.study != study.slug:
        raise StudySlugDiffers(study=study.slug, slug=after.study)
    changes = difference(before, after)
    if not changes:
        raise NothingAmended(study=study.slug)
    check_locked(before, changes)
    require_between_groups(after)
    require_feasible(facts, request.accept_infeasible)
    burns = burned_by(study, after)
    if burns and not request.accept_burn:
        raise AmendmentBurns(pools=", ".join(burns))
    return AmendDecision(
        version=len(study.versions) + 1,
        difference=sha256_hex(difference_document(changes)),
        known=known_of(study),
        burns=burns,
    )


def difference_document(changes: Iterable[Change]) -> bytes:
    """The field-by-field difference as it is kept: canonical JSON."""
    return canonical_json(difference_value(changes))


def difference_value(changes: Iterable[Change]) -> list[dict[str, Any]]:
    """A field-by-field difference as a JSON value; a side that is absent is left out."""
    return [
        {
            "path": change.path,
            **({} if change.before is ABSENT else {"before": change.before}),
            **({} if change.after is ABSENT else {"after": change.after}),
        }
        for change in changes
    ]


def difference_of(document: bytes) -> tuple[Change, ...]:
    """Read back a difference that is kept; nothing of what is no such document."""
    try:
        found = parse_canonical(document)
    except NotCanonical:
        return ()
    kept = found if isinstance(found, list) else []
    return tuple(
        Change(str(each["path"]), each.get("before", ABSENT), each.get("after", ABSENT))
        for each in kept
        if isinstance(each, dict) and "path" in each
    )


def check_locked(before: Protocol, changes: Iterable[Change]) -> None:
    """Rule 13: what is locked stays, and so does the list of what is."""
    locked = (*before.locked, *NEVER_AMENDED)
    touched = [change.path for change in changes if any(_overlap(change.path, path) for path in locked)]
    if touched:
        raise FieldsLocked(fields=", ".join(touched))


def _overlap(path: str, locked: str) -> bool:
    """Whether a change at `path` touches what is locked: it, a part of it, or the whole it is part of."""
    return path == locked or path.startswith(f"{locked}.") or locked.startswith(f"{path}.")


def burned_by(study: StudyState, after: Protocol) -> tuple[str, ...]:
    """Rule 7: `teste`, once read, if the amendment touches anything that an analysis of it uses."""
    burned = []
    for name, pool in study.pools.items():
        if pool.standing == "teste" and pool.of_class("teste", "dev"):
            used = (uses(plan, name) for plan in (study.in_force.protocol, after))
            if len({canonical_json(value) for value in used}) > 1:
                burned.append(name)
    return tuple(burned)


def uses(protocol: Protocol, pool: str, analyses: Iterable[str] | None = None) -> dict[str, Any]:
    """All of a protocol that the analyses on `pool` (or those named) are made from, as JSON values.

    Whatever is not known to be nobody's, or another pool's, counts as used.
    """
    value = value_of(protocol)
    named = protocol.analyses if analyses is None else {n: protocol.analyses[n] for n in analyses}
    plans = {name: plan for name, plan in named.items() if analyses is not None or plan.pool == pool}
    tables = {table for plan in plans.values() for table in plan.reads()} | set(
        protocol.pools[pool].tables if pool in protocol.pools else ()
    )
    thresholds = {name for plan in plans.values() for name in plan.thresholds()}
    kept = {
        "pools": {pool},
        "analyses": set(plans),
        "tables": tables,
        "thresholds": thresholds,
    }
    used = {key: part for key, part in value.items() if key not in WORDS_ONLY | BY_NAME}
    for key, names in kept.items():
        used[key] = {name: part for name, part in value.get(key, {}).items() if name in names}
    if plans:
        # Bins, draws and variants are used by name in ways of each kind's own.
        used |= {key: value[key] for key in ("bins", "variants") if key in value}
    for key in ("sampling", "relabel"):
        used[key] = {n: part for n, part in value.get(key, {}).items() if n in tables}
    return used


def reads_the_same(before: Protocol, after: Protocol, pool: str) -> bool:
    """Whether files sealed for `pool` under one protocol can be read, and recognised, under another."""
    if pool not in before.pools or pool not in after.pools:
        return False
    if set(before.pools[pool].tables) != set(after.pools[pool].tables):
        return False
    return before.disjoint == after.disjoint and all(
        _form(before.tables[name], None) == _form(after.tables[name], before.tables[name])
        for name in before.pools[pool].tables
    )


def reads_as_sealed(study: StudyState, pool: str, after: Protocol) -> bool:
    """Whether the files that are sealed for `pool` can be read, and recognised, under the plan `after`."""
    sealed = study.version(study.pools[pool].sealed.request.protocol)
    return sealed is not None and reads_the_same(sealed.protocol, after, pool)


def _form(table: Table, old: Table | None) -> dict[str, Any]:
    """What of a table decides how its files are read and its cases recognised.

    A column that is only in the old form may go; one that is new has to be in the files, and may not be.
    """
    value = table.model_dump(mode="json", by_alias=True, exclude_none=True)
    form = {key: part for key, part in value.items() if key not in {"columns", "exclude", "cluster"}}
    form["columns"] = {
        name: _cells(column)
        for name, column in value["columns"].items()
        if not table.supplied(name) and not table.derived(name)
    }
    if old is not None:
        gone = {
            name: _cells(column.model_dump(mode="json", by_alias=True, exclude_none=True))
            for name, column in old.columns.items()
            if name not in table.columns
            and not old.supplied(name)
            and not old.derived(name)
            and "input" not in column.is_
        }
        form["columns"] = {**gone, **form["columns"]}
    return form


def _cells(column: dict[str, Any]) -> dict[str, Any]:
    if column["type"] not in FREE_TO_CHANGE:
        return column
    # Outcome and category are one form of text; which values mean what is the plan's, not the file's.
    kept: dict[str, Any] = {key: column[key] for key in ("is", "path") if key in column}
    return {**kept, "type": "digest" if column["type"] == "digest" else "text"}
