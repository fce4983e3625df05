"""How a user wants machines to be searched; see `refute check --help`."""

from __future__ import annotations

import dataclasses

from refute.frozen import frozen

SYMBOLIC = "symbolic"
ENGINES = ("auto", "plain", "native", SYMBOLIC)
INDUCT = 2  # the largest k of k-induction where nothing else is asked for


@frozen
class Choice:
    """engine: "plain", "native" (at once, and nothing else), "symbolic" (formulas), or "auto":
    plain for a moment, then native, and formulas where a search does not decide.

    walks: instead of a search, so many random walks of at most `depth` steps; 0 for a search.
    hashed: of states wider than 64 bits the native engine keeps hashes only.
    symmetry: one state of each orbit under permutations of the Sorts is searched.
    checkpoint: a directory in which searches are kept, to go on there; "" for none. every_s:
    seconds between two times that they are written.
    bound: for formulas, the most steps of a bounded search; 0 for as many as the budget allows.
    induct: the largest k of k-induction; 0 for none.
    """

    engine: str = "auto"
    walks: int = 0
    depth: int = 1_000
    hashed: bool = False
    symmetry: bool = False
    checkpoint: str = ""
    every_s: float = 60.0
    bound: int = 0
    induct: int = INDUCT

    def kept(self) -> dict[str, object]:
        """What a search must have in common with its checkpoint, besides the permutations."""
        free = ("engine", "checkpoint", "every_s", "walks", "depth", "symmetry", "bound", "induct")
        return {n: v for n, v in dataclasses.asdict(self).items() if n not in free}
