"""Contracts as they stand in a source text, read from its syntax tree; nothing of it runs.

A contract is what `@icontract.require`, `ensure` and `snapshot` say above a function
(https://icontract.readthedocs.io), under any name they were imported by. Reading them as syntax is
what lets a gate cut the contract out of one revision and judge the function of another with it: a
change cannot bring a decorator that lies. Whatever cannot be read so is an error with file:line,
because a condition that was left out would make the contract weaker than what people see.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import NoReturn

from refute.closure import parse
from refute.errors import Unsupported
from refute.specs.contract_names import Names, definitions, inner_definitions, names_of

RESULT, OLD = "result", "OLD"
_RAISES = re.compile(r"^\s*:raises?\s+([\w.]+(?:\s*,\s*[\w.]+)*)\s*:", re.MULTILINE)
_ALWAYS = ("True", "__debug__")  # values of `enabled=` under which a condition always counts


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of the function. annotation, default: None where there is none."""

    name: str
    annotation: ast.expr | None
    default: ast.expr | None
    keyword_only: bool = False


@dataclasses.dataclass(frozen=True)
class Condition:
    """A condition over some of the function's parameters, `result` and `OLD`.

    expression: what must be true; a named condition function is a call of it. parameters: the names
    in it that are bound by the contract; all others are the module's. text: the expression on one
    line. line: of the condition in the file. description: what the contract's author says of it.
    """

    expression: ast.expr
    parameters: tuple[str, ...]
    text: str
    line: int
    description: str


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """A value taken before the call, `OLD.name` in the conditions after it."""

    name: str
    expression: ast.expr
    parameters: tuple[str, ...]
    line: int


@dataclasses.dataclass(frozen=True)
class Contract:
    """The contract of one function, and the function it stands above.

    requires, ensures, snapshots: in icontract's own order, the one nearest to the function first.
    raises: names of the exceptions that `:raises X:` in the docstring allows. decorators: those
    that are not icontract's.
    """

    qualname: str
    path: str
    line: int
    parameters: tuple[Parameter, ...]
    returns: ast.expr | None
    requires: tuple[Condition, ...]
    ensures: tuple[Condition, ...]
    snapshots: tuple[Snapshot, ...]
    raises: tuple[str, ...]
    function: ast.FunctionDef
    decorators: tuple[ast.expr, ...] = ()


def read_contract(source: str, path: str, qualname: str) -> Contract:
    """The contract of the function called `qualname`; it may have no conditions.

    path: as messages show it. Raises Unsupported, with file:line, for a function that is not there
    exactly once, is a method, a coroutine or a generator, or has a condition that cannot be read.
    """
    module = parse(source.encode())
    if module is None:
        refuse(path, 1, "the file is not Python that can be parsed", "repair the file")
    return contract_in(module, path, qualname)


def contract_in(module: ast.Module, path: str, qualname: str) -> Contract:
    """As `read_contract`, of a module that is parsed already."""
    function = function_in(module, path, qualname)
    reader = _Reader(path, function, names_of(module))
    parts = list(reader.parts())
    snapshots = tuple(p for p in parts if isinstance(p, Snapshot))
    ensures = tuple(c for mark, c in reader.conditions if mark == "ensure")
    contract = Contract(
        qualname=qualname,
        path=path,
        line=function.lineno,
        parameters=reader.parameters,
        returns=function.returns,
        requires=tuple(c for mark, c in reader.conditions if mark == "require"),
        ensures=ensures,
        snapshots=snapshots,
        raises=_raises(function),
        function=function,
        decorators=tuple(p for p in parts if isinstance(p, ast.expr)),
    )
    _check_snapshots(path, contract)
    return contract


def contracts_in(module: ast.Module) -> list[tuple[str, int]]:
    """(qualname, line) of every function and method of the module that has a contract, in order.

    Those inside of functions come last, as `outer.inner`, so that none is left out silently.
    A class with an `icontract.invariant` is named too, because that is a contract of its methods.
    """
    names = names_of(module)
    return [
        (qualname, node.lineno)
        for qualname, node in (*definitions(module), *inner_definitions(module))
        if any(names.is_contract(d) for d in node.decorator_list)
    ]


