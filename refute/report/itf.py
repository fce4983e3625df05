"""A trace in the Informal Trace Format (ITF), which other tools read and draw.

`loop` is the state that follows the last one: a lasso's closing state, which is that one again, is
left out. Each state's `#meta` says which step led to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from refute import __version__
from refute.replay import Counterexample

DESCRIPTION = "https://apalache-mc.org/docs/adr/015adr-trace.html"


def itf_text(
    claim: str, counterexample: Counterexample, case: Mapping[str, Any], told: Mapping[str, Any]
) -> str:
    """The trace as JSON text. case: one of the counterexample's; told: its states, as exported."""
    states, loop = list(told["states"]), case.get("loop")
    if loop is not None and 0 <= loop < len(states) - 1:
        states.pop()
    steps = [step.text for step in counterexample.steps]
    rows = [
        {"#meta": {"index": at, **({"step": steps[at]} if at < len(steps) else {})}, **state}
        for at, state in enumerate(states)
    ]
    meta = {
        "format": "ITF",
        "format-description": DESCRIPTION,
        "source": claim,
        "status": "violation",
        "description": f"by refute {__version__}: {counterexample.observed}",
    }
    document: dict[str, Any] = {"#meta": meta, "vars": told["vars"]}
    if loop is not None:
        document["loop"] = loop
    return json.dumps({**document, "states": rows}, indent=1, ensure_ascii=False) + "\n"
