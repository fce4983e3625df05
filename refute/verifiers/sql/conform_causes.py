"""Failures of one cause together: many failed records read as few causes.

Most failures are never reduced, since few causes make many of them. First they are put together by
what is cheap: the kind of failure, the error's words, the constructs that the statement uses. Some
of each such group are reduced; two that come down to the same constructs, with names, literals and
types left out, have one cause. This goes on until reductions bring nothing new for long, or the
budget ends. What is left goes to the cause whose constructs it has, and is counted apart: "by
signature" is a guess, "reduced" was seen. Errors that no reduction was made of have a cause for
each message, without a script.
"""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from refute.errors import RefuteError
from refute.verifiers.sql.conform_causes_groups import Group, Item, Likely, Signature, items_of
from refute.verifiers.sql.conform_causes_made import Cause, cause_of, cause_of_words, rank
from refute.verifiers.sql.conform_causes_parts import Part, Parts, shows
from refute.verifiers.sql.conform_causes_shape import Shape, shape_of
from refute.verifiers.sql.conform_causes_words import Words, words_of
from refute.verifiers.sql.conform_file import Engine, EngineLost, FileResult
from refute.verifiers.sql.conform_reduce import OVER, Interrupted, Reduced, Reduction
from refute.verifiers.sql.conform_reduce_plain import WithoutOracle, failed_again
from refute.verifiers.sql.conform_reduce_script import Case, Sources
from refute.verifiers.sql.conform_run import SQLITE, Choice

QUIET = 10  # reductions in a row that bring no new cause end the search, and for each known cause
QUIET_MORE = 2  # so many more
LOOKED = 200  # failures in a row that show known causes end it too
LOOKED_MORE = 20
AT_ONCE = 64  # failures whose parts are looked at together, in the order of files
MOST = 400  # reductions of one run
WITHOUT_ORACLE = 300  # trials of a reduction that only leaves statements out
FAR = 2  # reductions of one group that did not come again, after which it is left alone

_T = TypeVar("_T")
Progress = Callable[[str], None]


@dataclasses.dataclass
class Causes:
    """All causes, most failures first; last those whose failures all may follow from earlier ones.

    unknown: failures that none was found for. ended: why the search ended before it had seen
    enough; "" when it had.
    """

    causes: list[Cause] = dataclasses.field(default_factory=list)
    unknown: int = 0
    reductions: int = 0
    ended: str = ""


def find_causes(
    choice: Choice, files: Sequence[FileResult], wall_s: float, progress: Progress
) -> Causes:
    """Reduce failures and put all of them together; each failure's `cause` is set.

    wall_s: seconds for all of it. After Ctrl-C, or when the engine is lost, there is what was
    found until then.
    """
    search = _Search(choice, files, wall_s, progress)
    try:
        search.run()
        search.merge()
        search.verify()
    except KeyboardInterrupt:
        search.found.ended = "interrupted"
    except (RefuteError, EngineLost) as error:
        search.found.ended = str(error)
    finally:
        search.close()
    return search.finished()


