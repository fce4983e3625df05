"""The conditions that a machine's own code asks: in guards, branches, choices and properties.

They are hints only. A condition that reads a variable which the step has written before it means
something else as a condition of a state, and is a candidate all the same: what is not true of the
samples, or not inductive, falls out later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from refute.specs.machine import types as t
from refute.specs.machine.ir import (
    Assign,
    Branch,
    Check,
    Choose,
    Expr,
    For,
    If,
    MachineIR,
    Stmt,
    When,
)
from refute.verifiers.symbolic.rewriting import (
    any_,
    by_keys,
    free_params,
    is_sort,
    nodes,
    not_,
    substituted,
    without_lets,
)

MOST_NODES = 40  # of a condition that is worth trying
_CONNECTIVES = ("and", "or", "not", "if", "const", "local")
_KINDS = ("invariant", "initial", "reachable", "terminal", "constraint", "observe")


def mined(ir: MachineIR) -> tuple[Expr, ...]:
    """The different conditions, smallest first; free locals of all of them are of Sorts."""
    found: dict[Expr, None] = {}
    hidden = {v.name for v in ir.variables if v.hidden}
    for whole in _conditions(ir):
        for part in (*_helped(whole), *_parts(by_keys(without_lets(whole)))):
            if _usable(part) and not any(n.op == "read" and n.data in hidden for n in nodes(part)):
                found[part] = None
    return tuple(sorted(found, key=lambda part: sum(1 for _ in nodes(part))))


def _conditions(ir: MachineIR) -> Iterator[Expr]:
    for prop in ir.properties:
        if prop.kind in _KINDS:
            yield prop.predicate
    for action in ir.actions:
        yield from _asked(action.body, {})
    for process in ir.processes:
        for block in process.blocks:
            yield from _asked(block.body, {})
            if isinstance(block.end, Branch):
                yield block.end.condition


def _asked(body: tuple[Stmt, ...], known: Mapping[str, Expr]) -> Iterator[Expr]:
    """The conditions in a body, with the values of its locals put in."""
    values = dict(known)
    for stmt in body:
        match stmt:
            case When() | Check():
                yield substituted(stmt.condition, values)
            case If():
                yield substituted(stmt.condition, values)
                yield from _asked(stmt.then, values)
                yield from _asked(stmt.orelse, values)
            case For():
                yield from _asked(stmt.body, values)
            case Assign():
                values[stmt.name] = substituted(stmt.value, values)
                if stmt.value.type == t.Bool():
                    yield values[stmt.name]
            case Choose():
                yield from _chosen(stmt, values)


def _chosen(stmt: Choose, values: Mapping[str, Expr]) -> Iterator[Expr]:
    """A choice among the members of a Set asks which of them are in it."""
    source = substituted(stmt.source, values)
    if isinstance(source.type, t.SetOf) and is_sort(source.type.elem):
        choice = Expr("local", source.type.elem, (), stmt.name)
        yield Expr("in", t.Bool(), (choice, source))


def _helped(whole: Expr) -> Iterator[Expr]:
    """The calls of helpers inside a condition as conditions of their own, whatever made them.

    The front end puts a helper's arguments into a `let` around its body.
    """
    if whole.op == "let" and whole.type == t.Bool():
        yield by_keys(without_lets(whole))
    for part in whole.args:
        yield from _helped(part)


def _parts(whole: Expr) -> Iterator[Expr]:
    """The conditions inside a condition, itself included unless `and`, `or` or `not` made it."""
    for node in nodes(whole):
        if node.op in ("and", "or") and not any(n.op in ("read", "next") for n in nodes(node)):
            yield node  # of members of Sorts alone, such as which of three is between the others
        elif node.type == t.Bool() and node.op not in _CONNECTIVES and node.op != "item":
            if node.op == "!=":
                yield Expr("==", t.Bool(), node.args)
            elif node.op == "all":
                yield from _of_all(node)
            elif node.op not in ("for", "let"):
                yield node


def _of_all(node: Expr) -> Iterator[Expr]:
    """`all` of one variable over a Sort as the opposite of `any`, so that both are one condition.

    Other forms of `all` stay as they are.
    """
    chain = node.args[0]
    source = chain.args[0]
    single = chain.op == "for" and chain.args[1].op == "item" and source.op == "domain"
    if not single or not isinstance(source.type, t.SeqOf):
        yield node
        return
    condition = chain.args[1].args[0]
    yield any_(source.type.elem, str(chain.data), not_(condition))


def _usable(part: Expr) -> bool:
    """Whether a clause may hold the condition: not too large, and only Sorts are free in it."""
    if part.op in ("any", "all") and part.args[0].op == "item":
        return False
    size = sum(1 for _ in nodes(part))
    wild = any(n.op in ("next", "again", "rec", "loop", "fold", "fail") for n in nodes(part))
    return size <= MOST_NODES and not wild and all(is_sort(p.type) for p in free_params(part))
