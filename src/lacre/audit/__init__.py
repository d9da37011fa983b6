"""The history, derived again from the signed entries: nothing that a writer said of itself is believed.

Reads a `Source` (the store's reader, a bundle, a published register) and shares the formats and the law
with the writer, and nothing else.

source    what is audited, behind one face
findings  what can be wrong, each with a stable code
audit     the steps in order, and the walk along the entries
entry     one entry: its form, its signatures, the history it is bound to
law       the law replayed, and what a result says of itself
heads     the checkpoint, and what others remember of the log
premises  what only the place shows where a ledger is kept: its database and its sealed blobs
report    what an audit gives back
story     the history of one result
"""
