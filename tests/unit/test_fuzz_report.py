"""What the reports of `refute fuzz sql` say of a run, and what its options mean."""

from __future__ import annotations

import dataclasses
import io
import json
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

from refute.cli.fuzz_options import (
    dialect_of,
    features_of,
    limits_of,
    oracles_of,
    parser,
    repeated,
)
from refute.cli.fuzz_progress import FuzzProgress
from refute.cli.printing import HelpShown
from refute.errors import UsageError
from refute.report.fuzz import finding_lines, json_text, summary
from refute.report.fuzz_verdict import FuzzReport, KnownUse
from refute.specs.sql import FEATURES
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_oracles import ORACLES
from refute.verifiers.sql.fuzz_plan import Counts, Finding, FuzzRun, Plan

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "refute" / "report" / "fuzz.schema.json").read_text()
)
FOUND = Finding(
    oracle="tlp",
    setup=("CREATE TABLE t(a)",),
    query="SELECT a FROM t",
    asked_setup=("CREATE TABLE t(a)",),
    asked=("SELECT a FROM t", "SELECT a FROM t WHERE a"),
    expected="(1)",
    observed="(\x1b[2J)",
    why="its partitions",
    seed=4,
    program=7,
    confirmed="2 of 2 fresh processes",
    cause="abc",
    title="SELECT",
    times=3,
)
ENDED = dataclasses.replace(FOUND, oracle="crash", kind="lost: ended its process", known="x")
COUNTS = Counts(
    programs=2,
    statements=100,
    queries=80,
    accepted=79,
    compared=70,
    cpu_s=2.0,
    held=Counter(sqlite=70),
    questions=Counter(sqlite=70, tlp=5),
    rejected=Counter({"no such thing": 1}),
    open=Counter({"one of the forms is refused": 5}),
    sizes=Counter({40: 1}),
)
LOST = dataclasses.replace(COUNTS, lost=2)
PLAN = Plan(Choice("turso", "turso", 5.0), ("sqlite", "tlp"), seed=4)


def report(
    *findings: Finding, counts: Counts = COUNTS, stopped: str = "programs", pending: int = 0
) -> FuzzReport:
    run = FuzzRun(counts, findings, stopped, pending=pending, next=2, version="Turso 1")
    return FuzzReport(PLAN, run, 4.0, "turso", "refute fuzz sql --engine turso --repeat")


def asking_crash(made: FuzzReport) -> FuzzReport:
    plan = dataclasses.replace(PLAN, oracles=("sqlite", "tlp", "crash"))
    return dataclasses.replace(made, plan=plan)


def read(*words: str) -> object:
    return parser().read(["--engine", "sqlite", *words])


@pytest.mark.parametrize(
    ("made", "code", "says"),
    [
        (report(), 0, "SURVIVED\n  70 comparisons, none of them broken"),
        (report(FOUND), 1, "REFUTED\n  1 cause of failure"),
        (report(FOUND, stopped="interrupted"), 1, "REFUTED"),
        (report(dataclasses.replace(FOUND, known="x")), 0, "SURVIVED EXCEPT 1 KNOWN BUG"),
        (report(stopped="interrupted"), 3, "NOT ESTABLISHED\n  the run was interrupted"),
        (report(stopped="time"), 0, "SURVIVED"),
        (report(pending=2), 3, "2 failures were not looked into"),
        (report(counts=Counts()), 3, "nothing was compared"),
        (report(counts=dataclasses.replace(COUNTS, accepted=0)), 3, "the engine answered no query"),
        (report(counts=dataclasses.replace(COUNTS, unconfirmed=1)), 3, "1 failure was not seen"),
        (
            report(counts=dataclasses.replace(COUNTS, unfinished=1)),
            3,
            "1 program ended the process",
        ),
        (
            dataclasses.replace(
                report(counts=Counts()),
                run=FuzzRun(Counts(), (), "programs", notes=("gave no connection",)),
            ),
            3,
            "nothing was compared: gave no connection",
        ),
        (report(stopped="engine gone"), 3, "the engine was lost again and again"),
        (report(counts=LOST), 0, "SURVIVED"),  # `crash` was not asked
        (asking_crash(report(counts=LOST)), 3, "the engine was lost 2 times, and nothing that"),
        (asking_crash(report(ENDED, counts=LOST)), 0, "SURVIVED EXCEPT 1 KNOWN BUG"),
    ],
)
def test_the_verdict_says_no_more_than_was_done(made: FuzzReport, code: int, says: str) -> None:
    assert made.exit_code == code
    assert says in summary(made)
    document = json.loads(json_text(made))
    jsonschema.validate(document, SCHEMA)
    assert document["exit_code"] == code and document["decision"] == made.decision


