"""Bytes that are not in one of the ledger's formats."""

from lacre.errors.base import LacreError
from lacre.text import N_


class FormatError(LacreError):
    """Bytes that are not in one of the ledger's formats."""

    code = "format"
    remedy = N_("The bytes were changed on their way or come from another program: fetch them again.")


class EnvelopeInvalid(FormatError):
    """Bytes that are no DSSE envelope in the one form the ledger accepts."""

    code = "envelope-invalid"
    template = N_("This is no signed envelope of a ledger: {why}.")


class EntryTooLarge(FormatError):
    """An entry past what a tile of the log can hold."""

    code = "entry-too-large"
    template = N_("The entry has {size} bytes, and an entry of the log at most {limit}.")
    remedy = N_("Long texts and lists belong in documents beside the log: shorten what the entry carries.")


class StatementInvalid(FormatError):
    """A payload that is no in-toto statement of a known kind."""

    code = "statement-invalid"
    template = N_("This is no statement of a ledger: {why}.")


class SignatureInvalid(FormatError):
    """A signature that its supposed key did not make over these bytes."""

    code = "signature-invalid"
    template = N_("No signature here was made over these bytes by key {keyid}.")
    remedy = N_("The bytes or the signature were changed, or another key made it: run `lacre audit`.")


class VerifierKeyInvalid(FormatError):
    """Text that is no verifier key of a signed note."""

    code = "verifier-key-invalid"
    template = N_("This is no verifier key: {why}.")
    remedy = N_("A verifier key reads NAME+HASH+KEY, on one line, exactly as its log published it.")


class NoteInvalid(FormatError):
    """Bytes that are no signed note, or a note that a known key did not sign as it says."""

    code = "note-invalid"
    template = N_("This is no signed note: {why}.")


class NoteUnsigned(FormatError):
    """A signed note without a signature from any key that was asked for."""

    code = "note-unsigned"
    template = N_("None of the {known} known keys signed this note.")
    remedy = N_("Compare the names on its signature lines with the keys of the ledger it should be from.")


class CheckpointInvalid(FormatError):
    """The body of a note that is no checkpoint, or a checkpoint not signed by its own log."""

    code = "checkpoint-invalid"
    template = N_("This is no checkpoint: {why}.")


class ReceiptInvalid(FormatError):
    """Text that is no receipt."""

    code = "receipt-invalid"
    template = N_("This is no receipt: {why}.")


class ProofInvalid(FormatError):
    """A Merkle proof that does not prove what it is given for."""

    code = "proof-invalid"
    template = N_("The proof does not hold: {why}.")
    remedy = N_("Either it was changed, or the log is not the one it was made for: run `lacre audit`.")


class ProofImpossible(FormatError):
    """A proof or root asked of a tree that has none such."""

    code = "proof-impossible"
    template = N_("The tree has no such node: {why}.")
    remedy = N_("Name an entry below the tree's size, and an older tree no larger than the newer one.")


class TileInvalid(FormatError):
    """A path or bytes of a tiled log that no tile has."""

    code = "tile-invalid"
    template = N_("This is no tile of a log: {why}.")


class ArchiveInvalid(FormatError):
    """A zip that is not in the one form of a bundle."""

    code = "archive-invalid"
    template = N_("This is no bundle: {why}.")
    remedy = N_(
        "Ask for the file again, as `lacre export` wrote it: it was changed, or another program made it."
    )


class ReceiptNoBundle(FormatError):
    """A receipt given in a bundle's place."""

    code = "receipt-no-bundle"
    template = N_(
        "{file} is a receipt, and no bundle: it commits {origin} to its entry {index}, in the tree of its first "
        "{size} entries. The entry itself is not in it, so that alone it shows nothing."
    )
    remedy = N_(
        "Hold to it what has the entries: a bundle with `lacre verify BUNDLE --memory {file}`, a register with "
        "`lacre audit --registry DIR --memory {file}`, your ledger with `lacre audit --memory {file}`."
    )


class CheckpointNoBundle(FormatError):
    """A checkpoint given in a bundle's place."""

    code = "checkpoint-no-bundle"
    template = N_(
        "{file} is a checkpoint, and no bundle: it commits {origin} to its first {size} entries. They are not in "
        "it, so that alone it shows nothing."
    )
    remedy = N_(
        "Hold to it what has the entries: a bundle with `lacre verify BUNDLE --memory {file}`, a register with "
        "`lacre audit --registry DIR --memory {file}`, your ledger with `lacre audit --memory {file}`."
    )


class RequestFileInvalid(FormatError):
    """A file that is no request made with --request-out."""

    code = "request-file-invalid"
    template = N_("{file} is no request that can be answered: {why}.")
    remedy = N_(
        "Ask for the file again, as `lacre reveal --request-out` wrote it: it was changed on its way."
    )


class RecordInvalid(FormatError):
    """A request or entry whose content is not what its kind holds."""

    code = "record-invalid"
    template = N_("This is no valid {what}: {why}.")
    remedy = N_("If it came from this ledger, run `lacre audit`; if by mail, ask for it again.")
