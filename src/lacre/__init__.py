"""lacre: a pre-registration ledger with a sealed-pool workflow.

``lacre.init(path)`` makes a ledger and ``lacre.open(path)`` opens one; the methods of what they return are
the verbs of the command line. Nothing heavy is imported until one of them is asked for.
"""

from typing import TYPE_CHECKING, Any

from lacre.version import VERSION

if TYPE_CHECKING:
    from lacre.api import Ledger, init, open  # noqa: A004 - the API's own name

__version__ = VERSION

__all__ = ["Ledger", "__version__", "init", "open"]


def __getattr__(name: str) -> Any:
    if name in {"Ledger", "init", "open"}:
        from lacre import api

        return getattr(api, name)
    if name == "errors":
        import lacre.errors as module

        return module
    raise AttributeError(f"module 'lacre' has no attribute {name!r}")