def test_the_summary_counts_what_was_done() -> None:
    text = summary(report(FOUND))
    assert text.startswith("engine turso (Turso 1), seed 4, programs 0 to 1\n")
    for line in (
        "generated  2 databases, 80 queries of 40 syntax-tree nodes (median); 100 statements asked",
        "accepted   79 of 80 queries",
        "refused    1 of 100 statements (1.0%) by the engine: no such thing (1)",
        "compared   70: sqlite 70, tlp 0",
        "open       5: one of the forms is refused (5)",
        "took       4.0 s; 20 queries a second, 40 queries a CPU second",
        "warning: compared nothing: the oracle tlp, since every answer was open",
        "cause abc  SELECT (tlp), met 3 times",
    ):
        assert f"{line}\n" in text
    assert "MOST" not in text


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        (
            dataclasses.replace(COUNTS, rejected=Counter({"near SELECT": 60, "no": 1})),
            "MOST STATEMENTS WERE REFUSED: 61 of 100; this run says little. Most often: near",
        ),
        (
            dataclasses.replace(COUNTS, accepted=30),
            "MOST QUERIES WERE NOT ANSWERED: 50 of 80; this run says little. Most often: no such",
        ),
        (
            dataclasses.replace(COUNTS, open=Counter({"a bug of refute in tlp: KeyError": 2})),
            "a bug of refute in tlp: KeyError (2)",
        ),
    ],
)
def test_what_a_run_does_not_say_is_said_aloud(counts: Counts, says: str) -> None:
    assert f"warning: {says}" in summary(report(counts=counts))


def test_what_a_dialect_cannot_say_is_told_apart() -> None:
    rejected = Counter({"cannot be written: untyped column": 3, "no such function": 2})
    text = summary(report(counts=dataclasses.replace(COUNTS, rejected=rejected)))
    assert "refused    2 of 100 statements (2.0%) by the engine: no such function (2)\n" in text
    assert (
        "unwritten  3 statements that the engine's dialect cannot say: untyped column (3)" in text
    )


def test_a_finding_is_told_with_what_repeats_it_and_moves_no_cursor() -> None:
    lines = finding_lines(FOUND, 1, "refute fuzz sql --engine turso --repeat")
    assert lines[0] == "1. SELECT (oracle tlp)"
    assert "     SELECT a FROM t WHERE a;" in lines and "   asked of the engine" in lines
    assert r"   observed   (\x1b[2J)" in lines
    assert lines[-1].endswith("again      refute fuzz sql --engine turso --repeat 4/7")
    plain = finding_lines(dataclasses.replace(FOUND, asked=(FOUND.query,)), 1, "")
    assert "   asked of the engine" not in plain


def test_what_a_file_of_known_bugs_did() -> None:
    use = KnownUse("known.toml", {"x": 5}, ("y",), ("z",), 2)
    text = summary(dataclasses.replace(report(), known=use))
    assert "known      x: met 5 times\n" in text
    assert "not met: y\n" in text and "suppress nothing: z\n" in text
    assert "2 of the new are listed in known.toml, but nobody has reviewed them\n" in text


