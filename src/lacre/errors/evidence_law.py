"""Refusals of what thresholds, draws, second labels and verdicts of a release rest on."""

from lacre.errors.law import LawError
from lacre.text import N_


class ThresholdNotDeclared(LawError):
    """A threshold is what the protocol in force registers."""

    code = "threshold-not-declared"
    rule = 8
    template = N_(
        "{threshold!r} is no threshold to be calibrated in the protocol in force, which has: {declared}."
    )
    remedy = N_("Name one of these. A threshold that is `fixed` is not calibrated.")


class NothingToCalibrate(LawError):
    """Only thresholds with a rule of calibration are calibrated."""

    code = "nothing-to-calibrate"
    rule = 8
    template = N_("The protocol of {study!r} registers no threshold to be calibrated.")
    remedy = N_(
        "Thresholds that are `fixed` need no calibration: go on with `lacre seal` and `lacre reveal`."
    )


class CalibratesDevOnly(LawError):
    """A threshold is never tuned on another role than `dev`."""

    code = "calibrates-dev-only"
    rule = 8
    template = N_("{pool} is not a pool of role dev, and thresholds are calibrated on dev alone.")
    remedy = N_("Seal `dev` (`lacre seal STUDY dev FILE`) and calibrate on it.")


class CalibrationOutOfPlace(LawError):
    """Thresholds are frozen from a read that was made for it, once."""

    code = "calibration-out-of-place"
    rule = 8
    template = N_("Entry {entry} is no read of dev for these thresholds that is still to be answered.")
    remedy = N_("Run `lacre calibrate` again: it reads dev and freezes what it finds.")


class CalibrationBurns(LawError):
    """A calibration after the reveal makes the pool `dev`; that is asked for, not slipped in."""

    code = "calibration-burns"
    rule = 7
    template = N_(
        "{pools} was read, and its analyses use these thresholds: to calibrate them anew would make {pools} dev for "
        "good. Nothing was read."
    )
    remedy = N_("Earlier results stand either way. To calibrate all the same, add --accept-burn.")


class ThresholdImpossible(LawError):
    """A frozen threshold is one that its registered rule can have found in the rows that were sealed."""

    code = "threshold-impossible"
    rule = 8
    template = N_("What is said of the threshold {threshold!r} cannot be: {why}.")
    remedy = N_("Whoever wrote this did not find it in the scores. Do not rely on it, and run `lacre audit`.")


class NotCalibrated(LawError):
    """An analysis uses thresholds that are frozen before it runs."""

    code = "not-calibrated"
    rule = 8
    template = N_("Not calibrated as the protocol in force registers it: {thresholds}. Nothing was read.")
    remedy = N_("Calibrate on dev first: `lacre calibrate {study} --submission FILE`.")


class GateOnlyGuarda(LawError):
    """A gate is of `guarda`, and of its analyses alone."""

    code = "gate-only-guarda"
    rule = 10
    template = N_(
        "The protocol of {study!r} has no analyses on guarda, or the request names others than its own."
    )
    remedy = N_("A gate runs exactly the registered analyses of guarda; see `lacre show STUDY`.")


class GuardaExhausted(LawError):
    """`guarda` has a budget of reads."""

    code = "guarda-exhausted"
    rule = 10
    template = N_("{pool} was read {most} times, as often as the plan allows. Nothing was read.")
    remedy = N_(
        "Its verdicts stand: `lacre log {study}`. A further release needs new cases: register a new study for them."
    )


class GuardaSpentElsewhere(LawError):
    """All reads of the same cases, in whichever study, share one error rate."""

    code = "guarda-spent-elsewhere"
    rule = 10
    template = N_(
        "{pool} holds cases that other studies had verdicts on: {gated}. All reads of the same cases share one error "
        "rate, and of what those left this study's budget allows no further read. Nothing was read."
    )
    remedy = N_(
        "Seal other cases as guarda: `lacre seal --replace` before its first read, or in a new study."
    )


class GuardaRetired(LawError):
    """Amending criteria or budget of `guarda` after a read retires it."""

    code = "guarda-retired"
    rule = 10
    template = N_(
        "{pool} is retired: after its read at entry {entry} the plan was amended in what its analyses use, or in its "
        "budget."
    )
    remedy = N_("Amend the plan back to what it was, or register a new study with new cases.")


