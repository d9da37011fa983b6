"""What `lacre key` and `lacre erase` answer, as JSON documents."""

from collections.abc import Mapping

from lacre.broker import outcomes
from lacre.report.values import Document
from lacre.rules.history import Key


def made(key: outcomes.KeyMade) -> Document:
    """Return a new key."""
    return {
        "path": str(key.path),
        "keyid": key.keyid,
        "public": key.public,
        "name": key.name,
        "passphrase": key.passphrase,
    }


def identity(made_: outcomes.IdentityMade) -> Document:
    """Return a new age identity."""
    return {"path": str(made_.path), "recipient": made_.recipient, "passphrase": made_.passphrase}


def changed(change: outcomes.KeyChanged) -> Document:
    """Return a change of who may act."""
    return {
        "action": change.action,
        "entry": change.entry,
        "time": change.time,
        **_key(change.key, change.name),
        "replaces": change.replaces,
        "file": None if change.file is None else str(change.file),
        "verifier_keys": list(change.verifier_keys),
        "warnings": list(change.warnings),
    }


def shown(keys: outcomes.KeysShown) -> Document:
    """Return every key that was ever enrolled."""
    return {
        "keys": keys_of(keys.keys, keys.names, keys.erased),
        "verifier_keys": list(keys.verifier_keys),
    }


def keys_of(keys: tuple[Key, ...], names: Mapping[str, str], erased: Mapping[str, int]) -> list[Document]:
    """Return keys with their names; `name_erased` is the entry that took a name out, if one did."""
    return [{**_key(key, names.get(key.keyid)), "name_erased": erased.get(key.keyid)} for key in keys]


def backed_up(backup: outcomes.KeysBackedUp) -> Document:
    """Return what a backup holds."""
    return {
        "path": str(backup.path),
        "files": list(backup.files),
        "passphrase": backup.passphrase,
        "closed": list(backup.closed),
    }


def recovered(keys: outcomes.KeysRecovered) -> Document:
    """Return which key files came back."""
    return {
        "folder": str(keys.folder),
        "restored": list(keys.restored),
        "same": list(keys.same),
        "left_out": list(keys.left_out),
    }


def erased(text: outcomes.Erased) -> Document:
    """Return what was erased."""
    return {
        "what": text.what,
        "digest": text.digest,
        "named": text.named,
        "entry": text.entry,
        "time": text.time,
        "present": text.present,
        "same": [{"what": each.kind.name, "entry": each.entry, "digest": each.digest} for each in text.same],
        "warnings": list(text.warnings),
    }


def _key(key: Key, name: str | None) -> Document:
    return {
        "keyid": key.keyid,
        "public": key.public,
        "name": name,
        "roles": sorted(key.roles),
        "enrolled": key.enrolled,
        "revoked": key.revoked,
    }
