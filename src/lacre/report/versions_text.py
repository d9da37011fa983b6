"""What a result on a corpus that grew says of its other versions: every number, and the changes by cell."""

from collections.abc import Mapping, Sequence
from typing import Any

from lacre.errors import printable
from lacre.report import reasoned, told
from lacre.report.page import Column, Page, Row
from lacre.text import _, ngettext


def versions(page: Page, document: Mapping[str, Any]) -> None:
    """Write the numbers of a corpus's earlier versions, and what changed since the last; nothing of a first version."""
    corpus = document.get("corpus")
    if corpus is None:
        return
    page.gap()
    page.heading(_("Versions of the corpus: this is version {version}").format(version=corpus["version"]))
    page.say(_("A corpus grows under a flagged paradox alone, and every version's number stands."))
    rows: list[Row] = [
        _number(str(each["version"]), f"{document['study']}@{each['result']}", number, each["state"])
        for each in corpus["earlier"]
        for number in each["numbers"]
    ]
    rows += [
        [str(each["version"]), f"{document['study']}@{each['result']}", *[told.NONE] * 4, each["state"]]
        for each in corpus["earlier"]
        if not each["numbers"]
    ]
    rows += [
        _number(str(corpus["version"]), _("this one"), line, analysis["state"])
        for analysis in document["analyses"]
        for line in analysis.get("tables", {}).get("judge_agreement", ())
        if not line["group"] and not line.get("withheld")
    ]
    page.table(
        [
            Column(_("version"), right=True),
            Column(_("result")),
            Column(_("dimension"), wraps=True, names=True),
            Column(_("agree"), right=True),
            Column(_("kappa"), right=True),
            Column(_("interval"), right=True),
            Column(_("verdict")),
        ],
        rows,
    )
    for change in corpus["changes"]:
        _change(page, change)


def _number(version: str, result: str, line: Mapping[str, Any], state: str) -> Row:
    agree = _("{agree} of {n}").format(agree=line["agree"], n=line["n"])
    kappa = told.value(line["kappa"], "kappa")
    return [version, result, printable(line["dimension"]), agree, kappa, _interval(line), state]


def _interval(line: Mapping[str, Any]) -> str:
    return told.interval(line["kappa_low"], line["kappa_high"], "kappa")


def _change(page: Page, change: Mapping[str, Any]) -> None:
    page.gap()
    if "note" in change:
        page.say(printable(change["dimension"]), indent=1)
        page.say(reasoned.reason(change["note"]), indent=2)
        return
    page.say(
        _("{dimension}: cells of human (rows) by judge (columns), before → now").format(
            dimension=printable(change["dimension"])
        ),
        indent=1,
    )
    names = [printable(name) for name in change["bins"]]
    cells: Sequence[Row] = [
        [name, *(f"{was} → {now}" for was, now in zip(before, after, strict=True))]
        for name, before, after in zip(names, change["before"], change["after"], strict=True)
    ]
    page.table([Column(""), *(Column(name, right=True) for name in names)], cells, indent=2)
    page.say(
        ngettext(
            "{n} old case was labelled again: {labels} labels changed, and {scores} scores.",
            "{n} old cases were labelled again: {labels} labels changed, and {scores} scores.",
            change["relabelled"],
        ).format(n=change["relabelled"], labels=change["labels_changed"], scores=change["scores_changed"]),
        indent=2,
    )
    page.say(
        _(
            "Of them agreed before and agree now: {aa}; agreed and differ now: {ad}; differed and agree now: {da}; "
            "differed and still differ: {dd}."
        ).format(
            aa=change["agreed_agrees"],
            ad=change["agreed_differs"],
            da=change["differed_agrees"],
            dd=change["differed_differs"],
        ),
        indent=2,
    )
