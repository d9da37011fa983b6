"""What goes out to strangers, and what a stranger finds: the records of exports and verifications, shown.

They stand here and not with the broker's outcomes, since whoever verifies has no broker.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lacre.audit.findings import Finding, Warned
from lacre.audit.report import AuditReport
from lacre.errors import printable
from lacre.report import audit_text, words
from lacre.report.page import Cell, Page
from lacre.report.result_text import custody
from lacre.text import N_, _, ngettext

if TYPE_CHECKING:
    # SciPy comes with it.
    from lacre.analyses.recompute import Recomputed

SHOWN: Mapping[str, str] = MappingProxyType(
    {
        "whole": N_("Every file is the one that the broker signed, and none is missing."),
        "order": N_(
            "The {entries} entries stood in this order when the checkpoint was signed, and none was changed "
            "or taken out since."
        ),
        "complete": N_("No entry up to the checkpoint is left out."),
        "signatures": N_("A key that was entitled to it signed each request, and the broker each entry."),
        "law": N_(
            "Every decision on {study} up to entry {last} follows from the rules and from what stood before it."
        ),
        "result": N_("The result is the one on record, by the protocol on record before it."),
        "numbers": N_(
            "Of its own counts: {estimates} values, {bounds} intervals and {criteria} verdicts of criteria "
            "come out the same when computed again."
        ),
        "opened": N_(
            "The files of the open pool are in the bundle, and what their entries say of them is so: computed from "
            "them again, the result is the same."
        ),
        "authentic": N_("The checkpoint is signed by the key that was given."),
        "remembered": N_("It agrees with what others kept: {memories}."),
    }
)
"""What a sound bundle shows."""

SHOWN_LESS: Mapping[str, str] = MappingProxyType(
    {
        "signatures": N_(
            "A key that was entitled to it, by the entries that are shown, signed each request among them, and the "
            "broker each entry."
        ),
        "law": N_(
            "Every decision on {study} up to entry {last} follows from the rules and from those entries before it "
            "that are shown."
        ),
    }
)
"""The same, where entries are left out."""

NOT_SHOWN: Mapping[str, str] = MappingProxyType(
    {
        "data": N_("That the counts come from the sealed data, which is not in the bundle."),
        "not-opened": N_(
            "That the result follows from the files of the open pool, which are in the bundle: it was computed by "
            "other statistics than this version's."
        ),
        "declared-open": N_(
            "What only the broker saw: cases shared with other pools are as it declared them."
        ),
        "declared": N_("What only the broker saw: rows, shared cases, early labels are as it declared them."),
        "authenticity": N_(
            "Whose log it is: no key was given, and the bundle's own prove nothing. Use --key."
        ),
        "completeness": N_(
            "Completeness: what the entries say that were left out ({redacted}) is not known. They may be of other "
            "studies or of the ledger itself, and revoke a key or erase a text."
        ),
        "later-of-study": N_(
            "What became of {study} after entry {last}, the last of it that is shown: of the entries after that, "
            "{count} are left out, and any of them may be of {study}: another read, a deviation, an amendment "
            "that makes the pool dev, other hands, a withdrawal. What result.json and report.txt say of today is "
            "shown up to entry {last} alone. Before it none of {study} is left out, since each of its entries names "
            "the one before."
        ),
        "other-studies": N_("The law for other studies, whose protocols are not in the bundle."),
        "withheld": N_("Numbers that disclosure control withholds: {count}."),
        "beyond": N_("Numbers that the counts alone do not give: {count}."),
        "report": N_("The words of report.txt, which are the exporter's and were not checked."),
        "unchecked": N_("What result.json says besides, which nothing here gives: {names}."),
        "later": N_("What was put on record after entry {last}."),
        "rewriting": N_(
            "That the owner of the log did not write it anew before anyone else kept a checkpoint of it."
        ),
        "custody": N_("That nobody looked without a trace. Custody up to entry {last}: {grade}"),
    }
)
"""What a bundle does not show, sound or not."""


@dataclass(frozen=True, slots=True)
class RegisterExported:
    """A register written or brought up to date: `before` entries, if there was one, and now `entries`.

    `written` and `removed` count files.
    """

    folder: Path
    origin: str
    entries: int
    root: str
    before: int | None
    written: int
    removed: int


@dataclass(frozen=True, slots=True)
class ReportWritten:
    """A result written as one HTML file; `digest` is the file's SHA-256 in hexadecimal."""

    path: Path
    result: str
    state: str
    bytes: int
    digest: str


