"""Run by Alembic for `lacre.store.engine`, on the connection and inside the transaction it is handed.

There is no way back: a ledger is never taken to an older form, so the revisions have no downgrade.
"""

from alembic import context

from lacre.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=True
)
with context.begin_transaction():
    context.run_migrations()
