"""Whether a statement has an operator whose operands are of types that strict engines refuse there.

SQLite converts: a text where a number is wanted, a number where a condition is. What is known of
types is the affinity of columns, from SQLite's schema, and what operators give; where nothing is
known, nothing is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlglot import exp, tokenize
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from refute.fuzz.sql.text import Node
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sql.transpile.kinds import BLOB, TEXT, affinity

NUMBER, TRUTH = "number", "truth"
_CODES = ("42883", "42804", "22P02", "42846")
_WORDS = re.compile(
    r"no (?:function|operator) matches|cannot compare|could not (?:convert|cast)|"
    r"invalid comparison|does not exist: \w+ [^\w\s]+ \w+|type mismatch|must be type boolean|"
    r"invalid input syntax|"
    r"cannot (?:be matched|be cast|coerce|mix|cast)|common (?:type|argument)|coerc|"
    r"explicit (?:type )?casts?|is not (?:a )?boolean",
    re.IGNORECASE,
)
_SIGNS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg)
_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_COUNTED = (exp.Sum, exp.Avg, exp.Abs, exp.Round)
_TRUTHS = (
    *_COMPARED, exp.And, exp.Or, exp.Not, exp.Is, exp.In, exp.Between, exp.Like, exp.Glob,
    exp.Exists, exp.Boolean,
)  # fmt: skip
_ENDS = (  # of an operand: a sign after one of these has two operands
    TokenType.VAR, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.STRING, TokenType.R_PAREN,
    TokenType.NULL, TokenType.END, TokenType.HEX_STRING,
)  # fmt: skip

Kinds = Mapping[str, str]


def says_types(answer: Sequence[Any]) -> bool:
    """Whether an error is about the types of operands."""
    code = str(answer[3]) if len(answer) > 3 else ""
    return code in _CODES or bool(_WORDS.search(f"{answer[1]} {answer[2]}"))


def mistyped(database: SQLite, sql: str, tree: Node) -> bool:
    """Whether an operator of the statement has operands of such types."""
    kinds = _columns(database, tree)
    return any(_refused(node, kinds) for node in tree.walk()) or _signed_text(sql, kinds)


def _columns(database: SQLite, tree: Node) -> dict[str, str]:
    """The kind of each column of the statement's tables; "" where tables differ."""
    found: dict[str, str] = {}
    for table in {node.name for node in tree.find_all(exp.Table)}:
        quoted = table.replace("'", "''")
        infos = database.answer(f"PRAGMA table_info('{quoted}')")
        for row in infos[2] if infos[0] == "rows" else ():
            name, declared = str(row[1]).lower(), affinity(str(row[2]))
            kind = declared if declared == TEXT else NUMBER
            if declared == BLOB:
                kind = BLOB if row[2] else ""
            found[name] = kind if found.get(name, kind) == kind else ""
    return found


def _kind(node: Any, kinds: Kinds) -> str:
    """Of an expression's values; "" where it is not known."""
    match node:
        case exp.Paren() | exp.Alias() | exp.Max() | exp.Min():
            return _kind(node.this, kinds)
        case exp.Literal():
            return TEXT if node.is_string else NUMBER
        case exp.HexString():
            return BLOB
        case exp.Column():
            return kinds.get(node.name.lower(), "")
        case exp.Cast():
            declared = affinity(node.to.sql(dialect="sqlite"))
            return declared if declared in (TEXT, BLOB) else NUMBER
        case exp.DPipe() | exp.GroupConcat() | exp.Upper() | exp.Lower():
            return TEXT
        case exp.Subquery():
            select = node.this
            one = isinstance(select, exp.Select) and len(select.expressions) == 1
            return _kind(select.expressions[0], kinds) if one else ""
        case exp.Coalesce():
            return _kind(node.this, kinds)
    if isinstance(node, _TRUTHS):
        return TRUTH
    return NUMBER if isinstance(node, (*_SIGNS, *_COUNTED, exp.Count)) else ""


def _refused(node: Node, kinds: Kinds) -> bool:
    def known(*nodes: Any) -> list[str]:
        return [kind for part in nodes if (kind := _kind(part, kinds))]

    def unlike(parts: Iterable[Any]) -> bool:
        return len(set(known(*parts))) > 1

    if isinstance(node, _SIGNS):
        return any(kind != NUMBER for kind in known(node.this, node.args.get("expression")))
    if isinstance(node, _COUNTED):
        return any(kind != NUMBER for kind in known(node.this))
    if isinstance(node, _COMPARED):
        return unlike((node.this, node.expression))
    if isinstance(node, exp.In):
        query = node.args.get("query")
        return unlike((node.this, *node.expressions, *([] if query is None else [query])))
    if isinstance(node, exp.Between):
        return unlike((node.this, node.args["low"], node.args["high"]))
    if isinstance(node, exp.And | exp.Or):
        return any(kind != TRUTH for kind in known(node.this, node.expression))
    if isinstance(node, exp.Not | exp.Where | exp.Having):
        return any(kind != TRUTH for kind in known(node.this))
    if isinstance(node, exp.Join):
        return any(kind != TRUTH for kind in known(node.args.get("on")))
    if isinstance(node, exp.Coalesce):
        return unlike((node.this, *node.expressions))
    if isinstance(node, exp.Case):
        tests = known(*(branch.this for branch in node.args["ifs"]))
        wanted = node.this is None and any(kind != TRUTH for kind in tests)
        results = [branch.args["true"] for branch in node.args["ifs"]]
        return wanted or unlike((*results, node.args.get("default")))
    return False


def _signed_text(sql: str, kinds: Kinds) -> bool:
    """Whether a plus stands before a text or blob; it has no effect, so that trees have it not."""
    try:
        tokens = tokenize(sql, read="sqlite")
    except SqlglotError:
        return False
    for place, token in enumerate(tokens):
        before = tokens[place - 1].token_type if place else None
        if token.token_type != TokenType.PLUS or before in _ENDS:
            continue
        operands = (
            other
            for other in tokens[place:]
            if other.token_type not in (TokenType.PLUS, TokenType.DASH, TokenType.L_PAREN)
        )
        operand = next(operands, None)
        after = next(operands, None)
        if after is not None and after.token_type == TokenType.DOT:
            operand = next(operands, None)
        if operand is None:
            continue
        text = operand.token_type == TokenType.STRING
        if text or kinds.get(operand.text.lower(), NUMBER) in (TEXT, BLOB):
            return True
    return False