@dataclass(frozen=True, slots=True)
class Exported:
    """A bundle written: the result it is of, and the entries up to its checkpoint; `left_out` of them hidden."""

    path: Path
    result: str
    entries: int
    root: str
    files: int
    bytes: int
    left_out: int
    verifier_key: str


@dataclass(frozen=True, slots=True)
class Verified:
    """A bundle checked: what an audit of it found and more, and what was computed again.

    `result` is the name of the result it says it is of, None where it could not be opened; `state` is what
    the result says. `key` and `memories` are what it was held to; `unchecked` are names of `result.json` that
    nothing in the bundle gives. `opened` is, of a result on an open pool alone, whether it was computed again from
    the pool's files.
    """

    result: str | None
    audit: AuditReport
    recomputed: "Recomputed | None"
    only_study: bool = False
    key: str | None = None
    memories: tuple[str, ...] = ()
    state: str | None = None
    unchecked: tuple[str, ...] = ()
    opened: bool | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.audit.ok

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong."""
        return self.audit.findings

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """What is odd."""
        return self.audit.warnings

    @property
    def shown(self) -> dict[str, str]:
        """What it shows, by code; nothing while there are findings."""
        again = self.recomputed
        if not self.ok:
            return {}
        study = self._study
        codes: dict[str, dict[str, Any]] = {"whole": {}, "order": {"entries": self.audit.entries}}
        if not self.only_study:
            codes["complete"] = {}
        last = max((each.index for each in self.audit.history), default=0)
        codes |= {"signatures": {}, "law": {"study": study, "last": last}, "result": {}}
        if again is not None:
            counts = {"estimates": again.estimates, "bounds": again.bounds, "criteria": again.criteria}
            codes["numbers"] = counts
        if self.opened:
            codes["opened"] = {}
        if self.key is not None:
            codes["authentic"] = {}
        if self.memories:
            codes["remembered"] = {"memories": words.listing(self.memories)}
        ledger = self.audit.ledger
        words_of = {**SHOWN, **SHOWN_LESS} if ledger is not None and ledger.redacted else SHOWN
        return {code: _(words_of[code]).format(**fields) for code, fields in codes.items()}

    @property
    def _study(self) -> str:
        return (self.result or "").rpartition("@")[0]

    @property
    def not_shown(self) -> dict[str, str]:
        """What it does not show, by code; nothing of what is no bundle."""
        if self.result is None:
            return {}
        codes: dict[str, dict[str, Any]] = {"data": {}, "declared": {}}
        if self.opened is not None:
            codes = {**({} if self.opened else {"not-opened": {}}), "declared-open": {}}
        if self.key is None:
            codes["authenticity"] = {}
        codes |= self._not_whole
        again = self.recomputed
        if again is not None and again.withheld:
            codes["withheld"] = {"count": again.withheld}
        if again is not None and again.beyond:
            codes["beyond"] = {"count": again.beyond}
        codes["report"] = {}
        if self.unchecked:
            codes["unchecked"] = {"names": words.listing(self.unchecked)}
        if self.audit.entries:
            codes["later"] = {"last": self.audit.entries - 1}
        codes["rewriting"] = {}
        if self.audit.story is not None:
            told = self.audit.story
            codes["custody"] = {"last": told.last, "grade": custody(told.custody)}
        return {code: _(NOT_SHOWN[code]).format(**fields) for code, fields in codes.items()}

    @property
    def _not_whole(self) -> dict[str, dict[str, Any]]:
        """What is not shown for want of entries, or of other studies' protocols."""
        ledger, story = self.audit.ledger, self.audit.story
        codes: dict[str, dict[str, Any]] = {}
        if not self.only_study:
            codes["other-studies"] = {}
        else:
            codes["completeness"] = {"redacted": 0 if ledger is None else ledger.redacted}
        if story is not None and story.left_out:
            codes["later-of-study"] = {"study": story.study, "last": story.last, "count": story.left_out}
        return codes


# --- pages --------------------------------------------------------------------------------------------------


def register_page(written: RegisterExported) -> Page:
    """Write what became of a register."""
    page = Page()
    page.heading(
        _("{origin} in {folder}").format(origin=written.origin, folder=printable(str(written.folder)))
    )
    said = ngettext("{n} entry, root {root}", "{n} entries, root {root}", written.entries)
    page.say(said.format(n=written.entries, root=written.root))
    if written.before is not None:
        page.say(_("There were {before} entries before.").format(before=written.before))
    page.say(
        _("Files written: {written}; removed: {removed}.").format(
            written=written.written, removed=written.removed
        )
    )
    page.say(_("Audit it as a stranger would: lacre audit --registry {folder}").format(folder=written.folder))
    return page


