"""Whether the rounds of a loop give the same in any order: what a symmetric machine may loop over.

Rounds commute when each of them writes places of its own (`self.x[r] = …` in a loop over r), adds
to a set or a number that nothing else in the loop reads, or writes the same constant. Anything
else may depend on the order, and is reported with its line.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from refute.specs.machine import types as t
from refute.specs.machine.ir import (
    Assign,
    Check,
    Choose,
    Die,
    Expr,
    For,
    If,
    Leave,
    Stmt,
    When,
    Write,
)
from refute.specs.machine.types import included

Facts = Mapping[str, t.Type]

GATHERING = frozenset({"+", "|", "&", "^", "and", "or", "least", "most"})


def expressions(body: Sequence[Stmt]) -> Iterator[Expr]:
    """Every expression of the statements, those inside branches and loops too."""
    for stmt in body:
        match stmt:
            case When() | Check():
                yield stmt.condition
            case Choose():
                yield stmt.source
            case Assign():
                yield stmt.value
            case Write():
                yield from (*stmt.path, stmt.value)
            case If():
                yield stmt.condition
                yield from expressions((*stmt.then, *stmt.orelse))
            case For():
                yield stmt.source
                yield from expressions(stmt.body)


def statements(body: Sequence[Stmt]) -> Iterator[Stmt]:
    """Every statement, those inside branches and loops too."""
    for stmt in body:
        yield stmt
        match stmt:
            case If():
                yield from statements((*stmt.then, *stmt.orelse))
            case For():
                yield from statements(stmt.body)


def reads(expr: Expr) -> Iterator[Expr]:
    """Every node that reads a variable or a local."""
    if expr.op in ("read", "next", "local"):
        yield expr
    for part in expr.args:
        yield from reads(part)


def uses(expr: Expr, names: frozenset[str]) -> bool:
    """Whether the expression reads one of these locals."""
    return any(r.op == "local" and r.data in names for r in reads(expr))


def may_raise(expr: Expr, facts: Facts) -> bool:
    """Whether evaluating it may end in an exception; True when not sure.

    facts: narrower types of locals than they are declared with.
    """
    match expr.op:
        case "and":
            for part in expr.args:
                if may_raise(part, facts):
                    return True
                facts = {**facts, **tested(part)}
            return False
        case "if":
            test, then, *orelse = expr.args
            risky = may_raise(test, facts) or may_raise(then, {**facts, **tested(test)})
            return risky or any(may_raise(e, facts) for e in orelse)
        case "for" | "let":
            source, inner = expr.args
            found = valued(source, facts)
            known = elements_of(found) if expr.op == "for" else found
            narrower = facts if known is None else {**facts, expr.data: known}
            return may_raise(source, facts) or may_raise(inner, narrower)
    return _raises(expr, facts) or any(may_raise(part, facts) for part in expr.args)


def _raises(expr: Expr, facts: Facts) -> bool:
    """Whether the operation itself may raise."""
    match expr.op:
        case "//" | "%":
            return expr.args[1].op != "const" or expr.args[1].data == 0
        case "index":
            base, key = expr.args
            if isinstance(base.type, t.MapOf):
                return not included(key.type, base.type.key)
            return not isinstance(base.type, t.Tuple)
        case "field":
            kinds = t.options(valued(expr.args[0], facts))
            return not all(isinstance(k, t.Rec) and expr.data in dict(k.fields) for k in kinds)
        case "mapping":
            return not whole(expr)
        case "only":
            return not included(valued(expr.args[0], facts), expr.type)
    return expr.op in ("min", "max", "removed", "popped", "dict", "fail")


def tested(condition: Expr) -> dict[str, t.Type]:
    """What the types of locals are where a condition is true, by its `isinstance`."""
    if condition.op == "and":
        return {n: k for part in condition.args for n, k in tested(part).items()}
    if condition.op == "isa" and _bare(condition.args[0]).op == "local":
        item = _bare(condition.args[0])
        names = {k.name for k in condition.data if isinstance(k, t.Rec)}
        kept = [o for o in t.options(item.type) if isinstance(o, t.Rec) and o.name in names]
        if len(names) == len(condition.data):
            return {item.data: kept[0] if len(kept) == 1 else t.Union(tuple(kept))}
    return {}


def _bare(expr: Expr) -> Expr:
    """What `only` is asked of."""
    return expr.args[0] if expr.op == "only" else expr


def valued(expr: Expr, facts: Facts) -> t.Type:
    """The type of a value, as narrow as the tests in comprehensions make it."""
    if expr.op == "local":
        return facts.get(expr.data, expr.type)
    if expr.op in ("toset", "toseq", "sorted"):
        elem = elements_of(valued(expr.args[0], facts))
        return expr.type if elem is None else t.SeqOf(elem)
    if expr.op in ("list", "set"):
        chain, known = expr.args[0], dict(facts)
        while chain.op != "item":
            head, chain_inner = chain.args
            if chain.op == "if":
                known |= tested(head)
            else:
                found = valued(head, known)
                elem = elements_of(found) if chain.op == "for" else found
                known |= {} if elem is None else {chain.data: elem}
            chain = chain_inner
        return t.SeqOf(valued(chain.args[0], known))
    return expr.type


def elements_of(kind: t.Type) -> t.Type | None:
    """The type of what a container is walked through by; None where that is not at hand."""
    match kind:
        case t.SetOf() | t.SeqOf():
            return kind.elem
        case t.MapOf():
            return kind.key
    return None


def facts_of(bodies: Sequence[Sequence[Stmt]]) -> dict[str, t.Type]:
    """Narrower types of the locals that are assigned, or chosen, at one place only."""
    every = [s for body in bodies for s in statements(body) if isinstance(s, Assign | Choose)]
    names = [s.name for s in every]
    facts: dict[str, t.Type] = {}
    for stmt in every:
        if names.count(stmt.name) == 1:
            if isinstance(stmt, Assign):
                facts[stmt.name] = valued(stmt.value, facts)
            else:
                elem = elements_of(valued(stmt.source, facts))
                facts |= {} if elem is None else {stmt.name: elem}
    return facts


def whole(mapping: Expr) -> bool:
    """Whether a comprehension surely has one entry for each key of its map type."""
    loop = mapping.args[0]
    if loop.op != "for" or loop.args[1].op != "item" or not isinstance(mapping.type, t.MapOf):
        return False
    source, item = loop.args
    key = item.args[0]
    every = isinstance(source.type, t.MapOf) or source.op in ("domain", "keys")
    return every and key.op == "local" and key.data == loop.data and key.type == mapping.type.key


def step_may_raise(body: Sequence[Stmt], facts: Facts) -> bool:
    """Whether running the statements may end in an exception; True when not sure."""
    if any(may_raise(e, facts) for e in expressions(body)):
        return True
    for stmt in statements(body):
        if isinstance(stmt, Check):
            return True
        if isinstance(stmt, Write) and not included(stmt.value.type, stmt.target):
            return True
    return False


def folds_commute(fold: Expr) -> bool:
    """Whether a helper's loop gives the same in any order: it only gathers."""
    names = frozenset(fold.data[1:])
    ops: dict[str, set[str]] = {name: set() for name in names}
    gathers = _gathers(_spelled(fold.args[2], {}), tuple(fold.data[1:]), names, ops)
    return gathers and all(len(found) <= 1 for found in ops.values())


