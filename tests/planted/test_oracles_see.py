"""The oracles are tested themselves: each sees planted wrong results, as the table in docs says."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import measured_oracles as measuring
import pytest
from planted_results import CLASSES, connect

from refute.oracles.sql.partial.question import Case, Question
from refute.verifiers.sql.fuzz_oracles import ORACLES, made

NOTHING = "·"
DOCS = Path(__file__).parents[2] / "docs" / "fuzz.md"
# What is measured anew here; `benchmarks/bench_oracles.py --write` measures all of it.
AGAIN = (
    "index misses a row",
    "not in forgets NULL",
    "FULL JOIN is LEFT",
    "HAVING is ignored",
    "EXCEPT keeps NULL",
    "views lose a condition",
    "index is damaged",
    "crash",
)


def told() -> dict[str, list[str]]:
    """The rows of the table in the docs: number of queries, and of those in which each sees it."""
    text = DOCS.read_text(encoding="utf-8")
    match = re.search(r"<!-- oracles and planted defects: begin -->(.*?)<!--", text, re.S)
    assert match is not None
    lines = [line for line in match[1].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["planted", "queries", *(f"`{name}`" for name in ORACLES)]
    return {row[0]: row[1:] for row in cells[2:]}


def test_the_table_has_every_class_and_every_oracle_sees_some() -> None:
    rows = told()
    assert list(rows) == [planted.says for planted in CLASSES.values()]
    assert len(rows) >= 30
    for place, name in enumerate(ORACLES, 1):
        assert any(row[place] != NOTHING for row in rows.values()), f"{name} sees nothing"
    blind = [says for says, row in rows.items() if set(row[1:]) == {NOTHING}]
    assert blind == []


@pytest.mark.parametrize("name", AGAIN)
def test_the_table_is_what_comes_out(name: str) -> None:
    if f"SQLite {sqlite3.sqlite_version}" not in DOCS.read_text(encoding="utf-8"):
        pytest.skip("the table is of another SQLite: python benchmarks/bench_oracles.py --write")
    [line] = measuring.table(measuring.measured([name]))[2:]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert told()[cells[0]] == cells[1:], "python benchmarks/bench_oracles.py --write"


def test_what_is_measured_anew_needs_every_oracle() -> None:
    rows = told()
    for place, oracle in enumerate(ORACLES, 1):
        seen = [name for name in AGAIN if rows[CLASSES[name].says][place] != NOTHING]
        assert seen, f"{oracle} could see nothing any more and no test would notice"


class Silent:
    """An oracle that has nothing to say."""

    name = "tlp"

    def questions(self, case: Case) -> Iterator[Question]:
        """Nothing."""
        return iter(())


def test_an_oracle_that_is_silent_is_noticed() -> None:
    oracles = [Silent() if name == "tlp" else made(name) for name in ("tlp", "norec")]
    name = "index misses a row"
    seen = measuring.measured([name], oracles=oracles)[name].by
    assert seen["norec"] > 0
    assert seen["tlp"] == 0
    assert told()[CLASSES[name].says][1 + list(ORACLES).index("tlp")] != NOTHING


def test_sqlite_itself_is_not_accused() -> None:
    names = ("UNION keeps", "NULL groups apart", "rows compared at once", "frames are ignored")
    for name in names:
        for case in measuring.kept()[name]:
            engine = measuring.Engine(measuring.SOUND, case.setup)
            for oracle in ORACLES:
                assert not measuring.breaks(made(oracle), case, engine), (oracle, case)
            engine.close()


def test_a_class_is_an_engine_for_the_command_line() -> None:
    connection = connect("BETWEEN without its end")
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE t (a)")
    cursor.execute("INSERT INTO t VALUES (1), (2), (3)")
    cursor.execute("SELECT a FROM t WHERE a BETWEEN 1 AND 2")
    assert cursor.fetchall() == [(1,)]
    with pytest.raises(RuntimeError, match="SIGSEGV"):
        connect("crash").cursor().execute("SELECT CASE WHEN a THEN 1 END FROM t GROUP BY a")
    connection.close()
