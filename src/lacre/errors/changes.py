"""Requests the law refuses that would change a study, or who may act in it; each names its rule."""

from typing import ClassVar

from lacre.errors.law import LawError
from lacre.text import N_


class CriterionInfeasible(LawError):
    """A criterion that no outcome passes, or none fails."""

    code = "criterion-infeasible"
    rule = 1
    listing: ClassVar[str] = "criteria"
    template = N_("At the planned counts PASS or FAIL is out of reach of criteria:")
    remedy = N_(
        "Plan more cases or change the criterion (`lacre check PROTOCOL` says what it takes); to keep it as it is, "
        'say why, on record: --accept-infeasible "REASON".'
    )


class StudyWithdrawn(LawError):
    """Nothing more is done in a withdrawn study."""

    code = "study-withdrawn"
    rule = 17
    template = N_("The study {study!r} was withdrawn at entry {entry}, {time}.")
    remedy = N_("What it has on record stays (`lacre show {study}`). To go on, register another study.")


class NothingToReplace(LawError):
    """A replacement of a pool that is not sealed."""

    code = "nothing-to-replace"
    rule = 2
    template = N_("The pool {pool} is not sealed, so there is nothing to replace.")
    remedy = N_("Seal it without --replace.")


class ReplacementUnexplained(LawError):
    """A replacement says why."""

    code = "replacement-unexplained"
    rule = 2
    template = N_("The pool {pool} is to be replaced, and nothing says why.")
    remedy = N_('Say it, on the record: --reason "TEXT".')


class PoolAlreadyRead(LawError):
    """A pool is replaced until its first read."""

    code = "pool-already-read"
    rule = 2
    template = N_("The pool {pool} was read at entry {entry} ({time}), and can no longer be replaced.")
    remedy = N_(
        "If labels were wrong, score the same submission again on corrected ones: `lacre erratum STUDY@RESULT FILE`. "
        "Other cases need another study."
    )


class SealedOtherwise(LawError):
    """A pool that was sealed under a plan that reads its files in another way."""

    code = "sealed-otherwise"
    rule = 2
    template = N_(
        "The pool {pool} was sealed at entry {entry}, and the amendment at entry {amended} declares its tables "
        "otherwise: the sealed files could not be read, or their cases not be recognised."
    )
    remedy = N_(
        "Until its first read, seal it again with --replace; otherwise amend the tables back to what they were."
    )


class AmendmentBurns(LawError):
    """An amendment of what was read makes the pool `dev`; that is asked for, not slipped in."""

    code = "amendment-burns"
    rule = 7
    template = N_(
        "{pools} was read, and this amendment changes what its analyses use: it would make {pools} dev for good. "
        "Nothing was changed."
    )
    remedy = N_(
        "Earlier results stand either way. To amend all the same, add --accept-burn; to put something on record "
        "without changing the plan, use `lacre deviate`."
    )


class FieldsLocked(LawError):
    """What a protocol locks is not amended."""

    code = "fields-locked"
    rule = 13
    template = N_("The protocol locks what this amendment would change: {fields}.")
    remedy = N_("Leave it as registered, or register another study.")


class NothingAmended(LawError):
    """An amendment that changes nothing."""

    code = "nothing-amended"
    rule = 14
    template = N_("This is the protocol of {study!r} that is in force: there is nothing to amend.")
    remedy = N_("Change the file first. To put words on record, use `lacre deviate`.")


class EntryNotOfStudy(LawError):
    """Words about an entry that the study does not have."""

    code = "entry-not-of-study"
    rule = 14
    template = N_("The study {study!r} has no entry {entry}.")
    remedy = N_("See its entries with `lacre log {study}`.")


class NothingToErase(LawError):
    """An erasure of what no entry named before."""

    code = "nothing-to-erase"
    rule = 17
    template = N_("No name, reason or deviation on record has the digest {digest}…, or it is erased already.")
    remedy = N_("`lacre show @ENTRY` shows an entry's texts and their digests.")


class CorrectsNoResult(LawError):
    """An erratum of what is no result of a read."""

    code = "corrects-no-result"
    rule = 17
    template = N_("Entry {entry} is no result of {study!r} that can be scored again.")
    remedy = N_(
        "Name the first result, as STUDY@ENTRY; it is what each erratum corrects. `lacre show {study}` lists them."
    )


class ErratumDiffers(LawError):
    """An erratum scores the same submissions by the same analyses."""

    code = "erratum-differs"
    rule = 17
    template = N_("An erratum of {study}@{entry} takes its submissions, analyses and protocol as they were.")
    remedy = N_("Sign a new request with `lacre erratum {study}@{entry} FILE`.")


