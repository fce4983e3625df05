"""Where a machine depends on the order of a Sort's members: what a permutation would change.

Everything in the language treats the members of a Sort alike, except walks: a Set is walked
through in a fixed order, and a list of its elements has that order. Such a list is *loose*. It may
be counted, summed up, searched, chosen from or made a set again, as none of that asks for the
order; anything else done with it is reported. Operations that are not known here are reported too.
"""

from __future__ import annotations

from collections.abc import Sequence

from refute.frozen import frozen
from refute.plain import Plain
from refute.specs.machine import commuting
from refute.specs.machine import types as t
from refute.specs.machine.ir import (
    UNIVERSAL,
    Action,
    Assign,
    Branch,
    Check,
    Choose,
    Die,
    Expr,
    For,
    If,
    Leave,
    MachineIR,
    Param,
    Process,
    Property,
    Stmt,
    When,
    Write,
    Yield,
)
from refute.specs.machine.permuting import ambiguous, mentions
from refute.specs.machine.types import show

STRICT = frozenset(
    {"not", "and", "or", "+", "-", "*", "//", "%", "neg", "abs", "==", "!=", "|", "&", "^"}
    | {"diff", "subset", "disjoint", "index", "slice", "field", "tuple", "seq", "setof", "make"}
    | {"removed", "popped", "isa", "range", "dict", "<", "<=", ">", ">="}
    | {"least", "most", "ordinal", "successor", "only", "fail"}
)
COMPARES = frozenset({"<", "<=", ">", ">=", "least", "most", "ordinal", "successor", "min", "max"})
COLLECTS = frozenset({"len", "toset", "sum", "min", "max", "in"})
WALKS = frozenset({"any", "all", "set", "list", "total", "mapping"})


@frozen
class Named:
    """Plain data of values that the machine states itself, and where: "line 3 names"."""

    data: tuple[Plain, ...]
    type: t.Type
    where: str


