"""lacre: a pre-registration ledger with a sealed-pool workflow.

``lacre.init(path)`` makes a ledger and ``lacre.open(path)`` opens one; the methods of what they return are
the verbs of the command line. Nothing heavy is imported until one of them is asked for.
"""

from typing import TYPE_CHECKING, Any

from lacre.version import VERSION

if TYPE_CHECKING:
    from lacre.api import Ledger, check, init, new_identity, new_key, open, use_language, verify  # noqa: A004 - the API's own name

__version__ = VERSION

__all__ = [
    "Ledger",
    "__version__",
    "check",
    "init",
    "new_identity",
    "new_key",
    "open",
    "use_language",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from lacre import api

        return getattr(api, name)
    if name == "errors":
        import lacre.errors as module

        return module
    raise AttributeError(f"module 'lacre' has no attribute {name!r}")
