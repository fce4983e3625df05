"""What cannot be said of a Sort of any size: whatever counts, indexes or lists its members.

Quantifiers, comprehensions of sets and maps, membership and choices have a meaning for every size,
and pass. What walks through the members one after the other is refused here, after translation:
operations of the IR are few, and every way to write them in Python comes down to these.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from refute.specs.machine import types as t
from refute.specs.machine.ir import (
    LTL,
    Assign,
    Choose,
    Expr,
    For,
    If,
    Leave,
    MachineIR,
    Meet,
    Stmt,
    Write,
)
from refute.specs.machine.values import MAX_DOMAIN, cardinality, quantifiable

if TYPE_CHECKING:
    from refute.specs.machine.scope import Scope

_BOOL = t.Bool()
_COUNT = "all(… for x in {0}) or any(… for x in {0}); a majority is a member of a Sort of quorums, "
_COUNT += "with its members in a Map[Quorum, Set[{0}]] that an @initial predicate is about"
_WALK = "any(…), all(…), a Set or Map comprehension over {0}, or any_of(…)"
_LEAST = "any(all(not y < x for y in {0}) for x in {0}), the quantifiers that say it"
_DOES = {
    "len": ("counts members of {}", _COUNT),
    "sum": ("counts members of {}", _COUNT),
    "total": ("counts members of {}", _COUNT),
    "min": ("looks for the least of {}", _LEAST),
    "max": ("looks for the greatest of {}", _LEAST),
    "toseq": ("puts members of {} in a row", _WALK),
    "sorted": ("puts members of {} in a row", _WALK),
    "fold": ("goes through members of {} one after the other", _WALK),
    "dict": ("lists keys of {}", "{{k: … if k == a else … for k in {0}}}, a value for every key"),
    "mapping": ("computes keys of {}", "{{k: … for k in {0}}}, a value for every key"),
    "domain": (
        "goes through all sets, maps or rows of {}",
        "any_of(…) of one of them; or a Sort of its own for those meant",
    ),
}
_WALKS = ("any", "all", "total", "mapping")
_TAKES = {("for", 0), ("in", 1), ("toset", 0)}  # operations that need no order, and where


def sources(chain: Expr) -> Iterator[Expr]:
    """The collections that a comprehension goes through."""
    while chain.op in ("for", "if", "let"):
        if chain.op == "for":
            yield chain.args[0]
        chain = chain.args[1]


def unlisted(expr: Expr) -> bool:
    """Whether the elements of a collection cannot be gone through one after the other."""
    match expr.type:
        case t.BagOf():
            return False
        case t.SetOf(elem) if expr.op not in ("setof", "const"):
            walked = expr.op == "set" and any(map(unlisted, sources(expr.args[0])))
            many = walked and cardinality(elem) > MAX_DOMAIN
            return many or bool(t.open_sorts(elem))
        case t.MapOf(key, _):
            return bool(t.open_sorts(key))
        case t.SeqOf(elem, _):
            return _unlisted_row(expr, elem)
    return False


def _unlisted_row(expr: Expr, elem: t.Type) -> bool:
    match expr.op:
        case "domain":
            return cardinality(elem) > MAX_DOMAIN
        case "list":
            return any(map(unlisted, sources(expr.args[0])))
        case "keys" | "values" | "items" | "toseq" | "sorted" | "slice" | "cat":
            return any(map(unlisted, expr.args))
        case "if" | "let":
            return any(map(unlisted, expr.args[1:]))
    return False


def walk(source: Expr, inner: Expr, name: str) -> Expr:
    """A chain that goes through a source, with `inner` for each element, a local of this name.

    Through a list of what cannot be listed it goes as the list itself does: a quantifier over the
    Sort, whatever the list makes of its members.
    """
    kind = source.type
    if isinstance(kind, t.MapOf) and unlisted(source) and source.op in ("read", "next", "index"):
        source = Expr("domain", t.SeqOf(kind.key))
    if source.op == "list" and unlisted(source):
        return _into(source.args[0], inner, name)
    return Expr("for", inner.type, (source, inner), name)


def _into(chain: Expr, inner: Expr, name: str) -> Expr:
    """The chain of a list with `inner` in place of its element, which stands for the local."""
    if chain.op == "item":
        return _put(chain.args[0], name, inner)
    first, rest = chain.args
    return Expr(chain.op, inner.type, (first, _into(rest, inner, name)), chain.data)


def _put(value: Expr, name: str, expr: Expr) -> Expr:
    """The expression with a value in place of a local; no name of a machine is bound twice."""
    if expr.op == "local" and expr.data == name:
        return value
    args = tuple(_put(value, name, part) for part in expr.args)
    if expr.op == "index" and args[0].op == "tuple" and args[1].op == "const":
        return args[0].args[int(args[1].data)]
    return Expr(expr.op, expr.type, args, expr.data) if args != expr.args else expr


def mapped(source: Expr, way: str, fresh: Callable[[str], str]) -> Expr | None:
    """`m.keys()`, `m.values()` or `m.items()` as a list over the keys, which are any number."""
    kind = source.type
    if not isinstance(kind, t.MapOf) or not t.open_sorts(kind.key):
        return None
    name = fresh("key")
    every, key = Expr("domain", t.SeqOf(kind.key)), Expr("local", kind.key, (), name)
    value = Expr("index", kind.value, (source, key))
    pair = Expr("tuple", t.Tuple((kind.key, kind.value)), (key, value))
    made = {"keys": key, "values": value, "items": pair}[way]
    chain = Expr("for", made.type, (every, Expr("item", made.type, (made,))), name)
    return every if way == "keys" else Expr("list", t.SeqOf(made.type), (chain,))


def among(element: Expr, row: Expr, fresh: Callable[[str], str]) -> Expr | None:
    """Whether an element is in a list of what cannot be listed; None for any other container."""
    if row.op != "list" or not unlisted(row) or not isinstance(row.type, t.SeqOf):
        return None
    held, name = fresh("sought"), fresh("each")
    sought = Expr("local", element.type, (), held)
    same = Expr("==", _BOOL, (Expr("local", row.type.elem, (), name), sought))
    found = Expr("any", _BOOL, (walk(row, Expr("item", _BOOL, (same,)), name),))
    return Expr("let", _BOOL, (element, found), held)


def problem(expr: Expr) -> tuple[str, str] | None:
    """What an operation does with members of a Sort of any size that it cannot, and what to write
    instead; None when it can. What its arguments do is not looked at."""
    op = expr.op
    if (op in _WALKS and any(map(_secondary, sources(expr.args[0])))) or (
        op != "for" and any(map(_secondary, expr.args))
    ):
        bad, op = True, "domain"
    elif op == "total":
        bad = any(map(unlisted, sources(expr.args[0])))
    elif op == "fold":
        bad = unlisted(expr.args[0])
    elif op in ("len", "sum", "min", "max", "toseq", "sorted"):
        bad = any(map(unlisted, expr.args))
    elif op == "dict":
        bad = isinstance(expr.type, t.MapOf) and bool(t.open_sorts(expr.type.key))
    elif op == "mapping":
        bad = isinstance(expr.type, t.MapOf) and _computed(expr.args[0], expr.type.key)
    else:
        bad = any(_row(a) and (op, at) not in _TAKES for at, a in enumerate(expr.args))
        op = "toseq" if bad else op
    if not bad:
        return None
    does, instead = _DOES[op]
    names = _names(expr)
    said = does.format(names[0]) + f" ({names[0]}={t.ANY})" if names else does.format("all ints")
    return said, instead.format(names[0] if names else "int")


def _secondary(expr: Expr) -> bool:
    """Whether a collection is one of sets, maps or rows of a Sort of any size: a choice out of it
    is one of them, but nothing goes through all."""
    if expr.op == "domain" and isinstance(expr.type, t.SeqOf):
        return bool(t.open_sorts(expr.type)) and not quantifiable(expr.type.elem)
    return expr.op in ("set", "list") and any(map(_secondary, sources(expr.args[0])))


def _row(expr: Expr) -> bool:
    return isinstance(expr.type, t.SeqOf) and unlisted(expr)


def _computed(chain: Expr, key: t.Type) -> bool:
    """Whether keys of a map are not simply all members of a Sort of any size."""
    if not t.open_sorts(key):
        return False
    if chain.op != "for" or chain.args[1].op != "item":
        return True
    source, named = chain.args[0], chain.args[1].args[0]
    all_keys = source.op in ("domain", "keys") or isinstance(source.type, t.MapOf)
    return not (all_keys and named.op == "local" and named.data == chain.data)


def _names(expr: Expr) -> tuple[str, ...]:
    """The Sorts of any size that an expression is about."""
    own = t.open_sorts(expr.type)
    return own or next((found for found in map(_names, expr.args) if found), ())


def refuse_unlisted(scope: Scope, node: ast.expr, made: Expr) -> None:
    """Refuse, at its line, what an expression does that no Sort of any size allows.

    Raises Unsupported.
    """
    found = _first(made, scope.build.checked)
    if found is not None:
        raise scope.refuse(node, f"{_short(node)}, which {found[0]},", found[1])


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else text[:59] + "…"


def _first(expr: Expr, checked: dict[int, Expr]) -> tuple[str, str] | None:
    """The first problem inside an expression; the parts that are checked are noted by identity."""
    if id(expr) in checked:
        return None
    checked[id(expr)] = expr
    for part in expr.args:
        found = _first(part, checked)
        if found is not None:
            return found
    return problem(expr)


class Checked:
    """Checks a whole machine for what sugar, channels and statements put together."""

    def __init__(self, refuse: Callable[[int, str, str], Exception], seen: dict[int, Expr]) -> None:
        """refuse: at a line."""
        self.refuse = refuse
        self.seen = seen

    def machine(self, ir: MachineIR) -> None:
        """Raises Unsupported."""
        for action in ir.actions:
            self._body(action.body)
        for process in ir.processes:
            for block in process.blocks:
                self._body(block.body)
                condition = getattr(block.end, "condition", None)
                self._value(condition, process.line)
        for prop in ir.properties:
            self._value(prop.predicate, prop.line)
        for temporal in ir.temporals:
            self._formula(temporal.formula, temporal.line)
        for refinement in ir.refinements:
            for value in refinement.mapping:
                self._kept(value, refinement.line)

    def _formula(self, formula: LTL, line: int) -> None:
        self._value(formula.predicate, line)
        for part in formula.args:
            self._formula(part, line)

    def _body(self, body: tuple[Stmt, ...]) -> None:
        for stmt in body:
            self._statement(stmt)

    def _statement(self, stmt: Stmt) -> None:
        match stmt:
            case Choose():
                self._value(stmt.source, stmt.line)
            case Assign() | Write():
                for key in stmt.path if isinstance(stmt, Write) else ():
                    self._value(key, stmt.line)
                self._kept(stmt.value, stmt.line)
            case If():
                self._value(stmt.condition, stmt.line)
                self._body(stmt.then)
                self._body(stmt.orelse)
            case For():
                self._value(stmt.source, stmt.line)
                pointwise = _pointwise(stmt.body, {stmt.name}) and not _secondary(stmt.source)
                if unlisted(stmt.source) and not pointwise:
                    name = (_names(stmt.source) or ("int",))[0]
                    what = (
                        f"a loop through {name} ({name}={t.ANY}) whose rounds depend on each other,"
                    )
                    raise self.refuse(stmt.line, what, "self.x[k] = … for the k of the loop alone")
                self._body(stmt.body)
            case Meet():
                for part in (*stmt.keys, *((stmt.value,) if stmt.value else ())):
                    self._value(part, stmt.line)
            case _:
                self._value(getattr(stmt, "condition", None), stmt.line)

    def _value(self, value: Expr | None, line: int) -> None:
        found = None if value is None else _first(value, self.seen)
        if found is not None:
            raise self.refuse(line, f"what {found[0]},", found[1])

    def _kept(self, value: Expr, line: int) -> None:
        self._value(value, line)
        if _row(value) or _secondary(value):
            name = (_names(value) or ("int",))[0]
            what = f"a list of members of {name} ({name}={t.ANY})"
            raise self.refuse(line, what, f"a Set of them, {{x for x in {name} if …}}")


def _pointwise(body: tuple[Stmt, ...], names: set[str]) -> bool:
    """Whether a round writes only what belongs to its own element, which has these names."""
    return all(_own(stmt, names) for stmt in body)


def _own(stmt: Stmt, names: set[str]) -> bool:
    match stmt:
        case Assign(value=Expr(op="local", data=str(other))) if other in names:
            names.add(stmt.name)
        case Assign():
            names.discard(stmt.name)
        case Write():
            return any(key.op == "local" and key.data in names for key in stmt.path)
        case If():
            return _pointwise(stmt.then, set(names)) and _pointwise(stmt.orelse, set(names))
        case For():
            return _pointwise(stmt.body, set(names))
        case Leave():
            return False
    return True
