"""Bytes and values outside RFC 8785."""

from lacre.errors.base import LacreError
from lacre.text import N_


class CanonicalError(LacreError):
    """Bytes or values outside RFC 8785."""

    code = "canonical"
    template = N_("This has no canonical form: {why}.")
    remedy = N_("Numbers must be finite and whole numbers below 2^53; text must be valid Unicode.")


class NotCanonical(CanonicalError):
    """A value without a canonical form, or bytes that are not one."""

    code = "not-canonical"
