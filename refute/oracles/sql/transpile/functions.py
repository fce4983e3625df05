"""Names and functions of SQLite written for another engine: columns, aggregates, scalar functions.

A column that neither GROUP BY nor an aggregate fixes has the value of any row of the group in
SQLite; engines that refuse that are asked for any value by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from refute.fuzz.sql.nodes import make, put
from refute.fuzz.sql.text import Node, write
from refute.oracles.sql.transpile.conditions import bare
from refute.oracles.sql.transpile.kinds import (
    INT,
    LETTERS_DOUBT,
    NULL,
    NUM,
    NUMBERS,
    REAL,
    TEXT,
    WIDE_DOUBT,
    Inexpressible,
    Typed,
    Unresolved,
)
from refute.oracles.sql.transpile.scopes import Scope
from refute.oracles.sql.transpile.texts import Texts
from refute.oracles.sql.transpile.writer import call, cast, integer, paren

_LEAVES = frozenset({exp.Column, exp.Literal, exp.Null, exp.Identifier, exp.Boolean})
AGGREGATES = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.GroupConcat)
_AGGREGATES = frozenset(AGGREGATES)
_SHOWN_SPECIAL = str.maketrans({c: f"\\{c}" for c in r".^$*+?()[]{}|\\"})


def aggregate(node: Node) -> bool:
    """Whether the node is an aggregate function of SQLite's."""
    return isinstance(node, AGGREGATES) or (
        isinstance(node, exp.Anonymous) and node.name.upper() in ("TOTAL", "STRING_AGG")
    )


def _as_is(node: Node) -> Node:
    return node


