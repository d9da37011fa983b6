"""The ledger as a place on disk: one SQLite file, its readers and writers, and the machine's memory of it.

tables    what is in the file
form      what the migrations make of it, for the audit
engine    how the file is made, opened and kept to one way of locking
failures  what SQLite says, as refusals of lacre
reader    a snapshot of the ledger
writer    a transaction on it, which ends in a new checkpoint
memory    rule 18: a ledger is never smaller than, or no extension of, what was seen of it
filed     the documents in that memory, as files
blobs     the sealed files that an entry names
discover  where a ledger lies
locks     what a process holds while it lives, or while it makes something in a folder
"""
