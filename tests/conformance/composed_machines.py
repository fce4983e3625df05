"""Random machines made of parts, and their steps as the real classes take them.

Source text is drawn from a seed. `explored` knows nothing of the IR of parts: it runs the classes
themselves, tries every step and every two of them as a rendezvous, and tells places of processes
apart by the line their generators stand at.
"""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import random
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from refute.specs.machine.errors import Disabled
from refute.specs.machine.handover import Meeting
from refute.specs.machine.language import Running, running
from refute.specs.machine.plainrun import Explore, PlainRun
from refute.specs.machine.values import unpack_value

HEAD = """
from __future__ import annotations
from typing import Annotated, Self
from refute.machine import *

V = Annotated[int, Range(0, 2)]

class K(Sort, size=2):
    pass
"""
KINDS = (
    "capacity=0",
    "capacity=1",
    "capacity=2",
    "capacity=1, lossy=True",
    "capacity=2, lossy=True, duplicating=True",
    "capacity=2, reordering=True",
    "capacity=2, reordering=True, duplicating=True, lossy=True",
    "capacity=1, initial=[1]",
)
LOCAL = (
    "self.x = {v}",
    "self.x = (self.x + 1) % 3",
    "when(self.x != {v})",
    "when(self.peer != {v})",
    "self.x = any_of([0, {v}])",
)
SENDS = (
    "self.{c}.send(self.x)",
    "self.{c}.send({v})",
    "self.{c}.send(self.peer)",
    "if self.x == {v}:\n    self.{c}.send({v})\nelse:\n    self.x = {v}",
    "self.{c}.send(0)\nself.{c}.send(1)",
)
RECEIVES = (
    "self.x = self.{c}.receive()",
    "self.{c}.receive()",
    "m = self.{c}.receive()\nif m == {v}:\n    self.x = m",
    "m = self.{c}.receive()\nwhen(m != {v})",
    "if self.peer == {v}:\n    self.x = self.{c}.receive()",
)


def source(seed: int, processes: bool) -> str:
    """A machine `Whole` with two kinds of parts, one of them in two places."""
    rng = random.Random(seed)
    lines = [HEAD, _part("Left", rng, processes), _part("Right", rng, processes and seed % 2 == 0)]
    if seed % 5 == 0:
        lines[1] = _crashing(lines[1], rng)
    kinds = [rng.choice(KINDS) for _ in range(2)]
    if seed % 2:
        kinds[0] = "capacity=0"
    lines.append(
        f"""
class Whole(Machine):
    a: Var[Channel[V]] = channel({kinds[0]})
    b: Var[Map[K, Channel[V]]] = channel({kinds[1]})
    left: Part[Left] = part(
        Left, b=lambda self: self.b[K(0)], peer=lambda self: self.rights[K(1)].x
    )
    rights: Part[Map[K, Right]] = part(Right, peer=lambda self, k: self.left.x)
"""
    )
    return "\n".join(lines)


def _part(name: str, rng: random.Random, process: bool) -> str:
    head = f"""
class {name}(Machine):
    a: Port[Channel[V]] = port()
    b: Port[Channel[V]] = port()
    peer: Port[V] = port()
    x: Var[V] = var({rng.randrange(2)})
"""
    kinds = rng.sample((SENDS, RECEIVES), 2) if name == "Left" else [SENDS, RECEIVES]
    bodies = [_body(rng, kind) for kind in kinds]
    if process:
        loop = rng.random() < 0.7
        code = "\nself = yield\n".join(bodies) + "\nself = yield"
        body = f"while True:\n{_indented(code)}" if loop else code
        return head + _indented(f"\n@process\ndef run(self) -> Steps[Self]:\n{_indented(body)}")
    actions = (
        f"\n@action\ndef act{n}(self) -> None:\n{_indented(body)}" for n, body in enumerate(bodies)
    )
    return head + _indented("\n".join(actions))


def _crashing(part: str, rng: random.Random) -> str:
    text = part.replace("(Machine)", "(Machine, crashes=True)")
    if rng.random() < 0.5:
        text = text.replace("] = var(0)", "] = var(0, volatile=True)")
        text = text.replace("] = var(1)", "] = var(1, volatile=True)")
    back = f"@recover\ndef back(self) -> None:\n    self.x = (self.x + {rng.randrange(3)}) % 3"
    if rng.random() < 0.6:
        back = back.replace("None", "Steps[Self]")
        back += "\n    self = yield\n    self.x = 1"
    seen = f"@observe\ndef seen(self) -> bool:\n    return self.x != {rng.randrange(3)}"
    return f"{text}\n{_indented(back)}\n\n{_indented(seen)}\n"


