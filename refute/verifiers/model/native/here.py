"""Native searches and walks in this process, for benchmarks and tests; `check` has workers."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from refute.budget import GIB
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.symmetry import Symmetry, symmetry_of
from refute.verifiers.model.native.compiler import FLAGS, built
from refute.verifiers.model.native.graph_program import graph_programs
from refute.verifiers.model.native.hashed import HashedSearch
from refute.verifiers.model.native.liveness import NativeLiveness
from refute.verifiers.model.native.orbits import OrbitSearch
from refute.verifiers.model.native.program import layout_of, program
from refute.verifiers.model.native.search import Library, NativeSearch
from refute.verifiers.model.native.walks import WalkingLibrary, Walks


def native_search(
    ir: MachineIR,
    memory: int = GIB,
    cores: int = 1,
    flags: Sequence[str] = FLAGS,
    hashed: bool = False,
) -> NativeSearch:
    """A search that has not begun. Raises Unsuited."""
    with _copy(ir, flags, hashed) as (path, words):
        made = HashedSearch if hashed else NativeSearch
        return made(ir, Library(path, words), memory, cores)


def native_orbits(
    ir: MachineIR, cores: int = 1, flags: Sequence[str] = FLAGS, hashed: bool = False
) -> OrbitSearch:
    """A search up to permutations that has not begun. Raises Unsuited."""
    with _copy(ir, flags, hashed, symmetry_of(ir)) as (path, words):
        return OrbitSearch(ir, Library(path, words), GIB, cores, hashed)


def native_walks(
    ir: MachineIR,
    seed: int,
    walks: int,
    depth: int,
    cores: int = 1,
    flags: Sequence[str] = FLAGS,
) -> Walks:
    """Walks that have not begun. Raises Unsuited."""
    with _copy(ir, flags) as (path, words):
        return Walks(ir, WalkingLibrary(path, words), GIB, cores).plan(seed, walks, depth)


def native_liveness(
    ir: MachineIR, memory: int = GIB, flags: Sequence[str] = FLAGS
) -> NativeLiveness:
    """Temporal properties and refinements that are not judged yet. Raises Unsuited."""
    with contextlib.ExitStack() as stack:
        paths = [stack.enter_context(_copied(text, flags)) for text in graph_programs(ir)]
        return NativeLiveness(ir, paths, memory)


@contextlib.contextmanager
def _copied(text: str, flags: Sequence[str]) -> Iterator[Path]:
    """A library of its own, as one holds one graph."""
    with built(text, flags) as path, tempfile.TemporaryDirectory() as directory:
        yield Path(shutil.copy(path, Path(directory) / path.name))


@contextlib.contextmanager
def _copy(
    ir: MachineIR, flags: Sequence[str], hashed: bool = False, symmetry: Symmetry | None = None
) -> Iterator[tuple[Path, int]]:
    """A library of its own, as one holds one search, and the words of a state."""
    layout = layout_of(ir)
    with (
        built(program(ir, layout, hashed, symmetry), flags) as path,
        tempfile.TemporaryDirectory() as directory,
    ):
        yield Path(shutil.copy(path, Path(directory) / path.name)), layout.words
