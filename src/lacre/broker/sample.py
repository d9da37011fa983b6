"""`sample`: draw cases from a frame as registered, with known chances, and put the draw on record."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lacre.broker.desk import Desk, answered, ask_beforehand, sign_request
from lacre.broker.drawn import keep_drawn
from lacre.broker.files import Given, check_output
from lacre.broker.groundwork import Sampled
from lacre.broker.handing import as_csv, delimiter_of, encoding_of, hand_out
from lacre.broker.ingest import Raw, load
from lacre.broker.submissions import recognising_key
from lacre.broker.unfinished import Unfinished
from lacre.errors import DrawUnfinished, FrameShort, cells_untold
from lacre.protocol.models import Protocol
from lacre.protocol.pools import Sampling
from lacre.protocol.tables import Table
from lacre.rules.answers import DrawnStratum, SampleDecision, SampleFacts
from lacre.rules.common import require_study
from lacre.rules.drawing import sampling_of
from lacre.rules.requests import Sample
from lacre.stats.draws import Draw, stratified
from lacre.tables.columns import Codes, TypedTable
from lacre.tables.formulas import begins_as_formula
from lacre.tables.read import read_table
from lacre.text import N_

INCLUSION = "inclusion_probability"
"""What the column of chances is called where the table declares none."""


@dataclass(frozen=True, eq=False)
class _Frame:
    """A frame as it was read, and the draw from it; `left_out` are its columns that are not handed out."""

    raw: Raw
    table: TypedTable
    declared: Table
    plan: Sampling
    draw: Draw
    values: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def cases(self) -> TypedTable:
        """The rows drawn."""
        return self.table.select(np.isin(np.arange(self.table.rows), self.draw.drawn))

    @property
    def facts(self) -> SampleFacts:
        """What goes on record."""
        strata = zip(self.values, self.draw.population, self.draw.size, strict=True)
        return SampleFacts(
            strata=tuple(
                DrawnStratum(stratum=value, population=int(population), drawn=int(size))
                for value, population, size in strata
                if value in self.plan.sizes
            ),
            outside=self.draw.outside,
        )


def sample(
    desk: Desk, study: str, name: str, frame: Path, output: Path, *, overwrite: bool = False
) -> Sampled:
    """Draw from `frame` as the study's `sampling.name` registers it, and write what was drawn to `output`.

    The same frame gives the same cases, on any machine (`lacre.stats.draws` says how, byte by byte). Raises
    `DrawNotDeclared`, `DrawTooLate`, `DrawnFromAnother`, `FrameShort`, `KeyMissing` or `FingerprintKeyClosed` where
    the cases drawn could not be recognised again, and what reading does.
    """
    state = desk.view(study)
    known = require_study(state, study)
    protocol = known.in_force.protocol
    plan = sampling_of(protocol, name)
    check_output(output, desk.layout, overwrite=overwrite)
    (raw,) = load([Given("", name, frame)])
    key = recognising_key(desk)
    drawn = _draw(desk, protocol, plan, name, raw)
    fields = {
        "study": study,
        "protocol": known.in_force.protocol_hash,
        "draw": name,
        "frame": raw.content.sha256,
    }
    ask_beforehand(desk, state, Sample, drawn.facts, **fields)
    fields |= {
        "pool": plan.pool,
        "cases": keep_drawn(desk, protocol, name, state.genesis, key, drawn.cases),
    }
    signed = sign_request(desk, Sample, **fields)
    columns = tuple(drawn.table.texts)
    column = _chances(drawn.declared)
    made, warnings = hand_out(
        desk, study, plan.pool, signed, drawn.facts, output,
        lambda: _written(drawn, columns, column, output), _unfinished(name), overwrite=overwrite,
    )  # fmt: skip
    decision = answered(made).decision
    assert isinstance(decision, SampleDecision)
    rows = sorted(drawn.draw.drawn.tolist())
    cells = (drawn.table.texts[each][row] for each in columns for row in rows)
    return Sampled(
        study=study, name=name, pool=plan.pool, entry=made.index, time=made.time,
        number=decision.number,
        path=output, rows=len(rows), strata=drawn.facts.strata, outside=drawn.draw.outside,
        column=column, columns=(*columns, column), left_out=drawn.left_out,
        formulas=sum(begins_as_formula(cell) for cell in cells if cell), warnings=warnings,
    )  # fmt: skip


def _unfinished(name: str) -> Unfinished:
    return lambda entry, why, way_out: DrawUnfinished(draw=name, entry=entry, why=why, next=way_out)


@cells_untold
def _draw(desk: Desk, protocol: Protocol, plan: Sampling, name: str, raw: Raw) -> _Frame:
    desk.progress(N_("reading"), 0, None)
    declared = protocol.tables[name]
    needed = dict.fromkeys((*declared.key, plan.strata))
    there = _read(raw, declared, name, needed).undeclared
    more = [each for each in declared.columns if each in there and not declared.supplied(each)]
    more = [each for each in more if not declared.derived(each) and "input" in declared.columns[each].is_]
    table = _read(raw, declared, name, dict.fromkeys((*needed, *more)))
    column = table.columns[plan.strata]
    assert isinstance(column, Codes)
    sizes = [plan.sizes.get(value, 0) for value in column.values]
    draw = stratified(table.keys.tolist(), column.codes, column.values, sizes, plan.seed)
    if draw.short:
        short = draw.short[0]
        raise FrameShort(
            draw=name, stratum=column.values[short.stratum], population=short.population, size=short.size
        )
    left_out = tuple(each for each in there if each not in more)
    return _Frame(raw, table, declared, plan, draw, column.values, left_out)


def _read(raw: Raw, declared: Table, name: str, columns: dict[str, None]) -> TypedTable:
    """Read some columns of a frame, and their text as it is written."""
    kept = {each: declared.columns[each] for each in declared.columns if each in columns}
    form = declared.model_copy(update={"columns": kept, "exclude": [], "unit": None, "cluster": []})
    return read_table(
        raw.content.read(), form, name, raw.format, only="pool", file=raw.name, keep=tuple(columns)
    )


def _chances(declared: Table) -> str:
    roles = ("inclusion_probability", "weight")
    return next((n for n, c in declared.columns.items() if set(roles) & set(c.is_)), INCLUSION)


def _written(drawn: _Frame, columns: Sequence[str], column: str, output: Path) -> Iterator[bytes]:
    """The drawn rows in the frame's order, and each one's chance (or weight) as the plan's column holds it."""
    declared = drawn.declared
    weight = column in declared.columns and "weight" in declared.columns[column].is_
    codes = drawn.table.columns[drawn.plan.strata]
    assert isinstance(codes, Codes)
    with np.errstate(divide="ignore", invalid="ignore"):
        per_stratum = 1 / drawn.draw.probability if weight else drawn.draw.probability
    decimal = declared.decimal
    texts = np.array([repr(float(each)).replace(".", decimal) for each in per_stratum], dtype=object)
    chances: npt.NDArray[np.object_] = texts[np.maximum(codes.codes, 0)]
    cells = [*(drawn.table.texts[each] for each in columns), chances]
    encoding = encoding_of(declared, [drawn.raw.format.value])
    rows = sorted(drawn.draw.drawn.tolist())
    return as_csv((*columns, column), cells, rows, delimiter_of(output, declared), encoding)
