"""From a machine as plain data to the libraries that judge its behaviours."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from refute.plain import Plain
from refute.specs.machine.ir import MachineIR
from refute.verifiers.model.native.compiler import FLAGS, built
from refute.verifiers.model.native.forms import ROOMS, Cramped, Room, Unsuited, with_room
from refute.verifiers.model.native.graph_program import graph_programs
from refute.verifiers.model.native.program import SHAPE


class GraphBuilder:
    """Writes and compiles the programs of one machine, each time with more room than before."""

    def __init__(self) -> None:
        self._rooms = iter(ROOMS)
        self._tried: set[str] = set()

    @contextlib.contextmanager
    def libraries(self, data: Plain, patience_s: float) -> Iterator[list[Path]]:
        """The machine's library, and those of the machines it refines, in one directory.

        They exist until the context ends. patience_s: seconds for the compiler. Raises Unsuited.
        """
        texts = self._texts(MachineIR.from_plain(data))
        until = time.monotonic() + patience_s
        with contextlib.ExitStack() as stack:
            paths = []
            for text in texts:
                left_s = max(1.0, until - time.monotonic())
                paths.append(stack.enter_context(built(text, FLAGS, left_s)))
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            yield [
                Path(shutil.copy(path, directory / f"{at}-{path.name}"))
                for at, path in enumerate(paths)
            ]

    def _texts(self, ir: MachineIR) -> list[str]:
        cramped = Cramped("there is no more room")
        for given in self._rooms:
            try:
                texts = self._written(ir, given)
            except Cramped as why:
                cramped = why
                continue
            known = SHAPE.sub("", "\n".join(texts))
            if known in self._tried:
                raise Unsuited("more room does not help")
            self._tried.add(known)
            return texts
        raise cramped

    def _written(self, ir: MachineIR, given: Room) -> list[str]:
        try:
            with with_room(given):
                return graph_programs(ir)
        except Unsuited:
            raise
        except Exception as error:  # the plain engine can still judge
            what = f"{type(error).__name__}: {error}"
            raise Unsuited(f"a bug of refute: its program could not be written ({what})") from error
