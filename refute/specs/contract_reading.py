"""The contract that a claim means: found in the tree that judges, its types understood.

The parent reads it as syntax and never imports the module. What the judging worker needs of it
crosses as plain data (`Reading.data`).
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from refute.claim import Claim
from refute.closure import module_file, parse
from refute.errors import Unsupported
from refute.plain import Plain
from refute.site import Site
from refute.specs.contract_names import Names, names_of
from refute.specs.contract_source import Condition, Contract, contract_in, function_in, refuse
from refute.specs.contract_types import Type, read_type

MOST_CONSTANTS = 400
_IMPORTS = (ast.Import, ast.ImportFrom)
_DIGITS = re.compile(r"-?\d{1,30}\Z")


@dataclasses.dataclass(frozen=True)
class Reading:
    """module: where the contract's names are looked up. parameters: name → type, in order.

    returns: None where the result is not annotated. by_name: the judged function's parameters have
    other places than the contract's, so it must be called by name as well.
    """

    module: str
    contract: Contract
    parameters: Mapping[str, Type]
    returns: Type | None
    raises: tuple[str, ...]
    by_name: bool
    constants: tuple[Plain, ...]

    def admits(self, case: Plain) -> bool:
        """Whether a case has exactly the parameters, with values of their types."""
        if type(case) is not dict or set(case) != set(self.parameters):
            return False
        return all(kind.admits(case[name]) for name, kind in self.parameters.items())

    @property
    def data(self) -> Plain:
        """What the judging worker needs."""
        contract = self.contract
        return {
            "module": self.module,
            "path": contract.path,
            "parameters": list(self.parameters),
            "requires": [_condition(c) for c in contract.requires],
            "ensures": [_condition(c) for c in contract.ensures],
            "snapshots": [
                [s.name, ast.unparse(s.expression), list(s.parameters), s.line]
                for s in contract.snapshots
            ],
            "raises": list(self.raises),
        }


def _condition(condition: Condition) -> Plain:
    return [condition.text, list(condition.parameters), condition.line]


def reading_of(claim: Claim, site: Site) -> Reading:
    """The contract of a claim of kind "contract". Raises Unsupported with file:line."""
    module, _, qualname = claim.subject.partition(":")
    path, tree = _module(site.spec_tree, site.roots, module)
    names = names_of(tree)
    contract = contract_in(tree, path, qualname)
    parameters = {}
    for parameter in contract.parameters:
        if parameter.annotation is None:
            what = f"the parameter {parameter.name!r} has no type, so its values are unknown"
            refuse(path, contract.line, what, f"annotate it: {parameter.name}: int")
        parameters[parameter.name] = read_type(parameter.annotation, names, path)
    for condition in contract.ensures:
        _no_identity(path, condition)
    conditions = [c.expression for c in (*contract.requires, *contract.ensures)]
    own = _constants([contract.function, *conditions], names)
    constants = dict.fromkeys([*_constants_of_subject(site, claim), *own])
    return Reading(
        module=module,
        contract=contract,
        parameters=parameters,
        returns=None if contract.returns is None else _returns(contract.returns, names, path),
        raises=(*contract.raises, *claim.statement.params.get("raises", ())),
        by_name=_moved(site, module, qualname, contract),
        constants=tuple(itertools.islice(constants, MOST_CONSTANTS)),
    )


def _returns(annotation: ast.expr, names: Names, path: str) -> Type | None:
    """The result's type; one that is not understood is not judged."""
    try:
        return read_type(annotation, names, path, concrete=True)
    except Unsupported:
        return None


def _module(tree: Path, roots: tuple[str, ...], module: str) -> tuple[str, ast.Module]:
    path = module_file(tree, roots, module)
    if path is None:
        raise Unsupported(
            f"the module {module!r} is not in the tree that judges",
            thing="contract",
            value=module,
            next_step="name a module of the tree",
        )
    parsed = _parsed((tree / path).read_bytes())
    if parsed is None:
        refuse(path, 1, "the file is not Python that can be parsed", "repair the file")
    return path, parsed


@functools.lru_cache(maxsize=64)
def _parsed(source: bytes) -> ast.Module | None:
    return parse(source)


def _no_identity(path: str, condition: Condition) -> None:
    """Refuse `is` between objects: results are copies, so it would be judged wrongly."""
    for node in ast.walk(condition.expression):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for index, operator in enumerate(node.ops):
                pair = sides[index : index + 2]
                constant = any(isinstance(side, ast.Constant) for side in pair)
                if isinstance(operator, ast.Is | ast.IsNot) and not constant:
                    what = f"identity of objects is not supported: {ast.unparse(node)[:60]}"
                    refuse(path, condition.line, what, "compare values with ==")


def _moved(site: Site, module: str, qualname: str, contract: Contract) -> bool:
    """Whether the judged function's leading parameters are not the contract's, in order."""
    if site.subject_tree == site.spec_tree:
        return False
    try:
        path, tree = _module(site.subject_tree, site.roots, module)
        args = function_in(tree, path, qualname).args
    except Unsupported:
        return True
    ours = [p.name for p in contract.parameters if not p.keyword_only]
    return [a.arg for a in (*args.posonlyargs, *args.args)][: len(ours)] != ours


def _constants_of_subject(site: Site, claim: Claim) -> Iterator[Plain]:
    """Constants of the judged function, where that is another one than the contract's."""
    module, _, qualname = claim.subject.partition(":")
    if site.subject_tree != site.spec_tree:
        with contextlib.suppress(Unsupported):  # it is played all the same
            path, tree = _module(site.subject_tree, site.roots, module)
            yield from _constants([function_in(tree, path, qualname)], names_of(tree))


def _constants(todo: list[ast.AST], names: Names) -> Iterator[Plain]:
    """Constants in the nodes, and in what they name in their module."""
    seen: set[str] = set()
    while todo:
        for node in ast.walk(todo.pop()):
            if isinstance(node, ast.Constant) and type(node.value) in (int, str, bytes):
                yield node.value
                if isinstance(node.value, str) and _DIGITS.match(node.value):
                    yield int(node.value)
            elif isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                todo += [s for s in names.bound.get(node.id, ()) if not isinstance(s, _IMPORTS)]