class Ordering:
    """What in one machine depends on the order of one Sort.

    problems: sentences with lines, empty if nothing does. lazy: lines where it may depend on the
    order whether something raises; unsure: the properties there. named: constants that may single
    out members.
    """

    def __init__(self, ir: MachineIR, sort: str) -> None:
        self.sorts = frozenset({sort})
        self.problems: list[str] = []
        self.lazy: set[int] = set()
        self.unsure: list[str] = []
        self.named: list[Named] = []
        self._line = 0
        self._loose: set[str] = set()  # locals that hold a loose list
        self._facts: dict[str, t.Type] = {}  # what locals surely are
        for variable in ir.variables:
            self._line = variable.line
            self._known(variable.type, variable.name)
            where = f"{variable.name} starts with"
            self.named.append(Named(variable.initial, variable.type, where))
        for action in ir.actions:
            self._mover(action)
        for process in ir.processes:
            self._mover(process)
        for prop in ir.properties:
            if prop.kind not in ("weak", "strong"):
                self._property(prop)

    def _problem(self, what: str) -> None:
        said = what if what.startswith("line ") else f"line {self._line}: {what}"
        if said not in self.problems:
            self.problems.append(said)

    def _known(self, kind: t.Type, name: str) -> None:
        if ambiguous(kind, self.sorts):
            self._problem(f"{name} may be a map or a tuple, which are alike in a state")

    def _property(self, prop: Property) -> None:
        self._line = prop.line
        self._facts = {}
        outer, self.lazy = self.lazy, set()
        for key in prop.keys:
            self._exact(key, f"whose crash {prop.name} is about")
        self._exact(prop.predicate, f"what {prop.name} is")
        over = any(mentions(p.type, self.sorts) for p in prop.params)
        over = over and prop.kind not in UNIVERSAL  # these are looked at for every value
        if over and commuting.may_raise(prop.predicate, {}):
            self.lazy.add(prop.line)
        if self.lazy:
            self.unsure.append(prop.name)
        self.lazy |= outer

    def _mover(self, mover: Action | Process) -> None:
        bodies = [mover.body] if isinstance(mover, Action) else [b.body for b in mover.blocks]
        given: tuple[Param, ...] = mover.params
        if isinstance(mover, Process):
            given += mover.locals
        for param in given:
            self._line = mover.line
            self._known(param.type, param.name)
        self._loose = set()
        self._facts = commuting.facts_of(bodies)
        for _ in range(2):  # a loop may bring a list back to where it was read
            for body in bodies:
                self._body(body, bodies)
        for block in mover.blocks if isinstance(mover, Process) else ():
            if isinstance(block.end, Branch):
                self._exact(block.end.condition, "where a process goes on")
            if isinstance(block.end, Yield) and self._loose & set(block.end.live):
                self._line = mover.line
                self._problem(f"{mover.name} keeps a list in the order of the Sort")

    def _body(self, body: Sequence[Stmt], bodies: Sequence[Sequence[Stmt]]) -> None:
        for stmt in body:
            self._line = getattr(stmt, "line", 0) or self._line
            match stmt:
                case When() | Check():
                    self._exact(stmt.condition, "a condition")
                case Choose():
                    self._expr(stmt.source)
                case Assign():
                    if self._expr(stmt.value):
                        self._loose.add(stmt.name)
                case Write():
                    for part in (*stmt.path, stmt.value):
                        self._exact(part, f"what is written to {stmt.var}")
                case If():
                    self._exact(stmt.condition, "a condition")
                    self._body((*stmt.then, *stmt.orelse), bodies)
                case For():
                    self._loop(stmt, bodies)
                case Leave() | Die():
                    pass
                case _:
                    self._problem(f"{type(stmt).__name__} is not known to treat its members alike")

    def _loop(self, loop: For, bodies: Sequence[Sequence[Stmt]]) -> None:
        line = self._line
        if self._expr(loop.source) or self._walks(loop.source):
            why = commuting.rounds_commute(loop, _read_outside(bodies, loop))
            if why:
                self._problem(why)
            inside = list(commuting.statements(loop.body))
            stops = any(isinstance(s, When) for s in inside)
            stops = stops or any(
                isinstance(s, Write) and s.value.op in ("and", "or") for s in inside
            )
            if stops and commuting.step_may_raise(loop.body, self._facts):
                self.lazy.add(line)
        self._body(loop.body, bodies)

    def _walks(self, source: Expr) -> bool:
        """Whether the order in which the source is walked through is the Sort's."""
        match source.type:
            case t.SetOf():
                return mentions(source.type.elem, self.sorts)
            case t.MapOf():
                return mentions(source.type.key, self.sorts)
        return source.op == "domain" and mentions(source.type, self.sorts)

    def _exact(self, expr: Expr, what: str) -> None:
        if self._expr(expr):
            self._problem(f"{what} depends on the order of a list over the Sort")

    def _expr(self, expr: Expr) -> bool:
        """Whether the value is loose; problems on the way are noted."""
        op = expr.op
        if op == "const":
            self.named.append(Named((expr.data,), expr.type, f"line {self._line} names"))
            return False
        if op in ("read", "next"):
            return False
        if op == "local":
            return expr.data in self._loose
        if op == "domain":
            return self._walks(expr)
        if op in COMPARES:
            self._no_order(expr)
        if op in WALKS:
            return self._walk(expr)
        if op in STRICT or op in COLLECTS:
            return self._applied(expr)
        if op in ("keys", "values", "items", "toseq", "sorted"):
            (source,) = expr.args
            loose = self._expr(source) or self._walks(source)
            return mentions(expr.type, self.sorts) if op == "sorted" else loose
        return self._binding(expr)

    def _no_order(self, expr: Expr) -> None:
        kinds = [*(a.type for a in expr.args), expr.type]
        kinds = [k.elem if isinstance(k, t.SetOf | t.SeqOf) else k for k in kinds]
        kinds = [k.value if isinstance(k, t.MapOf) else k for k in kinds]
        if any(mentions(k, self.sorts) for k in kinds) and expr.op not in ("min", "max"):
            self._problem(f"{expr.op} compares {show(expr.args[0].type)} by order")
        elif expr.op in ("min", "max") and mentions(expr.type, self.sorts):
            self._problem(f"{expr.op} of {show(expr.type)} is by order")

    def _applied(self, expr: Expr) -> bool:
        """An operation that asks for the order of none of its arguments, or of all."""
        collects = expr.op in COLLECTS
        for at, part in enumerate(expr.args):
            loose = self._expr(part)
            if loose and not (collects and at == len(expr.args) - 1):
                what = "choose or the place of an element" if expr.op == "index" else expr.op
                self._problem(f"{what} depends on the order of a list over the Sort")
        return False

    def _binding(self, expr: Expr) -> bool:
        match expr.op:
            case "let":
                value, inner = expr.args
                if self._expr(value):
                    self._loose.add(expr.data)
                self._facts[expr.data] = commuting.valued(value, self._facts)
                return self._expr(inner)
            case "if":
                self._exact(expr.args[0], "a condition")
                loose = [self._expr(way) for way in expr.args[1:]]
                return any(loose)
            case "cat":
                loose = [self._expr(part) for part in expr.args]
                return any(loose)
            case "fold":
                source, *parts = expr.args
                if (self._expr(source) or self._walks(source)) and not commuting.folds_commute(
                    expr
                ):
                    self._problem("a loop's result depends on the order of its rounds")
                for part in parts:
                    self._exact(part, "what a loop builds up")
                return False
        self._problem(f"{expr.op} is not known to treat its members alike")
        return False

    def _walk(self, expr: Expr) -> bool:
        loose, items = self._chain(expr.args[0])
        if loose and expr.op in ("any", "all") and commuting.may_raise(expr.args[0], self._facts):
            self.lazy.add(self._line)
        if loose and expr.op == "mapping" and not _one_each(expr):
            self._problem("of several entries for a key the last one counts")
        for item in items:
            self._exact(item, "an element")
        return loose and expr.op == "list"

    def _chain(self, chain: Expr) -> tuple[bool, tuple[Expr, ...]]:
        """Whether some clause walks in the order of the Sort, and the elements."""
        loose = False
        while chain.op != "item":
            head, inner = chain.args
            if chain.op == "for":
                loose = self._expr(head) or self._walks(head) or loose
            elif chain.op == "if":
                self._exact(head, "a condition")
            elif self._expr(head):
                self._loose.add(chain.data)
            chain = inner
        return loose, chain.args


