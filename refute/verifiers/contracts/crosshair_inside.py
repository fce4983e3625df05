"""CrossHair in the worker: the subject run on symbolic inputs, and concrete ones of each path.

CrossHair (https://github.com/pschanely/CrossHair) runs the real function with values that remember
what was asked of them; Z3 finds inputs for each way through it. Here only those inputs matter. The
conditions are the spec tree's, run beside the subject, which may do with them what it likes: all
that comes of it is a list of inputs that the parent plays anew, in other workers.

Every path is reported as soon as it is done, so that a subject which then hangs, or is killed for
what it eats, takes nothing back.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
import types
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

from crosshair.core import ExceptionFilter, deep_realize, explore_paths
from crosshair.core_and_libs import NoTracing
from crosshair.options import DEFAULT_OPTIONS
from crosshair.statespace import RootNode, StateSpace
from crosshair.util import IgnoreAttempt

from refute import plain
from refute.errors import NotPlainData
from refute.plain import Plain
from refute.specs import contract as hints
from refute.specs.answers import resolve
from refute.specs.contract_source import OLD, RESULT, Contract, Parameter, read_contract, refuse

Report = Callable[[Plain, bool], object]
Stage = Literal["require", "call", "done"]
_untraced: Callable[[], AbstractContextManager[object]] = NoTracing
PATHS_IN_TIME = 8  # a path may take this share of all CPU seconds, and at least one second


def propose(order: Mapping[str, Plain], report: Report) -> dict[str, Plain]:
    """Run the subject symbolically, and report inputs of each path. Returns counts.

    order: subject ("module:qualname"), source and path of the spec tree's file, qualname in it;
    raises: names of allowed exceptions; cpu_s, paths: at most; suspects: stop after so many paths
    that seem to break the contract. report: called with the inputs by parameter, and whether that
    path seemed to break the contract. Raises Unsupported, with file:line, for a contract that
    cannot be read or a parameter whose type is not known.
    """
    vars(hints)["last_measure"] = _no_measure  # it reads sources, which is not to be traced
    contract = read_contract(order["source"], order["path"], order["qualname"])
    subject = resolve(order["subject"])
    known = namespace(sys.modules[order["subject"].partition(":")[0]], order["source"])
    run = Run(contract, inspect.unwrap(subject), known)
    allowed = (*contract.raises, *order["raises"])
    watch = Watch(run, allowed, report, order["suspects"])
    cpu_s: float = order["cpu_s"]
    options = dataclasses.replace(
        DEFAULT_OPTIONS,
        per_condition_timeout=cpu_s,
        per_path_timeout=max(1.0, cpu_s / PATHS_IN_TIME),
        max_iterations=order["paths"],
    )
    explore_paths(run, run.signature, options, RootNode(), watch, watch.skip)
    return {"paths": watch.paths, "skipped": watch.skipped}


def _no_measure(*_: object) -> None:
    return None


def namespace(module: types.ModuleType, source: str) -> dict[str, Any]:
    """The names that conditions mean: those of the source text, run as if it were the module.

    The module itself where it is the same text, or where the text cannot be run beside the
    subject's tree; the parent judges with the right one in any case.
    """
    file = getattr(module, "__file__", None)
    if file is None or Path(file).read_text(encoding="utf-8") == source:
        return vars(module)
    other = types.ModuleType(module.__name__)
    kept = {k: v for k, v in vars(module).items() if k.startswith("__")}
    vars(other).update(kept)
    try:
        exec(compile(source, file, "exec"), vars(other))
    except Exception:
        return vars(module)
    return vars(other)


class Run:
    """One contract and its subject: called with inputs, says whether the contract held of them."""

    def __init__(
        self, contract: Contract, subject: Callable[..., Any], known: dict[str, Any]
    ) -> None:
        self.contract = contract
        self.subject = subject
        self.stage: Stage = "require"
        self._known = known
        self._requires = [self._part(c.expression, c.parameters) for c in contract.requires]
        self._ensures = [self._part(c.expression, c.parameters) for c in contract.ensures]
        self._olds = {s.name: self._part(s.expression, s.parameters) for s in contract.snapshots}

    @property
    def signature(self) -> inspect.Signature:
        """The parameters with their types; Unsupported where one has none."""
        made = [
            inspect.Parameter(
                parameter.name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                annotation=self._type(parameter),
            )
            for parameter in self.contract.parameters
        ]
        return inspect.Signature(made)

    def __call__(self, inputs: inspect.BoundArguments) -> bool:
        """Whether the contract holds of the inputs. Raises IgnoreAttempt outside of it."""
        values: dict[str, Any] = dict(inputs.arguments)
        self.stage = "require"
        for condition in self._requires:
            if not condition(values):
                raise IgnoreAttempt
        old = types.SimpleNamespace(**{name: take(values) for name, take in self._olds.items()})
        self.stage = "call"
        named = {p.name: values[p.name] for p in self.contract.parameters if p.keyword_only}
        result = self.subject(*[v for k, v in values.items() if k not in named], **named)
        self.stage = "done"
        after = {**values, RESULT: result, OLD: old}
        for condition in self._ensures:  # noqa: SIM110  all(…) would keep both ways in one path
            if not condition(after):
                return False
        return True

    def _part(
        self, expression: ast.expr, names: tuple[str, ...]
    ) -> Callable[[Mapping[str, Any]], Any]:
        """The expression as a function of values by name."""
        arguments = [ast.arg(name) for name in names]
        taken = ast.arguments([], arguments, None, [], [], None, [])
        made = self._evaluated(ast.Lambda(taken, expression))
        return lambda values: made(*[values[name] for name in names])

    def _type(self, parameter: Parameter) -> Any:
        path, line = self.contract.path, self.contract.line
        if parameter.annotation is None:
            what = f"the parameter {parameter.name!r} has no annotation"
            refuse(path, line, what, "annotate it")
        try:
            found = self._evaluated(parameter.annotation)
            return eval(found, self._known) if isinstance(found, str) else found
        except Exception as error:
            text = ast.unparse(parameter.annotation)
            what = f"the annotation {text} of {parameter.name!r} raises {type(error).__name__}"
            refuse(path, parameter.annotation.lineno, what, "annotate it with types of the module")

    def _evaluated(self, expression: ast.expr) -> Any:
        whole = ast.fix_missing_locations(ast.Expression(expression))
        return eval(compile(whole, self.contract.path, "eval"), self._known)


class Watch:
    """Told of every finished path: finds concrete inputs for it, and reports them."""

    def __init__(self, run: Run, allowed: tuple[str, ...], report: Report, suspects: int) -> None:
        self.run = run
        self.allowed = frozenset(name.rpartition(".")[2] for name in allowed)
        self.report = report
        self.suspects = suspects
        self.paths = self.skipped = 0

    def __call__(
        self,
        space: StateSpace,
        before: inspect.BoundArguments,
        after: inspect.BoundArguments,
        held: Any,
        error: BaseException | None,
        trace: object,
    ) -> bool:
        """Whether CrossHair may stop; see `crosshair.core.explore_paths` for the arguments."""
        with _untraced():
            stage = self.run.stage
            if stage == "require":
                return False
            suspected = held is False or (error is not None and not self._allows(stage, error))
        with ExceptionFilter():
            space.detach_path()
            with _untraced():
                return self._take(dict(deep_realize(before.arguments)), suspected)
        self.skipped += 1
        return False

    def skip(self) -> None:
        """A path that went another way the second time."""
        self.skipped += 1

    def _take(self, case: dict[str, Any], suspected: bool) -> bool:
        try:
            plain.encode(case)
        except NotPlainData:
            self.skipped += 1
            return False
        self.paths += 1
        self.suspects -= suspected
        self.report(case, suspected)
        return self.suspects <= 0

    def _allows(self, stage: Stage, error: BaseException) -> bool:
        names = {kind.__name__ for kind in type(error).__mro__}
        return stage == "call" and bool(names & self.allowed)
