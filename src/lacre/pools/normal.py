"""The form in which a text is compared: the same words, however they were typed."""

import unicodedata


def normalise(text: str) -> str:
    """Return a text in NFC, casefolded, without blanks around it."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).strip()
