"""Texts can be erased: a document under a salted digest may go once an entry says so.

Revision: 0002. Every other document, and every entry, stays as before.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("entries", sa.Column("erases", sa.Text))
    op.create_index("entries_erases", "entries", ["erases"], sqlite_where=sa.text("erases IS NOT NULL"))
    op.execute("DROP TRIGGER documents_undeleted")
    op.execute(
        "CREATE TRIGGER documents_undeleted BEFORE DELETE ON documents"
        " WHEN OLD.salt IS NULL OR NOT EXISTS (SELECT 1 FROM entries WHERE erases = OLD.digest)"
        " BEGIN SELECT RAISE(ABORT, 'documents_undeleted, documents are not deleted'); END"
    )
    op.execute(
        "CREATE TRIGGER documents_erased BEFORE INSERT ON documents"
        " WHEN EXISTS (SELECT 1 FROM entries WHERE erases = NEW.digest)"
        " BEGIN SELECT RAISE(ABORT, 'documents_erased, an erased text stays out'); END"
    )
