"""From a machine as plain data to a library: what the checker loads only when it needs it."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path

from refute.plain import Plain
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.symmetry import symmetry_of
from refute.verifiers.model.native.compiler import FLAGS, built
from refute.verifiers.model.native.forms import ROOMS, Cramped, Room, Unsuited, with_room
from refute.verifiers.model.native.program import SHAPE, layout_of, program


class Builder:
    """Writes and compiles the programs of one machine, each with more room than the one before.

    wanted: to begin with, the program with this digest; "" for the first. program: the last one's.
    """

    def __init__(self) -> None:
        self.wanted = self.program = ""
        self._rooms = iter(ROOMS)
        self._tried: set[str] = set()

    @contextlib.contextmanager
    def library(
        self, data: Plain, hashed: bool, patience_s: float, symmetry: bool = False
    ) -> Iterator[Path]:
        """The library, as a file that exists until the context ends.

        hashed: for a search that keeps hashes. patience_s: seconds that the compiler may take.
        symmetry: for a search of orbits. Raises Unsuited, also where more room changes nothing.
        """
        text = self._text(MachineIR.from_plain(data), hashed, symmetry)
        with built(text, FLAGS, patience_s) as path:
            yield path

    def _text(self, ir: MachineIR, hashed: bool, symmetry: bool) -> str:
        cramped = Cramped("there is no more room")
        for given in self._rooms:
            try:
                text = self._written(ir, hashed, symmetry, given)
            except Cramped as why:
                cramped = why
                continue
            known = SHAPE.sub("", text)
            if known in self._tried:
                raise Unsuited("more room does not help")
            self._tried.add(known)
            self.program = hashlib.sha256(text.encode()).hexdigest()
            if self.wanted in ("", self.program):
                self.wanted = ""
                return text
        raise cramped

    def _written(self, ir: MachineIR, hashed: bool, symmetry: bool, given: Room) -> str:
        try:
            with with_room(given):
                orbits = symmetry_of(ir) if symmetry else None
                return program(ir, layout_of(ir), hashed, orbits)
        except Unsuited:
            raise
        except MemoryError as error:
            raise Unsuited("no memory to write its program, as its types are too large") from error
        except Exception as error:  # the plain engine can still search
            what = f"{type(error).__name__}: {error}"
            raise Unsuited(f"a bug of refute: its program could not be written ({what})") from error
