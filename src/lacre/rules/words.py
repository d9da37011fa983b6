"""What is only put on record: deviations and withdrawals (rules 14 and 17), and texts taken out again."""

from lacre.errors import EntryNotOfStudy, NothingToErase
from lacre.rules.answers import EraseDecision, EraseFacts, WordsDecision
from lacre.rules.common import known_of, require_open, require_role, require_study
from lacre.rules.requests import Deviate, Erase, Withdraw
from lacre.rules.state import State, StudyState


def decide_deviate(state: State, request: Deviate, by: str) -> WordsDecision:
    """Whether words may be put on record about a study: always, if they are of one of its entries."""
    require_role(state, by, "registrant")
    study = require_study(state, request.study)
    if request.about is not None and request.about not in entries_of(study):
        raise EntryNotOfStudy(study=study.slug, entry=request.about)
    return WordsDecision(known=known_of(study))


def decide_withdraw(state: State, request: Withdraw, by: str) -> WordsDecision:
    """Whether a study may be withdrawn: once."""
    require_role(state, by, "registrant")
    study = require_study(state, request.study)
    require_open(study)
    return WordsDecision(known=known_of(study))


def decide_erase(state: State, request: Erase, by: str, facts: EraseFacts) -> EraseDecision:
    """Whether a text may go: an owner asks, and an entry before named it.

    That the entry did, and that no earlier erasure took it out, is known from the whole log alone: the broker
    looks, and so does the audit.
    """
    require_role(state, by, "owner")
    if facts.named >= state.next_index:
        raise NothingToErase(digest=request.digest[:16])
    return EraseDecision()


def entries_of(study: StudyState) -> frozenset[int]:
    """Every entry of a study."""
    found = {version.entry for version in study.versions}
    found |= {words.entry for words in study.deviations}
    if study.withdrawn is not None:
        found.add(study.withdrawn.entry)
    for each in study.holds:
        found |= {read.entry for read in each.reads}
        found |= {read.result for read in each.reads if read.result is not None}
    for pool in study.pools.values():
        found |= {pool.sealed.entry, *(sealed.entry for sealed in pool.replaced)}
        found |= {handed.entry for handed in pool.handed}
    if study.corpus is not None:
        found |= {made.entry for made in study.corpus.parts}
        found |= {made.entry for made in study.corpus.rebalances}
    return frozenset(found)
