"""A result's estimates as a pandas frame, for those who go on working with them."""

from typing import TYPE_CHECKING

from lacre.broker.outcomes import ResultShown

if TYPE_CHECKING:
    import pandas as pd


def estimates_frame(shown: ResultShown) -> "pd.DataFrame":
    """One row per estimate, with its interval beside it: never the rate alone.

    Columns: analysis, metric, system, one per attribute (NA where an estimate is over all its values), then
    numerator, denominator, value, low, high, confidence, method. Before these stand, where some estimate has them,
    what tells it from others of its group: `against_` and the attribute, of the group it is compared with, and its
    details by their names, such as variant, weights, target (with `detail_` before one that is a column already).
    What was withheld or cannot be estimated has NA.
    """
    import pandas as pd

    rows = []
    estimates = [(each["id"], found) for each in shown.document["analyses"] for found in each["estimates"]]
    attributes = dict.fromkeys(name for _id, found in estimates for name in found["group"])
    telling: dict[str, None] = {}
    for id_, found in estimates:
        against = {f"against_{name}": value for name, value in (found.get("versus") or {}).items()}
        details = {
            f"detail_{name}" if name in attributes or name in _PLAIN else name: value
            for name, value in (found.get("details") or {}).items()
        }
        telling.update(dict.fromkeys((*against, *details)))
        plain = {name: found.get(name) for name in _PLAIN}
        rows.append({"analysis": id_, **plain, **found["group"], **against, **details})
    columns = ["analysis", "metric", "system", *attributes, *telling, *_PLAIN[2:]]
    return pd.DataFrame(rows, columns=columns)


_PLAIN = ("metric", "system", "numerator", "denominator", "value", "low", "high", "confidence", "method")
