"""What a plan asks of the data, as text: sizes beside each criterion, and what they mean."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from lacre.analyses.reach import hopeful, out_of_reach
from lacre.errors import printable
from lacre.protocol.models import Protocol
from lacre.report import told, words
from lacre.report.page import Cell, Column, Page, Row
from lacre.text import N_, _, ngettext

if TYPE_CHECKING:
    # SciPy comes with it.
    from lacre.analyses.need import Need, Needed, Power

SIZES: Mapping[str, str] = MappingProxyType(
    {
        "cases": N_(
            "“to pass” and “to fail” are the fewest cases that each group must have in the rate's denominator "
            "for the rule to be able to, even if every case speaks for it. To be likely to takes many more."
        ),
        "pairs": N_(
            "Of a difference over the same items “to pass” and “to fail” are the fewest pairs, even if every pair "
            "speaks for it."
        ),
        "comparisons": N_(
            "Of a verification “to pass” and “to fail” are the fewest comparisons that each group must have, even if "
            "every one speaks for it: of impostors for false matches, genuine ones for false non-matches."
        ),
        "relabels": N_(
            "Of agreement “to pass” and “to fail” are the fewest relabels, even if all speak for it."
        ),
    }
)
MORE: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "discordant": (
            N_("discordant"),
            N_("“discordant” is how many pairs must differ, all of them one way, for the test to tell."),
        ),
        "if_equal": (
            N_("if equal"),
            N_(
                "“if equal” is how many pairs, or cases of each stratum (clusters, where they are declared), a margin "
                "needs to pass where nothing differs and nothing varies."
            ),
        ),
        "events": (
            N_("events"),
            N_(
                "“events” is how many each group needs, of a rate that is small, for the bounds of a ratio to be "
                "near enough to pass."
            ),
        ),
    }
)
"""What some kinds of criteria ask besides: the title of its column, and what it means."""


class Asked:
    """The columns that the needs of one analysis take beside its criteria, and the cells of each."""

    def __init__(self, needs: "Sequence[Need]") -> None:
        self.simulated = any(need.prospect or need.needed for need in needs)
        self.levels = any("level" in need.more for need in needs)
        self.more = [name for name in MORE if any(need.more.get(name) is not None for need in needs)]

    def columns(self) -> list[Column]:
        """Return the columns."""
        titles = [*([_("bounds at")] if self.levels else []), _("to pass"), _("to fail")]
        titles += [_(MORE[name][0]) for name in self.more]
        titles += [_("P(PASS)"), _("P(FAIL)"), _("for 80 %"), _("rows")] if self.simulated else []
        return [Column(title, right=True) for title in titles]

    def cells(self, need: "Need") -> list[str | Cell]:
        """Return the cells of a criterion's row."""
        told_ = need.counted is not None or need.infeasible
        least = [need.minimum.to_pass, need.minimum.to_fail]
        cells = [_least(each) if told_ else told.NONE for each in least]
        level = [words.percent(1 - need.more["level"])] if self.levels else []
        besides = [told.count(need.more.get(name)) for name in self.more]
        simulated = [*_prospect(need.prospect), *_size(need.needed)] if self.simulated else []
        return [*level, *cells, *besides, *simulated]


def _prospect(found: "Power | None") -> list[str | Cell]:
    if found is None:
        return [told.NONE, told.NONE]
    return [
        _simulated_share(found.passes, found.passes_error, found.simulations),
        _simulated_share(found.fails, found.fails_error, found.simulations),
    ]


def _simulated_share(share: float, error: float, simulations: int) -> str:
    """Write a share with its standard error; of none or all of them, with the bound that the rule of three gives."""
    if share in (0.0, 1.0):
        bound = words.percent(abs(share - 3 / simulations))
        return f"< {bound}" if share == 0 else f"> {bound}"
    spread = f"{100 * error:.1f}"
    return f"{words.rate(share)} ± {'<0.1' if float(spread) == 0 else spread}"


def _size(found: "Needed | None") -> list[str | Cell]:
    if found is None:
        return [told.NONE, told.NONE]
    return [_least(found.smallest), told.count(found.rows)]


def _least(cases: int | None) -> str | Cell:
    return Cell(_("never"), "red") if cases is None else str(cases)


# --- what an analysis asks as a whole ----------------------------------------------------------------------


def whole(page: Page, needs: "Sequence[Need]") -> None:
    """Say what an analysis asks besides what its criteria do."""
    _targets(page, [need for need in needs if need.criterion is None and "zero_events" in need.more])
    for need in needs:
        if need.criterion is None and need.metric == "floor":
            _floor(page, need)
        elif need.criterion is not None and need.counted is None and not need.infeasible:
            said = _("{criterion}: how many it takes hangs on what the values are, and is not simulated.")
            page.say(said.format(criterion=printable(need.criterion)), indent=1)


