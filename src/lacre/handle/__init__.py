"""An open ledger as one object, and what makes it: what `lacre.api` hands out.

making   where clocks and entropy come from, and nowhere else; the desk that verbs work at
ledger   the open ledger, its methods the verbs
evidence those of its verbs that read pools, or put on record what results rest on
audits   audits of a ledger or a register, and of bundles: what needs no open ledger
"""
