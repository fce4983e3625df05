"""Features of SQL text: which of them a statement uses, and a smallest query for each.

A query is made of features that its productions name, but a case is text: it may come from a file
or have been made smaller. So its features are read off its tree. The smallest queries ask an engine
what it has at all, before thousands of cases are spent on finding that out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set

from sqlglot import exp

from refute.fuzz.sql import definition_looks
from refute.fuzz.sql.looks import ANONYMOUS, LOOKS
from refute.fuzz.sql.nodes import everything, settled
from refute.fuzz.sql.text import Node, look

PROBE_SETUP = ("CREATE TABLE t (a INTEGER, b TEXT)", "INSERT INTO t VALUES (1, 'x')")

_NODES: dict[str, tuple[type[Node], ...]] = {
    "division": (exp.Div,),
    "modulo": (exp.Mod,),
    "concat": (exp.DPipe,),
    "is": (exp.NullSafeEQ, exp.NullSafeNEQ),
    "exists": (exp.Exists,),
    "between": (exp.Between,),
    "like": (exp.Like,),
    "escape": (exp.Escape,),
    "glob": (exp.Glob,),
    "case": (exp.Case,),
    "coalesce": (exp.Coalesce, exp.Nullif),
    "cast": (exp.Cast,),
    "functions": (exp.Length, exp.Upper, exp.Lower, exp.Substring, exp.Typeof, exp.Abs),
    "text-functions": (exp.Replace, exp.Trim, exp.Hex, exp.Chr),
    "number-functions": (exp.Round, exp.Unicode, exp.StrPosition),
    "sign": (exp.Sign,),
    "min-max": (exp.Least, exp.Greatest),
    "bits": (
        *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseNot),
        *(exp.BitwiseLeftShift, exp.BitwiseRightShift),
    ),
    "blob": (exp.HexString,),
    "cte": (exp.CTE,),
    "collate": (exp.Collate,),
    "aggregate": (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max),
    "filter": (exp.Filter,),
    "group-concat": (exp.GroupConcat,),
    "group-by": (exp.Group,),
    "order-by": (exp.Order,),
    "limit": (exp.Limit, exp.Offset),
    "window-frame": (exp.WindowSpec,),
    "except": (exp.Except,),
    "intersect": (exp.Intersect,),
    "not-null": (exp.NotNullColumnConstraint,),
    "primary-key": (exp.PrimaryKeyColumnConstraint, exp.PrimaryKey),
    "unique": (exp.UniqueColumnConstraint,),
    "default": (exp.DefaultColumnConstraint,),
    "column-collate": (exp.CollateColumnConstraint,),
    **definition_looks.NODES,
}

PROBES: dict[str, str] = {
    "inner-join": "SELECT x.a FROM t INNER JOIN t AS x ON t.a = x.a",
    "left-join": "SELECT x.a FROM t LEFT JOIN t AS x ON t.a = x.a",
    "cross-join": "SELECT x.a FROM t CROSS JOIN t AS x, t AS y",
    "right-join": "SELECT x.a FROM t RIGHT JOIN t AS x ON t.a = x.a",
    "full-join": "SELECT x.a FROM t FULL JOIN t AS x ON t.a = x.a",
    "natural-join": "SELECT x.a FROM t NATURAL JOIN t AS x",
    "using": "SELECT x.a FROM t JOIN t AS x USING (a)",
    "join-alone": "SELECT x.a FROM t LEFT JOIN t AS x",
    "paren-from": "SELECT x.a FROM (t CROSS JOIN t AS x)",
    "values": "SELECT x.column1 FROM (VALUES (1), ('a')) AS x",
    "not-indexed": "SELECT a FROM t NOT INDEXED",
    "rowid": "SELECT t.rowid FROM t",
    "division": "SELECT a / 2 FROM t",
    "modulo": "SELECT a % 2 FROM t",
    "concat": "SELECT b || 'y' FROM t",
    "is": "SELECT a IS 2 FROM t",
    "in-list": "SELECT a IN (1, 2) FROM t",
    "in-empty": "SELECT a IN () FROM t",
    "in-subquery": "SELECT a IN (SELECT x.a FROM t AS x) FROM t",
    "exists": "SELECT a FROM t WHERE EXISTS(SELECT x.a FROM t AS x)",
    "between": "SELECT a BETWEEN 0 AND 2 FROM t",
    "like": "SELECT b LIKE 'x%' FROM t",
    "escape": "SELECT b LIKE 'x%' ESCAPE 'x' FROM t",
    "glob": "SELECT b GLOB 'x*' FROM t",
    "case": "SELECT CASE WHEN a = 1 THEN 2 END FROM t",
    "coalesce": "SELECT COALESCE(NULLIF(a, 1), 2) FROM t",
    "cast": "SELECT CAST(b AS INTEGER) FROM t",
    "functions": "SELECT LENGTH(b), UPPER(b), LOWER(b), SUBSTR(b, 1, 1), TYPEOF(b), ABS(a) FROM t",
    "text-functions": "SELECT REPLACE(b, 'x', 'y'), TRIM(b), LTRIM(b, 'x'), RTRIM(b), HEX(b), "
    "QUOTE(b), CHAR(65), PRINTF('%d', a) FROM t",
    "number-functions": "SELECT ROUND(a), ROUND(a, 1), UNICODE(b), INSTR(b, 'x') FROM t",
    "sign": "SELECT SIGN(a) FROM t",
    "min-max": "SELECT MIN(a, 2), MAX(a, 2) FROM t",
    "iif": "SELECT IIF(a, 1, 2) FROM t",
    "likelihood": "SELECT LIKELY(a), UNLIKELY(a), LIKELIHOOD(a, 0.5) FROM t",
    "zeroblob": "SELECT ZEROBLOB(1) FROM t",
    "bits": "SELECT ~a, a & 1, a | 2, a << 1, a >> 1 FROM t",
    "unary-plus": "SELECT +a FROM t",
    "blob": "SELECT x'61', CAST(b AS BLOB) FROM t",
    "boolean": "SELECT TRUE, a IS FALSE FROM t",
    "infinity": "SELECT 1e500 FROM t",
    "row-values": "SELECT (a, b) < (1, 'y') FROM t",
    "row-between": "SELECT (a, b) BETWEEN (0, 'x') AND (1, 'y') FROM t",
    "row-in": "SELECT (a, b) IN (VALUES (1, 'x')), (a, b) IN (SELECT 1, 'x') FROM t",
    "collate": "SELECT b = 'X' COLLATE NOCASE FROM t",
    "aggregate": "SELECT COUNT(*), COUNT(a), SUM(a), AVG(a), MIN(a), MAX(a) FROM t",
    "aggregate-distinct": "SELECT COUNT(DISTINCT a), SUM(DISTINCT a) FROM t",
    "filter": "SELECT COUNT(a) FILTER(WHERE a > 0) FROM t",
    "total": "SELECT TOTAL(a) FROM t",
    "group-concat": "SELECT GROUP_CONCAT(b, ',') FROM t",
    "group-by": "SELECT a FROM t GROUP BY a",
    "group-by-expression": "SELECT a + 1 FROM t GROUP BY a + 1",
    "bare-columns": "SELECT MIN(a), b FROM t",
    "having": "SELECT a FROM t GROUP BY a HAVING COUNT(*) > 0",
    "having-alone": "SELECT COUNT(*) FROM t HAVING COUNT(*) > 0",
    "distinct": "SELECT DISTINCT a FROM t",
    "order-by": "SELECT a AS c FROM t ORDER BY c, 1 DESC",
    "order-by-expression": "SELECT a FROM t ORDER BY a + 1",
    "nulls-order": "SELECT a FROM t ORDER BY a NULLS LAST",
    "limit": "SELECT a FROM t LIMIT 1 OFFSET 0",
    "limit-inside": "SELECT a FROM t WHERE EXISTS(SELECT 1 FROM t LIMIT 1)",
    "scalar-subquery": "SELECT (SELECT COUNT(*) FROM t AS x) FROM t",
    "correlated": "SELECT a FROM t WHERE EXISTS(SELECT x.a FROM t AS x WHERE x.a = t.a)",
    "derived-table": "SELECT x.c FROM (SELECT a AS c FROM t) AS x",
    "cte": "WITH x AS (SELECT a FROM t) SELECT x.a FROM x",
    "materialized": "WITH x AS MATERIALIZED (SELECT 1 AS c), y AS NOT MATERIALIZED (SELECT 2 AS d) "
    "SELECT x.c FROM x",
    "recursive": "WITH RECURSIVE x(n) AS (SELECT 1 UNION SELECT x.n + 1 FROM x WHERE x.n < 2) "
    "SELECT x.n FROM x",
    "window": "SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY b), RANK() OVER (ORDER BY a), "
    "LAG(a, 1, 0) OVER (ORDER BY a), FIRST_VALUE(a) OVER (ORDER BY a), SUM(a) OVER () FROM t",
    "window-frame": "SELECT SUM(a) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) "
    "FROM t",
    "window-exclude": "SELECT COUNT(*) OVER (ORDER BY a GROUPS BETWEEN 1 PRECEDING AND "
    "1 FOLLOWING EXCLUDE TIES) FROM t",
    "named-window": "SELECT RANK() OVER w FROM t WINDOW w AS (ORDER BY a)",
    "union": "SELECT a FROM t UNION SELECT b FROM t",
    "union-all": "SELECT a FROM t UNION ALL SELECT b FROM t",
    "intersect": "SELECT a FROM t INTERSECT SELECT a FROM t",
    "except": "SELECT a FROM t EXCEPT SELECT b FROM t",
    "compound-several": "SELECT a FROM t UNION SELECT b FROM t UNION SELECT 1",
    "compound-inside": "SELECT a IN (SELECT a FROM t UNION SELECT b FROM t) FROM t",
}
TABLE_PROBES: dict[str, str] = {
    "not-null": "CREATE TABLE u (a INTEGER NOT NULL)",
    "primary-key": "CREATE TABLE u (a INTEGER PRIMARY KEY)",
    "unique": "CREATE TABLE u (a INTEGER UNIQUE)",
    "default": "CREATE TABLE u (a INTEGER DEFAULT 1)",
    "column-collate": "CREATE TABLE u (a TEXT COLLATE NOCASE)",
    "untyped": "CREATE TABLE u (a)",
    "numeric": "CREATE TABLE u (a NUMERIC)",
    **definition_looks.PROBES,
}
NAMES: dict[type[Node], tuple[str, ...]] = {  # of features, by the kind of node
    kind: tuple(name for name, kinds in _NODES.items() if kind in kinds)
    for kinds in _NODES.values()
    for kind in kinds
}
_LOOKS: dict[type[Node], tuple[Callable[[Node], Iterator[str]], ...]] = {
    kind: tuple(looks[kind] for looks in (LOOKS, definition_looks.LOOKS) if kind in looks)
    for kind in (*LOOKS, *definition_looks.LOOKS)
}
# Kinds of nodes that generated statements have besides those of their features.
_CORE = """
    Add Alias And Boolean Column ColumnConstraint ColumnDef Create DataType Distinct EQ From GT GTE
    Having Identifier If In Insert Is Join LT LTE Literal Mul NEQ Neg Not Null Or Ordered Paren
    Schema Select Star Sub Subquery Table TableAlias Tuple Union Values Var Where With Window
    RowNumber Rank DenseRank PercentRank CumeDist Ntile Lag Lead FirstValue LastValue NthValue
