"""A native search in this process, for benchmarks and tests; `refute check` searches in workers."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from refute.budget import GIB
from refute.specs.machine.ir import MachineIR
from refute.verifiers.model.native.compiler import FLAGS, built
from refute.verifiers.model.native.program import layout_of, program
from refute.verifiers.model.native.search import Library, NativeSearch


def native_search(
    ir: MachineIR, memory: int = GIB, cores: int = 1, flags: Sequence[str] = FLAGS
) -> NativeSearch:
    """A search that has not begun. Raises Unsuited.

    A library holds one search, so each one is loaded from a copy of its own.
    """
    layout = layout_of(ir)
    with built(program(ir, layout), flags) as path, tempfile.TemporaryDirectory() as directory:
        copy = shutil.copy(path, Path(directory) / path.name)
        return NativeSearch(ir, Library(Path(copy), layout.words), memory, cores)
