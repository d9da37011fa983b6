"""What later results rest on, as text: thresholds that were frozen, draws, second labels."""

from collections.abc import Mapping

from lacre.broker.groundwork import Calibrated, RelabelsHandedOut, RelabelsKept, Sampled
from lacre.errors import printable
from lacre.report import told, words
from lacre.report.page import Cell, Column, Page, Row
from lacre.report.result_text import say_custody, warnings
from lacre.rules.answers import FrozenThreshold
from lacre.rules.history import Committed
from lacre.rules.state import StudyState
from lacre.text import N_, _, ngettext

TARGETS: Mapping[str, str] = {
    "recall": N_("recall of at least {at}"),
    "false_positive": N_("false positives of at most {at}"),
    "false_negative": N_("false negatives of at most {at}"),
    "false_match": N_("false matches of at most {at}"),
    "false_non_match": N_("false non-matches of at most {at}"),
}


def calibrated_page(made: Calibrated) -> Page:
    """Write the thresholds that a calibration froze."""
    page = Page()
    page.heading(
        _("{study}: calibration {number} froze these thresholds at entry {entry}").format(
            study=made.study, number=made.number, entry=made.entry
        )
    )
    thresholds(page, made.thresholds)
    page.say(
        _(
            "They were set on {pool}, by the read at entry {read}, and stay as they are until they are set anew."
        ).format(pool=made.pool, read=made.read)
    )
    if any(each.unresolved for each in made.thresholds):
        page.say(
            Cell(_("Warning: "), "yellow"),
            _("a target that allows less than one event among so many cases is unresolved at n."),
        )
    if made.burns:
        page.say(
            Cell(_("Burned: "), "bold red"),
            _("{pools} was read with the thresholds before, and is dev from now on.").format(
                pools=words.listing(made.burns)
            ),
        )
    say_custody(page, made.custody)
    warnings(page, made.warnings)
    return page


def thresholds(page: Page, frozen: tuple[FrozenThreshold, ...]) -> None:
    """Write thresholds, each with what it attains and how well it is known."""
    systems = any(each.system for each in frozen)
    columns = [
        Column(_("threshold"), wraps=True),
        *([Column(_("system"))] if systems else []),
        Column(_("rule"), wraps=True, spare=True),
        Column(_("value"), right=True),
        Column(_("interval"), right=True),
        Column(_("at it"), right=True),
    ]
    rows: list[Row] = [
        [
            Cell(each.name, "bold"),
            *([each.system] if systems else []),
            rule(each),
            told.value(float(each.value), "score"),
            interval(each),
            _("{events} of {cases}").format(events=each.events, cases=each.cases),
        ]
        for each in frozen
    ]
    page.table(columns, rows)


def rule(each: FrozenThreshold) -> str:
    """Say the rule that a threshold was set by."""
    template = TARGETS.get(each.target)
    at = words.percent(float(each.at))
    said = printable(each.target) if template is None else _(template).format(at=at)
    return _("{rule} (unresolved at n)").format(rule=said) if each.unresolved else said


def interval(each: FrozenThreshold) -> str:
    """Return the interval of a threshold, whose ends may be open."""
    ends = [_("open") if end is None else told.value(float(end), "score") for end in (each.low, each.high)]
    return " – ".join(ends)


def sampled_page(made: Sampled) -> Page:
    """Write what was drawn from a frame."""
    page = Page()
    page.heading(
        ngettext(
            "{rows} case of {name} was drawn and written to {path}",
            "{rows} cases of {name} were drawn and written to {path}",
            made.rows,
        ).format(rows=made.rows, name=made.name, path=made.path)
    )
    columns = [
        Column(_("stratum"), wraps=True, names=True),
        Column(_("drawn"), right=True),
        Column(_("of"), right=True),
        Column(_("chance"), right=True),
    ]
    rows: list[Row] = [
        [
            each.stratum,
            str(each.drawn),
            str(each.population),
            words.rate(each.drawn / each.population) if each.population else "–",
        ]
        for each in made.strata
    ]
    page.table(columns, rows)
    page.say(
        _(
            "Seed, the frame's digest and the chances are on record as entry {entry}; the column {column} holds them."
        ).format(entry=made.entry, column=made.column)
    )
    if made.left_out:
        page.say(
            _(
                "Left in the frame: {columns}. What comes along is the key, the strata and what is marked `is: input`."
            ).format(columns=words.listing(made.left_out))
        )
    if made.outside:
        said = ngettext(
            "{count} row of the frame is in no declared stratum, and cannot be drawn.",
            "{count} rows of the frame are in no declared stratum, and cannot be drawn.",
            made.outside,
        )
        page.say(Cell(_("Warning: "), "yellow"), said.format(count=made.outside))
    if made.number > 1:
        page.say(
            _("It is draw number {number}: the same frame, and so the same cases.").format(number=made.number)
        )
    _formulas(page, made.formulas)
    warnings(page, made.warnings)
    return page


