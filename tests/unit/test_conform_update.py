"""Update mode: what fails expects what the engine gave, and not a byte more is touched."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from refute.cli.conform import run
from refute.errors import UsageError
from refute.oracles.sqllogictest.render import digest
from refute.verifiers.sql.conform_replace import replace_file

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "refute" / "report" / "conform.schema.json").read_text()
)

FILE = """\
# A comment before anything.
hash-threshold 4

statement   ok   # is created
CREATE TABLE t(a INTEGER, b TEXT)

statement error
INSERT INTO t VALUES (1, 'x'), (2, ''), (3, NULL)


query IT rowsort first
SELECT a, b FROM t
----
6 values hashing to {whole}

query I nosort
SELECT a FROM t ORDER BY a
----
# one
1
# two
5
3

query I
SELECT a + 0 FROM t WHERE a < 0
----

query I
SELECT a FROM t WHERE a = 2
----
2

query T nosort
SELECT b FROM t UNION ALL SELECT b FROM t
----
x
y
"""
WHOLE = digest("1\nx\n2\n(empty)\n3\nNULL")
HASHED = digest("x\n(empty)\nNULL\nx\n(empty)\nNULL")
RIGHT = (
    FILE.format(whole=WHOLE)
    .replace("statement error\nINSERT", "statement ok\nINSERT")
    .replace("# two\n5\n", "# two\n2\n")
    .replace("----\nx\ny\n", f"----\n6 values hashing to {HASHED}\n")
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory where files and engines of a test lie."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def engine(here: Path, body: str) -> list[str]:
    """Options for an engine over sqlite3 whose cursor has this body."""
    (here / "engines.py").write_text(
        f"import os\nimport sqlite3\n\n\nclass Cursor(sqlite3.Cursor):\n{body}\n\n\n"
        "class Connection(sqlite3.Connection):\n"
        "    def cursor(self):\n        return super().cursor(Cursor)\n\n\n"
        "def connect():\n    return sqlite3.connect(':memory:', factory=Connection)\n"
    )
    return ["--engine", "engines:connect", "--as", "sqlite"]


def document(*args: str) -> dict[str, Any]:
    """The JSON document of a run, which fits its schema and has the exit code."""
    code = run([*args, "--json", "out.json"])
    made: dict[str, Any] = json.loads(Path("out.json").read_text())
    jsonschema.validate(made, SCHEMA)
    assert made["exit_code"] == code
    return made


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("head", [b"", b"\xef\xbb\xbf"])
def test_what_fails_is_rewritten_and_nothing_else(
    here: Path, capsys: pytest.CaptureFixture[str], ending: str, head: bytes
) -> None:
    file = here / "a.test"
    file.write_bytes(head + FILE.format(whole=WHOLE).replace("\n", ending).encode())
    file.chmod(0o640)
    made = document("a.test", "--update")
    assert file.read_bytes() == head + RIGHT.replace("\n", ending).encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert (made["exit_code"], made["decision"]) == (0, "updated")
    assert made["update"] == {"written": True, "updated": {"a.test": [7, 16, 34]}, "left": []}
    out = capsys.readouterr().out
    assert "a.test: 3 records updated" in out
    assert "UPDATED 3 RECORDS" in out
    assert "ESTABLISHED" not in out
    assert document("a.test")["decision"] == "established"
    before = file.stat().st_mtime_ns
    assert document("a.test", "--update")["decision"] == "established"
    assert file.stat().st_mtime_ns == before


def test_a_dry_run_shows_and_writes_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.test").write_text(FILE.format(whole=WHOLE))
    made = document("a.test", "--update", "--dry-run")
    assert (here / "a.test").read_text() == FILE.format(whole=WHOLE)
    assert (made["exit_code"], made["update"]["written"]) == (1, False)
    out = capsys.readouterr().out
    assert "-statement error\n+statement ok\n" in out
    assert "-5\n+2\n" in out
    assert "a.test: 3 records would be updated" in out


@pytest.mark.parametrize(
    ("record", "body", "why"),
    [
        ("query I\nSELECT nothing FROM t\n----\n1\n", "    pass", "a query that fails"),
        ("query II\nSELECT a FROM t\n----\n1\n2\n", "    pass", "number of columns"),
        ("query T\nSELECT '#x'\n----\ny\n", "    pass", "read as a comment"),
        ("query T\nSELECT ' '\n----\ny\n", "    pass", "read as a comment"),
        ("query T\nSELECT '3 values hashing to x'\n----\ny\n", "    pass", "as something else"),
        (
            "query I nosort l\nSELECT 1\n----\n1\n\nquery I nosort l\nSELECT 2\n----\n2\n",
            "    here = 'in a worker'",
            "its label",
        ),
        (
            "query I\nSELECT 77\n----\n1\n",
            "    def execute(self, sql):\n        if '77' in sql:\n            os._exit(3)\n"
            "        return super().execute(sql)",
            "failed on it",
        ),
        (
            "query I\nSELECT 77\n----\n1\n",
            "    def execute(self, sql):\n        if '77' in sql:\n            raise KeyError(1)\n"
            "        return super().execute(sql)",
            "failed on it",
        ),
        (
            "query I\nSELECT 77\n----\n1\n",
            "    def fetchall(self):\n        rows = super().fetchall()\n"
            "        if (77,) in rows:\n"
            "            return [(int(os.environ['PYTHONHASHSEED']) + 70,)]\n        return rows",
            "otherwise again",
        ),
    ],
)
def test_what_cannot_be_relied_on_is_left(here: Path, record: str, body: str, why: str) -> None:
    text = f"statement ok\nCREATE TABLE t(a INTEGER)\n\n{record}"
    (here / "a.test").write_text(text)
    made = document("a.test", "--update", *(engine(here, body) if body != "    pass" else []))
    assert (here / "a.test").read_text() == text
    assert made["exit_code"] == 1
    assert made["update"]["updated"] == {}
    assert why in made["update"]["left"][0]


def test_the_rest_of_a_file_is_updated_beside_what_cannot(here: Path) -> None:
    good, bad = "query I\nSELECT 1\n----\n2\n", "query I\nSELECT nothing\n----\n2\n"
    (here / "a.test").write_text(f"{good}\n{bad}\n{good}")
    made = document("a.test", "--update")
    assert made["exit_code"] == 1
    assert made["records"]["updated"] == 2
    right = good.replace("2", "1")
    assert (here / "a.test").read_text() == f"{right}\n{bad}\n{right}"


RS = """\
control sortmode rowsort

