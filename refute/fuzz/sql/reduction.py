"""Reduction: simpler cases than a given one, boldest first.

A candidate is a case with a shorter text (or one of the same length that comes earlier in the
alphabet), so that reduction ends. Nothing here knows what the case breaks: candidates may mean
something else, or not even be valid, and are tried like any other case. What is tried first decides
the time: whole clauses and tables, then rows, then parts of expressions, then values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from refute.fuzz.sql.reduction_flat import flattened, uncommon
from refute.fuzz.sql.reduction_setup import simpler_setups
from refute.fuzz.sql.text import Node, read, write
from refute.plain import Plain

Edit = Callable[[Node], None]

CLAUSES = ("with_", "limit", "offset", "order", "having", "where", "group", "distinct", "joins")
SIMPLEST = ("0", "1", "NULL", "''", "'a'", "'A'", "2", "-1", "0.5")


def simpler(case: Plain) -> Iterator[Plain]:
    """Cases simpler than this one, `{"setup": [sql, …], "query": sql, …}`."""
    setup, text = list(case["setup"]), case["query"]
    query = read(text)
    if query is None:
        return
    least = size(setup, text)
    bold, fine = _bold(query), _fine(query)
    stages: Sequence[Iterator[tuple[list[str], str]]] = (
        ((setup, other) for other in bold),
        ((other, text) for other in simpler_setups(setup, query, fine=False)),
        ((other, text) for other in _bolder_views(setup)),
        _inlined(setup, query),
        ((setup, other) for other in fine),
        ((other, text) for other in simpler_setups(setup, query, fine=True)),
        ((other, text) for other in _fine_definitions(setup)),
    )
    for stage in stages:
        for statements, other in stage:
            if size(statements, other) < least:
                yield {**case, "setup": statements, "query": other}


def _bolder_views(setup: Sequence[str]) -> Iterator[list[str]]:
    """The setup with parts of a view's query in its place, or with a clause less in it."""
    for place, statement in enumerate(setup):
        tree = read(statement)
        if not isinstance(tree, exp.Create) or tree.args.get("kind") != "VIEW":
            continue
        for text in _bold(tree.expression):
            copy = tree.copy()
            copy.set("expression", read(text))
            yield [*setup[:place], write(copy), *setup[place + 1 :]]


def _inlined(setup: Sequence[str], query: Node) -> Iterator[tuple[list[str], str]]:
    """A view's query in the place of the view."""
    for place, statement in enumerate(setup):
        view = read(statement)
        if not isinstance(view, exp.Create) or view.args.get("kind") != "VIEW":
            continue
        named = view.this if isinstance(view.this, exp.Schema) else None
        name = view.this.this.name if named is not None else view.this.name
        first = view.expression.find(exp.Select)
        if first is None:
            continue
        for output, called in zip(
            first.expressions, named.expressions if named else (), strict=False
        ):
            output.replace(exp.Alias(this=output.unalias().copy(), alias=called.copy()))
        copy = query.copy()
        found = [table for table in copy.find_all(exp.Table) if table.name == name]
        for table in found:
            alias = exp.TableAlias(this=exp.Identifier(this=table.alias_or_name))
            table.replace(exp.Subquery(this=view.expression.copy(), alias=alias))
        if found:
            yield [*setup[:place], *setup[place + 1 :]], write(copy)


def _fine_definitions(setup: Sequence[str]) -> Iterator[list[str]]:
    """The setup with simpler expressions in what is not just rows."""
    for place, statement in enumerate(setup):
        tree = read(statement)
        if tree is not None and not isinstance(tree, exp.Insert):
            for other in _fine(tree):
                yield [*setup[:place], other, *setup[place + 1 :]]


def bolder(query: Node) -> Iterator[str]:
    """Texts of queries that are parts of this one, or have a clause, join or column less."""
    return _bold(query)


def finer(statement: Node) -> Iterator[str]:
    """Texts of the statement with simpler expressions."""
    return _fine(statement)


def expressions(query: Node) -> Iterator[tuple[str, bool]]:
    """Queries of one of its expressions alone, small ones first; whether they name no table."""
    found = [
        node
        for node in query.walk()
        if isinstance(node, exp.Binary | exp.Predicate | exp.Func | exp.Case | exp.Window)
        and _is_value(node)
        and not isinstance(node, exp.Connector)
    ]
    sources = query.find(exp.From)
    for node in sorted(found, key=lambda node: (sum(1 for _ in node.walk()), write(node))):
        copy = exp.Select(expressions=[node.copy()])
        if node.find(exp.From) is None:
            for column in list(copy.find_all(exp.Column)):
                column.replace(_value("0"))
            yield write(copy), True
        if sources is not None:
            copy = exp.Select(expressions=[node.copy()])
            copy.set("from_", sources.copy())
            yield write(copy), False


def without_null(statement: Node) -> Iterator[str]:
    """Texts of the statement with 0 in place of each NULL."""
    for place, node in enumerate(statement.walk()):
        if isinstance(node, exp.Null) and not isinstance(node.parent, exp.Is):
            yield from _edited(statement, place, _to_value("0"))


def size(setup: Sequence[str], query: str) -> tuple[int, str]:
    """The order in which cases are simpler than others; NULL counts as one letter."""
    whole = "\n".join([*setup, query])
    return len(whole.replace("NULL", "N")), whole


