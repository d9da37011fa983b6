"""Keys and passphrases."""

from lacre.errors.base import LacreError
from lacre.text import N_


class KeyError_(LacreError):  # noqa: N801 - KeyError is taken
    """A key that is missing, closed or not what it should be."""

    code = "key"


class KeyMalformed(KeyError_):
    """Bytes that are no Ed25519 key in the form asked for."""

    code = "key-malformed"
    template = N_("This is no Ed25519 key: {why}.")
    remedy = N_("A key file holds one private key in PKCS#8 PEM form, as `lacre init` writes it.")


class PassphraseNeeded(KeyError_):
    """A closed key, and no passphrase to open it."""

    code = "passphrase-needed"
    template = N_("The key is closed with a passphrase, and none was given.")
    remedy = N_("Give it when asked, in LACRE_PASSPHRASE, or from a file.")


class PassphraseWrong(KeyError_):
    """A closed key that the given passphrase does not open."""

    code = "passphrase-wrong"
    template = N_("The passphrase does not open the key.")
    remedy = N_("Try it again; if it is surely right, the key file is damaged: restore it from a copy.")


class PassphraseTooLong(KeyError_):
    """A passphrase longer than key files allow."""

    code = "passphrase-too-long"
    template = N_("The passphrase is longer than {limit} bytes.")
    remedy = N_("Choose a shorter one.")


class PassphraseNotText(KeyError_):
    """A passphrase of bytes that are no UTF-8."""

    code = "passphrase-not-text"
    template = N_("The passphrase is no text in UTF-8.")
    remedy = N_("Choose or write it in UTF-8: a passphrase is text, never arbitrary bytes.")


class KeyMissing(KeyError_):
    """A key file that is not there."""

    code = "key-missing"
    template = N_("The key file {path} is missing.")
    remedy = N_("Put it back from a copy; a new ledger gets its keys from `lacre init`.")


class KeyExists(KeyError_):
    """A key is never written over."""

    code = "key-exists"
    template = N_("There is a key at {path} already, and no key is ever written over.")
    remedy = N_("Use it as it is, or make the new ledger in another folder.")


class KeyFileDamaged(KeyError_):
    """A key file that holds something else."""

    code = "key-file-damaged"
    template = N_("The key file {path} is damaged: {why}.")
    remedy = N_("Put it back from a copy.")
