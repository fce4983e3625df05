"""Scripts that fuzzing begins from: how files become statements, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from refute.errors import UnreadableInput
from refute.verifiers.sql.fuzz_seeds import SeedScript, read_seeds
from refute.verifiers.sql.fuzz_seeds_text import is_query, statements


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def split(text: str) -> list[tuple[int, str]]:
    return [tuple(found) for found in statements(text)]  # type: ignore[misc]


def test_semicolons_in_quotations_and_comments_end_nothing() -> None:
    text = """\
.mode list
-- a; b
CREATE TABLE t("a;b" TEXT DEFAULT 'c;''d'); /* e;
f */ SELECT [a;b], `x;` FROM t;;
.print it's
SELECT 1"""
    assert split(text) == [
        (3, "CREATE TABLE t(\"a;b\" TEXT DEFAULT 'c;''d')"),
        (4, "SELECT [a;b], `x;` FROM t"),
        (6, "SELECT 1"),
    ]


@pytest.mark.parametrize(
    "head", ["CREATE TRIGGER", "create temp trigger", "CREATE TEMPORARY TRIGGER"]
)
def test_a_trigger_ends_after_its_body(head: str) -> None:
    body = "BEGIN SELECT CASE WHEN 1 THEN ';' END; DELETE FROM u; END"
    trigger = f"{head} x AFTER INSERT ON t {body}"
    assert split(f"{trigger}; SELECT 2;") == [(1, trigger), (1, "SELECT 2")]


def test_transactions_are_statements_of_their_own() -> None:
    assert [sql for _, sql in split("BEGIN; INSERT INTO t VALUES(1); END; SELECT 1;")] == [
        "BEGIN",
        "INSERT INTO t VALUES(1)",
        "END",
        "SELECT 1",
    ]


@pytest.mark.parametrize(
    ("sql", "asks"),
    [
        ("SELECT 1", True),
        ("  values(1)", True),
        ("(SELECT 1) UNION SELECT 2", True),
        ("WITH a AS (SELECT 1) SELECT * FROM a", True),
        ("WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", False),
        ("WITH a AS (DELETE FROM t RETURNING 1) SELECT 1", True),
        ("INSERT INTO t SELECT 1", False),
        ("EXPLAIN SELECT 1", False),
        ("PRAGMA integrity_check", False),
        ("", False),
    ],
)
def test_what_asks_is_told_from_what_changes(sql: str, asks: bool) -> None:
    assert is_query(sql) is asks


def test_sql_without_the_comments_that_say_what_is_right(here: Path) -> None:
    Path("a.sql").write_text("CREATE TABLE t(a);\nSELECT 1; -- expected: {2}\nSELECT 3\n")
    assert read_seeds(["a.sql"]) == (
        SeedScript("a.sql", ("CREATE TABLE t(a)", "SELECT 1", "SELECT 3")),
    )


def test_each_query_is_asked_on_what_was_made_before_it() -> None:
    script = SeedScript("x", ("CREATE TABLE t(a)", "SELECT 1", "DROP TABLE t", "SELECT 2"))
    assert list(script.cases()) == [
        (("CREATE TABLE t(a)",), "SELECT 1"),
        (("CREATE TABLE t(a)", "DROP TABLE t"), "SELECT 2"),
    ]
    assert list(SeedScript("x", ("CREATE TABLE t(a)",)).cases()) == [(("CREATE TABLE t(a)",), "")]


def test_records_that_the_engine_runs(here: Path) -> None:
    Path("a.test").write_text(
        "statement ok\nCREATE TABLE t(a)\n\nonlyif mysql\nquery I\nSELECT 1\n----\n1\n\n"
        "skipif turso\nquery I nosort\nSELECT 2\n----\n2\n\nhalt\n"
    )
    assert read_seeds(["a.test"])[0].statements == ("CREATE TABLE t(a)", "SELECT 2")
    assert read_seeds(["a.test"], "turso")[0].statements == ("CREATE TABLE t(a)",)


def test_other_dialects_of_such_files(here: Path) -> None:
    Path("a.slt").write_text(
        "statement ok\nCREATE TABLE t(a INT)\n\nquery II\nSELECT 1, 2\n----\n1 2\n"
    )
    assert read_seeds(["a.slt"])[0].statements == ("CREATE TABLE t(a INT)", "SELECT 1, 2")


def test_json_of_statements_and_of_objects(here: Path) -> None:
    Path("a.json").write_text(json.dumps(["CREATE TABLE t(a); -- x", "SELECT 1"]))
    bugs = [{"id": "b#1", "sql": ["SELECT 1; -- 2"]}, {"sql": "SELECT 2; SELECT 3", "got": [["4"]]}]
    Path("b.json").write_text(json.dumps(bugs))
    Path("c.jsonl").write_text("\n".join(map(json.dumps, bugs)) + "\n")
    Path("d.json").write_text(json.dumps({"setup": ["CREATE TABLE t(a)"], "query": "SELECT 5"}))
    assert read_seeds(["a.json"])[0].statements == ("CREATE TABLE t(a)", "SELECT 1")
    assert [tuple(vars(script).values()) for script in read_seeds(["b.json", "c.jsonl"])] == [
        ("b.json: b#1", ("SELECT 1",)),
        ("b.json: entry 2", ("SELECT 2", "SELECT 3")),
        ("c.jsonl: b#1", ("SELECT 1",)),
        ("c.jsonl: entry 2", ("SELECT 2", "SELECT 3")),
    ]
    assert read_seeds(["d.json"])[0].statements == ("CREATE TABLE t(a)", "SELECT 5")


def test_a_directory_in_order_and_each_file_once(here: Path) -> None:
    for name in ("z.sql", "sub/b.json", "a.sql"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text('["SELECT 1"]' if name.endswith("json") else "SELECT 1")
    Path("notes.md").write_text("not SQL")
    named = [script.name for script in read_seeds([".", "./a.sql"])]
    assert named == ["a.sql", "sub/b.json", "z.sql"]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.sql", "SELECT 1;\nSELECT 'x;\n", "a.sql:2: no ' ends"),
        ("a.sql", " -- nothing\n;;", "a.sql: there is no statement"),
        ("a.sql", "", "a.sql: there is no statement"),
        ("a.sql", "SELECT \udcff", "a.sql:1:"),
        ("a.sql", "SELECT 1;\n\0", "a.sql:2: a zero byte"),
        ("a.test", "statement ok\nSELECT 'x\n", "a.test:2: no ' ends"),
        ("a.test", "statement what\nSELECT 1\n", "a.test:1:"),
        ("a.json", '["SELECT 1",\n', "a.json:2: no JSON"),
        ("a.json", "3", "a.json: a int where"),
        ("a.json", "[1]", "a.json: entry 1 is no object with `sql`"),
        ("a.json", '[{"sql": ["SELECT 1", 2]}]', "a.json: entry 1: sql: item 2 is no text"),
        ("a.json", '[{"sql": 5}]', "a.json: entry 1: sql is no list"),
        ("a.json", '[{"bug": "x"}]', "a.json: entry 1 has no `sql`"),
        ("a.json", '[{"sql": ["SELECT \'"]}]', "a.json: entry 1: sql 1: line 1"),
        ("a.json", "[" * 100_000, "a.json:1: no JSON"),
        ("a.jsonl", '{"sql": "SELECT 1"}\n{', "a.jsonl:2: no JSON"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_place(
    here: Path, name: str, text: str, says: str
) -> None:
    Path(name).write_text(text, errors="surrogateescape")
    with pytest.raises(UnreadableInput) as caught:
        read_seeds([name])
    assert caught.value.message.startswith(says)
    assert caught.value.next_step


def test_files_that_cannot_be_read(here: Path) -> None:
    Path("empty").mkdir()
    for target in ("nothing.sql", "empty", "/dev/null", "a\0b"):
        with pytest.raises(UnreadableInput) as caught:
            read_seeds([target])
        assert target in caught.value.message
