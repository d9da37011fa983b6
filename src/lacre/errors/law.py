"""Requests the law refuses; each names its rule (`lacre.rules`)."""

from typing import ClassVar

from lacre.errors.base import LacreError
from lacre.text import N_


class LawError(LacreError):
    """A request the law refuses; `rule` is its number in `lacre.rules`."""

    code = "law"
    rule: ClassVar[int]


class FewerThanTwoGroups(LawError):
    """A difference between groups where fewer than two are declared."""

    code = "groups-too-few"
    rule = 9
    template = N_("A difference between groups needs two declared groups, and there are fewer: {where}.")
    remedy = N_("Declare the other values of the attribute, or bound the one group with `worst_group`.")


class StudyNotRegistered(LawError):
    """Nothing of a study precedes its registration."""

    code = "study-not-registered"
    rule = 1
    template = N_("There is no study {study!r} in this ledger.")
    remedy = N_(
        "Register its protocol first (`lacre register PROTOCOL`), or see `lacre status` for the studies."
    )


class StudyMisspelt(StudyNotRegistered):
    """A study that is not registered, and another of nearly its name that is."""

    code = "study-misspelt"
    remedy = N_("Did you mean {near!r}? `lacre status` lists the studies.")


class StudyWithEntry(StudyNotRegistered):
    """A name of an entry where one of a study is needed."""

    code = "study-with-entry"
    template = N_("{study!r} is the name of an entry, and what was asked for is of a whole study.")
    remedy = N_("Name the study alone: {alone!r}. `lacre status` lists the studies.")


class StudyAlreadyRegistered(LawError):
    """A study is registered once."""

    code = "study-already-registered"
    rule = 1
    template = N_("The study {study!r} was registered at entry {entry}, {time}, with this very protocol.")
    remedy = N_("Nothing is left to do. To register another plan, give it another `study:` name.")


class StudyHasAnotherPlan(StudyAlreadyRegistered):
    """A study is registered once, and with another protocol than this."""

    code = "study-has-another-plan"
    template = N_("The study {study!r} was registered at entry {entry}, {time}, with another protocol.")
    remedy = N_("A registered plan stands. To register another plan, give it another `study:` name.")


class StudySlugDiffers(LawError):
    """A protocol is registered under its own study's name."""

    code = "study-name-differs"
    rule = 1
    template = N_("The request names the study {study!r}, its protocol {slug!r}.")
    remedy = N_("Sign a new request with `lacre register`.")


class PoolNotDeclared(LawError):
    """A pool is what the protocol in force declares."""

    code = "pool-not-declared"
    rule = 2
    template = N_("The protocol of {study!r} declares no pool {pool!r}; it declares {declared}.")
    remedy = N_("Name one of the declared pools.")


class PoolAlreadySealed(LawError):
    """A pool is sealed once."""

    code = "pool-already-sealed"
    rule = 2
    template = N_("The pool {pool} was sealed at entry {entry} ({time}).")
    remedy = N_(
        "`lacre show STUDY` says what it holds. Until its first read another file can take its place, on the record: "
        'add --replace --reason "TEXT".'
    )


class PoolIsOpen(LawError):
    """An open pool is committed in parts and run; what is done to sealed pools is not done to it."""

    code = "pool-is-open"
    rule = 2
    template = N_(
        "The pool {pool} is declared open: it is committed in parts, and neither sealed nor revealed."
    )
    remedy = N_("Commit its parts (`lacre commit STUDY cases FILE`), then `lacre run STUDY ANALYSIS`.")


class ForeignCases(LawError):
    """A submission for other cases than the pool's."""

    code = "foreign-cases"
    rule = 5
    template = N_(
        "{unknown} rows of the submission for {table} are of no case of the pool ({known} are). "
        "Nothing was spent."
    )
    singular = N_(
        "{unknown} row of the submission for {table} is of no case of the pool ({known} are). Nothing was spent."
    )
    counted = "unknown"
    remedy = N_("Submit for the pool's own ids; `lacre inputs` writes them.")


class PoolTablesDiffer(LawError):
    """A seal holds exactly the declared tables of its pool."""

    code = "pool-tables-differ"
    rule = 2
    template = N_("The pool {pool} holds the tables {declared}; missing: {missing}; not declared: {unknown}.")
    remedy = N_("Give one file or more for each table as TABLE=FILE, in one call of `lacre seal`.")


class LabelsBeforeRegistration(LawError):
    """Labels of a pool other than `dev` come after the registration."""

    code = "labels-before-registration"
    rule = 3
    template = N_("{count} rows for {pool} were labelled before the registration ({time}).")
    singular = N_("{count} row for {pool} was labelled before the registration ({time}).")
    remedy = N_("Such cases can only serve as `dev`: seal them there, or this pool with --as-dev.")


