"""Features of SQL text: which of them a statement uses, and a smallest query for each.

A query is made of features that its productions name, but a case is text: it may come from a file
or have been made smaller. So its features are read off its tree. The smallest queries ask an engine
what it has at all, before thousands of cases are spent on finding that out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set

from sqlglot import exp

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
    "case": (exp.Case,),
    "coalesce": (exp.Coalesce, exp.Nullif),
    "cast": (exp.Cast,),
    "functions": (exp.Length, exp.Upper, exp.Lower, exp.Substring, exp.Typeof, exp.Abs),
    "collate": (exp.Collate,),
    "aggregate": (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max),
    "filter": (exp.Filter,),
    "group-concat": (exp.GroupConcat,),
    "group-by": (exp.Group,),
    "order-by": (exp.Order,),
    "limit": (exp.Limit, exp.Offset),
    "except": (exp.Except,),
    "intersect": (exp.Intersect,),
    "not-null": (exp.NotNullColumnConstraint,),
    "primary-key": (exp.PrimaryKeyColumnConstraint, exp.PrimaryKey),
    "unique": (exp.UniqueColumnConstraint,),
    "default": (exp.DefaultColumnConstraint,),
    "column-collate": (exp.CollateColumnConstraint,),
}

PROBES: dict[str, str] = {
    "inner-join": "SELECT x.a FROM t INNER JOIN t AS x ON t.a = x.a",
    "left-join": "SELECT x.a FROM t LEFT JOIN t AS x ON t.a = x.a",
    "cross-join": "SELECT x.a FROM t CROSS JOIN t AS x, t AS y",
    "division": "SELECT a / 2 FROM t",
    "modulo": "SELECT a % 2 FROM t",
    "concat": "SELECT b || 'y' FROM t",
    "is": "SELECT a IS 2 FROM t",
    "in-list": "SELECT a IN (1, 2) FROM t",
    "in-subquery": "SELECT a IN (SELECT x.a FROM t AS x) FROM t",
    "exists": "SELECT a FROM t WHERE EXISTS(SELECT x.a FROM t AS x)",
    "between": "SELECT a BETWEEN 0 AND 2 FROM t",
    "like": "SELECT b LIKE 'x%' FROM t",
    "case": "SELECT CASE WHEN a = 1 THEN 2 END FROM t",
    "coalesce": "SELECT COALESCE(NULLIF(a, 1), 2) FROM t",
    "cast": "SELECT CAST(b AS INTEGER) FROM t",
    "functions": "SELECT LENGTH(b), UPPER(b), LOWER(b), SUBSTR(b, 1, 1), TYPEOF(b), ABS(a) FROM t",
    "collate": "SELECT b = 'X' COLLATE NOCASE FROM t",
    "aggregate": "SELECT COUNT(*), COUNT(a), SUM(a), AVG(a), MIN(a), MAX(a) FROM t",
    "aggregate-distinct": "SELECT COUNT(DISTINCT a), SUM(DISTINCT a) FROM t",
    "filter": "SELECT COUNT(a) FILTER(WHERE a > 0) FROM t",
    "total": "SELECT TOTAL(a) FROM t",
    "group-concat": "SELECT GROUP_CONCAT(b, ',') FROM t",
    "group-by": "SELECT a FROM t GROUP BY a",
    "having": "SELECT a FROM t GROUP BY a HAVING COUNT(*) > 0",
    "having-alone": "SELECT COUNT(*) FROM t HAVING COUNT(*) > 0",
    "distinct": "SELECT DISTINCT a FROM t",
    "order-by": "SELECT a AS c FROM t ORDER BY c, 1 DESC",
    "nulls-order": "SELECT a FROM t ORDER BY a NULLS LAST",
    "limit": "SELECT a FROM t LIMIT 1 OFFSET 0",
    "scalar-subquery": "SELECT (SELECT COUNT(*) FROM t AS x) FROM t",
    "correlated": "SELECT a FROM t WHERE EXISTS(SELECT x.a FROM t AS x WHERE x.a = t.a)",
    "derived-table": "SELECT x.c FROM (SELECT a AS c FROM t) AS x",
    "union": "SELECT a FROM t UNION SELECT b FROM t",
    "union-all": "SELECT a FROM t UNION ALL SELECT b FROM t",
    "intersect": "SELECT a FROM t INTERSECT SELECT a FROM t",
    "except": "SELECT a FROM t EXCEPT SELECT b FROM t",
}
TABLE_PROBES: dict[str, str] = {
    "not-null": "CREATE TABLE u (a INTEGER NOT NULL)",
    "primary-key": "CREATE TABLE u (a INTEGER PRIMARY KEY)",
    "unique": "CREATE TABLE u (a INTEGER UNIQUE)",
    "default": "CREATE TABLE u (a INTEGER DEFAULT 1)",
    "column-collate": "CREATE TABLE u (a TEXT COLLATE NOCASE)",
    "untyped": "CREATE TABLE u (a)",
    "numeric": "CREATE TABLE u (a NUMERIC)",
}
NAMES: dict[type[Node], tuple[str, ...]] = {  # of features, by the kind of node
    kind: tuple(name for name, kinds in _NODES.items() if kind in kinds)
    for kinds in _NODES.values()
    for kind in kinds
}
# Kinds of nodes that generated statements have besides those of their features.
_CORE = """
    Add Alias And Column ColumnConstraint ColumnDef Create DataType Distinct EQ From GT GTE Having
    Identifier If In Insert Is Join LT LTE Literal Mul NEQ Neg Not Null Or Ordered Paren Schema
    Select Star Sub Subquery Table TableAlias Tuple Union Values Var Where
