"""What a contract says of a case and an answer. Runs beside the specs, away from the subject.

Conditions are compiled from the text the parent read and evaluated in the namespace of the judging
tree's own module, so a subject can neither see them nor touch what they say. A `require` that is
False discards the case, whatever the others do; one that raises otherwise makes it unfit. After the
call an `ensure` that is false, or cannot be evaluated on this answer, is broken; a name that does
not exist is the contract's own fault.
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from refute import plain
from refute.plain import Plain
from refute.specs.property import OWN_FAULTS, place

SHOWN = 200
# A check that fails is a broken promise even where AssertionError is allowed.
_NEVER_MEANT = ("icontract.errors.ViolationError", "refute.specs.contract.HintBroken")

Case = Mapping[str, Plain]


class _Condition(NamedTuple):
    """holds: the condition as a function of its parameters. said: what a report calls it."""

    function: Callable[..., Any]
    parameters: tuple[str, ...]
    said: str

    def value(self, given: Mapping[str, Any]) -> Any:
        """What it gives for these arguments."""
        return self.function(**{name: given[name] for name in self.parameters})


class _Compiled(NamedTuple):
    """A contract ready to be evaluated. parts: the conjuncts of its requires."""

    requires: tuple[_Condition, ...]
    ensures: tuple[_Condition, ...]
    snapshots: tuple[tuple[str, _Condition], ...]
    parts: tuple[_Condition, ...]
    raises: tuple[str, ...]
    names: Mapping[str, Any]


def admit(contract: str, cases: Sequence[Case]) -> list[tuple[str, str]]:
    """For each case ("held" | "discarded" | "unfit", why), by its requires.

    contract: `Reading.data` as text of `refute.plain.dumps`.
    """
    compiled = _compiled(contract)
    return [_admit(compiled, case) for case in cases]


def _admit(compiled: _Compiled, case: Case) -> tuple[str, str]:
    given = copy.deepcopy(case)
    raised = ""
    for condition in compiled.requires:
        try:
            if not condition.value(given):
                return "discarded", ""
        except Exception as error:
            raised = raised or f"{condition.said} raised {_told(error)}"
    return ("unfit", raised) if raised else ("held", "")


def closeness(contract: str, cases: Sequence[Case]) -> list[tuple[int, bool]]:
    """For each case how many conjuncts of its requires hold, and whether it satisfies all."""
    compiled = _compiled(contract)
    return [
        (sum(_holds(p, case) for p in compiled.parts), _admit(compiled, case)[0] == "held")
        for case in cases
    ]


def _holds(condition: _Condition, case: Case) -> bool:
    try:
        return bool(condition.value(copy.deepcopy(case)))
    except Exception:  # it says nothing about how to satisfy the others
        return False


def judge(
    contract: str, cases: Sequence[Case], answers: Sequence[Sequence[Plain]]
) -> list[tuple[str, str]]:
    """For each case and its answer ("held" | "allowed" | "broken" | "unfit", why).

    answers: ("returned", value, arguments as the call left them), ("raised", type).
    "allowed": it raised an exception that the contract names.
    """
    compiled = _compiled(contract)
    return [_judge(compiled, c, a) for c, a in zip(cases, answers, strict=True)]


def _judge(compiled: _Compiled, case: Case, answer: Sequence[Plain]) -> tuple[str, str]:
    if answer[0] == "raised":
        allowed = _is_allowed(compiled, answer[1])
        return ("allowed", "") if allowed else ("broken", f"{answer[1]} is not allowed")
    _, result, after = answer
    old = SimpleNamespace()
    for name, snapshot in compiled.snapshots:
        try:
            setattr(old, name, snapshot.value(copy.deepcopy(case)))
        except Exception as error:
            return "unfit", f"{snapshot.said} raised {_told(error)}"
    given = {**after, "result": result, "OLD": old}
    for condition in compiled.ensures:
        try:
            if not condition.value(given):
                return "broken", condition.said
        except OWN_FAULTS as error:
            return "unfit", f"{condition.said} raised {_told(error)}"
        except Exception as error:
            return "broken", f"{condition.said} (it raised {_told(error)})"
    return "held", ""


def _told(error: Exception) -> str:
    text = str(error)[:SHOWN]
    return f"{type(error).__name__} at {place(error)}" + (f": {text}" if text else "")


def _is_allowed(compiled: _Compiled, raised: str) -> bool:
    if raised in compiled.raises or _own_name(compiled, raised) in compiled.raises:
        return True
    kind = _class(compiled, raised)
    if kind is None or raised in _NEVER_MEANT:
        return False
    named = [_class(compiled, name) for name in compiled.raises]
    return any(issubclass(kind, allowed) for allowed in named if allowed is not None)


def _own_name(compiled: _Compiled, raised: str) -> str:
    """`Name` for an exception of the module itself, which may be named without the module."""
    module, _, name = raised.rpartition(".")
    return name if module == compiled.names.get("__name__") else raised


def _class(compiled: _Compiled, name: str) -> type[BaseException] | None:
    """The exception of that name, as far as the judging module knows it; nothing is imported."""
    module, _, last = name.rpartition(".")
    found: Any
    if not module:
        found = compiled.names.get(last, getattr(builtins, last, None))
    elif module in sys.modules:
        found = getattr(sys.modules[module], last, None)
    else:
        found = getattr(compiled.names.get(module), last, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


@functools.lru_cache(maxsize=8)
def _compiled(text: str) -> _Compiled:
    """Raises whatever importing the module raises."""
    data = plain.loads(text)
    names = vars(importlib.import_module(data["module"]))
    path = data["path"]

    def condition(kind: str, row: Sequence[Plain]) -> _Condition:
        expression, parameters, line = row
        said = f"{kind} {expression} ({path}:{line})"
        return _condition(expression, parameters, line, said, path, names)

    requires = [condition("require", row) for row in data["requires"]]
    parts = [condition("require", part) for row in data["requires"] for part in _conjuncts(row)]
    return _Compiled(
        requires=tuple(requires),
        ensures=tuple(condition("ensure", row) for row in data["ensures"]),
        snapshots=tuple((row[0], condition("snapshot", row[1:])) for row in data["snapshots"]),
        parts=tuple(parts),
        raises=tuple(data["raises"]),
        names=names,
    )


def _condition(
    text: str,
    parameters: Sequence[str],
    line: int,
    said: str,
    path: str,
    names: dict[str, Any],
) -> _Condition:
    tree = ast.parse(f"lambda {', '.join(parameters)}: {text}", mode="eval")
    ast.increment_lineno(tree, line - 1)
    function = eval(compile(tree, path, "eval"), names)
    return _Condition(function, tuple(parameters), said)


def _conjuncts(row: Sequence[Plain]) -> list[Sequence[Plain]]:
    """The parts of `a and b and c`, and of `a < b < c`, each with its parameters."""
    text, parameters, line = row
    found: list[ast.expr] = []
    todo: list[ast.expr] = [ast.parse(text, mode="eval").body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            todo += node.values
        elif isinstance(node, ast.Compare) and len(node.ops) > 1:
            sides = [node.left, *node.comparators]
            todo += [
                ast.Compare(left, [op], [right])
                for left, op, right in zip(sides, node.ops, sides[1:], strict=False)
            ]
        else:
            found.append(node)
    return [[ast.unparse(node), parameters, line] for node in found]
