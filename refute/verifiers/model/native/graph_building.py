"""From a machine as plain data to the libraries that judge its behaviours."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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

        They exist until the context ends. patience_s: seconds for the compiler, which makes all at
        the same time. Raises Unsuited.
        """
        texts = self._texts(MachineIR.from_plain(data))
        with (
            tempfile.TemporaryDirectory() as directory,
            ThreadPoolExecutor(len(texts)) as pool,
        ):
            places = [Path(directory) / f"graph{at}.so" for at in range(len(texts))]
            waiting = [
                pool.submit(_made, text, place, patience_s)
                for text, place in zip(texts, places, strict=True)
            ]
            for made in waiting:
                made.result()
            yield places

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
        except MemoryError as error:
            raise Unsuited("no memory to write its program, as its types are too large") from error
        except Exception as error:  # the plain engine can still judge
            what = f"{type(error).__name__}: {error}"
            raise Unsuited(f"a bug of refute: its program could not be written ({what})") from error


def _made(text: str, place: Path, patience_s: float) -> None:
    """Put the library made of a text where it is asked for; one copy holds one graph."""
    with built(text, FLAGS, patience_s) as path:
        shutil.copy(path, place)
