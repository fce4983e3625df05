"""What a check begins while a worker reads its file: the modules and the workers of the search.

The engines are loaded in a thread, as this process has nothing else to do then; whoever wants them
earlier waits for the rest of it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from refute.budget import Budget
from refute.sandbox import Limits
from refute.sandbox.spares import Spares
from refute.sandbox.zygote import zygote_of
from refute.verifiers.model.choice import Choice
from refute.verifiers.registry import engines_for, load

BUILDER = "refute.verifiers.model.native.building:Builder"
WORKERS = 2  # that search a machine at once


@contextlib.contextmanager
def begun_ahead(budget: Budget, choice: Choice) -> Iterator[Callable[[], None]]:
    """A function to call when the worker reads; what nobody wanted is stopped in the end."""
    machines = zygote_of(0) is not None
    native = choice.engine == "native"
    # A search that is kept has files, and so workers of its own.
    spares = Spares(
        Limits.from_budget(budget), WORKERS if machines and not choice.checkpoint else 0
    )

    def begin() -> None:
        spares.start()
        if machines:
            threading.Thread(target=_load, args=(native,), daemon=True).start()

    with spares:
        yield begin


def _load(native: bool) -> None:
    with contextlib.suppress(Exception):  # whoever wants them is told
        engines_for("machine")
        if native:
            load(BUILDER)