class ErratumOfGuarda(LawError):
    """A gate answers verdicts alone, and an erratum would show numbers beside them."""

    code = "erratum-of-guarda"
    rule = 10
    template = N_(
        "{study}@{entry} is a verdict of {pool}, which answers verdicts alone and as often as its budget allows: it is "
        "not scored again. Nothing was read."
    )
    remedy = N_("Put on record what is wrong with its labels: `lacre deviate {study}@{entry} …`.")


class SealedAsOther(LawError):
    """A pool sealed as `dev` gives no verdict."""

    code = "guarda-sealed-as-dev"
    rule = 10
    template = N_("{pool} was sealed as dev at entry {entry} ({time}), so it gives no verdict on a release.")
    remedy = N_("Register a new study with a guarda that nobody has seen.")


class DrawNotDeclared(LawError):
    """A draw is what the protocol in force registers."""

    code = "draw-not-declared"
    rule = 14
    template = N_("{draw!r} is no draw in the protocol in force; under `{section}` it has: {declared}.")
    remedy = N_("Name one of these, or amend the plan (`lacre amend`).")


class DrawTooLate(LawError):
    """A draw comes before its pool is sealed."""

    code = "draw-too-late"
    rule = 14
    template = N_("{pool} was sealed at entry {entry}: what is drawn now is not what it holds.")
    remedy = N_("The draw comes first: draw, label what was drawn, seal it.")


class DrawFirst(LawError):
    """A pool whose cases are drawn by plan is sealed after the draw."""

    code = "draw-first"
    rule = 14
    template = N_(
        "{pool} is drawn by plan, and no draw of {draws} is on record: once it is sealed, none can be made."
    )
    remedy = N_(
        "Draw first, label what was drawn, then seal it: `lacre sample {study} {draw} FRAME -o drawn.csv`. A plan that "
        "draws nothing is put right by `lacre amend FILE --reason …`."
    )


class SealedNotAsDrawn(LawError):
    """The chances in a file are those of the draw on record."""

    code = "not-as-drawn"
    rule = 14
    template = N_(
        "{count} rows of {table} have another chance of being drawn than the draw at entry {entry} gave their stratum, "
        "or none. Nothing was sealed."
    )
    singular = N_(
        "{count} row of {table} has another chance of being drawn than the draw at entry {entry} gave its stratum, "
        "or none. Nothing was sealed."
    )
    remedy = N_("Keep the columns of what was drawn as they were written, and add the labels beside them.")


class CasesNotDrawn(LawError):
    """Of a pool that is drawn by plan, what is sealed was drawn."""

    code = "cases-not-drawn"
    rule = 14
    template = N_(
        "{count} cases of {table} are none that the draw at entry {entry} drew. Nothing was sealed or read."
    )
    singular = N_(
        "One case of {table} is none that the draw at entry {entry} drew. Nothing was sealed or read."
    )
    remedy = N_(
        "Seal what was drawn, with its labels beside it, and no other case. Drawn cases for which no label could be "
        "had are left out of the file: they are counted, and told with every result. A pool that "
        "nobody has read can be sealed again (`--replace`)."
    )


class DrawnOtherwise(LawError):
    """Cases are recognised by the key that they were drawn by."""

    code = "drawn-by-another-key"
    rule = 14
    template = N_(
        "Since the draw of {draw!r} at entry {entry} the plan was amended in what cases are called by, so that nobody "
        "can tell whether these are the cases drawn. Nothing was sealed."
    )
    remedy = N_(
        "Draw again from the same list, which gives the same cases: `lacre sample {study} {draw} FRAME -o drawn.csv`."
    )


class DrawImpossible(LawError):
    """What is on record of a draw agrees with itself, with the plan, and with earlier draws from the same frame."""

    code = "draw-impossible"
    rule = 14
    template = N_("What is said of the draw {draw!r} cannot be: {why}.")
    remedy = N_("Whoever wrote this did not find it in the files. Do not rely on it, and run `lacre audit`.")


class DrawMissing(LawError):
    """An analysis that weighs by a draw needs it on record."""

    code = "draw-missing"
    rule = 14
    template = N_(
        "No draw of {draws} is on record as the plan in force registers it, and an analysis weighs by it. Nothing was "
        "read."
    )
    remedy = N_(
        "A draw comes before its pool is sealed. While nothing is read, the plan can still be amended to what was "
        "done: `lacre amend FILE --reason …`."
    )