class _Search:
    def __init__(
        self, choice: Choice, files: Sequence[FileResult], wall_s: float, progress: Progress
    ) -> None:
        self.found = Causes()
        self._choice = choice
        self._sources = Sources(choice)
        self._excuses = choice.excuses()
        self._progress = progress
        self._until = time.monotonic() + wall_s
        self._engine: Engine | None = None
        self._groups: dict[Shape, Group] = {}
        self._failed_again: Counter[Signature] = Counter()
        self._tried: set[int] = set()
        self._parts: dict[int, Part] = {}
        self._shown: dict[tuple[Shape, Words], Group] = {}
        self._items = list(items_of(files))
        self._clusters: dict[Signature, list[Item]] = {}
        for item in self._items:
            self._clusters.setdefault(item.signature, []).append(item)
        for items in self._clusters.values():
            items.sort(key=lambda i: len(i.failure.sql))

    def close(self) -> None:
        """End the engine."""
        if self._engine is not None:
            self._engine.close()

    def run(self) -> None:
        """Find causes: for what none fits, then for all by turns, until nothing new comes."""
        clusters = sorted(self._clusters.values(), key=lambda c: (-len(c), len(c[0].failure.sql)))
        try:
            self._first_of(clusters)
            self._more_of(clusters)
        except Interrupted as error:
            self.found.ended = str(error)

    def _first_of(self, clusters: Sequence[Sequence[Item]]) -> None:
        """The first of each cluster that no cause fits."""
        for some in _batched(clusters, AT_ONCE):
            new = [items[0] for items in some if self._is_new(items[0].signature)]
            self._look_at(new)
            for item in new:
                if self._is_new(item.signature):
                    self._tried.add(id(item))
                    if not self._locate(item):
                        self._try(item)

    def _more_of(self, clusters: Sequence[Sequence[Item]]) -> None:
        """Others by turns: those whose wrong part is not a known cause's are reduced."""
        quiet = looked = 0
        for turn in _batched(_in_turn(clusters), AT_ONCE):
            some = [item for item in turn if id(item) not in self._tried]
            self._look_at(some)
            for item in some:
                known = len(self._groups)
                if quiet >= QUIET + QUIET_MORE * known or looked >= LOOKED + LOOKED_MORE * known:
                    return
                if self._failed_again[item.signature] >= FAR:
                    continue
                self._tried.add(id(item))
                looked += 1
                if self._locate(item):
                    continue
                quiet += 1
                if self._try(item):
                    quiet = looked = 0

    def _look_at(self, items: Sequence[Item]) -> None:
        """Find the smallest wrong part of each query. Raises Interrupted, RefuteError."""
        if self._choice.engine == SQLITE:
            return
        parts = Parts(self._opened(), self._excuses)
        try:
            for item in sorted(items, key=lambda i: (i.file.path, i.failure.line)):
                if item.failure.kind != "values":
                    continue
                if self._over():
                    raise Interrupted(OVER)
                case = self._sources.case(item.file, item.failure)
                if case is None or case.record is None:
                    continue
                try:
                    part = parts.of(case, self._sources.setup(item.failure))
                except EngineLost:
                    self._opened().start(0)
                    return
                if part is not None:
                    self._parts[id(item)] = part
        finally:
            parts.close()

    def _locate(self, item: Item) -> bool:
        """Whether the failure's smallest wrong part is one known cause's; then it has it."""
        part = self._parts.get(id(item))
        if part is None:
            return False
        group = self._shown.get(part[:2])
        if group is None:
            found = [g for g in self._groups.values() if shows(part, g.shape, g.best.script.sql)]
            group = max(found, key=lambda g: len(g.shape.plain), default=None)
            if group is None or not all(g.shape.plain <= group.shape.plain for g in found):
                return False
        group.locate(item)
        return True

    def _try(self, item: Item) -> bool:
        """Reduce one failure; whether it shows a new cause. Raises Interrupted, RefuteError."""
        if self.found.reductions >= MOST:
            raise Interrupted(f"{MOST} reductions were made")
        self.found.reductions += 1
        self._progress(f"{len(self._groups)} causes, {self.found.reductions} reductions")
        try:
            return self._reduce(item)
        except (Interrupted, RefuteError, EngineLost):
            raise
        except Exception as error:  # the run's results are not to be lost over one reduction
            self.found.ended = f"a bug of refute at {item.place}: {type(error).__name__}: {error}"
            self._failed_again[item.signature] = FAR
            return False

    def merge(self) -> None:
        """Put groups into those that show the same with fewer constructs."""
        for group in sorted(self._groups.values(), key=lambda g: -len(g.shape.plain)):
            del self._groups[group.shape]
            other = self._covering(group.shape)
            if other is None:
                self._groups[group.shape] = group
            else:
                other.take(group)

    def verify(self) -> None:
        """Run each cause's script twice more, in fresh workers. Raises RefuteError."""
        for group in self._groups.values():
            self._progress(f"{len(self._groups)} causes, looking at each once more")
            try:
                group.verified = failed_again(self._opened(), group.best)
            except EngineLost:
                continue

    def _opened(self) -> Engine:
        if self._engine is None:
            self._engine = self._choice.open()
            self._engine.start(0)
        return self._engine

    def _is_new(self, signature: Signature) -> bool:
        """Whether no cause fits."""
        return not any(group.fits(signature) for group in self._groups.values())

    def _reduce(self, item: Item) -> bool:
        """Reduce one failure. Whether it shows a new cause. Raises Interrupted."""
        case = self._sources.case(item.file, item.failure)
        part = self._parts.get(id(item))
        reduced = self._reduced(case, part.sql if part else "") if case is not None else None
        if reduced is None:
            self._failed_again[item.signature] += 1
            return False
        shape = shape_of(reduced)
        need = (*item.signature, item.signature[3] & words_of(reduced.script.sql))
        group = self._groups.get(shape) or self._covering(shape)
        if group is None:
            group = self._groups[shape] = Group(shape, reduced, item, [need], items=[item])
            if part is not None:
                self._shown[part[:2]] = group
            return True
        if part is not None:
            self._shown.setdefault(part[:2], group)
        group.items.append(item)
        if need not in group.needs:
            group.needs.append(need)
        if _size(reduced) < _size(group.best) and reduced.verified >= group.best.verified:
            group.best, group.item = reduced, item
        return False

    def _covering(self, shape: Shape) -> Group | None:
        """The group of a shape that shows the same with fewer constructs."""
        found = [group for group in self._groups.values() if group.shape.covers(shape)]
        return max(found, key=lambda g: len(g.shape.plain & shape.plain), default=None)

    def _reduced(self, case: Case, part: str) -> Reduced | None:
        engine = self._opened()
        try:
            record = case.record
            if record is not None and self._choice.engine != SQLITE:
                found = Reduction(
                    engine, case.before, record, self._over, excuses=self._excuses, part=part
                ).run()
                if found is not None:
                    return found
            limit, kind = WITHOUT_ORACLE, case.kind
            alone = WithoutOracle(engine, case.before, case.sql, record, self._over, limit, kind)
            return alone.run()
        except EngineLost:
            engine.start(0)
            return None

    def _over(self) -> bool:
        return time.monotonic() > self._until

    def finished(self) -> Causes:
        """The causes of all failures, numbered."""
        self.merge()
        groups = list(self._groups.values())
        done = {id(item) for group in groups for item in (*group.items, *group.located)}
        likely = Likely(groups)
        said: dict[tuple[str, str], list[Item]] = {}
        for signature, items in self._clusters.items():
            rest = [item for item in items if id(item) not in done]
            group = likely.of(signature) if rest else None
            if group is not None:
                group.assigned += rest
            elif signature[1]:
                said.setdefault(signature[:2], []).extend(rest)
            else:
                self.found.unknown += len(rest)
        groups.sort(key=rank)
        for number, group in enumerate(groups, 1):
            self.found.causes.append(cause_of(number, group))
        for number, items in enumerate(filter(None, said.values()), len(groups) + 1):
            self.found.causes.append(cause_of_words(number, items))
        return self.found


def _batched(items: Iterable[_T], number: int) -> Iterator[list[_T]]:
    """Lists of so many."""
    rest = iter(items)
    while some := list(islice(rest, number)):
        yield some


def _in_turn(clusters: Sequence[Sequence[Item]]) -> Iterator[Item]:
    """One of each cluster, then another of each that has more, and so on. Largest come first."""
    for turn in range(len(clusters[0]) if clusters else 0):
        for items in clusters:
            if turn >= len(items):
                break
            yield items[turn]


def _size(reduced: Reduced) -> tuple[int, str]:
    text = "\n".join(reduced.script.statements)
    return len(text), text
