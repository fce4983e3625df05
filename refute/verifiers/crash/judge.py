"""What a recording promises, and whether what came after a crash or a fault keeps it.

A recording passes through model states s0, s1, … sn, one after each operation. An operation that
fails, or that the subject refuses for a reason the model knows nothing of, leaves the state. After
a crash with operation k in flight the view must be one of sD … sk, where D is the state that the
last completed sync promised. One of s0 … s(D-1) has lost what was durable; any other view shows an
operation torn in two.
"""

from __future__ import annotations

import dataclasses
import errno
from collections.abc import Iterable, Mapping, Sequence

from refute import plain
from refute.fuzz.operations import Operation
from refute.plain import Plain
from refute.specs.crash import Configuration
from refute.verifiers.crash.describe import operation_text, view_text
from refute.verifiers.crash.model import Answer, Model, entry
from refute.verifiers.crash.recording import Result, Run, error_text


@dataclasses.dataclass(frozen=True)
class Violation:
    """property: which one broke. observed, expected: what happened and what is allowed."""

    property: str
    observed: str
    expected: str


@dataclasses.dataclass(frozen=True)
class Seen:
    """What recovery yields: the key of its view, or why there is none.

    mounted: whether the mount itself worked, so that the image is a recovered one.
    """

    key: str = ""
    view: Plain = None
    failure: str = ""
    mounted: bool = True

    def text(self) -> str:
        """For people."""
        return self.failure or view_text(self.view)


@dataclasses.dataclass(frozen=True)
class Story:
    """A recording read by the model: states[i] is the model's after i operations.

    answers: what the model says of each operation. refused: which of them the subject may refuse.
    violations: without a crash.
    """

    run: Run
    states: tuple[int, ...]
    answers: tuple[Answer, ...]
    refused: tuple[bool, ...]
    violations: tuple[Violation, ...] = ()


