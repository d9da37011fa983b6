"""Bytes that claim to be text: checked before anything reads them, so that a refusal can name the byte."""

import codecs

from lacre.errors import TableEmpty, TableNotLatin1, TableNul, TableUndecodable

_STEP = 1 << 20


def text_begins(raw: bytes, encoding: str, file: str) -> int:
    """Return the offset in `raw` at which its text begins: 3 after a byte order mark of UTF-8, else 0.

    `encoding` is ``utf-8`` or ``latin-1``. Raises `TableEmpty`, `TableNul`, `TableNotLatin1` and
    `TableUndecodable`, the last with the offset of the first byte that is no UTF-8.
    """
    nul = raw.find(b"\0")
    if nul >= 0:
        raise TableNul(file=file, offset=nul)
    marked = raw.startswith(codecs.BOM_UTF8)
    if marked and encoding == "latin-1":
        raise TableNotLatin1(file=file)
    begin = len(codecs.BOM_UTF8) if marked else 0
    if len(raw) == begin:
        raise TableEmpty(file=file)
    if encoding == "utf-8":
        bad = _first_undecodable(raw, begin)
        if bad is not None:
            raise TableUndecodable(file=file, offset=bad)
    return begin


def _first_undecodable(raw: bytes, begin: int) -> int | None:
    # The error holds the text around the byte, so nothing is raised while it is at hand: it would travel
    # along as the context of what is raised.
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(begin, len(raw), _STEP):
        held = len(decoder.getstate()[0])
        try:
            decoder.decode(raw[start : start + _STEP], final=start + _STEP >= len(raw))
        except UnicodeDecodeError as error:
            return start - held + error.start
    return None
