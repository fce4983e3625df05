"""Failures that follow from an earlier one: shown by an experiment, and nothing else is said to."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from refute.oracles.sql.sqlite import SQLite
from refute.verifiers.sql import conform_follow, conform_followed
from refute.verifiers.sql.conform_file import Failure, FileResult, Run, run_file
from refute.verifiers.sql.conform_tables import targets_of


class Engine:
    """SQLite, but for what `turn` makes of a statement: another one, or an error's message."""

    unstable = ""
    can: frozenset[str] = frozenset()

    def __init__(self, turn: Callable[[str], str | Exception]) -> None:
        self._turn = turn
        self._database = SQLite()

    def start(self, hash_seed: int) -> None:
        self._database.close()
        self._database = SQLite()

    def answers(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
        for statement in statements:
            turned = self._turn(statement)
            if isinstance(turned, Exception):
                yield ("error", "planted.Error", str(turned))
            else:
                yield self._database.answer(turned)

    def answer_on(self, connection: str, sql: str, timeout_s: float | None = None) -> Any:
        [answer] = self.answers([sql])
        return answer

    def reconnect(self, connection: str) -> None:
        raise NotImplementedError

    def restart(self, database: str = "") -> None:
        raise NotImplementedError

    def close(self) -> None:
        self._database.close()


def refusing(*words: str, message: str = "syntax error") -> Callable[[str], str | Exception]:
    """An engine that refuses statements with one of these words."""
    return lambda sql: ValueError(message) if any(word in sql for word in words) else sql


def written(*records: str) -> str:
    """A file of statements and, with what SQLite answers them, queries of one integer column."""
    database = sqlite3.connect(":memory:", isolation_level=None)
    texts = []
    for sql in records:
        if sql.upper().startswith("SELECT"):
            values = "".join(f"{row[0]}\n" for row in database.execute(sql).fetchall())
            texts.append(f"query I nosort\n{sql}\n----\n{values}")
        else:
            texts.append(f"statement ok\n{sql}\n")
            database.execute(sql)
    return "\n".join(texts)


def run(text: str, turn: Callable[[str], str | Exception]) -> FileResult:
    return run_file(Run(Engine(turn), "sqlite"), "f.test", text.encode(), confirm=100)


def marks(text: str, turn: Callable[[str], str | Exception]) -> list[tuple[str, str, str]]:
    """Of each failure: its SQL, the SQL that it follows from, the SQL that it may follow from."""
    result = run(text, turn)
    lines = text.split("\n")

    def at(line: int) -> str:
        return lines[line] if line else ""

    return [(f.sql, at(f.follows), at(f.may_follow)) for f in result.failures]


CREATE = "CREATE TABLE t(a INTEGER PRIMARY KEY)"


def test_a_table_that_was_not_made() -> None:
    text = written(CREATE, "INSERT INTO t VALUES (1)", "SELECT a FROM t", "SELECT 1")
    assert marks(text, refusing("CREATE TABLE t")) == [
        (CREATE, "", ""),
        ("INSERT INTO t VALUES (1)", CREATE, ""),
        ("SELECT a FROM t", CREATE, ""),
    ]


def test_rows_that_were_not_inserted() -> None:
    text = written(CREATE, "INSERT INTO t VALUES (7)", "SELECT count(*) FROM t")
    assert marks(text, refusing("INSERT"))[1:] == [
        ("SELECT count(*) FROM t", "INSERT INTO t VALUES (7)", "")
    ]


def test_rows_that_were_not_deleted_and_then_cannot_be_inserted() -> None:
    insert, delete = "INSERT INTO t VALUES (1)", "DELETE FROM t WHERE a = 1"
    text = written(CREATE, insert, delete, f"{insert} -- again", "SELECT a FROM t")
    assert marks(text, refusing("DELETE")) == [(delete, "", ""), (f"{insert} -- again", delete, "")]


def test_another_defect_is_not_explained_away() -> None:
    """The second query is wrong on its own; without the INSERT SQLite does not answer so."""
    text = written(
        CREATE, "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)", "SELECT max(a) + 7 FROM t"
    )

    def turn(sql: str) -> str | Exception:
        return ValueError("no") if "(2)" in sql else sql.replace("7", "8888")

    insert = "INSERT INTO t VALUES (2)"
    assert marks(text, turn)[1:] == [("SELECT max(a) + 7 FROM t", "", insert)]


def test_a_statement_that_changes_nothing_for_a_query_is_cleared() -> None:
    text = written(
        CREATE, "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)", "SELECT 7 FROM t WHERE a<2"
    )

    def turn(sql: str) -> str | Exception:
        return ValueError("no") if "(2)" in sql else sql.replace("7", "8888")

    assert marks(text, turn)[1:] == [("SELECT 7 FROM t WHERE a<2", "", "")]


def test_an_error_of_another_kind_is_not_explained_by_what_is_missing() -> None:
    text = written(CREATE, "INSERT INTO t VALUES (1)", "SELECT a FROM t")
    for message, follows in (
        ("no such table: t", CREATE),
        ('relation "t" does not exist', CREATE),
        ("Catalog Error: Table with name T does not exist!", CREATE),
        ("syntax error near t", ""),
        ("cannot add strings", ""),
    ):
        found = marks(text, refusing("CREATE", "INSERT", "SELECT", message=message))
        assert found[2] == ("SELECT a FROM t", follows, "" if follows else CREATE), message


def test_each_failure_gets_the_statement_that_explains_it() -> None:
    other = CREATE.replace("t(", "u(")
    text = written(
        CREATE, other, "INSERT INTO t VALUES (1)", "INSERT INTO u VALUES (1)",
        "SELECT a FROM t", "SELECT a FROM u", "SELECT t.a FROM t, u",
    )  # fmt: skip
    found = {sql: follows for sql, follows, _ in marks(text, refusing("INSERT"))}
    assert found["SELECT a FROM t"] == "INSERT INTO t VALUES (1)"
    assert found["SELECT a FROM u"] == "INSERT INTO u VALUES (1)"
    assert found["SELECT t.a FROM t, u"] == "INSERT INTO t VALUES (1)"


def test_two_statements_that_are_only_together_to_blame() -> None:
    text = written(
        CREATE, "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)", "SELECT count(*) FROM t"
    )
    assert marks(text, refusing("INSERT"))[2] == (
        "SELECT count(*) FROM t", "INSERT INTO t VALUES (1)", "",
    )  # fmt: skip


def test_a_statement_that_is_not_needed_is_not_named() -> None:
    """Each of the last two INSERTs is needed, the first one is not."""
    text = written(
        CREATE, *(f"INSERT INTO t VALUES ({n})" for n in (1, 2, 3)),
        "SELECT count(*) FROM t WHERE a > 1",
    )  # fmt: skip
    query = "SELECT count(*) FROM t WHERE a > 1"
    assert marks(text, refusing("INSERT"))[3] == (query, "INSERT INTO t VALUES (2)", "")


def test_more_failed_statements_than_are_tried_alone() -> None:
    inserts = [f"INSERT INTO t VALUES ({n})" for n in range(30)]
    text = written(CREATE, *inserts, "SELECT count(*) FROM t", "SELECT a FROM t WHERE a = 29")
    found = marks(text, refusing("INSERT"))
    assert found[-2] == ("SELECT count(*) FROM t", inserts[0], "")
    assert found[-1] == ("SELECT a FROM t WHERE a = 29", inserts[29], "")


def test_an_index_that_was_not_made_explains_no_answer() -> None:
    """Unless it is a unique one, or the query names it."""
    delete = "DELETE FROM t WHERE a = 1"
    indexes = [f"CREATE INDEX i{n} ON t(a)" for n in range(20)]
    text = written(CREATE, *indexes, "INSERT INTO t VALUES (1)", delete, "SELECT count(*) FROM t")
    found = marks(text, refusing("INDEX", "DELETE"))
    assert found[-2:] == [(delete, "", ""), ("SELECT count(*) FROM t", delete, "")]
    named = "SELECT a FROM t INDEXED BY i0"
    text = written(CREATE, *indexes[:1], named)
    assert marks(text, refusing("CREATE INDEX"))[-1] == (named, indexes[0], "")


def test_a_difference_that_is_expected_has_consequences_too() -> None:
    create = "CREATE INDEX i ON t(a)"
    result = FileResult("f.test", run=3, failures=[Failure(7, "SELECT a FROM t", "x", "y")])
    failure = result.failures[0]
    failure.kind, failure.got = "error", "error E: no such table: t"
    text = f"statement ok\n{CREATE}\n\nstatement ok\n{create}\n\nquery I\nSELECT a FROM t\n----\n"
    result.differences = {"some-class": [1]}
    conform_followed.mark(Run(Engine(refusing("x")), "sqlite"), result, text.encode())
    assert (failure.follows, failure.may_follow) == (1, 0)
    failure.follows, result.differences, result.inexpressible = 0, {}, {"construct": [1]}
    conform_followed.mark(Run(Engine(refusing("x")), "sqlite"), result, text.encode())
    assert failure.follows == 1


def test_files_in_an_extended_dialect(tmp_path: Path) -> None:
    """A failure in an included file has no line in this one."""
    (tmp_path / "made.slt").write_text("statement ok\nCREATE TABLE u(a INTEGER)\n")
    text = (
        "statement ok\nCREATE TABLE t(a INTEGER, b TEXT)\n\n"
        "statement ok\nINSERT INTO t VALUES (1, 'x y')\n\n"
        "query IT\nSELECT a, b FROM t\n----\n1 x y\n\n"
        "include made.slt\n\nquery I\nSELECT a FROM u\n----\n\nquery I\nSELECT 4\n----\n5\n"
    )
    path = str(tmp_path / "f.slt")
    for word, lines in (("CREATE", [(0, 0), (1, 0), (1, 0)]), ("INSERT", [(0, 0), (4, 0)])):
        run = Run(Engine(refusing(word, message="syntax")), "sqlite", dialect="rs")
        result = run_file(run, path, text.encode(), confirm=100)
        failures = [f for f in result.failures if not f.path]
        found = [(f.follows, f.may_follow) for f in failures]
        assert found[: len(lines)] == lines, word
        assert found[len(lines) :] == [(0, 0)] * (len(found) - len(lines))
        assert len(result.failures) == (6 if word == "CREATE" else 3)


def test_a_statement_that_had_to_fail_and_could_not() -> None:
    insert = "INSERT INTO t VALUES (1)"
    text = written(CREATE, insert) + f"\nstatement error\n{insert} -- again\n"
    found = marks(text, lambda sql: ValueError("no") if sql == insert else sql)
    assert found == [(insert, "", ""), (f"{insert} -- again", insert, "")]


def test_what_was_made_from_a_table_is_touched_with_it() -> None:
    view = "CREATE VIEW v AS SELECT a FROM t"
    text = written(CREATE, view, "INSERT INTO t VALUES (1)", "SELECT count(*) FROM v")
    assert marks(text, refusing("INSERT"))[1] == (
        "SELECT count(*) FROM v", "INSERT INTO t VALUES (1)", "",
    )  # fmt: skip


def test_a_transaction_that_did_not_begin() -> None:
    text = written(
        CREATE, "BEGIN", "INSERT INTO t VALUES (1)", "ROLLBACK", "SELECT count(*) FROM t"
    )
    found = marks(text, lambda sql: ValueError("not now") if sql in ("BEGIN", "ROLLBACK") else sql)
    assert found[-1] == ("SELECT count(*) FROM t", "BEGIN", "")


def test_a_statement_that_should_have_failed_may_be_why() -> None:
    text = f"statement ok\n{CREATE}\n\nstatement error\nINSERT INTO t VALUES ('x', 1)\n\n"
    text += "query I\nSELECT count(*) FROM t\n----\n0\n\nquery I\nSELECT 1\n----\n1\n"
    found = marks(text, lambda sql: sql.replace("('x', 1)", "(1)"))
    insert = "INSERT INTO t VALUES ('x', 1)"
    assert found == [(insert, "", ""), ("SELECT count(*) FROM t", "", insert)]


def test_an_expectation_that_sqlite_does_not_share_follows_from_nothing() -> None:
    text = written(CREATE, "INSERT INTO t VALUES (1)")
    text += "\nquery I\nSELECT count(*) FROM t WHERE a > 1\n----\n5\n"
    assert marks(text, refusing("INSERT"))[1] == ("SELECT count(*) FROM t WHERE a > 1", "", "")


def test_beyond_the_bounds_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    text = written(CREATE, "INSERT INTO t VALUES (1)", "SELECT a FROM t")
    monkeypatch.setattr(conform_follow, "RUNS", 0)
    assert marks(text, refusing("CREATE"))[1:] == [
        ("INSERT INTO t VALUES (1)", "", CREATE),
        ("SELECT a FROM t", "", CREATE),
    ]


@pytest.mark.parametrize(
    ("sql", "about"),
    [
        ("INSERT OR REPLACE INTO main.T1 VALUES (1)", "t1"),
        ("UPDATE OR IGNORE \"my table\" SET a = 'FROM x'", "my table"),
        ("CREATE TABLE IF NOT EXISTS t(a REFERENCES u ON DELETE CASCADE)", "t"),
        ("DELETE FROM [t] WHERE a IN (SELECT a FROM u)", "t"),
        ("DROP VIEW IF EXISTS v", "v"),
        ("BEGIN", ""),
    ],
)
def test_what_a_statement_is_about(sql: str, about: str) -> None:
    assert targets_of(sql)[0] == about
