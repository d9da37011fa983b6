"""Step 1, what only the ledger's own place shows: its database is whole, and says what the entries do."""

from collections.abc import Iterator, Mapping

from lacre.audit.findings import Finding, finding
from lacre.audit.source import Premises
from lacre.audit.tree import Tree
from lacre.errors import LacreError
from lacre.ledger.checkpoint import Checkpoint
from lacre.rules.record import Recorded, columns_of
from lacre.store.form import FORM


def check_integrity(premises: Premises) -> Iterator[Finding]:
    """Ask the database itself."""
    for trouble in premises.integrity():
        yield finding("database-damaged", why=trouble)


def check_form(premises: Premises) -> Iterator[Finding]:
    """Compare what the database is made of with what the migrations make.

    A trigger or an index that is gone changes no entry: it lets the next accident happen.
    """
    form = premises.form()
    for name in sorted(FORM.keys() | form.keys()):
        if name not in form:
            yield finding("form-missing", name=name)
        elif name not in FORM:
            yield finding("form-unknown", name=name)
        elif form[name] != FORM[name]:
            yield finding("form-differs", name=name)


def check_columns(recorded: Recorded, stored: Mapping[str, object]) -> Iterator[Finding]:
    """Compare the stored columns of an entry with what its bytes give."""
    for column, derived in {**columns_of(recorded), "leaf_hash": recorded.leaf_hash}.items():
        found = stored.get(column)
        if found != derived or type(found) is not type(derived):
            yield finding(
                "column-differs", recorded.index, column=column, stored=_shown(found), derived=_shown(derived)
            )


def check_nodes(premises: Premises, tree: Tree) -> Iterator[Finding]:
    """Compare the stored nodes with the tree's; where an entry is missing the tree is not known."""
    if not tree.whole:
        return
    seen = set()
    for level, position, stored in premises.nodes():
        expected = tree.nodes.get((level, position))
        seen.add((level, position))
        if expected is None:
            yield finding("node-unknown", level=level, position=position)
        elif stored != expected:
            # The subtree's last entry is the one whose writing stored the node.
            last = ((position + 1) << level) - 1
            yield finding("node-differs", last, level=level, position=position)
    for level, position in sorted(tree.nodes.keys() - seen):
        last = ((position + 1) << level) - 1
        yield finding("node-missing", last, level=level, position=position)


def check_checkpoint_size(premises: Premises, note: bytes | None) -> Iterator[Finding]:
    """Compare the size the checkpoint is filed under with what it says."""
    if note is None:
        return
    try:
        stated = Checkpoint.of_note(note).size
    except LacreError:
        return  # step 5 finds that
    filed = premises.checkpoint_size()
    if filed != stated:
        yield finding("checkpoint-column", stored=filed, stated=stated)


def _shown(value: object) -> str:
    if value is None:
        return "-"
    return value.hex() if isinstance(value, bytes) else str(value)