"""
_KNOWN: frozenset[type[Node]] = frozenset(
    [
        *(getattr(exp, name) for name in _CORE.split()),
        *definition_looks.CORE,
        *(k for kinds in _NODES.values() for k in kinds),
    ]
)
OF_TABLES = (*TABLE_PROBES, "conversion", "violation")

# What a feature is of no use without: it is left out together with that one.
NEEDS: dict[str, tuple[str, ...]] = {
    "having": ("group-by", "aggregate"),
    "having-alone": ("aggregate",),
    "scalar-subquery": ("aggregate",),
    "aggregate-distinct": ("aggregate",),
    "filter": ("aggregate",),
    "total": ("aggregate",),
    "group-concat": ("aggregate",),
    "group-by": ("aggregate",),
    "nulls-order": ("order-by",),
    "correlated": ("exists",),
    "natural-join": ("inner-join",),
    "using": ("inner-join",),
    "join-alone": ("left-join",),
    "paren-from": ("cross-join",),
    "in-empty": ("in-list",),
    "escape": ("like",),
    "group-by-expression": ("group-by", "aggregate"),
    "bare-columns": ("aggregate",),
    "order-by-expression": ("order-by",),
    "limit-inside": ("limit", "order-by", "exists"),
    "indexed-by": ("index",),
    "materialized": ("cte",),
    "recursive": ("cte", "union"),
    "window": ("order-by", "aggregate"),
    "window-frame": ("window", "order-by"),
    "window-exclude": ("window-frame", "window", "order-by"),
    "named-window": ("window", "order-by"),
    "compound-several": ("union",),
    "compound-inside": ("union", "in-subquery"),
    "row-between": ("between",),
    **definition_looks.NEEDS,
}


def supported(chosen: Sequence[str], refused: Sequence[str]) -> list[str]:
    """The chosen features without those refused, and without what is of no use then."""
    left = [name for name in chosen if name not in refused]
    while lost := [n for n in left if any(w in refused for w in NEEDS.get(n, ()))]:
        refused = [*refused, *lost]
        left = [name for name in left if name not in lost]
    return left


def features_of(statements: Sequence[str]) -> frozenset[str]:
    """The features that the statements use, but for "conversion" and "violation".

    Those two are about values, which any engine takes or refuses one by one.
    """
    found: set[str] = set()
    for statement in statements:
        tree = look(statement)
        if tree is not None:
            found |= features_in(tree)
    return frozenset(found)


def speaks_of(features: Set[str], setup: Sequence[str], query: str) -> bool:
    """Whether a case could have been generated from these features, or made smaller from one.

    A case from a file may ask what no generated query asks, such as the version of the engine.
    """
    trees = [look(statement) for statement in setup]
    asked = look(query)
    tables = all(isinstance(t, definition_looks.STATEMENTS) and _is_known(t) for t in trees)
    known = isinstance(asked, exp.Query) and _is_known(asked)
    return tables and known and features_of([*setup, query]) <= features


def _is_known(tree: Node) -> bool:
    """Whether all of it is of kinds that are generated."""
    return all(
        node.name.upper() in ANONYMOUS
        if isinstance(node, exp.Anonymous)
        else node.name.upper() in definition_looks.COMMANDS
        if isinstance(node, exp.Command)
        else type(node) in _KNOWN
        for node in everything(tree)
    )


def features_in(tree: Node) -> set[str]:
    """The features that one tree uses."""
    found: set[str] = set()
    for node in everything(settled(tree)):
        found.update(NAMES.get(type(node), ()))
        for look_at in _LOOKS.get(type(node), ()):
            found.update(look_at(node))
    return found
