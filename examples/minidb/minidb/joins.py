"""FROM and WHERE: the rows of all sources put together, one by one into the scope's frame.

The stages form a pipeline of generators, one per source. A condition runs at the first stage at
which all that it reads is there, which for an outer join is after its missing rows were filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from minidb.comparing import comparison
from minidb.errors import NotSupportedError, OperationalError
from minidb.scope import Builder, Code, Evaluate, Scope, Source
from minidb.syntax import bare, expect, name_of
from minidb.values import truth

Stage = Callable[[], Iterator[None]]
OUTER = ("LEFT", "RIGHT", "FULL")
SourceOf = Callable[[exp.Expr, Scope], Source]


class Joined:
    """One source and how it joins those before it."""

    def __init__(self, number: int, side: str) -> None:
        self.number, self.side = number, side
        self.on: list[Evaluate] = []
        self.filters: list[Evaluate] = []
        self.condition: exp.Expr | None = None


def sources_of(node: exp.Expr, scope: Scope, source_of: SourceOf) -> list[Joined]:
    """Put the sources of FROM into the scope; the ON conditions are compiled by `conditions`."""
    first = node.args.get("from_")
    if first is None:
        return []
    items, joins = _flattened(first.this)
    joined = [Joined(scope.add(source_of(items, scope)), "")]
    for join in [*joins, *(node.args.get("joins") or [])]:
        expect(join, "this", "side", "kind", "method", "on", "using")
        side = str(join.args.get("side") or "").upper()
        kind = str(join.args.get("kind") or "").upper()
        if kind not in ("", "INNER", "CROSS", "OUTER") or side not in ("", *OUTER):
            raise NotSupportedError(f"{side} {kind} JOIN")
        item = Joined(scope.add(source_of(join.this, scope)), side)
        scope.sources[item.number].side = side
        item.condition = join.args.get("on")
        joined.append(item)
        scope.keeps_right = scope.keeps_right or side in ("RIGHT", "FULL")
        item.on += _using(scope, item.number, _shared(join, scope, item.number))
    return joined


def _flattened(first: exp.Expr) -> tuple[exp.Expr, list[exp.Expr]]:
    """The first item of FROM, and the joins that parentheses around it hold."""
    if isinstance(first, exp.Subquery) and isinstance(first.this, exp.Table):
        expect(first, "this")
        first = first.this
    joins = list(first.args.get("joins") or [])
    if joins:
        first = first.copy()
        first.set("joins", None)
    return first, joins


def _shared(join: exp.Expr, scope: Scope, number: int) -> list[str]:
    """The columns that USING names, or that NATURAL finds on both sides, in lower case."""
    if str(join.args.get("method") or "").upper() == "NATURAL":
        return [
            column.name.lower()
            for column in scope.sources[number].columns
            if _before(scope, number, column.name.lower())
        ]
    return [name_of(column).lower() for column in join.args.get("using") or []]


def _before(scope: Scope, number: int, name: str) -> list[tuple[int, int]]:
    """Where the column stands in the sources before this one."""
    return [
        (other, place)
        for other in range(number)
        if (place := scope.sources[other].index(name)) is not None
        and name not in scope.sources[other].merged
    ]


def _using(scope: Scope, number: int, names: list[str]) -> list[Evaluate]:
    """The equalities of USING; the columns count as one from now on."""
    tests, source = [], scope.sources[number]
    for name in names:
        place, before = source.index(name), _before(scope, number, name)
        if place is None or not before:
            raise OperationalError(
                f"cannot join using column {name} - column not present in both tables"
            )
        if len(before) > 1:
            raise OperationalError(f"ambiguous reference to {name} in USING()")
        left = scope.unqualified(*before[0])
        tests.append(comparison("=", left, scope.column(number, place)).evaluate)
        source.merged.add(name)
    return tests


def conditions(
    builder: Builder, joined: list[Joined], where: exp.Expr | None, scope: Scope
) -> list[Evaluate]:
    """Compile ON and WHERE and give each condition its stage; those that read no row of this
    query are returned.
    """
    free = _conjuncts(where)
    for item in joined:
        if item.side or scope.keeps_right:
            item.on += [_on(builder, part, item, scope) for part in _conjuncts(item.condition)]
        else:
            free += _conjuncts(item.condition)
    before: list[Evaluate] = []
    for part in free:
        scope.used = set()
        test = builder.code(part, scope).evaluate
        if not joined or not (scope.used or scope.keeps_right):
            before.append(test)
        else:
            stage = len(joined) - 1 if scope.keeps_right else max(scope.used)
            joined[stage].filters.append(test)
    return before


def _on(builder: Builder, part: exp.Expr, item: Joined, scope: Scope) -> Evaluate:
    """A condition that decides whether rows match, not whether they are seen."""
    scope.used = set()
    code = builder.code(part, scope)
    if max(scope.used, default=0) > item.number:
        raise OperationalError("ON clause references tables to its right")
    return code.evaluate


def _conjuncts(node: exp.Expr | None) -> list[exp.Expr]:
    """The parts of a condition that must all be true."""
    if node is None:
        return []
    node = bare(node)
    if isinstance(node, exp.And):
        return [*_conjuncts(node.this), *_conjuncts(node.expression)]
    return [node]


def every(tests: list[Evaluate]) -> Callable[[], bool]:
    """Whether all tests are true now; unknown is not true."""
    if not tests:
        return lambda: True
    if len(tests) == 1:
        only = tests[0]
        return lambda: bool(truth(only()))
    return lambda: all(truth(test()) for test in tests)


def pipeline(joined: list[Joined], before: list[Evaluate], scope: Scope) -> Stage:
    """What walks over all rows: after each step the frame holds one combination."""
    ready = every(before)

    def start() -> Iterator[None]:
        if ready():
            yield None

    stage: Stage = start
    for item in joined:
        stage = (_keeping if item.side in ("RIGHT", "FULL") else _stage)(stage, item, scope)
    return stage


def _stage(before: Stage, item: Joined, scope: Scope) -> Stage:
    """Inner and LEFT JOIN: each combination so far with each row that its conditions accept."""
    frame, number, source = scope.frame, item.number, scope.sources[item.number]
    fits, accepted, nothing = every(item.on), every(item.filters), source.nothing
    keeps_left, load = item.side == "LEFT", source.load

    def walk() -> Iterator[None]:
        for _ in before():
            matched = False
            for row in load():
                frame[number] = row
                if fits():
                    matched = True
                    if accepted():
                        yield None
            if keeps_left and not matched:
                frame[number] = nothing
                if accepted():
                    yield None

    return walk


def _keeping(before: Stage, item: Joined, scope: Scope) -> Stage:
    """RIGHT and FULL JOIN: also the rows of this source that no combination matched."""
    frame, number, source = scope.frame, item.number, scope.sources[item.number]
    fits, accepted, nothing = every(item.on), every(item.filters), source.nothing

    def walk() -> Iterator[None]:
        rows = source.load()
        missing = set(range(len(rows)))
        for _ in before():
            matched = False
            for place, row in enumerate(rows):
                frame[number] = row
                if fits():
                    matched = True
                    missing.discard(place)
                    if accepted():
                        yield None
            if item.side == "FULL" and not matched:
                frame[number] = nothing
                if accepted():
                    yield None
        for place in sorted(missing):
            frame[:number] = [other.nothing for other in scope.sources[:number]]
            frame[number] = rows[place]
            if accepted():
                yield None

    return walk


def output_columns(scope: Scope, only: str) -> list[tuple[str, Code]]:
    """What `*` or `name.*` stands for."""
    found = []
    for number, source in enumerate(scope.sources):
        if only and source.name.lower() != only:
            continue
        for place, column in enumerate(source.columns):
            if only:
                found.append((column.name, scope.column(number, place)))
            elif column.name.lower() not in source.merged:
                found.append((column.name, scope.unqualified(number, place)))
    if not found:
        raise OperationalError(f"no such table: {only}" if only else "no tables specified")
    return found
