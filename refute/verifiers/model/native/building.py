"""From a machine as plain data to a library: what the checker loads only when it needs it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from refute.plain import Plain
from refute.specs.machine.ir import MachineIR
from refute.verifiers.model.native.compiler import FLAGS, built
from refute.verifiers.model.native.forms import Unsuited
from refute.verifiers.model.native.program import layout_of, program


class Builder:
    """Writes and compiles a machine's program."""

    @contextlib.contextmanager
    def library(self, data: Plain) -> Iterator[Path]:
        """The library, as a file that exists until the context ends. Raises Unsuited."""
        ir = MachineIR.from_plain(data)
        try:
            text = program(ir, layout_of(ir))
        except RecursionError as error:
            raise Unsuited("the machine is nested too deeply") from error
        with built(text, FLAGS) as path:
            yield path
