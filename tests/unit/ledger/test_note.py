"""Signed notes: the published examples, and what C2SP and lacre refuse."""

import base64

import pytest

from lacre.errors import NoteInvalid, NoteUnsigned, VerifierKeyInvalid
from lacre.ledger.keys import PrivateKey
from lacre.ledger.note import MAX_NOTE, Note, NoteSignature, VerifierKey, is_key_name, sign_note

# The examples of Go's golang.org/x/mod/sumdb/note.
TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PETER_SECRET = "AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
PETER_LINE = (
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6K"
    "E6RyyBwJnAM=\n"
)
ENOCH = "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop"
ENOCH_LINE = (
    "— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1"
    "RvMc+QQ=\n"
)
# The example of the signed-note page: its text holds a blank line, and its key is not published.
POEM = (
    "Ognuno sta solo sul cuor della terra\ntrafitto da un raggio di sole:\n\ned è subito sera.\n\n"
    "— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0"
    "xMcXxj99ihAQwaqP3ZekRwNtIc=\n"
).encode()


def test_the_published_note_verifies() -> None:
    peter, enoch = VerifierKey.parse(PETER), VerifierKey.parse(ENOCH)
    one = Note.parse(f"{TEXT}\n{PETER_LINE}".encode())
    assert one.text == TEXT
    assert one.verify([peter]) == (peter,)
    both = Note.parse(f"{TEXT}\n{PETER_LINE}{ENOCH_LINE}".encode())
    assert both.verify([enoch, peter]) == (peter, enoch)
    assert both.verify([enoch]) == (enoch,)
    assert both.format() == f"{TEXT}\n{PETER_LINE}{ENOCH_LINE}".encode()


def test_the_published_note_is_signed_again_byte_for_byte() -> None:
    """The secret key is base64(0x01 || seed), as Go writes it."""
    key = PrivateKey.from_seed(base64.b64decode(PETER_SECRET)[1:])
    assert sign_note(TEXT, [("PeterNeumann", key)]) == f"{TEXT}\n{PETER_LINE}".encode()
    assert VerifierKey("PeterNeumann", key.public).format() == PETER
    assert VerifierKey("PeterNeumann", key.public).key_id.hex() == "c74f20a3"


def test_a_text_may_hold_blank_lines() -> None:
    note = Note.parse(POEM)
    assert note.text.endswith("sole:\n\ned è subito sera.\n")
    assert [line.name for line in note.signatures] == ["quasimodo.example/salvatore"]
    assert note.format() == POEM


def test_no_part_or_neighbour_of_a_verifier_key_is_one() -> None:
    for begin in range(len(PETER)):
        for end in range(begin + 1, len(PETER) + 1):
            if end - begin < len(PETER):
                with pytest.raises(VerifierKeyInvalid):
                    VerifierKey.parse(PETER[begin:end])
    for at, letter in enumerate(PETER):
        with pytest.raises(VerifierKeyInvalid):
            VerifierKey.parse(PETER[:at] + chr(ord(letter) + 1) + PETER[at + 1 :])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "++",
        PETER + "\n",
        PETER.upper(),
        PETER.replace("c74f20a3", "C74F20A3"),
        # Go's own: a longer key and an unknown algorithm, each with its key id adjusted.
        "PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==",
        "PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    ],
)
def test_no_other_text_is_a_verifier_key(text: str) -> None:
    with pytest.raises(VerifierKeyInvalid):
        VerifierKey.parse(text)


@pytest.mark.parametrize(
    "name", ["", "a b", "a+b", "a\tb", "a\nb", "a\u00a0b", "a\u2003b", "a\u2028b", "a\x7f", "a\x85", "\ud800"]
)
def test_no_key_has_such_a_name(name: str, owner: PrivateKey) -> None:
    assert not is_key_name(name)
    with pytest.raises(VerifierKeyInvalid):
        VerifierKey(name, owner.public)
    with pytest.raises(VerifierKeyInvalid):
        sign_note("text\n", [(name, owner)])
    with pytest.raises(NoteInvalid):
        NoteSignature(name, b"1234", b"5")


@pytest.mark.parametrize("name", ["a", "example.com/log", "lacre/0a1b2c3d", "registo-público", "日本"])
def test_keys_may_have_such_names(name: str, owner: PrivateKey) -> None:
    verifier = VerifierKey(name, owner.public)
    assert VerifierKey.parse(verifier.format()) == verifier
    note = sign_note("text\n", [(name, owner)])
    assert Note.parse(note).verify([verifier]) == (verifier,)


def test_unknown_signers_are_skipped(owner: PrivateKey, broker: PrivateKey, log: PrivateKey) -> None:
    """Also when they share a known key's name, or its id, but not both (C2SP signed-note, Signatures)."""
    known = VerifierKey("log", owner.public)
    note = Note.parse(sign_note("text\n", [("witness", broker), ("log", owner), ("log", broker)]))
    assert note.verify([known]) == (known,)
    same_id = NoteSignature("other", known.key_id, b"whatever")
    assert Note(note.text, (*note.signatures, same_id)).verify([known]) == (known,)
    cosignature = NoteSignature("witness", b"\x01\x02\x03\x04", b"t" * 72)
    assert Note(note.text, (cosignature, *note.signatures)).verify([known]) == (known,)


