"""The sandbox: subjects run only in worker processes, and what comes back is plain data.

`open_worker` starts one; `Worker.call`, `create` and `invoke` run code of a tree in it. DESIGN
section 6 has the reasons; `refute.sandbox.jail` says what a worker can see.
"""

from refute.sandbox.limits import Limits
from refute.sandbox.outcome import Handle, Outcome, Remote
from refute.sandbox.worker import Worker, open_worker, stopped_workers

__all__ = ["Handle", "Limits", "Outcome", "Remote", "Worker", "open_worker", "stopped_workers"]
