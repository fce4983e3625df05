"""`Machine`, the class that users derive from, and `Model`, a machine with its constants.

`TwoPhase.build(RM=3)` gives a `Model`. It holds the class only for users who are in the same
interpreter; engines take the IR.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from refute.claim import Claim
from refute.errors import UsageError
from refute.site import Site
from refute.specs.machine.channels import Ends
from refute.specs.machine.frontend import FrontEnd
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.parts import Seat, ends_of
from refute.specs.machine.resolve import Resolver
from refute.specs.machine.space import Space
from refute.specs.machine.statement import claims_of
from refute.specs.machine.types import Type


class Machine:
    """A state machine: variables, steps and what must hold. See docs/machines.md."""

    _state: dict[str, Any]
    _constants: Mapping[str, int | str]
    _types: tuple[Resolver, Mapping[str, Type]]
    _front: FrontEnd
    _around: tuple[Any, Seat, tuple[Any, ...]] | None = None
    _crashes: ClassVar[bool] = False

    def __init_subclass__(cls, crashes: bool = False) -> None:
        """crashes: between any two steps all processes may die: `class X(M, crashes=True)`."""
        cls._crashes = cls._crashes or crashes

    @classmethod
    def build(cls, **constants: int | str) -> Model:
        """The machine with these sizes and constants; "any" is any size of a Sort.

        Raises Unsupported, UsageError.
        """
        if cls is Machine:
            raise UsageError("Machine itself has no steps", next_step="derive a class from it")
        front = FrontEnd(cls, constants)
        return Model(cls, front.ir(), front.resolver)

    def _admit(self, name: str, value: Any) -> Any:
        resolver, kinds = self._types
        return resolver.thaw(resolver.freeze(value, kinds[name]), kinds[name])

    def _ends(self, name: str) -> Ends:
        """Where a channel variable of this machine lies."""
        return ends_of(self, name)


class Model:
    """A machine with its constants resolved."""

    def __init__(self, cls: type[Machine], ir: MachineIR, resolver: Resolver) -> None:
        self.cls = cls
        self.ir = ir
        self._resolver = resolver

    def space(self) -> Space:
        """The reachable states, to ask about from Python: `states`, `enabled`, `predecessors`."""
        return Space(self.ir, self._resolver)

    @property
    def constants(self) -> dict[str, int | str]:
        """Sizes and constants, given or by default."""
        return dict(self.ir.constants)

    @property
    def reference(self) -> str:
        """`module:qualname` of the class."""
        return f"{self.ir.module}:{self.ir.name}"

    def claims(self) -> tuple[Claim, ...]:
        """One claim for each property, to be judged where `site` says."""
        return claims_of(self.ir, self.reference, self._relative())

    def site(self) -> Site:
        """The tree the machine's module comes from, as it is imported in this interpreter."""
        root = self._root()
        return Site(root, root, (".",))

    def _root(self) -> Path:
        depth = self.ir.module.count(".")
        file = Path(self.ir.file).resolve()
        return file.parents[depth + (file.name == "__init__.py")]

    def _relative(self) -> str:
        return Path(self.ir.file).resolve().relative_to(self._root()).as_posix()

    def __repr__(self) -> str:
        inside = ", ".join(f"{k}={v}" for k, v in self.ir.constants)
        return f"{self.ir.name}.build({inside})"