class LabelsInTheFuture(LawError):
    """Labels of a pool other than `dev` were given by the time that it is sealed."""

    code = "labels-in-the-future"
    rule = 3
    template = N_("{count} rows for {pool} have a label dated more than a day later than the broker's clock.")
    singular = N_("{count} row for {pool} has a label dated more than a day later than the broker's clock.")
    remedy = N_(
        "What is sealed was labelled before. Mend the dates in the file, or the column's `zone` in the plan; if they "
        "are right, set this machine's clock."
    )


class PoolNotSealed(LawError):
    """A pool is read once it is sealed."""

    code = "pool-not-sealed"
    rule = 5
    template = N_("The pool {pool} of {study!r} is not sealed yet, so there is nothing to read.")
    remedy = N_("Seal it first: `lacre seal {study} {pool} FILE`.")


class AlreadyRevealed(LawError):
    """`teste` is revealed once."""

    code = "teste-already-read"
    rule = 6
    template = N_("{pool} was revealed at entry {entry}, {time}.")
    remedy = N_(
        "See what it gave with `lacre show {shown}`. To read {pool} again as dev, on the record and exploratory, "
        "add --accept-dev."
    )


class SealedAsDev(LawError):
    """A pool sealed as `dev` has no reveal to give."""

    code = "sealed-as-dev"
    rule = 6
    template = N_("{pool} was sealed as dev at entry {entry} ({time}), so no read of it is a reveal.")
    remedy = N_("To read it as dev, on the record and exploratory, add --accept-dev.")


class RevealOnlyTeste(LawError):
    """Only `teste` is revealed."""

    code = "reveal-only-teste"
    rule = 6
    template = N_("{pool} is not a pool of role teste, and only teste is revealed.")
    remedy = N_("Use `lacre run STUDY ANALYSIS` for analyses on dev and contraste.")


class RevealAlone(LawError):
    """`teste` is read by `reveal` and nothing else."""

    code = "teste-by-reveal-only"
    rule = 6
    template = N_("{pool} is read by `lacre reveal` alone, which runs all its analyses in one read.")
    remedy = N_("Use `lacre reveal STUDY`, or `lacre run STUDY ANALYSIS --pool dev` to rehearse on dev.")


class NothingToReveal(LawError):
    """A reveal runs all analyses registered on `teste`."""

    code = "nothing-to-reveal"
    rule = 6
    template = N_(
        "The protocol of {study!r} has no analyses on {pool}, or the request names others than its own."
    )
    remedy = N_("A reveal runs exactly the registered analyses of teste; see `lacre show STUDY`.")


class NotBetweenGroups(LawError):
    """`contraste` answers analyses that compare groups."""

    code = "not-between-groups"
    rule = 9
    template = N_("{pool} answers only analyses that compare groups.")
    remedy = N_("Run this analysis on the pool it is registered for.")


class AnalysisNotDeclared(LawError):
    """Analyses are what the protocol registers."""

    code = "analysis-not-declared"
    rule = 11
    template = N_("The protocol declares no analysis {analysis!r}; it declares {declared}.")
    remedy = N_("Name one of the declared analyses.")


class GuardaByGateOnly(LawError):
    """`guarda` answers only verdicts."""

    code = "guarda-by-gate-only"
    rule = 10
    template = N_("{pool} is a pool of role guarda, which answers verdicts only and is not run.")
    remedy = N_("Run the analysis on dev to rehearse it.")


class ProtocolNotInForce(LawError):
    """A request names the protocol in force."""

    code = "protocol-not-in-force"
    rule = 11
    template = N_("The protocol given for {study!r} is not the one in force:")
    remedy = N_(
        "Use the registered protocol (leave the file out), or register the changed plan as another study."
    )

    listing = "difference"


class SharedCases(LawError):
    """Pools that must stay apart share cases."""

    code = "shared-cases"
    rule = 12
    template = N_("{pool} must hold unseen cases of its own, and shares {overlaps}.")
    remedy = N_(
        "Take these cases out of the file; or use the pool as dev: `seal --as-dev`, `reveal --accept-dev`. If contents "
        "are alike and the cases are others, declare as input the column that tells them apart (`lacre amend`)."
    )


class ExposesSealedPool(LawError):
    """A read exposes another study's sealed pool."""

    code = "exposes-sealed-pool"
    rule = 12
    template = N_("Reading this would expose {overlaps}, sealed and unread.")
    remedy = N_("Those cases could then no longer test anything. If that is meant, add --accept-exposure.")


