"""How a user wants machines to be searched; see `refute check --help`."""

from __future__ import annotations

import dataclasses

ENGINES = ("auto", "plain", "native")


@dataclasses.dataclass(frozen=True)
class Choice:
    """engine: "plain", "native" (at once, and nothing else), or "auto": plain for a moment."""

    engine: str = "auto"
