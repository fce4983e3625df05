"""Writes the .test files of this directory: what SQLite answers to the statements listed here.

    python suite/generate.py

Run it again after a topic has changed. The answers come from the SQLite of Python's sqlite3; a file
must never be edited by hand, and one that changes with SQLite's release does not belong here.
"""

from __future__ import annotations

import sqlite3
from itertools import product
from pathlib import Path

HERE = Path(__file__).resolve().parent
Topic = tuple[list[str], list[str]]
THRESHOLD = "hash-threshold 0"

NUMBERS = ["CREATE TABLE n(a INTEGER, b INTEGER, c REAL, d TEXT, e)"] + [
    f"INSERT INTO n VALUES({row})"
    for row in (
        "1, 10, 1.5, 'one', 1",
        "2, NULL, 2.0, 'Two', '2'",
        "2, 20, NULL, 'two', 2.0",
        "NULL, 30, -0.5, NULL, NULL",
        "3, 30, 1e10, '3', 'three'",
        "-7, 2, -3.25, '-7x', -7",
    )
]
PEOPLE = [
    "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, boss INTEGER, pay REAL)",
    "INSERT INTO person VALUES(1,'Ada',NULL,100.0),(2,'bob',1,50.5),(3,'BOB',1,50.5)",
    "INSERT INTO person(name, boss, pay) VALUES('cy ',2,NULL),('dee',2,10),('eve',99,75.25)",
    "CREATE TABLE task(owner INTEGER, title TEXT, hours INTEGER)",
    "INSERT INTO task VALUES(1,'plan',4),(1,'plan',6),(2,'build',NULL),(2,'test',3)",
    "INSERT INTO task VALUES(NULL,'lost',1),(7,'nobody',2),(5,'Build',8)",
]


def logic() -> Topic:
    """NULL in every operator that decides."""
    values = ("1", "0", "NULL", "2.5", "'abc'")
    queries = [f"SELECT {a} AND {b}, {a} OR {b}" for a, b in product(values, repeat=2)]
    queries += [f"SELECT NOT {a}, {a} IS NULL, {a} IS NOT NULL, {a} IS TRUE" for a in values]
    ternary = list(product(("1", "2", "NULL"), repeat=3))
    queries += [f"SELECT {a} BETWEEN {b} AND {c}" for a, b, c in ternary]
    queries += [f"SELECT {a} IN ({b}, {c}), {a} NOT IN ({b}, {c})" for a, b, c in ternary]
    queries += [f"SELECT {a} IS {b}, {a} IS NOT {b}" for a, b in product(values[:3], repeat=2)]
    queries += [
        "SELECT a FROM n WHERE a NOT IN (SELECT a FROM n)",
        "SELECT a FROM n WHERE a NOT IN (SELECT b FROM n WHERE b IS NOT NULL) ORDER BY a",
        "SELECT b FROM n WHERE NOT (b > 15) ORDER BY b",
        "SELECT 1 WHERE NULL",
        "SELECT NULL IN (SELECT a FROM n WHERE 0), 1 NOT IN (SELECT a FROM n WHERE 0)",
    ]
    return NUMBERS, queries


def arithmetic() -> Topic:
    """Integers, reals, text as numbers, and the edges of 64 bits."""
    values = ("7", "-7", "2", "0", "2.5", "NULL", "'3x'")
    queries = [
        f"SELECT {a} + {b}, {a} - {b}, {a} * {b}" for a, b in product(values, repeat=2) if a <= b
    ]
    queries += [f"SELECT {a} / {b}, {a} % {b}" for a, b in product(values, repeat=2)]
    queries += [
        "SELECT 9223372036854775807 + 1 > 9e18, typeof(-9223372036854775808 - 1)",
        "SELECT typeof(4611686018427387904 * 2), typeof(3037000499 * 3037000499)",
        "SELECT typeof(-9223372036854775808 / -1), -9223372036854775808 % -1",
        "SELECT typeof(1 / 2), typeof(1 / 2.0), typeof('1' + 1), typeof('1.0' + 1)",
        "SELECT 6 & 3, 6 | 3, ~6, 1 << 4, -16 >> 2, 1 << 64, 1 << -1",
        "SELECT 1 || 2, 'a' || NULL, 1.5 || 'x', 2 || 3 * 4",
        "SELECT -'5', - -5, +'x', -NULL",
        "SELECT a, b / a, b % a FROM n ORDER BY rowid",
        "SELECT a + b * c FROM n ORDER BY rowid",
    ]
    return NUMBERS, queries


