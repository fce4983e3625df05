"""A trace as a sequence diagram, in the text that Mermaid draws (GitHub and others show it).

Who moves is a participant: a process with its parameters, or the member of a Sort or Enum that an
action is about. Every step is a message to the machine, with a note of what it changed. What a
lasso repeats is in a loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from refute.replay import Counterexample, Step

MACHINE = "machine"
_FROM, _CHOOSING = " from line ", " choosing "


def diagram_text(machine: str, counterexample: Counterexample, case: Mapping[str, Any]) -> str:
    """The diagram. machine: its name; case: the one that the counterexample's steps tell."""
    first, *lines = counterexample.steps
    moves: Sequence[Mapping[str, Any]] = case["steps"]
    told = [(_mover(step, move), step) for step, move in zip(lines, moves, strict=False)]
    movers = list(dict.fromkeys(mover for mover, _ in told if mover))
    names = {mover: f"p{at}" for at, mover in enumerate(movers)}
    out = ["sequenceDiagram", f"    participant {MACHINE} as {_safe(machine)}"]
    out += [f"    participant {names[mover]} as {_safe(mover)}" for mover in movers]
    out += _note(first)
    loop = case.get("loop")
    for at, (mover, step) in enumerate(told):
        if at == loop:
            out.append("    loop for ever")
        out.append(f"    {names.get(mover, MACHINE)}->>{MACHINE}: {_safe(step.text)}")
        out += _note(step)
    if loop is not None:
        out += ["    end"] if loop < len(told) else [_over("nothing happens any more")]
    out.append(_over(counterexample.observed))
    return "\n".join(out) + "\n"


def _mover(step: Step, move: Mapping[str, Any]) -> str:
    """The participant that takes a step; empty for the machine itself."""
    text = step.text.partition(_CHOOSING)[0]
    if _FROM in text:
        return text.partition(_FROM)[0]
    for value in move["params"]:
        if isinstance(value, tuple | list) and len(value) == 4 and value[0] == "atom":
            return str(value[3])
    return ""


def _note(step: Step) -> list[str]:
    changes = ", ".join(f"{name} = {value}" for name, value in step.changes.items())
    return [_over(changes)] if changes else []


def _over(words: str) -> str:
    return f"    Note over {MACHINE}: {_safe(words)}"


def _safe(words: str) -> str:
    """Text without what Mermaid reads as its own: entities stand for it."""
    return words.translate({ord("#"): "#35;", ord(";"): "#59;"})
