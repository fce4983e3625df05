"""What a long search shows of itself while it runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from refute.plain import Plain

OVER_S = 5.0  # what the pace is a mean over


class Pace:
    """The counts of a search as they come in."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def line(self, counts: Mapping[str, Plain], at_s: float) -> str:
        """One line: how much so far, how fast over the last seconds, what waits, memory."""
        walks = "walks" in counts
        done = int(counts["steps" if walks else "distinct"])
        self._seen.append((at_s, done))
        while at_s - self._seen[0][0] > OVER_S and len(self._seen) > 2:
            self._seen.popleft()
        since, before = self._seen[0]
        pace = f"{(done - before) / (at_s - since):,.0f}/s" if at_s > since else "begun"
        if walks:
            return f"{counts['walks']:,} walks, {done:,} steps, {pace}"
        words = [f"{done:,} states", pace, f"depth {counts['depth']}"]
        words.append(f"{counts['left']:,} to expand")
        if "memory" in counts:
            words.append(f"{counts['memory'] / 2**20:,.0f} MiB")
        return ", ".join(words)
