"""Translator: the statements of one file, in order, each written for another engine.

A mirror, the embedded SQLite, runs every statement that changes something. It knows the schema,
through CREATE, ALTER and DROP alike, and which statements SQLite refuses: those are written as they
stand, so that the engine has the same reason to refuse them.

What cannot be expressed leaves the engine's tables behind the mirror's. So a table, view or index
that was not created there, or has rows that it misses, is marked, and whatever reads it after that
is not expressible either: its answer would say nothing about the engine.
"""

from __future__ import annotations

import re
import sqlite3
from typing import NamedTuple

from sqlglot import exp
from sqlglot.errors import SqlglotError

from refute.fuzz.sql.text import Node, look, write
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sql.transpile.kinds import (
    Column,
    Inexpressible,
    Unresolved,
    affinity,
)
from refute.oracles.sql.transpile.scopes import Source
from refute.oracles.sql.transpile.statements import Statements
from refute.oracles.sql.transpile.targets import Target
from refute.oracles.sql.transpile.writer import write_for

_WORD = re.compile(r"\s*([A-Za-z]+)")
_READS = ("SELECT", "VALUES", "WITH")
_PARSED = frozenset(
    (*_READS, "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "BEGIN", "COMMIT", "END")
)
_REPLACE = re.compile(r"\s*REPLACE\s+INTO\b", re.IGNORECASE)
_TRIGGER = re.compile(
    r"\s*CREATE\s+(?:TEMP(?:ORARY)?\s+)?TRIGGER\s+(?:IF\s+NOT\s+EXISTS\s+)?\S+.*?\bON\s+(\S+)",
    re.IGNORECASE | re.DOTALL,
)


class Translation(NamedTuple):
    """What the engine is asked: texts, several where the record has several statements; or none,
    and the construct for which there is no way to say it. kinds: of a query's result columns.
    doubts: for which values it does not mean the same (`transpile.kinds`)."""

    texts: tuple[str, ...]
    construct: str = ""
    kinds: tuple[str, ...] = ()
    doubts: frozenset[str] = frozenset()


class Translator:
    """Writes statements for one engine. Each database has its own translator.

    strict: for whoever compares: what any row of a group may stand for, and what SQLite does not
    know, is not expressible, and what is not expressible is run nowhere.
    """

    def __init__(self, target: Target, *, strict: bool = False) -> None:
        self.target = target
        self._strict = strict
        self._mirror = SQLite()
        self._statements = Statements(target, self._look, self._index_of, strict=strict)
        self._known: dict[str, Source | None] = {}
        self._missing: dict[str, str] = {}
        self._deep = 0

    def close(self) -> None:
        """Let the mirror go."""
        self._mirror.close()

    def translate(self, sql: str) -> Translation:
        """The record's SQL for the engine."""
        if self.target.verbatim:
            return Translation(tuple(_split(sql)))
        texts: list[str] = []
        for statement in _split(sql):
            made = self._one(statement)
            if made.construct:
                return made
            texts += made.texts
        return Translation(tuple(texts))

    def translate_tree(self, tree: Node, sql: str = "") -> Translation:
        """One statement for the engine, from its tree, which stays as it is.

        sql: the tree's text, where the caller has it; only what changes something needs one.
        """
        if self.target.verbatim:
            return Translation((sql or write(tree),))
        if isinstance(tree, exp.Query):
            return self._made("", tree)
        return self._changed(sql or write(tree), tree)

    def refused(self, sql: str, construct: str) -> None:
        """The engine says that it cannot do what a statement changes, which SQLite has done."""
        word = _WORD.match(sql)
        if word is None or word[1].upper() not in _READS:
            self._note(sql, self._read(sql), construct)
            self._known.clear()

    def _one(self, sql: str) -> Translation:
        word = _WORD.match(sql)
        reads = word is not None and word[1].upper() in _READS
        tree = self._read(sql)
        return self._made(sql, tree) if reads else self._changed(sql, tree)

    def _changed(self, sql: str, tree: Node | None) -> Translation:
        """The statement that changes something, for the engine; the mirror runs it."""
        made = self._made(sql, tree)
        if self._strict and made.construct:
            if isinstance(tree, exp.Create):
                self._note(sql, tree, made.construct)
                self._known.clear()
            return made
        before = set(self._missing)
        answer = self._mirror.answer(sql)
        if answer[0] == "error" and not made.construct.startswith("after: "):
            if "key" in self.target.lacks and "UNIQUE constraint failed" in answer[2]:
                return Translation((), "key")
            return Translation((self._as_it_stands(sql, tree),))
        if answer[0] != "error":
            self._note(sql, tree, made.construct)
        if made.construct or isinstance(tree, exp.Create | exp.Drop | exp.Alter) or before:
            self._known.clear()
        return made

    def _made(self, sql: str, tree: Node | None) -> Translation:
        word = _WORD.match(sql)
        name = word[1].upper() if word else ""
        if tree is None or isinstance(tree, exp.Command | exp.Alias | exp.Block):
            trigger = _TRIGGER.match(sql) is not None or "TRIGGER" in sql.upper().split()[:4]
            return Translation((), "trigger" if trigger else name or "a statement without words")
        try:
            self._check_marks(tree)
            made, columns = self._statements.rewritten(tree)
            return Translation(
                (write_for(self.target, made),),
                kinds=tuple(column.kind for column in columns),
                doubts=frozenset(self._statements.queries.doubts),
            )
        except Inexpressible as error:
            return Translation((), error.construct)
        except Unresolved as error:
            if self._strict:
                return Translation((), f"a name that is not known ({error})")
            return Translation((self._as_it_stands(sql, tree),))
        except RecursionError:
            return Translation((), "a statement nested too deeply")
        except (LookupError, ValueError, AttributeError, TypeError):  # parts that must be there
            if self._strict:
                return Translation((), "a statement without some of its parts")
            return Translation((self._as_it_stands(sql, tree),))

    def _as_it_stands(self, sql: str, tree: Node | None) -> str:
        """A statement that SQLite refuses too, in the engine's spelling as far as that goes."""
        if tree is None or isinstance(tree, exp.Command | exp.Alias | exp.Block):
            return sql
        try:
            return write_for(self.target, tree.copy())
        except (SqlglotError, RecursionError, ValueError, AttributeError):
            return sql

    def _read(self, sql: str) -> Node | None:
        if _REPLACE.match(sql):
            sql = _REPLACE.sub("INSERT OR REPLACE INTO", sql, count=1)
        word = _WORD.match(sql)
        known = word is not None and word[1].upper() in _PARSED
        return look(sql) if known and not _TRIGGER.match(sql) else None

    # What the engine does not have

    def _check_marks(self, tree: Node) -> None:
        """Raise Inexpressible when the statement is about something that the engine lacks."""
        if isinstance(tree, exp.Drop):
            name = tree.args["tables"][0].name.lower()
            if name in self._missing and not self._missing[name].startswith("rows"):
                raise Inexpressible(self._missing[name].partition(": ")[2])

    def _note(self, sql: str, tree: Node | None, construct: str) -> None:
        """After a statement that SQLite ran: what the engine misses now, or not any more."""
        if isinstance(tree, exp.Drop):
            name = tree.args["tables"][0].name.lower()
            self._missing.pop(name, None)
            if self.target.cascades and not construct:
                self._drop_with(name)
            return
        if not construct:
            return
        construct = construct.removeprefix("after: ")
        trigger = _TRIGGER.match(sql)
        if trigger:
            self._missing.setdefault(trigger[1].strip('"[]`').lower(), "rows: trigger")
        elif isinstance(tree, exp.Create):
            this = tree.this
            name = (this.this if isinstance(this, exp.Schema | exp.Index) else this).name
            self._missing[name.lower()] = f"gone: {construct}"
        elif isinstance(tree, exp.Insert | exp.Update | exp.Delete | exp.Alter):
            if not isinstance(tree, exp.Alter) and self._rows("SELECT changes()") == [(0,)]:
                return  # both have the same rows still
            this = tree.this
            table = (this.this if isinstance(this, exp.Schema) else this).name
            self._missing.setdefault(table.lower(), f"rows: {construct}")

    def _drop_with(self, name: str) -> None:
        """Mark the views that the engine dropped with a table or view, which SQLite keeps."""
        dropped = {name}
        views = self._rows("SELECT lower(name), sql FROM sqlite_master WHERE type = 'view'")
        trees = [(str(view), look(str(sql))) for view, sql in views]
        shown = {
            view: {table.name.lower() for table in tree.expression.find_all(exp.Table)}
            for view, tree in trees
            if isinstance(tree, exp.Create) and tree.expression is not None
        }
        while more := {v for v, of in shown.items() if of & dropped and v not in dropped}:
            dropped |= more
            for view in more:
                self._missing.setdefault(view, "gone: DROP of what a view shows")

    # The schema

    def _look(self, name: str) -> Source | None:
        """The table or view of this name, from the mirror. Raises Inexpressible if marked."""
        if name in self._missing:
            raise Inexpressible(f"after: {self._missing[name].partition(': ')[2]}")
        if name not in self._known:
            self._known[name] = self._source(name)
        return self._known[name]

    def _source(self, name: str) -> Source | None:
        quoted = name.replace("'", "''")
        rows = self._rows(
            "SELECT type, sql FROM (SELECT * FROM sqlite_master UNION ALL "
            f"SELECT * FROM sqlite_temp_master) WHERE lower(name) = '{quoted}'"
        )
        found = next((row for row in rows if row[0] in ("table", "view")), None)
        if found is None:
            return None
        if found[0] == "view":
            return self._view(name, str(found[1]))
        infos = self._rows(f"PRAGMA table_info('{quoted}')")
        columns = [
            Column(str(row[1]).lower(), affinity(str(row[2])), affinity(str(row[2])))
            for row in infos
        ]
        keys = [row for row in infos if row[5]]
        key = ""
        if len(keys) == 1 and str(keys[0][2]).upper() == "INTEGER":
            key = str(keys[0][1]).lower()
        return Source(name, columns, key, (((key,),) if key else ()) + self._unique(quoted))

    def _unique(self, quoted: str) -> tuple[tuple[str, ...], ...]:
        """The columns of each unique index of a table."""
        found = []
        for row in self._rows(f"PRAGMA index_list('{quoted}')"):
            if row[2]:
                index = str(row[1]).replace("'", "''")
                parts = self._rows(f"PRAGMA index_info('{index}')")
                found.append(tuple(str(part[2]).lower() for part in parts))
        return tuple(found)

    def _view(self, name: str, sql: str) -> Source:
        tree = look(sql)
        if not isinstance(tree, exp.Create) or tree.expression is None or self._deep > 20:
            raise Inexpressible("a view that cannot be read")
        self._deep += 1
        try:
            columns = self._statements.queries.query(tree.expression, None)[1]
        finally:
            self._deep -= 1
        quoted = name.replace("'", "''")
        names = [str(row[1]).lower() for row in self._rows(f"PRAGMA table_info('{quoted}')")]
        named = zip(columns, names, strict=True)
        return Source(name, [column._replace(name=n) for column, n in named])

    def _index_of(self, name: str) -> str:
        """The table of an index."""
        quoted = name.replace("'", "''")
        rows = self._rows(
            f"SELECT tbl_name FROM sqlite_master WHERE type = 'index' AND lower(name) = '{quoted}'"
        )
        if not rows:
            raise Unresolved(name)
        return str(rows[0][0]).lower()

    def _rows(self, sql: str) -> list[tuple[object, ...]]:
        answer = self._mirror.answer(sql)
        return list(answer[2]) if answer[0] == "rows" else []


def _split(sql: str) -> list[str]:
    """The statements of a record."""
    if ";" not in sql:
        return [sql]
    found, start = [], 0
    for end, character in enumerate(sql, 1):
        if character == ";" and sqlite3.complete_statement(sql[start:end]):
            found.append(sql[start : end - 1])
            start = end
    if sql[start:].strip():
        found.append(sql[start:])
    return [text for text in found if text.strip()]
