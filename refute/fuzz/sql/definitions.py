"""Reading and writing of statements that make and change a database, where sqlglot loses something.

It has no trees for triggers and for tables without rowid, and takes the names of types as other
words for a few types. In SQLite `INT PRIMARY KEY` is no `INTEGER PRIMARY KEY`, BOOLEAN has another
affinity than INTEGER, and a column of a key may have its own collation. So a declared type carries
its words along, and what has no tree has a class of its own here, which other dialects can refuse.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.generators.sqlite import SQLiteGenerator
from sqlglot.parsers.sqlite import SQLiteParser
from sqlglot.tokenizer_core import TokenType

WORDS = "written"  # the key of a type's metadata
ALTERNATIVE = "alternative"  # what an UPDATE does where it breaks a constraint
_WORD = r'(?:"[^"]+"|\w+)'
_TRIGGER = re.compile(
    rf"\s*CREATE\s+TRIGGER\s+(?P<name>{_WORD})\s+(?:(?P<timing>AFTER|BEFORE)\s+)?"
    rf"(?P<event>INSERT|UPDATE|DELETE)(?:\s+OF\s+(?P<columns>{_WORD}(?:\s*,\s*{_WORD})*))?"
    rf"\s+ON\s+(?P<table>{_WORD})(?:\s+FOR\s+EACH\s+ROW)?(?:\s+WHEN\s+(?P<when>.*?))?"
    r"\s+BEGIN\s+(?P<body>.*)\s+END\s*;?\s*$",
    re.IGNORECASE | re.DOTALL,
)
_WORDS = re.compile(
    rf"\s*(?P<word>REINDEX|VACUUM)(?:\s+(?P<rest>{_WORD}))?\s*;?\s*$", re.IGNORECASE
)
_UPDATE = re.compile(
    r"\s*UPDATE\s+OR\s+(?P<alternative>ABORT|FAIL|IGNORE|REPLACE|ROLLBACK)\s+(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_REPLACE = re.compile(r"\s*REPLACE\s+INTO\s", re.IGNORECASE)
_PART = re.compile(r"(?:'(?:[^']|'')*'|\"[^\"]*\"|[^;'\"])+")


class WithoutRowid(exp.Property):
    """WITHOUT ROWID after a table."""

    arg_types: ClassVar = {}


class Trigger(exp.Expression):
    """CREATE TRIGGER. timing: "AFTER", "BEFORE" or "". event: "INSERT", "UPDATE" or "DELETE".

    columns: of UPDATE OF. condition: of WHEN. expressions: the statements of its body.
    """

    arg_types: ClassVar = {
        "this": True,
        "timing": False,
        "event": True,
        "columns": False,
        "table": True,
        "condition": False,
        "expressions": True,
    }


def name(text: str) -> exp.Identifier:
    """A name without quotes."""
    return exp.Identifier(this=text, quoted=False)


def table(text: str) -> exp.Table:
    """A table by its name."""
    return exp.Table(this=name(text))


def declared(words: str, kind: exp.DType = exp.DType.TEXT) -> exp.DataType:
    """A column's type by the words of its declaration. kind: what sqlglot takes it for."""
    node = exp.DataType(this=kind)
    node.meta[WORDS] = words
    return node


def words_of(node: exp.Expr) -> str:
    """The words of a declared type; "" where its kind says all."""
    return str(node.meta_get(WORDS, ""))


def command(word: str, rest: str = "") -> exp.Command:
    """A statement that has no parts worth a tree: REINDEX, VACUUM."""
    return exp.Command(this=word, expression=rest)


def index(table_name: str, index_name: str, parts: Sequence[exp.Expr]) -> exp.Create:
    """CREATE INDEX. parts: instances of Ordered."""
    params = exp.IndexParameters(columns=list(parts))
    this = exp.Index(this=name(index_name), table=table(table_name), params=params)
    return exp.Create(kind="INDEX", this=this)


def read_definition(sql: str, parse: Callable[[str], exp.Expr | None]) -> exp.Expr | None:
    """The tree of a statement that sqlglot does not read at all; None of any other."""
    if words := _WORDS.match(sql):
        return command(words["word"].upper(), words["rest"] or "")
    if _REPLACE.match(sql):
        return parse(_REPLACE.sub("INSERT OR REPLACE INTO ", sql, count=1))
    if update := _UPDATE.match(sql):
        tree = parse(f"UPDATE {update['rest']}")
        if isinstance(tree, exp.Update):
            tree.set(ALTERNATIVE, update["alternative"].upper())
            return tree
    if trigger := _TRIGGER.match(sql):
        return _trigger(trigger, parse)
    return None


def _trigger(found: re.Match[str], parse: Callable[[str], exp.Expr | None]) -> exp.Expr | None:
    statements = [part.strip() for part in _PART.findall(found["body"]) if part.strip()]
    body = [read_definition(s, parse) or parse(s) for s in statements]
    condition = None
    if found["when"]:
        query = parse(f"SELECT {found['when']}")
        condition = query.expressions[0] if isinstance(query, exp.Select) else None
        if condition is None:
            return None
    if not body or any(part is None for part in body):
        return None
    columns = [name(word.strip()) for word in (found["columns"] or "").split(",") if word.strip()]
    return Trigger(
        this=name(found["name"]),
        timing=(found["timing"] or "").upper(),
        event=found["event"].upper(),
        columns=columns,
        table=table(found["table"]),
        condition=condition,
        expressions=body,
    )