def function_in(module: ast.Module, path: str, qualname: str) -> ast.FunctionDef:
    """The only definition of that name at the top of the module. Raises Unsupported."""
    found = [node for name, node in definitions(module) if name == qualname]
    if not found:
        for name, inside in inner_definitions(module):
            if name == qualname:
                what = f"{qualname!r} is defined inside of a function, which is not supported"
                refuse(path, inside.lineno, what, "define it at the top of the module")
        refuse(path, 1, f"there is no function {qualname!r} in the file", "name one that is there")
    node = found[-1]
    if len(found) > 1:
        refuse(path, node.lineno, f"{qualname!r} is defined {len(found)} times", "define it once")
    if isinstance(node, ast.ClassDef) or "." in qualname:
        kind = "a class" if isinstance(node, ast.ClassDef) else "a method"
        step = "put the contract above a function of the module"
        refuse(path, node.lineno, f"{qualname!r} is {kind}, which is not supported", step)
    if not isinstance(node, ast.FunctionDef):
        refuse(path, node.lineno, f"{qualname!r} is a coroutine, which is not supported", "use def")
    if not any(node is statement for statement in module.body):
        what = f"{qualname!r} is defined inside of another statement"
        refuse(path, node.lineno, what, "define it at the top of the module")
    if any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in _own_nodes(node)):
        what = f"{qualname!r} is a generator, which is not supported"
        refuse(path, node.lineno, what, "return a list")
    return node


def refusal(path: str, line: int, what: str, next_step: str) -> Unsupported:
    """The error for what cannot be read at `path:line`; next_step: what to write instead."""
    place = f"{path}:{line}"
    return Unsupported(f"{place}: {what}", thing="contract", value=place, next_step=next_step)


def refuse(path: str, line: int, what: str, next_step: str) -> NoReturn:
    """Raise `refusal(…)`."""
    raise refusal(path, line, what, next_step)


class _Reader:
    """Reads the decorators of one function."""

    def __init__(self, path: str, function: ast.FunctionDef, names: Names) -> None:
        self.path = path
        self.function = function
        self.names = names
        self.parameters = tuple(self._parameters())
        self.conditions: list[tuple[str, Condition]] = []
        self.taken = tuple(p.name for p in self.parameters)

    def _parameters(self) -> Iterator[Parameter]:
        args = self.function.args
        for extra in (args.vararg, args.kwarg):
            if extra is not None:
                self._refuse(extra.lineno, f"the parameter *{extra.arg}", "name each parameter")
        plain = [*args.posonlyargs, *args.args]
        missing = [None] * (len(plain) - len(args.defaults))
        for arg, default in zip(plain, [*missing, *args.defaults], strict=True):
            yield Parameter(arg.arg, arg.annotation, default)
        for arg, given in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            yield Parameter(arg.arg, arg.annotation, given, keyword_only=True)

    def parts(self) -> Iterator[Snapshot | ast.expr]:
        """Snapshots and foreign decorators, nearest first; conditions go into `conditions`."""
        for decorator in reversed(self.function.decorator_list):
            call = self.names.contract_call(decorator)
            if call is None:
                if self.names.is_contract(decorator):
                    what = f"the decorator {ast.unparse(decorator)[:60]}"
                    self._refuse(decorator.lineno, what, "call it with a condition, at its place")
                yield decorator
                continue
            mark = self.names.mark(call.func)
            if mark in ("require", "ensure"):
                self.conditions.append((mark, self._condition(mark, call)))
            elif mark == "snapshot":
                yield from self._snapshot(call)
            else:
                what = f"icontract's {mark} above a function"
                self._refuse(call.lineno, what, "use require, ensure or snapshot")

    def _condition(self, mark: str, call: ast.Call) -> Condition:
        wanted = ("condition", "description", "a_repr", "enabled", "error")
        given = self._arguments(call, wanted)
        condition = self._first(given, "condition", call)
        allowed = self.taken if mark == "require" else (*self.taken, RESULT, OLD)
        expression, parameters = self._expression(condition, allowed)
        description = given.get("description")
        text = description.value if isinstance(description, ast.Constant) else ""
        return Condition(
            expression=expression,
            parameters=parameters,
            text=ast.unparse(expression),
            line=condition.lineno,
            description=text if isinstance(text, str) else "",
        )

    def _snapshot(self, call: ast.Call) -> Iterator[Snapshot]:
        given = self._arguments(call, ("capture", "name", "enabled"))
        capture = self._first(given, "capture", call)
        expression, parameters = self._expression(capture, self.taken)
        name = given.get("name")
        if isinstance(name, ast.Constant) and type(name.value) is str:
            yield Snapshot(name.value, expression, parameters, capture.lineno)
        elif name is None and len(parameters) == 1:
            yield Snapshot(parameters[0], expression, parameters, capture.lineno)
        else:
            self._refuse(call.lineno, "a snapshot without a plain name", 'give it name="…"')

    def _arguments(self, call: ast.Call, wanted: Sequence[str]) -> dict[str, ast.expr]:
        """The arguments of a decorator by name. Raises Unsupported."""
        given = dict(zip(wanted, call.args, strict=False))
        odd = [k for k in call.keywords if k.arg not in wanted or k.arg in given]
        if (
            len(call.args) > len(wanted)
            or odd
            or any(isinstance(a, ast.Starred) for a in call.args)
        ):
            what = f"the arguments of {ast.unparse(call)[:60]}"
            self._refuse(call.lineno, what, "give the condition and a description")
        given |= {k.arg: k.value for k in call.keywords if k.arg}
        enabled = given.get("enabled")
        if enabled is not None and ast.unparse(enabled) not in _ALWAYS:
            what = f"a condition that counts only when {ast.unparse(enabled)[:60]}"
            self._refuse(enabled.lineno, what, "leave enabled= out, so that it always counts")
        return given

    def _first(self, given: dict[str, ast.expr], name: str, call: ast.Call) -> ast.expr:
        found = given.get(name)
        if found is None:
            self._refuse(call.lineno, f"{ast.unparse(call)[:60]} without a condition", "give one")
        return found

    def _expression(
        self, node: ast.expr, allowed: Sequence[str]
    ) -> tuple[ast.expr, tuple[str, ...]]:
        """What a condition says, and which of the allowed names it takes."""
        if isinstance(node, ast.Lambda):
            args = node.args
            if args.defaults or any(d is not None for d in args.kw_defaults):
                self._refuse(node.lineno, "a condition with default values", "use the names inside")
            return node.body, self._taken(node, args, allowed)
        function = self.names.function(node.id) if isinstance(node, ast.Name) else None
        if function is None or not isinstance(node, ast.Name):
            what = f"the condition {ast.unparse(node)[:60]}"
            self._refuse(node.lineno, what, "write a lambda, or name a function of this module")
        return self._call_of(node, function, allowed)

    def _call_of(
        self, node: ast.Name, function: ast.FunctionDef | ast.Lambda, allowed: Sequence[str]
    ) -> tuple[ast.expr, tuple[str, ...]]:
        """A call of a named condition with those of its parameters that the contract knows."""
        names = self._taken(node, function.args, allowed)
        plain = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
        leading = [n for n, p in zip(names, plain, strict=False) if n == p]
        keywords = [n for n in names if n not in leading]
        call = ast.Call(
            func=node,
            args=[ast.Name(n, ast.Load()) for n in leading],
            keywords=[ast.keyword(n, ast.Name(n, ast.Load())) for n in keywords],
        )
        for inner in ast.walk(call):
            ast.copy_location(inner, node)
        return call, names

    def _taken(
        self, node: ast.expr, args: ast.arguments, allowed: Sequence[str]
    ) -> tuple[str, ...]:
        """The parameters that get a value of the contract; those with a default may go without."""
        plain = [*args.posonlyargs, *args.args]
        optional = {a.arg for a in plain[len(plain) - len(args.defaults) :]}
        optional |= {
            a.arg for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None
        }
        names = [a.arg for a in (*plain, *args.kwonlyargs)]
        unknown = [n for n in names if n not in allowed and n not in optional]
        unknown += [a.arg for a in (args.vararg, args.kwarg) if a is not None]
        if unknown:
            what = f"a condition over {unknown[0]!r}, which is none of {', '.join(allowed)}"
            self._refuse(node.lineno, what, f"name parameters of {self.function.name}")
        return tuple(n for n in names if n in allowed)

    def _refuse(self, line: int, what: str, next_step: str) -> NoReturn:
        refuse(self.path, line, f"{what} cannot be read as a contract", next_step)


