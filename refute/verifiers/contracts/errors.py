"""Exceptions of the judged code by name: which class is a subclass of which, as the tree says."""

from __future__ import annotations

import ast
import builtins

from refute.verifiers.contracts.program import Found, Module, Program

# Exceptions of the harness that a running contract raises, and their bases.
KNOWN = {
    "icontract.errors.ViolationError": "AssertionError",
    "icontract.ViolationError": "AssertionError",
    "refute.specs.contract.HintBroken": "AssertionError",
}
HINT_BROKEN = "refute.specs.contract.HintBroken"


def name_of(found: Found) -> str:
    """The dotted name of an exception class; builtins without their module."""
    return found.name.replace(":", ".").removeprefix("builtins.")


def error_name(program: Program, module: Module, node: ast.expr) -> str:
    """The dotted name of the exception class that an expression names; empty if it names none."""
    match node:
        case ast.Name(id=name):
            return name_of(program.lookup(module, name))
        case ast.Attribute(value=ast.Name(id=base), attr=name):
            held = program.lookup(module, base)
            return name_of(program.attribute(held.name, name)) if held.kind == "module" else ""
    return ""


def catches(program: Program, wanted: str, error: str) -> bool | None:
    """Whether `except wanted` catches an `error`; None where that is not known."""
    seen: set[str] = set()
    todo = [error]
    unknown = False
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if name == wanted or (
            wanted in KNOWN and name.rpartition(".")[2] == wanted.rpartition(".")[2]
        ):
            return True
        bases = _bases(program, name)
        if bases is None:
            unknown = True
        else:
            todo += bases
    return None if unknown else False


def _bases(program: Program, name: str) -> list[str] | None:
    """The dotted names of a class's bases; None where they are not known."""
    if name in KNOWN:
        return [KNOWN[name]]
    builtin = getattr(builtins, name, None)
    if isinstance(builtin, type):
        return [base.__name__ for base in builtin.__bases__ if base is not object]
    module_name, _, class_name = name.rpartition(".")
    module = program.module(module_name)
    found = program.lookup(module, class_name) if module is not None else None
    if module is None or found is None or not isinstance(found.node, ast.ClassDef):
        return None
    assert found.module is not None
    return [error_name(program, found.module, base) or "?" for base in found.node.bases]
