"""The broker: one verb per file. It gathers facts, asks the law, writes the entry, and only then acts.

Each verb takes a `Desk` (what the broker works with) and gives back a record of `outcomes`.
"""