def comparing() -> Topic:
    """Affinity and collation of comparisons, CAST and LIKE."""
    setup = [
        "CREATE TABLE v(i INTEGER, r REAL, t TEXT, b BLOB, u, n TEXT COLLATE NOCASE)",
        "INSERT INTO v VALUES(1, 1, 1, 1, 1, 'a')",
        "INSERT INTO v VALUES('2', '2.0', 2.0, '2', '2', 'A')",
        "INSERT INTO v VALUES('x', 'x', 'x', 'x', 'x', 'b')",
        "INSERT INTO v VALUES(NULL, NULL, NULL, NULL, NULL, NULL)",
    ]
    columns = ("i", "r", "t", "b", "u")
    queries = [
        f"SELECT {a} = {b}, {a} < {b} FROM v ORDER BY rowid"
        for a, b in product(columns, repeat=2)
        if a != b
    ]
    queries += [
        f"SELECT {a} = {b}, {a} IN ({b}) FROM v ORDER BY rowid"
        for a, b in product(columns, ("1", "'1'", "2.0", "'2'", "'2.0'"))
    ]
    queries += ["SELECT typeof(i), typeof(r), typeof(t), typeof(b) FROM v ORDER BY rowid"]
    queries += [
        "SELECT n FROM v WHERE n = 'a' ORDER BY rowid",
        "SELECT n FROM v WHERE 'a' = n ORDER BY rowid",
        "SELECT n FROM v WHERE n = 'a' COLLATE BINARY ORDER BY rowid",
        "SELECT 'a' = 'A', 'a' = 'A' COLLATE NOCASE, 'a ' = 'a' COLLATE RTRIM",
        "SELECT n FROM v WHERE n BETWEEN 'A' AND 'a' ORDER BY rowid",
        "SELECT n IN ('A', 'B') FROM v ORDER BY rowid",
        "SELECT t FROM v WHERE t > n ORDER BY t",
        "SELECT 'abc' LIKE 'A%', 'abc' LIKE '_b_', 'a%c' LIKE 'a!%c' ESCAPE '!', NULL LIKE 'a'",
        "SELECT 'abc' NOT LIKE 'A%', 'abc' NOT LIKE '!%' ESCAPE '!', NULL NOT LIKE 'a'",
        "SELECT 'abc' GLOB 'A*', 'abc' GLOB 'a*', 'abc' GLOB '[a-c]?[!x]', 'b' GLOB '[^b]'",
        "SELECT 1 < 'a', 'a' < x'61', NULL < 1, 2 < 10, '2' < '10'",
        "SELECT CASE n WHEN 'A' THEN 'same' ELSE 'other' END FROM v ORDER BY rowid",
        "SELECT CASE i WHEN NULL THEN 'null' WHEN 1 THEN 'one' END FROM v ORDER BY rowid",
        "SELECT max(n), min(n), max('b', 'A' COLLATE NOCASE) FROM v",
    ]
    types = ("INTEGER", "REAL", "TEXT", "NUMERIC")
    values = ("'12abc'", "'1.5'", "'1e2'", "2.9", "-2.9", "NULL", "' 7 '", "'x'")
    queries += [
        f"SELECT CAST({v} AS {t}), typeof(CAST({v} AS {t}))" for v, t in product(values, types)
    ]
    return setup, queries


