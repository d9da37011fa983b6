"""Every refusal lacre can give: one tree, a stable code and an exit status per class.

    LacreError
    ├── UsageError            the command line or a call of the API
    ├── CanonicalError        bytes that are no canonical form
    ├── ProtocolError         a protocol file
    ├── TableError            a data file
    ├── FormatError           bytes of the ledger's formats
    ├── StoreError            the ledger as a place on disk
    ├── KeyError_             keys and passphrases
    ├── PoolError             sealed pools and their blobs
    ├── LawError              a request the law refuses (src/lacre/rules)
    ├── EvidenceError         an analysis that cannot be computed as registered
    └── InternalError         a fault of lacre's own; exit status 70

A class holds templates, an instance the named fields that fill them: `message` says what was refused and
why, `way_out` what to do now. Neither ever holds the text of a cell of a sealed pool. `code` is stable and
listed in the README; programs may rely on it, and never on the words.
"""

import string
from typing import Any, ClassVar

from lacre.text import N_, _

EXIT_REFUSED = 2
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130


class _Fields(string.Formatter):
    """Fill templates with fields that may hold control characters, which terminals would obey."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return printable(super().format_field(value, format_spec))


def printable(text: str) -> str:
    """Return `text` with each control or format character replaced by its escape, line breaks included."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


class LacreError(Exception):
    """The base of everything lacre raises on purpose."""

    code: ClassVar[str]
    exit_status: ClassVar[int] = EXIT_REFUSED
    template: ClassVar[str]
    remedy: ClassVar[str]

    def __init__(self, **fields: Any) -> None:
        super().__init__(fields)
        self.fields = fields

    @property
    def message(self) -> str:
        """What was refused and why, in the language in use."""
        return _Fields().format(_(self.template), **self.fields)

    @property
    def way_out(self) -> str:
        """What the user can do now, in the language in use."""
        return _Fields().format(_(self.remedy), **self.fields)

    def __str__(self) -> str:
        return f"{self.message} {self.way_out}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.fields)


def _rebuild(cls: type[LacreError], fields: dict[str, Any]) -> LacreError:
    return cls(**fields)


# --- usage -------------------------------------------------------------------------------------------------


class UsageError(LacreError):
    """The command line or a call of the API cannot be understood."""

    code = "usage"
    template = N_("{why}")
    remedy = N_("See `lacre {verb} --help`.")


class VerbUnclear(UsageError):
    """A command line from which no verb can be read."""

    code = "usage-verb"
    remedy = N_("See `lacre --help`.")


class ReceiptExists(UsageError):
    """A receipt that would be written over another."""

    code = "receipt-exists"
    template = N_("{path} is there already, and a receipt is never written over: nothing was registered.")
    remedy = N_("Move it away, or name another file with --receipt.")


class FilePrefixNeeded(UsageError):
    """A file argument that does not say whose, or which table's, it is."""

    code = "file-prefix-needed"
    template = N_("{file} does not say which {what} it is for; there are {names}.")
    remedy = N_("Put the name before the file, as in {example}.")


class FileNotGiven(UsageError):
    """A table for which no file was given."""

    code = "file-not-given"
    template = N_("No file was given for {tables}.")
    remedy = N_("Give one file or more for each table, as TABLE=FILE, in one call.")


class FileExists(UsageError):
    """An output that would be written over a file."""

    code = "file-exists"
    template = N_("{file} is there already: nothing was read or written.")
    remedy = N_("Name another file, or add --overwrite.")


class TableNotNamed(UsageError):
    """A pool of several tables, of which one must be named."""

    code = "table-not-named"
    template = N_("{pool} holds {tables}, and one of them must be named.")
    remedy = N_("Add --table with one of these names.")


class NoInputs(UsageError):
    """A table without input columns."""

    code = "no-inputs"
    template = N_("The protocol marks no column of {table} as input, so there is nothing but ids to hand out.")
    remedy = N_("Columns that may be handed out are marked `is: input` before the study is registered.")


class OriginInvalid(UsageError):
    """A name that no log can have."""

    code = "origin-invalid"
    template = N_("{origin!r} cannot be the name of a log.")
    remedy = N_("Use words without blanks, plus signs or control characters, such as example.org/lacre.")