def _targets(page: Page, needs: "Sequence[Need]") -> None:
    if not needs:
        return
    page.gap()
    columns = [
        Column(_("target"), wraps=True),
        Column(_("resolved from"), right=True),
        Column(_("if none is seen"), right=True),
    ]
    rows: list[Row] = [
        [
            told.at_target(need.metric, words.percent(need.more["at"])),
            str(need.more["comparisons"]),
            str(need.more["zero_events"]),
        ]
        for need in needs
    ]
    page.table(columns, rows)
    page.say(
        _(
            "A target is resolved from so many comparisons of a group on, of which it allows one event; “if none "
            "is seen”, as many as the last column says still leave “up to” the target."
        ),
        indent=1,
    )
    for need in needs:
        most = need.more["most"]
        if most is not None and most < need.more["comparisons"]:
            said = _("{target}: unresolved in any group, with room for {most} comparisons as planned.")
            target = told.at_target(need.metric, words.percent(need.more["at"]))
            page.say(Cell(_("Warning: "), "yellow"), said.format(target=target, most=most), indent=1)


def _floor(page: Page, need: "Need") -> None:
    relabels, floor, points = need.more["relabels"], need.more["floor"], need.more["for_points"]
    if floor is not None:
        said = ngettext(
            "{count} relabel is planned. If it is the same, the floor is {floor}: no smaller difference can be "
            "claimed on these labels.",
            "{count} relabels are planned. If all are the same, the floor is {floor}: no smaller difference can be "
            "claimed on these labels.",
            relabels,
        )
        page.say(said.format(count=relabels, floor=told.value(floor, "gap")), indent=1)
    else:
        page.say(_("How many relabels there will be is not planned."), indent=1)
    said = _("A floor of {points} takes {count} relabels, all the same.")
    asked = told.limit(points["difference"], "gap")
    page.say(said.format(points=asked, count=points["relabels"]), indent=1)
    for each in need.more["wanted"]:
        name = printable(f"{each['analysis']}.{each['criterion']}")
        said = _("{name} is on a difference of {points}, which takes {count}.")
        line = said.format(name=name, points=told.limit(each["difference"], "gap"), count=each["relabels"])
        short = floor is not None and floor > each["difference"]
        page.say(*([Cell(_("Warning: "), "yellow")] if short else []), line, indent=1)


# --- what the numbers mean ---------------------------------------------------------------------------------


def meaning(page: Page, protocol: Protocol, needs: "Sequence[Need]") -> None:
    """Say what the columns hold, and what they rest on."""
    counted = [need.counted for need in needs if need.criterion is not None]
    for name, said in SIZES.items():
        if name in counted:
            page.say(_(said))
    for name, (_title, said) in MORE.items():
        if any(need.more.get(name) is not None for need in needs):
            page.say(_(said))
    _simulated(page, needs)
    alike: dict[str, list[str]] = {}
    for name, plan in protocol.analyses.items():
        declared = protocol.tables[plan.table].cluster
        if declared:
            alike.setdefault(_clustered(plan.kind, len(declared)), []).append(name)
        if plan.weighed():
            said = _("{analysis}: the counts hold where all weights are equal; unequal ones ask for more.")
            alike.setdefault(said, []).append(name)
    for said, names in alike.items():
        page.say(said.format(analysis=words.listing(names)))


def _clustered(kind: str, columns: int) -> str:
    if kind == "group_fairness":
        return _(
            "{analysis}: the counts hold where each case is a cluster of its own. A plan does not say how "
            "large clusters are, so nothing is simulated."
        )
    if kind == "verification" and columns == 2:
        return _(
            "{analysis}: the counts hold where no two comparisons share a subject. With fewer than 20 subjects there "
            "is no interval."
        )
    if kind == "paired_variants":
        return _("{analysis}: the counts of pairs hold where each item is a cluster of its own.")
    return _(
        "{analysis}: the counts hold where each case is a cluster of its own. With fewer than 20 clusters, in all or "
        "in a stratum, there is no interval."
    )


def _simulated(page: Page, needs: "Sequence[Need]") -> None:
    """Say what the simulated numbers rest on."""
    if any(need.prospect for need in needs):
        page.say(
            _(
                "P(PASS) and P(FAIL) are simulated with the planned cases, in groups of the planned composition or "
                "of equal size, at the assumed rates in every group; the rest is INSUFFICIENT_EVIDENCE. “±” is the "
                "simulation's standard error; where none or all came out so, 3/n bounds the share at 95 %."
            )
        )
    if any(need.needed for need in needs):
        page.say(
            _(
                "“for 80 %” is about how many cases the smallest group must have in the rate's denominator for "
                "P(PASS) to be 80 % at the assumed rates, and “rows” how many the table has then; “never” means "
                "that no size of up to 10,000,000 cases is enough."
            )
        )


# --- verdicts out of reach ---------------------------------------------------------------------------------


def shortfalls(page: Page, needs: "Sequence[Need]") -> None:
    """Warn of criteria that cannot both pass and fail, and of margins that need a difference to pass."""
    for need in needs:
        if need.criterion is None:
            continue
        for line in (*out_of_reach(need), *hopeful(need)):
            page.say(Cell(_("Warning: "), "yellow"), line)
    if any(need.infeasible for need in needs):
        page.say(
            _(
                "A criterion of which PASS or FAIL is out of reach is refused by `lacre register`, unless "
                '--accept-infeasible "REASON" says why it is kept.'
            )
        )