def joins() -> Topic:
    """Inner, left, cross and self joins; ON against WHERE; USING and NATURAL."""
    queries = [
        "SELECT name, title FROM person JOIN task ON owner = id ORDER BY id, title, hours",
        "SELECT name, title FROM person LEFT JOIN task ON owner = id ORDER BY id, title",
        "SELECT name, title FROM person LEFT JOIN task ON owner = id AND hours > 3 ORDER BY id",
        "SELECT name, title FROM person LEFT JOIN task ON owner = id WHERE hours > 3 ORDER BY id",
        "SELECT name FROM person LEFT JOIN task ON owner = id WHERE title IS NULL ORDER BY id",
        "SELECT name, title FROM task LEFT JOIN person ON owner = id ORDER BY title, hours",
        "SELECT name, title FROM person RIGHT JOIN task ON owner = id ORDER BY title, hours",
        "SELECT name, title FROM person FULL JOIN task ON owner = id ORDER BY id, title, hours",
        "SELECT count(*) FROM person, task",
        "SELECT count(*) FROM person CROSS JOIN task WHERE id = owner",
        "SELECT p.name, b.name FROM person p LEFT JOIN person b ON p.boss = b.id ORDER BY p.id",
        "SELECT p.name, b.name FROM person p JOIN person b ON p.boss = b.id ORDER BY p.id",
        "SELECT p.id, b.id, t.title FROM person p LEFT JOIN person b ON p.boss = b.id "
        "LEFT JOIN task t ON t.owner = b.id ORDER BY p.id, b.id, t.title",
        "SELECT p.id, q.id FROM person p JOIN person q ON p.name = q.name AND p.id < q.id",
        "SELECT * FROM person NATURAL JOIN person AS q ORDER BY id",
        "SELECT id, q.pay FROM person JOIN person q USING (id) ORDER BY id",
        "SELECT * FROM (SELECT id, name FROM person) JOIN (SELECT owner AS id, hours FROM task) "
        "USING (id) ORDER BY id, hours",
        "SELECT x.id FROM person x LEFT JOIN (SELECT owner FROM task WHERE hours > 4) y "
        "ON x.id = y.owner WHERE y.owner IS NULL ORDER BY x.id",
        "SELECT person.name FROM person, task WHERE id = owner AND title = 'test'",
        "SELECT id FROM person LEFT JOIN task ON 0 ORDER BY id",
        "SELECT id, hours FROM person FULL JOIN (SELECT owner AS id, hours FROM task) USING (id) "
        "ORDER BY id, hours",
        "SELECT id, hours FROM person RIGHT JOIN (SELECT owner AS id, hours FROM task) USING (id) "
        "ORDER BY id, hours",
        "SELECT count(title), count(*) FROM person LEFT JOIN task ON NULL",
    ]
    return PEOPLE, queries


def grouping() -> Topic:
    """Aggregates, GROUP BY, HAVING, DISTINCT."""
    functions = ("count(*)", "count({})", "sum({})", "avg({})", "min({})", "max({})", "total({})")
    queries = []
    for column in ("a", "b", "c"):
        every = ", ".join(f.format(column) for f in functions)
        queries.append(f"SELECT {every} FROM n")
        queries.append(f"SELECT {every} FROM n WHERE 0")
        queries.append(f"SELECT b, {every} FROM n GROUP BY b ORDER BY b")
        queries.append(f"SELECT count(DISTINCT {column}), sum(DISTINCT {column}) FROM n")
        queries.append(f"SELECT sum({column}) FILTER (WHERE a > 1) FROM n")
    queries += [
        "SELECT a, count(*) FROM n GROUP BY a ORDER BY a",
        "SELECT a, b, count(*) FROM n GROUP BY a, b ORDER BY 1, 2",
        "SELECT a, count(*) FROM n GROUP BY a HAVING count(*) > 1",
        "SELECT a AS k, sum(b) FROM n GROUP BY k HAVING sum(b) IS NOT NULL ORDER BY k",
        "SELECT count(*) FROM n HAVING count(*) > 100",
        "SELECT count(*) FROM n HAVING count(*) > 1",
        "SELECT sum(b) FROM n HAVING sum(a) > 0",
        "SELECT max(a) FROM n HAVING max(a) IS NULL",
        "SELECT a > 1, count(*) FROM n GROUP BY a > 1 ORDER BY 1",
        "SELECT DISTINCT a FROM n ORDER BY a",
        "SELECT DISTINCT a > 1 FROM n ORDER BY 1",
        "SELECT DISTINCT a, b FROM n ORDER BY a, b",
        "SELECT DISTINCT NULL FROM n",
        "SELECT DISTINCT nullif(a, 2) FROM n ORDER BY 1",
        "SELECT DISTINCT owner, hours > 5 FROM task ORDER BY 1, 2",
        "SELECT DISTINCT d COLLATE NOCASE FROM n WHERE a = 2",
        "SELECT d, max(b) FROM n",
        "SELECT d, min(c) FROM n",
        "SELECT a, d, max(b) FROM n GROUP BY a ORDER BY a",
        "SELECT group_concat(d), group_concat(d, '-') FROM n",
        "SELECT group_concat(DISTINCT a) FROM n",
        "SELECT count(*) FROM n WHERE a > (SELECT avg(a) FROM n)",
        "SELECT sum(a) + count(b) * 2 FROM n",
        "SELECT lower(d) AS k, count(*) FROM n GROUP BY lower(d) ORDER BY k",
        "SELECT name, count(*) FROM person GROUP BY name ORDER BY name",
        "SELECT count(DISTINCT name) FROM person",
        "SELECT owner, sum(hours), count(hours), count(*) FROM task GROUP BY owner ORDER BY owner",
        "SELECT title, total(hours) FROM task GROUP BY title COLLATE NOCASE ORDER BY 1",
        "SELECT (SELECT sum(hours) FROM task WHERE owner = id) FROM person ORDER BY id",
        "SELECT count(*), (SELECT count(*) FROM task) FROM person",
        "SELECT sum(x) FROM (SELECT count(*) AS x FROM task GROUP BY owner)",
    ]
    return [*NUMBERS, *PEOPLE], queries


