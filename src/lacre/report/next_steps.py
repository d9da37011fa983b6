"""What the protocol of a study still asks for, as the calls to give next."""

from collections.abc import Iterator, Sequence

from lacre.errors import printable
from lacre.protocol.pools import ROLES, tables_of_part
from lacre.rules.changes import reads_as_sealed
from lacre.rules.corpus import next_part
from lacre.rules.deviations import Departure
from lacre.rules.drawing import draws_of, handings_of, relabels_needed, relabels_of
from lacre.rules.gating import analyses_of_gate, reads_left, retired_by
from lacre.rules.reading import analyses_of_reveal, may_finish
from lacre.rules.state import PoolState, StudyState
from lacre.rules.submitting import Wanted, wanted_for_analyses, wanted_for_thresholds
from lacre.rules.thresholds import calibrated, frozen_for, needed
from lacre.text import _, ngettext


def next_steps(study: StudyState, own: str = "", departures: Sequence[Departure] = ()) -> list[str]:
    """Say what the protocol still asks for; nothing, of a study that was withdrawn.

    `own` is the recipient of the ledger: a pool that was not sealed to it is asked for. Among the `departures` are
    reads of other studies, since which the law refuses a reveal.
    """
    if study.withdrawn is not None:
        return []
    steps: list[str] = []
    # In the order that a study goes through them: thresholds first, a gate last.
    for name in ROLES:
        if name not in study.in_force.protocol.pools:
            continue
        steps += [*_draws(study, name), *_seals(study, name)]
        if name == "dev":
            steps += _calibration(study)
        elif name == "teste":
            steps += _teste(study, own, departures)
        elif name == "contraste":
            steps += _runs(study)
        elif name == "guarda":
            steps += _gate(study)
        elif name == "corpus":
            steps += _commits(study)
    steps += _unfinished(study)
    return [printable(step) for step in steps]


def _draws(study: StudyState, pool: str) -> Iterator[str]:
    """The registered draws that were not made, of a pool that is not sealed yet."""
    protocol = study.in_force.protocol
    for name, plan in protocol.sampling.items():
        if plan.pool == pool and pool not in study.pools and not draws_of(study, protocol, name):
            yield f"lacre sample {study.slug} {name} FRAME -o FILE"


def _seals(study: StudyState, name: str) -> Iterator[str]:
    protocol = study.in_force.protocol
    pool = protocol.pools[name]
    if pool.open is not None:
        return
    files = _files(pool.tables)
    if name not in study.pools:
        yield f"lacre seal {study.slug} {name} {files}"
    elif not study.pools[name].was_read and not reads_as_sealed(study, name, protocol):
        yield f'lacre seal {study.slug} {name} {files} --replace --reason "TEXT"'


def _files(tables: Sequence[str], before: str = "", system: str = "") -> str:
    """The files of tables as they are given, each after `before`; a table is named where there are several."""
    owner = f"{system}:" if system else ""
    named = [f"{owner}{table}=FILE" if len(tables) > 1 else f"{owner}FILE" for table in tables]
    return " ".join(f"{before}{each}" for each in named)


def _submitted(want: Wanted) -> str:
    """The options that name what systems submit; a system is named where there are several."""
    systems = want.systems if len(want.systems) > 1 else ("",)
    return "".join(f" {_files(want.tables, '--submission ', system)}" for system in systems if want.tables)


def _commits(study: StudyState) -> Iterator[str]:
    """The next part of the open pool; once all stand, its analyses that were not run under the plan in force."""
    protocol = study.in_force.protocol
    pool = protocol.pools["corpus"]
    part = next_part(study, pool)
    if part is not None:
        yield f"lacre commit {study.slug} {part} {_files(tables_of_part(pool, protocol.tables, part))}"
        return
    ran = {
        each
        for read in (study.corpus.reads if study.corpus is not None else ())
        if read.result is not None
        and read.request.protocol == study.in_force.protocol_hash
        and study.corpus is not None
        and study.corpus.version_of(getattr(read.request, "parts", None) or ()) == study.corpus.version
        for each in read.request.analyses
    }
    for analysis, plan in protocol.analyses.items():
        if plan.pool == pool.role and analysis not in ran and not _not_frozen(study, (analysis,)):
            yield f"lacre run {study.slug} {analysis}"


def _not_frozen(study: StudyState, analyses: Sequence[str]) -> list[str]:
    """The thresholds that analyses wait for."""
    protocol = study.in_force.protocol
    have = frozen_for(study, protocol, analyses)
    return list(dict.fromkeys(key[0] for key in needed(protocol, analyses) if key not in have))


