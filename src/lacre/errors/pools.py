"""Sealed pools and their blobs."""

from lacre.errors.base import LacreError
from lacre.text import N_


class PoolError(LacreError):
    """A sealed pool's blobs: missing, changed, or not to be opened."""

    code = "pool"


class RecipientInvalid(PoolError):
    """A recipient that no pool can be sealed to."""

    code = "recipient-invalid"
    template = N_("{recipient} is no recipient a pool can be sealed to: {why}.")
    remedy = N_("A recipient begins with age1 and is what `age-keygen -y` prints for an identity.")


class RecipientsTooMany(PoolError):
    """More recipients than an entry of the log has room to name."""

    code = "recipients-too-many"
    template = N_("A pool is sealed to {limit} recipients at most, and {count} were given.")
    remedy = N_("Name fewer; one identity may be held by several people.")


class IdentityCannotOpen(PoolError):
    """A sealed key, and no identity it was sealed to."""

    code = "identity-cannot-open"
    template = N_("None of the {count} identities at hand opens {study}/{pool}.")
    singular = N_("The one identity at hand does not open {study}/{pool}.")
    remedy = N_(
        "It is sealed to {recipients}: give the file of such an identity with --identity, or ask whoever holds one to "
        "do this in this ledger."
    )


class RevealCannotOpen(IdentityCannotOpen):
    """A pool that is to be revealed, and no identity here that opens it."""

    code = "reveal-cannot-open"
    remedy = N_(
        "It is sealed to {recipients}: give the file of such an identity with --identity, or ask whoever holds one. "
        "`lacre reveal {study} --submission FILE --request-out FILE` writes a request that they can answer; with "
        "--dry-run it only checks what can be checked without opening the pool."
    )


class InputsCannotOpen(IdentityCannotOpen):
    """A pool whose inputs are asked for, and no identity here that opens it."""

    code = "inputs-cannot-open"
    remedy = N_(
        "It is sealed to {recipients}: give the file of such an identity with --identity, or ask whoever holds one to "
        "run `lacre inputs {study} {pool} -o FILE --identity FILE` in this ledger, and to send you what it writes."
    )


class SubmissionCannotOpen(PoolError):
    """A submission that came with a request, and no identity it was encrypted to."""

    code = "submission-cannot-open"
    template = N_("None of the {count} identities at hand opens the submission in {file}. Nothing was spent.")
    singular = N_("The one identity at hand does not open the submission in {file}. Nothing was spent.")
    remedy = N_(
        "Give the file of another identity with --identity. If the pool changed hands since, the request has to be "
        "made anew."
    )


class PoolBlobMissing(PoolError):
    """A file of a pool that the ledger names and that is not there."""

    code = "pool-blob-missing"
    template = N_("A file of {study}/{pool} is missing: {path}.")
    remedy = N_("Put it back from a copy of the ledger's folder; the ledger itself cannot make it again.")


class DrawnCasesMissing(PoolBlobMissing):
    """The fingerprints of the cases that a draw drew, which a seal is held against."""

    code = "drawn-cases-missing"
    template = N_("The file with the fingerprints of the cases that entry {entry} drew is missing: {path}.")
    remedy = N_(
        "Put it back from a copy of the ledger's folder, or draw again from the same list, which makes it again: "
        "`lacre sample {study} {draw} FRAME -o drawn.csv`. Nothing was sealed."
    )


class PoolBlobChanged(PoolError):
    """A file of a pool that is not what the ledger committed to."""

    code = "pool-blob-changed"
    template = N_("A {kind} file of {study}/{pool} is not what was sealed: {why}.")
    remedy = N_("Put it back from a copy of the ledger's folder; nothing of this one was used.")


class ReadUnfinished(PoolError):
    """A read that is spent, and whose result could not be had."""

    code = "read-unfinished"
    template = N_("The read of {pool} is on record at entry {entry}, and its result is not: {why}")
    remedy = N_("{next} Then give the same call again: it finishes this read.")


class ReadUncertain(PoolError):
    """A read that is spent, and whose result may be on record or not."""

    code = "read-uncertain"
    template = N_(
        "The read of {pool} is on record at entry {entry}; whether its result is, is uncertain: {why}"
    )
    remedy = N_(
        "Check the disk, and see with `lacre log` whether the result is there; if not, give the call again."
    )


class CalibrationUnfinished(PoolError):
    """A calibration whose read is on record, and that froze nothing."""

    code = "calibration-unfinished"
    template = N_("The read of {pool} is on record at entry {entry}, and no threshold was frozen: {why}")
    remedy = N_("{next} Then calibrate again: dev may be read as often as it takes.")


class CommitUnfinished(PoolError):
    """Second labels that were looked at beside the first ones, and are not committed."""

    code = "commit-unfinished"
    template = N_("The look at {pool} is on record at entry {entry}, and the labels are not committed: {why}")
    remedy = N_("{next} Then commit again.")


class DrawUnfinished(PoolError):
    """A draw that is on record, and could not be handed out."""

    code = "draw-unfinished"
    template = N_("The draw {draw!r} is on record at entry {entry}, and was not written: {why}")
    remedy = N_("{next} Then draw again from the same frame: it gives the same cases.")