statement ok
CREATE TABLE t(a INTEGER, b TEXT)

statement error
INSERT INTO t VALUES (2, 'x y'), (1, NULL)

query IT
SELECT a, b FROM t
----
1 NULL
3 x y

query I valuesort
SELECT a FROM t

----

query T
SELECT '$HOME'
----
<slt:ignore> x

query I
SELECT a FROM nothing
----
1

statement error no such column
INSERT INTO nothing VALUES (1)
"""
RS_RIGHT = RS.replace("statement error\n", "statement ok\n").replace("3 x y", "2 x y")


def test_files_of_sqllogictest_rs(here: Path) -> None:
    text = RS.replace("FROM t\n\n----", "FROM t\n----")
    (here / "a.slt").write_text(text)
    made = document("a.slt", "--dialect", "rs", "--update")
    right = RS_RIGHT.replace("FROM t\n\n----", "FROM t\n----\n1\n2")
    assert (here / "a.slt").read_text() == right
    assert made["update"]["updated"] == {"a.slt": [6, 9, 15]}
    assert [text.partition(": ")[2] for text in made["update"]["left"]] == [
        "what it expects is more than a text",
        "a query that fails is for a person to expect",
        "what it expects is more than success or failure",
    ]
    assert document("a.slt", "--dialect", "rs", "--update")["update"]["updated"] == {}


DUCKDB = """\
statement ok
CREATE TABLE t(a INTEGER, b VARCHAR);

statement ok
INSERT INTO t VALUES (2, 'x y'), (1, NULL)

query IT
SELECT a, b FROM t ORDER BY a
----
1\tNULL
2\tx

query IT
SELECT a, b FROM t ORDER BY a
----
1
NULL
2
z

loop i 0 2

query I
SELECT ${i}
----
7

endloop
"""


def test_files_of_duckdb(here: Path) -> None:
    pytest.importorskip("duckdb", reason="needs duckdb: pip install duckdb")
    (here / "a.test").write_text(DUCKDB)
    made = document("a.test", "--engine", "duckdb", "--dialect", "duckdb", "--update")
    right = DUCKDB.replace("2\tx\n", "2\tx y\n").replace("2\nz\n", "2\nx y\n")
    assert (here / "a.test").read_text() == right
    assert made["update"]["updated"] == {"a.test": [7, 13]}
    assert [text.partition(": ")[2] for text in made["update"]["left"]] == ["it stands in a loop"]


def test_known_failures_are_not_made_expectations(here: Path) -> None:
    text = "query I\nSELECT 1\n----\n2\n"
    (here / "a.test").write_text(text)
    run(["a.test", "--write-known", "known.toml"])
    known = here / "known.toml"
    known.write_text(known.read_text().replace('"unreviewed"', '"it is so"'))
    made = document("a.test", "--known", "known.toml", "--update")
    assert (made["exit_code"], made["decision"]) == (0, "established except known failures")
    assert (here / "a.test").read_text() == text
    (here / "a.test").write_text(f"{text}\n{text.replace('SELECT 1', 'SELECT 7')}")
    made = document("a.test", "--known", "known.toml", "--update")
    assert (made["exit_code"], made["decision"]) == (0, "updated")
    assert (here / "a.test").read_text() == f"{text}\nquery I\nSELECT 7\n----\n7\n"


def test_records_of_other_engines_and_their_thresholds_stay(here: Path) -> None:
    text = (
        "onlyif other\nhash-threshold 1\n\nskipif sqlite\nquery I\nSELECT 1\n----\n7\n\n"
        "onlyif sqlite\nquery I valuesort\nSELECT 2 UNION SELECT 1\n----\n7\n"
    )
    (here / "a.test").write_text(text)
    assert document("a.test", "--update")["decision"] == "updated"
    end = text.rindex("7")
    assert (here / "a.test").read_text() == f"{text[:end]}1\n2\n"


def test_a_link_stays_one(here: Path) -> None:
    (here / "real.txt").write_text("query I\nSELECT 1\n----\n2\n")
    (here / "a.test").symlink_to("real.txt")
    assert document("a.test", "--update")["decision"] == "updated"
    assert (here / "a.test").is_symlink()
    assert (here / "real.txt").read_text().endswith("----\n1\n")
    assert sorted(p.name for p in here.iterdir()) == ["a.test", "out.json", "real.txt"]


def test_a_file_that_changed_meanwhile_is_left(here: Path) -> None:
    (here / "a.test").write_text("new")
    with pytest.raises(UsageError, match="was changed while it was run"):
        replace_file("a.test", b"mine", b"old")
    assert (here / "a.test").read_text() == "new"


@pytest.mark.parametrize("args", [["a.test", "--dry-run"], ["-", "--update"]])
def test_wrong_usage(here: Path, args: list[str]) -> None:
    (here / "a.test").write_text("query I\nSELECT 1\n----\n2\n")
    with pytest.raises(UsageError):
        run(args)
