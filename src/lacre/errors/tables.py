"""Data files that are not as the protocol declares them."""

from typing import ClassVar, Self

from lacre.errors.base import LacreError
from lacre.text import N_


class TableError(LacreError):
    """A data file that is not as the protocol declares it."""

    code = "table"
    submitted: ClassVar[str] = ""
    """The way out for a file of a submission, if it is another: what is declared of a sealed table stands."""

    def _remedy(self) -> str:
        return self.submitted if self.submitted and "of_submission" in self.fields else self.remedy

    def of_submission(self) -> Self:
        """Return the same refusal, of a file that is submitted to a sealed pool."""
        return type(self)(**self.fields, of_submission=True)


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
    submitted = N_("Save the file as UTF-8, as the registered plan has it.")


class TableNotLatin1(TableError):
    """A file that is declared Latin-1 and says itself that it is UTF-8."""

    code = "table-encoding-declared"
    template = N_("{file} begins with the mark of UTF-8, and the table declares `encoding: latin-1`.")
    remedy = N_("Take `encoding: latin-1` out of the table, or save the file as Latin-1.")
    submitted = N_("Save the file as Latin-1, as the registered plan has it.")


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
    submitted = N_("Save the file with {declared} between its cells, as the registered plan has it.")


class TableColumnDoubled(TableError):
    """A declared column that the header names more than once."""

    code = "table-column-doubled"
    template = N_("{file} has {count} columns named `{column}`.")
    remedy = N_("Keep the one that is meant, or give it a name of its own, in the file and in the protocol.")
    submitted = N_("Keep the one that is meant.")


class TableHeaderPadded(TableError):
    """A declared column whose name in the header has blanks around it."""

    code = "table-header-padded"
    template = N_("{file} has the column `{column}` only with blanks around its name.")
    remedy = N_("Declare `strip_header: true` for the table; it takes the blanks off names and cells.")
    submitted = N_("Take the blanks off the names in the file's header.")


class TableNotScalar(TableError):
    """Lists or objects where a column declares one value."""

    code = "table-not-scalar"
    template = N_("`{column}` of {file} holds lists or objects in {count} rows, the first of them row {row}.")
    singular = N_("`{column}` of {file} holds a list or an object in {count} row, row {row}.")
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


class TableExpands(TableError):
    """A compressed file that would fill the memory, on purpose or not."""

    code = "table-expands"
    template = N_("{file} expands to more than the {most} bytes of text that a file of its size may hold.")
    remedy = N_("If that is meant, give the table as CSV, or in several files.")


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
    singular = N_("`{column}` of {file} is declared a number and is none in {count} row, row {row}.")
    remedy = N_(
        "Numbers are written with digits and `{decimal}` as their decimal mark; list what stands for a "
        'missing one, such as `missing: ["", NA]`.'
    )
    submitted = N_(
        "Write numbers with digits and `{decimal}` as their decimal mark, and a missing one as the registered plan "
        "has it."
    )


class TableNumberInProse(TableNotNumber):
    """Cells of a number column in which a number stands among words."""

    code = "table-number-in-prose"
    template = N_(
        "`{column}` of {file} is declared a number and holds words with a number among them in {count} rows, the first "
        "row {row}. Which number is meant is not guessed."
    )
    singular = N_(
        "`{column}` of {file} is declared a number and holds words with a number among them in {count} row, row {row}. "
        "Which number is meant is not guessed."
    )
    remedy = N_(
        "Take the number out into a column of its own first, by a program you can show, and give that file."
    )
    submitted = remedy


class TableOutOfRange(TableError):
    """Numbers outside the declared range."""

    code = "table-out-of-range"
    template = N_("`{column}` of {file} is outside {low} to {high} in {count} rows, the first row {row}.")
    singular = N_("`{column}` of {file} is outside {low} to {high} in {count} row, row {row}.")
    remedy = N_("Correct the file, or the column's `min` and `max`.")
    submitted = N_("Correct the file: the registered plan has these bounds.")


class TableNotTime(TableError):
    """Cells of a time column that are no ISO 8601 date or date and time."""

    code = "table-not-time"
    template = N_("`{column}` of {file} is declared a time and is none in {count} rows, the first row {row}.")
    singular = N_("`{column}` of {file} is declared a time and is none in {count} row, row {row}.")
    remedy = N_("Write times as ISO 8601 has them: 2026-09-02, or 2026-09-02T14:30:00-03:00.")


class TableZoneAbsent(TableError):
    """Times that do not say in which zone they are."""

    code = "table-zone-absent"
    template = N_("`{column}` of {file} has times without a zone in {count} rows, the first row {row}.")
    singular = N_("`{column}` of {file} has a time without a zone in {count} row, row {row}.")
    remedy = N_("Declare the column's zone, such as `zone: America/Sao_Paulo`, or write it with each time.")
    submitted = N_("Write the zone with each time, as in 2026-09-02T14:30:00-03:00.")


class TableNotDigest(TableError):
    """Cells of a digest column that are no SHA-256."""

    code = "table-not-digest"
    template = N_(
        "`{column}` of {file} is declared a digest and is none in {count} rows, the first row {row}."
    )
    singular = N_("`{column}` of {file} is declared a digest and is none in {count} row, row {row}.")
    remedy = N_("A digest is a SHA-256 in 64 hexadecimal digits, with or without `sha256:` before it.")


class TableKeyMissing(TableError):
    """Rows without a key."""

    code = "table-key-missing"
    template = N_("The key `{column}` of {file} is missing in {count} rows, the first of them row {row}.")
    singular = N_("The key `{column}` of {file} is missing in {count} row, row {row}.")
    remedy = N_("Give each row its key.")


class TableKeyRepeated(TableError):
    """Rows whose key another row had before them."""

    code = "table-key-repeated"
    template = N_("{count} rows of {file} repeat the key of an earlier row.")
    singular = N_("{count} row of {file} repeats the key of an earlier row.")
    remedy = N_("Leave one row for each key, or declare the columns that together are the key.")
    submitted = N_("Leave one row for each key.")


class NothingDeclared(TableError):
    """A column in which no cell holds a declared value."""

    code = "table-nothing-declared"
    template = N_(
        "{file}: in all of {count} rows, {column!r} holds values that the protocol does not declare; it "
        "declares {values}."
    )
    singular = N_(
        "{file}: in its {count} row, {column!r} holds a value that the protocol does not declare; it declares {values}."
    )
    remedy = N_("Nothing was sealed or spent. Write the column with the declared values, letter for letter.")


class TableForeignKeys(TableError):
    """Rows of a submission whose keys the pool does not hold."""

    code = "table-foreign-keys"
    template = N_("{count} rows of the submission for {file} have keys that the pool does not hold.")
    singular = N_("{count} row of the submission for {file} has a key that the pool does not hold.")
    remedy = N_("Give only the pool's own cases; `lacre inputs` writes their ids.")
