"""Looks: the features that are not told by the kind of a node alone, but by what stands around it.

A kind of join, a subquery's place, a mark that SQLite's reader has left: each kind of node has a
function that names what it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from refute.fuzz.sql.nodes import everything
from refute.fuzz.sql.text import Node

ANONYMOUS: dict[str, str] = {
    "TOTAL": "total",
    **dict.fromkeys(("QUOTE", "PRINTF"), "text-functions"),
    **dict.fromkeys(("LIKELY", "UNLIKELY", "LIKELIHOOD"), "likelihood"),
    "ZEROBLOB": "zeroblob",
}


def _join(node: Node) -> Iterator[str]:
    side, kind = (str(node.args.get(name) or "").upper() for name in ("side", "kind"))
    if node.args.get("method"):
        yield "natural-join"
    if node.args.get("using"):
        yield "using"
    if side:
        yield f"{side.lower()}-join"
    alone = node.args.get("alone")
    bound = any(node.args.get(name) is not None for name in ("on", "using", "method"))
    if kind == "CROSS" or not (side or kind or bound):
        yield "cross-join"
    elif not side:
        yield "inner-join"
    if alone or (not bound and kind != "CROSS" and (side or kind)):
        yield "join-alone"


def _select(node: Node) -> Iterator[str]:
    if node.args.get("distinct"):
        yield "distinct"
    if node.args.get("having"):
        yield "having" if node.args.get("group") else "having-alone"
    if node.args.get("windows"):
        yield "named-window"
    inside = isinstance(node.parent, exp.CTE | exp.Exists) or (
        isinstance(node.parent, exp.Subquery)
        and isinstance(node.parent.parent, exp.From | exp.Join | exp.In)
    )
    if node.args.get("limit") and (inside or _beside_row(node)):
        yield "limit-inside"
    if node.parent is not None and _correlated(node):
        yield "correlated"
    if _bare(node):
        yield "bare-columns"


def _beside_row(node: Node) -> bool:
    """Whether it gives a row value."""
    return isinstance(node, exp.Select) and len(node.expressions) > 1 and node.parent is not None


def _bare(select: Node) -> bool:
    """Whether a column stands beside a single MIN or MAX that no GROUP BY fixes."""
    group = select.args.get("group")
    keys = [] if group is None else group.expressions
    if any(not isinstance(key, exp.Column) for key in keys):
        return False
    shown = [output.unalias() for output in select.expressions]
    extremes = [s for s in shown if isinstance(s, exp.Min | exp.Max)]
    return len(extremes) == 1 and any(isinstance(s, exp.Column) and s not in keys for s in shown)


def _correlated(select: Node) -> bool:
    """Whether it names a table that is in none of the FROM clauses inside."""
    inside = everything(select)
    known = {n.alias_or_name for n in inside if isinstance(n, exp.Table)}
    known |= {n.alias for n in inside if isinstance(n, exp.Subquery | exp.Values)}
    return any(n.table and n.table not in known for n in inside if isinstance(n, exp.Column))


def _subquery(node: Node) -> Iterator[str]:
    if isinstance(node.parent, exp.SetOperation):
        return
    if isinstance(node.this, exp.Table):
        yield "paren-from"
    elif isinstance(node.parent, exp.From | exp.Join):
        yield "derived-table"
    elif not isinstance(node.parent, exp.In) and not _of_row(node):
        yield "scalar-subquery"


def _of_row(node: Node) -> bool:
    """Whether it stands for a row value."""
    return isinstance(node.parent, exp.Binary) and isinstance(node.parent.this, exp.Tuple)


def _ordered(node: Node) -> Iterator[str]:
    if not isinstance(node.parent, exp.Order):
        return  # in an index or a key
    if bool(node.args.get("nulls_first")) == bool(node.args.get("desc")):
        yield "nulls-order"
    term = node.this.this if isinstance(node.this, exp.Collate) else node.this
    if not isinstance(term, exp.Column | exp.Literal):
        yield "order-by-expression"


def _group(node: Node) -> Iterator[str]:
    if any(not isinstance(key, exp.Column) for key in node.expressions):
        yield "group-by-expression"


def _set_operation(node: Node) -> Iterator[str]:
    if isinstance(node.this.unnest(), exp.SetOperation):
        yield "compound-several"
    around = node.parent
    if isinstance(around, exp.Subquery) and isinstance(around.parent, exp.SetOperation):
        return
    if around is not None and not isinstance(around, exp.SetOperation | exp.CTE):
        yield "compound-inside"


def _union(node: Node) -> Iterator[str]:
    yield "union" if node.args.get("distinct") else "union-all"
    yield from _set_operation(node)


def _tuple(node: Node) -> Iterator[str]:
    match node.parent:
        case exp.Between():
            yield "row-between"
        case exp.In():
            yield "row-in"
        case exp.Binary():
            beside = isinstance(node.parent.expression, exp.Subquery)
            yield "row-in" if beside else "row-values"


def _in(node: Node) -> Iterator[str]:
    if node.args.get("query"):
        yield "in-subquery"
    elif not node.expressions:
        yield "in-empty"
    elif not isinstance(node.this, exp.Tuple):
        yield "in-list"


def _values(node: Node) -> Iterator[str]:
    if isinstance(node.parent, exp.From | exp.Join):
        yield "values"


def _table(node: Node) -> Iterator[str]:
    indexed = node.args.get("indexed")
    if indexed is not None:
        yield "indexed-by" if indexed else "not-indexed"


def _column(node: Node) -> Iterator[str]:
    if node.name.lower() == "rowid":
        yield "rowid"


def _window(node: Node) -> Iterator[str]:
    if node.arg_key != "windows":
        yield "window"


def _frame(node: Node) -> Iterator[str]:
    if node.args.get("exclude") or node.args.get("kind") == "GROUPS":
        yield "window-exclude"


def _distinct(node: Node) -> Iterator[str]:
    if isinstance(node.parent, exp.AggFunc):
        yield "aggregate-distinct"


def _anonymous(node: Node) -> Iterator[str]:
    if (name := node.name.upper()) in ANONYMOUS:
        yield ANONYMOUS[name]


def _literal(node: Node) -> Iterator[str]:
    if node.name == "1e500" and not node.is_string:
        yield "infinity"


def _boolean(node: Node) -> Iterator[str]:
    if not (isinstance(node.parent, exp.Join) and node.parent.args.get("alone")):
        yield "boolean"


def _is_cast_to_blob(node: Node) -> bool:
    return isinstance(node.parent, exp.Cast) and node.this in (exp.DType.BLOB, exp.DType.VARBINARY)


def _definition(node: Node) -> Iterator[str]:
    kind = node.args.get("kind")
    if kind is None:
        yield "untyped"
    elif kind.this == exp.DType.DECIMAL:
        yield "numeric"


def _create(node: Node) -> Iterator[str]:
    if (
        node.args.get("kind") == "TABLE"
        and isinstance(node.this, exp.Schema)
        and any(isinstance(column, exp.Identifier) for column in node.this.expressions)
    ):
        yield "untyped"


LOOKS: dict[type[Node], Callable[[Node], Iterator[str]]] = {
    exp.Join: _join,
    exp.Select: _select,
    exp.Subquery: _subquery,
    exp.In: _in,
    exp.Union: _union,
    exp.Intersect: _set_operation,
    exp.Except: _set_operation,
    exp.Ordered: _ordered,
    exp.Group: _group,
    exp.Tuple: _tuple,
    exp.Values: _values,
    exp.Table: _table,
    exp.Column: _column,
    exp.Window: _window,
    exp.WindowSpec: _frame,
    exp.Literal: _literal,
    exp.If: lambda node: iter(() if isinstance(node.parent, exp.Case) else ("iif",)),
    exp.Boolean: _boolean,
    exp.Paren: lambda node: iter(("unary-plus",) if node.args.get("plus") else ()),
    exp.With: lambda node: iter(("recursive",) if node.args.get("recursive") else ()),
    exp.CTE: lambda node: iter(() if node.args.get("materialized") is None else ("materialized",)),
    exp.DataType: lambda node: iter(("blob",) if _is_cast_to_blob(node) else ()),
    exp.Distinct: _distinct,
    exp.Anonymous: _anonymous,
    exp.ColumnDef: _definition,
    exp.Create: _create,
}
