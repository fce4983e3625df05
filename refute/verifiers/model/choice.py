"""How a user wants machines to be searched; see `refute check --help`."""

from __future__ import annotations

import dataclasses

from refute.frozen import frozen

ENGINES = ("auto", "plain", "native")


@frozen
class Choice:
    """engine: "plain", "native" (at once, and nothing else), or "auto": plain for a moment.

    walks: instead of a search, so many random walks of at most `depth` steps; 0 for a search.
    hashed: of states wider than 64 bits the native engine keeps hashes only.
    symmetry: one state of each orbit under permutations of the Sorts is searched.
    checkpoint: a directory in which searches are kept, to go on there; "" for none. every_s:
    seconds between two times that they are written.
    """

    engine: str = "auto"
    walks: int = 0
    depth: int = 1_000
    hashed: bool = False
    symmetry: bool = False
    checkpoint: str = ""
    every_s: float = 60.0

    def kept(self) -> dict[str, object]:
        """What a search must have in common with its checkpoint, besides the permutations."""
        free = ("engine", "checkpoint", "every_s", "walks", "depth", "symmetry")
        return {n: v for n, v in dataclasses.asdict(self).items() if n not in free}
