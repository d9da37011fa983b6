"""A block `fairness` as it is read: each part by itself, so that all that is wrong is told at once."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, TypeAdapter, ValidationError

from lacre.protocol.columns import Text
from lacre.protocol.grammar import LARGEST, Count, Identifier, Name, Rate, Reading, Title, Whole
from lacre.protocol.importing.spec import Cases, Outcome, Rule, Spec
from lacre.protocol.kinds.group_fairness import Metric
from lacre.protocol.kinds.parts import MOST_CELLS
from lacre.protocol.problems import Path, Problem, listed, nearest, quoted
from lacre.protocol.sentences import problem_of
from lacre.protocol.strict_yaml import Loaded
from lacre.text import N_

BLOCK = "fairness"
KEYS = (
    *("name", "cases", "label", "prediction", "probability", "attributes", "intersections"),
    *("min_cell", "unit", "calibration_bins", "rules"),
)
RULE_KEYS = ("id", "rate", "attribute", "max_group_gap", "worst_group", "max_left_out")
RATES: tuple[str, ...] = get_args(Metric)
_SPELT: Mapping[str, str] = {
    **{rate: rate for rate in RATES},
    **{f"{rate}_rate": rate for rate in RATES},
    "fpr": "false_positive",
    "fnr": "false_negative",
}

_NAME: TypeAdapter[str] = TypeAdapter(Name)
_TITLE: TypeAdapter[str] = TypeAdapter(Title)
_TEXT: TypeAdapter[str] = TypeAdapter(Text)
_IDENTIFIER: TypeAdapter[str] = TypeAdapter(Identifier)
_RATE: TypeAdapter[Fraction | float] = TypeAdapter(Rate)
_COUNT: TypeAdapter[int] = TypeAdapter(Annotated[Count, Field(le=LARGEST)])
_BINS: TypeAdapter[int] = TypeAdapter(Annotated[Whole, Field(ge=1, le=1000)])
_FILE = re.compile(r".*[/\\].*|.+\.(?:csv|tsv|json|jsonl|ndjson|parquet|txt|gz)", re.IGNORECASE)
_TOKEN = re.compile(r"[^\s,\[\]{}]+")

EMPTY = N_("is empty: give it a value, or take it out")
MISSING = N_("is missing")
A_MAP = N_("must be a map, of `key: value` lines")
A_LIST = N_("must be a list, in brackets or with a dash before each")


@dataclass
class Reader:
    """Reads the block part by part, so that what is wrong with one hides nothing that is wrong with another."""

    loaded: Loaded
    source: str
    problems: list[Problem] = field(default_factory=list)
    broken: bool = False
    """Whether the attributes could not be read, so that nothing is said of references to them."""

    def read(self, name: str) -> Spec | None:
        """Return what the block says; None where there are problems. `name` is what messages call the file."""
        top = self.map(self.loaded.value, ())
        if top is None or not self.has_block(top):
            return None
        path: Path = (BLOCK,)
        block = self.map(top[BLOCK], path, KEYS)
        if block is None:
            return None
        for key in ("name", "label", "prediction", "attributes", "rules"):
            if key not in block:
                self.add((*path, key), MISSING)
        title = self.of(_TITLE, block, "name")
        label, prediction = (self.outcome(block, key) for key in ("label", "prediction"))
        probability, unit = (self.of(_NAME, block, key) for key in ("probability", "unit"))
        attributes = self.attributes(block)
        declared = self.intersections(block, attributes)
        rules = self.rules(block, attributes)
        min_cell, bins = self.of(_COUNT, block, "min_cell"), self.of(_BINS, block, "calibration_bins")
        if "calibration_bins" in block and "probability" not in block:
            self.add((*path, "calibration_bins"), N_("needs `probability`, the column to be calibrated"))
        cases = self.cases(block)
        self.columns(label, prediction, probability, unit, attributes)
        if self.problems:
            return None
        assert title is not None
        assert label is not None
        assert prediction is not None
        known = {frozenset(names) for names in declared}
        asked = {frozenset(rule.by): rule.by for rule in rules if len(rule.by) > 1}
        return Spec(
            source=name,
            name=title,
            cases=cases,
            label=label,
            prediction=prediction,
            probability=probability,
            attributes=attributes,
            intersections=declared,
            crossings=tuple(by for names, by in asked.items() if names not in known),
            min_cell=min_cell,
            unit=unit,
            calibration_bins=bins,
            rules=rules,
            others=tuple(key for key in top if key != BLOCK),
        )

    # --- the pieces ----------------------------------------------------------------------------------------

    def add(self, path: Path, template: str, *, at_key: bool = False, **fields: Any) -> None:
        self.problems.append(Problem(path, template, fields, at_key=at_key))

    def map(self, value: Any, path: Path, known: tuple[str, ...] = ()) -> dict[str, Any] | None:
        """Return a map without the keys that are not known, each of which is a problem."""
        if not isinstance(value, dict):
            self.add(path, EMPTY if value is None else A_MAP)
            return None
        if not known:
            return value
        for key in value:
            if key in known:
                continue
            close = nearest(key, known)
            if close is not None:
                self.add(
                    (*path, key),
                    N_("{name} is not known here; did you mean {close}?"),
                    at_key=True,
                    name=quoted(key),
                    close=quoted(close),
                )
            else:
                self.add(
                    (*path, key),
                    N_("{name} is not known here; there are {known}"),
                    at_key=True,
                    name=quoted(key),
                    known=listed(known),
                )
        return {key: each for key, each in value.items() if key in known}

    def has_block(self, top: dict[str, Any]) -> bool:
        if BLOCK in top:
            return True
        close = nearest(BLOCK, top)
        if close is None:
            self.add((BLOCK,), N_("is missing: it is the block a protocol is made from"))
        else:
            self.add(
                (close,),
                N_("{name} is not known here; did you mean {close}?"),
                at_key=True,
                name=quoted(close),
                close=quoted(BLOCK),
            )
        return False

    def take(self, kind: TypeAdapter[Any], value: Any, path: Path) -> Any:
        """Return a value as what it should be; None, the problem noted, where it is not."""
        if value is None:
            self.add(path, EMPTY)
            return None
        try:
            return kind.validate_python(value, strict=True)
        except ValidationError as error:
            first = problem_of(error.errors(include_url=False)[0], value, Reading())
            self.problems.append(replace(first, path=(*path, *first.path)))
            return None

    def of(self, kind: TypeAdapter[Any], block: dict[str, Any], key: str) -> Any:
        return self.take(kind, block[key], (BLOCK, key)) if key in block else None

    def spelt(self, value: Any, path: Path) -> str | None:
        """Return a value as it is written: cells are compared as text."""
        if isinstance(value, bool | int | float):
            at = self.loaded.positions[path]
            line = re.split("\r\n|\r|\n", self.source)[at.line - 1]
            token = _TOKEN.match(line, at.column - 1)
            value = token[0] if token else str(value)
        if value is None:
            self.add(path, N_("is empty: if it is a text, write it in quotes"))
            return None
        text = self.take(_TEXT, value, path)
        if text == "":
            self.add(path, N_("is the empty cell, which counts as missing and is no value"))
            return None
        return None if text is None else str(text)

    def values(self, value: Any, path: Path, *, alone: bool = False) -> tuple[str, ...] | None:
        """Return a list of distinct texts, which is not empty; one `alone` may be without brackets."""
        if alone and not isinstance(value, list):
            text = self.spelt(value, path)
            return None if text is None else (text,)
        if not isinstance(value, list):
            self.add(path, EMPTY if value is None else A_LIST)
            return None
        if not value:
            self.add(path, N_("must hold at least one"))
            return None
        seen: dict[str, bool] = {}
        sound = True
        for index, each in enumerate(value):
            text = self.spelt(each, (*path, index))
            if text in seen:
                self.add((*path, index), N_("holds {name} twice"), name=quoted(text))
            sound &= text is not None and text not in seen
            if text is not None:
                seen[text] = True
        return tuple(seen) if sound else None

    # --- the block's keys ----------------------------------------------------------------------------------

    def cases(self, block: dict[str, Any]) -> Cases:
        value, path = block.get("cases"), (BLOCK, "cases")
        if "cases" not in block:
            return Cases()
        if isinstance(value, str):
            text = self.take(_TITLE, value, path)
            if text is None or _FILE.fullmatch(text):
                return Cases(words=text)
            if text.isdecimal():
                self.add(path, N_("is a number in quotes: write how many cases are planned without them"))
                return Cases()
            try:
                return Cases(table=_IDENTIFIER.validate_python(text))
            except ValidationError:
                return Cases(words=text)
        if isinstance(value, dict | list | bool):
            self.add(path, N_("must be a file, the name of a table, or how many cases are planned"))
            return Cases()
        return Cases(planned=self.take(_COUNT, value, path))

    def outcome(self, block: dict[str, Any], key: str) -> Outcome | None:
        if key not in block:
            return None
        value, path = block[key], (BLOCK, key)
        if not isinstance(value, dict):
            column = self.take(_NAME, value, path)
            return None if column is None else Outcome(column, ("1",), ("0",), assumed=True)
        said = self.map(value, path, ("column", "positive", "negative")) or {}
        if "column" not in said:
            self.add((*path, "column"), MISSING)
            return None
        column = self.take(_NAME, said["column"], (*path, "column"))
        if "positive" not in said and "negative" not in said:
            return None if column is None else Outcome(column, ("1",), ("0",), assumed=True)
        sides = []
        for side in ("positive", "negative"):
            if side not in said:
                self.add(path, N_("needs `positive` and `negative`, the values that mean each, or neither"))
                return None
            sides.append(self.values(said[side], (*path, side), alone=True))
        positive, negative = sides
        if column is None or positive is None or negative is None:
            return None
        if both := [text for text in positive if text in negative]:
            self.add(path, N_("has {values} as positive and as negative"), values=listed(both))
            return None
        return Outcome(column, positive, negative)

    def attributes(self, block: dict[str, Any]) -> dict[str, tuple[str, ...]]:
        """Return the values of each attribute; () of one whose values are broken, which is known by name."""
        if "attributes" not in block:
            self.broken = True
            return {}
        value, path = block["attributes"], (BLOCK, "attributes")
        found: dict[str, tuple[str, ...]] = {}
        if isinstance(value, dict):
            for key, each in value.items():
                if self.take(_NAME, key, (*path, key)) is not None:
                    found[key] = self.values(each, (*path, key)) or ()
        elif isinstance(value, list):
            for index, each in enumerate(value):
                self.attribute(each, (*path, index), found)
        else:
            self.add(path, EMPTY if value is None else A_MAP)
            self.broken = True
        if not value and isinstance(value, dict | list):
            self.add(path, N_("must hold at least one"))
            self.broken = True
        return found

    def attribute(self, value: Any, path: Path, found: dict[str, tuple[str, ...]]) -> None:
        said = self.map(value, path, ("name", "values"))
        if said is None:
            self.broken = True
            return
        for key in ("name", "values"):
            if key not in said:
                self.add((*path, key), MISSING)
        name = self.take(_NAME, said["name"], (*path, "name")) if "name" in said else None
        values = self.values(said["values"], (*path, "values")) if "values" in said else None
        if name is None:
            self.broken = True
        elif name in found:
            self.add((*path, "name"), N_("holds {name} twice"), name=quoted(name))
        else:
            found[name] = values or ()

    def crossed(
        self, value: Any, path: Path, attributes: Mapping[str, tuple[str, ...]]
    ) -> tuple[str, ...] | None:
        """Return the attributes that are named: one, or several as a list or with `*` between."""
        if isinstance(value, list):
            names = [self.take(_NAME, each, (*path, index)) for index, each in enumerate(value)]
            if not value:
                self.add(path, N_("must hold at least one"))
        else:
            text = self.take(_NAME, value, path)
            whole = text is None or text in attributes
            names = [text] if whole else [part.strip() for part in str(text).split("*")]
        if not names or None in names:
            return None
        sound = True
        for name in dict.fromkeys(names):
            if names.count(name) > 1:
                self.add(path, N_("holds {name} twice"), name=quoted(name))
                sound = False
            if name in attributes or self.broken:
                continue
            sound = False
            close = nearest(name, attributes)
            if close is not None:
                self.add(
                    path,
                    N_("{name} is not among the attributes; did you mean {close}?"),
                    name=quoted(name),
                    close=quoted(close),
                )
            else:
                self.add(
                    path,
                    N_("{name} is not among the attributes, which are {known}"),
                    name=quoted(name),
                    known=listed(list(attributes)),
                )
        return tuple(names) if sound else None

    def intersections(
        self, block: dict[str, Any], attributes: Mapping[str, tuple[str, ...]]
    ) -> tuple[tuple[str, ...], ...]:
        value, path = block.get("intersections", []), (BLOCK, "intersections")
        if not isinstance(value, list):
            self.add(path, EMPTY if value is None else A_LIST)
            return ()
        found: dict[frozenset[str], tuple[str, ...]] = {}
        for index, each in enumerate(value):
            names = self.crossed(each, (*path, index), attributes)
            if names is None:
                continue
            if len(names) < 2:
                self.add(
                    (*path, index),
                    N_("crosses one attribute alone; write two or more, such as [[sex, age]]"),
                )
            elif frozenset(names) in found:
                self.add((*path, index), N_("stands here twice"))
            found[frozenset(names)] = names
        return tuple(found.values())

    def rules(self, block: dict[str, Any], attributes: Mapping[str, tuple[str, ...]]) -> tuple[Rule, ...]:
        if "rules" not in block:
            return ()
        value, path = block["rules"], (BLOCK, "rules")
        if not isinstance(value, list):
            self.add(path, EMPTY if value is None else A_LIST)
            return ()
        if not value:
            self.add(path, N_("must hold at least one"))
        found: list[Rule] = []
        seen: set[str] = set()
        for index, each in enumerate(value):
            rule = self.rule(each, (*path, index), attributes, seen)
            if rule is not None:
                found.append(rule)
        return tuple(found)

    def rule(
        self, value: Any, path: Path, attributes: Mapping[str, tuple[str, ...]], seen: set[str]
    ) -> Rule | None:
        said = self.map(value, path, RULE_KEYS)
        if said is None:
            return None
        for key in ("id", "rate", "attribute"):
            if key not in said:
                self.add((*path, key), MISSING)
        name = self.take(_IDENTIFIER, said["id"], (*path, "id")) if "id" in said else None
        if name is not None and name in seen:
            self.add((*path, "id"), N_("{name} is another rule's id too"), name=quoted(name))
        seen.add(str(name))
        rate = self.rate(said["rate"], (*path, "rate")) if "rate" in said else None
        by = (
            self.crossed(said["attribute"], (*path, "attribute"), attributes) if "attribute" in said else None
        )
        gap = (
            self.take(_RATE, said["max_group_gap"], (*path, "max_group_gap"))
            if "max_group_gap" in said
            else None
        )
        left = (
            self.take(_RATE, said["max_left_out"], (*path, "max_left_out"))
            if "max_left_out" in said
            else None
        )
        side, bound = self.worst(said, path, rate)
        # Where a key is misspelt, that is what is told.
        if ("max_group_gap" in said) == ("worst_group" in said) and len(said) == len(value):
            self.add(path, N_("needs exactly one rule: `max_group_gap` or `worst_group`"))
        if by is not None:
            self.cells(by, path, attributes, is_gap="max_group_gap" in said)
        if name is None or rate is None or by is None:
            return None
        return Rule(
            id=name,
            rate=rate,
            by=by,
            gap=gap,
            bound=bound,
            side=side,
            side_assumed=side == "min" and not isinstance(said.get("worst_group"), dict),
            max_left_out=left,
        )

    def rate(self, value: Any, path: Path) -> str | None:
        text = self.take(_TEXT, value, path)
        if text is None or text in _SPELT:
            return None if text is None else _SPELT[text]
        self.add(
            path,
            N_("{name} is none of those known here: {known}"),
            name=quoted(text),
            known=listed(RATES),
        )
        return None

    def worst(
        self, said: dict[str, Any], path: Path, rate: str | None
    ) -> tuple[Literal["max", "min"], Fraction | float | None]:
        """Return the bound of the worst group: of a selection rate, unless it says otherwise, a floor."""
        at = (*path, "worst_group")
        value = said.get("worst_group")
        if not isinstance(value, dict):
            bound = self.take(_RATE, value, at) if "worst_group" in said else None
            return ("min" if rate == "selection" else "max"), bound
        bounds = self.map(value, at, ("max", "min")) or {}
        if len(bounds) != 1:
            if len(bounds) == len(value):
                self.add(at, N_("needs exactly one bound: `max` or `min`"))
            return "max", None
        side: Literal["max", "min"] = "max" if "max" in bounds else "min"
        return side, self.take(_RATE, bounds[side], (*at, side))

    def cells(
        self, by: tuple[str, ...], path: Path, attributes: Mapping[str, tuple[str, ...]], *, is_gap: bool
    ) -> None:
        sizes = [len(attributes.get(name, ())) for name in by]
        if 0 in sizes:
            return
        count = math.prod(sizes)
        if count > MOST_CELLS:
            self.add(
                (*path, "attribute"),
                N_("makes {count} groups; at most {most} can be told apart"),
                count=count,
                most=MOST_CELLS,
            )
        if count < 2 and is_gap:
            self.add(
                path,
                N_("{names} has one declared group, and a difference needs two"),
                names=listed(by),
            )

    def columns(
        self,
        label: Outcome | None,
        prediction: Outcome | None,
        probability: str | None,
        unit: str | None,
        attributes: Mapping[str, tuple[str, ...]],
    ) -> None:
        """See that each column is one thing only."""
        named: list[tuple[str | None, Path]] = [
            (label.column if label else None, (BLOCK, "label")),
            (prediction.column if prediction else None, (BLOCK, "prediction")),
            (probability, (BLOCK, "probability")),
            (unit, (BLOCK, "unit")),
            *((name, (BLOCK, "attributes", name)) for name in attributes),
        ]
        taken: dict[str, str] = {}
        for column, path in named:
            if column is None:
                continue
            if column in taken:
                self.add(path, N_("{name} is {other} too"), name=quoted(column), other=quoted(taken[column]))
            taken.setdefault(column, str(path[1]))