"""
_KNOWN: frozenset[type[Node]] = frozenset(
    [
        *(getattr(exp, name) for name in _CORE.split()),
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
    tables = all(isinstance(t, exp.Create | exp.Insert) and _is_known(t) for t in trees)
    known = isinstance(asked, exp.Query) and _is_known(asked)
    return tables and known and features_of([*setup, query]) <= features


def _is_known(tree: Node) -> bool:
    """Whether all of it is of kinds that are generated."""
    return all(
        node.name.upper() == "TOTAL" if isinstance(node, exp.Anonymous) else type(node) in _KNOWN
        for node in tree.walk()
    )


def features_in(tree: Node) -> set[str]:
    """The features that one tree uses."""
    found: set[str] = set()
    for node in tree.walk():
        kind = type(node)
        if kind in NAMES:
            found.update(NAMES[kind])
        if kind in _LOOKS:
            found.update(_LOOKS[kind](node))
    return found


def _join(node: Node) -> Iterator[str]:
    side, kind = (str(node.args.get(name) or "").upper() for name in ("side", "kind"))
    if side == "LEFT":
        yield "left-join"
    elif node.args.get("on") is not None or kind == "INNER":
        yield "inner-join"
    else:
        yield "cross-join"


def _select(node: Node) -> Iterator[str]:
    if node.args.get("distinct"):
        yield "distinct"
    if node.args.get("having"):
        yield "having" if node.args.get("group") else "having-alone"
    if node.parent is not None and _correlated(node):
        yield "correlated"


def _correlated(select: Node) -> bool:
    """Whether it names a table that is in none of the FROM clauses inside."""
    known = {table.alias_or_name for table in select.find_all(exp.Table)}
    known |= {query.alias for query in select.find_all(exp.Subquery)}
    return any(c.table and c.table not in known for c in select.find_all(exp.Column))


def _subquery(node: Node) -> Iterator[str]:
    inside = isinstance(node.parent, exp.From | exp.Join)
    if inside:
        yield "derived-table"
    elif not isinstance(node.parent, exp.In):
        yield "scalar-subquery"


def _ordered(node: Node) -> Iterator[str]:
    if bool(node.args.get("nulls_first")) == bool(node.args.get("desc")):
        yield "nulls-order"


def _distinct(node: Node) -> Iterator[str]:
    if isinstance(node.parent, exp.AggFunc):
        yield "aggregate-distinct"


def _anonymous(node: Node) -> Iterator[str]:
    if node.name.upper() == "TOTAL":
        yield "total"


def _definition(node: Node) -> Iterator[str]:
    kind = node.args.get("kind")
    if kind is None:
        yield "untyped"
    elif kind.this == exp.DType.DECIMAL:
        yield "numeric"


def _create(node: Node) -> Iterator[str]:
    if isinstance(node.this, exp.Schema) and any(
        isinstance(column, exp.Identifier) for column in node.this.expressions
    ):
        yield "untyped"


_LOOKS: dict[type[Node], Callable[[Node], Iterator[str]]] = {
    exp.Join: _join,
    exp.Select: _select,
    exp.Subquery: _subquery,
    exp.In: lambda node: iter(["in-subquery" if node.args.get("query") else "in-list"]),
    exp.Union: lambda node: iter(["union" if node.args.get("distinct") else "union-all"]),
    exp.Ordered: _ordered,
    exp.Distinct: _distinct,
    exp.Anonymous: _anonymous,
    exp.ColumnDef: _definition,
    exp.Create: _create,
}
