"""How a user wants machines to be searched; see `refute check --help`."""

from __future__ import annotations

import dataclasses

ENGINES = ("auto", "plain", "native")


@dataclasses.dataclass(frozen=True)
class Choice:
    """engine: "plain", "native" (at once, and nothing else), or "auto": plain for a moment.

    walks: instead of a search, so many random walks of at most `depth` steps; 0 for a search.
    """

    engine: str = "auto"
    walks: int = 0
    depth: int = 1_000
