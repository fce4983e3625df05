"""The sandbox: subjects run only in worker processes, and what comes back is plain data.

`open_worker` starts one; `Worker.call`, `create` and `invoke` run code of a tree in it. DESIGN
section 6 has the reasons; `refute.sandbox.jail` says what a worker can see. The names are loaded
when they are asked for, so that a zygote can be started before anything else is read.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from refute.sandbox.limits import Limits
    from refute.sandbox.outcome import Handle, Outcome, Remote
    from refute.sandbox.worker import Worker, open_worker, stopped_workers

__all__ = ["Handle", "Limits", "Outcome", "Remote", "Worker", "open_worker", "stopped_workers"]

_HOMES = {
    "Handle": "outcome",
    "Limits": "limits",
    "Outcome": "outcome",
    "Remote": "outcome",
    "Worker": "worker",
    "open_worker": "worker",
    "stopped_workers": "worker",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
