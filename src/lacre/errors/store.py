"""The ledger as a place on disk."""

from lacre.errors.base import LacreError
from lacre.text import N_


class StoreError(LacreError):
    """The ledger as a place on disk: missing, of another version, or not to be written."""

    code = "store"


class DiskFull(StoreError):
    """The disk or the quota ran out in the middle of a write."""

    code = "disk-full"
    template = N_("The disk is full: {path} was not written.")
    remedy = N_("Nothing was lost: what stood before still stands. Free some space and try again.")


class NotEnoughSpace(StoreError):
    """A write that would not fit was not begun."""

    code = "disk-space"
    template = N_("{folder} needs {needed} bytes of free space and has {free}: nothing was written.")
    remedy = N_("Free some space and run the command again.")


class NotWritten(StoreError):
    """The system refused a write."""

    code = "not-written"
    template = N_("{path} was not written: {why}.")
    remedy = N_("What stood before still stands. Make the folder writable and run the command again.")


class NotRemembered(StoreError):
    """An entry that stands, and is not in this machine's memory."""

    code = "not-remembered"
    template = N_(
        "Entry {entry} stands in the log, but this machine's memory was not brought up to it: {why}"
    )
    remedy = N_(
        "Do not repeat the command: see `lacre log`. {next} The next entry that is written brings the memory "
        "up to date."
    )


class ReceiptLost(StoreError):
    """An entry that stands, and whose receipt could not be written."""

    code = "receipt-lost"
    template = N_("Entry {entry} stands in the log, and it has no receipt: {why}")
    remedy = N_(
        "Do not repeat the command. What the receipt would have shown, a register shows as well, and of every "
        "entry: write one with `lacre export --registry DIR`, and keep a copy where the ledger is not."
    )


class NotReadable(StoreError):
    """The system refused to read a file."""

    code = "not-readable"
    template = N_("{path} cannot be read: {why}.")
    remedy = N_("Check that the file is there and that you may read it.")


class FileMissing(NotReadable):
    """A file that is not there."""

    code = "file-missing"


class FileUnfit(StoreError):
    """A file that is not read whatever it holds: too large, or no regular file."""

    code = "file-unfit"
    template = N_("{path} is not read: {why}.")
    remedy = N_("Leave only the files there that `lacre export` writes.")


class RegisterForeign(StoreError):
    """A published register of another log, or of another history of this one."""

    code = "register-foreign"
    template = N_("{path} holds a register that this ledger does not extend: {why}.")
    remedy = N_(
        "Nothing was written. Export to another folder, or see with `lacre audit --registry` what is there."
    )


class ExportIntoLedger(StoreError):
    """An export to where a ledger keeps what is secret."""

    code = "export-into-ledger"
    template = N_("{path} is private: {why}. Nothing was written.")
    remedy = N_("What is exported is for strangers: name a place that holds nothing of a ledger.")


class RegisterAhead(StoreError):
    """A published register that knows more of the log than the ledger does."""

    code = "register-ahead"
    template = N_("{path} has {published} entries and this ledger {size}: the ledger is an older copy.")
    remedy = N_(
        "Nothing was written. Bring the ledger up to date with `lacre recover`, or restore its newest copy."
    )


class LedgerNotFound(StoreError):
    """A place without a ledger."""

    code = "ledger-not-found"
    template = N_("There is no ledger at {path}.")
    remedy = N_("Make one with `lacre init`, go to where one is (or below it), or name it with --ledger.")


class LedgerExists(StoreError):
    """A ledger is made once in a place."""

    code = "ledger-exists"
    template = N_("There is a ledger at {path} already.")
    remedy = N_("Use it, or make the new one in another folder.")


class StoreNotDatabase(StoreError):
    """The ledger's file is no SQLite database."""

    code = "store-not-a-database"
    template = N_("{path} is not a SQLite database.")
    remedy = N_("Restore the ledger's folder from a copy.")


class StoreForeign(StoreError):
    """A database of another program stands where a ledger's should."""

    code = "store-foreign"
    template = N_("{path} is a database, but not one of lacre's.")
    remedy = N_("Name the ledger's own folder with --ledger, or restore it from a copy.")


class StoreNewer(StoreError):
    """A ledger whose database has a form this version does not know."""

    code = "store-newer"
    template = N_("{path} was written by a newer lacre: it has revision {found}, and this one knows {known}.")
    remedy = N_("Install the newer lacre; a ledger is never taken back to an older form.")


