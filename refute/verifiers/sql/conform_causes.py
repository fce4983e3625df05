"""Failures of one cause together: many failed records read as few causes.

Most failures are never reduced, since few causes make many of them. First they are put together by
what is cheap: the kind of failure, the error's words, the constructs that the statement uses. Some
of each such group are reduced; two that come down to the same constructs, with names, literals and
types left out, have one cause. This goes on until reductions bring nothing new for long, or the
budget ends. What is left goes to the cause whose constructs it has, and is counted apart: "by
signature" is a guess, "reduced" was seen.
"""

from __future__ import annotations

import dataclasses
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from refute.errors import RefuteError
from refute.verifiers.sql.conform_causes_shape import SAYING, Shape, shape_of
from refute.verifiers.sql.conform_causes_title import kind_of, title_of, told
from refute.verifiers.sql.conform_causes_words import Words, normal_message, words_of
from refute.verifiers.sql.conform_file import Engine, EngineLost, Failure, FileResult
from refute.verifiers.sql.conform_reduce import Interrupted, Reduced, Reduction
from refute.verifiers.sql.conform_reduce_plain import WithoutOracle, failed_again
from refute.verifiers.sql.conform_reduce_script import Case, Sources, test_text
from refute.verifiers.sql.conform_run import SQLITE, Choice

QUIET = 10  # reductions in a row that bring no new cause end the search, and for each known cause
QUIET_MORE = 2  # so many more
MOST = 400  # reductions of one run
PLACES = 5
WITHOUT_ORACLE = 300  # trials of a reduction that only leaves statements out
_NUMBER = re.compile(r"(?:(\d+)|no) values?\b")
NEAR = 0.6  # how alike failures must be where none of the constructs of one is in its script
FAR = 2  # reductions of one group that did not come again, after which it is left alone

Progress = Callable[[str], None]
Signature = tuple[str, str, str, Words]
"""Kind, an error's words, whether there are more or fewer values than expected, constructs."""
Need = tuple[str, str, str, Words, Words]
"""Of a reduced failure: its signature, and those of its constructs that are in the script."""


@dataclasses.dataclass
class Cause:
    """Failures that have one cause, as far as is known.

    number: as `Failure.cause` has it, from 1. count: of its failures, `reduced` of them reduced to
    this and `by_signature` of them put here because they use the same constructs. places: of the
    first ones, path:line. script: the smallest script that fails, as the text of a test file; ""
    where none was found. statements: those of the script. expected, got: of its last statement.
    verified: whether the script failed twice more on fresh databases. oracle: whether SQLite says
    what is expected there; else the file does.
    """

    number: int
    title: str
    kind: str
    count: int = 0
    reduced: int = 0
    by_signature: int = 0
    files: int = 0
    places: list[str] = dataclasses.field(default_factory=list)
    script: str = ""
    statements: tuple[str, ...] = ()
    expected: str = ""
    got: str = ""
    verified: bool = False
    oracle: bool = False


@dataclasses.dataclass
class Causes:
    """All causes, most failures first. unknown: failures that none was found for. ended: why the
    search ended before it had seen enough; "" when it had."""

    causes: list[Cause] = dataclasses.field(default_factory=list)
    unknown: int = 0
    reductions: int = 0
    ended: str = ""


@dataclasses.dataclass
class _Item:
    file: FileResult
    failure: Failure
    signature: Signature

    @property
    def place(self) -> str:
        return f"{self.failure.path or self.file.path}:{self.failure.line}"


