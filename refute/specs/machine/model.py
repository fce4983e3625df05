"""`Machine`, the class that users derive from, and `Model`, a machine with its constants.

`TwoPhase.build(RM=3)` gives a `Model`. It holds the class only for users who are in the same
interpreter; engines take the IR.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refute.errors import UsageError
from refute.specs.machine.frontend import translate
from refute.specs.machine.ir import MachineIR


class Machine:
    """A state machine: variables, steps and what must hold. See docs/machines.md."""

    _state: dict[str, Any]
    _constants: Mapping[str, int]

    @classmethod
    def build(cls, **constants: int) -> Model:
        """The machine with these sizes and constants. Raises Unsupported, UsageError."""
        if cls is Machine:
            raise UsageError("Machine itself has no steps", next_step="derive a class from it")
        return Model(cls, translate(cls, constants))

    def _admit(self, name: str, value: Any) -> Any:
        raise NotImplementedError


class Model:
    """A machine with its constants resolved."""

    def __init__(self, cls: type[Machine], ir: MachineIR) -> None:
        self.cls = cls
        self.ir = ir

    @property
    def constants(self) -> dict[str, int]:
        """Sizes and constants, given or by default."""
        return dict(self.ir.constants)

    @property
    def reference(self) -> str:
        """`module:qualname` of the class."""
        return f"{self.ir.module}:{self.ir.name}"

    def __repr__(self) -> str:
        inside = ", ".join(f"{k}={v}" for k, v in self.ir.constants)
        return f"{self.ir.name}.build({inside})"