def _body(rng: random.Random, kind: tuple[str, ...]) -> str:
    lines = [rng.choice(kind)]
    if rng.random() < 0.4:
        lines.insert(rng.randrange(2), rng.choice(LOCAL))
    return "\n".join(line.format(v=rng.randrange(3), c=rng.choice("aab")) for line in lines)


def _indented(code: str) -> str:
    return "\n".join(f"    {line}" for line in code.split("\n"))


def loaded(text: str, folder: Path, name: str) -> ModuleType:
    """The source as a module."""
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    return executed(spec)


def executed(spec: ModuleSpec) -> ModuleType:
    """The module of a spec."""
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class Explored:
    """All states of a class, found by running it. counts: distinct and generated."""

    def __init__(self, cls: type, most: int) -> None:
        self.run = PlainRun(cls, {})
        self.ir = self.run.ir
        self.alone = [m for m in self.run.moves() if m[0] not in self._joint()]
        self.most = most

    def _joint(self) -> set[str]:
        return {a.name for a in self.ir.actions if a.meets}

    def counts(self) -> tuple[int, int] | None:
        """Distinct and generated; None for a machine with too many states."""
        every = [[unpack_value(v) for v in variable.initial] for variable in self.ir.variables]
        starts = list(itertools.product(*every))
        seen: dict[Any, tuple[Any, tuple[Any, ...]]] = {}
        for start in starts:
            self.run.start(start)
            seen[self._state()] = (start, ())
        generated, queue = len(starts), list(seen)
        for state in queue:
            start, way = seen[state]
            for step in (*((m,) for m in self.alone), *itertools.permutations(self.alone, 2)):
                for choices in self._ways(start, way, step):
                    generated += 1
                    after = self._state()
                    if after not in seen:
                        seen[after] = (start, (*way, (step, choices)))
                        queue.append(after)
            if len(seen) > self.most:
                return None
        return len(seen), generated

    def _state(self) -> Any:
        return self.run.values(), tuple(map(self._place, self.alone))

    def _place(self, move: Any) -> Any:
        """Where a process stands: the line of its generator; a loop's end is its beginning."""
        if move in self.run.finished:
            return "returned"
        made = self.run.generators.get(move)
        if made is None or made.gi_frame is None:
            return "start" if made is None else "returned"
        lines, first = inspect.getsourcelines(made.gi_code)
        last = first + len(lines) - 1
        loops = any("while True" in line for line in lines)
        at = made.gi_frame.f_lineno
        return "start" if loops and at == last else at

    def _ways(self, start: Any, way: Any, step: Any) -> Any:
        """The outcomes of a step of one mover, or of two that meet; yields while they hold."""
        if len(step) == 2 and not self._may_meet(*step):
            return
        explore = Explore()
        while True:
            self.run.start(start)
            for before, choices in way:
                self._take(before, iter(choices).__next__)
            picked: list[Any] = []

            def choose(options: Any, picked: list[Any] = picked) -> Any:
                found = explore(options)
                picked.append(found)
                return found

            try:
                self._take(step, None, choose)
                yield tuple(picked)
            except Disabled:
                pass
            if not explore.advance():
                return

    def _may_meet(self, sender: Any, receiver: Any) -> bool:
        """Parts meet others, never themselves; here no part has two processes."""
        owners = [(m[0].rpartition(".")[0], m[1]) for m in (sender, receiver)]
        return owners[0] != owners[1]

    def _take(self, step: Any, given: Any, choose: Any = None) -> None:
        run = self.run
        picker = choose or (lambda options: given())
        meeting = Meeting() if len(step) == 2 else None
        before = dict(run.machine._state)
        try:
            with running(Running(run.resolver.sizes, picker, run.resolver.values, meeting)):
                for at, (name, params) in enumerate(step):
                    mover = run._mover(name)
                    pairs = zip(params, mover.params, strict=True)
                    live = [run.resolver.thaw(v, p.type) for v, p in pairs]
                    run._move((name, params), live)
                    if meeting is not None and at == 0:
                        meeting.turn()
                if meeting is not None:
                    meeting.end()
        except Disabled:
            run.machine._state.clear()
            run.machine._state.update(before)
            raise
