"""Expressions of the IR as Python that can be pasted into the machine's class.

A lemma that refute found is worth most as an `@invariant` of the specification, where people read
it and every engine checks it. What the front end made of several constructs comes out as one of
them, so the text is not the one that somebody wrote, but it means the same: the tests build it
again and compare. `while` loops and helpers that call themselves have no form as an expression.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from refute.specs.machine.ir import Expr, Param, Property
from refute.verifiers.symbolic.unparsing_expressions import Names, Unparser
from refute.verifiers.symbolic.unparsing_values import name_of

LINE = 92  # where a disjunction is broken into lines


def source_of(expr: Expr, names: Sequence[Param] = ()) -> str:
    """The expression in one line; names: locals that are free in it and keep their names.

    Raises Unprintable.
    """
    unparser = Unparser()
    known: Names = {p.name: name_of(p.name) for p in names}
    unparser.taken |= set(known)
    return written(unparser.expr(expr, known))


def method_of(prop: Property, name: str = "") -> str:
    """A property as a method of the class, with its decorator. Raises Unprintable.

    Its parameters get names after their types. The annotations need the names that `imports_of`
    gives.
    """
    text, _ = _printed(prop, name or prop.name)
    return text


def imports_of(prop: Property) -> tuple[str, ...]:
    """The names that the property's text needs in its module, in alphabetical order."""
    return tuple(sorted(_printed(prop, prop.name)[1] | {prop.kind}))


def _printed(prop: Property, name: str) -> tuple[str, set[str]]:
    unparser = Unparser()
    own = [unparser.named(p.type) for p in prop.params]
    known: Names = {p.name: name_of(n) for p, n in zip(prop.params, own, strict=True)}
    kinds = [written(unparser.annotation(p.type)) for p in prop.params]
    given = "".join(f", {n}: {kind}" for n, kind in zip(own, kinds, strict=True))
    after = ", after: Self" if prop.kind in ("transition", "weak", "strong") else ""
    if after:
        unparser.needed.add("Self")
    made = unparser.expr(prop.predicate, known)
    body = "\n".join(f"        {line}" for line in _lines(made))
    head = f"    @{prop.kind}\n    def {name}(self{after}{given}) -> bool:\n"
    return f"{head}{body}\n", unparser.needed


def _lines(made: ast.expr) -> list[str]:
    """`return …`; in brackets when too long, a disjunction with one part in a line."""
    whole = f"return {written(made)}"
    if len(whole) <= LINE:
        return [whole]
    if not isinstance(made, ast.BoolOp):
        return ["return (", f"    {written(made)}", ")"]
    word = "or" if isinstance(made.op, ast.Or) else "and"
    parts = [_bracketed(v) for v in made.values]
    return ["return (", f"    {parts[0]}", *(f"    {word} {p}" for p in parts[1:]), ")"]


def _bracketed(part: ast.expr) -> str:
    """A part of a disjunction, which stands next to `or`."""
    text = written(part)
    return f"({text})" if isinstance(part, ast.IfExp | ast.Lambda | ast.BoolOp) else text


def written(made: ast.expr) -> str:
    """The syntax as text; `any(x for x in s)` without the second brackets that `ast` gives it."""
    text = ast.unparse(made)
    at = text.find("((")
    while at >= 0:
        close = _closing(text, at + 1)
        sole = text[:at][-1:].isidentifier() and text[close + 1 : close + 2] == ")"
        if sole and _is_generator(text[at + 2 : close]):
            text = text[: at + 1] + text[at + 2 : close] + text[close + 1 :]
        at = text.find("((", at + 1)
    return text


def _closing(text: str, at: int) -> int:
    """Where the bracket that opens at this place closes; brackets in strings do not count."""
    depth, quote = 0, ""
    for place in range(at, len(text)):
        sign = text[place]
        if quote:
            quote = "" if sign == quote and text[place - 1] != "\\" else quote
        elif sign in "'\"":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if not depth:
                return place
    return len(text)


def _is_generator(text: str) -> bool:
    return isinstance(ast.parse(f"({text})", mode="eval").body, ast.GeneratorExp)
