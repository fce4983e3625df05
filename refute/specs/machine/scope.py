"""What a name means while one function of a machine is translated, and how to refuse.

Every refusal names file and line, the construct, and what to write instead.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import inspect
import itertools
import textwrap
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from refute.errors import Unsupported
from refute.specs.machine.closures import Function
from refute.specs.machine.ir import Expr
from refute.specs.machine.language import Const, Var
from refute.specs.machine.resolve import Resolver
from refute.specs.machine.source import source_lines
from refute.specs.machine.types import NEVER, SetOf, Type, included, join, widened

MISSING: Any = object()
_MUTABLE = (ast.Set, ast.SetComp, ast.List, ast.ListComp, ast.Dict, ast.DictComp)


@dataclasses.dataclass(eq=False)
class Recursion:
    """A helper in translation. name: of its recursive expression; empty until it calls itself.

    kinds, result: the types of its parameters and of what it gives, as they are assumed.
    given: the types that calls of itself give. states: the states that it was given.
    """

    function: types.FunctionType
    name: str = ""
    states: list[Any] = dataclasses.field(default_factory=list)
    kinds: list[Type] = dataclasses.field(default_factory=list)
    result: Type = NEVER
    given: list[list[Type]] = dataclasses.field(default_factory=list)

    def fits(self, found: Type) -> bool:
        """Whether the types assumed include those met. found: of the body."""
        given = (included(k, a) for row in self.given for k, a in zip(row, self.kinds, strict=True))
        return included(found, self.result) and all(given)

    def widen(self, found: Type, attempt: int) -> None:
        """Assume what was met too; open-ended after the first attempts."""
        columns = zip(self.kinds, *self.given, strict=True)
        kinds = [join(column) for column in columns]
        self.kinds = kinds if attempt < 1 else [widened(k) for k in kinds]
        if not included(found, self.result):
            self.result = widened(join((self.result, found)))


@dataclasses.dataclass
class Build:
    """What all functions of one machine share while it is translated.

    loose: the locals that hold a builtin set, which Python walks through in the order of hashes.
    Of a part: prefix is before its names, keys the types that tell it from others of its kind,
    seat its place, outer the machine around it. seats: its own parts. rooms: of its channels.
    checked: by identity, the expressions that list no members of a Sort of any size.
    """

    cls: type
    resolver: Resolver
    variables: dict[str, Type] = dataclasses.field(default_factory=dict)
    constants: dict[str, int] = dataclasses.field(default_factory=dict)
    inlining: list[Any] = dataclasses.field(default_factory=list)
    loose: set[str] = dataclasses.field(default_factory=set)
    numbers: Iterator[int] = dataclasses.field(default_factory=itertools.count)
    prefix: str = ""
    keys: tuple[Type, ...] = ()
    seat: Any = None
    outer: Build | None = None
    seats: dict[str, Any] = dataclasses.field(default_factory=dict)
    rooms: dict[str, int | None] = dataclasses.field(default_factory=dict)
    connections: dict[Any, ast.FunctionDef] = dataclasses.field(default_factory=dict)
    checked: dict[int, Expr] = dataclasses.field(default_factory=dict)

    def fresh(self, name: str) -> str:
        """A local's name that no other local of the machine has."""
        return f"{name}.{next(self.numbers)}"

    def note(self, name: str, value: Expr) -> None:
        """Remember whether a local that gets this value may hold a builtin set."""
        if self.is_loose(value):
            self.loose.add(name)

    def is_loose(self, value: Expr) -> bool:
        """Whether the value may be a builtin set in Python, not a Set with its fixed order."""
        if not isinstance(value.type, SetOf):
            return False
        match value.op:
            case "setof" | "set":
                return True
            case "toset":
                return bool(value.data != "Set")
            case "const":
                return bool(len(value.data) > 2)
            case "if" | "let":
                return any(map(self.is_loose, value.args[1:]))
            case "rec":
                return self.is_loose(value.args[-1])
            case "local":
                return value.data in self.loose
        return value.op in ("|", "&", "^", "diff") and self.is_loose(value.args[0])