class SubmissionMissing(UsageError):
    """An analysis that needs a submission, and none was given."""

    code = "submission-missing"
    template = N_("No submission was given for {missing}, and the analyses read columns of it. Nothing was spent.")
    remedy = N_("Give it with --submission, as [SYSTEM:][TABLE=]FILE.")


class SubmissionNotAsked(UsageError):
    """A submission that no analysis reads."""

    code = "submission-not-asked"
    template = N_("The analyses {analyses} read no column from a submission. Nothing was spent.")
    remedy = N_("Leave --submission out.")


class NotAResult(UsageError):
    """A name that is no result's."""

    code = "not-a-result"
    template = N_("Entry {entry} is no result of {study!r}.")
    remedy = N_("See the results with `lacre show {study}`.")


class NotOfStudy(UsageError):
    """An entry that belongs to another study, or to none."""

    code = "not-of-study"
    template = N_("Entry {entry} does not belong to {study!r}.")
    remedy = N_("See the study's entries with `lacre log {study}`.")


class FolderTaken(UsageError):
    """A folder to be made that is there already."""

    code = "folder-taken"
    template = N_("{path} is there already.")
    remedy = N_("Name a folder that does not exist yet.")


class PassphraseNotAsked(UsageError):
    """Closed keys, and no terminal to ask for their passphrase."""

    code = "passphrase-not-asked"
    template = N_("The keys are closed with a passphrase, and there is no terminal to ask for it.")
    remedy = N_("Give a file that holds it with --passphrase-file, or set LACRE_PASSPHRASE.")


class PassphraseUnreadable(UsageError):
    """A passphrase file that holds no text."""

    code = "passphrase-unreadable"
    template = N_("{path} holds no passphrase: it is not UTF-8 text of one line.")
    remedy = N_("Write the passphrase alone on the file's only line.")


class PassphrasesDiffer(UsageError):
    """A new passphrase that was not typed the same way twice."""

    code = "passphrases-differ"
    template = N_("The two passphrases are not the same: no ledger was made.")
    remedy = N_("Run the command again.")


class OutputLost(UsageError):
    """An answer that standard output did not take."""

    code = "output-lost"
    template = N_("The answer could not be written: {why}.")
    remedy = N_("What the command did stands: `lacre status` and `lacre show` tell it again.")


class Interrupted(LacreError):
    """A call that its user ended."""

    code = "interrupted"
    exit_status = EXIT_INTERRUPTED
    template = N_("Interrupted.")
    remedy = N_("What was recorded stands; run the same command again to go on from there.")


# --- canonical form ----------------------------------------------------------------------------------------


class CanonicalError(LacreError):
    """Bytes or values outside RFC 8785."""

    code = "canonical"
    template = N_("This has no canonical form: {why}.")
    remedy = N_("Numbers must be finite and whole numbers below 2^53; text must be valid Unicode.")


class NotCanonical(CanonicalError):
    """A value without a canonical form, or bytes that are not one."""

    code = "not-canonical"


# --- protocol ----------------------------------------------------------------------------------------------


class ProtocolError(LacreError):
    """A protocol file that cannot be accepted."""

    code = "protocol"


class ProtocolInvalid(ProtocolError):
    """A protocol file with problems; `problems` holds one `line:column path: sentence` a line."""

    code = "protocol-invalid"
    template = N_("{name} cannot be accepted as it stands ({count} to mend):")
    remedy = N_("Mend what is listed, then run `lacre check` again; `lacre new` shows a whole protocol.")

    @property
    def message(self) -> str:
        """The heading, then every problem on a line of its own."""
        problems = str(self.fields["problems"]).split("\n")
        return "\n".join([super().message, *(printable(f"  {problem}") for problem in problems)])

    def __str__(self) -> str:
        return f"{self.message}\n{self.way_out}"


class KindNotBuilt(ProtocolError):
    """A protocol that is sound, and asks for analyses this version does not have."""

    code = "kind-not-built"
    template = N_("This version of lacre cannot yet compute {analyses}.")
    remedy = N_("It has {built}. Take the others out, or register with a version that has them.")


class TemplateUnknown(ProtocolError):
    """A template lacre does not have."""

    code = "template-unknown"
    template = N_("There is no template {name}.")
    remedy = N_("Choose one of {known}.")


# --- tables ------------------------------------------------------------------------------------------------


class TableError(LacreError):
    """A data file that is not as the protocol declares it."""

    code = "table"


