"""Conditions that an action begins with, asked before its loops over parameters are entered.

A `when` that does not depend on the innermost parameters is false for all of their values at once,
and all those instances are passed by. That is the same as asking each of them, as long as asking
cannot fail: a condition whose C may leave the function stays where it is, and so do all behind it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from refute.specs.machine.ir import Action, Expr, Param, When
from refute.specs.machine.values import domain
from refute.verifiers.model.native.steps import Steps
from refute.verifiers.model.native.text import Val


@dataclasses.dataclass(frozen=True)
class Guard:
    """A condition as C. level: the number of the last parameter it depends on, -1 if none."""

    level: int
    lines: tuple[str, ...]
    text: str

    def passing(self, instances: int) -> list[str]:
        """The lines that pass so many instances by where the condition is false."""
        out = "break;" if self.level < 0 else "continue;"
        return ["{", *self.lines, f"if (!{self.text}) {{ i += {instances}; {out} }}", "}"]


def guards_of(text: Steps, action: Action) -> tuple[list[Guard], Action]:
    """The conditions that can be asked first, of parameters called v0, v1, …, and what is left."""
    found: list[Guard] = []
    names = {param.name: at for at, param in enumerate(action.params)}
    for stmt in action.body:
        if not isinstance(stmt, When):
            break
        made = _asked(text, stmt.condition, action.params)
        if made is None:
            break
        level = max((names[n] for n in _locals(stmt.condition) if n in names), default=-1)
        found.append(Guard(level, *made))
    return found, dataclasses.replace(action, body=action.body[len(found) :])


def _asked(
    text: Steps, condition: Expr, params: Sequence[Param]
) -> tuple[tuple[str, ...], str] | None:
    text.places, text.next = text.seen("s"), {}
    text.env = {p.name: Val(p.type, f"v{at}") for at, p in enumerate(params)}
    lines, asked = text.captured(lambda: text.text(condition))
    return None if any("return" in line for line in lines) else (tuple(lines), asked)


def _locals(expr: Expr) -> Iterator[str]:
    if expr.op == "local":
        yield str(expr.data)
    for arg in expr.args:
        yield from _locals(arg)


def looped(
    text: Steps, params: Sequence[Param], guards: Sequence[Guard], run: Sequence[str]
) -> list[str]:
    """Loops over the values of all parameters around the lines that run one instance."""
    sizes = [len(domain(param.type)) for param in params]
    lines = ["do {"]
    for at in range(-1, len(params)):
        if at >= 0:
            lines.append(f"for (L c{at} = 0; c{at} < {sizes[at]}; c{at}++) {{")
            value = text.unrank(f"c{at}", params[at].type)
            lines.append(f"{text.ctype(params[at].type)} v{at} = {value};")
        inside = 1
        for size in sizes[at + 1 :]:
            inside *= size
        for guard in guards:
            if guard.level == at:
                lines += guard.passing(inside)
    return [*lines, *run, "}" * len(params), "} while (0);"]
