"""A result's estimates as a pandas frame, for those who go on working with them."""

from typing import TYPE_CHECKING

from lacre.broker.outcomes import ResultShown

if TYPE_CHECKING:
    import pandas as pd


def estimates_frame(shown: ResultShown) -> "pd.DataFrame":
    """One row per estimate, with its interval beside it: never the rate alone.

    Columns: analysis, metric, system, one per attribute (NA where an estimate is over all its values),
    numerator, denominator, value, low, high, confidence, method. What was withheld or cannot be estimated
    has NA.
    """
    import pandas as pd

    rows = []
    attributes: dict[str, None] = {}
    for analysis in shown.document["analyses"]:
        for estimate in analysis["estimates"]:
            attributes.update(dict.fromkeys(estimate["group"]))
            plain = {name: estimate.get(name) for name in _PLAIN}
            rows.append({"analysis": analysis["id"], **plain, **estimate["group"]})
    columns = ["analysis", "metric", "system", *attributes, *_PLAIN[2:]]
    return pd.DataFrame(rows, columns=columns)


_PLAIN = ("metric", "system", "numerator", "denominator", "value", "low", "high", "confidence", "method")
