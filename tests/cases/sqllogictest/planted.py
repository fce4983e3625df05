"""Engines over sqlite3 with one class of wrong result each, and `everything`, which has them all.

What is planted is a meaning: statements are rewritten by their syntax trees before SQLite runs
them, so that every query that uses the construct is affected and no other. Use as
`planted:limit_off_by_one`; `BUGS` lists the names.
"""

import functools
import re
import sqlite3

import sqlglot
from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.generators.sqlite import SQLiteGenerator

COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


class Writer(SQLiteGenerator):
    """Writes NUMERIC as it was, and not as REAL, which is another type."""

    TYPE_MAPPING = {**SQLiteGenerator.TYPE_MAPPING, exp.DType.DECIMAL: "NUMERIC"}  # noqa: RUF012


def written(tree):
    return Writer(dialect=SQLite()).generate(tree)


def sql(text):
    return sqlglot.parse_one(text, dialect="sqlite")


def call(name, *arguments):
    return exp.Anonymous(this=name, expressions=[a.copy() for a in arguments])


def both(first, second):
    """Two conditions as one; the first may be missing."""
    wrapped = exp.paren(second.copy())
    return exp.and_(exp.paren(first.copy()), wrapped) if first is not None else wrapped


def confined(select, condition):
    where = select.args.get("where")
    select.set("where", exp.Where(this=both(where and where.this, condition)))


def dropped_null_join_key(tree, engine):
    """LEFT JOIN loses the rows whose key is NULL."""
    for select in list(tree.find_all(exp.Select)):
        for join in select.args.get("joins") or ():
            on = join.args.get("on")
            if join.args.get("side") == "LEFT" and isinstance(on, exp.EQ):
                for column in (on.this, on.expression):
                    inner = isinstance(column, exp.Column) and column.table == join.alias_or_name
                    if isinstance(column, exp.Column) and column.table and not inner:
                        confined(
                            select, exp.Not(this=exp.Is(this=column.copy(), expression=exp.null()))
                        )


def in_without_collation(tree, engine):
    """IN does not use the collation of its left side."""
    for node in list(tree.find_all(exp.In)):
        if isinstance(node.this, exp.Column):
            bare = exp.Collate(this=node.this.copy(), expression=exp.to_identifier("BINARY"))
            node.set("this", bare)


def limit_off_by_one(tree, engine):
    """LIMIT gives a row more."""
    for node in tree.find_all(exp.Limit):
        node.set(
            "expression",
            exp.Add(this=exp.paren(node.expression.copy()), expression=exp.Literal.number(1)),
        )


def division_as_float(tree, engine):
    """Integers are divided as floats."""
    for node in list(tree.find_all(exp.Div)):
        node.set(
            "this", exp.Mul(this=exp.Literal.number("1.0"), expression=exp.paren(node.this.copy()))
        )


def null_equals_null(tree, engine):
    """NULL = NULL is true."""
    for node in list(tree.find_all(exp.EQ)):
        if not isinstance(node.parent, exp.Update):
            node.replace(exp.NullSafeEQ(this=node.this.copy(), expression=node.expression.copy()))


def distinct_keeps_duplicates(tree, engine):
    """SELECT DISTINCT gives all rows."""
    for node in tree.find_all(exp.Select):
        node.set("distinct", None)


def sum_of_nothing_is_zero(tree, engine):
    """SUM of no values is 0."""
    for node in list(tree.find_all(exp.Sum)):
        whole = node.parent if isinstance(node.parent, exp.Filter) else node
        whole.replace(call("IFNULL", whole, exp.Literal.number(0)))


def not_in_forgets_null(tree, engine):
    """NOT IN takes a NULL in the list for no value."""
    for node in list(tree.find_all(exp.Not)):
        inner = node.this.unnest()
        if isinstance(inner, exp.In):
            node.set("this", call("IFNULL", inner, exp.Literal.number(0)))


def like_minds_case(tree, engine):
    """LIKE is case sensitive."""
    for node in list(tree.find_all(exp.Like)):
        if not isinstance(node.parent, exp.Escape):
            node.replace(call("LIKE_WITH_CASE", node.this, node.expression))


def between_without_end(tree, engine):
    """BETWEEN leaves out its upper bound."""
    for node in list(tree.find_all(exp.Between)):
        low = exp.GTE(
            this=exp.paren(node.this.copy()), expression=exp.paren(node.args["low"].copy())
        )
        high = exp.LT(
            this=exp.paren(node.this.copy()), expression=exp.paren(node.args["high"].copy())
        )
        node.replace(exp.paren(exp.and_(low, high)))


