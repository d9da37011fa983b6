"""What a command line or a call of the API can get wrong."""

from lacre.errors.base import EXIT_INTERRUPTED, LacreError
from lacre.text import N_


class UsageError(LacreError):
    """The command line or a call of the API cannot be understood."""

    code = "usage"
    template = N_("{why}")
    remedy = N_("See `lacre {verb} --help`.")


class VerbUnclear(UsageError):
    """A command line from which no verb can be read."""

    code = "usage-verb"
    remedy = N_("See `lacre --help`.")


class LanguageUnknown(UsageError):
    """A language that lacre does not speak."""

    code = "usage-language"
    template = N_("lacre does not speak {name!r}, which {given} asks for.")
    remedy = N_("It speaks {known}.")


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


class FilePrefixUnknown(UsageError):
    """A file argument for a system or table that is not declared."""

    code = "file-prefix-unknown"
    template = N_("There is no {what} {name!r}; there is {names}.")
    remedy = N_("Give the file as in {example}.")


class FileNotNamed(UsageError):
    """Something else than a file's name, given to the API."""

    code = "file-not-named"
    template = N_("Files are given by their names, and this is {kind}.")
    remedy = N_("Write the data to a file, and give its path: what is sealed are the bytes of files.")


class FilesByName(UsageError):
    """Files given to the API as a mapping."""

    code = "files-by-name"
    template = N_("Files are given one by one, and this is a mapping ({kind}).")
    remedy = N_(
        "Give a list of them, with the table before each file where there are several: [{example!r}]."
    )


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


class RequestCarriesAll(UsageError):
    """Options beside a request that somebody else signed."""

    code = "request-carries-all"
    template = N_("A request is answered as it was signed: {options} cannot be given with it.")
    remedy = N_("Leave that out, or ask for another request. `--dry-run --request FILE` shows what it asks.")


class RequestOfOtherStudy(UsageError):
    """A request for another study than the one named beside it."""

    code = "request-of-other-study"
    template = N_("{file} asks for a read of {study!r}, and {named!r} was named.")
    remedy = N_("Leave the study out, or name the request's own.")


class StudyNotNamed(UsageError):
    """A read of which it is not said what."""

    code = "study-not-named"
    template = N_("No study was named to read.")
    remedy = N_(
        "Name one, as in `lacre {verb} STUDY`, or give a request that somebody signed with --request FILE."
    )


class TableNotNamed(UsageError):
    """A pool of several tables, of which one must be named."""

    code = "table-not-named"
    template = N_("{pool} holds {tables}, and one of them must be named.")
    remedy = N_("Add --table with one of these names.")


class NoInputs(UsageError):
    """A table without input columns."""

    code = "no-inputs"
    template = N_(
        "The protocol marks no column of {table} as input, so there is nothing but ids to hand out."
    )
    remedy = N_("Columns that may be handed out are marked `is: input` before the study is registered.")


class OriginInvalid(UsageError):
    """A name that no log can have."""

    code = "origin-invalid"
    template = N_("{origin!r} cannot be the name of a log.")
    remedy = N_("Use words without blanks, plus signs or control characters, such as example.org/lacre.")


class SubmissionMissing(UsageError):
    """An analysis that needs a submission, and none was given."""

    code = "submission-missing"
    template = N_(
        "No submission was given for {missing}, and the analyses read columns of it. Nothing was spent."
    )
    remedy = N_("Give it with --submission, as [SYSTEM:][TABLE=]FILE.")


class SubmissionNotAsked(UsageError):
    """A submission that no analysis reads."""

    code = "submission-not-asked"
    template = N_("The analyses {analyses} read no column from a submission. Nothing was spent.")
    remedy = N_("Leave --submission out.")


class TableNotSubmitted(UsageError):
    """A file for a table that the read takes nothing of from a submission."""

    code = "table-not-submitted"
    template = N_("This read of {analyses} takes nothing of {table} from a submission. Nothing was spent.")
    remedy = N_("Leave {file} out: what it asks for are {tables}.")


class TextNotUnicode(UsageError):
    """Words that are no Unicode text."""

    code = "text-not-unicode"
    template = N_("{text!r} is not text in UTF-8.")
    remedy = N_("Type it in UTF-8.")