class TableFormatUnknown(TableError):
    """A file whose name ends in no format that is read."""

    code = "table-format-unknown"
    template = N_("{file} is in no format that is known by its name.")
    remedy = N_("Name it after what it is: {known}.")


class TableEmpty(TableError):
    """A file that holds nothing at all."""

    code = "table-empty"
    template = N_("{file} is empty.")
    remedy = N_("Give the file that holds the table; was it written to its end?")


class TableNoRows(TableError):
    """A file with a header, or an empty array, and no row."""

    code = "table-no-rows"
    template = N_("{file} has no rows.")
    remedy = N_("Give the file that holds the table's rows; was it written to its end?")


class TableUndecodable(TableError):
    """A byte that is no text in the declared encoding."""

    code = "table-encoding"
    template = N_("{file} is not UTF-8: byte {offset} (counted from 0) begins no character.")
    remedy = N_("Save the file as UTF-8; a CSV in Latin-1 may be read as it is with `encoding: latin-1`.")


class TableNotLatin1(TableError):
    """A file that is declared Latin-1 and says itself that it is UTF-8."""

    code = "table-encoding-declared"
    template = N_("{file} begins with the mark of UTF-8, and the table declares `encoding: latin-1`.")
    remedy = N_("Take `encoding: latin-1` out of the table, or save the file as Latin-1.")


class TableNul(TableError):
    """A NUL byte in a text file: UTF-16, or no text at all."""

    code = "table-nul"
    template = N_("{file} holds a NUL byte at byte {offset} (counted from 0): it is UTF-16, or no text.")
    remedy = N_("Save the file as UTF-8.")


class TableQuotes(TableError):
    """A quote that is never closed, or text between a closing quote and the next delimiter."""

    code = "table-quotes"
    template = N_("The quotes of {file} do not balance: the record that begins in line {line} does not end.")
    remedy = N_('Inside a quoted cell a quote is written twice (""); check that line and the cells after it.')


class TableLineEnds(TableError):
    """A carriage return that no line feed follows, outside quotes."""

    code = "table-line-ends"
    template = N_("Line {line} of {file} holds a bare carriage return outside quotes.")
    remedy = N_("Save the file with line ends LF or CRLF.")


class TableRagged(TableError):
    """A row with more or fewer cells than the header."""

    code = "table-ragged"
    template = N_("Row {row} of {file} (line {line}) has {cells} cells where the header has {expected}.")
    remedy = N_("Give each row as many cells as the header; a cell that holds the delimiter goes in quotes.")


class TableMalformed(TableError):
    """JSON or JSON Lines that is not rows of a table."""

    code = "table-malformed"
    template = N_("{file} is not a table in {format}: {why}.")
    remedy = N_(
        "JSON (.json) is one array of objects, JSON Lines (.jsonl, .ndjson) one object a line; no key is "
        "written twice, and no number is NaN or Infinity."
    )


class TableColumnAbsent(TableError):
    """A file that lacks a column it must have."""

    code = "table-column-absent"
    template = N_("{file} has no {columns}, which the protocol declares.")
    remedy = N_("Name the columns in the file as the protocol does. Nearest in the file: {nearest}.")


class TableDelimiter(TableError):
    """A file whose header reads well with another delimiter than the declared one."""

    code = "table-delimiter"
    template = N_("{file} has no column `{column}`, because its cells are parted by {found}, not {declared}.")
    remedy = N_("Declare `delimiter: {found}` for the table, or save the file with {declared}.")


class TableColumnDoubled(TableError):
    """A declared column that the header names more than once."""

    code = "table-column-doubled"
    template = N_("{file} has {count} columns named `{column}`.")
    remedy = N_("Keep the one that is meant, or give it a name of its own, in the file and in the protocol.")


class TableHeaderPadded(TableError):
    """A declared column whose name in the header has blanks around it."""

    code = "table-header-padded"
    template = N_("{file} has the column `{column}` only with blanks around its name.")
    remedy = N_("Declare `strip_header: true` for the table; it takes the blanks off names and cells.")


class TableNotScalar(TableError):
    """Lists or objects where a column declares one value."""

    code = "table-not-scalar"
    template = N_("`{column}` of {file} holds lists or objects in {count} rows, the first of them row {row}.")
    remedy = N_("A cell holds one value; the column's `path:` reaches a nested one, such as $.answer.score.")


