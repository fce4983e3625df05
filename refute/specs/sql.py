"""Statements about SQL engines: an engine answers queries as the embedded SQLite does.

    claim("minidb answers as SQLite does",
          AgreesWithSQLite("minidb:connect", must_support=("left-join", "group-by")))

The engine is a factory without arguments, `module:function`, that returns a DB-API 2.0 connection
to an empty database of its own. The queries are generated; which parts of SQL they use is named by
features, so that a claim can leave out what the engine does not have, and insist on what it has.
"""

from __future__ import annotations

from collections.abc import Iterable

from refute.claim import Statement, check_reference, is_command
from refute.errors import IllegalClaim

KIND = "agrees-with-sqlite"
ALL = "all"
MOST_TABLES = 4
MOST_ROWS = 40

# What a query or its tables may use besides the core: SELECT of expressions over one table with
# columns, literals, + - *, comparisons, AND, OR, NOT, IS NULL, WHERE; CREATE TABLE and INSERT.
FEATURES: dict[str, str] = {
    "inner-join": "INNER JOIN … ON",
    "left-join": "LEFT JOIN … ON",
    "cross-join": "CROSS JOIN, and several tables in FROM",
    "division": "/",
    "modulo": "%",
    "concat": "||",
    "is": "IS and IS NOT between two values",
    "in-list": "IN with a list",
    "in-subquery": "IN with a subquery",
    "exists": "EXISTS",
    "between": "BETWEEN",
    "like": "LIKE",
    "case": "CASE",
    "coalesce": "COALESCE, IFNULL and NULLIF",
    "cast": "CAST",
    "functions": "LENGTH, UPPER, LOWER, SUBSTR, TYPEOF and ABS",
    "collate": "COLLATE in an expression",
    "aggregate": "COUNT, SUM, AVG, MIN and MAX",
    "aggregate-distinct": "DISTINCT inside of an aggregate",
    "filter": "FILTER after an aggregate",
    "total": "TOTAL",
    "group-concat": "GROUP_CONCAT",
    "group-by": "GROUP BY",
    "having": "HAVING with GROUP BY",
    "having-alone": "HAVING without GROUP BY",
    "distinct": "SELECT DISTINCT",
    "order-by": "ORDER BY",
    "nulls-order": "NULLS FIRST and NULLS LAST",
    "limit": "LIMIT and OFFSET",
    "scalar-subquery": "a subquery as a value",
    "correlated": "a subquery that uses columns of the query around it",
    "derived-table": "a subquery in FROM",
    "union": "UNION",
    "union-all": "UNION ALL",
    "intersect": "INTERSECT",
    "except": "EXCEPT",
    "not-null": "NOT NULL",
    "primary-key": "PRIMARY KEY",
    "unique": "UNIQUE",
    "default": "DEFAULT",
    "column-collate": "COLLATE of a column",
    "untyped": "columns without a type",
    "numeric": "columns of type NUMERIC",
    "conversion": "values that a column's type converts, or keeps although it is of another",
    "violation": "an INSERT that breaks a constraint and must be refused",
}

# What a query may use besides.
QUERY_FEATURES: dict[str, str] = {
    "right-join": "RIGHT JOIN",
    "full-join": "FULL JOIN",
    "natural-join": "NATURAL JOIN, and with LEFT, RIGHT and FULL where these are chosen",
    "using": "JOIN … USING",
    "join-alone": "a join of other kinds than CROSS without ON",
    "paren-from": "joins in parentheses in FROM",
    "values": "VALUES in FROM",
    "not-indexed": "NOT INDEXED",
    "indexed-by": "INDEXED BY",
    "rowid": "the number of a row",
    "in-empty": "IN with an empty list",
    "escape": "LIKE with ESCAPE",
    "glob": "GLOB",
    "text-functions": "REPLACE, TRIM, LTRIM, RTRIM, HEX, QUOTE, CHAR and PRINTF",
    "number-functions": "ROUND, UNICODE and INSTR",
    "sign": "SIGN",
    "min-max": "MIN and MAX of several values",
    "iif": "IIF",
    "likelihood": "LIKELY, UNLIKELY and LIKELIHOOD",
    "zeroblob": "ZEROBLOB",
    "bits": "~, &, |, << and >>",
    "unary-plus": "+ in front of a value, which has no affinity then",
    "blob": "blobs as literals, and CAST to BLOB",
    "boolean": "TRUE and FALSE, and IS with these",
    "infinity": "1e500, which is infinite",
    "row-values": "comparisons of row values",
    "row-between": "BETWEEN of row values",
    "row-in": "row values with IN, and compared with a subquery",
    "group-by-expression": "GROUP BY of expressions and of positions",
    "bare-columns": "columns beside a single MIN or MAX, which are of its row",
    "order-by-expression": "ORDER BY of expressions",
    "limit-inside": "LIMIT in a subquery, where it is of no matter which rows stay",
    "cte": "WITH",
    "materialized": "MATERIALIZED and NOT MATERIALIZED",
    "recursive": "WITH RECURSIVE",
    "window": "window functions with PARTITION BY and ORDER BY",
    "window-frame": "frames of ROWS and RANGE",
    "window-exclude": "EXCLUDE in a frame, and frames of GROUPS",
    "named-window": "WINDOW",
    "compound-several": "more than two queries combined",
    "compound-inside": "combined queries in a subquery",
}
# What a database may have besides tables with these columns and keys: see `refute.fuzz.sql`.
SETUP_FEATURES: dict[str, str] = {
    "types": "columns declared as VARCHAR(10), BIGINT, BOOLEAN, BLOB and the like",
    "rtrim": "COLLATE RTRIM of a column",
    "composite-key": "PRIMARY KEY and UNIQUE of several columns",
    "check": "CHECK",
    "generated": "generated columns",
    "stored": "generated columns that are STORED",
    "without-rowid": "tables WITHOUT ROWID",
    "strict": "STRICT tables",
    "foreign-key": "REFERENCES",
    "index": "CREATE INDEX of columns",
    "unique-index": "CREATE UNIQUE INDEX",
    "index-collate": "COLLATE in an index",
    "expression-index": "expressions in an index",
    "partial-index": "indexes with WHERE",
    "view": "views",
    "insert-or": "INSERT OR REPLACE and OR IGNORE",
    "insert-select": "INSERT of a query's rows",
    "upsert": "INSERT with ON CONFLICT",
    "update": "UPDATE",
    "update-or": "UPDATE OR REPLACE and OR IGNORE",
    "delete": "DELETE",
    "trigger": "triggers",
    "alter": "ALTER TABLE ADD COLUMN and RENAME",
    "rename-column": "ALTER TABLE RENAME COLUMN",
    "analyze": "ANALYZE",
    "reindex": "REINDEX",
    "vacuum": "VACUUM",
    "fts5": "virtual tables of FTS5",
    "rtree": "virtual tables of R*Tree",
}
BASIC = tuple(FEATURES)  # what a claim is about that names no features
FEATURES |= QUERY_FEATURES | SETUP_FEATURES


