"""A result as HTML: the verdict and why, every analysis, where it comes from; whole, or a notebook's fragment."""

from lacre.broker.outcomes import ResultShown
from lacre.errors import printable
from lacre.report import evidence_text, gate_text, reasoned, result_text, told, words
from lacre.report.html import analysis_html, provenance_html, versions_html
from lacre.report.html.markup import Element, Ids, Node, el, name, render
from lacre.report.html.sheet import KINDS, Sheet, Written, facts, paragraphs, state
from lacre.report.html.style import SCOPE, sheet as style_sheet
from lacre.report.page import Cell, Column, Row
from lacre.rules.answers import CalibrateFacts, FrozenThreshold
from lacre.rules.record import Answered
from lacre.text import _, language, ngettext, reporting

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What the page may load: nothing, by its own word as well."""

MOST_DECIDING = 5
"""Criteria whose reasons stand beside the verdict; all of them stand below."""

IN_NOTEBOOK = 3
"""The level of a fragment's first heading: a notebook has its own above it."""


def page(shown: ResultShown) -> str:
    """Return a result as one HTML file that needs nothing else; the same result gives the same bytes.

    It is in its protocol's language, if no other was asked for.
    """
    with reporting(shown.language):
        return _page(shown)


def fragment(shown: ResultShown) -> str:
    """Return the same content for a notebook, with a style that holds within it."""
    with reporting(shown.language):
        return _fragment(shown)


def _page(shown: ResultShown) -> str:
    sheet = Sheet(Ids(shown.name), 1, shown.language, systems=len(_systems(shown)) > 1)
    titled = shown.name if shown.background is None else f"{shown.background.protocol.title} – {shown.name}"
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="referrer", content="no-referrer"),
        el("title", titled),
        el("style", style_sheet(fragment=False)),
    )
    body = el("body", el("main", _sheet(sheet, shown), class_=SCOPE))
    # The words are lacre's; what is the protocol's says its language where it stands.
    return f"<!DOCTYPE html>\n{render(el('html', head, body, lang=language()))}"


def _fragment(shown: ResultShown) -> str:
    sheet = Sheet(
        Ids(f"{shown.name}-{shown.document['protocol'][-12:]}"),
        IN_NOTEBOOK,
        shown.language,
        systems=len(_systems(shown)) > 1,
    )
    made = el(
        "div", el("style", style_sheet(fragment=True)), _sheet(sheet, shown), class_=SCOPE, lang=language()
    )
    return render(made)


def _sheet(sheet: Sheet, shown: ResultShown) -> Element:
    parts: list[Node | None] = [
        el("header", provenance_html.title(sheet, shown), _facts(shown)),
        _verdict(sheet, shown),
        _thresholds(sheet, shown),
    ]
    parts += _analyses(sheet, shown)
    parts.append(versions_html.versions(sheet, shown.document))
    errata = Written(sheet, 2, "")
    result_text.errata(errata, shown)
    parts += errata.nodes
    parts += provenance_html.provenance(sheet, shown)
    parts.append(el("footer", el("p", _foot(shown), class_="soft")))
    return el("div", [each for each in parts if each], class_="sheet")


def _analyses(sheet: Sheet, shown: ResultShown) -> list[Node]:
    found = shown.document["analyses"]
    if _verdicts_alone(shown):
        gate = Written(sheet, 2, "")
        gate_text.verdicts(gate, shown)
        return gate.nodes
    return [analysis_html.analysis(sheet, each, alone=len(found) == 1) for each in found]


def _verdicts_alone(shown: ResultShown) -> bool:
    """Tell whether a gate answered, which says no number."""
    return bool(shown.document["standing"] == "guarda")


def _facts(shown: ResultShown) -> Element | None:
    document = shown.document
    plan = document["protocol"] + (
        "" if not shown.amended else " " + _("(version {version})").format(version=shown.version)
    )
    systems = _systems(shown)
    return facts(
        [
            (_("Study"), name(shown.study)),
            (_("Result"), name(shown.name)),
            (_("Pool"), result_text.now_words(shown)),
            (_("Systems"), name(words.listing(systems)) if systems else None),
            (_("Plan"), el("code", plan)),
        ]
    )


def _systems(shown: ResultShown) -> list[str]:
    """Return whose numbers these are."""
    told_ = [
        each["system"]
        for analysis in shown.document["analyses"]
        for each in (*(analysis.get("estimates") or ()), *analysis["criteria"])
        if each.get("system")
    ]
    return list(dict.fromkeys(told_))