class DrawnFromAnother(LawError):
    """One plan's draw is from one frame."""

    code = "drawn-from-another-frame"
    rule = 14
    template = N_("{draw!r} was drawn at entry {entry}, from another frame.")
    remedy = N_(
        "The same frame gives the same cases again. Another one, or another seed, needs an amended plan: "
        "`lacre amend FILE --reason …`."
    )


class RelabelsOutOfPlace(LawError):
    """Second labels are of what was handed out to be labelled again."""

    code = "relabels-out-of-place"
    rule = 4
    template = N_(
        "Nothing of {pool} was handed out to be labelled again as {draw!r}, or not by the read at entry {entry}."
    )
    remedy = N_("Draw first: `lacre sample {study} --relabel {draw} -o blank.csv`.")


class RelabelsUndeclared(LawError):
    """A second label is one that the plan declares."""

    code = "relabels-undeclared"
    rule = 4
    template = N_("{count} second labels in {column} are none that the plan declares. Nothing was read.")
    remedy = N_("Spell them as the plan does, and leave the cell empty where there is no label: {values}.")


class RelabelsCommitted(LawError):
    """Second labels are given once."""

    code = "relabels-committed"
    rule = 4
    template = N_("Second labels of {draw!r} were committed at entry {entry}.")
    remedy = N_("They stand. Put on record what is wrong with them: `lacre deviate {study} …`.")


class RelabelsTooLate(LawError):
    """Second labels come before the pool is read."""

    code = "relabels-too-late"
    rule = 4
    template = N_("{pool} was read at entry {entry}, so labels that are given now are not blind to it.")
    remedy = N_(
        "Second labels come before the reveal. Put on record what happened: `lacre deviate {study} …`."
    )


class RelabelsTooSoon(LawError):
    """Second labels are given days after the first."""

    code = "relabels-too-soon"
    rule = 4
    template = N_(
        "The second labels of {count} cases come too early. Days that the plan asks for in between: {days}."
    )
    singular = N_(
        "The second label of {count} case comes too early. Days that the plan asks for in between: {days}."
    )
    remedy = N_("Label them on a later day, without the first labels at hand.")


class RelabelsImpossible(LawError):
    """What is on record of second labels agrees with the plan and with the rows that were sealed."""

    code = "relabels-impossible"
    rule = 4
    template = N_("What is said of the second labels of {draw!r} cannot be: {why}.")
    remedy = N_("Whoever wrote this did not find it in the files. Do not rely on it, and run `lacre audit`.")


class RelabelInputsDiffer(LawError):
    """Second labels are of the very inputs that were handed out for them."""

    code = "relabel-inputs-differ"
    rule = 4
    template = N_(
        "{count} cells of inputs that came back with second labels ({columns}) are not what was handed out for their "
        "case."
    )
    singular = N_(
        "One cell of the inputs that came back with second labels ({columns}) is not what was handed out for its case."
    )
    remedy = N_(
        "Put the labels beside the cases they were given for, in the file that was handed out or in a copy of it, or "
        "leave the columns of inputs out."
    )


class RelabelsMissing(LawError):
    """An analysis of second labels needs them committed."""

    code = "relabels-missing"
    rule = 4
    template = N_("No second labels are committed of {draws}, and an analysis is on them. Nothing was read.")
    remedy = N_(
        "Draw and label first: `lacre sample {study} --relabel NAME -o blank.csv`, then "
        "`lacre commit {study} relabels FILE`."
    )


class NotARung(LawError):
    """A rung of training is one that the plan registers."""

    code = "not-a-training-rung"
    rule = 9
    template = N_("{rung!r} is no mitigation by training of {analysis!r}, which has: {declared}.")
    remedy = N_("Name one of these, or run the analysis without --rung.")


class NoRungs(NotARung):
    """A rung of training is asked for where the plan registers none."""

    code = "no-training-rung"
    template = N_("{analysis!r} has no mitigation by training, so there is no {rung!r} to run.")
    remedy = N_(
        "Run it without --rung, which runs its other mitigations side by side. One by training is registered under "
        "`mitigations` with `kind: training`."
    )


class RungsFirst(LawError):
    """Training opens once the earlier mitigations ran and a criterion still does not pass."""

    code = "earlier-rungs-first"
    rule = 9
    template = N_("{rung!r} of {analysis!r} is not open: {why}. Nothing was read.")
    remedy = N_("Run the earlier mitigations first: `lacre run {study} {analysis}`.")
