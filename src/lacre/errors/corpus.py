"""Refusals of an open pool: how its parts are committed, and what may be read of it."""

from lacre.errors.law import LawError
from lacre.errors.pools import PoolError
from lacre.text import N_


class PoolNotOpen(LawError):
    """Parts are committed of an open pool alone."""

    code = "pool-not-open"
    rule = 2
    template = N_("The pool {pool} is not declared open: it is sealed, not committed in parts.")
    remedy = N_("Seal it: `lacre seal STUDY {pool} FILE`.")


class PartNotDeclared(LawError):
    """A part is what the order of the pool says."""

    code = "part-not-declared"
    rule = 2
    template = N_("The pool {pool} has no part {part}; by its order it has: {parts}.")
    remedy = N_("Commit one of these, in this order.")


class PartCommitted(LawError):
    """Each part is committed once."""

    code = "part-already-committed"
    rule = 4
    template = N_("The {part} of {pool} were committed at entry {entry} ({time}), and are committed once.")
    remedy = N_(
        'They stand. Put on record what is wrong with them: `lacre deviate {study} "TEXT"`; or withdraw the study, and '
        "register a new one."
    )


class PartOutOfOrder(LawError):
    """Cases come before labels, and labels before scores."""

    code = "part-out-of-order"
    rule = 4
    template = N_("The {part} of {pool} are committed after its {first}, which are not committed yet.")
    remedy = N_("Commit these first: `lacre commit {study} {first} FILE`.")


class PartTablesDiffer(LawError):
    """A part comes with exactly the tables that have columns of it."""

    code = "part-tables-differ"
    rule = 2
    template = N_("The {part} are of the tables {declared}; missing: {missing}; not of this part: {unknown}.")
    remedy = N_(
        "Give one file or more for each of these tables as TABLE=FILE, in one call of `lacre commit`."
    )


class PartHoldsOthers(LawError):
    """A file of one part holds no column of another that is to be independent of it."""

    code = "part-holds-others"
    rule = 4
    template = N_("The file with {part} holds columns of another part: {columns}.")
    remedy = N_(
        "Labels are given without the scores at hand, and scores without the labels. Leave these columns out, and "
        "commit each in the file of its own part."
    )


class PartForeign(LawError):
    """Labels and scores are of committed cases."""

    code = "part-of-foreign-cases"
    rule = 4
    template = N_("{count} rows of the {part} are of no case that was committed to {pool}.")
    singular = N_("{count} row of the {part} is of no case that was committed to {pool}.")
    remedy = N_("Give rows of the committed cases alone, by their ids. A case without a row counts as blank.")


class CorpusLabelsEarly(LawError):
    """Labels of an open pool come after the registration."""

    code = "corpus-labels-before-registration"
    rule = 3
    template = N_("{count} cases of {pool} were labelled before the registration ({time}).")
    singular = N_("{count} case of {pool} was labelled before the registration ({time}).")
    remedy = N_(
        "Label these cases now, under the registered plan; or leave their rows out of the file, so that they count as "
        "blank."
    )


class ScoresBeforeLabels(LawError):
    """A case is labelled before it is scored."""

    code = "scores-before-labels"
    rule = 4
    template = N_(
        "{count} cases of {pool} are not shown to be labelled before they were scored, by their times."
    )
    singular = N_("{count} case of {pool} is not shown to be labelled before it was scored, by its times.")
    remedy = N_(
        "Score these cases now that their labels stand, each with its time; or leave their rows out of the file, so "
        "that they count as blank."
    )


class CorpusExposes(LawError):
    """What is committed in the open is of no pool that is to stay unseen."""

    code = "corpus-exposes-sealed-pool"
    rule = 12
    template = N_("To commit {pool} in the open would expose {overlaps}, sealed and to be kept apart.")
    remedy = N_("Leave these cases out of the file.")


class CorpusReadOtherwise(LawError):
    """An open pool is read as it was committed."""

    code = "corpus-read-otherwise"
    rule = 2
    template = N_(
        "The {pool} was committed from entry {entry} on, and the plan as amended at entry {amended} reads its files, "
        "or parts them, in another way."
    )
    remedy = N_(
        "Amend the plan so that its tables and their parts are as they were, or register a new study."
    )


class CorpusIncomplete(LawError):
    """An open pool is read once all its parts stand."""

    code = "corpus-incomplete"
    rule = 4
    template = N_("Not committed yet of {pool}: {missing}. Nothing was read.")
    remedy = N_("Commit what comes next: `lacre commit {study} {first} FILE`.")


class CorpusOfOthers(LawError):
    """An open pool answers the analyses that are registered on it."""

    code = "corpus-of-others"
    rule = 9
    template = N_(
        "The analysis {analysis!r} is registered on {own}, and {pool} answers its own analyses alone."
    )
    remedy = N_("Run it on {own}, or register an analysis of {pool}.")


class CorpusTakesNothing(LawError):
    """All that is analysed of an open pool was committed to it."""

    code = "corpus-takes-nothing"
    rule = 4
    template = N_(
        "A run on {pool} takes no submission, no rung and no flag of a sealed pool: its scores were committed."
    )
    remedy = N_("Run it with the names of the study and the analysis alone.")


class CorpusDocumentChanged(LawError):
    """What was committed in the open is read as it was."""

    code = "corpus-document-changed"
    rule = 5
    template = N_(
        "The file {digest}… of {pool} in this ledger is not what its entry committed to. Nothing was read."
    )
    remedy = N_("See `lacre audit`. The public register, or a bundle, may hold the file as it was.")


class CorpusRunUnfinished(PoolError):
    """A run on an open pool that is on record, and whose result could not be had."""

    code = "corpus-run-unfinished"
    template = N_("The run on {pool} is on record at entry {entry}, and its result is not: {why}")
    remedy = N_("{next} Then run it again: a new run gives the same numbers.")


class CorpusFileTooLarge(PoolError):
    """A file that no published copy of the ledger could hold."""

    code = "corpus-file-too-large"
    template = N_(
        "{file} has more than {most} MiB, which is more than a file in the open may have: copies of the ledger hold it."
    )
    remedy = N_(
        "Give the table in several files, each as TABLE=FILE; or leave out columns that are not declared."
    )


class ErratumOfCorpus(LawError):
    """Labels of an open pool are not corrected after the scores."""

    code = "erratum-of-corpus"
    rule = 17
    template = N_(
        "{study}@{entry} is of {pool}, whose labels are open and stand since before its scores: they are not corrected "
        "with the scores at hand."
    )
    remedy = N_("Put on record what is wrong with them: `lacre deviate {study}@{entry} …`.")