class StoreCorrupt(StoreError):
    """A database that is damaged, or does not fit together."""

    code = "store-corrupt"
    template = N_("{path} is damaged: {why}.")
    remedy = N_("Keep it as it is, see with `lacre audit` what it still shows, and restore a copy.")


class StoreBusy(StoreError):
    """Another process held the database for longer than one waits."""

    code = "store-busy"
    template = N_("{path} was held by another process for {seconds} seconds.")
    remedy = N_("Nothing was written. Run the command again once the other process is done.")


class StoreReadOnly(StoreError):
    """A database that can be read and not written."""

    code = "store-read-only"
    template = N_("{path} cannot be written.")
    remedy = N_("Nothing was written. Make the file and its folder writable, and run the command again.")


class StoreDenied(StoreError):
    """A database the system does not let this user open."""

    code = "store-denied"
    template = N_("{path}, or a file that belongs beside it, cannot be opened.")
    remedy = N_("Check that the file and its folder are yours to read and write, and run the command again.")


class StoreFailed(StoreError):
    """The database gave an error of its own, of the disk under it for the most part."""

    code = "store-failed"
    template = N_("The database {path} failed with {error}.")
    remedy = N_("Nothing was written. Check the disk, and run the command again.")


class StoreRefused(StoreError):
    """A write that the database's own rules refuse."""

    code = "store-refused"
    template = N_("The database {path} refused a write: {why}.")
    remedy = N_("Nothing was written. Run `lacre audit` to see whether the ledger is sound.")


class StoreCommitUncertain(StoreError):
    """The commit gave an error: what was to be written may stand, or not."""

    code = "store-commit-uncertain"
    template = N_("Writing to {path} failed at its very end ({error}): the entry may stand, or not.")
    remedy = N_(
        "Check the disk, and see with `lacre log` whether the entry is there. If it is not, or is a read without "
        "its result, run the same command again."
    )


class ReadAlreadySpent(StoreError):
    """The one first read of a pool was granted before; the database itself says so."""

    code = "read-already-spent"
    template = N_("The first read of {pool} of {study!r} is already on record.")
    remedy = N_("See the result with `lacre show`. To read the pool as dev, on the record, add --accept-dev.")


class NonceRepeated(StoreError):
    """A request that was carried out before."""

    code = "nonce-repeated"
    template = N_("This very request is in the ledger already.")
    remedy = N_("See it with `lacre log`. To ask for the same again, run the command anew.")


class DocumentDiffers(StoreError):
    """Two documents under one digest: the same bytes, told apart in another way."""

    code = "document-differs"
    template = N_("The document {digest} is in the ledger already, with another type or another salt.")
    remedy = N_("Nothing was written. Run `lacre audit` to see whether the ledger is sound.")


class EntryNotFound(StoreError):
    """The ledger has no entry of this number."""

    code = "entry-not-found"
    template = N_("There is no entry {index}: the ledger has {size}, counted from 0.")
    remedy = N_("See the entries with `lacre log`.")


class DocumentMissing(StoreError):
    """A document that an entry names and the ledger lacks."""

    code = "document-missing"
    template = N_("The ledger lacks the document {digest}, which one of its entries names.")
    remedy = N_("Run `lacre audit`, and restore the ledger's folder from a copy.")


class MemoryDamaged(StoreError):
    """What this machine remembers of a ledger cannot be read."""

    code = "memory-damaged"
    template = N_("What this machine remembers of the ledger is damaged: {path}: {why}.")
    remedy = N_(
        "Restore that folder from a copy. If there is none, move it away: the memory starts anew, and a "
        "rollback from before that goes unseen."
    )


class MemoryDocumentDamaged(StoreError):
    """A document in what this machine remembers of a ledger is not the one that was kept."""

    code = "memory-document-damaged"
    template = N_("A document that this machine remembers of the ledger is damaged: {path}: {why}.")
    remedy = N_(
        "Restore that file from a copy. If there is none, move it away: `lacre recover` then brings back all "
        "the rest, and names what is missing."
    )


class NothingRemembered(StoreError):
    """A ledger of which this machine remembers nothing."""

    code = "nothing-remembered"
    template = N_("This machine remembers nothing of this ledger: there is nothing in {path}.")
    remedy = N_(
        "If the ledger was written on another machine, or this one's memory was saved, put that folder there "
        "and run the command again."
    )
