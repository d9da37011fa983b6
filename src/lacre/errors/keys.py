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
    remedy = N_(
        "Put it back from a copy (`lacre key recover BACKUP`); a new ledger gets its keys from `lacre init`."
    )


class KeyExists(KeyError_):
    """A key is never written over."""

    code = "key-exists"
    template = N_("There is a key at {path} already, and no key is ever written over.")
    remedy = N_("Use it as it is, or have the new one written elsewhere.")


class KeyFileDamaged(KeyError_):
    """A key file that holds something else."""

    code = "key-file-damaged"
    template = N_("The key file {path} is damaged: {why}.")
    remedy = N_("Put it back from a copy.")


class IdentityFileInvalid(KeyError_):
    """A file given as an identity that holds none."""

    code = "identity-file-invalid"
    template = N_("{path} holds no identity that opens pools: {why}.")
    remedy = N_("Give a file as `age-keygen` writes it; `age --passphrase` may have closed it.")


class IdentityPassphraseWrong(PassphraseWrong):
    """A closed identity file that no given passphrase opens."""

    code = "identity-passphrase-wrong"
    template = N_("The passphrase does not open the identity file {path}.")
    remedy = N_("Try it again; `age --decrypt {path}` must ask for the same one.")


class FingerprintKeyClosed(KeyError_):
    """The key that cases are recognised by, closed to an identity that is not at hand."""

    code = "fingerprint-key-closed"
    template = N_(
        "The key that cases are recognised by, {path}, is closed to the ledger's own identity, which is not here. "
        "Nothing was spent."
    )
    remedy = N_(
        "Put identity.age back into the ledger's keys, or give it with --identity: a submission's ids are matched "
        "with the pool's before a read."
    )


class FingerprintsNotHere(KeyError_):
    """Pools to be looked for without the key that their cases are recognised by."""

    code = "fingerprint-key-absent"
    template = N_(
        "The key that cases are recognised by is not here, or closed to an identity that is not. Nothing was looked "
        "through."
    )
    remedy = N_(
        "Put fingerprint.key and identity.age back into the ledger's keys, or look where the custodian's ledger is."
    )


class ActiveKeyMissing(KeyMissing):
    """A key that acts in this ledger by now, and is in no file of its folder of keys."""

    code = "active-key-missing"
    template = N_("The {role} key that acts in this ledger, {key}…, is in no file of {folder}.")
    remedy = N_("Put it back from a copy: `lacre key recover BACKUP` does, or copy its .pem file there.")


class PersonKeyMissing(ActiveKeyMissing):
    """The key that a ledger's own requests are signed with by now, and that is in no file of its folder of keys."""

    code = "person-key-missing"
    remedy = N_(
        "Put it back from a copy (`lacre key recover BACKUP`, or copy its .pem file there), or sign with another key "
        "that is enrolled (--key FILE)."
    )


class KeyUnclear(KeyError_):
    """A key that is named by something that fits none, or several."""

    code = "key-unclear"
    template = N_("{given!r} is not the id of one key enrolled here, nor its first eight digits or more.")
    remedy = N_("`lacre key list` shows the ids; the public key will do, too.")


class PublicKeyUnclear(KeyError_):
    """Something that is no public key."""

    code = "public-key-unclear"
    template = N_("{given} is no public key: {why}.")
    remedy = N_("Give the 64 digits that `lacre key new` printed, or an open PEM file with an Ed25519 key.")


class KeyBackupExists(KeyError_):
    """A backup is never written over."""

    code = "key-backup-exists"
    template = N_("{path} is there already, and no backup is ever written over.")
    remedy = N_("Name another file.")


class KeyBackupOpen(KeyError_):
    """A backup of keys without a passphrase, which nobody asked for."""

    code = "key-backup-open"
    template = N_("A backup of keys is closed with a passphrase, and none was given.")
    remedy = N_(
        "Give one when asked, in LACRE_BACKUP_PASSPHRASE, or from a file (--backup-passphrase-file FILE); to keep the "
        "backup open to whoever finds it, add --open."
    )


class KeyBackupDamaged(KeyError_):
    """A file that is no backup of keys, or no longer one."""

    code = "key-backup-damaged"
    template = N_("{path} is no backup of a ledger's keys: {why}.")
    remedy = N_("Name the file that `lacre key backup` wrote, or another copy of it.")


class KeyBackupForeign(KeyError_):
    """A backup of another ledger's keys."""

    code = "key-backup-foreign"
    template = N_("{path} holds keys of another ledger: {why}. Nothing was written.")
    remedy = N_("Name the ledger it is of (--ledger DIR), or the backup that is of this one.")


class KeyFileDiffers(KeyExists):
    """A key file that stands where a backup has another."""

    code = "key-file-differs"
    template = N_("{path} is not what the backup has under this name, and no key is ever written over.")
    remedy = N_("Move it away if it is not wanted, and recover again. Nothing was written.")


class KeyBackupClosed(PassphraseNeeded):
    """A closed backup, and no passphrase to open it."""

    code = "key-backup-closed"
    template = N_("The backup {path} is closed with a passphrase, and none was given.")
    remedy = N_(
        "Give it when asked, in LACRE_BACKUP_PASSPHRASE, or from a file (--backup-passphrase-file FILE)."
    )


class KeyBackupPassphraseWrong(PassphraseWrong):
    """A closed backup that the given passphrase does not open."""

    code = "key-backup-passphrase-wrong"
    template = N_("The passphrase does not open the backup {path}.")
    remedy = N_(
        "Try it again: it is the one that was chosen for the backup, which need not be that of the keys."
    )
