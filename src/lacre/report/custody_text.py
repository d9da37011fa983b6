"""Who can open a pool, and who asks whom to: what rewrap and a request for a read answer, as text."""

from lacre.broker.outcomes import PoolRewrapped, PoolSealed, RequestWritten
from lacre.report import words
from lacre.report.page import Page
from lacre.report.result_text import (
    custody,
    ignored,
    outside,
    planned_submissions,
    say_custody,
    standing,
    unchecked,
    warnings,
)
from lacre.rules.custody import SECOND_KEYHOLDER
from lacre.text import _, ngettext


def rewrapped_page(pool: PoolRewrapped) -> Page:
    """Write who can open a pool now, and who still can."""
    page = Page()
    page.heading(_("{pool} of {study} is in other hands").format(pool=pool.pool, study=pool.study))
    page.say(words.on_record(pool.entry, pool.time))
    said = ngettext(
        "{count} key was wrapped anew; nothing was read.",
        "{count} keys were wrapped anew; nothing was read.",
        pool.keys,
    )
    page.say(said.format(count=pool.keys))
    recipients(page, pool.recipients)
    if not pool.opens_here:
        page.say(
            _("This ledger's own identity is not among them: to open the pool, one of theirs is needed.")
        )
    former = [each for each in pool.before if each not in pool.recipients]
    if former:
        page.say(
            _(
                "Until now it was {recipients}. The old wrapped keys stay where they are: whoever held such an "
                "identity, and a copy of those files, can still open the pool."
            ).format(recipients=words.listing(former))
        )
    page.say(_("Custody, through all its hands: {grade}").format(grade=custody(pool.custody)))
    warnings(page, pool.warnings)
    return page


def recipients(page: Page, who: tuple[str, ...]) -> None:
    """Write who can open a pool, and what if it is one alone."""
    said = ngettext("It opens with one key: {who}", "It opens with any of {n} keys: {who}", len(who))
    page.say(said.format(n=len(who), who=words.listing(who)))
    if len(who) == 1:
        page.say(_("If that one is lost, so is the pool: name several, or keep a copy elsewhere."))


def sealed_to(page: Page, sealed: PoolSealed) -> None:
    """Write who can open a pool that was just sealed."""
    say_custody(page, sealed.custody)
    if sealed.opens_here and len(sealed.recipients) == 1:
        page.say(
            _(
                "One key alone can open it, keys/identity.age in the ledger's folder: if that is lost, so is the "
                "pool. Keep a copy of it elsewhere."
            )
        )
        return
    recipients(page, sealed.recipients)
    if sealed.custody == SECOND_KEYHOLDER:
        page.say(_("Your own copies of the files stay where they are: delete them, or you can still look."))
    if not sealed.opens_here:
        page.say(
            _(
                "No identity here opens it, so it was not opened again to see that it does. To have it read, write "
                "a request for whoever holds one: `lacre reveal {study} --request-out FILE`."
            ).format(study=sealed.study)
        )


def request_page(request: RequestWritten) -> Page:
    """Write what was asked for, of whom, and what is still to be checked."""
    page = Page()
    page.heading(_("A request to read {pool} of {study}").format(pool=request.pool, study=request.study))
    page.say(_("It is in {path}. Nothing was read, and nothing is on record yet.").format(path=request.path))
    page.say(
        _("Send it to whoever holds an identity of {recipients}; they answer it in this ledger with:").format(
            recipients=words.listing(request.recipients)
        )
    )
    page.say(f"lacre reveal --request {request.path.name} --identity FILE --ledger DIR", indent=1)
    page.say(
        _(
            "DIR is this ledger's own folder, on a disk that both of you reach, and never a copy of it: an answer in a "
            "copy forks the log, and from then on each side refuses the other's."
        )
    )
    if request.finishes is not None:
        page.say(
            _("It would finish the read at entry {entry}, which crashed.").format(entry=request.finishes)
        )
    page.say(standing(request.pool, request.decision))
    say_custody(page, request.custody)
    planned_submissions(page, request.submissions)
    ignored(page, request.ignored)
    outside(page, request.outside)
    unchecked(page, request.unchecked)
    return page