def ordering() -> Topic:
    """ORDER BY, LIMIT and OFFSET."""
    terms = ("a", "b DESC", "c", "d", "e", "d COLLATE NOCASE", "a NULLS LAST", "b DESC NULLS FIRST")
    queries = [f"SELECT a, b, d FROM n ORDER BY {x}, {y}, rowid" for x, y in product(terms, terms)]
    queries += [
        "SELECT d FROM n ORDER BY 1 DESC",
        "SELECT a + 1 AS a, b FROM n ORDER BY a, b",
        "SELECT a AS x, -a AS y FROM n ORDER BY y, x",
        "SELECT a FROM n ORDER BY a + b, a",
        "SELECT a FROM n ORDER BY rowid LIMIT 2",
        "SELECT a FROM n ORDER BY rowid LIMIT 2 OFFSET 3",
        "SELECT a FROM n ORDER BY rowid LIMIT -1 OFFSET 4",
        "SELECT a FROM n ORDER BY rowid LIMIT 0",
        "SELECT a FROM n ORDER BY rowid LIMIT 1, 2",
        "SELECT a FROM n ORDER BY rowid LIMIT 1 + 1",
        "SELECT name FROM person ORDER BY name, id",
        "SELECT name FROM person ORDER BY name COLLATE BINARY",
        "SELECT title FROM task ORDER BY title, hours DESC",
        "SELECT DISTINCT b FROM n ORDER BY -b",
    ]
    return [*NUMBERS, *PEOPLE], queries


def subqueries() -> Topic:
    """Scalar, IN, EXISTS, correlated and derived; UNION and its kin."""
    queries = [
        "SELECT (SELECT a FROM n WHERE 0)",
        "SELECT (SELECT a FROM n ORDER BY b DESC, a LIMIT 1)",
        "SELECT (SELECT b FROM n AS m WHERE m.a = n.a ORDER BY b) FROM n ORDER BY n.rowid",
        "SELECT a FROM n WHERE b = (SELECT max(b) FROM n) ORDER BY a",
        "SELECT name FROM person WHERE EXISTS (SELECT 1 FROM task WHERE owner = id) ORDER BY id",
        "SELECT id FROM person WHERE NOT EXISTS (SELECT * FROM task WHERE owner = id) ORDER BY id",
        "SELECT name FROM person WHERE id IN (SELECT owner FROM task) ORDER BY id",
        "SELECT name FROM person WHERE id NOT IN (SELECT owner FROM task)",
        "SELECT id FROM person WHERE id NOT IN (SELECT owner FROM task WHERE owner) ORDER BY id",
        "SELECT name FROM person p WHERE pay >= "
        "(SELECT avg(pay) FROM person q WHERE q.boss IS p.boss) ORDER BY id",
        "SELECT p.id, (SELECT count(*) FROM person q WHERE q.boss = p.id) FROM person p ORDER BY 1",
        "SELECT x.s FROM (SELECT a, sum(b) AS s FROM n GROUP BY a) x WHERE x.s > 15 ORDER BY 1",
        "SELECT * FROM (SELECT * FROM (SELECT a, b FROM n) WHERE b > 5) WHERE a < 3 ORDER BY a",
        "SELECT exists(SELECT a FROM n WHERE a = 3), exists(SELECT a FROM n WHERE a = 4)",
        "SELECT 'bob' IN (SELECT name FROM person), (SELECT name FROM person WHERE id = 3) = 'bob'",
        "SELECT id FROM person WHERE 'build' IN (SELECT title FROM task WHERE owner = id)",
        "SELECT (SELECT sum(p.id) FROM task WHERE title = 'plan') FROM person p",
    ]
    sides = (
        "SELECT a FROM n",
        "SELECT b FROM n",
        "SELECT DISTINCT a FROM n WHERE a > 0",
        "SELECT NULL",
        "SELECT 2.0",
        "SELECT d FROM n",
    )
    operators = ("UNION", "UNION ALL", "INTERSECT", "EXCEPT")
    queries += [
        f"{x} {o} {y} ORDER BY 1"
        for o, x, y in product(operators, sides, sides)
        if o == "EXCEPT" or (x != y and "2.0" not in x + y)
    ]
    queries += [
        "SELECT a FROM n UNION ALL SELECT b FROM n UNION SELECT 2 ORDER BY 1 LIMIT 3",
        "SELECT a FROM n EXCEPT SELECT 2 UNION SELECT 7 ORDER BY a DESC",
        "SELECT count(*) FROM (SELECT a FROM n UNION SELECT b FROM n)",
        "SELECT name FROM person WHERE id < 4 UNION SELECT 'BOB' ORDER BY 1",
        "SELECT a AS x, b FROM n INTERSECT SELECT 2, 20 ORDER BY x",
    ]
    return [*NUMBERS, *PEOPLE], queries