def test_a_note_without_a_known_signature_is_refused(owner: PrivateKey, broker: PrivateKey) -> None:
    note = Note.parse(sign_note("text\n", [("log", owner)]))
    for verifiers in ([], [VerifierKey("log", broker.public)], [VerifierKey("other", owner.public)]):
        with pytest.raises(NoteUnsigned) as caught:
            note.verify(verifiers)
        assert caught.value.fields == {"known": len(verifiers)}


def test_one_bad_signature_of_a_known_key_refuses_the_note(owner: PrivateKey, broker: PrivateKey) -> None:
    good = Note.parse(sign_note("text\n", [("log", owner), ("log", broker)]))
    keys = [VerifierKey("log", owner.public), VerifierKey("log", broker.public)]
    first, second = good.signatures
    for bad in (second.signature[:-1] + b"\0", b"x", second.signature + b"\0", first.signature):
        note = Note(good.text, (first, NoteSignature("log", second.key_id, bad)))
        with pytest.raises(NoteInvalid):
            note.verify(keys)
        assert note.verify(keys[:1]) == (keys[0],)


def test_a_signer_of_two_lines_is_named_once(owner: PrivateKey) -> None:
    known = VerifierKey("log", owner.public)
    note = Note.parse(sign_note("text\n", [("log", owner), ("log", owner)]))
    assert note.verify([known]) == (known,)


def test_another_text_is_not_signed() -> None:
    peter = VerifierKey.parse(PETER)
    with pytest.raises(NoteInvalid):
        Note.parse(f"{TEXT.lower()}\n{PETER_LINE}".encode()).verify([peter])
    with pytest.raises(NoteInvalid):
        Note.parse(f"{TEXT}\n\n{PETER_LINE}".encode()).verify([peter])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\n\n",
        TEXT.encode(),
        f"{TEXT}{PETER_LINE}".encode(),
        f"{TEXT}\n".encode(),
        f"{TEXT}\n\n".encode(),
        f"{TEXT}\n{PETER_LINE}".encode()[:-1],
        f"{TEXT}\n{PETER_LINE}\n".encode(),
        f"{TEXT}\n{PETER_LINE}".replace("\n", "\r\n").encode(),
        f"{TEXT}\r\n{PETER_LINE}".encode(),
        f"a\tb\n\n{PETER_LINE}".encode(),
        f"a\0\n\n{PETER_LINE}".encode(),
        f"{TEXT}\n{PETER_LINE}".encode("utf-16"),
        b"\xff\n\n" + PETER_LINE.encode(),
        b"\xed\xa0\x80\n\n" + PETER_LINE.encode(),
        f"{TEXT}\n{PETER_LINE}text\n".encode(),
        f"{TEXT}\n{PETER_LINE.replace('—', '-')}".encode(),
        f"{TEXT}\n{PETER_LINE.replace('—', '–')}".encode(),
        f"{TEXT}\n{PETER_LINE.replace('— ', '—')}".encode(),
        f"{TEXT}\n{PETER_LINE.replace('— ', '—  ')}".encode(),
        f"{TEXT}\n{PETER_LINE.replace('— ', ' — ')}".encode(),
        f"{TEXT}\n{PETER_LINE.replace('Peter', 'Peter+')}".encode(),
        f"{TEXT}\n{PETER_LINE.replace('Peter', 'Peter ')}".encode(),
        f"{TEXT}\n{PETER_LINE[:-1]} \n".encode(),
        f"{TEXT}\n{PETER_LINE[:-2]}\n".encode(),
        f"{TEXT}\n{PETER_LINE.replace('JnAM=', 'JnAN=')}".encode(),
        f"{TEXT}\n— PeterNeumann\n".encode(),
        f"{TEXT}\n— PeterNeumann \n".encode(),
        f"{TEXT}\n— PeterNeumann x08gow==\n".encode(),
        f"{TEXT}\n{PETER_LINE * 101}".encode(),
        f"{TEXT * 11_000}\n{PETER_LINE}".encode(),
    ],
)
def test_nothing_else_is_a_note(data: bytes) -> None:
    with pytest.raises(NoteInvalid):
        Note.parse(data)


def test_a_hundred_signatures_and_a_million_bytes_are_allowed(owner: PrivateKey) -> None:
    assert len(Note.parse(f"{TEXT}\n{PETER_LINE * 100}".encode()).signatures) == 100
    line = len(sign_note("\n", [("log", owner)])) - 2
    text = "x" * (MAX_NOTE - line - 2) + "\n"
    assert len(sign_note(text, [("log", owner)])) == MAX_NOTE
    with pytest.raises(NoteInvalid):
        sign_note("x" + text, [("log", owner)])


@pytest.mark.parametrize("text", ["", "text", "a\rb\n", "\x1b[2J\n", "\ud800\n"])
def test_no_other_text_is_signed(text: str, owner: PrivateKey) -> None:
    with pytest.raises(NoteInvalid):
        sign_note(text, [("log", owner)])


def test_a_note_has_a_signature() -> None:
    with pytest.raises(NoteInvalid):
        sign_note("text\n", [])