def AgreesWithSQLite(
    engine: str,
    *,
    features: Iterable[str] | str | None = None,
    must_support: Iterable[str] | str = (),
    tables: int = 3,
    rows: int = 8,
) -> Statement:
    """On every generated database, the engine answers every generated query as SQLite does.

    engine: `module:function`, a factory of DB-API 2.0 connections. features: the names of
    `FEATURES` that are generated, those in `BASIC` by default ("all": every one). must_support:
    those that the engine must not refuse ("all": every generated one); a query that uses no others
    and the core may then not end with an SQL error. Whatever else it refuses counts as discarded.
    tables: at most so many (1..4). rows: at most so many in each (0..40).

    Compared are the rows: values and their types; not the names of columns, and not what SQLite
    leaves open (the order without ORDER BY, for example; see `refute.oracles.sql.compare`). An
    exception that is no DB-API error, a crash and a missing answer are failures, and so are
    accepting a row that breaks a constraint, and an answer where SQLite's is "integer overflow".
    """
    subject = check_reference(engine, "engine")
    _need(not is_command(subject), "the engine is module:function", engine)
    chosen = _names(_meant(features), "features")
    must = chosen if must_support == ALL else _names(must_support, "must_support")
    outside = sorted(set(must) - set(chosen))
    _need(not outside, "must_support names what features leaves out", outside)
    _need(_within(tables, 1, MOST_TABLES), f"tables is 1 to {MOST_TABLES}", tables)
    _need(_within(rows, 0, MOST_ROWS), f"rows is 0 to {MOST_ROWS}", rows)
    missing = [name for name in BASIC if name not in chosen]
    more = [name for name in chosen if name not in BASIC]
    named = f", without {', '.join(missing)}" if missing else ""
    if more:
        named = f", with {', '.join(more)}{' and' if missing else ''}{named.lstrip(',')}"
    if len(missing) > len(chosen):
        named = f", with {', '.join(chosen) or 'the core of SQL'} only"
    return Statement(
        kind=KIND,
        text=f"{subject} answers as SQLite does{named}",
        subject=subject,
        params={
            "features": list(chosen),
            "must_support": list(must),
            "tables": tables,
            "rows": rows,
        },
    )


def _meant(features: Iterable[str] | str | None) -> Iterable[str] | str:
    if features is None:
        return BASIC
    return tuple(FEATURES) if features == ALL else features


def _names(given: Iterable[str], thing: str) -> tuple[str, ...]:
    _need(not isinstance(given, str), f"{thing} is a list of names, not one string", given)
    names = list(given)
    for name in names:
        if type(name) is not str or name not in FEATURES:
            raise IllegalClaim(
                f"AgreesWithSQLite: {name!r} is no feature",
                thing=thing,
                value=name,
                possible=tuple(FEATURES),
                next_step="use names of refute.specs.sql.FEATURES",
            )
    return tuple(name for name in FEATURES if name in names)


def _within(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _need(condition: bool, message: str, value: object) -> None:
    if not condition:
        raise IllegalClaim(f"AgreesWithSQLite: {message}", thing="statement", value=value)