def _one_each(mapping: Expr) -> bool:
    """Whether no two elements of a comprehension surely have the same key."""
    loop = mapping.args[0]
    inner = loop
    while inner.op == "if" or inner is loop:
        if inner.op == "item":
            return False
        inner = inner.args[1]
    if inner.op != "item":
        return False
    return commuting.is_item(inner.args[0], For(loop.data, loop.args[0], ()))


def _read_outside(bodies: Sequence[Sequence[Stmt]], loop: For) -> frozenset[str]:
    """The locals that are read anywhere but in this loop."""
    found: set[str] = set()
    for body in bodies:
        for expr in commuting.expressions(_without(body, loop)):
            found.update(r.data for r in commuting.reads(expr) if r.op == "local")
    return frozenset(found)


def _without(body: Sequence[Stmt], loop: For) -> list[Stmt]:
    kept: list[Stmt] = []
    for stmt in body:
        if stmt is loop:
            kept.append(When(loop.source))
        elif isinstance(stmt, If):
            then, orelse = _without(stmt.then, loop), _without(stmt.orelse, loop)
            kept.append(If(stmt.condition, tuple(then), tuple(orelse), stmt.line))
        elif isinstance(stmt, For):
            kept.append(For(stmt.name, stmt.source, tuple(_without(stmt.body, loop)), stmt.line))
        else:
            kept.append(stmt)
    return kept
