"""Whose state a name stands for: the machine's own, or that of a part inside it.

`self.worker[r].done` in a machine with parts is an entry of the variable `worker[].done`; a port
of a part is whatever the machine around it connects, put in place of the name.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refute.frozen import frozen
from refute.specs.machine import types as t
from refute.specs.machine.channels import ChannelVar
from refute.specs.machine.ir import Expr
from refute.specs.machine.language import Var
from refute.specs.machine.parts import Part, Port, Seat, Wire
from refute.specs.machine.scope import Build, Scope, is_const, is_var

if TYPE_CHECKING:
    from refute.specs.machine.calls import Calls
    from refute.specs.machine.expressions import Expressions


class View(str):
    """ "read" or "next", of the machine that `build` is about. keys: which of its parts it is."""

    build: Build
    keys: tuple[Expr, ...]

    @classmethod
    def of(cls, word: str, build: Build, keys: Sequence[Expr] = ()) -> View:
        """The state `word` of a machine in its place."""
        made = cls(word)
        made.build = build
        made.keys = tuple(keys)
        return made

    def around(self) -> View | None:
        """The machine that this one is a part of."""
        outer = self.build.outer
        return None if outer is None else View.of(str(self), outer, self.keys[: len(outer.keys)])

    def variable(self, name: str) -> Expr:
        """A variable, of this very part where there are several."""
        kind = self.build.variables[name]
        kinds = [kind]
        for key in reversed(self.build.keys):
            kinds.insert(0, t.MapOf(key, kinds[0]))
        found = Expr(str(self), kinds[0], (), self.build.prefix + name)
        for inner, key_expr in zip(kinds[1:], self.keys, strict=True):
            found = Expr("index", inner, (found, key_expr))
        return found


def viewed(calls: Expressions, node: ast.AST) -> str:
    """The state that a node stands for: a name, or a part of one; empty for anything else."""
    found = calls.scope.state_of(node)
    if found:
        return found
    match node:
        case ast.Attribute(value=base, attr=name):
            seat, view = _seat(calls, base, name)
            if seat is not None and seat.key is None:
                return View.of(view, seat.front.build, view.keys)
            state = viewed(calls, base) if seat is None else ""
            if state and isinstance(calls.scope.member(name, state), Port):
                connected, inside = wired(calls, state, name, node)
                return viewed(connected, inside)
        case ast.Subscript(value=ast.Attribute(value=base, attr=name), slice=key):
            seat, view = _seat(calls, base, name)
            if seat is not None and seat.key is not None:
                found_key = calls.expr(key)
                calls.index(Expr("read", t.MapOf(seat.key, t.Nothing())), found_key, node)
                return View.of(view, seat.front.build, (*view.keys, found_key))
    return ""


def _seat(calls: Expressions, base: ast.AST, name: str) -> tuple[Seat | None, View]:
    view = viewed(calls, base) if isinstance(base, ast.Name | ast.Attribute | ast.Subscript) else ""
    if not isinstance(view, View) or not isinstance(calls.scope.member(name, view), Part):
        return None, View.of("", calls.build)
    seats: dict[str, Seat] = view.build.seats
    return seats.get(name), view


def family(calls: Expressions, node: ast.expr) -> tuple[Seat, View] | None:
    """The several parts that a node like `self.workers` stands for, and whose they are."""
    if isinstance(node, ast.Attribute):
        seat, view = _seat(calls, node.value, node.attr)
        if seat is not None and seat.key is not None:
            return seat, view
    return None


@frozen
class Walk:
    """A walk through several parts. way: "values", "items" or "keys" of them."""

    seat: Seat
    view: View
    way: str

    @property
    def source(self) -> Expr:
        """The keys of the parts."""
        assert self.seat.key is not None
        return Expr("domain", t.SeqOf(self.seat.key))

    def bind(self, calls: Expressions, target: ast.expr, key: Expr) -> None:
        """Let the names of a target stand for the key and for the part. Raises Unsupported."""
        part = View.of(self.view, self.seat.front.build, (*self.view.keys, key))
        match self.way, target:
            case "keys", ast.Name(id=name):
                calls.scope.env[name] = key
            case "values", ast.Name(id=name):
                calls.scope.states[name] = part
            case "items", ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=second)]):
                calls.scope.env[first], calls.scope.states[second] = key, part
            case _:
                what = "this walk through parts"
                raise calls.scope.refuse(target, what, "for key, one in self.parts.items()")


def walk(calls: Expressions, node: ast.comprehension) -> Walk | None:
    """The walk of a comprehension through several parts; None through anything else."""
    base, way = node.iter, "keys"
    match base:
        case ast.Call(func=ast.Attribute(value=inside, attr="values" | "items" | "keys" as name)):
            base, way = inside, name
    found = family(calls, base)
    return None if found is None else Walk(*found, way)


def declared(calls: Expressions, node: ast.Attribute, state: str, found: Any) -> Expr | None:
    """The value of a variable, constant or port; None for anything else. Raises Unsupported."""
    view = state if isinstance(state, View) else View.of(state, calls.build)
    build, name = view.build, node.attr
    if is_var(found):
        if build.rooms.get(name) == 0:
            what = f"a look into {name}, which never holds a message,"
            raise calls.scope.refuse(node, what, "a variable of the sender or the receiver")
        return view.variable(name)
    if is_const(found):
        value = build.constants[name]
        build.resolver.used[name] = value
        kind = t.Bool() if type(value) is bool else t.Int(value, value)
        return Expr("const", kind, (), value)
    if isinstance(found, Port):
        connected, inside = wired(calls, state, name, node)
        return connected.expr(inside)
    if isinstance(found, Part):
        several = isinstance(build.seats.get(name), Seat) and build.seats[name].key is not None
        if several:
            what = f"{name}, several parts, as a value"
            instead = f"self.{name}[key].x, or a comprehension: … for one in self.{name}.values()"
            raise calls.scope.refuse(node, what, instead)
        what = f"the part {name} as a value"
        raise calls.scope.refuse(node, what, f"one of its variables, self.{name}.x")
    return None


def place_of(
    calls: Expressions, node: ast.Attribute
) -> tuple[str, tuple[Expr, ...], t.Type] | None:
    """The variable that a write to `self.x` goes to, the keys on the way, and its type.

    None for what is no variable. Raises Unsupported for one of another part.
    """
    state = viewed(calls, node.value)
    found = calls.scope.member(node.attr, state) if state else None
    if state != "read" or not isinstance(found, Var | Port):
        return None
    view = state if isinstance(state, View) else View.of(state, calls.build)
    shown = ast.unparse(node)
    if isinstance(found, Port):
        what = f"a write to {shown}, which is not this part's own,"
        raise calls.scope.refuse(node, what, f"a message: self.{node.attr}.send(…)")
    if view.build is not calls.build:
        what = f"a write to {shown}, the state of a part,"
        raise calls.scope.refuse(node, what, "a step of the part itself, or a message to it")
    if isinstance(found, ChannelVar):
        what = f"a write to the channel {shown}"
        raise calls.scope.refuse(node, what, f"{shown}.send(…), m = {shown}.receive()")
    return view.build.prefix + node.attr, view.keys, view.build.variables[node.attr]


def is_port(found: Any) -> bool:
    """Whether a class attribute declares a port."""
    return isinstance(found, Port)


def wired(calls: Expressions, view: str, name: str, node: ast.AST) -> tuple[Calls, ast.expr]:
    """What a port stands for: an expression, and what translates it. Raises Unsupported."""
    outer = view.around() if isinstance(view, View) else None
    if not isinstance(view, View) or outer is None:
        what = f"the port {name} of a machine that is no part,"
        raise calls.scope.refuse(node, what, "part(…) in a machine around it")
    wire: Wire = view.build.seat.wires[name]
    label = f"{view.build.prefix}{name}"
    if label in calls.build.inlining:
        raise calls.scope.refuse(node, f"the port {label}, connected to itself,", "a variable")
    scope, inside = _connected(calls, wire, outer, view)
    made: Any = type(calls)(scope)
    return made, inside


def _connected(calls: Expressions, wire: Wire, outer: View, view: View) -> tuple[Scope, ast.expr]:
    scope = Scope(outer.build, NO_NAMES, calls.scope.tree, calls.scope.file, {"self": outer})
    key = view.keys[-1:] if view.build.seat.key is not None else ()
    if key:
        scope.env["key"] = key[0]
    if wire.way == "call":
        tree = source_of(wire.of, outer.build)
        scope.function, scope.tree = wire.of, tree
        names = [a.arg for a in tree.args.args]
        scope.states = {names[0]: outer}
        scope.env = dict(zip(names[1:], key, strict=True))
        scope.file = Path(inspect.getsourcefile(wire.of) or "<unknown>").name
        returns = [s for s in tree.body if isinstance(s, ast.Return) and s.value is not None]
        if len(returns) != 1 or returns[0].value is None:
            raise scope.refuse(tree, "this function as a connection", "lambda self: self.channel")
        return scope, returns[0].value
    if wire.way == "value":
        scope.env["key"] = calls.lift(wire.of, calls.scope.tree)
    if wire.way in ("key", "value"):
        return scope, _placed(ast.Name("key", ast.Load()), calls.scope.tree)
    found: ast.expr = ast.Attribute(ast.Name("self", ast.Load()), wire.of, ast.Load())
    if wire.way == "entry":
        found = ast.Subscript(found, ast.Name("key", ast.Load()), ast.Load())
    return scope, _placed(found, calls.scope.tree)


def _placed(node: ast.expr, where: ast.AST) -> ast.expr:
    for part in ast.walk(node):
        ast.copy_location(part, where)
    return node


def source_of(function: types.FunctionType, build: Build) -> ast.FunctionDef:
    """A function that connects a port, lambdas too, as a def. Raises Unsupported."""
    known: ast.FunctionDef | None = build.connections.get(function)
    if known is None:
        known = build.connections[function] = _parsed(function)
    return known


def _parsed(function: types.FunctionType) -> ast.FunctionDef:
    file = inspect.getsourcefile(function) or "<unknown>"
    lines, _ = inspect.findsource(function)
    line = function.__code__.co_firstlineno
    names = list(inspect.signature(function).parameters)
    found: list[ast.FunctionDef] = []
    for node in ast.walk(ast.parse("".join(lines), file)):
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            found += [node] if node.lineno == line else []
        elif isinstance(node, ast.Lambda) and node.lineno == line:
            body: list[ast.stmt] = [ast.copy_location(ast.Return(node.body), node.body)]
            made = ast.FunctionDef("<lambda>", node.args, body, [])
            found.append(ast.copy_location(made, node))
    code = function.__code__
    fitting = [f for f in found if [a.arg for a in f.args.args] == names]
    exact = [f for f in fitting if _compiled(f) == (code.co_code, code.co_names, code.co_consts)]
    return (exact or fitting)[0]


def _compiled(tree: ast.FunctionDef) -> tuple[Any, ...]:
    """What a function is compiled to, to tell two lambdas of one line apart."""
    body = tree.body[-1]
    value = body.value if isinstance(body, ast.Return) and body.value else ast.Constant(None)
    shown = ast.Expression(ast.copy_location(ast.Lambda(tree.args, value), tree))
    (code,) = [c for c in compile(shown, "<lambda>", "eval").co_consts if hasattr(c, "co_code")]
    return code.co_code, code.co_names, code.co_consts


NO_NAMES = types.FunctionType(compile("", "<no names>", "exec"), {})  # sees no names but builtins
