"""Protocols made from files that other tools read.

spec      what such a file says, once it proved sound
reading   how it is read: as strictly as a protocol, every problem told at once
writing   the protocol it becomes, with comments where the file left something open
fairness  the block `fairness`, from bytes to text
"""