class Judge:
    """Judges recordings and what recovery yields, with a configuration and its model."""

    def __init__(self, configuration: Configuration, model: Model) -> None:
        self._configuration = configuration
        self._model = model
        self._refusals = {getattr(errno, name) for name in configuration.refusals}

    def story(self, run: Run) -> Story:
        """Follow the recording with the model."""
        states, answers, refused = [run.base.state], [], []
        for operation, result in zip(run.operations, run.results, strict=False):
            answer, after = self._model.step(states[-1], operation)
            failed = bool(result.error or result.broken)
            refuses = (not answer.error and result.error in self._refusals) or (
                run.struck and result.error != 0
            )
            states.append(states[-1] if failed else after)
            answers.append(answer)
            refused.append(refuses)
        return Story(run, tuple(states), tuple(answers), tuple(refused))

    def live(self, story: Story) -> list[Violation]:
        """Violations without a crash: answers, the view at the end, free space."""
        run = story.run
        broken = self._broken(run)
        if broken:
            return broken
        found = []
        prop = "errors" if run.struck else "behaviour"
        for result, answer, refused in zip(run.results, story.answers, story.refused, strict=True):
            mismatch = None if refused else _mismatch(result, answer)
            if mismatch:
                found.append(Violation(prop, *mismatch))
                break
        watched = run.watch < len(run.results) and run.watch >= 0
        failed = watched and bool(run.results[run.watch].error)
        found += self._live_view(story, "errors" if failed else prop)
        if failed and None not in run.space and run.space[0] != run.space[1]:
            seen = f"free space after the failed operation: {run.space[1]}"
            found.append(Violation("errors", seen, f"free space as before: {run.space[0]}"))
        return found

    def _broken(self, run: Run) -> list[Violation]:
        if run.mounted.broken or (run.mounted.error and not run.struck):
            seen = f"mount failed: {run.mounted.text()}"
            names = ("errors",) if run.struck else _ALL
            return [Violation(p, seen, "an intact device mounts") for p in names]
        for result in run.results:
            if result.broken:
                expected = "the operation does its work or raises OSError"
                return [Violation(p, result.broken, expected) for p in ("errors", "behaviour")]
        if run.live.broken and not run.mounted.error:
            expected = "the view can be read"
            return [Violation(p, run.live.broken, expected) for p in ("errors", "behaviour")]
        return []

    def _live_view(self, story: Story, prop: str) -> list[Violation]:
        run, state = story.run, story.states[-1]
        if run.mounted.error or (run.struck and run.live.error):
            return []  # a device that failed may leave the system shut down
        if run.live.error:
            seen = f"reading the view failed: {error_text(run.live.error)}"
        elif plain.digest_any(run.live.value) == self._model.keys[state]:
            return []
        else:
            seen = view_text(run.live.value)
        return [Violation(prop, f"view without a crash: {seen}", self._views([state]))]

    def crash(self, story: Story, point: int, seen: Seen) -> list[Violation]:
        """Violations of a recovery after a crash at the point of a recording without faults."""
        durable, top = self.span(story, point)
        allowed = story.states[durable : top + 1]
        if not durable:
            allowed = (*story.run.base.earlier, *allowed)
        keys = self._model.keys
        if any(seen.key == keys[state] for state in allowed):
            return []
        expected = self._views(allowed)
        if any(seen.key == keys[state] for state in story.states[:durable]):
            return [Violation("durability", seen.text(), expected)]
        found = [Violation("atomicity", seen.text(), expected)]
        if durable and not self._kept(story, durable, top, seen):
            found.append(Violation("durability", seen.text(), expected))
        return found

    def span(self, story: Story, point: int) -> tuple[int, int]:
        """The indices of the first and last state that a crash at the point may give."""
        events = story.run.events
        if point >= len(events):
            done, top = len(story.run.results), len(story.states) - 1
        else:
            running = events[point - 1].op if point else -1
            done, top = max(0, running), min(running + 1, len(story.states) - 1)
        return self._durable(story, done), max(0, top)

    def position(self, story: Story, point: int, seen: Seen) -> int | None:
        """The index of the last state that the view may be; None when the view is wrong."""
        durable, top = self.span(story, point)
        for index in range(top, durable - 1, -1):
            if seen.key == self._model.keys[story.states[index]]:
                return index
        return None

    def faulted(self, story: Story, seen: Seen) -> list[Violation]:
        """Violations of a recovery after the end of a recording in which the device failed.

        A failed operation may or may not have reached the device, until a later sync succeeds.
        """
        durable = self._durable(story, len(story.run.results))
        allowed = set(story.states[durable:])
        if not durable:
            allowed |= set(story.run.base.earlier)
        for index in range(durable, len(story.run.results)):
            if story.run.results[index].error:
                operation = story.run.operations[index]
                allowed.add(self._model.step(story.states[index], operation)[1])
        if any(seen.key == self._model.keys[state] for state in allowed):
            return []
        struck = story.run.struck_op
        failing = -1 if struck is None else struck
        older = any(seen.key == self._model.keys[state] for state in story.states[:durable])
        prop = "fsync" if durable > failing or older else "errors"
        return [Violation(prop, seen.text(), self._views(sorted(allowed)))]

    def nested(
        self, story: Story, point: int, before: Seen, after: Seen, whole: bool, problems: str
    ) -> Violation | None:
        """The violation of a recovery after a crash in the recovery whose view is `before`.

        whole: all writes of the first recovery persisted; then the view must be the same. Else it
        may be anything that the first crash allows.
        """
        if problems:
            return Violation("recovery", problems, "a consistent structure")
        if before.key == after.key and not after.failure:
            return None
        if story.run.fault is None:
            wrong = self.crash(story, point, after)
            first_wrong = self.crash(story, point, before)
        else:
            wrong, first_wrong = self.faulted(story, after), self.faulted(story, before)
        if not (whole or wrong) or (first_wrong and not whole):
            return None
        return Violation("recovery", after.text(), f"as the first recovery: {before.text()}")

    def _durable(self, story: Story, done: int) -> int:
        """The index of the last state that is promised to survive, after `done` operations."""
        if self._configuration.persistence == "dropped-flush":
            return 0
        for index in range(done, 0, -1):
            if self._promises(story, index - 1):
                return index
        return 0

    def _promises(self, story: Story, index: int) -> bool:
        result = story.run.results[index]
        if result.error or result.broken:
            return False
        immediate = self._configuration.durability == "immediate"
        return immediate or story.run.operations[index][0] in self._configuration.syncs

    def _kept(self, story: Story, durable: int, top: int, seen: Seen) -> bool:
        """Whether what the last sync spoke of is there, in a view that is otherwise wrong."""
        if seen.failure:
            return False
        views = [self._model.views[state] for state in story.states[durable : top + 1]]
        operation = story.run.operations[durable - 1]
        if len(operation) > 1:
            have = entry(seen.view, operation[1])
            return any(plain.same(have, entry(view, operation[1])) for view in views)
        return holds_common(seen.view, views)

    def _views(self, states: Iterable[int]) -> str:
        texts = dict.fromkeys(view_text(self._model.views[state]) for state in states)
        return " or ".join(texts)