class TableNoText(TableError):
    """Values for which there is no text: a lone surrogate of JSON, bytes of Parquet that are no UTF-8."""

    code = "table-no-text"
    template = N_("`{column}` of {file} holds values that are no Unicode text.")
    remedy = N_("Write the column as text.")


class TableColumnType(TableError):
    """A declared column of a Parquet type that holds no single value."""

    code = "table-column-type"
    template = N_("`{column}` of {file} has the Parquet type {type}, which is not read.")
    remedy = N_("Write the column as text, numbers, booleans, dates or timestamps.")


class TableParquet(TableError):
    """Bytes that are no Parquet file."""

    code = "table-parquet"
    template = N_("{file} is no Parquet file that can be read.")
    remedy = N_("Was it written to its end? Write it again, or give the table as CSV.")


class ParquetUnavailable(TableError):
    """A Parquet file, and no library to read it."""

    code = "parquet-unavailable"
    template = N_("{file} is a Parquet file, and the library that reads those is not installed.")
    remedy = N_("Run `pip install 'lacre[parquet]'`.")


class TableNotNumber(TableError):
    """Cells of a number column that are no numbers."""

    code = "table-not-number"
    template = N_(
        "`{column}` of {file} is declared a number and is none in {count} rows, the first row {row}."
    )
    remedy = N_(
        "Numbers are written with digits and `{decimal}` as their decimal mark; list what stands for a "
        'missing one, such as `missing: ["", NA]`.'
    )


class TableOutOfRange(TableError):
    """Numbers outside the declared range."""

    code = "table-out-of-range"
    template = N_("`{column}` of {file} is outside {low} to {high} in {count} rows, the first row {row}.")
    remedy = N_("Correct the file, or the column's `min` and `max`.")


class TableNotTime(TableError):
    """Cells of a time column that are no ISO 8601 date or date and time."""

    code = "table-not-time"
    template = N_("`{column}` of {file} is declared a time and is none in {count} rows, the first row {row}.")
    remedy = N_("Write times as ISO 8601 has them: 2026-09-02, or 2026-09-02T14:30:00-03:00.")


class TableZoneAbsent(TableError):
    """Times that do not say in which zone they are."""

    code = "table-zone-absent"
    template = N_("`{column}` of {file} has times without a zone in {count} rows, the first row {row}.")
    remedy = N_("Declare the column's zone, such as `zone: America/Sao_Paulo`, or write it with each time.")


class TableNotDigest(TableError):
    """Cells of a digest column that are no SHA-256."""

    code = "table-not-digest"
    template = N_(
        "`{column}` of {file} is declared a digest and is none in {count} rows, the first row {row}."
    )
    remedy = N_("A digest is a SHA-256 in 64 hexadecimal digits, with or without `sha256:` before it.")


class TableKeyMissing(TableError):
    """Rows without a key."""

    code = "table-key-missing"
    template = N_("The key `{column}` of {file} is missing in {count} rows, the first of them row {row}.")
    remedy = N_("Give each row its key.")


class TableKeyRepeated(TableError):
    """Rows whose key another row had before them."""

    code = "table-key-repeated"
    template = N_("{count} rows of {file} repeat the key of an earlier row.")
    remedy = N_("Leave one row for each key, or declare the columns that together are the key.")


class TableForeignKeys(TableError):
    """Rows of a submission whose keys the pool does not hold."""

    code = "table-foreign-keys"
    template = N_("{count} rows of the submission for {file} have keys that the pool does not hold.")
    remedy = N_("Give only the pool's own cases; `lacre inputs` writes their ids.")


# --- formats -----------------------------------------------------------------------------------------------


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


class RecordInvalid(FormatError):
    """A request or entry whose content is not what its kind holds."""

    code = "record-invalid"
    template = N_("This is no valid {what}: {why}.")
    remedy = N_("If it came from this ledger, run `lacre audit`; if by mail, ask for it again.")


# --- store -------------------------------------------------------------------------------------------------


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


class NotReadable(StoreError):
    """The system refused to read a file."""

    code = "not-readable"
    template = N_("{path} cannot be read: {why}.")
    remedy = N_("Check that the file is there and that you may read it.")


class FileMissing(NotReadable):
    """A file that is not there."""

    code = "file-missing"


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
    remedy = N_("Check the disk, and run the same command again: it finds out, and goes on from there.")


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