def _bold(query: Node) -> Iterator[str]:
    """A part as the whole query; then clauses, joins and columns left out."""
    for part in query.find_all(exp.Query):
        if part is not query and not isinstance(part, exp.Subquery):
            yield write(part)
    places = [i for i, node in enumerate(query.walk()) if isinstance(node, exp.Query)]
    for place in places:
        node = _at(query, place)
        for name in CLAUSES:
            if node.args.get(name):
                yield from _edited(query, place, _drop(name))
        for index in range(len(node.args.get("joins") or ())):
            yield from _edited(query, place, _drop_one("joins", index))
            yield from _edited(query, place, _drop_first(index))
        columns = node.expressions if isinstance(node, exp.Select) else ()
        if len(columns) > 1:
            for index in range(len(columns)):
                yield from _edited(query, place, _keep(index))
            for index in range(len(columns)):
                yield from _edited(query, place, _drop_one("expressions", index))
    if isinstance(query, exp.SetOperation):
        yield from _narrower(query)
    yield from uncommon(query)
    yield from flattened(query)
    yield from _shorter_names(query)


def _narrower(query: Node) -> Iterator[str]:
    """A compound query without one of its columns, in all of its parts."""
    for index in range(len(next(query.find_all(exp.Select)).expressions)):
        copy = query.copy()
        stack = [copy]
        while stack:
            part = stack.pop()
            if isinstance(part, exp.SetOperation):
                stack += [part.this, part.expression]
            elif isinstance(part, exp.Select) and 1 < len(part.expressions) > index:
                _drop_one("expressions", index)(part)
        yield write(copy)


def _fine(query: Node) -> Iterator[str]:
    """Expressions replaced by their parts, then by simple values; lists with an item less."""
    nodes = list(query.walk())
    for place, node in enumerate(nodes):
        if isinstance(node, exp.Order | exp.Group | exp.In | exp.Coalesce | exp.Case | exp.Tuple):
            name = "ifs" if isinstance(node, exp.Case) else "expressions"
            items = node.args.get(name) or ()
            for index in range(len(items) if len(items) > 1 else 0):
                yield from _edited(query, place, _drop_one(name, index))
        for name in ("desc", "default", "distinct"):
            if isinstance(node, exp.Ordered | exp.Case) and node.args.get(name):
                yield from _edited(query, place, _drop(name))
        if isinstance(node, exp.Alias):
            yield from _edited(query, place, _unaliased)
        if isinstance(node, exp.Join) and node.args.get("side"):
            yield from _edited(query, place, _drop("side"))
        if _is_value(node):
            for index in range(len(_parts(node))):
                yield from _edited(query, place, _to_part(index))
    for place, node in enumerate(nodes):
        if _is_value(node) and not isinstance(node, exp.Paren | exp.Null):
            for text in SIMPLEST:
                yield from _edited(query, place, _to_value(text))


def _is_value(node: Node) -> bool:
    """Whether it is an expression that another one may stand for."""
    kinds = exp.Condition | exp.Subquery | exp.Case | exp.Distinct
    inside = isinstance(node.parent, exp.Column | exp.Table | exp.DataType | exp.TableAlias)
    source = isinstance(node.parent, exp.From | exp.Join) and node.arg_key == "this"
    return isinstance(node, kinds) and not inside and not source and node.parent is not None


def _parts(node: Node) -> list[Node]:
    """The expressions directly inside."""
    found = [n for n in node.iter_expressions() if _is_value(n)]
    if isinstance(node, exp.Case):
        found += [n for arm in node.args["ifs"] for n in (arm.args["true"], arm.this)]
    if isinstance(node, exp.Filter):
        found.append(node.expression.this)
    if isinstance(node, exp.Subquery):
        return [c.unalias() for c in node.find_all(exp.Column)][:2]
    return found


def _at(query: Node, place: int) -> Node:
    for index, node in enumerate(query.walk()):
        if index == place:
            return node
    raise IndexError(place)


def _edited(query: Node, place: int, edit: Edit) -> Iterator[str]:
    """The text of a copy that was edited at one node."""
    copy = query.copy()
    edit(_at(copy, place))
    yield write(copy)


def _drop(name: str) -> Edit:
    def edit(node: Node) -> None:
        node.set(name, None)

    return edit


def _drop_one(name: str, index: int) -> Edit:
    def edit(node: Node) -> None:
        items = list(node.args[name])
        del items[index]
        node.set(name, items)

    return edit


def _drop_first(index: int) -> Edit:
    """The first item of FROM left out: a joined one takes its place."""

    def edit(node: Node) -> None:
        joins = list(node.args["joins"])
        source = joins.pop(index)
        node.args["from_"].set("this", source.this)
        node.set("joins", joins)

    return edit


def _keep(index: int) -> Edit:
    def edit(node: Node) -> None:
        node.set("expressions", [node.expressions[index]])

    return edit


def _to_part(index: int) -> Edit:
    return lambda node: _replace(node, _parts(node)[index])


def _to_value(text: str) -> Edit:
    return lambda node: _replace(node, _value(text))


def _unaliased(node: Node) -> None:
    _replace(node, node.this)


def _replace(node: Node, other: Node) -> None:
    if isinstance(node.parent, exp.Having | exp.Where | exp.Paren | exp.Alias | exp.Ordered):
        other = other.unnest() if isinstance(other, exp.Paren) else other
    node.replace(other.copy())


def _value(text: str) -> Node:
    tree = read(f"SELECT {text}")
    assert isinstance(tree, exp.Select)
    return tree.selects[0]


def _shorter_names(query: Node) -> Iterator[str]:
    """Columns without the name of their table, and tables without another name."""
    if query.find(exp.Column) is not None:
        copy = query.copy()
        for column in copy.find_all(exp.Column):
            column.set("table", None)
        yield write(copy)
    for table in list(query.find_all(exp.Table)):
        if table.alias:
            copy = query.copy()
            for column in copy.find_all(exp.Column):
                if column.table == table.alias:
                    column.set("table", exp.Identifier(this=table.name, quoted=False))
            for other in copy.find_all(exp.Table):
                if other.alias == table.alias:
                    other.set("alias", None)
            yield write(copy)
