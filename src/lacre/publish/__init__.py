"""What strangers get: the register that one can serve, and the bundle of one result that one can mail.

register    writes and extends the register, which `lacre.audit.register` reads
parts       what of a ledger belongs into either
bundle      a bundle, written
archive     its container: a zip in one form only
manifest    what it holds, signed
shown       what its result.json must say
verify      a bundle, checked by somebody who has nothing else
"""