def functions() -> Topic:
    """CASE and the scalar functions."""
    values = ("NULL", "'Hello'", "-3", "2.5", "''")
    one = ("abs", "length", "upper", "lower", "typeof", "quote", "hex", "round", "trim", "unicode")
    queries = [f"SELECT {f}({v})" for f, v in product(one, values)]
    queries += [
        f"SELECT substr('abcdef', {y}, {z}), substr('abcdef', {y})"
        for y, z in product((-9, -2, 0, 1, 3, 9), (-2, 0, 2, 9))
    ]
    queries += [
        "SELECT coalesce(NULL, 2, 3), ifnull(NULL, 'x'), nullif(1, 1), nullif(1, 2)",
        "SELECT nullif(1, NULL), nullif(NULL, 1), coalesce(NULL, NULL)",
        "SELECT max(1, 2, 3), min('b', 'a'), max(1, NULL), min(1, 'a')",
        "SELECT iif(1, 'a', 'b'), iif(NULL, 'a', 'b'), iif(0, 'a', 'b')",
        "SELECT instr('hello', 'l'), replace('aXbX', 'X', '--'), ltrim('  a ')",
        "SELECT rtrim('xxaxx', 'x'), trim('xxaxx', 'x'), ltrim('xxaxx', '')",
        "SELECT round(2.5), round(-2.5), round(2.345, 2), round(1e20, 1), round(7)",
        "SELECT round(2.675, 2), round(0.285, 2), round(1.005, 2), round(-0.4)",
        "SELECT CASE WHEN 0 THEN 1 END, CASE WHEN NULL THEN 1 ELSE 2 END",
        "SELECT CASE 2 WHEN 1 THEN 'a' WHEN 2 THEN 'b' WHEN 2 THEN 'c' END",
        "SELECT CASE NULL WHEN NULL THEN 'a' ELSE 'b' END",
        "SELECT a, CASE WHEN a < b THEN 'less' WHEN a > b THEN 'more' ELSE 'unknown' END FROM n "
        "ORDER BY rowid",
        "SELECT sign(-2), sign('x'), char(72, 105), hex(x'00ff'), quote(x'00ff'), quote('it''s')",
    ]
    return NUMBERS, queries


