"""Who signed: the genesis by its own keys, each later entry by a broker, each request by an enrolled key.

A key is looked up by the key id that a signature names, and judged as of the entry's index. Whether it made the
signature is left to `lacre.audit.verifying`, since nothing else that an audit derives hangs on it.
"""

from collections.abc import Iterator, Mapping

from lacre.audit.findings import Finding, finding
from lacre.audit.verifying import Verifying
from lacre.errors import SignatureInvalid
from lacre.ledger.envelope import Envelope
from lacre.ledger.keys import PublicKey
from lacre.rules.history import Key
from lacre.rules.record import Answered, Genesis, Recorded
from lacre.text import _

NEEDED = ("owner", "broker", "log")
"""The roles that a ledger cannot begin without."""

Keys = Mapping[str, Key]


def check_genesis(recorded: Recorded, genesis: Genesis, keys: Keys) -> Iterator[Finding]:
    """Hold the genesis against the keys it enrols: all that are needed, and signed by owner and broker."""
    if len(keys) != len(genesis.keys):
        yield finding("genesis-keys", recorded.index, why=_("a key is enrolled twice"))
    for role in NEEDED:
        if not any(role in key.roles for key in keys.values()):
            yield finding("genesis-keys", recorded.index, why=_("none is {role}").format(role=role))
    must = {keyid for keyid, key in keys.items() if key.roles & {"owner", "broker"}}
    signers = {signature.keyid for signature in recorded.envelope.signatures}
    if signers != must or not all(_is_signed(recorded.envelope, keys[keyid]) for keyid in must):
        yield finding("genesis-unsigned", recorded.index)


def check_signed(recorded: Recorded, keys: Keys, verifying: Verifying) -> Iterator[Finding]:
    """Hold a later entry, and the request it answers, against the enrolled keys.

    `verifying` is given the signatures, and what is to be found if one is not its key's.
    """
    index, signatures = recorded.index, recorded.envelope.signatures
    if len(signatures) != 1:
        yield finding("signatures-many", index, count=len(signatures))
    broker = keys.get(signatures[0].keyid)
    if broker is None or not broker.may("broker", index):
        yield finding("signer-unknown", index, key=signatures[0].keyid)
    else:
        verifying.expect(recorded.envelope, broker.public, "signature-wrong", index)
    if isinstance(recorded.content, Answered):
        by = keys.get(recorded.content.by)  # what its role allows it to ask is the law's to judge
        if by is None:
            yield finding("requester-unknown", index, key=recorded.content.by)
        else:
            verifying.expect(recorded.content.request_envelope, by.public, "request-signature-wrong", index)


def _is_signed(envelope: Envelope, key: Key) -> bool:
    try:
        envelope.verify(PublicKey(bytes.fromhex(key.public)))
    except SignatureInvalid:
        return False
    return True
