"""Random machines of `wide_machines`, built, compared in batches, and forgotten again."""

from __future__ import annotations

import collections
import contextlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

from batches import Asked, differences, together
from test_machine_meanings import compare, executed
from wide_machines import source

from refute.errors import Unsupported
from refute.machine import Model

BATCH = 16
STATES = 25  # of each machine whose steps and predicates are compared
WALKED = 4  # of so many machines, one is walked and played too


@contextlib.contextmanager
def built(directory: Path, seeds: range) -> Iterator[dict[int, Model | None]]:
    """The machines by seed; None for those that the language refuses."""
    names = {seed: f"wide_machine_{seed}" for seed in seeds}
    found: dict[int, Model | None] = {}
    for seed, name in names.items():
        file = directory / f"{name}.py"
        file.write_text(source(seed))
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        try:
            found[seed] = executed(name, spec).M.build()
        except Unsupported:
            found[seed] = None
    try:
        yield found
    finally:
        for name in names.values():
            sys.modules.pop(name, None)
            (directory / f"{name}.py").unlink()


def judged(directory: Path, seeds: range, tiny: str = "") -> tuple[dict[str, int], dict[int, str]]:
    """How many were compared, refused and declined; and by seed what differs."""
    counts: collections.Counter[str] = collections.Counter()
    wrong: dict[int, str] = {}
    with built(directory, seeds) as machines:
        models = {seed: model for seed, model in machines.items() if model is not None}
        counts["refused"] = len(machines) - len(models)
        with together([m.ir for m in models.values()], tiny=tiny) as made:
            for (seed, model), asked in zip(models.items(), made, strict=True):
                if isinstance(asked, Asked):
                    counts["compared"] += 1
                    found = _found(model, asked, walked=seed % WALKED == 0)
                    wrong.update({seed: found} if found else {})
                else:
                    counts[f"declined: {asked}"] += 1
    return dict(counts), wrong


def _found(model: Model, asked: Asked, walked: bool) -> str:
    try:
        found = differences(model.ir, asked, STATES)
        if walked and not found:
            compare(model)
    except Exception:  # whatever stops a comparison is a finding
        return traceback.format_exc(limit=-2)
    return str(found)
