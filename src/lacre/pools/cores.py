"""No core of a process that has had a pool's content in memory: it would hold the content, in the open, on a disk."""

import ctypes
import resource
import sys
from contextlib import suppress

_PR_SET_DUMPABLE = 4  # linux/prctl.h


def leave_no_core() -> None:
    """Have the system write no core of this process, however it ends; to be called before there is plaintext.

    The limit alone is enough where cores are files. Where they are handed to a program (a `core_pattern` that
    begins with a pipe) Linux does not ask the limit, so there the process says that it is not dumpable; of such a
    process no debugger of the same user reads the memory either. What the system does not grant is left as it is.
    """
    with suppress(OSError, ValueError):
        _soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
