"""Files of sqllogictest-rs as projects write them for their engine, on that engine.

Each file passes as it is, and with one wrong word fails at the record of that word.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import pytest
import servers

from refute.verifiers.sql.conform_engines import open_engine
from refute.verifiers.sql.conform_file import FileResult, Run, run_file
from refute.verifiers.sql.conform_run import Choice

POSTGRESQL = r"""
control substitution on

statement count 0
CREATE FUNCTION add(INT, INT) RETURNS INT LANGUAGE SQL AS \$\$ SELECT \$1 + \$2 \$\$

statement count 3
INSERT INTO t SELECT * FROM (VALUES (1, 3.14::FLOAT8), (2, 4.44), (20, 10.30)) v

query IRIB
SELECT a, b, add(a, 1), b > 4 FROM t ORDER BY a
----
1   3.14  2   f
2   4.44  3   t
20  10.3  21  true

statement error (42P01)
SELECT * FROM nowhere

statement error ^db error: ERROR: relation "nowhere" does not exist$
SELECT * FROM nowhere

query error
SELECT 1 / 0
----
db error: ERROR: division by zero


query TTTR
SELECT '\\xFF'::BYTEA, 'a'::BYTEA, INTERVAL '3 days', 1.50::NUMERIC
----
\xff \x61 3 days 1.50

let name
SELECT current_database()

onlyif postgres
query B
SELECT '$name' = '$__DATABASE__'
----
t

connection other
query I
SELECT count(*) FROM t
----
3
"""
POSTGRESQL_SETUP = "statement ok\nCREATE TABLE t(a INT, b FLOAT8)\n"

DATAFUSION = r"""
query ?T
SELECT X'FF01', arrow_typeof(X'FF01')
----
ff01 Binary

query error DataFusion error: Error during planning: Invalid HexStringLiteral 'Z'
SELECT X'Z'

query TT rowsort
SELECT column1, column1 = 'b' FROM (VALUES ('b'), (''), (NULL))
----
(empty) false
NULL NULL
b true

query RR
SELECT 0.1 + 0.2, CAST(0.1 AS FLOAT)
----
0.3 0.1

statement count 2
INSERT INTO t VALUES (1), (2)

query TT
EXPLAIN SELECT a FROM t WHERE a = 1
----
logical_plan
01)Filter: t.a = Int32(1)
02)--TableScan: t projection=[a]
physical_plan
01)FilterExec: a@0 = 1
02)--DataSourceExec: partitions=1, partition_sizes=<slt:ignore>
"""
DATAFUSION_SETUP = "statement count 0\nCREATE TABLE t(a INT)\n"


def postgresql() -> str:
    """Where the server is."""
    return servers.postgresql().url


def datafusion() -> str:
    """The engine's name."""
    if importlib.util.find_spec("datafusion") is None:
        pytest.skip("datafusion is not installed: pip install datafusion")
    return "datafusion"


def ran(engine: str, name: str, text: str) -> FileResult:
    """What comes of the file."""
    opened = open_engine(Choice(engine, name, 20.0))
    try:
        return run_file(Run(opened, name, dialect="rs"), "f.slt", text.encode(), 0)
    finally:
        opened.close()


@pytest.mark.parametrize(
    ("engine", "text", "wrong"),
    [
        (
            postgresql,
            f"{POSTGRESQL_SETUP}{POSTGRESQL}",
            {
                "count 3": "count 2",
                "3   t": "3   f",
                "42P01": "42P02",
                "ERROR: division": "ERROR: Division",
                "1.50\n\nlet": "1.5\n\nlet",
                "'$name' =": "'$name' <>",
            },
        ),
        (
            datafusion,
            f"{DATAFUSION_SETUP}{DATAFUSION}",
            {
                "ff01 Binary": "ff02 Binary",
                "Literal 'Z'": "Literal 'Y'",
                "b true": "b false",
                "0.3 0.1": "0.3 0.2",
                "count 2": "count 3",
                "02)--TableScan": "02)TableScan",
            },
        ),
    ],
    ids=["postgresql", "datafusion"],
)
def test_a_file_passes_and_each_wrong_word_fails(
    engine: Callable[[], str], text: str, wrong: dict[str, str]
) -> None:
    where, name = engine(), engine.__name__
    good = ran(where, name, text)
    assert (good.error, good.lost, good.failures) == ("", "", [])
    spoiled = text
    for right, other in wrong.items():
        assert spoiled.count(right) == 1, right
        spoiled = spoiled.replace(right, other)
    bad = ran(where, name, spoiled)
    assert len(bad.failures) == len(wrong), [(f.line, f.expected, f.got) for f in bad.failures]
    assert bad.run == good.run