def _spelled(expr: Expr, known: Mapping[str, Expr]) -> Expr:
    """The expression with what its `let`s name put in their places."""
    if expr.op == "let":
        value, inner = expr.args
        return _spelled(inner, {**known, expr.data: _spelled(value, known)})
    if expr.op == "local":
        return known.get(expr.data, expr)
    return dataclasses.replace(expr, args=tuple(_spelled(a, known) for a in expr.args))


def _gathers(
    body: Expr, row: tuple[str, ...], names: frozenset[str], ops: dict[str, set[str]]
) -> bool:
    match body.op:
        case "tuple":
            pairs = zip(row, body.args, strict=True)
            return all(_gathered(value, name, names, ops[name]) for name, value in pairs)
        case "if":
            test, *ways = body.args
            return not uses(test, names) and all(_gathers(w, row, names, ops) for w in ways)
    return False


def _gathered(value: Expr, name: str, names: frozenset[str], ops: set[str]) -> bool:
    """Whether the new value is the old one, with something added that no other round changes."""
    if value.op == "local":
        return bool(value.data == name)
    if value.op == "if":
        test, *ways = value.args
        return not uses(test, names) and all(_gathered(w, name, names, ops) for w in ways)
    if value.op in GATHERING:
        own = [a for a in value.args if uses(a, names)]
        ops.add(value.op)
        return len(own) == 1 and _gathered(own[0], name, names, ops)
    return False


