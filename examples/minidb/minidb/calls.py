"""Function calls: scalar functions of values, and aggregates of the rows of a group.

An aggregate becomes a numbered result of the query it belongs to, which grouping.py fills for each
group. That query is the innermost whose columns its arguments name, not always the one around it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from minidb.aggregates import AGGREGATES, Accumulator, Aggregate, CountRows
from minidb.collation import Fold, fold_of, identity
from minidb.comparing import inheriting
from minidb.errors import NotSupportedError, OperationalError
from minidb.expressions import Handler
from minidb.scalars import SCALARS
from minidb.scope import Builder, Code, Evaluate, Scope
from minidb.syntax import expect
from minidb.values import Value, truth

LAZY = frozenset({"coalesce", "ifnull", "iif"})


@dataclass
class Use:
    """One aggregate of one query: how it starts, what it is given, and which rows count."""

    start: Callable[[], Accumulator]
    arguments: list[Evaluate]
    condition: Evaluate | None
    distinct: Fold | None
    chooses: bool

    def given(self, seen: set[Value]) -> tuple[Value, ...] | None:
        """The arguments for the current row; None where FILTER or DISTINCT leave the row out."""
        if self.condition is not None and not truth(self.condition()):
            return None
        values = tuple(read() for read in self.arguments)
        if self.distinct is not None:
            mark = identity(values[0], self.distinct)
            if mark in seen:
                return None
            seen.add(mark)
        return values


def call(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """A function by its name."""
    expect(node, "this", "expressions")
    name, arguments = str(node.name).lower(), node.expressions
    if name in AGGREGATES and (len(arguments) < 2 or name not in SCALARS):
        return _aggregate(builder, node, None, scope)
    if name in LAZY:
        return _lazy(name, [builder.code(argument, scope) for argument in arguments])
    if name not in SCALARS:
        raise NotSupportedError(f"function {name}()")
    function = SCALARS[name]
    if len(arguments) < function.least or len(arguments) > (function.most or len(arguments)):
        raise OperationalError(f"wrong number of arguments to function {name}()")
    codes = [builder.code(argument, scope) for argument in arguments]
    readings, run = [code.evaluate for code in codes], function.call
    if not function.collates:
        return inheriting(lambda: run(*[read() for read in readings]), *codes)
    collation = next((code.collation for code in codes if code.collation is not None), None)
    fold = fold_of(collation)
    return inheriting(lambda: run(fold, *[read() for read in readings]), *codes)


def _lazy(name: str, codes: list[Code]) -> Code:
    """Functions that do not look at all their arguments."""
    readings = [code.evaluate for code in codes]
    if (
        len(codes) < 2
        or (name == "ifnull" and len(codes) > 2)
        or (name == "iif" and len(codes) != 3)
    ):
        raise OperationalError(f"wrong number of arguments to function {name}()")

    def chosen() -> Value:
        return readings[1]() if truth(readings[0]()) else readings[2]()

    def first_known() -> Value:
        return next((value for read in readings if (value := read()) is not None), None)

    return inheriting(chosen if name == "iif" else first_known, *codes)


def filtered(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`aggregate(…) FILTER (WHERE …)`."""
    if not isinstance(node.this, exp.Anonymous) or node.this.name.lower() not in AGGREGATES:
        raise OperationalError("FILTER may not be used with non-aggregate functions")
    return _aggregate(builder, node.this, node.expression.this, scope)


def _aggregate(builder: Builder, node: exp.Expr, condition: exp.Expr | None, scope: Scope) -> Code:
    name = str(node.name).lower()
    arguments, distinct = _arguments(name, node.expressions)
    owner = _owner(arguments + ([condition] if condition is not None else []), scope)
    if not (owner.aggregates_allowed and scope.aggregates_allowed):
        raise OperationalError(f"misuse of aggregate function {name.upper()}()")
    owner.aggregates_allowed = False
    codes = [builder.code(argument, owner) for argument in arguments]
    where = builder.code(condition, owner).evaluate if condition is not None else None
    owner.aggregates_allowed = True
    fold = codes[0].fold if codes else fold_of(None)
    known = AGGREGATES[name]
    start = known.start if codes else CountRows
    use = Use(
        lambda: start(fold),
        [code.evaluate for code in codes],
        where,
        fold if distinct else None,
        known.chooses,
    )
    scope.note(owner)
    number, results = len(owner.aggregates), owner.results
    owner.aggregates.append(use)
    results.append(start(fold))
    return inheriting(lambda: results[number].result(), *codes)


def _arguments(name: str, written: list[exp.Expr]) -> tuple[list[exp.Expr], bool]:
    """The arguments, and whether DISTINCT stands before them. None at all is `count(*)`."""
    function: Aggregate = AGGREGATES[name]
    if name == "count" and (not written or isinstance(written[0], exp.Star)):
        return [], False
    distinct = bool(written) and isinstance(written[0], exp.Distinct)
    arguments = [*written[0].expressions, *written[1:]] if distinct else written
    if distinct and len(arguments) != 1:
        raise OperationalError("DISTINCT aggregates must have exactly one argument")
    if not function.least <= len(arguments) <= function.most:
        raise OperationalError(f"wrong number of arguments to function {name}()")
    return arguments, distinct


def _owner(arguments: list[exp.Expr], scope: Scope) -> Scope:
    """The query whose aggregate this is."""
    if any(argument.find(exp.Select) for argument in arguments):
        return scope
    columns = [column for argument in arguments for column in argument.find_all(exp.Column)]
    here: Scope | None = scope
    while columns and here is not None:
        for column in columns:
            if here.find(column.text("table").lower(), column.name.lower()):
                return here
            if here is scope and here.aliases_visible and column.name.lower() in here.aliases:
                return here
        here = here.parent
    return scope


HANDLERS: dict[type[exp.Expr], Handler] = {exp.Anonymous: call, exp.Filter: filtered}