# --- keys --------------------------------------------------------------------------------------------------


class KeyError_(LacreError):  # noqa: N801 - KeyError is taken
    """A key that is missing, closed or not what it should be."""

    code = "key"


class KeyMalformed(KeyError_):
    """Bytes that are no Ed25519 key in the form asked for."""

    code = "key-malformed"
    template = N_("This is no Ed25519 key: {why}.")
    remedy = N_("A key file holds one private key in PKCS#8 PEM form, as `lacre init` writes it.")


class PassphraseNeeded(KeyError_):
    """A closed key, and no passphrase to open it."""

    code = "passphrase-needed"
    template = N_("The key is closed with a passphrase, and none was given.")
    remedy = N_("Give it when asked, in LACRE_PASSPHRASE, or from a file.")


class PassphraseWrong(KeyError_):
    """A closed key that the given passphrase does not open."""

    code = "passphrase-wrong"
    template = N_("The passphrase does not open the key.")
    remedy = N_("Try it again; if it is surely right, the key file is damaged: restore it from a copy.")


class PassphraseTooLong(KeyError_):
    """A passphrase longer than key files allow."""

    code = "passphrase-too-long"
    template = N_("The passphrase is longer than {limit} bytes.")
    remedy = N_("Choose a shorter one.")


class PassphraseNotText(KeyError_):
    """A passphrase of bytes that are no UTF-8."""

    code = "passphrase-not-text"
    template = N_("The passphrase is no text in UTF-8.")
    remedy = N_("Choose or write it in UTF-8: a passphrase is text, never arbitrary bytes.")


class KeyMissing(KeyError_):
    """A key file that is not there."""

    code = "key-missing"
    template = N_("The key file {path} is missing.")
    remedy = N_("Put it back from a copy; a new ledger gets its keys from `lacre init`.")


class KeyExists(KeyError_):
    """A key is never written over."""

    code = "key-exists"
    template = N_("There is a key at {path} already, and no key is ever written over.")
    remedy = N_("Use it as it is, or make the new ledger in another folder.")


class KeyFileDamaged(KeyError_):
    """A key file that holds something else."""

    code = "key-file-damaged"
    template = N_("The key file {path} is damaged: {why}.")
    remedy = N_("Put it back from a copy.")


# --- pools -------------------------------------------------------------------------------------------------


class PoolError(LacreError):
    """A sealed pool's blobs: missing, changed, or not to be opened."""

    code = "pool"


class RecipientInvalid(PoolError):
    """A recipient that no pool can be sealed to."""

    code = "recipient-invalid"
    template = N_("{recipient} is no recipient a pool can be sealed to: {why}.")
    remedy = N_("A recipient begins with age1 and is what `age-keygen -y` prints for an identity.")


class IdentityCannotOpen(PoolError):
    """A sealed key, and no identity it was sealed to."""

    code = "identity-cannot-open"
    template = N_("None of the {count} identities at hand opens {study}/{pool}.")
    remedy = N_("It is sealed to {recipients}: ask who holds one of them, or give the identity's file.")


class PoolBlobMissing(PoolError):
    """A file of a pool that the ledger names and that is not there."""

    code = "pool-blob-missing"
    template = N_("A file of {study}/{pool} is missing: {path}.")
    remedy = N_("Put it back from a copy of the ledger's folder; the ledger itself cannot make it again.")


class PoolBlobChanged(PoolError):
    """A file of a pool that is not what the ledger committed to."""

    code = "pool-blob-changed"
    template = N_("A {kind} file of {study}/{pool} is not what was sealed: {why}.")
    remedy = N_("Put it back from a copy of the ledger's folder; nothing of this one was used.")


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


# --- the law -----------------------------------------------------------------------------------------------


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
    remedy = N_("Register its protocol first (`lacre register PROTOCOL`), or see `lacre status` for the studies.")


class StudyAlreadyRegistered(LawError):
    """A study is registered once."""

    code = "study-already-registered"
    rule = 1
    template = N_("The study {study!r} was registered at entry {entry} ({time}), with {same} protocol.")
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
    remedy = N_("A sealed pool stays as it is. `lacre show STUDY` says what it holds.")


class PoolIsOpen(LawError):
    """An open pool is committed, not sealed, which this version has no verb for."""

    code = "pool-is-open"
    rule = 2
    template = N_("The pool {pool} is declared open: it is committed to, not sealed.")
    remedy = N_("This version of lacre works on sealed pools only; leave out `open:` to seal it.")