class FrameShort(PoolError):
    """A frame that has fewer units in a stratum than are to be drawn."""

    code = "frame-short"
    template = N_("{draw!r} draws {size} of stratum {stratum!r}, and the frame has {population}.")
    remedy = N_("Complete the frame, or amend the sizes (`lacre amend`). Nothing was drawn.")


class RelabelsNotBlind(PoolError):
    """Second labels in a file that holds what the first ones could be read from."""

    code = "relabels-not-blind"
    template = N_(
        "{file} holds columns beside the key, the inputs and the labels that were asked for again: {columns}."
    )
    remedy = N_(
        "A second label is given blind: hand in the file that was drawn, filled in, and nothing else."
    )


class RelabelsUndated(PoolError):
    """Second labels of which nobody can tell that they came days after the first."""

    code = "relabels-undated"
    template = N_(
        "{count} rows of {file} do not say when they were labelled, and the plan asks for days apart."
    )
    singular = N_(
        "{count} row of {file} does not say when it was labelled, and the plan asks for days apart."
    )
    remedy = N_("Declare a column `is: labelled` and fill it in for every row.")


class RelabelsForeign(PoolError):
    """Second labels of cases that were not drawn for it."""

    code = "relabels-foreign"
    template = N_("{count} rows are of cases that {draw!r} did not draw; it drew {drawn}.")
    singular = N_("{count} row is of a case that {draw!r} did not draw; it drew {drawn}.")
    remedy = N_(
        "Hand in labels of the drawn cases alone: `lacre sample STUDY --relabel NAME -o blank.csv` lists them."
    )


class InputsUnfinished(PoolError):
    """Inputs that are handed out by what is on record, and could not be."""

    code = "inputs-unfinished"
    template = N_("Handing out the inputs of {pool} is on record at entry {entry}, and was not done: {why}")
    remedy = N_("{next} Then give the call again: it goes on record as another.")


class ErratumUnchanged(PoolError):
    """A corrected file that is the sealed one."""

    code = "erratum-unchanged"
    template = N_("The file for {table} is, byte for byte, what was sealed: there is nothing to score again.")
    remedy = N_("Give the corrected file. Nothing was read.")


class ErratumCasesDiffer(PoolError):
    """A corrected table of other cases than the pool's."""

    code = "erratum-cases-differ"
    template = N_(
        "The corrected file for {table} is not of the pool's cases. Rows of no case of the pool: {unknown}; cases of "
        "the pool without a row: {absent}. Nothing was read."
    )
    remedy = N_("Give the table whole, with the keys it was sealed with, and change labels alone.")


class ErratumInputsDiffer(PoolError):
    """A corrected table whose cases have other inputs than those sealed."""

    code = "erratum-inputs-differ"
    template = N_(
        "The corrected file for {table} has {what} that the pool does not: {count}. An erratum corrects labels "
        "alone. Nothing was read."
    )
    remedy = N_(
        "Take the other columns as they were sealed. What else was wrong with the data is words for "
        "`lacre deviate`, or another study."
    )


class ErratumChangesMore(PoolError):
    """A corrected table that turned out to change what is no label."""

    code = "erratum-changes-more"
    template = N_(
        "The corrected files differ from the sealed ones in more than labels ({columns}), so nothing was scored. "
        "It is on record at entry {entry}, as an attempt without a result."
    )
    remedy = N_(
        "Take the other columns as they were sealed, and give the erratum again: it is another attempt."
    )


class ErratumUnfinished(PoolError):
    """An erratum that is on record, and whose result could not be had."""

    code = "erratum-unfinished"
    template = N_("The erratum is on record at entry {entry}, and its result is not: {why}")
    remedy = N_("{next} Then give the erratum again: it goes on record as another.")


class PoolNameUnsafe(PoolError):
    """A name of a study or a pool that would lead out of the vault's folder."""

    code = "pool-name-unsafe"
    template = N_("{name!r} cannot name a folder of sealed pools.")
    remedy = N_("Use letters, digits, hyphens, underscores and dots, with a letter or digit first.")


class SealNotProven(PoolError):
    """A pool that did not open again right after it was sealed."""

    code = "seal-not-proven"
    template = N_("{study}/{pool} did not open again after sealing ({why}); it was not recorded.")
    remedy = N_("Memory or disk may be failing: check them, and seal again. The ledger is as it was.")


class PrintsInvalid(PoolError):
    """Bytes that are no set of fingerprints, or not one of this ledger."""

    code = "fingerprints-invalid"
    template = N_("These are no fingerprints of this ledger's pools: {why}.")
    remedy = N_("Put the file and the ledger's fingerprint key back from a copy of the ledger's folder.")


class MetDamaged(PoolError):
    """A file of what this machine remembers of cases read is not as it was written."""

    code = "met-damaged"
    template = N_("{path}, where this machine remembers which cases were read, is damaged: {why}.")
    remedy = N_("Put it back from a copy, or move it away: the reads it held are then no longer remembered.")
