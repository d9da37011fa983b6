"""Where the folders that ship beside the code are: the migrations, and the public register's studies.

An installed lacre carries copies inside its package. In a checkout the originals win: the copies of an
editable install are made once, and go stale.
"""

from pathlib import Path

from lacre.errors import InternalError

_PACKAGE = Path(__file__).parent


def migrations_folder() -> Path:
    """Return the folder of the Alembic migrations. Raises `InternalError` when it is missing."""
    return _folder("migrations", "env.py")


def registry_folder() -> Path:
    """Return the folder of the public register's studies. Raises `InternalError` when it is missing."""
    return _folder("registry", "compas")


def _folder(name: str, sign: str) -> Path:
    source = _PACKAGE.parent
    checkout = source.parent
    # `src` tells a checkout from a site-packages folder, above which anything may lie.
    in_checkout = source.name == "src" and (checkout / "migrations" / "env.py").is_file()
    for folder in (*([checkout / name] if in_checkout else []), _PACKAGE / "_shipped" / name):
        if (folder / sign).exists():
            return folder
    raise InternalError(kind=f"no {name}", where=str(_PACKAGE))