def _check_snapshots(path: str, contract: Contract) -> None:
    """Every `OLD.name` has its snapshot, no two share a name, and OLD is used in no other way."""
    names = [s.name for s in contract.snapshots]
    twice = next((s for s in contract.snapshots if names.count(s.name) > 1), None)
    if twice is not None:
        refuse(path, twice.line, f"two snapshots are called {twice.name!r}", "rename one")
    for condition in contract.ensures:
        if OLD not in condition.parameters:
            continue
        nodes = list(ast.walk(condition.expression))
        plain = [n for n in nodes if isinstance(n, ast.Name) and n.id == OLD]
        taken = [
            n.attr
            for n in nodes
            if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == OLD
        ]
        missing = sorted(set(taken) - set(names))
        if missing:
            what = f"OLD.{missing[0]} has no snapshot"
            refuse(path, condition.line, what, f"add @snapshot(…, name={missing[0]!r})")
        if len(plain) != len(taken):
            refuse(path, condition.line, "OLD is used as a whole", "name a snapshot: OLD.name")


def _raises(function: ast.FunctionDef) -> tuple[str, ...]:
    """Exceptions that the docstring's `:raises X:` fields name, in order."""
    text = ast.get_docstring(function) or ""
    found = [name.strip() for m in _RAISES.finditer(text) for name in m[1].split(",")]
    return tuple(dict.fromkeys(found))


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions and classes inside it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
        ):
            yield from _own_nodes(child)