class DefinitionParser(SQLiteParser):
    """Reads tables as SQLite knows them."""

    PROPERTY_PARSERS: ClassVar = {
        **SQLiteParser.PROPERTY_PARSERS,
        "WITHOUT": lambda self: self._parse_without(),
    }

    def _parse_without(self) -> exp.Expr | None:
        return WithoutRowid() if self._match_text_seq("ROWID") else None

    def _parse_types(
        self,
        check_func: bool = False,
        schema: bool = False,
        allow_identifiers: bool = True,
        with_collation: bool = False,
    ) -> exp.Expr | None:
        """A type; that of a column with the words of its declaration."""
        start = self._curr
        if schema and start is not None and start.text.upper() == "ANY":
            self._advance()
            return declared("ANY")
        kind = super()._parse_types(check_func, schema, allow_identifiers, with_collation)
        if schema and start is not None and isinstance(kind, exp.DataType):
            kind.meta[WORDS] = self._find_sql(start, self._prev)
        return kind

    def _parse_column_def(
        self, this: exp.Expr | None, computed_column: bool = True
    ) -> exp.Expr | None:
        """A column; a COLLATE after its AS (…) is the column's own."""
        column = super()._parse_column_def(this, computed_column)
        if not isinstance(column, exp.ColumnDef):
            return column
        for constraint in column.constraints:
            kind = constraint.args.get("kind")
            if isinstance(kind, exp.ComputedColumnConstraint) and isinstance(
                kind.this, exp.Collate
            ):
                collation = exp.CollateColumnConstraint(this=kind.this.expression)
                kind.set("this", kind.this.this)
                column.append("constraints", exp.ColumnConstraint(kind=collation))
        return column

    def _parse_primary_key_part(self) -> exp.Expr | None:
        """A column of a key, with collation and direction where it has them."""
        return self._key_part(super()._parse_primary_key_part())

    def _parse_unique(self) -> exp.UniqueColumnConstraint:
        """UNIQUE of a column, or of a list of columns with collations."""
        if not self._match(TokenType.L_PAREN, advance=False):
            return super()._parse_unique()
        parts = self._parse_wrapped_csv(lambda: self._key_part(self._parse_id_var(any_token=False)))
        return self.expression(
            exp.UniqueColumnConstraint(
                this=exp.Schema(expressions=parts), on_conflict=self._parse_on_conflict()
            )
        )

    def _key_part(self, part: exp.Expr | None) -> exp.Expr | None:
        if part is not None and self._match(TokenType.COLLATE):
            word = exp.Var(this=self._advance_any() and self._prev.text)
            part = exp.Collate(this=exp.Column(this=part), expression=word)
        if part is not None and self._match_set((TokenType.ASC, TokenType.DESC)):
            desc = self._prev.token_type == TokenType.DESC
            part = exp.Ordered(this=part, desc=desc, nulls_first=not desc)
        return part


class DefinitionWriter(SQLiteGenerator):
    """Writes tables as SQLite knows them."""

    PROPERTIES_LOCATION: ClassVar = {
        **SQLiteGenerator.PROPERTIES_LOCATION,
        WithoutRowid: exp.Properties.Location.POST_SCHEMA,
        exp.StrictProperty: exp.Properties.Location.POST_SCHEMA,
    }
    TRANSFORMS: ClassVar = {
        **SQLiteGenerator.TRANSFORMS,
        WithoutRowid: lambda *_: "WITHOUT ROWID",
        Trigger: lambda self, node: _trigger_text(node, self.sql),
    }

    def datatype_sql(self, expression: exp.DataType) -> str:
        """A type; that of a column in the words of its declaration."""
        return words_of(expression) or super().datatype_sql(expression)

    def update_sql(self, expression: exp.Update) -> str:
        """UPDATE, or UPDATE OR …"""
        text = super().update_sql(expression)
        alternative = expression.args.get(ALTERNATIVE)
        return f"UPDATE OR {alternative}{text[len('UPDATE') :]}" if alternative else text

    def computedcolumnconstraint_sql(self, expression: Any) -> str:
        """AS (…), with VIRTUAL or STORED."""
        inner = expression.this.unnest() if isinstance(expression.this, exp.Paren) else None
        text = self.sql(expression.this if inner is None else inner)
        return f"AS ({text})" + (" STORED" if expression.args.get("persisted") else "")


def _trigger_text(node: exp.Expr, write: Callable[[exp.Expr], str]) -> str:
    event = node.args["event"]
    if columns := node.args.get("columns"):
        event = f"{event} OF {', '.join(map(write, columns))}"
    timing = f"{node.args['timing']} " if node.args.get("timing") else ""
    condition = node.args.get("condition")
    when = "" if condition is None else f" WHEN {write(condition)}"
    body = "".join(f" {write(statement)};" for statement in node.expressions)
    on = f"ON {write(node.args['table'])}"
    return f"CREATE TRIGGER {write(node.this)} {timing}{event} {on}{when} BEGIN{body} END"