def report_page(written: ReportWritten) -> Page:
    """Write where a page of a result is."""
    page = Page()
    verdict = Cell(written.state, words.STATE_STYLES.get(written.state, ""))
    page.heading(
        _("{result} in {path}  ").format(result=written.result, path=printable(str(written.path))), verdict
    )
    page.say(_("{bytes} bytes, sha256:{digest}").format(bytes=written.bytes, digest=written.digest))
    page.say(_("It is to be read, and proves nothing by itself. For whoever is to check the result:"))
    page.block(f"lacre export {words.shell_word(written.result)} -o r.zip")
    return page


def report_json(written: ReportWritten) -> dict[str, Any]:
    """Return where a page of a result is."""
    return {
        "path": str(written.path),
        "result": written.result,
        "state": written.state,
        "bytes": written.bytes,
        "sha256": written.digest,
    }


def exported_page(bundle: Exported) -> Page:
    """Write what a bundle holds."""
    page = Page()
    page.heading(_("{result} in {path}").format(result=bundle.result, path=printable(str(bundle.path))))
    said = ngettext("{n} entry, root {root}", "{n} entries, root {root}", bundle.entries)
    page.say(said.format(n=bundle.entries, root=bundle.root))
    if bundle.left_out:
        left = ngettext(
            "{n} entry of other studies is left out, so completeness is not shown.",
            "{n} entries of other studies are left out, so completeness is not shown.",
            bundle.left_out,
        )
        page.say(left.format(n=bundle.left_out))
    page.say(_("{files} files, {bytes} bytes.").format(files=bundle.files, bytes=bundle.bytes))
    page.say(_("Whoever gets it checks it offline, with your key from elsewhere than the bundle:"))
    # Two lines that a shell takes for one: together they are longer than most screens.
    name, key = words.shell_word(bundle.path.name), words.shell_word(bundle.verifier_key)
    page.block(f"lacre verify {name} \\\n  --key {key}")
    return page


def verified_page(verified: Verified) -> Page:
    """Write what a bundle shows, and what it does not."""
    page = Page()
    count = len(verified.findings)
    if verified.result is None:
        page.heading(_("This is no bundle that can be checked: "), Cell(_("damaged"), "bold red"))
        for each in verified.findings:
            page.say(each.message)
        return page
    sound = Cell(_("sound"), "bold green")
    if count:
        sound = Cell(ngettext("{n} finding", "{n} findings", count).format(n=count), "bold red")
    page.heading(_("Bundle of {result}: ").format(result=printable(verified.result)), sound)
    report = verified.audit
    said = ngettext("{n} entry, root {root}", "{n} entries, root {root}", report.entries)
    page.say(said.format(n=report.entries, root=report.root))
    audit_text.noted(page, report)
    if report.story is not None:
        audit_text.story(page, report.story, report.names)
    _listed(page, _("Shown"), verified.shown)
    _listed(page, _("Not shown"), verified.not_shown)
    return page


def _listed(page: Page, title: str, said: Mapping[str, str]) -> None:
    if said:
        page.heading(title)
        for line in said.values():
            page.say(f"- {line}", indent=1)


# --- documents ----------------------------------------------------------------------------------------------


def register_json(written: RegisterExported) -> dict[str, Any]:
    """Return what became of a register."""
    return {
        "registry": str(written.folder),
        "origin": written.origin,
        "entries": written.entries,
        "root": written.root,
        "before": written.before,
        "written": written.written,
        "removed": written.removed,
    }


def exported_json(bundle: Exported) -> dict[str, Any]:
    """Return what a bundle holds."""
    return {
        "bundle": str(bundle.path),
        "result": bundle.result,
        "entries": bundle.entries,
        "root": bundle.root,
        "files": bundle.files,
        "bytes": bundle.bytes,
        "left_out": bundle.left_out,
        "verifier_key": bundle.verifier_key,
    }


def verified_json(verified: Verified) -> dict[str, Any]:
    """Return what a bundle shows, beside what an audit returns."""
    from lacre.report.json import audit

    told = audit(verified.audit)
    again = verified.recomputed
    counts = ("estimates", "bounds", "criteria", "withheld", "beyond")
    return {
        "ok": verified.ok,
        "result": verified.result,
        "state": verified.state,
        **{name: told[name] for name in _ABOVE[1:]},
        "shown": _coded(verified.shown),
        "not_shown": _coded(verified.not_shown),
        "recomputed": None if again is None else {name: getattr(again, name) for name in counts},
        **{name: value for name, value in told.items() if name not in _ABOVE},
    }


_ABOVE = ("ok", "entries", "root", "checkpoint", "findings", "warnings")


def _coded(said: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"code": code, "message": message} for code, message in said.items()]