def test_findings_are_printed_as_they_come_and_known_ones_are_not() -> None:
    people, stream, new = io.StringIO(), io.StringIO(), []
    now = [0.0]
    progress = FuzzProgress(
        people, stream, 1, "again", lambda *_: "3 s", new.append, lambda: now[0]
    )
    progress.found(dataclasses.replace(FOUND, known="x"))
    assert people.getvalue() == "" and new == []
    progress.found(FOUND)
    progress.found(FOUND)
    assert people.getvalue().count("oracle tlp") == 1 and len(new) == 2
    progress.tick(COUNTS, 2, 1.0)
    assert stream.getvalue() == ""
    now[0] = 31.0
    progress.tick(COUNTS, 2, 10.0)
    assert stream.getvalue() == "2 databases, 80 queries, 8/s, 2 causes, 3 s left\n"


@pytest.mark.parametrize(
    ("words", "limits"),
    [
        ((), (None, 60.0)),
        (("--budget", "30m"), (None, 1800.0)),
        (("--budget", "10000"), (167, None)),
        (("--budget", "41", "--queries", "40"), (2, None)),
        (("--programs", "3"), (3, None)),
        (("--programs", "3", "--budget", "5s"), (3, 5.0)),
        (("--programs", "3", "--budget", "1000"), (3, None)),
    ],
)
def test_how_long_a_run_is(words: tuple[str, ...], limits: object) -> None:
    assert limits_of(read(*words)) == limits  # type: ignore[arg-type]


def test_names_of_oracles_features_and_dialects() -> None:
    assert oracles_of(read()) == Plan.oracles  # type: ignore[arg-type]
    assert oracles_of(read("--oracle", "all")) == tuple(ORACLES)  # type: ignore[arg-type]
    given = read("--oracle", "TLP, sqlite", "--oracle", "crash")
    assert oracles_of(given) == ("sqlite", "tlp", "crash")  # type: ignore[arg-type]
    assert features_of(read()) is None  # type: ignore[arg-type]
    few = read("--features", "union,limit", "--without", "limit")
    assert features_of(few) == {"union"}  # type: ignore[arg-type]
    most = features_of(read("--without", "limit"))  # type: ignore[arg-type]
    assert most == frozenset(FEATURES) - {"limit"}
    assert dialect_of(read("--as", "MariaDB")) == "mysql"  # type: ignore[arg-type]
    assert repeated(read("--repeat", "-5/-2"), 2) == (-5, -2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--budget", "0"), "neither a time nor a number of queries"),
        (("--budget", "9" * 20), "neither a time nor a number of queries"),
        (("--budget", "soon"), "neither a time nor a number of queries"),
        (("--oracle", "tpl"), "did you mean tlp"),
        (("--oracle", ","), "no oracle is chosen"),
        (("--features", "lft-join"), "did you mean left-join"),
        (("--features", ""), "--features names no feature"),
        (("--without", "all"), "there is no feature 'all'"),
        (("--as", "duck"), "did you mean duckdb"),
        (("--repeat", "7"), "--repeat 7: one database"),
        (("--repeat", "0/-3"), "only 2 are given"),
        (("--repeat", "0/3", "--budget", "9s"), "--repeat with --budget"),
        (("--repeat", "0/3", "--programs", "9"), "--repeat with --programs"),
        (("--queries", "0"), "0 is less than 1"),
    ],
)
def test_wrong_options_are_told_with_what_was_possible(words: tuple[str, ...], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        given = read(*words)
        for check in (limits_of, oracles_of, features_of, dialect_of):
            check(given)  # type: ignore[operator]
        repeated(given, 2)  # type: ignore[arg-type]
    assert says in str(caught.value)


def test_the_features_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(HelpShown):
        parser().read(["--list-features"])
    assert len(capsys.readouterr().out.splitlines()) == len(FEATURES)
