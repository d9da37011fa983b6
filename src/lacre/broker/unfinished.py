"""What goes wrong once a read is on record: told as what it leaves behind, with the entry that stands."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lacre.errors import InternalError, LacreError, NotRemembered, ReadUncertain, StoreCommitUncertain

Unfinished = Callable[[int, str, str], LacreError]
"""Makes the refusal of a read left without its outcome: of its entry, why that is, and what to do about it."""


@contextmanager
def not_remembered_leaves(unfinished: Unfinished) -> Iterator[None]:
    """Tell of an entry that this machine could not remember as of a read left unfinished: nothing is decrypted then."""
    try:
        yield
    except NotRemembered as error:
        raise unfinished(error.fields["entry"], error.message, error.fields["next"]) from error


@contextmanager
def refusal_leaves(
    unfinished: Unfinished, entry: int, pool: str, *, but: tuple[type[LacreError], ...] = ()
) -> Iterator[None]:
    """Tell of a refusal after the read at `entry` as of a read left unfinished; those in `but` pass as they are.

    Raises `ReadUncertain` where the result may be on record or not.
    """
    # The first is no refusal, and the second is of the result, which stands.
    passing: tuple[type[LacreError], ...] = (InternalError, NotRemembered, *but)
    try:
        yield
    except passing:
        raise
    except StoreCommitUncertain as error:
        raise ReadUncertain(entry=entry, pool=pool, why=error.message) from error
    except LacreError as error:
        raise unfinished(entry, error.message, error.way_out) from error
