"""What the verbs that change a study answer, as text: amend, deviate, withdraw."""

from lacre.broker.outcomes import Amended, AmendmentPlanned, Deviated, Withdrawn
from lacre.protocol.difference import line
from lacre.report import words
from lacre.report.page import Cell, Page
from lacre.report.result_text import kept_infeasible, warnings
from lacre.text import _


def planned_page(planned: AmendmentPlanned) -> Page:
    """Write what an amendment would do."""
    page = Page()
    title = _("{study}: this would be version {version} of the plan; nothing is recorded yet")
    page.heading(title.format(study=planned.study, version=planned.version))
    _changes(page, planned)
    for pool in planned.burns:
        page.say(Cell(_("Burns: "), "bold red"), _("{pool} would be dev, for good.").format(pool=pool))
    _pools(page, planned)
    return page


def amended_page(amended: Amended) -> Page:
    """Write an amendment."""
    page = Page()
    title = _("{study} is amended: version {version} of the plan is in force")
    page.heading(title.format(study=amended.study, version=amended.version))
    page.say(words.on_record(amended.entry, amended.time))
    page.say(_("Protocol sha256:{digest}").format(digest=amended.protocol_hash))
    _changes(page, amended)
    for pool in amended.burns:
        page.say(
            Cell(_("Burnt: "), "bold red"),
            _("{pool} is dev from here on. Earlier results stand as they were reported.").format(pool=pool),
        )
    _pools(page, amended)
    warnings(page, amended.warnings)
    return page


def _changes(page: Page, planned: AmendmentPlanned) -> None:
    page.gap()
    for change in planned.changes:
        page.say(line(change), indent=1)
    page.gap()
    page.say(_("Known by now: {known}.").format(known=words.known(planned.known)))
    kept_infeasible(page, planned.infeasible)


def _pools(page: Page, planned: AmendmentPlanned) -> None:
    if not planned.burns:
        page.say(_("It makes no pool dev."))
    for pool in planned.reseal:
        said = _(
            "The sealed files of {pool} are declared otherwise now: seal it again, with `lacre seal {study} {pool} "
            "FILE --replace --reason TEXT`, before it is read."
        )
        page.say(Cell(_("Warning: "), "yellow"), said.format(pool=pool, study=planned.study))
    for pool in planned.closed:
        said = _(
            "The sealed files of {pool} are declared otherwise now, or no longer: it cannot be read again."
        )
        page.say(Cell(_("Warning: "), "yellow"), said.format(pool=pool))


def deviated_page(deviated: Deviated) -> Page:
    """Write a deviation."""
    page = Page()
    name = deviated.study if deviated.about is None else f"{deviated.study}@{deviated.about}"
    page.heading(_("On record about {name}").format(name=name))
    page.say(words.on_record(deviated.entry, deviated.time))
    page.block(deviated.words)
    page.say(_("Known by now: {known}.").format(known=words.known(deviated.known)))
    page.say(_("It is shown wherever {name} is, from here on; nothing else has changed.").format(name=name))
    warnings(page, deviated.warnings)
    return page


def withdrawn_page(withdrawn: Withdrawn) -> Page:
    """Write a withdrawal."""
    page = Page()
    page.heading(_("{study} is withdrawn").format(study=withdrawn.study))
    page.say(words.on_record(withdrawn.entry, withdrawn.time))
    page.block(withdrawn.reason)
    page.say(_("Known by now: {known}.").format(known=words.known(withdrawn.known)))
    page.say(_("Its entries, results and deviations stay, and nothing more is read or changed in it."))
    if withdrawn.unread:
        said = _("Sealed, and never to be read in it: {pools}.")
        page.say(said.format(pools=words.listing(withdrawn.unread)))
    warnings(page, withdrawn.warnings)
    return page