class Functions(Texts):
    """Rewrites names and functions.

    strict: whether a column that GROUP BY does not fix is not expressible.
    """

    strict = False

    def function(self, node: Node, scope: Scope) -> Typed:
        """Anything that is no operator. Raises Inexpressible and Unresolved."""
        if scope.texts and not scope.aggregating and _key(node) in scope.texts:
            return self._grouped(node, scope)
        if type(node) is exp.Column:
            return self._column(node, scope)
        if aggregate(node):
            return self.aggregated(node, scope)
        if isinstance(node, exp.Filter) and aggregate(node.this):
            return self.aggregated(filtered(node), scope)
        if isinstance(node, exp.Subquery):
            return self._scalar_query(node, scope)
        if isinstance(node, exp.Coalesce):
            return self._coalesce([node.this, *node.expressions], scope)
        if isinstance(node, exp.Nullif):
            return self._nullif(node, scope)
        if isinstance(node, exp.If):
            last = node.args.get("false")
            results = [self.value(node.args["true"], scope)]
            default = None if last is None else self.value(last, scope)
            return self.chosen([self.truth(node.this, scope)], results, default)
        if isinstance(node, exp.Abs):
            typed = self.numeric(self.value(node.this, scope))
            return typed if typed.kind == NULL else Typed(call("ABS", typed.node), typed.kind)
        if isinstance(node, exp.Least | exp.Greatest):
            return self._extreme(node, scope)
        return self._other(node, scope)

    def value(self, node: Node, scope: Scope) -> Typed:
        """As `Values.value`; an expression that GROUP BY names is taken as a whole."""
        if scope.texts and not scope.aggregating and _key(node) in scope.texts:
            return self._grouped(node, scope)
        return super().value(node, scope)

    def _grouped(self, node: Node, scope: Scope) -> Typed:
        """An expression of GROUP BY, the columns in which are fixed by it."""
        scope.aggregating = True
        try:
            return self.value(node, scope)
        finally:
            scope.aggregating = False

    # Names

    def _column(self, node: exp.Column, scope: Scope) -> Typed:
        if isinstance(node.this, exp.Star):
            raise Unresolved("*")
        found = scope.find(node)
        if found is not None:
            source, column, owner = found
            if column.kind == NUM:
                self.doubts.add(WIDE_DOUBT)
            table = source.alias if node.args.get("table") else None
            made: Node = make(exp.Column, this=column.name, table=table)
            typed = Typed(made, column.kind, column.affinity)
            free = owner.groups is not None and not owner.aggregating
            if free and scope.having and self.target.quote == "`" and owner is scope:
                return typed._replace(node=call("MIN", made))  # MySQL's HAVING knows few columns
            if free and not owner.is_key(source, column) and owner is scope:
                if self.strict:
                    raise Inexpressible("a column that GROUP BY does not fix")
                return typed._replace(node=self._any_of(made))
            return typed
        name = node.name.lower()
        alias = None if node.table else scope.aliased(name)
        if alias is not None:
            where, meant = alias
            where.expanding.add(name)
            try:
                return self.value(meant, where)._replace(affinity="")
            finally:
                where.expanding.discard(name)
        if not node.table and node.this.args.get("quoted"):
            return self.literal(make(exp.Literal, this=node.name, is_string=True))
        if name in ("rowid", "oid", "_rowid_"):
            raise Inexpressible("rowid")
        raise Unresolved(node.name)

    def _any_of(self, column: Node) -> Node:
        """The value of the column in any row of the group."""
        function = self.target.any_value
        if not function:
            return column
        made = call(function, column)
        if function == "ARRAY_AGG":
            return make(exp.Bracket, this=make(exp.Paren, this=made), expressions=[integer(1)])
        return made

    def _scalar_query(self, node: exp.Subquery, scope: Scope) -> Typed:
        inner = bare(node)
        query, columns = self.query(inner, scope)
        if len(columns) != 1:
            raise Unresolved("a subquery of several columns as a value")
        if not _one_row(inner) and query.args.get("limit") is None:
            put(query, "limit", make(exp.Limit, expression=integer(1)))
        return Typed(make(exp.Subquery, this=query), columns[0].kind, columns[0].affinity)

    # Aggregates

    def aggregated(self, node: Node, scope: Scope, wrap: Callable[[Node], Node] = _as_is) -> Typed:
        """A call of an aggregate. wrap: what to make of the call itself, such as one with OVER."""
        if scope.aggregating:
            raise Unresolved("an aggregate inside of an aggregate")
        scope.aggregating = True
        try:
            return self._aggregate_of(node, scope, wrap)
        finally:
            scope.aggregating = False

    def _aggregate_of(self, node: Node, scope: Scope, wrap: Callable[[Node], Node]) -> Typed:
        argument = node.expressions[0] if isinstance(node, exp.Anonymous) else node.this
        if argument is None or isinstance(argument, exp.Star):
            return Typed(wrap(make(exp.Count, this=make(exp.Star))), INT)
        distinct = isinstance(argument, exp.Distinct)
        if distinct:
            if len(argument.expressions) != 1:
                raise Unresolved("DISTINCT of several values in an aggregate")
            argument = argument.expressions[0]
        typed = self.value(argument, scope)

        def over(name: str, of: Node, *more: Node) -> Node:
            one = make(exp.Distinct, expressions=[of]) if distinct else of
            return wrap(call(name, one, *more))

        if isinstance(node, exp.Count):
            return Typed(over("COUNT", typed.node), INT)
        if isinstance(node, exp.Min | exp.Max):
            name = "MIN" if isinstance(node, exp.Min) else "MAX"
            return typed._replace(node=over(name, typed.node), affinity="", constant=None)
        if isinstance(node, exp.GroupConcat):
            made = self._texts_joined(node, typed, distinct, scope)
            return made._replace(node=wrap(made.node))
        typed = self.numeric(typed)
        real = self.as_real(typed)
        if self.target.name == "datafusion" and typed.kind != REAL:
            # DataFusion names sums without their casts, and takes two of one name as an error.
            real = make(exp.Mul, this=real, expression=self.number(1.0).node)
        if isinstance(node, exp.Avg):
            return Typed(over("AVG", real), REAL)
        if isinstance(node, exp.Sum):
            if typed.kind == NUM:
                return Typed(over("SUM", real), NUM)
            if typed.kind == REAL:
                return Typed(over("SUM", typed.node), REAL)
            name = "SIGNED" if self.target.quote == "`" else self.target.types[INT]
            return Typed(cast(over("SUM", typed.node), name), typed.kind)
        total = over("SUM", real)
        return Typed(call("COALESCE", total, self.number(0.0).node), REAL)

    def _texts_joined(self, node: Node, typed: Typed, distinct: bool, scope: Scope) -> Typed:
        separator = node.args.get("separator")
        if distinct and separator is not None:
            raise Unresolved("DISTINCT aggregates must have exactly one argument")
        between = "," if separator is None else separator
        if isinstance(between, exp.Literal) and between.is_string:
            between = str(between.this)
        if not isinstance(between, str):
            raise Inexpressible("group_concat with a separator that is computed")
        text = self.text(typed).node
        of = make(exp.Distinct, expressions=[text]) if distinct else text
        literal = self.literal(make(exp.Literal, this=between, is_string=True)).node
        if self.target.joins_texts == "GROUP_CONCAT":
            return Typed(make(exp.GroupConcat, this=of, separator=literal), TEXT)
        return Typed(call(self.target.joins_texts, of, literal), TEXT)

    # Scalar functions

    def _coalesce(self, arguments: list[Node], scope: Scope) -> Typed:
        typed = [self.value(argument, scope) for argument in arguments]
        kind = self.joined(t.kind for t in typed)
        return Typed(call("COALESCE", *[self.as_kind(t, kind) for t in typed]), kind)

    def _nullif(self, node: exp.Nullif, scope: Scope) -> Typed:
        left, right = (  # a function's arguments are compared without conversion
            self.value(n, scope)._replace(affinity="") for n in (node.this, node.expression)
        )
        if left.kind == NULL:
            return left
        test = self.compared(exp.EQ, left, right)
        if type(test) is exp.EQ and left.kind == right.kind:  # PostgreSQL's has the wider type
            made: Node = make(exp.Nullif, this=test.this, expression=test.expression)
        else:
            made = make(
                exp.Case,
                ifs=[make(exp.If, this=test, true=self.null(left.kind).node)],
                default=left.node,
            )
        return Typed(made, left.kind)

    def _extreme(self, node: Node, scope: Scope) -> Typed:
        """min and max of several: NULL if any is, unlike LEAST and GREATEST of other engines."""
        typed = [self.value(n, scope) for n in (node.this, *node.expressions)]
        kind = self.joined(t.kind for t in typed)
        name = self.target.least[isinstance(node, exp.Greatest)]
        found = call(name, *[self.as_kind(t, kind) for t in typed])
        tests: list[Node] = [
            make(exp.Is, this=paren(t.node), expression=make(exp.Null))
            for t in typed
            if t.constant is None
        ]
        if not tests or not self.target.boolean:
            return Typed(found, kind)
        test = tests[0]
        for more in tests[1:]:
            test = make(exp.Or, this=test, expression=more)
        null = self.null(INT if kind == NULL else kind).node
        return Typed(make(exp.Case, ifs=[make(exp.If, this=test, true=null)], default=found), kind)

    def _other(self, node: Node, scope: Scope) -> Typed:
        typed = self.of_one_row(node, scope)
        if typed is None:
            raise Inexpressible(_construct(node))
        return typed

    def pattern(self, node: Node, scope: Scope) -> Node:
        """LIKE ignores the case of ASCII letters and has no escape of its own; GLOB as a regular
        expression where its pattern is a literal."""
        escape = None
        if isinstance(node, exp.Escape):
            escape = self.value(node.expression, scope).constant
            if escape is None:  # NULL, too: engines take that for a pattern without one
                raise Inexpressible("LIKE with an escape that is NULL or computed")
            node = node.this
        texts = [self.value(n, scope) for n in (node.this, node.expression)]
        if any(t.kind in NUMBERS - {NULL, INT} for t in texts):
            raise Inexpressible("the text of a number with a point")
        left, right = (self.text(t) for t in texts)
        if isinstance(node, exp.Glob):
            return self._glob(left, right)
        if not isinstance(right.constant, str) and right.kind != NULL:
            raise Inexpressible("LIKE with a pattern that is computed")
        if escape is None and "\\" in str(right.constant):
            raise Inexpressible("LIKE with a backslash")
        self.doubts.add(LETTERS_DOUBT)
        if self.target.blind_like:
            kind: type[Node] = exp.ILike
        else:
            kind = exp.Like
            left, right = (t._replace(node=call("LOWER", t.node)) for t in (left, right))
        made: Node = kind(this=paren(left.node), expression=right.node)
        if escape is not None:
            made = make(
                exp.Escape,
                this=made,
                expression=make(exp.Literal, this=str(escape), is_string=True),
            )
        return make(exp.Not, this=make(exp.Paren, this=made)) if node.args.get("negate") else made

    def _glob(self, left: Typed, right: Typed) -> Node:
        pattern = right.constant
        if not isinstance(pattern, str) or "[" in pattern or self.target.quote == "`":
            raise Inexpressible("GLOB with a set of characters, or a pattern that is computed")
        text = "".join(_GLOB.get(c, c.translate(_SHOWN_SPECIAL)) for c in pattern)
        if self.target.name == "duckdb":
            return call("REGEXP_FULL_MATCH", left.node, self._text(text))
        return make(exp.RegexpLike, this=paren(left.node), expression=self._text(f"^{text}$"))

    def _text(self, text: str) -> Node:
        return make(exp.Literal, this=text, is_string=True)


