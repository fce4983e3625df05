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
    def library(self, data: Plain, hashed: bool, patience_s: float) -> Iterator[Path]:
        """The library, as a file that exists until the context ends. Raises Unsuited.

        hashed: for a search that keeps hashes. patience_s: seconds that the compiler may take.
        """
        ir = MachineIR.from_plain(data)
        try:
            text = program(ir, layout_of(ir), hashed)
        except Unsuited:
            raise
        except Exception as error:  # the plain engine can still search
            what = f"{type(error).__name__}: {error}"
            raise Unsuited(f"a bug of refute: its program could not be written ({what})") from error
        with built(text, FLAGS, patience_s) as path:
            yield path
