"""What an audit can find wrong, and what it only warns of: a stable code, the entry, and named fields.

A finding means that the history is not what it should be, and the audit fails. A warning never does: it
says what is odd (rule 19) or what could not be looked at because of a finding. Programs may rely on the
codes, never on the words.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from lacre.errors import printable
from lacre.text import N_, _, ngettext

FINDINGS: Mapping[str, str] = {
    # the place
    "source-unreadable": N_("The ledger could not be read to its end: {why}"),
    "database-damaged": N_("SQLite finds the database damaged: {why}"),
    "form-missing": N_("The database lacks {name}, which lacre makes in every ledger."),
    "form-differs": N_("The database's {name} is not as lacre makes it."),
    "form-unknown": N_("The database holds {name}, which lacre makes in none."),
    "entry-missing": N_("There is no entry {index}, and there are later ones."),
    "column-differs": N_("The column {column} holds {stored}, and the entry's signed bytes give {derived}."),
    "node-missing": N_("The tree's node at level {level}, position {position} is not stored."),
    "node-differs": N_("The tree's node at level {level}, position {position} is not what the entries give."),
    "node-unknown": N_("A node is stored at level {level}, position {position}, where the tree has none."),
    "document-differs": N_("The document {digest} is not what its digest was made of."),
    "document-media": N_("The document {digest} is kept as {stored}, and it is {expected}."),
    "document-not-erased": N_("The text {digest} was erased by this entry, and is still there."),
    "erasure-of-nothing": N_(
        "The entry erases {digest}, which no text on record has as its digest, or not since entry {named}, "
        "or not any more."
    ),
    "document-unnamed": N_("No entry names the document {digest}."),
    "checkpoint-column": N_("The checkpoint is filed under {stored} entries, and says {stated}."),
    "blob-missing": N_("The {kind} {digest} of {study}/{pool} is not there."),
    "blob-changed": N_("The {kind} {digest} of {study}/{pool} is not what it was when it was recorded."),
    # the published copy
    "file-missing": N_("{path} is missing."),
    "file-differs": N_("{path} is not what the entries give."),
    "file-unknown": N_("{path} stands where only files of the log may, and is none of them."),
    "file-unfit": N_("{path} is not read: {why}."),
    "entry-redacted": N_("Entry {index}, of the same study, was left out of this copy."),
    "archive-invalid": N_("The file is no bundle in its one form: {why}."),
    "manifest-missing": N_("The bundle has no manifest."),
    "manifest-invalid": N_("The manifest does not hold: {why}"),
    "manifest-differs": N_("{path} is not the file that the manifest names."),
    "manifest-unlisted": N_("The manifest does not name {path}."),
    "manifest-result": N_("The manifest names {result}, of which the entries know nothing."),
    "shown-differs": N_("{path} says {stated} of {what}, and the entries {expected}."),
    "recomputed-differs": N_("{what} is {expected} by its own counts, and the result says {stated}."),
    "opened-differs": N_("{what} is {expected} by the files of the open pool, and the result says {stated}."),
    # the genesis
    "ledger-empty": N_("There are no entries, not even a genesis."),
    "genesis-missing": N_("Entry 0 is no genesis, so no key of this ledger is known."),
    "genesis-repeated": N_("A second genesis stands in the log."),
    "genesis-keys": N_("The genesis does not enrol the keys a ledger needs: {why}."),
    "genesis-unsigned": N_("The genesis is not signed by exactly its owner's and its broker's key."),
    # one entry
    "entry-invalid": N_("The entry cannot be read: {why}"),
    "signer-unknown": N_("The entry is signed by {key}, which may not act as broker here."),
    "signature-wrong": N_("The broker's signature was not made over this entry."),
    "signatures-many": N_("The entry has {count} signatures, where one broker signs."),
    "requester-unknown": N_("The request is signed by {key}, a key that is not enrolled here."),
    "request-signature-wrong": N_("The signature of the request was not made over it."),
    "request-foreign": N_("The request was signed for another ledger ({genesis})."),
    "request-unbound": N_(
        "{count} requests, the first of them here, were signed over another history than the one that "
        "stands before them: the first {size} entries are not what the signer had seen. The last request "
        "that agrees had seen {agreed}."
    ),
    "nonce-repeated": N_("The request was used before, at entry {first}."),
    "previous-wrong": N_("The entry names {stated} as its study's entry before, which is {expected}."),
    "time-invalid": N_("{time} is no time."),
    # the law
    "law-broken": N_("Rule {rule} refuses this ({law}): {why}"),
    "decision-differs": N_("The law decides otherwise on what stood before: {differences}."),
    "facts-differ": N_("The entry says {stated} of {what}, and the files it names give {expected}."),
    "out-of-place": N_("The entry cannot stand here: {why}."),
    "result-misplaced": N_("The result does not belong to the read it names: {why}."),
    "result-differs": N_("The result's document says {stated} of {what}, and its entries {expected}."),
    "result-state": N_("The result of {what} reads {stated}, and what its read allows is {expected}."),
    "document-missing": N_("The {what} that the entry names ({digest}) is missing."),
    "document-invalid": N_("The {what} that the entry names ({digest}) cannot be read: {why}"),
    # the heads
    "checkpoint-missing": N_("There is no checkpoint."),
    "checkpoint-invalid": N_("The checkpoint does not hold: {why}"),
    "checkpoint-size": N_("The checkpoint is of {stated} entries, and there are {entries}."),
    "checkpoint-root": N_("The checkpoint's root is not that of the entries."),
    "checkpoint-half-signed": N_(
        "The checkpoint is not signed by {key}: while one key of the log replaces another, both sign."
    ),
    "memory-shrunk": N_("{memory} remembers {size} entries, and there are {entries}."),
    "memory-rewritten": N_("The first {size} entries are not those that {memory} remembers."),
    "memory-invalid": N_("{memory} does not hold for this ledger: {why}"),
    "key-foreign": N_("The key {key} is none that may sign this log's checkpoints."),
    "key-replaced": N_(
        "The key {key} was this log's until entry {until}, which revoked it. What signs now is {now}."
    ),
    "key-unused": N_("The checkpoint is not signed by the key {key}."),
    "memory-entry": N_("Entry {index} is not the one that {memory} proves."),
    "memory-unproved": N_(
        "{memory} remembers {size} entries, and this copy ends with {entries}: it is an older copy, and nothing "
        "shows that it is a beginning of what was remembered. The folder of a register that has these entries "
        "does."
    ),
}

WARNINGS: Mapping[str, str] = {
    "clock-backwards": N_("The entry's time ({time}) is before that of entry {before} ({earlier})."),
    "law-not-replayed": N_(
        "From here on the law could not be replayed for {study}, because of entry {cause}."
    ),
    "keys-unknown": N_("No signature and no rule could be checked, because the genesis cannot be relied on."),
    "history-incomplete": N_(
        "From here on no request could be held against the tree, since an entry is missing."
    ),
    "register-unfinished": N_(
        "{count} entries stand beyond the checkpoint: an export is under way, or was cut off."
    ),
    "file-unfinished": N_("{path} was left behind by an export that was cut off."),
    "not-of-register": N_("{count} files or folders are no part of the register: {names}."),
    "entries-redacted": N_("{count} entries were left out; what they say is not shown."),
    "authenticity-not-shown": N_(
        "No key was given, so the log's keys are known from this copy alone: whose log it is, is not shown."
    ),
    "memory-newer": N_(
        "{memory} remembers {size} entries, and this copy ends with {entries}: what came later is not in it."
    ),
    "study-not-told": N_("No entry that can be read belongs to {study}."),
    "story-not-told": N_("The story of {result} cannot be told, because of the findings."),
}

SINGULAR: Mapping[str, str] = {
    "request-unbound": N_(
        "{count} request, here, was signed over another history than the one that stands before it: the first "
        "{size} entries are not what the signer had seen. The last request that agrees had seen {agreed}."
    ),
    "register-unfinished": N_(
        "{count} entry stands beyond the checkpoint: an export is under way, or was cut off."
    ),
    "not-of-register": N_("{count} file or folder is no part of the register: {names}."),
    "entries-redacted": N_("{count} entry was left out; what it says is not shown."),
}
"""The templates whose `count` is one."""


@dataclass(frozen=True, slots=True)
class _Said:
    code: str
    entry: int | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)

    templates: ClassVar[Mapping[str, str]]

    @property
    def message(self) -> str:
        """What is said, in the language in use."""
        # Fields may hold control characters, which terminals would obey.
        fields = {name: printable(str(value)) for name, value in self.fields.items()}
        template, one = self.templates[self.code], SINGULAR.get(self.code)
        said = _(template) if one is None else ngettext(one, template, int(self.fields["count"]))
        return said.format(**fields)


@dataclass(frozen=True, slots=True)
class Finding(_Said):
    """Something that is wrong, of a code of `FINDINGS`; `entry` is where, if it is at one entry."""

    templates = FINDINGS


@dataclass(frozen=True, slots=True)
class Warned(_Said):
    """Something that is odd or could not be looked at, of a code of `WARNINGS`."""

    templates = WARNINGS


Noted = Finding | Warned
"""What the steps of an audit yield."""


def finding(code: str, entry: int | None = None, **fields: Any) -> Finding:
    """Make a finding of `code` at `entry`."""
    return Finding(code, entry, fields)


def warned(code: str, entry: int | None = None, **fields: Any) -> Warned:
    """Make a warning of `code` at `entry`."""
    return Warned(code, entry, fields)
