"""Features of statements that make and change a database, and a smallest statement of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from refute.fuzz.sql.definitions import ALTERNATIVE, Trigger, WithoutRowid, words_of
from refute.fuzz.sql.text import Node

NODES: dict[str, tuple[type[Node], ...]] = {
    "check": (exp.CheckColumnConstraint,),
    "foreign-key": (exp.ForeignKey, exp.Reference),
    "without-rowid": (WithoutRowid,),
    "strict": (exp.StrictProperty,),
    "upsert": (exp.OnConflict,),
    "delete": (exp.Delete,),
    "trigger": (Trigger,),
    "alter": (exp.Alter,),
    "rename-column": (exp.RenameColumn,),
    "analyze": (exp.Analyze,),
}
PROBES: dict[str, str] = {
    "types": "CREATE TABLE u (a VARCHAR(10), b BIGINT, c BOOLEAN, d BLOB, e DECIMAL(10, 2))",
    "rtrim": "CREATE TABLE u (a TEXT COLLATE RTRIM)",
    "composite-key": "CREATE TABLE u (a INTEGER, b INTEGER, UNIQUE (a, b))",
    "check": "CREATE TABLE u (a INTEGER, CHECK (a <> 77))",
    "generated": "CREATE TABLE u (a INTEGER, b INTEGER AS (a + 1))",
    "stored": "CREATE TABLE u (a INTEGER, b INTEGER AS (a + 1) STORED)",
    "without-rowid": "CREATE TABLE u (a TEXT PRIMARY KEY) WITHOUT ROWID",
    "strict": "CREATE TABLE u (a INTEGER, b ANY) STRICT",
    "foreign-key": "CREATE TABLE u (a INTEGER, FOREIGN KEY (a) REFERENCES t (a))",
    "index": "CREATE INDEX i ON t(a, b DESC)",
    "unique-index": "CREATE UNIQUE INDEX i ON t(a)",
    "index-collate": "CREATE INDEX i ON t(b COLLATE NOCASE)",
    "expression-index": "CREATE INDEX i ON t(a + 1, 1)",
    "partial-index": "CREATE INDEX i ON t(a) WHERE b IS NOT NULL",
    "view": "CREATE VIEW v (c) AS SELECT a FROM t",
    "insert-or": "INSERT OR REPLACE INTO t VALUES (2, 'y')",
    "insert-select": "INSERT INTO t (a) SELECT a FROM t",
    "upsert": "INSERT INTO t VALUES (2, 'y') ON CONFLICT DO NOTHING",
    "update": "UPDATE t SET a = 2 WHERE b = 'x'",
    "update-or": "UPDATE OR REPLACE t SET a = 2 WHERE b = 'x'",
    "delete": "DELETE FROM t WHERE a = 1",
    "trigger": "CREATE TRIGGER g AFTER DELETE ON t BEGIN INSERT INTO t VALUES (OLD.a, 'z'); END",
    "alter": "ALTER TABLE t ADD COLUMN c INTEGER",
    "rename-column": "ALTER TABLE t RENAME COLUMN a TO c",
    "analyze": "ANALYZE",
    "reindex": "REINDEX",
    "vacuum": "VACUUM",
    "fts5": "CREATE VIRTUAL TABLE f USING fts5(a)",
    "rtree": "CREATE VIRTUAL TABLE r USING rtree(a, b, c)",
}
NEEDS: dict[str, tuple[str, ...]] = {
    "rtrim": ("column-collate",),
    "composite-key": ("primary-key", "unique"),
    "stored": ("generated",),
    "without-rowid": ("primary-key",),
    "unique-index": ("index",),
    "index-collate": ("index", "collate"),
    "partial-index": ("index",),
    "update-or": ("update",),
    "rename-column": ("alter",),
}
# Kinds of nodes that these statements have besides those of their features.
CORE: tuple[type[Node], ...] = (
    *(exp.Index, exp.IndexParameters, exp.Properties, exp.VirtualProperty, exp.ModuleProperty),
    *(exp.ComputedColumnConstraint, exp.Update, exp.DataTypeParam),
)
STATEMENTS = (
    *(exp.Create, exp.Insert, exp.Update, exp.Delete, exp.Alter, exp.Analyze, Trigger),
    exp.Command,
)
COMMANDS = {"REINDEX": "reindex", "VACUUM": "vacuum"}
_USUAL = frozenset(("", "INTEGER", "TEXT", "REAL", "NUMERIC", "ANY"))


def _create(node: Node) -> Iterator[str]:
    if node.args.get("kind") == "VIEW":
        yield "view"
    if node.args.get("kind") != "INDEX":
        return
    terms = [ordered.this for ordered in node.this.args["params"].args.get("columns") or ()]
    plain = [term.this if isinstance(term, exp.Collate) else term for term in terms]
    whole = any(not isinstance(term, exp.Column) for term in plain)
    yield "expression-index" if whole else "index"
    if any(isinstance(term, exp.Collate) for term in terms):
        yield "index-collate"
    if node.args.get("unique"):
        yield "unique-index"
    if node.this.args["params"].args.get("where") is not None:
        yield "partial-index"


def _type(node: Node) -> Iterator[str]:
    kind = node.args.get("kind")
    if kind is not None and words_of(kind).upper() not in _USUAL:
        yield "types"


def _collation(node: Node) -> Iterator[str]:
    if node.this.name.upper() == "RTRIM":
        yield "rtrim"


def _computed(node: Node) -> Iterator[str]:
    yield "stored" if node.args.get("persisted") else "generated"


def _unique(node: Node) -> Iterator[str]:
    if isinstance(node.this, exp.Schema) and len(node.this.expressions) > 1:
        yield "composite-key"


def _insert(node: Node) -> Iterator[str]:
    if node.args.get("alternative"):
        yield "insert-or"
    if isinstance(node.expression, exp.Query):
        yield "insert-select"


def _command(node: Node) -> Iterator[str]:
    if (word := node.name.upper()) in COMMANDS:
        yield COMMANDS[word]


def _module(node: Node) -> Iterator[str]:
    if (word := node.name.lower()) in ("fts5", "rtree"):
        yield word


LOOKS: dict[type[Node], Callable[[Node], Iterator[str]]] = {
    exp.Create: _create,
    exp.ColumnDef: _type,
    exp.CollateColumnConstraint: _collation,
    exp.ComputedColumnConstraint: _computed,
    exp.PrimaryKey: lambda node: iter(["composite-key"] if len(node.expressions) > 1 else []),
    exp.UniqueColumnConstraint: _unique,
    exp.Insert: _insert,
    exp.Update: lambda node: iter(["update-or" if node.args.get(ALTERNATIVE) else "update"]),
    exp.Command: _command,
    exp.ModuleProperty: _module,
}