def filtered(node: exp.Filter) -> Node:
    """An aggregate of what the filter lets through: of NULL in place of the rest."""
    made: Node = node.this.copy()
    place = made.expressions if isinstance(made, exp.Anonymous) else [made.this]
    argument = place[0]
    inner = argument.expressions[0] if isinstance(argument, exp.Distinct) else argument
    shown = make(exp.Literal, this="1", is_string=False) if isinstance(inner, exp.Star) else inner
    test = node.expression.this.copy()
    inner.replace(make(exp.Case, ifs=[make(exp.If, this=test, true=shown.copy())]))
    return made


def _construct(node: Node) -> str:
    """What a node is called in SQL."""
    if isinstance(node, exp.Anonymous):
        return f"{node.name.lower()}()"
    if isinstance(node, exp.Window):
        return "window function"
    if isinstance(node, exp.HexString):
        return "blob literal"
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(node).__name__).lower()
    return f"{words.replace(' ', '_')}()" if isinstance(node, exp.Func) else words


_GLOB = {"*": "(.|\n)*", "?": "(.|\n)"}


def _key(node: Node) -> str:
    """The node's text, to find it in GROUP BY."""
    return write(node).lower()


def _one_row(query: Node) -> bool:
    """Whether a query has at most one row for certain."""
    if not isinstance(query, exp.Select) or query.args.get("group"):
        return False
    return query.args.get("from_") is None or any(
        aggregates(output) for output in query.expressions
    )


def aggregates(node: Node) -> bool:
    """Whether an expression has an aggregate of its own query, not of one inside of it."""
    stack = [node]
    while stack:
        one = stack.pop()
        kind = type(one)
        if kind in _AGGREGATES or (kind is exp.Anonymous and aggregate(one)):
            return True
        if kind in _LEAVES or isinstance(one, exp.Query | exp.Window):
            continue
        for part in one.args.values():
            if type(part) is list:
                stack += [inner for inner in part if isinstance(inner, exp.Expr)]
            elif isinstance(part, exp.Expr):
                stack.append(part)
    return False