def rounds_commute(loop: For, later: frozenset[str]) -> str:
    """Why the rounds of a statement's loop may depend on their order; "" when they do not.

    later: locals that code outside of the loop reads.
    """
    inside = list(statements(loop.body))
    for stmt in inside:
        ends = isinstance(stmt, Leave) and stmt.word != "continue"
        if ends or isinstance(stmt, Choose | Die):
            return f"line {stmt.line}: the loop can end early or chooses"
        if isinstance(stmt, Assign) and stmt.name in later:
            return f"line {stmt.line}: what the last round assigned is used after the loop"
    assigned = frozenset(s.name for s in inside if isinstance(s, Assign))
    stale = _stale(loop.body, assigned, set())
    if stale:
        return f"line {stale}: a round uses what an earlier one assigned"
    written = dict.fromkeys(s.var for s in inside if isinstance(s, Write))
    for var in written:
        why = _written_apart(loop, var)
        if why:
            return why
    return ""


def _stale(body: Sequence[Stmt], names: frozenset[str], known: set[str]) -> int:
    """The line that reads a local of the loop before this round assigned it; 0 for none."""
    for stmt in body:
        own: tuple[Stmt, ...] = (stmt,)
        if isinstance(stmt, If):
            own = (When(stmt.condition),)
        elif isinstance(stmt, For):
            own = (When(stmt.source),)
        if any(uses(e, names - known) for e in expressions(own)):
            return stmt.line
        match stmt:
            case Assign():
                known.add(stmt.name)
            case If():
                then, orelse = set(known), set(known)
                found = _stale(stmt.then, names, then) or _stale(stmt.orelse, names, orelse)
                if found:
                    return found
                known |= then & orelse
            case For():
                found = _stale(stmt.body, names, set(known))
                if found:
                    return found
    return 0


def _written_apart(loop: For, var: str) -> str:
    """Why the rounds may disturb each other at a variable; "" when they do not."""
    writes = [s for s in statements(loop.body) if isinstance(s, Write) and s.var == var]
    every = [keys for e in expressions(loop.body) for keys in _at(e, var)]
    paths = [w.path for w in writes]
    for at in range(min(map(len, paths))):
        if all(is_item(path[at], loop) for path in paths):
            if all(len(keys) > at and is_item(keys[at], loop) for keys in every):
                return ""
            return f"line {writes[0].line}: a round reads {var} where another writes it"
    gathered = [w for w in writes if _adds(w, var)]
    alike = len({w.value.op for w in writes}) == 1
    if alike and len(gathered) == len(writes) == len(every):
        return ""
    constants = {w.value.data for w in writes if w.value.op == "const" and not w.path}
    same = len(constants) == 1 and all(w.value.op == "const" and not w.path for w in writes)
    if same and not every:
        return ""
    return f"line {writes[0].line}: {var} is written in an order"


def _at(expr: Expr, var: str) -> Iterator[tuple[Expr, ...]]:
    """For each read of the variable the keys it is read at; none when it is read as a whole."""
    keys: list[Expr] = []
    base = expr
    while base.op == "index":
        keys.append(base.args[1])
        base = base.args[0]
    if base.op == "read" and base.data == var:
        yield tuple(reversed(keys))
        for key in keys:
            yield from _at(key, var)
        return
    for part in expr.args:
        yield from _at(part, var)


def is_item(key: Expr, loop: For) -> bool:
    """Whether a key is another one in every round: the loop's item, or a local that stands for it.

    Of `items()` of a map it is the first part.
    """
    assigned = [s for s in statements(loop.body) if isinstance(s, Assign)]
    if key.op == "local" and key.data != loop.name:
        values = [s.value for s in assigned if s.name == key.data]
        return len(values) == 1 and values[0] != key and is_item(values[0], loop)
    if key.op == "index" and loop.source.op == "items":
        base, at = key.args
        return base.op == "local" and base.data == loop.name and at.op == "const" and at.data == 0
    return key.op == "local" and _different(loop.source)


def _different(source: Expr) -> bool:
    """Whether the elements of a source are all different."""
    return isinstance(source.type, t.SetOf | t.MapOf) or source.op in ("domain", "keys")


def _adds(write: Write, var: str) -> bool:
    """Whether it writes what was there together with something that the loop does not change.

    Numbers must not go down on the way, lest a bound be crossed in one order alone.
    """
    value = write.value
    if value.op not in ("+", "|", "and", "or") or write.path:
        return False
    own = [a for a in value.args if a.op == "read" and a.data == var]
    others = [a for a in value.args if not (a.op == "read" and a.data == var)]
    if len(own) != 1 or any(True for a in others for _ in _at(a, var)):
        return False
    number = value.op == "+" or isinstance(value.type, t.Int)
    return not number or all(
        isinstance(a.type, t.Int) and a.type.lo is not None and a.type.lo >= 0 for a in others
    )