def changing() -> Topic:
    """Constraints, defaults, UPDATE and DELETE: statements that must fail, and what stays."""
    setup = [
        "CREATE TABLE k(id INTEGER PRIMARY KEY, u TEXT UNIQUE COLLATE NOCASE, "
        "m INTEGER NOT NULL DEFAULT 5, d DEFAULT 'none')"
    ]
    steps = [
        "INSERT INTO k(u) VALUES('a')",
        "INSERT INTO k(u, m) VALUES('b', NULL)",
        "INSERT INTO k(u) VALUES('A')",
        "INSERT INTO k(u) VALUES(NULL), (NULL)",
        "INSERT INTO k(u) VALUES('c'), ('C')",
        "INSERT INTO k VALUES(1, 'z', 1, 1)",
        "INSERT INTO k VALUES('x', 'z', 1, 1)",
        "INSERT INTO k VALUES(10, 'z', '1.0', 2.50)",
        "INSERT INTO k VALUES(1, 2)",
        "INSERT INTO k(id, missing) VALUES(1, 2)",
        "INSERT INTO k(u) VALUES('after')",
        "SELECT id, u, m, d, typeof(d) FROM k ORDER BY id",
        "UPDATE k SET m = m + 1 WHERE id > 2",
        "UPDATE k SET m = NULL WHERE id = 1",
        "UPDATE k SET u = 'A' WHERE id = 10",
        "UPDATE k SET id = 20, d = u || '!' WHERE u = 'AFTER'",
        "SELECT id, u, m, d FROM k ORDER BY id",
        "DELETE FROM k WHERE u IS NULL",
        "SELECT id FROM k ORDER BY id",
        "INSERT INTO k(u) SELECT 'copy of ' || u FROM k WHERE u IS NOT NULL ORDER BY id",
        "SELECT id, u FROM k ORDER BY id",
        "CREATE UNIQUE INDEX i ON k(m)",
        "CREATE INDEX j ON k(m, u DESC)",
        "CREATE TABLE k(x)",
        "CREATE TABLE IF NOT EXISTS k(x)",
        "CREATE TABLE copy AS SELECT id, u FROM k WHERE id < 20",
        "SELECT * FROM copy ORDER BY id",
        "DROP TABLE copy",
        "SELECT * FROM copy",
        "DELETE FROM k",
        "SELECT count(*) FROM k",
        "SELECT missing FROM k",
        "SELECT sum(count(*)) FROM k",
        "SELECT 1 FROM k WHERE count(*) > 1",
        "SELECT 1 FROM k HAVING 1",
        "SELECT u FROM k AS x, k AS y",
        "SELECT 1 UNION SELECT 1, 2",
        "SELECT id FROM k ORDER BY 2",
        "SELECT (SELECT 1, 2)",
        "SELECT sum(x) FROM (SELECT 9223372036854775807 AS x UNION ALL SELECT 1)",
        "SELECT abs(-9223372036854775808)",
        "SELECT 'a' COLLATE nowhere = 'b'",
        "DROP TABLE missing",
    ]
    return setup, steps


FILES = {
    "values": (logic, arithmetic, comparing, functions),
    "queries": (joins, grouping, ordering, subqueries),
    "changes": (changing,),
}


def written(value: object, kind: str) -> str:
    """A value as sqllogictest writes it in a column of that type."""
    if value is None:
        return "NULL"
    if kind == "R":
        return f"{value:.3f}"
    text = str(value)
    return "(empty)" if text == "" else text


def kind_of(values: list[object]) -> str:
    """The letter of a column: I for integers, R for reals, T for all else."""
    kinds = {type(value) for value in values if value is not None}
    return "I" if kinds <= {int} else "R" if kinds == {float} else "T"


def record(connection: sqlite3.Connection, sql: str) -> str:
    """One statement or query with what SQLite says to it."""
    try:
        cursor = connection.execute(sql)
        rows = cursor.fetchall()
    except sqlite3.Error:
        return f"statement error\n{sql}\n"
    if cursor.description is None:
        return f"statement ok\n{sql}\n"
    kinds = "".join(kind_of(list(column)) for column in zip(*rows, strict=True))
    kinds = kinds or "T" * len(cursor.description)  # what an engine answers instead is shown whole
    answer = [written(v, k) for row in rows for v, k in zip(row, kinds, strict=True)]
    sort = "nosort" if "ORDER BY" in sql or len(rows) < 2 else "rowsort"
    if sort == "rowsort":
        lines = sorted([written(v, k) for v, k in zip(row, kinds, strict=True)] for row in rows)
        answer = [value for line in lines for value in line]
    return "\n".join([f"query {kinds} {sort}", sql, "----", *answer, ""])


def main() -> None:
    """Write the files, each with its topics one after the other."""
    for name, topics in FILES.items():
        connection = sqlite3.connect(":memory:", isolation_level=None)
        parts, made = [f"# What SQLite answers; written by generate.py\n\n{THRESHOLD}\n"], set()
        for topic in topics:
            setup, steps = topic()
            parts.append(f"# {topic.__doc__}\n")
            new = [sql for sql in setup if sql not in made]
            parts += [record(connection, sql) for sql in [*new, *steps]]
            made.update(new)
        (HERE / f"{name}.test").write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
