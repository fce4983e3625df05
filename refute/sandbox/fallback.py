"""Fallback: what is left where the kernel gives no namespaces.

The subject is then an ordinary process in its own session. Root at least becomes nobody first, if
nobody can read all that the worker needs; everyone else runs it under their own uid, where it can
read their files and signal their processes. The evidence says which.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from refute.sandbox import kernel
from refute.sandbox.jail import NOBODY, become_nobody
from refute.sandbox.materialise import copy_files


def prepare(config: dict[str, Any]) -> None:
    """Copy the closure to a directory of its own and adopt orphans. Raises OSError, ValueError."""
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    if config["files"] is not None:
        os.mkdir(config["scratch"], 0o755)
        copy_files(config["tree"], config["files"], config["scratch"])
        config["tree"] = config["scratch"]


def settle(config: dict[str, Any]) -> str:
    """Give up what can be given up; whom the subject runs as, in words."""
    who = "as the same user as the parent"
    if sys.platform == "linux":
        if os.geteuid() == 0 and _nobody_can_read(config):
            become_nobody()
            who = "as nobody"
        kernel.drop_capabilities()
    return who


def _nobody_can_read(config: dict[str, Any]) -> bool:
    """Whether uid 65534 can list the tree and every directory that imports come from."""
    needed = [config["tree"], *config["path"], config["package"]]
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        return all(os.access(path, os.R_OK | os.X_OK, effective_ids=True) for path in needed)
    finally:
        os.seteuid(0)
        os.setegid(0)
