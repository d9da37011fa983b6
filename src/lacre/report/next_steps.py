"""What the protocol of a study still asks for, as the calls to give next."""

from collections.abc import Iterator, Sequence

from lacre.errors import printable
from lacre.rules.changes import reads_as_sealed
from lacre.rules.deviations import Departure
from lacre.rules.drawing import draws_of, handings_of, relabels_needed, relabels_of
from lacre.rules.gating import analyses_of_gate, reads_left, retired_by
from lacre.rules.reading import analyses_of_reveal, may_finish
from lacre.rules.state import PoolState, StudyState
from lacre.rules.thresholds import calibrated, frozen_for, needed
from lacre.text import _, ngettext


def next_steps(study: StudyState, own: str = "", departures: Sequence[Departure] = ()) -> list[str]:
    """Say what the protocol still asks for; nothing, of a study that was withdrawn.

    `own` is the recipient of the ledger: a pool that was not sealed to it is asked for. Among the `departures` are
    reads of other studies, since which the law refuses a reveal.
    """
    if study.withdrawn is not None:
        return []
    steps = [*_draws(study), *_seals(study), *_calibration(study)]
    teste = study.pools.get("teste")
    if teste is not None and teste.unread and reads_as_sealed(study, "teste", study.in_force.protocol):
        again = list(_second_labels(study, teste))
        steps += again
        analyses = analyses_of_reveal(study.in_force.protocol)
        if not again and not _not_frozen(study, analyses):
            steps.append(_reveal(study.slug, teste, own, departures))
    steps += [*_gate(study), *_unfinished(study)]
    return [printable(step) for step in steps]


def _draws(study: StudyState) -> Iterator[str]:
    """The registered draws that were not made, of pools that are not sealed yet."""
    protocol = study.in_force.protocol
    for name, plan in protocol.sampling.items():
        if plan.pool not in study.pools and not draws_of(study, protocol, name):
            yield f"lacre sample {study.slug} {name} FRAME -o FILE"


def _seals(study: StudyState) -> Iterator[str]:
    protocol = study.in_force.protocol
    for name, pool in protocol.pools.items():
        if pool.open is not None:
            continue
        if name not in study.pools:
            yield f"lacre seal {study.slug} {name} FILE"
        elif not study.pools[name].was_read and not reads_as_sealed(study, name, protocol):
            yield f'lacre seal {study.slug} {name} FILE --replace --reason "TEXT"'


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
        yield f"lacre calibrate {study.slug}{said} --submission FILE"


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


def _reveal(slug: str, teste: PoolState, own: str, departures: Sequence[Departure]) -> str:
    exposed = [
        each.entry
        for each in departures
        if each.kind == "exposed" and each.pool == teste.name and each.entry > teste.sealed.entry
    ]
    if not exposed:
        asks = " --request-out FILE" if own and own not in teste.recipients else ""
        return f"lacre reveal {slug} --submission FILE{asks}"
    return _(
        'lacre seal {study} {pool} FILE --replace --reason "TEXT", with other cases: some of these were read in '
        "another study at entry {entry}, so that no read of them is a reveal (with --accept-dev it is exploratory)"
    ).format(study=slug, pool=teste.name, entry=exposed[0])


def _gate(study: StudyState) -> Iterator[str]:
    """The gate, while it may be asked."""
    pool, analyses = study.pools.get("guarda"), analyses_of_gate(study.in_force.protocol)
    if pool is None or not analyses or "guarda" not in study.in_force.protocol.pools:
        return
    left = reads_left(study, pool)
    closed = pool.standing != "guarda" or retired_by(study, pool) is not None
    if left and not closed and not _not_frozen(study, analyses):
        said = ngettext("{step} ({count} read left)", "{step} ({count} reads left)", left)
        yield said.format(step=f"lacre gate {study.slug} --submission FILE", count=left)


def _unfinished(study: StudyState) -> Iterator[str]:
    for pool in study.pools.values():
        for read in pool.unfinished:
            if may_finish(read, read.request.purpose, read.request.analyses):
                yield _("the same `lacre {verb}` again, to finish the read at entry {entry}").format(
                    verb=read.request.purpose, entry=read.entry
                )
