"""The history, derived again from the signed entries: nothing that a writer said of itself is believed.

Reads a `Source` (the store's reader, a bundle, a published register) and shares the formats and the law
with the writer, and nothing else.

audit       the steps in order
walk        the way along the entries, once, which most of the steps are taken on
signatures  who signed
verifying   whether they did, verified by a process beside the walk where there is much of it
law         the law replayed
results     what a result says of itself
documents   what stands beside the log
tree        the Merkle tree as the entries give it
heads       the checkpoint, and what others remember of the log
premises    what only the place shows where a ledger is kept: its database
blobs       likewise: its sealed pools
source      what is audited, behind one face
register    a published copy of a log as such a source, and its files held against the entries
files       its files, in a folder or in memory, read with bounds
findings    what can be wrong, each with a stable code
report      what an audit gives back
story       the history of one result
"""