def _verdict(sheet: Sheet, shown: ResultShown) -> Element:
    document = shown.document
    page_ = Written(sheet, 3, "")
    result_text.notes(page_, document)
    parts: list[Node] = [
        sheet.heading(2, _("Verdict")),
        el(
            "div",
            el("p", state(shown.state), class_="state"),
            _deciding(shown),
            el("p", result_text.standing(document["pool"], result_text.decision_of(document))),
            class_=f"verdict {KINDS.get(shown.state, '')}".strip(),
        ),
        *_interruptions(shown),
    ]
    named = [(each["id"], criterion) for each in document["analyses"] for criterion in each["criteria"]]
    if named and not _verdicts_alone(shown):
        criteria = [criterion for _id, criterion in named]
        of = [id_ for id_, _criterion in named]
        estimates = [each["estimates"] for each in document["analyses"] for _criterion in each["criteria"]]
        parts.append(analysis_html.summary(sheet, _("All criteria"), criteria, estimates, of=of))
    return el("section", parts, page_.nodes)


def _deciding(shown: ResultShown) -> list[Element]:
    """Say why the verdict is what it is: the reasons of the criteria that make it so, a pass being of them all."""
    if _verdicts_alone(shown):
        return []
    named = [(each["id"], found) for each in shown.document["analyses"] for found in each["criteria"]]
    why = [
        _("{name}: {why}").format(
            name=printable(f"{id_}.{found['id']}"),
            why=reasoned.reason(found["reason"], told.scale_of(found), found.get("unit")),
        )
        for id_, found in named
        if found["state"] == shown.state and found["reason"] is not None
    ]
    more = len(why) - MOST_DECIDING
    if more > 0:
        said = ngettext("and {count} more criterion, below", "and {count} more criteria, below", more)
        why = [*why[:MOST_DECIDING], said.format(count=more)]
    return paragraphs(why)


def _interruptions(shown: ResultShown) -> list[Element]:
    """Say what a reader must know before the numbers: a crash, a withdrawal."""
    said = []
    if shown.finished is not None:
        said.append(
            _("This finished the read at entry {entry}, which had crashed.").format(entry=shown.finished)
        )
    if shown.withdrawn is not None:
        said.append(
            _("Withdrawn: ")
            + _("the study was withdrawn at entry {entry}. {words}").format(
                entry=shown.withdrawn.entry, words=words.said(shown.withdrawn.text)
            )
        )
    return paragraphs(said, class_="warn")


def _thresholds(sheet: Sheet, shown: ResultShown) -> Element | None:
    found = shown.document.get("thresholds") or ()
    if not found:
        return None
    systems = sheet.systems
    frozen = _frozen(shown)
    of = [frozen.get((each.get("entry"), each["name"], each.get("system") or "")) for each in found]
    known = any(of)
    columns = [
        Column(_("threshold"), wraps=True, names=True),
        *([Column(_("system"))] if systems else []),
        Column(_("value"), right=True),
        *([Column(_("interval"), right=True), Column(_("rule"), wraps=True)] if known else []),
        *([Column(_("at it"), right=True)] if known else []),
        Column(_("from"), wraps=True),
    ]
    rows: list[Row] = [
        [
            Cell(each["name"]),
            *([each.get("system") or ""] if systems else []),
            told.limit(each["value"], "score", each.get("unit")) if each["value"] is not None else told.NONE,
            *(_known(entry) if known else []),
            _("fixed in the plan")
            if each.get("entry") is None
            else _("frozen at entry {entry}").format(entry=each["entry"]),
        ]
        for each, entry in zip(found, of, strict=True)
    ]
    return el(
        "section", sheet.heading(2, _("Thresholds")), sheet.table(_("Thresholds in use"), columns, rows)
    )


def _frozen(shown: ResultShown) -> dict[tuple[int | None, str, str], FrozenThreshold]:
    """Return the thresholds that entries of the study froze, as far as they are at hand."""
    entries = () if shown.background is None else shown.background.entries
    return {
        (entry.index, each.name, each.system): each
        for entry in entries
        if isinstance(entry.content, Answered) and isinstance(entry.content.facts, CalibrateFacts)
        for each in entry.content.facts.thresholds
    }


def _known(frozen: FrozenThreshold | None) -> list[str]:
    """Return how well a frozen threshold is known, by which rule it was set, and how many cases stand at it."""
    if frozen is None:
        return [told.NONE] * 3
    counted = _("{events} of {cases}").format(events=frozen.events, cases=frozen.cases)
    return [evidence_text.interval(frozen), evidence_text.rule(frozen), counted]


def _foot(shown: ResultShown) -> str:
    return _(
        "Written by lacre from the ledger's entry {entry}; it holds no data of a pool and loads nothing."
    ).format(entry=shown.entry)
