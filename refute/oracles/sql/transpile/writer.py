"""Trees as text for an engine: names in lower case and quoted, operators under their names there.

The tree already says what is meant in terms that engines share; what is left to the writer is
spelling. Names are all quoted, so that no engine's reserved words or case rules matter, and in
lower case, since SQLite does not tell cases apart.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.generator import Generator

from refute.fuzz.sql.nodes import literal, make, settled, unary
from refute.fuzz.sql.text import Node
from refute.fuzz.sql.writing import Texts
from refute.oracles.sql.transpile.fast_writer import fast_writer, quoted, text_literal
from refute.oracles.sql.transpile.targets import Target

_PLAIN = Dialect()
_TORN: dict[type[Node], bool] = {}  # whether an operator beside such a node could take a part
_TEXTS: dict[str, Texts] = {}


def named(name: str) -> Node:
    """An identifier."""
    return make(exp.Identifier, this=name.lower(), quoted=True)


def integer(value: int) -> Node:
    """A whole number, not typed."""
    return literal(str(value), is_string=False)


def call(name: str, *arguments: Node) -> Node:
    """A function under the engine's own name."""
    return make(exp.Anonymous, this=name, expressions=list(arguments))


def cast(node: Node, type_name: str) -> Node:
    """CAST to a type of the engine."""
    return make(exp.Cast, this=node, to=make(exp.Var, this=type_name))


def paren(node: Node) -> Node:
    """The node in parentheses if it could need them."""
    kind = type(node)
    torn = _TORN.get(kind)
    if torn is None:
        operators = (exp.Binary, exp.Unary, exp.Between, exp.In)
        torn = _TORN[kind] = issubclass(kind, operators) and not issubclass(kind, exp.Paren)
    return unary(exp.Paren, node) if torn else node


class Written(Generator):
    """Writes one tree for one engine; see `write_for`."""

    target: Target
    SUPPORTS_WINDOW_EXCLUDE = True

    def identifier_sql(self, expression: exp.Identifier) -> str:
        """A name in quotes."""
        return quoted(self.target, str(expression.args["this"]))

    def column_sql(self, expression: exp.Column) -> str:
        """A column, whose names may be plain texts."""
        parts = (expression.args.get(name) for name in ("table", "this"))
        return ".".join(
            quoted(self.target, part) if isinstance(part, str) else self.sql(part)
            for part in parts
            if part
        )

    def literal_sql(self, expression: exp.Literal) -> str:
        """A number, or a text in quotes."""
        text = str(expression.args["this"])
        return text_literal(self.target, text) if expression.args["is_string"] else text

    def insert_sql(self, expression: exp.Insert) -> str:
        """INSERT with what the engine says for OR IGNORE and OR REPLACE."""
        said = self.sql(expression, "hint")
        head, tail = f"INSERT {said}".rstrip(), ""
        if said == "REPLACE":
            head = said
        elif said.startswith("ON "):
            head, tail = "INSERT", f" {said}"
        into, rows = self.sql(expression, "this"), self.sql(expression, "expression")
        return f"{head} INTO {into} {rows}{tail}"

    def ordered_sql(self, expression: exp.Ordered) -> str:
        """A term of ORDER BY, with the place of NULL said."""
        desc = bool(expression.args.get("desc"))
        first = bool(expression.args.get("nulls_first"))
        text = self.sql(expression, "this") + (" DESC" if desc else "")
        if self.target.nulls:
            return f"{text} NULLS {'FIRST' if first else 'LAST'}"
        return text

    def intdiv_sql(self, expression: exp.IntDiv) -> str:
        """Division that leaves out the rest."""
        return self.binary(expression, self.target.divide)

    def nullsafeeq_sql(self, expression: exp.NullSafeEQ) -> str:
        """Equality that takes NULL as equal to NULL."""
        return self.binary(expression, self.target.same)

    def groupconcat_sql(self, expression: exp.GroupConcat) -> str:
        """MySQL's, whose separator is no argument."""
        this, separator = self.sql(expression, "this"), self.sql(expression, "separator")
        return f"GROUP_CONCAT({this} SEPARATOR {separator})"

    def mod_sql(self, expression: exp.Mod) -> str:
        """The remainder."""
        return self.binary(expression, "%")


def write_for(target: Target, tree: Node) -> str:
    """The text of a tree for an engine."""
    texts = _TEXTS.get(target.name)
    if texts is None:
        texts = _TEXTS[target.name] = fast_writer(target, lambda node: slowly(target, node))
    return texts[type(tree)](tree)


def slowly(target: Target, tree: Node) -> str:
    """The same text, from sqlglot's writer, which knows all kinds of nodes."""
    writer = Written(dialect=_PLAIN)
    writer.target = target
    return writer.generate(settled(tree), copy=False)
