"""What tests on the way to a place leave of a union: the types that checkers narrow to as well.

Inside `case Req():` or behind `isinstance(m, Req)`, `m` is a `Req`, so that its methods and
`replace` know what it is: it is read as `only` that, which holds. A test of a value that something
may have changed since is forgotten.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from refute.specs.machine import types as t
from refute.specs.machine.covering import SAME, possible, subjects, units
from refute.specs.machine.expressions import BOOL
from refute.specs.machine.ir import (
    Assign,
    Check,
    Choose,
    Expr,
    For,
    If,
    Leave,
    Meet,
    Stmt,
    When,
    While,
    Write,
)

Facts = tuple[tuple[Expr, bool], ...]


def narrowed(found: Expr, facts: Facts) -> Expr:
    """The value, as one of the options that the tests leave. None alone is left in: operators
    that need the value see to that."""
    made = _once(found, facts)
    while made is not found:  # tests of what was narrowed already are about that
        found, made = made, _once(made, facts)
    return found


def _once(found: Expr, facts: Facts) -> Expr:
    every = t.options(found.type)
    if len(every) < 2 or not facts:
        return found
    twins = [test.args[0] for test, _ in facts if test.op == SAME and test.args[1] == found]
    known = [t.options(narrowed(twin, facts).type) for twin in twins]
    own = [(test, truth) for test, truth in facts if found in subjects(test)]
    left = [o for o in every if all(o in kinds for kinds in known) and _left(found, o, own)]
    gone = [o for o in every if o not in left and o != t.Nothing()]
    inner = found.args[0] if found.op == "only" else found
    return Expr("only", t.join(left), (inner,)) if left and gone else found


def _left(found: Expr, option: t.Type, own: Sequence[tuple[Expr, bool]]) -> bool:
    return not own or any(possible(found, unit, own) for unit in units(option))


def same(local: Expr, value: Expr) -> tuple[Expr, bool]:
    """The fact that a local has the value that an expression has."""
    return Expr(SAME, BOOL, (local, value)), True


def worth(test: Expr) -> bool:
    """Whether a test tells options of a union apart."""
    return any(len(t.options(subject.type)) > 1 for subject in subjects(test))


def after(facts: Facts, body: Sequence[Stmt], held: Iterable[Expr]) -> Facts:
    """The facts behind these statements: what they test is added, what they change is dropped.

    held: what names stand for.
    """
    locals_ = {e.data: e for e in held if e.op == "local"}
    for stmt in body:
        names, variables = _changes(stmt)
        kept = [f for f in facts if not _mentions(f[0], names, variables)]
        if isinstance(stmt, When | Check) and worth(stmt.condition):
            kept.append((stmt.condition, True))
        if isinstance(stmt, Assign) and stmt.name in locals_ and _copies(stmt):
            kept.append(same(locals_[stmt.name], stmt.value))
        facts = tuple(dict.fromkeys(kept))
    return facts


def _copies(stmt: Assign) -> bool:
    """Whether a local gets what a place holds that may be of several types."""
    place = stmt.value.op in ("local", "read", "index", "field")
    several = len(t.options(stmt.value.type)) > 1
    return place and several and not _mentions(stmt.value, {stmt.name}, set())


def around(facts: Facts, loop: ast.For | ast.While, locals_: Mapping[str, str]) -> Facts:
    """The facts that hold in every round of a loop, whatever it has assigned or written."""
    stored = {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and not _loads(n)}
    stored |= {n.name or "" for n in ast.walk(loop) if isinstance(n, ast.MatchAs | ast.MatchStar)}
    names = {locals_[name] for name in stored if name in locals_}
    return tuple(f for f in facts if not _mentions(f[0], names, None))


def _loads(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def leaves(body: Sequence[Stmt]) -> bool:
    """Whether nothing comes after these statements."""
    match body[-1] if body else None:
        case Leave(word=word):
            return word != "yield"
        case Check(condition=Expr(op="const", data=False)):
            return True
        case If() as last:
            return leaves(last.then) and leaves(last.orelse)
    return False


def _changes(stmt: Stmt) -> tuple[set[str], set[str] | None]:
    """The locals and the variables that a statement may change; None for all variables."""
    match stmt:
        case Assign() | Choose() | Meet():
            return {stmt.name}, set()
        case Write():
            return set(), {stmt.var}
        case Leave(word="yield"):
            return set(), None
        case If():
            return _all([*stmt.then, *stmt.orelse])
        case For():
            names, variables = _all(stmt.body)
            return {stmt.name, *names}, variables
        case While():
            return _all(stmt.body)
    return set(), set()


def _all(body: Sequence[Stmt]) -> tuple[set[str], set[str] | None]:
    rows = [_changes(stmt) for stmt in body]
    names = {name for row, _ in rows for name in row}
    if any(variables is None for _, variables in rows):
        return names, None
    return names, {v for _, variables in rows for v in variables or ()}


def _mentions(expr: Expr, names: set[str], variables: set[str] | None) -> bool:
    """Whether it reads one of these locals or variables; None for any variable."""
    return any(
        e.data in names if e.op == "local" else variables is None or e.data in variables
        for e in _reads(expr)
    )


def _reads(expr: Expr) -> Iterator[Expr]:
    if expr.op in ("local", "read"):
        yield expr
    for part in expr.args:
        yield from _reads(part)