def nulls_come_last(tree, engine):
    """ORDER BY has NULLs at the end."""
    for node in tree.find_all(exp.Ordered):
        if not node.args.get("desc"):
            node.set("nulls_first", False)


def union_keeps_duplicates(tree, engine):
    """UNION gives all rows."""
    for node in tree.find_all(exp.Union):
        node.set("distinct", False)


def cast_rounds(tree, engine):
    """CAST of a real number to INTEGER rounds it."""
    for node in list(tree.find_all(exp.Cast)):
        if node.to.this in exp.DataType.INTEGER_TYPES:
            node.set("this", call("ROUNDED", node.this))


def count_counts_null(tree, engine):
    """COUNT of a column counts NULLs."""
    for node in tree.find_all(exp.Count):
        if not isinstance(node.this, exp.Star | exp.Distinct):
            node.set("this", exp.Star())


def having_is_ignored(tree, engine):
    """HAVING has no effect."""
    for node in tree.find_all(exp.Select):
        if node.args.get("group"):
            node.set("having", None)


def affinity_is_lost(tree, engine):
    """A comparison of a column with a literal does not use the column's affinity."""
    for node in list(tree.find_all(*COMPARISONS)):
        column = isinstance(node.this, exp.Column) and not isinstance(node.parent, exp.Update)
        if column and isinstance(node.expression, exp.Literal):
            node.set("this", call("IFNULL", node.this, exp.null()))


def subquery_is_cached(tree, engine):
    """A correlated subquery is computed for the first row alone."""
    for select in list(tree.find_all(exp.Select)):
        if select.find_ancestor(exp.Select) is None:
            continue
        own = {t.alias_or_name for t in select.find_all(exp.Table)}
        outer = {t.alias_or_name: t.name for t in tree.find_all(exp.Table)}
        for column in list(select.find_all(exp.Column)):
            if column.table and column.table not in own and column.table in outer:
                column.replace(sql(f"(SELECT {column.name} FROM {outer[column.table]} LIMIT 1)"))


def index_misses_updated_rows(tree, engine):
    """After an UPDATE an indexed column's comparisons do not find the updated rows."""
    if isinstance(tree, exp.Update):
        where = tree.args.get("where")
        name = tree.this.name
        if name in engine.indexed:
            changed = engine.rows(
                f"SELECT rowid FROM {name} {where.sql('sqlite') if where else ''}"
            )
            engine.stale.setdefault(name, set()).update(row for (row,) in changed)
    for select in list(tree.find_all(exp.Select)):
        source = select.args.get("from_")
        name = source.this.name if source and isinstance(source.this, exp.Table) else ""
        where = select.args.get("where")
        stale = engine.stale.get(name)
        if where is None or not stale or select.args.get("joins"):
            continue
        if any(
            c.this.name in engine.indexed[name]
            for n in where.find_all(*COMPARISONS)
            for c in [n]
            if isinstance(c.this, exp.Column)
        ):
            rows = ", ".join(map(str, sorted(stale)))
            confined(select, sql(f"rowid NOT IN ({rows})"))


def delete_leaves_one(tree, engine):
    """DELETE with a condition leaves one of its rows."""
    if isinstance(tree, exp.Delete) and tree.args.get("where"):
        where = tree.args["where"]
        last = f"rowid <> (SELECT max(rowid) FROM {tree.this.name} {where.sql('sqlite')})"
        tree.set("where", exp.Where(this=both(where.this, sql(last))))


def where_is_pushed_into_left_join(tree, engine):
    """WHERE is evaluated with the ON of a LEFT JOIN."""
    for select in list(tree.find_all(exp.Select)):
        where, joins = select.args.get("where"), select.args.get("joins") or ()
        if where and len(joins) == 1 and joins[0].args.get("side") == "LEFT":
            joins[0].set("on", both(joins[0].args.get("on"), where.this))
            select.set("where", None)


def case_falls_through(tree, engine):
    """CASE gives the result of the arm after the one that matches."""
    for node in tree.find_all(exp.Case):
        arms = node.args["ifs"]
        results = [arm.args["true"].copy() for arm in arms[1:]]
        for arm, result in zip(arms, results, strict=False):
            arm.set("true", result)


def overflow_wraps(tree, engine):
    """A sum of integers beyond 64 bits wraps."""
    for node in list(tree.find_all(exp.Add)):
        node.replace(call("WRAPPED_SUM", node.this, node.expression))


