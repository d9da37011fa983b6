"""A block `fairness` written as a protocol, with comments where the file left something open."""

import json
import re
import textwrap
import unicodedata
from fractions import Fraction
from typing import Any

from lacre.protocol.importing.spec import Outcome, Rule, Spec
from lacre.text import _

WIDTH = 110
ANALYSIS = "fairness"
KEYS = ("case_id", "id", "row_id", "case_number")
MIN_CELL, CONFIDENCE, MAX_LEFT_OUT = 30, 0.95, 0.10
"""What a protocol's own defaults are; written out, so that whoever reads it need not know them."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
# Text in YAML 1.2, and something else to readers of 1.1 or in the core schema.
_WORDS = frozenset(("null", "true", "false", "y", "n", "yes", "no", "on", "off"))


def write(spec: Spec, language: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the protocol's text, what was assumed in it, and what of the file it does not carry."""
    writer = _Writer(spec, language)
    return writer.write(), tuple(writer.assumed), tuple(writer.not_carried)


def slug_of(name: str) -> str:
    """Return a study's name made from any words: small letters without accents, digits and `-`; may be empty."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub("[^a-z0-9]+", "-", plain).strip("-")[:64].strip("-")


class _Writer:
    def __init__(self, spec: Spec, language: str) -> None:
        self.spec = spec
        self.language = language
        self.table = spec.cases.table or "cases"
        self.lines: list[str] = []
        self.assumed: list[str] = []
        self.not_carried: list[str] = []

    def write(self) -> str:
        self.head()
        self.data()
        self.tables()
        self.pools()
        self.analysis()
        for block in self.spec.others:
            said = _("The block {block} of the file: only `fairness` makes a protocol.")
            self.not_carried.append(said.format(block=_scalar(block)))
        if self.not_carried:
            self.line("")
            self.comment(0, _("Not carried over:"))
            for sentence in self.not_carried:
                self.comment(0, f"- {sentence}")
        return "\n".join(self.lines) + "\n"

    # --- lines ---------------------------------------------------------------------------------------------

    def line(self, text: str, indent: int = 0) -> None:
        self.lines.append(" " * indent + text if text else "")

    def comment(self, indent: int, sentence: str) -> None:
        lead = " " * indent + "# "
        self.lines += textwrap.wrap(
            sentence,
            WIDTH,
            initial_indent=lead,
            subsequent_indent=lead,
            break_long_words=False,
            break_on_hyphens=False,
        )

    def assume(self, indent: int, sentence: str) -> None:
        """Say above a line that the file does not have it."""
        self.assumed.append(sentence)
        self.comment(indent, _("assumed: {what}").format(what=sentence))

    # --- sections ------------------------------------------------------------------------------------------

    def head(self) -> None:
        spec = self.spec
        made = _("Made from the block `fairness` of {file} by `lacre new fairness --from`.")
        self.comment(0, made.format(file=_quoted(spec.source)))
        self.comment(
            0,
            _(
                "Lines below a comment that begins with `assumed` are not in that file: look at each before you "
                "register. `lacre check` says what the plan asks for."
            ),
        )
        self.line("")
        self.line("lacre: 1")
        slug = slug_of(spec.name)
        if slug == spec.name:
            self.line(f"study: {_scalar(slug)}")
        elif slug:
            self.assume(0, _("`study`, the name on the command line, is made from the file's `name`."))
            self.line(f"study: {_scalar(slug)}")
        else:
            self.assume(0, _("`study`, the name on the command line: the file's `name` gives none."))
            self.line("study: imported")
        self.line(f"title: {_quoted(spec.name)}")
        self.assume(0, _("`question`: the file asks none in words."))
        asked = _(
            "Do the rates of {name} differ between groups, or are they worse in one, beyond what is allowed?"
        )
        self.line(f"question: {_quoted(asked.format(name=spec.name))}")
        self.assume(0, _("`language` of the title and the question."))
        self.line(f"language: {_scalar(self.language)}")

    def data(self) -> None:
        self.line("")
        self.line("data:")
        self.assume(
            2,
            _(
                "`identifiable: true`, the careful answer: estimates on few cases are withheld. Write false where "
                "no case can be traced to a person."
            ),
        )
        self.line("identifiable: true", 2)
        self.assume(
            2,
            _(
                "`prior_exposure` is not `none`, which only you can say: until it is, every result reads "
                "retrospective. Write `none` if nobody has seen labels or predictions of the cases to come."
            ),
        )
        exposure = _("Not stated in {file}, from which this protocol was made.")
        self.line(f"prior_exposure: {_quoted(exposure.format(file=self.spec.source))}", 2)

    def tables(self) -> None:
        spec = self.spec
        self.line("")
        self.line("tables:")
        if spec.cases.words is not None:
            self.comment(2, _("cases: {words}").format(words=_quoted(spec.cases.words)))
            said = _("`cases: {words}` is in a comment only: files are named when a pool is sealed.")
            self.not_carried.append(said.format(words=_quoted(spec.cases.words)))
        if spec.cases.table is None:
            self.assume(2, _("the table's name, `cases`, and one row per case."))
        self.line(f"{_scalar(self.table)}:", 2)
        key = self.key()
        self.assume(4, _("`key`, the column that names a case: {column}.").format(column=_scalar(key)))
        self.line(f"key: {_scalar(key)}", 4)
        if spec.unit is not None:
            self.comment(4, _("who a case is about: one who comes twice in a pool is refused"))
            self.line(f"unit: {_scalar(spec.unit)}", 4)
        self.comment(
            4,
            _("`delimiter`, `decimal` and `encoding` go here where the file is not plain CSV in UTF-8."),
        )
        self.line("columns:", 4)
        for name in dict.fromkeys(filter(None, (key, spec.unit))):
            if name not in spec.attributes:
                self.column(name, "{type: text}")
        self.outcomes()
        if spec.probability is not None:
            self.assume(
                6,
                _("{column} comes from the submission, as the prediction does.").format(
                    column=_scalar(spec.probability)
                ),
            )
            self.column(spec.probability, "{type: number, min: 0, max: 1, from: submission}")
        self.assume(
            6,
            _(
                "the attributes have no order (`ordinal` is for those that have), are the pool's own, and are not "
                "handed out to predict on: add `is: input` to those that may be."
            ),
        )
        for name, values in spec.attributes.items():
            self.column(name, f"{{type: category, values: {_list(values)}}}")

    def key(self) -> str:
        """Return a name for the column of ids that no other column has."""
        spec = self.spec
        taken = {spec.label.column, spec.prediction.column, spec.probability, *spec.attributes}
        numbered = (f"case_id_{number}" for number in range(2, len(taken) + 3))
        return next(name for name in (*KEYS, *numbered) if name not in taken)

    def outcomes(self) -> None:
        label, prediction = self.spec.label, self.spec.prediction
        if label.assumed:
            self.assume(6, _values_assumed(label))
        self.column(label.column, f"{{type: outcome, {_sides(label)}}}")
        if prediction.assumed and not label.assumed:
            prediction = Outcome(prediction.column, label.positive, label.negative, assumed=True)
            said = _("the predictions have the values of {label}.").format(label=_scalar(label.column))
            self.assume(6, said)
        elif prediction.assumed:
            self.assume(6, _values_assumed(prediction))
        self.assume(6, _("{column} comes from the submission.").format(column=_scalar(prediction.column)))
        self.column(prediction.column, f"{{type: outcome, {_sides(prediction)}, from: submission}}")

    def column(self, name: str, said: str) -> None:
        self.line(f"{_scalar(name)}: {said}", 6)

    def pools(self) -> None:
        planned = self.spec.cases.planned
        table = _scalar(self.table)
        self.line("")
        self.line("pools:")
        self.assume(2, _("two pools: dev, to try things on, and teste, read once for the result."))
        self.line(f"dev: {{tables: [{table}]}}", 2)
        if planned is None:
            self.assume(
                2,
                _(
                    "no size is planned: with `planned: {{{table}: 12000}}` the check says what can be found, and a "
                    "pool that falls short of it is told."
                ).format(table=table),
            )
            self.line(f"teste: {{tables: [{table}]}}", 2)
        else:
            self.assume(2, _("the {count} planned cases are those of teste.").format(count=planned))
            self.line(f"teste: {{tables: [{table}], planned: {{{table}: {planned}}}}}", 2)

    def analysis(self) -> None:
        spec = self.spec
        self.line("")
        self.line("analyses:")
        self.line(f"{ANALYSIS}:", 2)
        for line in (
            "kind: group_fairness",
            "pool: teste",
            f"table: {_scalar(self.table)}",
            f"label: {_scalar(spec.label.column)}",
            f"prediction: {_scalar(spec.prediction.column)}",
        ):
            self.line(line, 4)
        if spec.probability is not None:
            self.line(f"probability: {_scalar(spec.probability)}", 4)
            if spec.calibration_bins is None:
                self.comment(4, _("without `calibration_bins` nothing is computed from the probability"))
        self.line(f"attributes: {_list(spec.attributes)}", 4)
        self.crossings()
        self.assume(
            4,
            _("`confidence` {confidence}, shared among the groups of a rule.").format(confidence=CONFIDENCE),
        )
        self.line(f"confidence: {CONFIDENCE}", 4)
        if spec.min_cell is None:
            said = _(
                "`min_cell`: a group with fewer than {n} cases in a rate's denominator is left undecided."
            )
            self.assume(4, said.format(n=MIN_CELL))
        self.line(f"min_cell: {spec.min_cell or MIN_CELL}", 4)
        if spec.calibration_bins is not None:
            self.line(f"calibration_bins: {spec.calibration_bins}", 4)
        self.comment(
            4,
            _(
                "With `assume: {label: 0.4, error: 0.15}`, say, `lacre check` simulates how likely each rule is to "
                "pass or fail."
            ),
        )
        if any(rule.max_left_out is None for rule in spec.rules):
            said = _(
                "`max_left_out: {share}` where a rule says none: with more left out, nothing is decided."
            )
            self.assume(4, said.format(share=MAX_LEFT_OUT))
        self.line("criteria:", 4)
        for rule in spec.rules:
            self.rule(rule)

    def crossings(self) -> None:
        spec = self.spec
        if spec.crossings:
            said = _("crossed because a rule asks for it, though `intersections` does not: {names}.")
            self.assume(4, said.format(names=", ".join(_list(names) for names in spec.crossings)))
        crossed = (*spec.intersections, *spec.crossings)
        if crossed:
            self.line(f"intersections: [{', '.join(_list(names) for names in crossed)}]", 4)

    def rule(self, rule: Rule) -> None:
        if rule.side_assumed:
            self.assume(
                6,
                _(
                    "{id}: the worst group of a selection rate is the one selected least, so `worst_group` is a floor. "
                    "Where being selected is the harm, write `max`."
                ).format(id=rule.id),
            )
        self.line(f"- id: {_scalar(rule.id)}", 6)
        self.line(f"metric: {rule.rate}", 8)
        self.line(f"by: {_list(rule.by)}", 8)
        if rule.gap is not None:
            self.line(f"max_group_gap: {_number(rule.gap)}", 8)
        else:
            self.line(f"worst_group: {{{rule.side}: {_number(rule.bound)}}}", 8)
        left_out = MAX_LEFT_OUT if rule.max_left_out is None else rule.max_left_out
        self.line(f"max_left_out: {_number(left_out)}", 8)


def _values_assumed(outcome: Outcome) -> str:
    said = _('the values of {column}: "1" is positive and "0" negative, since the file names none.')
    return said.format(column=_scalar(outcome.column))


def _sides(outcome: Outcome) -> str:
    sides = (("positive", outcome.positive), ("negative", outcome.negative))
    return ", ".join(f"{side}: {_scalar(v[0]) if len(v) == 1 else _list(v)}" for side, v in sides)


def _list(texts: Any) -> str:
    return f"[{', '.join(map(_scalar, texts))}]"


def _scalar(text: str) -> str:
    """Return a text in YAML: as it is where that is plain to every reader, else in quotes."""
    return text if _PLAIN.fullmatch(text) and text.lower() not in _WORDS else _quoted(text)


def _quoted(text: str) -> str:
    """Return a text in double quotes; what JSON escapes, YAML reads the same, and what no terminal shows is escaped."""
    return "".join(c if c.isprintable() else _escape(c) for c in json.dumps(text, ensure_ascii=False))


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _number(value: Fraction | float | None) -> str:
    if isinstance(value, Fraction):
        return _quoted(f"{value.numerator}/{value.denominator}")
    assert value is not None
    return str(int(value)) if float(value).is_integer() else repr(float(value))
