"""The subject under one configuration: its empty system, the places sequences start from, workers.

A search and a replay both begin here, so that a case found by one means the same to the other.
"""

from __future__ import annotations

import dataclasses
from typing import Self

from refute.budget import Budget
from refute.claim import Claim
from refute.errors import RefuteError
from refute.fuzz.operations import (
    Operation,
    Operations,
    filesystem_alphabet,
    fills,
    populated,
)
from refute.oracles.device import Fingerprints, RecordingDevice, blank
from refute.sandbox import Limits, Worker
from refute.site import Site
from refute.specs.crash import Configuration
from refute.verifiers.crash.judge import Judge, Seen, Story
from refute.verifiers.crash.model import HARNESS, UNMOUNT, Foreign, Library, Model
from refute.verifiers.crash.recording import Base, Recorder, Result, Run, case_of
from refute.verifiers.crash.states import Crash, image

TIGHT_BLOCKS = 3  # free blocks of a device that is nearly full
MOST_FILLS = 4096


class NotJudged(RefuteError):
    """The subject cannot be loaded or started, so that nothing can be said of it."""


class Subject:
    """The subject of a claim with its configuration, model and judge. Close it at the end."""

    def __init__(self, claim: Claim, site: Site, budget: Budget, hash_seed: int = 0) -> None:
        self.claim = claim
        self.name = claim.subject
        self.configuration = Configuration.of(claim.statement)
        self._site = site
        self._limits = Limits(
            cpu_s=budget.cpu_s + 60, wall_s=budget.wall_s + 60, memory=budget.memory
        )
        self._hash_seed = hash_seed
        self.recorder = Recorder(self.name, self.configuration, self.open_worker)
        self._spec: Worker | None = None
        library = self.configuration.filesystem
        self.model = Model(
            Library() if library else Foreign(self.configuration.model, self.spec_worker)
        )
        self.judge = Judge(self.configuration, self.model)
        self.fingerprints = Fingerprints()
        self._unmounts = False

    def open_worker(self) -> Worker:
        """A fresh worker for the subject."""
        return self._site.subject_worker(self.claim, self._limits, self._hash_seed)

    def spec_worker(self) -> Worker:
        """The worker for the code that judges."""
        if self._spec is None or not self._spec.alive:
            self._spec = self._site.spec_worker(self.claim, self._limits, self._hash_seed)
        return self._spec

    def spent(self) -> float:
        """CPU seconds of the workers so far."""
        return self.recorder.spent() + (self._spec.cpu_s if self._spec is not None else 0.0)

    def close(self) -> None:
        """End the workers."""
        self.recorder.close()
        if self._spec is not None:
            self._spec.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def check_loads(self) -> None:
        """Raises NotJudged when the subject cannot be imported or is not of the right shape."""
        outcome = self.recorder.worker().call(f"{HARNESS}:loads", self.name)
        found = outcome.value if outcome.kind == "returned" else None
        if type(found) is not list or not {"format", "mount"} <= set(found):
            raise NotJudged(
                f"the subject {self.name} cannot be loaded: {outcome.kind} {outcome.error}"
                f" {outcome.message}".rstrip(),
                thing="subject",
                value=self.name,
                next_step="it must be a class with format(device) and mount(device)",
            )
        self._unmounts = "unmount" in found

    def empty(self) -> tuple[Result, Base]:
        """How `format` ended, and the empty system."""
        configuration = self.configuration
        formatted, blocks = self.recorder.format(
            blank(configuration.blocks, configuration.block_size)
        )
        return formatted, self._base("empty", (), blocks, 0)

    def start(self, name: str, run: Run) -> Base | None:
        """The base after a run from the empty system, remounted; None when that fails."""
        device = RecordingDevice(run.blocks, self.configuration.block_size)
        handle, _ = self.recorder.mount(device, reads=False)
        if handle is None:
            return None
        state = self.judge.story(run).states[-1]
        return self._base(name, run.operations, tuple(device.blocks), state)

    def setups(self) -> dict[str, Operations]:
        """The operations of each place to start from besides the empty system."""
        configuration = self.configuration
        if configuration.setups is not None:
            return {k: tuple(tuple(o) for o in v) for k, v in configuration.setups.items()}
        if not configuration.filesystem:
            return {}
        size = configuration.block_size
        return {"populated": populated(configuration.names, configuration.sizes, size)}

    def sync(self) -> Operation | None:
        """An operation without arguments that makes everything durable, if the alphabet has one."""
        known = {o for o in self.configuration.operations if len(o) == 1}
        known |= {("sync",)} if self.configuration.filesystem else set()
        return next((o for o in sorted(known) if o[0] in self.configuration.syncs), None)

    def alphabet(self) -> tuple[Operation, ...]:
        """The operations that sequences are made of, simple ones first."""
        configuration = self.configuration
        if configuration.operations:
            return configuration.operations
        return filesystem_alphabet(
            configuration.names, configuration.sizes, configuration.block_size, self._unmounts
        )

    def probes(self, last: Operations) -> list[Operations]:
        """One operation for each way to make the last operation durable, as sequences of one."""
        about = {argument for operation in last for argument in operation[1:2]}
        found: dict[str, Operation] = {}
        for operation in self.alphabet():
            name = operation[0]
            if name not in self.configuration.syncs or operation == UNMOUNT:
                continue
            if name not in found or (operation[1:2] and operation[1] in about):
                found[name] = operation
        return [(operation,) for operation in found.values()]

    def crashed(self, name: str, story: Story, crash: Crash, seen: Seen) -> Base | None:
        """The image of a crash, to be recovered by the mount; None when it is already wrong."""
        run = story.run
        position = self.judge.position(story, crash.point, seen)
        if position is None:
            return None
        durable = self.judge.span(story, crash.point)[0]
        delta = image(run.base.blocks, run.events, crash)
        blocks = tuple(delta.get(number, old) for number, old in enumerate(run.base.blocks))
        made = self._base(name, run.base.operations, blocks, story.states[position])
        earlier = (*run.base.earlier, *story.states[durable:position])
        return dataclasses.replace(made, prior=case_of(story.run, "", crash), earlier=earlier)

    def filling(self, empty: Base) -> Operations:
        """Operations after which the device is nearly full, as the subject counts."""
        device = RecordingDevice(empty.blocks, self.configuration.block_size)
        handle, _ = self.recorder.mount(device, reads=False)
        done: list[Operation] = []
        if handle is None:
            return ()
        for operation in fills(self.configuration.names, self.configuration.block_size):
            free = self.recorder.free_blocks(handle, self.configuration.space)
            if free is None or free <= TIGHT_BLOCKS or len(done) > MOST_FILLS:
                break
            result = self.recorder.operate(handle, operation)
            if result.error or result.broken:
                break
            done.append(operation)
        sync = self.sync()
        return (*done, sync) if sync is not None and done else tuple(done)

    def _base(
        self, name: str, operations: Operations, blocks: tuple[bytes, ...], state: int
    ) -> Base:
        return Base(name, operations, blocks, self.fingerprints.image(blocks), state)
