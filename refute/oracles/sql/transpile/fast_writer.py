"""Writing what the translator makes in one pass, as `refute.fuzz.sql.writing` does for SQLite.

Names are quoted, and a column may hold its names as plain texts, which saves two nodes of three.
What has no function here is left to the slow writer, which gives the same text.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from refute.fuzz.sql.writing import Texts, Write
from refute.fuzz.sql.writing_queries import texts_of
from refute.oracles.sql.transpile.targets import Target

_SIGNS = {
    exp.Div: "/",
    exp.Mod: "%",
    exp.ILike: "ILIKE",
    exp.Is: "IS",
}
_SET = frozenset({"with_", "this", "expression", "distinct", "order", "limit", "offset"})
_WORDS = {exp.Intersect: "INTERSECT", exp.Except: "EXCEPT"}
_ENDS = ("with_", "order", "limit", "offset")


def fast_writer(target: Target, slow: Write) -> Texts:
    """The functions that write trees for an engine, by kind of node."""
    texts = texts_of(slow)
    for kind, sign in {**_SIGNS, exp.IntDiv: target.divide, exp.NullSafeEQ: target.same}.items():
        texts[kind] = _binary(texts, sign)
    _add_names(texts, target)
    _add_values(texts, target)
    _add_queries(texts, target)
    return texts


def quoted(target: Target, name: str) -> str:
    """A name in quotes."""
    quote = target.quote
    return f"{quote}{name.lower().replace(quote, quote * 2)}{quote}"


def text_literal(target: Target, text: str) -> str:
    """A text in quotes."""
    if target.quote == "`":
        text = text.replace("\\", "\\\\")
    return "'" + text.replace("'", "''") + "'"


def _binary(texts: Texts, sign: str) -> Write:
    middle = f" {sign} "

    def write(node: Any) -> str:
        left, right = node.args["this"], node.args["expression"]
        return f"{texts[type(left)](left)}{middle}{texts[type(right)](right)}"

    return write


def _add_names(texts: Texts, target: Target) -> None:
    known: dict[str, str] = {}

    def name(text: str) -> str:
        found = known.get(text)
        if found is None:
            found = known[text] = quoted(target, text)
        return found

    def identifier(node: Any) -> str:
        return name(node.args["this"])

    def column(node: Any) -> str:
        args = node.args
        parts = [part for part in (args.get("table"), args["this"]) if part]
        return ".".join(
            [name(part) if type(part) is str else texts[type(part)](part) for part in parts]
        )

    def table_alias(node: Any) -> str:
        columns = node.args.get("columns")
        text = identifier(node.args["this"])
        return f"{text}({texts.all_of(columns)})" if columns else text

    texts[exp.Identifier] = identifier
    texts[exp.Column] = column
    texts[exp.TableAlias] = table_alias


def _add_values(texts: Texts, target: Target) -> None:
    slow = texts.slow

    def literal(node: Any) -> str:
        text: str = node.args["this"]
        return text_literal(target, text) if node.args["is_string"] else text

    def cast(node: Any) -> str:
        this, to = node.args["this"], node.args["to"]
        if type(to) is not exp.Var:
            return slow(node)
        return f"CAST({texts[type(this)](this)} AS {to.args['this']})"

    def inverse(node: Any) -> str:
        this = node.args["this"]
        return f"NOT {texts[type(this)](this)}"

    texts[exp.Literal] = literal
    texts[exp.Cast] = cast
    texts[exp.Not] = inverse
    texts[exp.GroupConcat] = slow


def _add_queries(texts: Texts, target: Target) -> None:
    slow = texts.slow

    def ordered(node: Any) -> str:
        args = node.args
        this = args["this"]
        text = texts[type(this)](this) + (" DESC" if args.get("desc") else "")
        if target.nulls:
            return f"{text} NULLS {'FIRST' if args.get('nulls_first') else 'LAST'}"
        return text

    def values(node: Any) -> str:
        return f"VALUES {texts.all_of(node.args['expressions'])}"

    def combined(node: Any) -> str:
        args = node.args
        right = args["expression"]
        if not args.keys() <= _SET or type(right) is not exp.Select or _ends(right):
            return slow(node)
        left = args["this"]
        if type(left) is not exp.Subquery and _ends(left):
            return slow(node)
        word = _WORDS.get(type(node)) or ("UNION" if args.get("distinct") else "UNION ALL")
        text = f"{texts[type(left)](left)} {word} {texts[type(right)](right)}"
        if (clause := args.get("with_")) is not None:
            text = f"{texts[type(clause)](clause)} {text}"
        for name in ("order", "limit", "offset"):
            if (part := args.get(name)) is not None:
                text += texts[type(part)](part)
        return text

    texts[exp.Ordered] = ordered
    texts[exp.Values] = values
    texts[exp.Union] = texts[exp.Intersect] = texts[exp.Except] = combined


def _ends(query: exp.Expr) -> bool:
    return any(query.args.get(name) for name in _ENDS)