class NotConfirmed(UsageError):
    """What asks before it acts, and nobody to ask."""

    code = "not-confirmed"
    template = N_(
        "`lacre {verb}` asks before it acts, and there is no terminal to ask on: nothing was recorded."
    )
    remedy = N_("If you are sure, add {option}.")


class Declined(UsageError):
    """A question that was answered with no."""

    code = "declined"
    template = N_("Not confirmed: nothing was recorded.")
    remedy = N_("Give the same command again to be asked again.")


class WordsMissing(UsageError):
    """No words, where they are what goes on record."""

    code = "words-missing"
    template = N_("No words were given, and they are what goes on record.")
    remedy = N_("Say what happened, and why: see `lacre {verb} --help`.")


class WordsTooLong(UsageError):
    """More words than are kept."""

    code = "words-too-long"
    template = N_("The words have {count} characters, and at most {most} are kept: nothing was recorded.")
    remedy = N_("Say what matters in fewer, and name the file that has the rest.")


class NotAName(UsageError):
    """Words that name neither a study nor an entry."""

    code = "not-a-name"
    template = N_("{what!r} is no name of what `lacre {verb}` takes.")
    remedy = N_(
        "Name a study as STUDY, a result as STUDY@ENTRY, an entry as @ENTRY; see `lacre {verb} --help`."
    )


class EntryNoResult(UsageError):
    """An entry that is no result of any study."""

    code = "entry-no-result"
    template = N_("Entry {entry} is no result.")
    remedy = N_("See the entries with `lacre log`, and name a result as STUDY@ENTRY.")


class ResultNotNamed(NotAName):
    """A study, or another entry of it, where one of its results is to be named."""

    code = "result-not-named"
    template = N_("{what!r} is no result. {study} has these:")
    remedy = N_("Name one of them, as `lacre {verb} STUDY@ENTRY -o FILE`.")
    listing = "results"


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


class ExportUnclear(UsageError):
    """An export of which it is not said what, or where to."""

    code = "export-unclear"
    template = N_("Nothing says what to export, and where to.")
    remedy = N_(
        "Give a result and a file, as in `lacre export STUDY@ENTRY -o r.zip`, or a folder with --registry."
    )


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


class InterruptedBefore(Interrupted):
    """A call that its user ended at a question, before anything was done."""

    code = "interrupted-before"
    remedy = N_("Nothing was recorded or written; run the same command again to be asked again.")


class TextUnclear(UsageError):
    """An erasure of one of several texts, which is not said."""

    code = "text-unclear"
    template = N_("Entry {entry} named {texts}, and one of them must be named.")
    remedy = N_(
        "Add --which with one of these words, or the beginning of a text's digest. Nothing was erased."
    )


class EntryWithoutText(UsageError):
    """An erasure of what an entry does not have."""

    code = "entry-without-text"
    template = N_("Entry {entry} brought no name, reason or other words into the ledger.")
    remedy = N_("`lacre show @ENTRY` lists an entry's texts. What is no text stays on record for good.")


class SampleUnclear(UsageError):
    """A draw that is neither of a frame nor of a pool's cases."""

    code = "sample-unclear"
    template = N_("It is not clear what is to be drawn.")
    remedy = N_("`lacre sample STUDY NAME FRAME -o FILE`, or `lacre sample STUDY --relabel NAME -o FILE`.")


class OneDrawAtATime(UsageError):
    """Second labels of more than one draw in one call."""

    code = "one-draw-at-a-time"
    template = N_("Second labels are committed of one draw at a time, and these are of: {draws}.")
    remedy = N_("Give the files of each in a call of their own.")


class PartUnknown(UsageError):
    """A part of the evidence that this version commits to nothing of."""

    code = "part-unknown"
    template = N_("{part!r} is nothing to commit to; there is: {known}.")
    remedy = N_(
        "`lacre commit STUDY relabels FILE` commits to second labels, and `cases`, `labels` and `scores` are the parts "
        "of an open pool, in this order."
    )


class GitNeeded(UsageError):
    """A history to be looked through without the program that reads it."""

    code = "git-needed"
    template = N_("To look through a history takes git, which is not here. Nothing was looked through.")
    remedy = N_(
        "Install git, or leave out --history: the files as they are now are looked through without it."
    )


class GitFailed(UsageError):
    """A folder whose history git does not give."""

    code = "git-failed"
    template = N_("git gives no history of {folder}: {why}")
    remedy = N_("Name the folder of a git repository that you own, or leave out --history.")
