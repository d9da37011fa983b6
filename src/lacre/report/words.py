"""The small words of reports: rates in percent, times, verdicts, and names that others chose."""

import shlex
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from lacre.errors import printable
from lacre.rules.answers import Known
from lacre.rules.remarks import Text
from lacre.text import N_, _, ngettext

METRICS: Mapping[str, str] = MappingProxyType(
    {
        "error": N_("errors"),
        "false_positive": N_("false positives"),
        "false_negative": N_("false negatives"),
        "selection": N_("selected"),
        "recall": N_("detected"),
        "protective_failure": N_("images with a person and no face found"),
        "stratum_difference": N_("difference between strata"),
        "difference": N_("difference"),
        "false_match": N_("false matches"),
        "false_non_match": N_("false non-matches"),
        "false_match_ratio": N_("ratio of false matches between groups"),
        "false_non_match_ratio": N_("ratio of false non-matches between groups"),
        "threshold_distance": N_("distance between the groups' own thresholds"),
        "false_match_beside": N_("false matches, the other interval"),
        "false_non_match_beside": N_("false non-matches, the other interval"),
        "raw_agreement": N_("raw agreement"),
        "kappa": N_("kappa"),
        "ac1": N_("AC1"),
        "ac2": N_("AC2"),
        "pabak": N_("PABAK"),
    }
)
KINDS: Mapping[str, str] = MappingProxyType(
    {
        "group_fairness": N_("group fairness"),
        "recall": N_("recall"),
        "protective_failure": N_("protective failure"),
        "paired_variants": N_("paired variants"),
        "verification": N_("verification"),
        "estimate": N_("estimate from a sample"),
        "self_agreement": N_("agreement with oneself"),
        "judge_agreement": N_("human-vs-judge agreement of one rater"),
    }
)
PARTS: Mapping[str, str] = MappingProxyType(
    {"cases": N_("cases"), "labels": N_("labels"), "scores": N_("scores")}
)
RULES: Mapping[str, str] = MappingProxyType(
    {
        "max_group_gap": N_("{metric} by {by}: no two groups further apart than {limit}"),
        "worst_group_max": N_("{metric} by {by}: at most {limit} in every group"),
        "worst_group_min": N_("{metric} by {by}: at least {limit} in every group"),
    }
)
STATE_STYLES: Mapping[str, str] = MappingProxyType(
    {
        "PASS": "bold green",
        "FAIL": "bold red",
        "INSUFFICIENT_EVIDENCE": "bold yellow",
        "MANUAL_REVIEW": "bold magenta",
    }
)

_MOST_DIGITS = 6


def shell_word(name: str) -> str:
    """Return a name as one word of a command that is shown to be given."""
    return shlex.quote(printable(name))


def metric(name: str) -> str:
    """Return what a metric counts."""
    return _(METRICS[name]) if name in METRICS else printable(name.replace("_", " "))


def part(name: str) -> str:
    """Return a part of an open pool."""
    return _(PARTS[name]) if name in PARTS else printable(name)


def kind(name: str) -> str:
    """Return the kind of an analysis."""
    return _(KINDS[name]) if name in KINDS else printable(name.replace("_", " "))


def rule(metric_name: str, by: Sequence[str], form: str, limit: float) -> str:
    """Return what a criterion asks; `form` is a name of `RULES`."""
    groups = " × ".join(printable(name) for name in by)
    if form not in RULES:
        return f"{metric(metric_name)} {groups} {percent(limit)}"
    shown = points(percent(limit)) if form == "max_group_gap" else percent(limit)
    return _(RULES[form]).format(metric=metric(metric_name), by=groups, limit=shown)


def percent(share: float | None) -> str:
    """Return a share that somebody chose, such as a threshold, in percent, as short as it is."""
    return "–" if share is None else f"{_digits(share).rstrip('0').rstrip('.')} %"


def points(share: str) -> str:
    """Return a difference of two shares, given in percent, as what it is: percentage points."""
    return _("{number} points").format(number=share.removesuffix(" %"))


def rate(value: float | None, *, apart_from: float | None = None) -> str:
    """Return an observed rate in percent, rounded so that it says neither 0 nor 100 unless it is.

    One decimal is kept, and as many more as it takes not to look like `apart_from`, a threshold on one side
    of which it is.
    """
    return "–" if value is None else f"{_digits(value, apart_from)} %"


def interval(low: float | None, high: float | None, *, apart_from: float | None = None) -> str:
    """Return an interval's two bounds in percent."""
    if low is None or high is None:
        return "–"
    return f"{_digits(low, apart_from)}–{_digits(high, apart_from)} %"


def _digits(share: float, apart_from: float | None = None) -> str:
    for digits in range(1, _MOST_DIGITS):
        text = f"{100 * share:.{digits}f}"
        flat = float(text) in (0.0, 100.0) and share not in (0.0, 1.0)
        same = apart_from is not None and share != apart_from and text == f"{100 * apart_from:.{digits}f}"
        if not flat and not same:
            break
    return text


def moment(time: str) -> str:
    """Return an entry's time, which is in UTC, to the second."""
    return f"{time[:10]} {time[11:19]}" if len(time) >= 19 else printable(time)


def on_record(entry: int, time: str) -> str:
    """Return where and when something was put on record."""
    return _("Entry {entry}, {time} UTC").format(entry=entry, time=moment(time))


def short(digest: str) -> str:
    """Return the beginning of a digest, enough to tell one from another by eye."""
    return digest[:12]


def who(keyid: str, names: Mapping[str, str]) -> str:
    """Return the name given with a key, or the beginning of its id."""
    return printable(names[keyid]) if names.get(keyid) else _("key {keyid}").format(keyid=keyid[:8])


def group(values: Mapping[str, str], by: Sequence[str] = ()) -> str:
    """Return a group by its values, in the order of the attributes `by`; everybody where it has none."""
    named = sorted(values, key=lambda name: by.index(name) if name in by else len(by))
    return " × ".join(printable(values[name]) for name in named) or _("everybody")


def listing(names: Sequence[str]) -> str:
    """Return names in a row."""
    return ", ".join(printable(name) for name in names) or _("none")


def said(text: Text) -> str:
    """Return what somebody wrote, in one line; or that it was taken out of the ledger, or is missing."""
    return " ".join(said_lines(text))


def said_lines(text: Text) -> list[str]:
    """Return what somebody wrote, line by line, without the free ones; or that it is no longer there."""
    if text.words is not None:
        return [printable(line) for line in text.words.splitlines() if line.strip()]
    if text.erased is not None:
        return [_("(erased by entry {entry})").format(entry=text.erased)]
    return [_("(not in the ledger)")]


def known(reads: Sequence[Known]) -> str:
    """Return what had been read at a moment."""
    return "; ".join(_known(each) for each in reads) or _("nothing had been read")


def _known(each: Known) -> str:
    template = (
        ngettext(
            "inputs of {pool} handed out once (entry {last})",
            "inputs of {pool} handed out {count} times (last: entry {last})",
            each.count,
        )
        if each.read_class == "inputs"
        else ngettext(
            "{pool} read once as {read_class} (entry {last})",
            "{pool} read {count} times as {read_class} (last: entry {last})",
            each.count,
        )
    )
    return template.format(
        pool=printable(each.pool), count=each.count, last=each.last, read_class=each.read_class
    )