class SystemsDiffer(LawError):
    """Submissions come from the systems that the analyses are of, once each."""

    code = "systems-differ"
    rule = 5
    template = N_("The analyses need submissions of {needed}; they were given for {given}.")
    remedy = N_("Give each of these systems' files once, as SYSTEM:TABLE=FILE.")


class SubmittedTablesDiffer(LawError):
    """A submission holds the tables that the analyses need of it."""

    code = "submitted-tables-differ"
    rule = 5
    template = N_("The analyses need {needed} of each submission; one holds {given}.")
    remedy = N_("Give each system's files for these tables, as SYSTEM:TABLE=FILE.")


class InputsTakeNothing(LawError):
    """Handing out inputs is no analysis."""

    code = "inputs-take-nothing"
    rule = 5
    template = N_("The request for the inputs of {pool} names analyses, submissions or a read to finish.")
    remedy = N_("Ask with `lacre inputs` for ids and input columns, and with `lacre reveal` for results.")


class RunsOneAnalysis(LawError):
    """A run is of one analysis."""

    code = "runs-one-analysis"
    rule = 9
    template = N_("A run is of one analysis, and the request names {count}.")
    remedy = N_("Run each with a `lacre run` of its own.")


class FinishDiffers(LawError):
    """A crashed read is finished for the same request and inputs."""

    code = "finish-differs"
    rule = 16
    template = N_(
        "The read at entry {entry} of {pool} cannot be finished by this request: its inputs differ."
    )
    remedy = N_("Give the same submission again without --accept-dev, or read anew with --accept-dev.")


class ReadInProgress(LawError):
    """A read whose process still lives is not finished by another."""

    code = "read-in-progress"
    rule = 16
    template = N_("The read at entry {entry} of {pool} is in progress in another process.")
    remedy = N_("Wait for it; if it crashes, the same call finishes it.")


class KeyNotEntitled(LawError):
    """A request is signed by a key that may ask it."""

    code = "key-not-entitled"
    rule = 5
    template = N_("The key {key}… does not hold the role {role} at this point of the ledger.")
    remedy = N_(
        "Sign with a key that holds it (--key FILE), or have an owner enrol one (`lacre key enrol`). `lacre key list` "
        "shows the keys."
    )


class KeyNotEnrolled(KeyNotEntitled):
    """A request is signed by a key of this ledger."""

    code = "key-not-enrolled"
    template = N_("The key {key}… is not enrolled in this ledger, and this takes a key with the role {role}.")
    remedy = N_(
        "Have an owner enrol it (`lacre key enrol PUBLIC --role {role}`), or sign with another (--key FILE)."
    )


class KeyRevoked(KeyNotEntitled):
    """A revoked key signs nothing more."""

    code = "key-revoked"
    template = N_(
        "The key {key}… was revoked at entry {entry}, and signs nothing more; this takes the role {role}."
    )
    remedy = N_(
        "What it signed before stands. Sign with another key (--key FILE); an owner can enrol one with "
        "`lacre key enrol PUBLIC --role {role}`."
    )


class LedgerRolledBack(LawError):
    """A ledger that is smaller than it was seen before."""

    code = "ledger-rolled-back"
    rule = 18
    template = N_("This ledger has {size} entries and was seen before with {remembered}: it was rolled back.")
    remedy = N_(
        "`lacre recover` brings back what this machine remembers; so does a newer copy of its folder. Until "
        "then nothing is written to it."
    )


class ExportRolledBack(LedgerRolledBack):
    """Nothing is exported from a ledger that was rolled back."""

    code = "export-rolled-back"
    remedy = N_(
        "`lacre recover` brings back what this machine remembers; so does a newer copy of its folder. Until "
        "then nothing is exported: strangers would get a history that takes back what was on record."
    )


class LedgerForked(LawError):
    """A ledger that is no extension of what was seen of it before."""

    code = "ledger-forked"
    rule = 18
    template = N_("This ledger's first {remembered} entries are not those seen before: it was rewritten.")
    remedy = N_(
        "Restore the copy of its folder that was seen. Until then nothing is written to this one. If it was copied "
        "and both copies went on, keep the one that others hold receipts or checkpoints of, and do again there what "
        "only the other has: two copies cannot be merged."
    )


class ExportForked(LedgerForked):
    """Nothing is exported from a ledger that was rewritten."""

    code = "export-forked"
    remedy = N_(
        "Restore the copy of its folder that was seen. Until then nothing is exported: strangers would get "
        "another history than the one that was on record."
    )
