"""Writing in one pass: clauses, joins, windows and whole queries. See `refute.fuzz.sql.writing`."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from refute.fuzz.sql.writing import Texts, Write

_SELECT = frozenset(
    {
        *("with_", "distinct", "expressions", "from_", "joins", "where", "group", "having"),
        *("windows", "order", "limit", "offset"),
    }
)
_SET = frozenset({"with_", "this", "expression", "distinct", "order", "limit", "offset"})
_SUBQUERY = frozenset({"this", "alias"})
_JOIN = frozenset({"this", "side", "kind", "method", "on", "using", "comma", "alone"})
_TABLE = frozenset({"this", "alias", "indexed", "joins"})
_ALIAS = frozenset({"this", "alias"})
_TABLE_ALIAS = frozenset({"this", "columns"})
_CTE = frozenset({"this", "alias", "materialized"})
_WITH = frozenset({"expressions", "recursive"})
_ORDERED = frozenset({"this", "desc", "nulls_first"})
_WINDOW = frozenset({"this", "partition_by", "order", "spec", "alias", "over"})
_SPEC = frozenset({"kind", "start", "start_side", "end", "end_side", "exclude"})
_VALUES = frozenset({"expressions", "alias"})
_INSERT = frozenset({"this", "expression"})
_SCHEMA = frozenset({"this", "expressions"})
_LIST = frozenset({"expressions"})
_HINTS = {True: "MATERIALIZED ", False: "NOT MATERIALIZED ", None: ""}
_WORDS = {exp.Intersect: "INTERSECT", exp.Except: "EXCEPT"}


def texts_of(slow: Write) -> Texts:
    """The functions that write a tree by the classes of its nodes.

    slow: writes what they do not know. Other functions may take the place of some.
    """
    texts = Texts(slow)
    _add_items(texts)
    _add_sources(texts)
    _add_joins(texts)
    _add_terms(texts)
    _add_clauses(texts)
    _add_windows(texts)
    _add_tables(texts)
    _add_queries(texts)
    return texts


def _spaced(slow: Write) -> Write:
    """As `slow`, which gives what stands alone, for what stands behind something else."""

    def write(node: Any) -> str:
        text = slow(node).strip()
        return text if text.startswith(",") else f" {text}"

    return write


def _add_items(texts: Texts) -> None:
    slow = texts.slow

    def table(node: Any) -> str:
        args = node.args
        name, alias = args["this"], args.get("alias")
        if not args.keys() <= _TABLE or type(name) is not exp.Identifier:
            return slow(node)
        text = texts[exp.Identifier](name)
        if alias is not None:
            text += f" AS {texts[type(alias)](alias)}"
        indexed = args.get("indexed")
        if indexed is False:
            text += " NOT INDEXED"
        elif indexed is not None:
            text += f" INDEXED BY {texts[type(indexed)](indexed)}"
        return text + "".join([texts[exp.Join](join) for join in args.get("joins") or ()])

    def table_alias(node: Any) -> str:
        args = node.args
        columns = args.get("columns")
        if not args.keys() <= _TABLE_ALIAS or columns:
            return slow(node)
        return texts[exp.Identifier](args["this"])

    def insert(node: Any) -> str:
        args = node.args
        into, given = args.get("this"), args.get("expression")
        if not args.keys() <= _INSERT or type(given) is not exp.Values or given.args.get("alias"):
            return slow(node)
        columns = ""
        if type(into) is exp.Schema and into.args.keys() <= _SCHEMA:
            into, names = into.args["this"], into.args["expressions"]
            columns = f" ({texts.all_of(names)})"
        if type(into) is not exp.Table:
            return slow(node)
        return f"INSERT INTO {table(into)}{columns} {texts[exp.Values](given)}"

    texts[exp.Insert] = insert
    texts[exp.Table] = table
    texts[exp.TableAlias] = table_alias


def _add_sources(texts: Texts) -> None:
    slow = texts.slow

    def subquery(node: Any) -> str:
        args = node.args
        if not args.keys() <= _SUBQUERY:
            return slow(node)
        this, alias = args["this"], args.get("alias")
        text = f"({texts[type(this)](this)})"
        return text if alias is None else f"{text} AS {texts[type(alias)](alias)}"

    def values(node: Any) -> str:
        args = node.args
        if not args.keys() <= _VALUES:
            return slow(node)
        alias = args.get("alias")
        text = f"VALUES {texts.all_of(args['expressions'])}"
        if alias is not None:
            return f"({text}) AS {texts[type(alias)](alias)}"
        return slow(node) if isinstance(node.parent, exp.From | exp.Table) else text

    texts[exp.Subquery] = subquery
    texts[exp.Values] = values


def _add_joins(texts: Texts) -> None:
    slow = _spaced(texts.slow)

    def join(node: Any) -> str:
        args = node.args
        if not args.keys() <= _JOIN:
            return slow(node)
        this, on, using = args["this"], args.get("on"), args.get("using")
        text = texts[type(this)](this)
        if args.get("comma") and on is None:
            return f", {text}"
        words = [w.upper() for n in ("method", "side", "kind") if (w := args.get(n))]
        if not words and on is None and not using:
            return f", {text}"
        text = " ".join(["", *words, "JOIN", text])
        if args.get("alone"):
            return text
        if on is not None:
            return f"{text} ON {texts[type(on)](on)}"
        return f"{text} USING ({texts.all_of(using)})" if using else text

    texts[exp.Join] = join


def _add_terms(texts: Texts) -> None:
    slow = texts.slow

    def alias(node: Any) -> str:
        args = node.args
        if not args.keys() <= _ALIAS:
            return slow(node)
        this, name = args["this"], args["alias"]
        return f"{texts[type(this)](this)} AS {texts[type(name)](name)}"

    def ordered(node: Any) -> str:
        args = node.args
        if not args.keys() <= _ORDERED:
            return slow(node)
        this, desc, first = args["this"], args.get("desc"), args.get("nulls_first")
        text = texts[type(this)](this)
        text += " DESC" if desc else " ASC" if desc is False else ""
        if desc:
            return f"{text} NULLS FIRST" if first else text
        return text if first else f"{text} NULLS LAST"

    texts[exp.Alias] = alias
    texts[exp.Ordered] = ordered


def _add_clauses(texts: Texts) -> None:
    apart = _spaced(texts.slow)

    def clause(word: str) -> Write:
        start = f" {word} "

        def write(node: Any) -> str:
            this = node.args["this"]
            return start + texts[type(this)](this)

        return write

    def number(word: str) -> Write:
        start = f" {word} "

        def write(node: Any) -> str:
            args = node.args
            if len(args) > 1:
                return apart(node)
            this = args["expression"]
            return start + texts[type(this)](this)

        return write

    def several(word: str) -> Write:
        start = f" {word} "

        def write(node: Any) -> str:
            args = node.args
            return (
                start + texts.all_of(args["expressions"]) if args.keys() <= _LIST else apart(node)
            )

        return write

    texts[exp.Where] = clause("WHERE")
    texts[exp.Having] = clause("HAVING")
    texts[exp.From] = clause("FROM")
    texts[exp.Limit] = number("LIMIT")
    texts[exp.Offset] = number("OFFSET")
    texts[exp.Order] = several("ORDER BY")
    texts[exp.Group] = several("GROUP BY")


def _add_windows(texts: Texts) -> None:
    slow = texts.slow

    def parts(args: dict[str, Any]) -> str:
        found = []
        if (name := args.get("alias")) is not None:
            found.append(texts[type(name)](name))
        if keys := args.get("partition_by"):
            found.append(f"PARTITION BY {texts.all_of(keys)}")
        if (order := args.get("order")) is not None:
            found.append(texts[type(order)](order)[1:])
        if (spec := args.get("spec")) is not None:
            found.append(texts[type(spec)](spec))
        return " ".join(found)

    def window(node: Any) -> str:
        args = node.args
        if not args.keys() <= _WINDOW:
            return slow(node)
        this, name = args["this"], args.get("alias")
        if type(this) is exp.Identifier:  # it is defined here
            return f"{texts[exp.Identifier](this)} AS ({parts(args)})"
        text = f"{texts[type(this)](this)} OVER "
        plain = not (args.get("partition_by") or args.get("order") or args.get("spec"))
        if plain and name is not None:
            return text + texts[type(name)](name)
        return f"{text}({parts(args)})"

    def bound(value: Any, side: Any) -> str:
        text = value if type(value) is str else texts[type(value)](value)
        return f"{text} {side}" if side else str(text)

    def spec(node: Any) -> str:
        args = node.args
        if not args.keys() <= _SPEC:
            return slow(node)
        start = bound(args["start"], args.get("start_side"))
        end = bound(args.get("end") or "CURRENT ROW", args.get("end_side"))
        text = f"{args['kind']} BETWEEN {start} AND {end}"
        exclude = args.get("exclude")
        return text if exclude is None else f"{text} EXCLUDE {texts[type(exclude)](exclude)}"

    texts[exp.Window] = window
    texts[exp.WindowSpec] = spec


def _add_tables(texts: Texts) -> None:
    slow = texts.slow

    def cte(node: Any) -> str:
        args = node.args
        if not args.keys() <= _CTE:
            return slow(node)
        alias, this = args["alias"], args["this"]
        hint = _HINTS[args.get("materialized")]
        columns = alias.args.get("columns")
        if columns and alias.args.keys() <= _TABLE_ALIAS:
            word = f"{texts[exp.Identifier](alias.args['this'])}({texts.all_of(columns)})"
        else:
            word = texts[type(alias)](alias)
        return f"{word} AS {hint}({texts[type(this)](this)})"

    def with_(node: Any) -> str:
        args = node.args
        if not args.keys() <= _WITH:
            return slow(node)
        word = "WITH RECURSIVE " if args.get("recursive") else "WITH "
        return word + texts.all_of(args["expressions"])

    texts[exp.CTE] = cte
    texts[exp.With] = with_


def _add_queries(texts: Texts) -> None:
    slow = texts.slow

    def ending(args: dict[str, Any]) -> str:
        text = ""
        for name in ("order", "limit", "offset"):
            if (part := args.get(name)) is not None:
                text += texts[type(part)](part)
        return text

    def select(node: Any) -> str:
        args = node.args
        if not args.keys() <= _SELECT or (args.get("offset") and not args.get("limit")):
            return slow(node)
        distinct, source = args.get("distinct"), args.get("from_")
        text = "SELECT " if distinct is None else f"SELECT {texts[exp.Distinct](distinct)} "
        if (clause := args.get("with_")) is not None:
            text = f"{texts.once(texts[type(clause)], clause)} {text}"
        text += texts.once(texts.all_of, args["expressions"])
        if source is not None:
            text += texts.once(texts[exp.From], source)
        for join in args.get("joins") or ():
            text += texts.once(texts[exp.Join], join)
        for name in ("where", "group", "having"):
            if (part := args.get(name)) is not None:
                text += texts[type(part)](part)
        if windows := args.get("windows"):
            text += f" WINDOW {texts.all_of(windows)}"
        return text + ending(args)

    def combined(node: Any) -> str:
        args = node.args
        if not args.keys() <= _SET or (args.get("offset") and not args.get("limit")):
            return slow(node)
        left, right = args["this"], args["expression"]
        if type(right) is not exp.Select or _ends(right):
            return slow(node)
        if type(left) is exp.Subquery and left.args.keys() <= {"this"}:
            left = left.args["this"]
        if type(left) is exp.Subquery or _ends(left):
            return slow(node)
        word = _WORDS.get(type(node)) or ("UNION" if args.get("distinct") else "UNION ALL")
        text = f"{texts[type(left)](left)} {word} {texts[type(right)](right)}"
        if (clause := args.get("with_")) is not None:
            text = f"{texts[type(clause)](clause)} {text}"
        return text + ending(args)

    texts[exp.Select] = select
    texts[exp.Union] = texts[exp.Intersect] = texts[exp.Except] = combined


def _ends(query: exp.Expr) -> bool:
    """Whether a part of a compound query has clauses that need parentheses."""
    args = query.args
    return any(args.get(name) for name in ("with_", "order", "limit", "offset"))
