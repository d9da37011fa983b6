"""Reasons: why a verdict is what it is, and what a reader must know, as a code with fields.

A result stores code and fields, so that it is the same bytes in every language; `render` makes the sentence
when it is shown. Fields hold numbers and the protocol's own names, never the text of a sealed cell.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

from lacre.errors import printable
from lacre.text import N_, _

Scalar = str | int | float

TEMPLATES: Mapping[str, str] = MappingProxyType(
    {
        # A rule kept
        "ceiling-kept": N_("At most {high} in every group, and the ceiling is {threshold}."),
        "floor-kept": N_("At least {low} in every group, and the floor is {threshold}."),
        "gap-kept": N_(
            "No two groups are further apart than {high}, and the largest gap allowed is {threshold}."
        ),
        # A rule broken
        "ceiling-broken": N_("At least {low} in {group}, above the ceiling of {threshold}."),
        "floor-broken": N_("At most {high} in {group}, below the floor of {threshold}."),
        "gap-broken": N_(
            "{first} and {second} are at least {low} apart; the largest gap allowed is {threshold}."
        ),
        # Evidence that cannot decide
        "undecided": N_(
            "The evidence reaches from {low} to {high} and cannot tell which side of {threshold} it is."
        ),
        "groups-not-decided": N_("{count} of {groups} declared groups are too small or cannot be estimated."),
        "nothing-to-compare": N_(
            "Fewer than two groups can be estimated, so there is no difference to judge."
        ),
        "too-many-left-out": N_(
            "{count} of {rows} cases are left out, more than the share of {limit} allowed."
        ),
        "no-cases": N_("There are no cases."),
        "below-min-cell": N_("With a prediction: {cases}, fewer than the {min_cell} asked for."),
        "too-few-clusters": N_("Fewer than {least} clusters: their spread cannot be estimated."),
        "crossed-clusters": N_(
            "Cases belong to several clusters at once, which this analysis cannot estimate."
        ),
        "weighted-sample": N_(
            "Cases were drawn with unequal probabilities, which this analysis cannot weigh."
        ),
        "exploratory": N_(
            "The rule is kept, but not on the read it was registered for: that is no evidence."
        ),
        # One group's line
        "within": N_("Within the bound of {threshold}."),
        "beyond": N_("Beyond the bound of {threshold}."),
        "open": N_("On neither side of {threshold} for certain."),
        # Review by a person
        "review-registered": N_("The protocol asks for a person's review."),
        "statistics-changed": N_("lacre's statistics have changed since the registration."),
        "engine-changed": N_("Another version of lacre finished this read."),
        "error-above-half": N_(
            "More than half of the predictions contradict their label: is one of them reversed?"
        ),
        # Disclosure control
        "withheld": N_("Withheld: a group of fewer than {min_count} cases could be read from it."),
        # Notes
        "independence-assumed": N_("No unit or cluster is declared: the intervals assume one case a person."),
        "unit-blank": N_("{count} cases have no unit, and are taken to be of different ones."),
        "missing-predictions": N_(
            "{count} cases have no prediction: they count as both outcomes in the bounds."
        ),
        "undeclared-predictions": N_(
            "{count} cases have a value in {column} that is not declared: they count as having no prediction."
        ),
        "criteria-uncorrected": N_(
            "All {count} criteria must pass, which needs no correction; any FAIL among them is uncorrected."
        ),
        "calibration-describes": N_(
            "The calibration error has no interval: it describes, and decides nothing."
        ),
        "estimates-withheld": N_(
            "{count} estimates are withheld to protect groups of fewer than {min_count} cases."
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason's stable `code` and the fields of its sentence."""

    code: str
    fields: Mapping[str, Scalar] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the form a result stores."""
        return {"code": self.code, "fields": dict(self.fields)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return the reason that `as_json` stored."""
        return cls(stored["code"], dict(stored["fields"]))


def render(reason: Reason) -> str:
    """Return the reason as a sentence in the language in use.

    A code or a field that this version does not know (a result of a later one) gives the code itself.
    """
    template = TEMPLATES.get(reason.code)
    if template is None:
        return printable(reason.code)
    shown = {name: _shown(value) for name, value in reason.fields.items()}
    try:
        return _(template).format(**shown)
    except KeyError:
        return printable(reason.code)


def _shown(value: Scalar) -> str:
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value))
