"""A protocol made from a file that other tools read: its block `fairness`, with what it does not say assumed.

The block::

    fairness:
      name: Triage of loans             # the title; the study's name is made from it
      cases: data/loans.csv             # or the name of a table, or how many cases are planned
      label: default                    # a column, or {column: default, positive: "yes", negative: "no"}
      prediction: decision              # likewise; it comes from the submission
      probability: score                # optional, a column from 0 to 1
      attributes: {sex: [F, M]}         # columns and their values, or a list of {name: sex, values: [F, M]}
      intersections: [[sex, age]]       # attributes to be crossed; "sex*age" is the same
      min_cell: 30
      unit: person_id                   # the column that says who a case is about
      calibration_bins: 10
      rules:
        - {id: gap, rate: false_negative, attribute: sex, max_group_gap: 0.05}
        - {id: worst, rate: error, attribute: "sex*age", worst_group: 0.25, max_left_out: 0.1}

`rate` is error, false_positive, false_negative or selection, each also with `_rate` after it, or fpr or fnr. A bare
`worst_group` is a ceiling, of a selection rate a floor; {max: …} and {min: …} say which. Values that YAML reads as
numbers or as true and false are the text they are written as, since cells are compared as text. Reading is as
strict as a protocol's.
"""

from dataclasses import dataclass
from typing import Any

from lacre.errors import ImportInvalid, LacreError, ProtocolInvalid
from lacre.protocol.document import line_of, parse
from lacre.protocol.importing.reading import Reader
from lacre.protocol.importing.writing import write
from lacre.protocol.strict_yaml import invalid, load


@dataclass(frozen=True, slots=True)
class Imported:
    """The text of a protocol that can be read as it stands, and what is to be looked at in it.

    `assumed` says what the file left open and how it was filled in, `not_carried` what of it is not in the
    protocol.
    """

    text: str
    assumed: tuple[str, ...]
    not_carried: tuple[str, ...]

    def __str__(self) -> str:
        return self.text

    def as_json(self) -> dict[str, Any]:
        """Return the document that `lacre new fairness --from FILE --json` writes."""
        return {
            "name": "fairness",
            "text": self.text,
            "assumed": list(self.assumed),
            "not_carried": list(self.not_carried),
        }


def import_fairness(data: bytes, name: str = "fairness.yaml", language: str = "en") -> Imported:
    """Make a protocol from the block `fairness` in a YAML file; `name` is what messages call the file.

    `language` is that of the title and of what is written. Raises `ImportInvalid`, listing every problem with
    its line and column.
    """
    try:
        loaded = load(data, name)
    except ProtocolInvalid as error:
        raise ImportInvalid(**error.fields) from None
    reader = Reader(loaded, data.decode("utf-8-sig"))
    spec = reader.read(name)
    if spec is None:
        lines = sorted({line_of(problem, loaded) for problem in reader.problems})
        listing = invalid(name, [f"{at.line}:{at.column} {text}" for at, text in lines])
        raise ImportInvalid(**listing.fields)
    imported = Imported(*write(spec, language))
    try:
        parse(imported.text.encode())
    except LacreError as error:  # what is written is a protocol; if ever it is none, it is not handed out
        raise ImportInvalid(name=name, count=1, problems=error.message) from error
    return imported