def _calibration(study: StudyState) -> Iterator[str]:
    """The calibration of what is not frozen; none that only a `teste` which was read would use."""
    if "dev" not in study.pools:
        return
    protocol = study.in_force.protocol
    teste = study.pools.get("teste")
    read = teste is not None and not teste.unread
    waiting = [name for name, plan in protocol.analyses.items() if not (read and plan.pool == "teste")]
    names = _not_frozen(study, waiting)
    if names:
        said = "" if set(names) == set(calibrated(protocol)) else f" {' '.join(names)}"
        yield f"lacre calibrate {study.slug}{said}{_submitted(wanted_for_thresholds(protocol, names))}"


def _teste(study: StudyState, own: str, departures: Sequence[Departure]) -> Iterator[str]:
    """What `teste` waits for until it is read: second labels, and then the reveal."""
    protocol, teste = study.in_force.protocol, study.pools.get("teste")
    if teste is None or not teste.unread or not reads_as_sealed(study, "teste", protocol):
        return
    again = list(_second_labels(study, teste))
    yield from again
    if not again and not _not_frozen(study, analyses_of_reveal(protocol)):
        yield _reveal(study, teste, own, departures)


def _second_labels(study: StudyState, teste: PoolState) -> Iterator[str]:
    """The second labels that an analysis of `teste` waits for: to be handed out, or to be committed."""
    protocol = study.in_force.protocol
    for name in relabels_needed(protocol, analyses_of_reveal(protocol)):
        if relabels_of(study, protocol, teste, name) is not None:
            continue
        if handings_of(study, teste, name):
            yield f"lacre commit {study.slug} relabels FILE"
        else:
            yield f"lacre sample {study.slug} --relabel {name} -o FILE"


def _reveal(study: StudyState, teste: PoolState, own: str, departures: Sequence[Departure]) -> str:
    protocol = study.in_force.protocol
    exposed = [
        each.entry
        for each in departures
        if each.kind == "exposed" and each.pool == teste.name and each.entry > teste.sealed.entry
    ]
    if not exposed:
        asks = " --request-out FILE" if own and own not in teste.recipients else ""
        want = wanted_for_analyses(protocol, analyses_of_reveal(protocol))
        return f"lacre reveal {study.slug}{_submitted(want)}{asks}"
    return _(
        'lacre seal {study} {pool} {files} --replace --reason "TEXT", with other cases: some of these were read in '
        "another study at entry {entry}, so that no read of them is a reveal (with --accept-dev it is exploratory)"
    ).format(
        study=study.slug, pool=teste.name, files=_files(protocol.pools[teste.name].tables), entry=exposed[0]
    )


def _runs(study: StudyState) -> Iterator[str]:
    """The analyses registered on `contraste` that have no result there yet."""
    protocol, pool = study.in_force.protocol, study.pools.get("contraste")
    if pool is None or pool.standing != "contraste" or not reads_as_sealed(study, "contraste", protocol):
        return
    ran = {name for read in pool.reads if read.result is not None for name in read.request.analyses}
    for name, plan in protocol.analyses.items():
        if plan.pool == "contraste" and name not in ran and not _not_frozen(study, [name]):
            yield f"lacre run {study.slug} {name}{_submitted(wanted_for_analyses(protocol, [name]))}"


def _gate(study: StudyState) -> Iterator[str]:
    """The gate, while it may be asked."""
    pool, analyses = study.pools.get("guarda"), analyses_of_gate(study.in_force.protocol)
    if pool is None or not analyses or "guarda" not in study.in_force.protocol.pools:
        return
    left = reads_left(study, pool)
    closed = pool.standing != "guarda" or retired_by(study, pool) is not None
    if left and not closed and not _not_frozen(study, analyses):
        said = ngettext("{step} ({count} read left)", "{step} ({count} reads left)", left)
        want = wanted_for_analyses(study.in_force.protocol, analyses)
        yield said.format(step=f"lacre gate {study.slug}{_submitted(want)}", count=left)


def _unfinished(study: StudyState) -> Iterator[str]:
    for pool in study.pools.values():
        for read in pool.unfinished:
            if may_finish(read, read.request.purpose, read.request.analyses):
                yield _("the same `lacre {verb}` again, to finish the read at entry {entry}").format(
                    verb=read.request.purpose, entry=read.entry
                )