_ALL = ("atomicity", "durability", "structure", "recovery", "errors", "fsync", "behaviour")


def holds_common(view: Plain, allowed: Sequence[Plain]) -> bool:
    """Whether the view has whatever all allowed views have alike: a sync of everything promised it.

    What a later operation in flight may have changed is not promised. Views that are not mappings
    have no parts: then the whole must be one of the allowed.
    """
    if not all(type(each) is dict for each in (view, *allowed)):
        return any(plain.same(view, each) for each in allowed)
    return all(
        key in view and plain.same(view[key], value)
        for key, value in allowed[0].items()
        if all(key in each and plain.same(each[key], value) for each in allowed)
    )


def _mismatch(result: Result, answer: Answer) -> tuple[str, str] | None:
    expected = _answer_text(answer)
    if answer.error:
        if result.error == answer.error or result.error in answer.also:
            return None
        return result.text(), expected
    if result.error or not plain.same(result.value, answer.value):
        return result.text(), expected
    return None


def _answer_text(answer: Answer) -> str:
    if not answer.error:
        return Result(answer.value).text()
    return " or ".join(error_text(n) for n in (answer.error, *sorted(answer.also)))


def tree_problems(view: Plain) -> list[str]:
    """What in a filesystem's view contradicts itself: link counts and names.

    A file's nlink is the number of its names; a directory's is 2 plus its subdirectories (POSIX).
    """
    if not isinstance(view, Mapping):
        return ["the view is not a tree"]
    names: dict[Plain, int] = {}
    subdirectories: dict[str, int] = {}
    for path, node in view.items():
        if node[0] == "dir" and path != "/":
            parent = path.rsplit("/", 1)[0] or "/"
            subdirectories[parent] = subdirectories.get(parent, 0) + 1
        elif node[0] != "dir":
            names[node[4]] = names.get(node[4], 0) + 1
    problems = []
    for path, node in view.items():
        if node[0] == "dir":
            expected = 2 + subdirectories.get(path, 0)
            have = node[1]
        else:
            expected, have = names[node[4]], node[2]
            if node[0] != "file" or len(node[3]) != node[1]:
                problems.append(f"{path}: {node[0]} of {node[1]} bytes gives {len(node[3])}")
        if have != expected:
            problems.append(f"{path}: nlink {have}, but {expected} by its names")
    return problems


def in_flight(operations: Sequence[Operation], index: int) -> str:
    """The name of the operation that was running, for people."""
    if index < 0:
        return "mount"
    return operation_text(operations[index]) if index < len(operations) else "the end"
