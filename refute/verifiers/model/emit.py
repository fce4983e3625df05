"""IR expressions as Python source text.

The text holds no name of the user's: variables, locals and constants are numbered, values are
looked up in a namespace of constants. Representations are those of `specs.machine.values`, and
which of them an operand has follows from its static type.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

from refute.errors import UnreadableInput
from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr
from refute.specs.machine.operations import fail, only
from refute.specs.machine.values import (
    Atom,
    Tag,
    domain,
    is_instance,
    members,
    order,
    tag,
    tag_of,
    unpack_value,
)
from refute.verifiers.model.called import (
    extreme,
    field_of,
    is_record,
    looped,
    popped,
    put,
    recursive,
    remembering,
    removed,
)

_INFIX = {"+": "+", "-": "-", "*": "*", "//": "//", "%": "%", "|": "|", "&": "&", "^": "^"}
_INFIX |= {"diff": "-", "subset": "<=", "==": "==", "!=": "!=", "and": "and", "or": "or"}
_CALLS = {"len": "len", "toset": "frozenset", "sum": "sum", "abs": "abs"}
_FOLDS = {"any": "any", "all": "all", "set": "frozenset", "list": "tuple", "total": "sum"}


class Emitter:
    """Source text of expressions, and the constants it refers to."""

    def __init__(self, variables: list[str]) -> None:
        self.variables = {name: at for at, name in enumerate(variables)}
        self.constants: dict[str, Any] = {
            "Atom": Atom,
            "Tag": Tag,
            "field_of": field_of,
            "reduce": functools.reduce,
            "recursive": recursive,
            "fail": fail,
            "only": only,
            "looped": looped,
            "removed": removed,
            "order": order,
            "popped": popped,
            "put": put,
            "extreme": extreme,
            "is_record": is_record,
        }
        self._named: dict[Any, str] = {}
        self._locals: dict[str, str] = {}
        self._numbers = itertools.count()

    def name(self, local: str) -> str:
        """The Python name of a local."""
        return self._locals.setdefault(local, f"l{len(self._locals)}")

    def constant(self, value: Any, key: Any) -> str:
        """The Python name of a constant; equal keys share one."""
        if key not in self._named:
            self._named[key] = f"c{next(self._numbers)}"
            self.constants[self._named[key]] = value
        return self._named[key]

    def domain(self, kind: t.Type) -> str:
        """The constant tuple of all values of a type."""
        return self.constant(domain(kind), ("domain", kind))

    def positions(self, kind: t.Type) -> str:
        """The constant dict from a key type's values to their places in a map."""
        places = {v: at for at, v in enumerate(domain(kind))}
        return self.constant(places, ("positions", kind))

    def place(self, key: Expr, kind: t.Type) -> str:
        """The place of a key in a map with this key type."""
        if isinstance(kind, t.Atoms) and key.type == kind:
            return f"{self.text(key)}.i"
        return f"{self.positions(kind)}[{self.text(key)}]"

    def text(self, expr: Expr) -> str:
        """The expression in Python."""
        op = expr.op
        if op in _INFIX:
            return "(" + f" {_INFIX[op]} ".join(map(self.text, expr.args)) + ")"
        if op in _CALLS:
            only = expr.args[0]
            plain = op == "len" and isinstance(only.type, t.SetOf)
            return f"{_CALLS[op]}({self.text(only) if plain else self.source(only)})"
        if op in _FOLDS:
            return f"{_FOLDS[op]}({self.chain(expr.args[0])})"
        method = getattr(self, f"_{_METHODS.get(op, op)}", None)
        if method is None:
            raise UnreadableInput(f"unknown operation {op!r} in a machine", thing="machine")
        made: str = method(expr)
        return made

    def chain(self, expr: Expr) -> str:
        """A comprehension's chain as Python's clauses, the element first."""
        clauses: list[str] = []
        while expr.op != "item":
            head, inner = expr.args
            if expr.op == "for":
                clauses.append(f"for {self.name(expr.data)} in {self.source(head)}")
            elif expr.op == "if":
                clauses.append(f"if {self.text(head)}")
            else:
                raise UnreadableInput(f"{expr.op!r} in a comprehension", thing="machine")
            expr = inner
        element = ": ".join(map(self.text, expr.args))
        return f"{element} {' '.join(clauses)}"

    def source(self, expr: Expr) -> str:
        """The expression as something to iterate over, in canonical order."""
        if expr.op == "range":
            return f"range({', '.join(map(self.text, expr.args))})"
        if isinstance(expr.type, t.SetOf):
            sorter = self.constant(remembering(expr.type.elem), ("ordered", expr.type.elem))
            return f"{sorter}({self.text(expr)})"
        if isinstance(expr.type, t.MapOf):
            return self._beside(expr, self.domain(expr.type.key))
        return self.text(expr)

    def _beside(self, expr: Expr, known: str) -> str:
        """What is known of a map by its type alone; what the map itself raises is raised."""
        return known if expr.op in _THERE else f"({self.text(expr)}, {known})[1]"

    def _const(self, expr: Expr) -> str:
        if expr.data is None or type(expr.data) in (bool, int):
            return f"({expr.data!r})"
        return self.constant(unpack_value(expr.data), ("const", expr.data))

    def _read(self, expr: Expr) -> str:
        return f"v{self.variables[expr.data]}"

    def _next(self, expr: Expr) -> str:
        return f"w{self.variables[expr.data]}"

    def _local(self, expr: Expr) -> str:
        return self.name(expr.data)

    def _let(self, expr: Expr) -> str:
        value, body = expr.args
        return f"(lambda {self.name(expr.data)}: {self.text(body)})({self.text(value)})"

    def _fold(self, expr: Expr) -> str:
        source, start, body = expr.args
        item, *names = map(self.name, expr.data)
        step = f"(lambda {', '.join(names)}: {self.text(body)})(*state)"
        return f"reduce(lambda state, {item}: {step}, {self.source(source)}, {self.text(start)})"

    def _loop(self, expr: Expr) -> str:
        start, body = expr.args
        names = ", ".join(map(self.name, expr.data))
        return f"looped({self.text(start)}, lambda {names}: {self.text(body)})"

    def _rec(self, expr: Expr) -> str:
        *args, body = expr.args
        names = ", ".join(map(self.name, expr.data))
        given = ", ".join(map(self.text, args))
        return f"recursive(lambda {names}: {self.text(body)})({given})"

    def _again(self, expr: Expr) -> str:
        return f"{self.name(expr.data)}({', '.join(map(self.text, expr.args))})"

    def _not(self, expr: Expr) -> str:
        return f"(not {self.text(expr.args[0])})"

    def _neg(self, expr: Expr) -> str:
        return f"(-{self.text(expr.args[0])})"

    def _if(self, expr: Expr) -> str:
        test, then, orelse = map(self.text, expr.args)
        return f"({then} if {test} else {orelse})"

    def _order(self, expr: Expr) -> str:
        sides = [f"{self.text(a)}.i" if _atomic(a.type) else self.text(a) for a in expr.args]
        return f"({sides[0]} {expr.op} {sides[1]})"

    def _in(self, expr: Expr) -> str:
        item, container = expr.args
        kind = container.type
        if container.op == "domain" and isinstance(kind, t.SeqOf):
            return f"({self.text(item)} in {self.positions(kind.elem)})"
        if isinstance(kind, t.MapOf):
            places = self._beside(container, self.positions(kind.key))
            return f"({self.text(item)} in {places})"
        inside = self.source(container) if container.op == "range" else self.text(container)
        return f"({self.text(item)} in {inside})"

    def _disjoint(self, expr: Expr) -> str:
        return f"{self.text(expr.args[0])}.isdisjoint({self.text(expr.args[1])})"

    def _index(self, expr: Expr) -> str:
        base, key = expr.args
        if isinstance(base.type, t.MapOf):
            return f"{self.text(base)}[{self.place(key, base.type.key)}]"
        return f"{self.text(base)}[{self.text(key)}]"

    def _slice(self, expr: Expr) -> str:
        base, low, high = map(self.text, expr.args)
        return f"{base}[{low}:{high}]"

    def _field(self, expr: Expr) -> str:
        base = expr.args[0]
        if isinstance(base.type, t.Rec):
            at = 1 + [n for n, _ in base.type.fields].index(expr.data)
            return f"{self.text(base)}[{at}]"
        return f"field_of({self.text(base)}, {self.constant(str(expr.data), ('name', expr.data))})"

    def _make(self, expr: Expr) -> str:
        if not isinstance(expr.type, t.Rec):
            raise UnreadableInput("make of no record", thing="machine")
        names = tuple(n for n, _ in expr.type.fields)
        head = self.constant(tag(expr.type.name, names), ("tag", expr.type.name, names))
        return "(" + ", ".join([head, *map(self.text, expr.args)]) + ",)"

    def _tuple(self, expr: Expr) -> str:
        return "(" + "".join(f"{self.text(a)}, " for a in expr.args) + ")"

    def _setof(self, expr: Expr) -> str:
        return f"frozenset({self._tuple(expr)})"

    def _dict(self, expr: Expr) -> str:
        texts = list(map(self.text, expr.args))
        inside = ", ".join(f"{k}: {v}" for k, v in zip(texts[::2], texts[1::2], strict=True))
        return self._total_map(expr, "{" + inside + "}")

    def _mapping(self, expr: Expr) -> str:
        return self._total_map(expr, "{" + self.chain(expr.args[0]) + "}")

    def _total_map(self, expr: Expr, entries: str) -> str:
        if not isinstance(expr.type, t.MapOf):
            raise UnreadableInput("a mapping of no map type", thing="machine")
        return f"{self.constant(_total(expr.type), ('total', expr.type.key))}({entries})"

    def _cat(self, expr: Expr) -> str:
        return f"({self.text(expr.args[0])} + {self.text(expr.args[1])})"

    def _range(self, expr: Expr) -> str:
        return f"tuple({self.source(expr)})"

    def _toseq(self, expr: Expr) -> str:
        return f"tuple({self.source(expr.args[0])})"

    def _sorted(self, expr: Expr) -> str:
        return f"tuple(sorted({self.source(expr.args[0])}, key=order))"

    def _values(self, expr: Expr) -> str:
        return self.text(expr.args[0])

    def _keys(self, expr: Expr) -> str:
        return self.source(expr.args[0])

    def _items(self, expr: Expr) -> str:
        base = expr.args[0]
        return f"tuple(zip({self.source(base)}, {self.text(base)}))"

    def _extreme(self, expr: Expr) -> str:
        return f"extreme({expr.op}, {self.source(expr.args[0])})"

    def _several(self, expr: Expr) -> str:
        pick = "min" if expr.op == "least" else "max"
        return f"extreme({pick}, ({', '.join(map(self.text, expr.args))},))"

    def _ordinal(self, expr: Expr) -> str:
        return f"{self.text(expr.args[0])}.i"

    def _successor(self, expr: Expr) -> str:
        (kind,) = [o for o in t.options(expr.type) if isinstance(o, t.Atoms)]
        after = dict(zip(members(kind), (*members(kind)[1:], None), strict=True))
        return f"{self.constant(after, ('after', kind))}[{self.text(expr.args[0])}]"

    def _domain(self, expr: Expr) -> str:
        if not isinstance(expr.type, t.SeqOf):
            raise UnreadableInput("a domain of no type", thing="machine")
        return self.domain(expr.type.elem)

    def _removed(self, expr: Expr) -> str:
        return f"removed({self.text(expr.args[0])}, {self.text(expr.args[1])})"

    def _fail(self, expr: Expr) -> str:
        return "fail()"

    def _only(self, expr: Expr) -> str:
        kind = self.constant(expr.type, ("type", expr.type))
        return f"only({self.text(expr.args[0])}, {kind})"

    def _popped(self, expr: Expr) -> str:
        return f"popped({self.text(expr.args[0])}, {self.text(expr.args[1])})"

    def _isa(self, expr: Expr) -> str:
        (item,) = expr.args
        kinds = tuple(expr.data)
        tags = {tag_of(k) for k in kinds if isinstance(k, t.Rec)}
        if all(isinstance(option, t.Rec) for option in t.options(item.type)):
            return f"({self.text(item)}[0] in {self.constant(tags, ('tags', kinds))})"
        test = self.constant(lambda v: is_instance(v, kinds), ("isa", kinds))
        return f"{test}({self.text(item)})"


_THERE = ("const", "local", "read", "next")  # values that are there: getting them raises nothing
_METHODS = {"<": "order", "<=": "order", ">": "order", ">=": "order", "seq": "tuple"}
_METHODS |= {"min": "extreme", "max": "extreme", "least": "several", "most": "several"}


def _atomic(kind: t.Type) -> bool:
    return isinstance(kind, t.Atoms)


def _total(kind: t.MapOf) -> Callable[[dict[Any, Any]], tuple[Any, ...]]:
    keys = domain(kind.key)

    def total(entries: dict[Any, Any]) -> tuple[Any, ...]:
        if len(entries) != len(keys):
            raise KeyError("a map's entries do not match its key type")
        return tuple(entries[k] for k in keys)

    return total