@dataclasses.dataclass
class _Group:
    """What reductions found to be one."""

    shape: Shape
    best: Reduced
    item: _Item
    needs: list[Need]
    verified: bool = False
    items: list[_Item] = dataclasses.field(default_factory=list)
    assigned: list[_Item] = dataclasses.field(default_factory=list)

    def take(self, other: _Group) -> None:
        """Have the failures of a group that shows the same."""
        self.items += other.items
        self.needs += [need for need in other.needs if need not in self.needs]

    def fits(self, signature: Signature) -> float:
        """How like a failure is to the most alike of its own, up to 1; 0 when it can be none."""
        kind, message, size, words = signature
        alike = [
            ((1 + len(words & had)) / (1 + len(words | had)), need)
            for of, said, sized, had, need in self.needs
            if (of, said, sized) == (kind, message, size) and need <= words
        ]
        return max((near for near, need in alike if need or near >= NEAR), default=0.0)

    def says(self, signature: Signature) -> bool:
        """Whether it ends in the same error, be it with other constructs."""
        return bool(signature[1]) and any(need[:2] == signature[:2] for need in self.needs)


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
        self._groups: dict[Shape, _Group] = {}
        self._failed_again: Counter[Signature] = Counter()
        self._tried: set[int] = set()
        self._items = list(_items(files))
        self._clusters: dict[Signature, list[_Item]] = {}
        for item in self._items:
            self._clusters.setdefault(item.signature, []).append(item)
        for items in self._clusters.values():
            items.sort(key=lambda i: len(i.failure.sql))

    def close(self) -> None:
        """End the engine."""
        if self._engine is not None:
            self._engine.close()

    def run(self) -> None:
        """Reduce representatives: of what no cause fits, then of all, until nothing new comes."""
        clusters = sorted(self._clusters.values(), key=lambda c: (-len(c), len(c[0].failure.sql)))
        try:
            for items in clusters:
                if self._is_new(items[0].signature):
                    self._try(items[0])
            quiet = 0
            for item in _in_turn(clusters):
                if quiet >= QUIET + QUIET_MORE * len(self._groups):
                    return
                if id(item) not in self._tried and self._failed_again[item.signature] < FAR:
                    quiet = 0 if self._try(item) else quiet + 1
        except Interrupted as error:
            self.found.ended = str(error)

    def _try(self, item: _Item) -> bool:
        """Reduce one failure; whether it shows a new cause. Raises Interrupted, RefuteError."""
        if self.found.reductions >= MOST:
            raise Interrupted(f"{MOST} reductions were made")
        self._tried.add(id(item))
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

    def _reduce(self, item: _Item) -> bool:
        """Reduce one failure. Whether it shows a new cause. Raises Interrupted."""
        case = self._sources.case(item.file, item.failure)
        reduced = self._reduced(case) if case is not None else None
        if reduced is None:
            self._failed_again[item.signature] += 1
            return False
        shape = shape_of(reduced)
        need = (*item.signature, item.signature[3] & words_of(reduced.script.sql))
        group = self._groups.get(shape) or self._covering(shape)
        if group is None:
            self._groups[shape] = _Group(shape, reduced, item, [need], items=[item])
            return True
        group.items.append(item)
        if need not in group.needs:
            group.needs.append(need)
        if _size(reduced) < _size(group.best) and reduced.verified >= group.best.verified:
            group.best, group.item = reduced, item
        return False

    def _covering(self, shape: Shape) -> _Group | None:
        """The group of a shape that shows the same with fewer constructs."""
        found = [group for group in self._groups.values() if group.shape.covers(shape)]
        return max(found, key=lambda g: len(g.shape.plain & shape.plain), default=None)

    def _reduced(self, case: Case) -> Reduced | None:
        engine = self._opened()
        try:
            record = case.record
            if record is not None and self._choice.engine != SQLITE:
                found = Reduction(
                    engine, case.before, record, self._over, excuses=self._excuses
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
        done = {id(item) for group in groups for item in group.items}
        for signature, items in self._clusters.items():
            best = max(groups, key=lambda g: g.fits(signature), default=None)
            if best is not None and not best.fits(signature):
                best = next((group for group in groups if group.says(signature)), None)
            for item in items:
                if best is None:
                    self.found.unknown += id(item) not in done
                elif id(item) not in done:
                    best.assigned.append(item)
        groups.sort(key=lambda g: -len(g.items) - len(g.assigned))
        for number, group in enumerate(groups, 1):
            self.found.causes.append(_cause(number, group))
        return self.found


def _in_turn(clusters: Sequence[Sequence[_Item]]) -> Iterator[_Item]:
    """One of each cluster, then another of each that has more, and so on. Largest come first."""
    for turn in range(len(clusters[0]) if clusters else 0):
        for items in clusters:
            if turn >= len(items):
                break
            yield items[turn]


def _items(files: Sequence[FileResult]) -> Iterator[_Item]:
    """All failures that need a cause: neither known nor following from others, and seen twice."""
    for file in files:
        for failure in file.failures:
            if failure.confirmed is not False and not (failure.follows or failure.known):
                yield _Item(file, failure, _signature(failure))


def _signature(failure: Failure) -> Signature:
    message = ""
    if failure.kind in SAYING or failure.kind == "hang":
        message = normal_message(failure.got, [failure.sql])
    expected, got = (_NUMBER.match(text) for text in (failure.expected, failure.got))
    size = ""
    if expected and got:
        a, b = (int(found[1] or 0) for found in (expected, got))
        size = "fewer" if b < a else "more" if b > a else "same"
    return failure.kind, message, size, words_of(failure.sql)


def _size(reduced: Reduced) -> tuple[int, str]:
    text = "\n".join(reduced.script.statements)
    return len(text), text


def _cause(number: int, group: _Group) -> Cause:
    items = [*group.items, *group.assigned]
    for item in items:
        item.failure.cause = number
    best = group.best
    expected, got = told(best.difference)
    if not best.oracle:
        expected, got = group.item.failure.expected, group.item.failure.got
    items.sort(key=lambda i: (i.file.path, i.failure.line))
    return Cause(
        number=number,
        title=title_of(best, group.shape.words),
        kind=kind_of(best.difference),
        count=len(items),
        reduced=len(group.items),
        by_signature=len(group.assigned),
        files=len({item.file.path for item in items}),
        places=[item.place for item in items[:PLACES]],
        script=test_text(best, group.item.place),
        statements=best.script.statements,
        expected=expected,
        got=got,
        verified=group.verified,
        oracle=best.oracle,
    )
