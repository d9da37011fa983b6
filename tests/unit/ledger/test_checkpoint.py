"""Checkpoints: the published example, strict lines, and whose signature counts."""

import pytest

from lacre.errors import CheckpointInvalid, NoteInvalid, NoteUnsigned
from lacre.ledger.checkpoint import Checkpoint, SignedCheckpoint
from lacre.ledger.keys import PrivateKey
from lacre.ledger.merkle import EMPTY_ROOT
from lacre.ledger.note import VerifierKey, sign_note

# The example of https://c2sp.org/tlog-checkpoint (its key is not published).
BODY = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
NOTE = (
    f"{BODY}\n— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Z"
    "hcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
).encode()
ROOT = (
    "0ac5186a91863e8e1d90c808014aa89bf5da8e3ee1d9f07630f0378f68f1ab62"  # base64 -d | xxd -p of the third line
)
ORIGIN = "lacre/0a1b2c3d"


def test_the_published_checkpoint_is_read() -> None:
    checkpoint = Checkpoint.of_note(NOTE)
    assert checkpoint == Checkpoint("example.com/behind-the-sofa", 20852163, bytes.fromhex(ROOT))
    assert checkpoint.format() == BODY


def test_the_tree_note_of_go_is_a_checkpoint() -> None:
    """What Go's `sumdb/tlog` publishes as the form of a tree (note_test.go), and its hash in hexadecimal."""
    text = "go.sum database tree\n123456789012\nTszzRgjTG6xce+z2AG31kAXYKBgQVtCSCE40HmuwBb0=\n"
    root = "4eccf34608d31bac5c7becf6006df59005d828181056d092084e341e6bb005bd"
    assert Checkpoint.parse(text) == Checkpoint("go.sum database tree", 123456789012, bytes.fromhex(root))
    assert Checkpoint.parse(text).format() == text


def test_further_lines_are_kept() -> None:
    """C2SP: extension lines are optional and opaque, and may not be empty."""
    checkpoint = Checkpoint.parse(f"{BODY}one\ntwo two\n")
    assert checkpoint.extensions == ("one", "two two")
    assert checkpoint.format() == f"{BODY}one\ntwo two\n"
    for text in (f"{BODY}\n", f"{BODY}one\n\ntwo\n", f"{BODY}one\n\n"):
        with pytest.raises(CheckpointInvalid):
            Checkpoint.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "\n\n\n",
        BODY[:-1],
        "\n" + BODY,
        BODY.replace("\n", "\r\n"),
        BODY.replace("\n", "\u2028"),
        BODY.replace("20852163", "020852163"),
        BODY.replace("20852163", "+20852163"),
        BODY.replace("20852163", "-20852163"),
        BODY.replace("20852163", " 20852163"),
        BODY.replace("20852163", "20_852_163"),
        BODY.replace("20852163", "２"),
        BODY.replace("20852163", "0x1"),
        BODY.replace("20852163", ""),
        BODY.replace("20852163", str(2**63)),
        BODY.replace("20852163", "9" * 5000),
        BODY.replace("q2I=", "q2J="),
        BODY.replace("q2I=", "q2I"),
        BODY.replace("q2I=", "q2I==="),
        BODY.replace("/X", "_X"),
        BODY.replace("CsUY", ""),
        BODY.replace("CsUY", "CsUYCsUY"),
        BODY.replace("behind", "behi\0nd"),
        BODY.replace("behind", "behi\tnd"),
        "\n".join(BODY.split("\n")[1:]),
    ],
)
def test_nothing_else_is_a_checkpoint(text: str) -> None:
    with pytest.raises(CheckpointInvalid):
        Checkpoint.parse(text)


@pytest.mark.parametrize(
    ("origin", "size", "root", "extensions"),
    [
        ("", 0, EMPTY_ROOT, ()),
        ("a\nb", 0, EMPTY_ROOT, ()),
        ("a", -1, EMPTY_ROOT, ()),
        ("a", 2**63, EMPTY_ROOT, ()),
        ("a", 0, b"", ()),
        ("a", 0, EMPTY_ROOT + b"\0", ()),
        ("a", 0, EMPTY_ROOT, ("",)),
        ("a", 0, EMPTY_ROOT, ("b\n",)),
    ],
)
def test_a_checkpoint_is_not_built_from_anything_else(
    origin: str, size: int, root: bytes, extensions: tuple[str, ...]
) -> None:
    with pytest.raises(CheckpointInvalid):
        Checkpoint(origin, size, root, extensions)


def test_what_is_signed_is_opened(log: PrivateKey, next_log: PrivateKey) -> None:
    """While one log key replaces the other both sign, and either alone is enough to open."""
    checkpoint = Checkpoint(ORIGIN, 0, EMPTY_ROOT)
    old, new = VerifierKey(ORIGIN, log.public), VerifierKey(ORIGIN, next_log.public)
    signed = SignedCheckpoint.sign(checkpoint, [log, next_log])
    assert signed.signers == (old, new)
    assert SignedCheckpoint.open(signed.note, [new, old]) == signed
    assert SignedCheckpoint.open(signed.note, [old]) == SignedCheckpoint(checkpoint, signed.note, (old,))
    assert SignedCheckpoint.open(signed.note, [new]).signers == (new,)


def test_only_its_own_log_speaks_for_a_checkpoint(log: PrivateKey, broker: PrivateKey) -> None:
    checkpoint = Checkpoint(ORIGIN, 0, EMPTY_ROOT)
    witness = VerifierKey("witness.example", broker.public)
    alone = sign_note(checkpoint.format(), [(witness.name, broker)])
    with pytest.raises(CheckpointInvalid):
        SignedCheckpoint.open(alone, [witness, VerifierKey(ORIGIN, log.public)])
    both = sign_note(checkpoint.format(), [(ORIGIN, log), (witness.name, broker)])
    verifiers = [witness, VerifierKey(ORIGIN, log.public)]
    assert set(SignedCheckpoint.open(both, verifiers).signers) == set(verifiers)
    with pytest.raises(NoteUnsigned):
        SignedCheckpoint.open(alone, [VerifierKey(ORIGIN, log.public)])


def test_a_changed_head_is_refused(log: PrivateKey) -> None:
    signed = SignedCheckpoint.sign(Checkpoint(ORIGIN, 5, EMPTY_ROOT), [log])
    with pytest.raises(NoteInvalid):
        SignedCheckpoint.open(signed.note.replace(b"\n5\n", b"\n6\n"), [VerifierKey(ORIGIN, log.public)])


def test_a_signed_note_that_is_no_checkpoint_is_refused(log: PrivateKey) -> None:
    with pytest.raises(CheckpointInvalid):
        SignedCheckpoint.open(sign_note("words\n", [(ORIGIN, log)]), [VerifierKey(ORIGIN, log.public)])


def test_a_log_without_a_fit_name_or_a_key_signs_nothing(log: PrivateKey) -> None:
    with pytest.raises(NoteInvalid):
        SignedCheckpoint.sign(Checkpoint(ORIGIN, 0, EMPTY_ROOT), [])