@dataclasses.dataclass
class Scope:
    """One function: its source, its names, and which of them stand for a state of the machine.

    states: name → "read" (the state) or "next" (the state after). env: name → its expression.
    functions: the names that stand for a function made here, or given to this one. facts: the
    tests that led to the statement, and whether they were true, in a helper.
    """

    build: Build
    function: types.FunctionType
    tree: ast.FunctionDef
    file: str
    states: dict[str, str]
    env: dict[str, Expr] = dataclasses.field(default_factory=dict)
    functions: dict[str, Function] = dataclasses.field(default_factory=dict)
    facts: tuple[tuple[Expr, bool], ...] = ()

    @property
    def returns_none(self) -> bool:
        """Whether a bare `return` gives a value: the annotation says that None is one."""
        return self.tree.returns is not None and "None" in ast.unparse(self.tree.returns)

    def names(self) -> dict[str, Expr]:
        """What the names stand for now, for `restore`."""
        return dict(self.env)

    def restore(self, names: Mapping[str, Expr]) -> None:
        """Let the names stand for what they did."""
        self.env = dict(names)

    def refuse(self, node: ast.AST, construct: str, instead: str) -> Unsupported:
        """The error for a construct outside the language."""
        place = f"{self.file}:{getattr(node, 'lineno', self.tree.lineno)}"
        return Unsupported(
            f"{place}: {construct} is not in the machine language",
            thing=place,
            value=construct,
            next_step=f"write instead: {instead}",
        )

    def refuser(self, node: ast.AST) -> Callable[[str, str], Exception]:
        """`refuse` with the place filled in."""
        return lambda construct, instead: self.refuse(node, construct, instead)

    def hashable(self, node: ast.AST) -> None:
        """Refuse a builtin set, list or dict where Python would hash it, as classes do for real."""
        if isinstance(node, ast.Tuple):
            for part in node.elts:
                self.hashable(part)
        builtin = isinstance(node, ast.Call) and self.static(node.func) in (set, list, dict)
        if builtin or isinstance(node, _MUTABLE):
            raise self.refuse(node, "a set, list or dict where it is hashed", "Set(…) or Seq(…)")

    def fixed_order(self, node: ast.AST, source: Expr) -> None:
        """Refuse a walk whose result may depend on the order of a builtin set."""
        if self.build.is_loose(source):
            what = "a walk through a builtin set, whose order is not fixed,"
            raise self.refuse(node, what, "Set(…) around it")

    def live(self, name: str) -> Any:
        """The Python object a global, closure or builtin name stands for, or MISSING."""
        code = self.function.__code__
        if name in code.co_varnames:
            return MISSING  # a local that is not assigned yet, whatever else has its name
        if name in code.co_freevars and self.function.__closure__:
            cell = self.function.__closure__[code.co_freevars.index(name)]
            try:
                return cell.cell_contents
            except ValueError:
                return MISSING
        if name in self.function.__globals__:
            return self.function.__globals__[name]
        return getattr(builtins, name, MISSING)

    def static(self, node: ast.AST) -> Any:
        """The Python object that a dotted name stands for, if no local or state is involved."""
        if isinstance(node, ast.Name):
            if node.id in self.env or node.id in self.states or node.id in self.functions:
                return MISSING
            return self.live(node.id)
        if isinstance(node, ast.Attribute):
            base = self.static(node.value)
            if isinstance(base, type | types.ModuleType):
                return (
                    inspect.getattr_static(base, node.attr, MISSING)
                    if (isinstance(base, types.ModuleType))
                    else getattr(base, node.attr, MISSING)
                )
        return MISSING

    def member(self, name: str, state: str = "") -> Any:
        """What the class of a state (the machine's own by default) holds: Var, Const, …"""
        cls = getattr(state, "build", self.build).cls
        return inspect.getattr_static(cls, name, MISSING)

    def state_of(self, node: ast.AST) -> str:
        """ "read" or "next" when the node names a state of the machine, else empty."""
        return self.states.get(node.id, "") if isinstance(node, ast.Name) else ""


def function_scope(
    build: Build, function: types.FunctionType, states: dict[str, str] | None = None
) -> Scope:
    """The scope of a function, its source parsed with the line numbers of its file."""
    file = inspect.getsourcefile(function) or "<unknown>"
    try:
        lines, start = source_lines(function)
        module = ast.parse("\n" * (start - 1) + textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError) as error:
        raise Unsupported(
            f"the source of {function.__qualname__} cannot be read: {error}",
            thing=function.__qualname__,
            next_step="define machines in a file",
        ) from error
    tree = module.body[0]
    name = Path(file).name
    if not isinstance(tree, ast.FunctionDef):
        place = f"{name}:{start}"
        raise Unsupported(
            f"{place}: {function.__qualname__} is not a plain function (async, lambda)",
            thing=place,
            next_step="write a def",
        )
    if states is None:
        states = {tree.args.args[0].arg: "read"} if tree.args.args else {}
    return Scope(build, function, tree, name, states)


def union_parts(classes: Sequence[ast.expr]) -> list[ast.expr]:
    """The classes of `isinstance`, with `A | B` taken apart."""
    parts: list[ast.expr] = []
    for node in classes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            parts += union_parts([node.left, node.right])
        else:
            parts.append(node)
    return parts


def is_var(found: Any) -> bool:
    """Whether a class attribute declares a variable."""
    return isinstance(found, Var)


def is_const(found: Any) -> bool:
    """Whether a class attribute declares a constant."""
    return isinstance(found, Const)
