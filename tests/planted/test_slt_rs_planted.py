"""Every construct of sqllogictest-rs with a wrong expectation, which fails; the right one passes.

The engine is the embedded SQLite, or a class that plays one where SQLite cannot do what is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from refute.verifiers.sql.conform_chosen import Chosen
from refute.verifiers.sql.conform_engine import Embedded, EngineLost, cannot
from refute.verifiers.sql.conform_file import FileResult, Rules, Run, run_file

SETUP = (
    "statement ok\nCREATE TABLE t(a, b)\n\nstatement ok\nINSERT INTO t VALUES (1, 'x'), (2, '')\n\n"
)
CONFIRM = 20


def ran(text: str, path: str = "f.slt", **rules: Any) -> FileResult:
    """What comes of a file on the embedded SQLite."""
    engine = Embedded(10.0)
    run = Run(engine, "sqlite", dialect="rs", rules=Rules(**rules))
    try:
        return run_file(run, path, text.encode(), CONFIRM)
    finally:
        engine.close()


PAIRS: list[tuple[str, str, str]] = [
    ("value", "query II\nSELECT 1, 2\n----\n1 2\n", "query II\nSELECT 1, 2\n----\n1 3\n"),
    (
        "order",
        "query I\nSELECT a FROM t ORDER BY a\n----\n1\n2\n",
        "query I\nSELECT a FROM t ORDER BY a\n----\n2\n1\n",
    ),
    (
        "rowsort",
        "query IT rowsort\nSELECT a, b FROM t\n----\n1 x\n2 (empty)\n",
        "query IT rowsort\nSELECT a, b FROM t\n----\n2 (empty)\n1 x\n",
    ),
    (
        "control sortmode",
        "control sortmode rowsort\n\nquery I\nSELECT a FROM t ORDER BY a DESC\n----\n1\n2\n",
        "control sortmode nosort\n\nquery I\nSELECT a FROM t ORDER BY a DESC\n----\n1\n2\n",
    ),
    (
        "control resultmode",
        "control resultmode valuewise\n\nquery II\nSELECT 1, 2\n----\n1\n2\n",
        "control resultmode rowwise\n\nquery II\nSELECT 1, 2\n----\n1\n2\n",
    ),
    ("no rows", "query\nSELECT 1 WHERE 0\n", "query\nSELECT 1\n"),
    ("statement ok", "statement ok\nSELECT 1\n", "statement ok\nSELECT nowhere\n"),
    (
        "count",
        "statement count 2\nUPDATE t SET b = 'y'\n",
        "statement count 3\nUPDATE t SET b = 'y'\n",
    ),
    ("any error", "statement error\nSELECT nowhere\n", "statement error\nSELECT 1\n"),
    (
        "error pattern",
        "statement error (?i)NO such\\s+column\nSELECT nowhere\n",
        "statement error no such table\nSELECT nowhere\n",
    ),
    (
        "error message",
        "query error\nSELECT nowhere\n----\nno such column: nowhere\n\n\n",
        "query error\nSELECT nowhere\n----\nno such column\n\n\n",
    ),
    (
        "query error",
        "query error no such column\nSELECT nowhere\n",
        "query error no such column\nSELECT 1\n",
    ),
    ("state", "query error\nSELECT nowhere\n", "query error (42703)\nSELECT nowhere\n"),
    (
        "let",
        "control substitution on\n\nlet n\nSELECT max(a) FROM t\n\nquery I\nSELECT $n\n----\n2\n",
        "control substitution on\n\nlet n\nSELECT max(a) FROM t\n\nquery I\nSELECT $n\n----\n1\n",
    ),
    ("let of rows", "let n\nSELECT 1\n", "let n\nSELECT a FROM t\n"),
    ("let of columns", "let n, m\nSELECT 1, 2\n", "let n, m\nSELECT 1\n"),
    ("let of an error", "let n\nSELECT 1\n", "let n\nSELECT nowhere\n"),
    (
        "default",
        "control substitution on\n\nquery T\nSELECT '${nothing_there:a}'\n----\na\n",
        "control substitution on\n\nquery T\nSELECT '${nothing_there}'\n----\na\n",
    ),
    (
        "no variable",
        "control substitution on\n\nstatement error No such variable\nSELECT $nothing_there\n",
        "control substitution on\n\nstatement error\nSELECT $nothing_there\n",
    ),
    (
        "substitution off",
        "control substitution on\n\ncontrol substitution off\n\nquery T\nSELECT '$a'\n----\n$a\n",
        "control substitution on\n\ncontrol substitution on\n\nquery T\nSELECT '$a'\n----\n$a\n",
    ),
    (
        "now",
        "control substitution on\n\nquery I\nSELECT $__NOW__ > 1700000000000000000\n----\n1\n",
        "control substitution on\n\nquery I\nSELECT $__NOW__ < 1700000000000000000\n----\n1\n",
    ),
    (
        "retry",
        "query I retry 2 backoff 0s\nSELECT 1\n----\n1\n",
        "query I retry 2 backoff 0s\nSELECT 1\n----\n2\n",
    ),
    (
        "hash",
        "query I\nSELECT 1\n----\n1 values hashing to b026324c6904b2a9cb4b88d6d61c81d1\n",
        "query I\nSELECT 2\n----\n1 values hashing to b026324c6904b2a9cb4b88d6d61c81d1\n",
    ),
    (
        "ignored part",
        "query T\nSELECT 'took 5 ms'\n----\ntook <slt:ignore> ms\n",
        "query T\nSELECT 'took 5 s'\n----\ntook <slt:ignore> ms\n",
    ),
    (
        "column names",
        "query a:I\nSELECT 1 AS a\n----\n1\n",
        "query b:I\nSELECT 1 AS a\n----\n1\n",
    ),
    (
        "condition",
        "skipif sqlite\nquery I\nSELECT 1\n----\n2\n\nstatement ok\nSELECT 1\n",
        "onlyif sqlite\nquery I\nSELECT 1\n----\n2\n",
    ),
    (
        "halt",
        "statement ok\nSELECT 1\n\nhalt\n\nquery I\nSELECT 1\n----\n2\n",
        "statement ok\nSELECT 1\n\nquery I\nSELECT 1\n----\n2\n",
    ),
    (
        "connection",
        "connection c\nquery I\nSELECT count(*) FROM t\n----\n2\n",
        "connection c\nquery I\nSELECT count(*) FROM t\n----\n3\n",
    ),
    (
        "transaction",
        "connection c\nstatement ok\nBEGIN\n\nconnection c\nstatement ok\nDELETE FROM t\n\n"
        "statement error\nROLLBACK\n\nconnection c\nstatement ok\nROLLBACK\n\n"
        "query I\nSELECT count(*) FROM t\n----\n2\n",
        "statement ok\nBEGIN\n\nstatement ok\nDELETE FROM t\n\n"
        "connection c\nstatement ok\nROLLBACK\n",
    ),
]


@pytest.mark.parametrize(("right", "wrong"), [p[1:] for p in PAIRS], ids=[p[0] for p in PAIRS])
def test_the_right_expectation_passes_and_the_wrong_one_fails_twice(right: str, wrong: str) -> None:
    good, bad = ran(SETUP + right), ran(SETUP + wrong)
    assert (good.error, good.lost, good.failures) == ("", "", [])
    assert good.run > 2
    assert [f.confirmed for f in bad.failures] == [True]
    assert bad.failures[0].kind


def test_a_failure_is_told_with_the_text_that_was_run_and_its_line() -> None:
    (failure,) = ran(
        "control substitution on\n\nlet n\nSELECT 41\n\nquery I\nSELECT $n + 1\n----\n41\n"
    ).failures
    assert (failure.line, failure.sql) == (6, "SELECT 41 + 1")
    assert (failure.expected, failure.got) == ("1 line: 41", "1 line: 42")


def test_a_failure_in_an_included_file_has_its_place(tmp_path: Path) -> None:
    part = tmp_path / "part.slt"
    part.write_text("# a comment\nquery I\nSELECT 1\n----\n2\n")
    result = ran("include part.slt\n\ninclude part.slt\n", str(tmp_path / "main.slt"))
    assert [(f.path, f.line, f.confirmed) for f in result.failures] == [(str(part), 2, True)] * 2
    assert list(result.reads) == [str(part)]


def test_a_file_that_seems_to_be_cut_off_is_no_failure() -> None:
    result = ran(SETUP + "query II\nSELECT a, a FROM t ORDER BY a\n----\n1 1")
    assert result.failures == []
    assert "seems to be cut off" in result.error
    assert len(ran(SETUP + "query II\nSELECT a, a FROM t\n----\n1 1\n").failures) == 1


def test_only_chosen_records_are_checked_and_what_they_need_still_runs() -> None:
    engine = Embedded(10.0)
    text = SETUP + "query I\nSELECT 1\n----\n2\n\nquery I\nSELECT count(*) FROM t\n----\n2\n"
    run = Run(engine, "sqlite", dialect="rs", chosen=Chosen(pattern="count"))
    result = run_file(run, "f.slt", text.encode(), CONFIRM)
    engine.close()
    assert (result.run, result.setup, result.unchosen) == (1, 2, 3)
    assert result.failures == []


# System commands.


def test_commands_are_refused_before_anything_is_run() -> None:
    result = ran("statement ok\nSELECT 1\n\nsystem ok\ntouch never\n")
    assert result.run == 0
    assert result.error.startswith("f.slt:4: `system` runs a command on this machine")
    assert "--allow-system" in result.error
    assert not Path("never").exists()


def test_commands_that_no_engine_of_this_name_runs_are_not_refused() -> None:
    result = ran("statement ok\nSELECT 1\n\nonlyif other\nsystem ok\ntouch never\n")
    assert (result.error, result.run, result.skipped) == ("", 1, 1)


COMMANDS: list[tuple[str, str]] = [
    ("exit 0", "exit 3"),
    ("true", "kill -9 $$"),
    ("echo 'a  b'\n----\na  b\n\n", "echo 'a b'\n----\na  b\n\n"),
    ("printf 'a\\n\\nb\\n'\n----\na\n\nb\n\n", "printf 'a\\n'\n----\na\n\nb\n\n"),
    ("echo x > $__TEST_DIR__/f && cat ${__TEST_DIR__}/f\n----\nx\n\n", "cat $__TEST_DIR__/f\n"),
    ("sleep 60 &\n", "sleep 60\n"),
]


@pytest.mark.parametrize(("right", "wrong"), COMMANDS, ids=[c[1].split("\n")[0] for c in COMMANDS])
def test_commands(right: str, wrong: str) -> None:
    head = "control substitution on\n\nsystem ok\n"
    good = ran(f"{head}{right}\n", allow_system=True, timeout_s=0.5)
    bad = ran(f"{head}{wrong}\n", allow_system=True, timeout_s=0.5)
    assert (good.error, good.failures, good.run) == ("", [], 1)
    assert [f.confirmed for f in bad.failures] == [True]


def test_the_directory_of_a_test_is_gone_afterwards() -> None:
    head = "control substitution on\n\nsystem ok\necho $__TEST_DIR__\n----\nx\n\n\n"
    (failure,) = ran(head, allow_system=True).failures
    directory = failure.got.removeprefix("the output ")
    assert "refute-test-" in directory
    assert not Path(directory).exists()


# Engines that play their part.


class Played:
    """An engine whose answers a function gives; it counts the statements."""

    unstable = ""
    can = frozenset(("connections",))

    def __init__(self, say: Callable[[str, int], Sequence[Any]]) -> None:
        self._say = say
        self.seen = 0
        self.starts = 0

    def start(self, hash_seed: int) -> None:
        """Forget."""
        self.seen = 0
        self.starts += 1

    def answers(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
        """One after the other, when they are asked for."""
        return (self.answer_on("", sql) for sql in statements)

    def answer_on(self, connection: str, sql: str, timeout_s: float | None = None) -> Sequence[Any]:
        """What the function says."""
        self.seen += 1
        return self._say(sql, self.seen)

    def reconnect(self, connection: str) -> None:
        """Nothing."""

    def restart(self, database: str = "") -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


def played(text: str, say: Callable[[str, int], Sequence[Any]]) -> tuple[FileResult, Played]:
    """What comes of a file on such an engine."""
    engine = Played(say)
    return run_file(Run(engine, "pony", dialect="rs"), "f.slt", text.encode(), CONFIRM), engine


def counter(_sql: str, seen: int) -> Sequence[Any]:
    return ["rows", ["n"], [[seen]]]


@pytest.mark.parametrize(("attempts", "passes"), [(1, False), (2, False), (3, True), (9, True)])
def test_a_retry_ends_with_the_first_success_and_else_fails(attempts: int, passes: bool) -> None:
    result, engine = played(f"query I retry {attempts} backoff 0s\nX\n----\n3\n", counter)
    assert (result.failures == []) is passes
    assert engine.seen == min(attempts, 3)
    assert result.run == 1


class PerConnection(Played):
    """An engine that counts the statements of each connection."""

    def start(self, hash_seed: int) -> None:
        """Forget."""
        self.counts: dict[str, int] = {}

    def answer_on(self, connection: str, sql: str, timeout_s: float | None = None) -> Sequence[Any]:
        """How many there were on the connection."""
        self.counts[connection] = self.counts.get(connection, 0) + 1
        return ["rows", ["n"], [[self.counts[connection]]]]


def test_a_connection_is_for_one_record_and_known_by_its_letters() -> None:
    names = ("", "a", "default", "A", "a", "")
    counts = (1, 1, 2, 1, 2, 3)
    records = [
        f"{f'connection {name}' if name else '# none'}\nquery I\nX\n----\n{count}\n"
        for name, count in zip(names, counts, strict=True)
    ]
    run = Run(PerConnection(counter), "pony", dialect="rs")
    result = run_file(run, "f.slt", "\n".join(records).encode(), CONFIRM)
    assert (result.run, result.failures) == (6, [])
    wrong = "\n".join(records).replace("connection A", "connection a").encode()
    assert [f.got for f in run_file(run, "f.slt", wrong, CONFIRM).failures] == [
        "1 line: 2",
        "1 line: 3",
    ]


@pytest.mark.parametrize(
    ("name", "labels", "skipped"),
    [
        ("postgresql", (), 0),
        ("mysql", (), 1),
        ("mysql", ("Postgres",), 0),
        ("postgres", (), 0),
    ],
)
def test_conditions_know_usual_names_and_labels(
    name: str, labels: tuple[str, ...], skipped: int
) -> None:
    run = Run(Played(counter), name, dialect="rs", rules=Rules(labels))
    result = run_file(run, "f.slt", b"onlyif postgres\nstatement ok\nX\n", CONFIRM)
    assert (result.run, result.skipped) == (1 - skipped, skipped)


def test_what_failed_and_then_passes_is_unstable_and_not_confirmed() -> None:
    times = iter([2, 1])
    result, engine = played(
        "query I\nX\n----\n1\n", lambda _s, _n: ["rows", ["n"], [[next(times)]]]
    )
    assert engine.starts == 2
    assert [f.confirmed for f in result.failures] == [False]
    assert "failed and then passed" in result.unstable


def test_a_statement_error_is_not_met_by_a_crash() -> None:
    result, _ = played("statement error\nX\n", lambda _s, _n: ["crash", "KeyError", "x"])
    assert [f.kind for f in result.failures] == ["crash"]


def test_an_engine_that_is_given_up_leaves_the_rest_and_says_so() -> None:
    def say(sql: str, _seen: int) -> Sequence[Any]:
        if sql == "B":
            raise EngineLost("it is gone")
        return ["done"]

    result, _ = played("statement ok\nA\n\nstatement ok\nB\n\nstatement ok\nC\n", say)
    assert (result.run, result.not_run, result.lost) == (1, 2, "it is gone")


def test_of_an_engine_that_does_not_start_nothing_is_run() -> None:
    class Dead(Played):
        def start(self, hash_seed: int) -> None:
            """It is lost at once."""
            raise EngineLost("it is dead")

    run = Run(Dead(counter), "pony", dialect="rs")
    result = run_file(run, "f.slt", b"statement ok\nA\n\nstatement ok\nB\n", CONFIRM)
    assert (result.run, result.not_run, result.lost) == (0, 2, "it is dead")


def test_statements_that_are_sent_ahead_stay_in_their_order() -> None:
    text = (
        "statement ok\nA\n\nonlyif other\nstatement ok\nB\n\nquery T\nC\n----\nC\n\n"
        "control substitution on\n\nlet d\nD\n\nstatement ok retry 2 backoff 0s\n$d\n\n"
        "control substitution off\n\nquery T\n$d\n----\n$d\n\nhalt\n\nstatement ok\nE\n"
    )
    seen: list[str] = []

    def say(sql: str, _seen: int) -> Sequence[Any]:
        seen.append(sql)
        return ["rows", ["n"], [[sql]]]

    result, _ = played(text, say)
    assert (result.failures, result.run, result.skipped) == ([], 5, 1)
    assert seen == ["A", "C", "D", "D", "$d"]


def test_an_engine_without_connections_says_what_it_has_not() -> None:
    def say(_sql: str, _seen: int) -> Sequence[Any]:
        raise cannot("pony", "second connection to one database", "give it one")

    result, _ = played("connection a\nstatement ok\nA\n", say)
    assert (result.run, result.not_run) == (0, 1)
    assert "pony has no second connection" in result.lost
    assert result.lost.startswith("f.slt:2: ")


def test_an_interrupt_keeps_what_is_known() -> None:
    def say(_sql: str, seen: int) -> Sequence[Any]:
        if seen == 2:
            raise KeyboardInterrupt
        return ["done"]

    result, _ = played("statement ok\nA\n\nstatement ok\nB\n", say)
    assert (result.run, result.cut, result.interrupted) == (1, True, True)


def test_a_sleep_ends_when_the_run_is_over() -> None:
    engine = Played(counter)
    over = iter([False, True])
    run = Run(engine, "pony", stop=lambda: next(over, True), dialect="rs")
    result = run_file(run, "f.slt", b"statement ok\nA\n\nsleep 1h\n\nstatement ok\nB\n", CONFIRM)
    assert (result.run, result.cut) == (1, True)
