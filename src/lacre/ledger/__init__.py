"""What is remembered, as bytes: statements, envelopes, keys, the Merkle tree, notes, checkpoints, receipts.

Everything here is pure: no clock, no file, no entropy but the salt of a key file's cipher. Parsers are
strict and return frozen objects; formatting what was parsed gives the same bytes, and the other way round.
"""