class ForeignCases(LawError):
    """A submission for other cases than the pool's."""

    code = "foreign-cases"
    rule = 5
    template = N_("{unknown} rows of the submission for {table} are of no case of the pool ({known} are). Nothing was spent.")
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
    remedy = N_("Such cases can only serve as `dev`: seal them there, or this pool with --as-dev.")


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
    template = N_("{pool} was revealed at entry {entry} ({time}); its result is at entry {result}.")
    remedy = N_(
        "See it with `lacre show`. To read {pool} again as dev, on the record and exploratory, add --accept-dev."
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
    template = N_("The protocol of {study!r} has no analyses on {pool}, or the request names others than its own.")
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
    remedy = N_("Use the registered protocol (leave the file out), or register the changed plan as another study.")

    @property
    def message(self) -> str:
        """The heading, then every field that differs on a line of its own; without these, the hashes."""
        lines = str(self.fields["difference"]).split("\n") if self.fields["difference"] else []
        lines = lines or [f"sha256:{self.fields['in_force']} -> sha256:{self.fields['given']}"]
        return "\n".join([super().message, *(printable(f"  {line}") for line in lines)])


class SharedCases(LawError):
    """Pools that must stay apart share cases."""

    code = "shared-cases"
    rule = 12
    template = N_("{pool} must hold unseen cases of its own, and shares {overlaps}.")
    remedy = N_("Take these cases out of the file; or use the pool as dev: `seal --as-dev`, `reveal --accept-dev`.")


class ExposesSealedPool(LawError):
    """A read exposes another study's sealed pool."""

    code = "exposes-sealed-pool"
    rule = 12
    template = N_("Reading this would expose {overlaps}, sealed and unread.")
    remedy = N_("Those cases could then no longer test anything. If that is meant, add --accept-exposure.")


class SystemsDiffer(LawError):
    """Submissions come from the declared systems, each table once."""

    code = "systems-differ"
    rule = 5
    template = N_("The study's systems are {declared}; submissions were given for {given}.")
    remedy = N_("Give each declared system's files once, as SYSTEM:TABLE=FILE.")


class FinishDiffers(LawError):
    """A crashed read is finished for the same request and inputs."""

    code = "finish-differs"
    rule = 16
    template = N_("The read at entry {entry} of {pool} cannot be finished by this request: its inputs differ.")
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
    template = N_("The key {key} does not hold the role {role} at this point of the ledger.")
    remedy = N_("Sign with a key that holds it; `lacre show` lists the keys.")


class LedgerRolledBack(LawError):
    """A ledger that is smaller than it was seen before."""

    code = "ledger-rolled-back"
    rule = 18
    template = N_("This ledger has {size} entries and was seen before with {remembered}: it was rolled back.")
    remedy = N_("Restore the newer copy of its folder. Until then nothing is written to it.")


class LedgerForked(LawError):
    """A ledger that is no extension of what was seen of it before."""

    code = "ledger-forked"
    rule = 18
    template = N_("This ledger's first {remembered} entries are not those seen before: it was rewritten.")
    remedy = N_("Restore the copy of its folder that was seen. Until then nothing is written to this one.")


# --- evidence ----------------------------------------------------------------------------------------------


class EvidenceError(LacreError):
    """An analysis that cannot be computed as registered."""

    code = "evidence"


class UnitRepeated(EvidenceError):
    """Cases of one unit, where every case must be of another."""

    code = "unit-repeated"
    template = N_("{count} rows of {table} repeat a value of {unit}; the intervals assume one row each.")
    remedy = N_("Keep one row per value of {unit}; or register it as the `cluster:` in place of `unit:`.")


class BareRate(EvidenceError):
    """A rate without the interval that belongs to it."""

    code = "bare-rate"
    template = N_("A rate ({metric}) without its interval: {why}.")
    remedy = N_("This is a fault of lacre's: please report it with the protocol's hash.")


# --- internal ----------------------------------------------------------------------------------------------


class InternalError(LacreError):
    """A fault of lacre's own."""

    code = "internal"
    exit_status = EXIT_INTERNAL
    template = N_("lacre failed in a way it should not ({kind} at {where}).")
    remedy = N_("Nothing was lost: run `lacre audit`, then report this with the version and the code above.")