class ErratumTablesUnknown(LawError):
    """An erratum corrects tables that the pool holds."""

    code = "erratum-tables-unknown"
    rule = 17
    template = N_("The pool {pool} holds the tables {tables}; corrected were given for: {given}.")
    remedy = N_("Give each table that changed, whole, as TABLE=FILE.")


class RewrapDiffers(LawError):
    """A pool changes hands whole."""

    code = "rewrap-differs"
    rule = 2
    template = N_("The request does not hand over exactly what is kept of the pool {pool}, or names nobody.")
    remedy = N_("Sign a new request with `lacre rewrap`.")


class RequestAnswered(LawError):
    """A request is answered once."""

    code = "request-answered"
    rule = 6
    template = N_("This request was answered already: {result}.")
    remedy = N_("See what it gave with `lacre show {result}`.")


class RequestInProgress(LawError):
    """A request that another process is answering."""

    code = "request-in-progress"
    rule = 16
    template = N_("This request for {study}/{pool} is being answered by another process.")
    remedy = N_("Wait for it; if it crashes, the same call goes on from there.")


class RequestHistoryDiffers(LawError):
    """A request whose signer saw another history than this ledger's."""

    code = "request-history-differs"
    rule = 18
    template = N_("Who signed this request had seen a ledger of {seen} entries: {why}.")
    remedy = N_(
        "One of the two ledgers is an old copy, or was rewritten: compare them with `lacre audit`, then have the "
        "request made anew. Nothing was spent."
    )


class RequestOutdated(LawError):
    """A request that was signed before the pool was sealed as it is now."""

    code = "request-outdated"
    rule = 2
    template = N_("The pool {pool} was sealed at entry {entry}, after this request was signed.")
    remedy = N_("Have the request made anew, for the pool as it is now. Nothing was spent.")


class RequestBeforeAmendment(LawError):
    """A request that was signed under a plan that was amended since."""

    code = "request-before-amendment"
    rule = 11
    template = N_(
        "This request was signed under the plan of {study!r} before the amendment at entry {entry}."
    )
    remedy = N_(
        "Ask for a new one, made under the plan in force: `lacre reveal {study} --submission FILE --request-out FILE`. "
        "Nothing was spent."
    )


class RequestKeyRevoked(LawError):
    """A request that was signed by a key which was revoked before anybody answered."""

    code = "request-key-revoked"
    rule = 5
    template = N_("This request was signed by the key {key}…, which was revoked at entry {entry}.")
    remedy = N_(
        "Ask for a new one, signed with a key that acts now: `lacre reveal {study} --submission FILE "
        "--request-out FILE`. Nothing was spent."
    )


class FinishNotCompared(LawError):
    """A submission that cannot be held against the one of the read that is to be finished."""

    code = "finish-not-compared"
    rule = 16
    template = N_(
        "The read of {pool} at entry {entry} has no result yet, and its submission cannot be opened here to compare."
    )
    remedy = N_("Leave --submission out: the request then asks to finish that read, with what it was given.")


class KeyAlreadyEnrolled(LawError):
    """A key is enrolled once, and a revoked one never again."""

    code = "key-already-enrolled"
    rule = 5
    template = N_("The key {key}… was enrolled at entry {entry}.")
    remedy = N_("See the keys with `lacre key list`. A revoked key stays revoked: make another.")


class KeyNotActive(LawError):
    """A key that is not enrolled, or was revoked."""

    code = "key-not-active"
    rule = 5
    template = N_("The key {key}… is not enrolled here, or was revoked.")
    remedy = N_("See the keys with `lacre key list`.")


class KeyRolesMixed(LawError):
    """Roles that no person's key can have."""

    code = "key-roles-mixed"
    rule = 5
    template = N_("A key cannot be enrolled with the roles {roles}; people's roles are {known}.")
    remedy = N_(
        "Choose among them. The broker's and the log's keys are replaced by `lacre key rotate broker|log`."
    )


class KeyUnsound(LawError):
    """Bytes under which anybody could sign, or nobody."""

    code = "key-unsound"
    rule = 5
    template = N_("{key}… is no sound Ed25519 public key: anybody could sign as it, or nobody.")
    remedy = N_("Have the key made with `lacre key new`, and enrol the digits it prints.")


class LastKeyOfRole(LawError):
    """A ledger keeps an owner, a broker and a log key."""

    code = "last-key-of-role"
    rule = 5
    template = N_("The key {key}… is the last {role}, without which the ledger could not go on.")
    remedy = N_("Enrol another first, or have one take its place with `lacre key rotate`.")


class RotationUnderWay(LawError):
    """A log key is replaced by one other at a time."""

    code = "rotation-under-way"
    rule = 5
    template = N_("The log's key is being replaced already: two sign its checkpoints.")
    remedy = N_("End that first by revoking the old one: `lacre key revoke {key}`.")
