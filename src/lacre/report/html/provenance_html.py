"""Where a result comes from, as HTML: custody, history, engine, how to check it, what it shows, and the plan."""

from collections.abc import Iterable

from lacre.broker.outcomes import ResultShown
from lacre.broker.parts import Background
from lacre.protocol.document import value_of
from lacre.protocol.models import Protocol
from lacre.report import history, published, result_text, words
from lacre.report.draws_text import draw_lines
from lacre.report.html import plan_html
from lacre.report.html.markup import Element, Node, el, name
from lacre.report.html.sheet import Sheet, Written, facts, paragraphs
from lacre.report.page import Cell, Column, Row
from lacre.rules.record import Result
from lacre.text import _, ngettext


def provenance(sheet: Sheet, shown: ResultShown) -> list[Node]:
    """Return all of it, a section each."""
    return [
        _deviations(sheet, shown),
        _custody(sheet, shown),
        _history(sheet, shown, shown.background),
        _made(sheet, shown),
        _check(sheet, shown, shown.background),
        _limits(sheet, in_the_open=shown.now == "corpus"),
        *([] if shown.background is None else [_plan(sheet, shown, shown.background.protocol)]),
    ]


def _section(sheet: Sheet, title: str, *parts: Node | Iterable[Node | None] | None) -> Element:
    return el("section", sheet.heading(2, title), *parts)


def _deviations(sheet: Sheet, shown: ResultShown) -> Node:
    page = Written(sheet, 3, "")
    for line in result_text.shortfalls(shown.shortfall):
        page.say(line)
    result_text.ignored(page, shown.ignored)
    result_text.remarks(page, shown)
    result_text.warnings(page, shown.warnings)
    return _section(sheet, _("Departures from the plan"), page.nodes) if page.nodes else ""


def _custody(sheet: Sheet, shown: ResultShown) -> Node:
    return _section(
        sheet,
        _("Custody and anchors"),
        facts(
            [
                (_("Custody"), result_text.custody(shown.custody)),
                (_("Anchors"), result_text.anchors()),
                (_("Read"), result_text.now_words(shown)),
                *((_("Draw"), line) for line in draw_lines(shown.draws)),
            ]
        ),
    )


def _history(sheet: Sheet, shown: ResultShown, known: Background | None) -> Node:
    if known is None or not known.entries:
        return ""
    errata = history.errata_among(known.entries)
    columns = [
        Column(_("entry"), right=True),
        Column(_("time (UTC)")),
        Column(_("by"), wraps=True),
        Column(_("what"), wraps=True),
    ]
    rows: list[Row] = []
    here = None
    for place, each in enumerate(known.entries):
        asked = history.by(each)
        what = history.what(each, errata)
        if each.index == shown.entry and isinstance(each.content, Result):
            here, what = place, _("this result: {what}").format(what=what)
        who = words.who(asked, known.names) if asked else ""
        rows.append([Cell(str(each.index)), words.moment(each.time), who, what])
    parts: list[Node] = [
        sheet.table(_("Entries of {study}").format(study=shown.study), columns, rows, here=here)
    ]
    if known.left_out:
        said = ngettext(
            "{n} entry between these: see `lacre log`.",
            "{n} entries between these: see `lacre log`.",
            known.left_out,
        )
        parts.append(el("p", said.format(n=known.left_out), class_="soft"))
    return _section(sheet, _("History"), parts)


def _made(sheet: Sheet, shown: ResultShown) -> Node:
    engine = shown.document["engine"]
    return _section(
        sheet,
        _("How it was computed"),
        facts(
            [
                (_("Engine"), result_text.engine_words(shown.document)),
                (_("Seed"), str(engine["seed"]) if engine.get("seed") is not None else None),
            ]
        ),
        paragraphs(result_text.plan_words(shown)),
    )


def _check(sheet: Sheet, shown: ResultShown, known: Background | None) -> Node:
    result = words.shell_word(shown.name)
    key = f" --key {words.shell_word(known.verifier_key)}" if known is not None and known.verifier_key else ""
    steps = [
        (f"lacre audit {result}", _("In the ledger: derives the history again from the signed entries.")),
        (
            f"lacre export {result} -o r.zip",
            _("Writes a bundle for a stranger: the log, the result, the plan."),
        ),
        (
            f"lacre verify r.zip{key}",
            _(
                "Checks the bundle, offline, and computes the numbers again from their counts. Have the key from "
                "elsewhere than from here."
            ),
        ),
    ]
    listed = [el("li", el("code", line), " ", said) for line, said in steps]
    return _section(sheet, _("How to check it"), el("ol", listed))


def _limits(sheet: Sheet, *, in_the_open: bool) -> Node:
    shows = [
        _("That the plan and its bars were on record when the pool was read, and how often it was read."),
        _("By which rule each verdict follows from its numbers."),
    ]
    hides = [
        _(
            "By itself nothing: anybody can write such a file. What can be checked is the bundle and the log behind it."
        ),
        *(
            []
            if in_the_open
            else [_("That the counts come from the sealed data, which is not in this file.")]
        ),
        _(published.NOT_SHOWN["declared-open" if in_the_open else "declared"]),
        _(published.NOT_SHOWN["rewriting"]),
        _("That nobody looked without a trace: custody says who could."),
        _("That no data existed before: a time on record says that something existed by then."),
    ]
    return _section(
        sheet,
        _("What this shows, and what it does not"),
        sheet.heading(3, _("Shown, once it is checked")),
        el("ul", [el("li", each) for each in shows]),
        sheet.heading(3, _("Not shown")),
        el("ul", [el("li", each) for each in hides]),
    )


def _plan(sheet: Sheet, shown: ResultShown, protocol: Protocol) -> Node:
    part = plan_html.relevant(
        value_of(protocol), shown.document["pool"], [each["id"] for each in shown.document["analyses"]]
    )
    return _section(
        sheet,
        _("The plan, as far as it goes for this result"),
        el("p", _("In the canonical form, every default said; empty parts are left out."), class_="soft"),
        el("pre", plan_html.lines(part), lang=sheet.language, dir="ltr"),
    )


def title(sheet: Sheet, shown: ResultShown) -> list[Node]:
    """Return the title and the question, in the protocol's language."""
    kicker = el("p", _("Report of a result"), class_="kicker")
    if shown.background is None:
        return [kicker, sheet.heading(1, name(shown.name))]
    protocol = shown.background.protocol
    return [
        kicker,
        sheet.heading(1, sheet.words(protocol.title)),
        el("p", sheet.words(protocol.question), class_="question"),
    ]