def _formulas(page: Page, count: int) -> None:
    if count:
        said = ngettext(
            "{count} cell in it begins as a formula does: bring the file into a spreadsheet as text only.",
            "{count} cells in it begin as formulas do: bring the file into a spreadsheet as text only.",
            count,
        )
        page.say(Cell(_("Warning: "), "yellow"), said.format(count=count))


def handed_out_page(made: RelabelsHandedOut) -> Page:
    """Write what was handed out to be labelled again."""
    page = Page()
    page.heading(
        ngettext(
            "{rows} of {population} cases of {name} was written to {path}, to be labelled again",
            "{rows} of {population} cases of {name} were written to {path}, to be labelled again",
            made.rows,
        ).format(rows=made.rows, population=made.population, name=made.name, path=made.path)
    )
    page.say(
        _("Without their first labels. To be filled in, on a later day: {columns}").format(
            columns=words.listing(made.again)
        )
    )
    page.say(
        _(
            "It is on record as entry {entry}. Nothing else left {pool}, which counts as what it did before."
        ).format(entry=made.entry, pool=made.pool)
    )
    say_custody(page, made.custody)
    _formulas(page, made.formulas)
    warnings(page, made.warnings)
    return page


def kept_page(made: RelabelsKept) -> Page:
    """Write that second labels were committed."""
    page = Page()
    page.heading(
        ngettext(
            "{study}: {rows} second label of {name} is committed as entry {entry}",
            "{study}: {rows} second labels of {name} are committed as entry {entry}",
            made.rows,
        ).format(study=made.study, rows=made.rows, name=made.name, entry=made.entry)
    )
    if made.days_apart is not None:
        page.say(_apart(made.days_apart))
    if made.absent:
        said = ngettext("{count} drawn case has none.", "{count} drawn cases have none.", made.absent)
        page.say(Cell(_("Warning: "), "yellow"), said.format(count=made.absent))
    page.say(
        _("They are kept encrypted beside {pool}; the look at its first labels is entry {read}.").format(
            pool=made.pool, read=made.read
        )
    )
    say_custody(page, made.custody)
    warnings(page, made.warnings)
    return page


def on_record(page: Page, study: StudyState) -> None:
    """Write the calibrations, draws and second labels that a study has on record."""
    for each in study.calibrations:
        page.heading(
            _("Calibration {number}, at entry {entry}").format(number=each.decision.number, entry=each.entry)
        )
        thresholds(page, each.facts.thresholds)
        if each.decision.burns:
            page.say(_("It made {pools} dev.").format(pools=words.listing(each.decision.burns)))
    if study.draws:
        page.heading(_("Draws"))
        columns = [
            Column(_("entry"), right=True),
            Column(_("draw"), wraps=True),
            Column(_("drawn, by stratum"), wraps=True),
            Column(_("frame")),
        ]
        rows: list[Row] = []
        for made in study.draws:
            strata = (
                _("{stratum} {drawn} of {population}").format(
                    stratum=printable(each.stratum), drawn=each.drawn, population=each.population
                )
                for each in made.facts.strata
            )
            frame = f"sha256:{made.request.frame[:12]}…"
            rows.append([str(made.entry), printable(made.request.draw), ", ".join(strata), frame])
        page.table(columns, rows)
    for pool in study.pools.values():
        for kept in pool.commits:
            _kept(page, pool.name, kept)


def _kept(page: Page, pool: str, made: Committed) -> None:
    page.heading(
        _("Second labels of {draw}, at entry {entry}").format(draw=made.request.draw, entry=made.entry)
    )
    facts = made.facts
    said = ngettext(
        "{rows} case of {pool} was labelled again.", "{rows} cases of {pool} were labelled again.", facts.rows
    )
    page.say(said.format(rows=facts.rows, pool=pool))
    if facts.absent:
        said = ngettext("{count} drawn case has none.", "{count} drawn cases have none.", facts.absent)
        page.say(said.format(count=facts.absent))
    if facts.days_apart is not None:
        page.say(_apart(facts.days_apart))


def _apart(days: int) -> str:
    return ngettext(
        "That is at least {days} day after the first label.",
        "That is at least {days} days after the first label.",
        days,
    ).format(days=days)
