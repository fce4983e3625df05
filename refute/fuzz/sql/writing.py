"""Writing in one pass: the text of trees of the kinds that are generated, without sqlglot's writer.

That one is made for all dialects and asks each node many questions; this has one small function for
each kind of node, found by its class. A node with a part that its function does not know, and any
of another kind, is left to the slow writer, with everything inside. Both give the same text, but
for comments, which this one leaves out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

Write = Callable[[Any], str]

_THIS = frozenset({"this"})
_TWO = frozenset({"this", "expression"})
_LIST = frozenset({"expressions"})
_NAMED = frozenset({"this", "expressions"})
_COLUMN = frozenset({"this", "table"})
_DIVISION = frozenset({"this", "expression", "typed", "safe"})
_IN = frozenset({"this", "expressions", "query"})
_BETWEEN = frozenset({"this", "low", "high"})
_CASE = frozenset({"this", "ifs", "default"})
_JOINED = frozenset({"this", "separator"})
_IF = frozenset({"this", "true", "false"})
_CAST = frozenset({"this", "to"})
_TYPES = {
    exp.DType.INT: "INTEGER",
    exp.DType.TEXT: "TEXT",
    exp.DType.FLOAT: "REAL",
    exp.DType.DOUBLE: "REAL",
    exp.DType.DECIMAL: "NUMERIC",
    exp.DType.BLOB: "BLOB",
}
# Where NOT may stand in front without parentheses, `x IS NOT NULL` may stand as well.
_LOOSE = (
    *(exp.And, exp.Or, exp.Not, exp.Paren, exp.Where, exp.Having, exp.Join, exp.Alias, exp.If),
    *(exp.Case, exp.Select, exp.Ordered, exp.Tuple, exp.Func, exp.Filter, exp.Group, exp.Window),
)
_BINARY = {
    exp.And: "AND",
    exp.Or: "OR",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Mod: "%",
    exp.Is: "IS",
    exp.NullSafeEQ: "IS",
    exp.NullSafeNEQ: "IS NOT",
    exp.Like: "LIKE",
    exp.Glob: "GLOB",
    exp.Escape: "ESCAPE",
    exp.Collate: "COLLATE",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
}
_FUNCTIONS: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.Length: ("LENGTH", ("this",)),
    exp.Upper: ("UPPER", ("this",)),
    exp.Lower: ("LOWER", ("this",)),
    exp.Typeof: ("TYPEOF", ("this",)),
    exp.Abs: ("ABS", ("this",)),
    exp.Sign: ("SIGN", ("this",)),
    exp.Hex: ("HEX", ("this",)),
    exp.Unicode: ("UNICODE", ("this",)),
    exp.Round: ("ROUND", ("this", "decimals")),
    exp.Substring: ("SUBSTR", ("this", "start", "length")),
    exp.Replace: ("REPLACE", ("this", "expression", "replacement")),
    exp.StrPosition: ("INSTR", ("this", "substr")),
    exp.Nullif: ("NULLIF", ("this", "expression")),
    exp.Sum: ("SUM", ("this",)),
    exp.Avg: ("AVG", ("this",)),
    exp.Min: ("MIN", ("this",)),
    exp.Max: ("MAX", ("this",)),
    exp.RowNumber: ("ROW_NUMBER", ()),
    exp.Rank: ("RANK", ()),
    exp.DenseRank: ("DENSE_RANK", ()),
    exp.PercentRank: ("PERCENT_RANK", ()),
    exp.CumeDist: ("CUME_DIST", ()),
    exp.Ntile: ("NTILE", ("this",)),
    exp.Lag: ("LAG", ("this", "offset", "default")),
    exp.Lead: ("LEAD", ("this", "offset", "default")),
    exp.FirstValue: ("FIRST_VALUE", ("this",)),
    exp.LastValue: ("LAST_VALUE", ("this",)),
    exp.NthValue: ("NTH_VALUE", ("this", "offset")),
}
_TRIMS = {None: "TRIM", "LEADING": "LTRIM", "TRAILING": "RTRIM"}


def is_not(node: exp.Expr) -> bool:
    """Whether NOT of an IS is written as IS NOT."""
    parent = node.parent
    return isinstance(node.args["this"], exp.Is) and (parent is None or isinstance(parent, _LOOSE))


class Texts(dict[type, Write]):
    """The function for each class of nodes. slow: writes any node.

    known: the texts of parts that trees share, by `id`, each with its part so that the id stays
    its own; None while trees may be changed in place.
    """

    def __init__(self, slow: Write) -> None:
        super().__init__()
        self.slow = slow
        self.known: dict[int, tuple[Any, str]] | None = None
        _add_words(self)
        _add_operators(self)
        _add_conditions(self)
        _add_functions(self)
        _add_calls(self)

    def __missing__(self, kind: type) -> Write:
        return self.slow

    def all_of(self, nodes: list[Any]) -> str:
        """The texts of nodes with commas between."""
        return ", ".join([self[type(node)](node) for node in nodes])

    def once(self, write: Callable[[Any], str], part: Any) -> str:
        """The text of a part, which is looked up where it was written before."""
        if self.known is None:
            return write(part)
        found = self.known.get(id(part))
        if found is None:
            found = self.known[id(part)] = part, write(part)
        return found[1]


def _add_words(texts: Texts) -> None:
    slow = texts.slow

    def identifier(node: Any) -> str:
        args = node.args
        return slow(node) if args.get("quoted") else str(args["this"])

    def column(node: Any) -> str:
        args = node.args
        if args.keys() <= _COLUMN:
            name, table = args["this"], args.get("table")
            if table is None:
                return texts[type(name)](name)
            return f"{texts[type(table)](table)}.{texts[type(name)](name)}"
        return slow(node)

    def literal(node: Any) -> str:
        args = node.args
        text: str = args["this"]
        return "'" + text.replace("'", "''") + "'" if args["is_string"] else text

    def star(node: Any) -> str:
        return slow(node) if node.args else "*"

    texts[exp.Identifier] = identifier
    texts[exp.Column] = column
    texts[exp.Literal] = literal
    texts[exp.Star] = star
    texts[exp.Null] = lambda node: "NULL"
    texts[exp.Boolean] = lambda node: "TRUE" if node.args["this"] else "FALSE"
    texts[exp.Var] = lambda node: str(node.args["this"])
    texts[exp.HexString] = lambda node: (
        f"x'{node.args['this']}'" if node.args.keys() <= _THIS else slow(node)
    )


def _add_operators(texts: Texts) -> None:
    slow = texts.slow

    def binary(sign: str) -> Write:
        middle = f" {sign} "

        def write(node: Any) -> str:
            args = node.args
            if args.keys() <= _TWO:
                left, right = args["this"], args["expression"]
                return f"{texts[type(left)](left)}{middle}{texts[type(right)](right)}"
            return slow(node)

        return write

    def division(node: Any) -> str:
        args = node.args
        if args.keys() == _DIVISION and args["typed"] and args["safe"]:
            left, right = args["this"], args["expression"]
            return f"{texts[type(left)](left)} / {texts[type(right)](right)}"
        return slow(node)

    def concatenation(node: Any) -> str:
        left, right = node.args["this"], node.args["expression"]
        return f"{texts[type(left)](left)} || {texts[type(right)](right)}"

    def paren(node: Any) -> str:
        this = node.args["this"]
        text = texts.once(texts[type(this)], this)
        return f"+{text}" if node.args.get("plus") else f"({text})"

    def negation(node: Any) -> str:
        this = node.args["this"]
        text = texts[type(this)](this)
        return f"- {text}" if text[0] == "-" else f"-{text}"

    def complement(node: Any) -> str:
        this = node.args["this"]
        return f"~{texts[type(this)](this)}"

    def list_of(node: Any) -> str:
        return f"({texts.all_of(node.args['expressions'])})"

    for kind, sign in _BINARY.items():
        texts[kind] = binary(sign)
    texts[exp.Div] = division
    texts[exp.DPipe] = concatenation
    texts[exp.Paren] = paren
    texts[exp.Neg] = negation
    texts[exp.BitwiseNot] = complement
    texts[exp.Tuple] = list_of


def _add_conditions(texts: Texts) -> None:
    slow = texts.slow

    def inverse(node: Any) -> str:
        this = node.args["this"]
        if is_not(node):
            left, right = this.args["this"], this.args["expression"]
            return f"{texts[type(left)](left)} IS NOT {texts[type(right)](right)}"
        return f"NOT {texts[type(this)](this)}"

    def within(node: Any) -> str:
        args = node.args
        if not args.keys() <= _IN:
            return slow(node)
        this, query = args["this"], args.get("query")
        if query is not None:
            return f"{texts[type(this)](this)} IN {texts[type(query)](query)}"
        return f"{texts[type(this)](this)} IN ({texts.all_of(args.get('expressions') or [])})"

    def between(node: Any) -> str:
        args = node.args
        if not args.keys() <= _BETWEEN:
            return slow(node)
        this, low, high = args["this"], args["low"], args["high"]
        bounds = f"{texts[type(low)](low)} AND {texts[type(high)](high)}"
        return f"{texts[type(this)](this)} BETWEEN {bounds}"

    def case(node: Any) -> str:
        args = node.args
        if not args.keys() <= _CASE:
            return slow(node)
        base, default = args.get("this"), args.get("default")
        text = "CASE" if base is None else f"CASE {texts[type(base)](base)}"
        for arm in args["ifs"]:
            when, then = arm.args["this"], arm.args["true"]
            text += f" WHEN {texts[type(when)](when)} THEN {texts[type(then)](then)}"
        return text + (" END" if default is None else f" ELSE {texts[type(default)](default)} END")

    def exists(node: Any) -> str:
        this = node.args["this"]
        return f"EXISTS({texts[type(this)](this)})" if node.args.keys() <= _THIS else slow(node)

    texts[exp.Not] = inverse
    texts[exp.In] = within
    texts[exp.Between] = between
    texts[exp.Case] = case
    texts[exp.Exists] = exists


def _add_functions(texts: Texts) -> None:
    slow = texts.slow

    def anonymous(node: Any) -> str:
        args = node.args
        if type(args["this"]) is not str:
            return slow(node)
        return f"{args['this'].upper()}({texts.all_of(args.get('expressions') or [])})"

    def coalesce(node: Any) -> str:
        args = node.args
        name = "IFNULL" if args.get("is_nvl") else "COALESCE"
        return f"{name}({texts.all_of([args['this'], *args['expressions']])})"

    def cast(node: Any) -> str:
        args = node.args
        kind = args["to"]
        word = _TYPES.get(kind.args["this"]) if args.keys() <= _CAST else None
        if word is None or len(kind.args) > 1 or kind._meta:
            return slow(node)
        return f"CAST({texts[type(args['this'])](args['this'])} AS {word})"

    def iif(node: Any) -> str:
        args = node.args
        if not args.keys() <= _IF:
            return slow(node)
        given = [args[part] for part in ("this", "true", "false") if args.get(part) is not None]
        return f"IIF({texts.all_of(given)})"

    def trim(node: Any) -> str:
        args = node.args
        given = [args["this"], *filter(None, (args.get("expression"),))]
        return f"{_TRIMS[args.get('position')]}({texts.all_of(given)})"

    def extreme(name: str) -> Write:
        return lambda node: (
            f"{name}({texts.all_of([node.args['this'], *node.args['expressions']])})"
        )

    texts[exp.Anonymous] = anonymous
    texts[exp.Coalesce] = coalesce
    texts[exp.Cast] = cast
    texts[exp.If] = iif
    texts[exp.Trim] = trim
    texts[exp.Least], texts[exp.Greatest] = extreme("MIN"), extreme("MAX")
    texts[exp.Chr] = lambda node: f"CHAR({texts.all_of(node.args['expressions'])})"


def _add_calls(texts: Texts) -> None:
    slow = texts.slow

    def call(name: str, parts: tuple[str, ...]) -> Write:
        known = frozenset(parts)

        def write(node: Any) -> str:
            args = node.args
            if not args.keys() <= known:
                return slow(node)
            given = [args[part] for part in parts if args.get(part) is not None]
            return f"{name}({texts.all_of(given)})"

        return write

    def joined(node: Any) -> str:
        args = node.args
        if not args.keys() <= _JOINED or type(args["this"]) is exp.Order:
            return slow(node)
        given = [args["this"], *filter(None, (args.get("separator"),))]
        return f"GROUP_CONCAT({texts.all_of(given)})"

    def count(node: Any) -> str:
        this = node.args.get("this")
        if this is None or node.args.get("expressions"):
            return slow(node)
        return f"COUNT({texts[type(this)](this)})"

    def distinct(node: Any) -> str:
        given = node.args.get("expressions")
        if node.args.keys() <= _LIST and len(given or ()) < 2:
            return f"DISTINCT {texts.all_of(given)}" if given else "DISTINCT"
        return slow(node)

    def filtered(node: Any) -> str:
        this, where = node.args["this"], node.args["expression"]
        condition = where.args["this"]
        return f"{texts[type(this)](this)} FILTER(WHERE {texts[type(condition)](condition)})"

    for kind, (name, parts) in _FUNCTIONS.items():
        texts[kind] = call(name, parts)
    texts[exp.GroupConcat] = joined
    texts[exp.Count] = count
    texts[exp.Distinct] = distinct
    texts[exp.Filter] = filtered