def min_of_null_is_null(tree, engine):
    """MIN is NULL as soon as one value is."""
    for node in list(tree.find_all(exp.Min)):
        plain = not node.expressions and not isinstance(node.parent, exp.Filter)
        if plain and not isinstance(node.this, exp.Distinct):
            made = sql("CASE WHEN COUNT(*) = COUNT(a) THEN MIN(a) END")
            for column in list(made.find_all(exp.Column)):
                column.replace(node.this.copy())
            node.replace(exp.paren(made))


def coalesce_takes_last(tree, engine):
    """COALESCE gives the last of its values that is not NULL."""
    for node in tree.find_all(exp.Coalesce):
        first, *others = (value.copy() for value in [node.this, *node.expressions][::-1])
        node.set("this", first)
        node.set("expressions", others)


def except_keeps_common(tree, engine):
    """EXCEPT gives its left side."""
    for node in list(tree.find_all(exp.Except)):
        node.set("expression", sql(f"SELECT * FROM ({node.expression.sql('sqlite')}) WHERE 0"))


RULES = (
    null_equals_null,
    not_in_forgets_null,
    sum_of_nothing_is_zero,
    coalesce_takes_last,
    case_falls_through,
    dropped_null_join_key,
    in_without_collation,
    limit_off_by_one,
    division_as_float,
    distinct_keeps_duplicates,
    like_minds_case,
    affinity_is_lost,
    between_without_end,
    nulls_come_last,
    union_keeps_duplicates,
    cast_rounds,
    count_counts_null,
    having_is_ignored,
    subquery_is_cached,
    index_misses_updated_rows,
    delete_leaves_one,
    where_is_pushed_into_left_join,
    overflow_wraps,
    min_of_null_is_null,
    except_keeps_common,
)
BUGS = tuple(rule.__name__ for rule in RULES)


class Connection:
    """A sqlite3 connection on which statements are changed by some of the rules."""

    def __init__(self, rules):
        self.rules = rules
        self.indexed = {}
        self.stale = {}
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.create_function("LIKE_WITH_CASE", 2, like_with_case)
        self.connection.create_function("ROUNDED", 1, rounded)
        self.connection.create_function("WRAPPED_SUM", 2, wrapped_sum)

    def rows(self, text):
        return self.connection.execute(text).fetchall()

    def cursor(self):
        return Cursor(self)

    def close(self):
        self.connection.close()

    def changed(self, text):
        """The statement as the rules leave it; those that cannot be read are left alone."""
        index = re.match(
            r"\s*CREATE\s+(?:UNIQUE\s+)?INDEX\s+\w+\s+ON\s+(\w+)\s*\(([^)]*)", text, re.I
        )
        if index:
            self.indexed.setdefault(index[1], set()).update(re.findall(r"\w+", index[2]))
        if not re.match(r"\s*(SELECT|UPDATE|DELETE)\b", text, re.I):
            return text
        known = read(text)
        if known is None:
            return text
        tree = known.copy()
        for rule in self.rules:
            rule(tree, self)
        return text if tree == known else written(tree)


class Cursor:
    def __init__(self, engine):
        self.engine = engine
        self.cursor = engine.connection.cursor()

    @property
    def description(self):
        return self.cursor.description

    def execute(self, text):
        self.cursor.execute(self.engine.changed(text))

    def fetchall(self):
        return self.cursor.fetchall()

    def close(self):
        self.cursor.close()


@functools.lru_cache(maxsize=2000)
def read(text):
    try:
        return sql(text)
    except sqlglot.errors.SqlglotError:
        return None


def like_with_case(text, pattern):
    if text is None or pattern is None:
        return None
    parts = re.split("([%_])", str(pattern))
    regex = "".join({"%": ".*", "_": "."}.get(part, re.escape(part)) for part in parts)
    return int(re.fullmatch(regex, str(text), re.DOTALL) is not None)


def rounded(value):
    return round(value) if isinstance(value, float) and abs(value) < 1e15 else value


def wrapped_sum(a, b):
    a, b = (number(v) if isinstance(v, str | bytes) else v for v in (a, b))
    if a is None or b is None:
        return None
    total = a + b
    return (total + 2**63) % 2**64 - 2**63 if isinstance(total, int) else total


def number(text):
    """What SQLite makes of a text as a number."""
    text = text.decode(errors="replace") if isinstance(text, bytes) else text
    found = re.match(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", text)
    return 0 if not found else float(found[0]) if re.search(r"[.eE]", found[0]) else int(found[0])


def everything():
    return Connection(RULES)


for _rule in RULES:
    globals()[_rule.__name__] = functools.partial(Connection, (_rule,))
