"""Findings that are kept as files: what is right about a case, in a form that needs no oracle.

An oracle's judgement is code of refute's, and knows what may differ. A file that shall stay when
refute is gone needs something fixed. So the engine is asked once more, and the embedded SQLite,
too, and the weakest rule is looked for by which the engine is wrong and SQLite, if it says anything
here, is right:

1. one statement has other rows than SQLite gives for the very same text; or must be an error;
2. the statements of the question belong together: the parts make up the whole, two forms have the
   same rows, or those whose last value holds, or the number that one counts;
3. of a crash or a hang: whatever the statement gives, it has to give an answer.

A rule goes into both files, `NAME.test` for `refute conform` and `NAME.py`; a `.test` that cannot
say it is left out, which is told.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from refute.oracles.sql.sqlite import SQLite
from refute.verifiers.sql.conform_engine import EngineLost
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_direct import engine_of
from refute.verifiers.sql.fuzz_plan import Finding
from refute.verifiers.sql.saved.main import literal, wrong

STEPS = 5_000_000  # instructions of the embedded SQLite for one statement
SQLITE = "sqlite"
SAID = 60  # characters of an error by which an engine gives itself away

Answer = Sequence[Any]
Rule = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Kept:
    """A case with its rule. setup: with whether each is refused, where it is right. asked: texts.

    answers: of the engine, for `asked`; sqlite: of the embedded SQLite, or empty. version: of the
    engine, as it says.
    """

    finding: Finding
    setup: tuple[tuple[str, bool], ...]
    asked: tuple[str, ...]
    rule: Rule
    answers: tuple[Answer, ...]
    sqlite: tuple[Answer, ...] = ()
    version: str = ""


def kept(choice: Choice, finding: Finding, dialect: str) -> Kept | None:
    """The case with a rule that the engine breaks; None where there is none.

    dialect: of the engine. Raises UsageError for an engine that is not there.
    """
    setup, asked = finding.asked_setup or finding.setup, finding.asked or (finding.query,)
    theirs, version = _engine_answers(choice, [*setup, *asked])
    if not theirs:
        return None
    ours = _sqlite_answers([*setup, *asked]) if dialect == SQLITE else []
    by_query = [] if ours else _sqlite_answers([*finding.setup, finding.query])[-1:]
    answers, right = theirs[len(setup) :], ours[len(setup) :]
    given, sound = _literals(answers), _literals(right)
    if sound == given:  # SQLite has the same bug, and is no judge of it
        sound = []
    for rule in _rules(finding, answers, right, by_query):
        if wrong(given, rule) and not (sound and wrong(sound, rule)):
            refused = [a[0] == "error" for a in (ours or theirs)]
            pairs = tuple(zip(setup, refused, strict=False))
            return Kept(finding, pairs, tuple(asked), rule, tuple(answers), tuple(right), version)
    return None


def _engine_answers(choice: Choice, statements: Sequence[str]) -> tuple[list[Answer], str]:
    """The answers in a fresh process, none where they do not come, and the engine's version."""
    engine = engine_of(choice)
    try:
        engine.start(0)
        answers = list(engine.answers(statements))
    except EngineLost:
        return [], ""
    finally:
        engine.close()
    whole = answers if len(answers) == len(statements) else []
    return whole, str(getattr(engine, "version", ""))


def _sqlite_answers(statements: Sequence[str]) -> list[Answer]:
    database = SQLite(STEPS)
    try:
        return list(database.run(statements))
    finally:
        database.close()


def _literals(answers: Sequence[Answer]) -> list[list[Any]]:
    """Answers as `saved.main.wrong` takes them."""
    made: list[list[Any]] = []
    for answer in answers:
        if answer[0] == "rows":
            made.append(["rows", [list(map(literal, row)) for row in answer[2]]])
        elif answer[0] == "error":
            made.append(["error", str(answer[2])])
        elif answer[0] == "done":
            made.append(["done"])
        else:
            made.append(["crash", str(answer[-1])])
    return made


def _rules(
    finding: Finding, answers: Sequence[Answer], right: Sequence[Answer], query: Sequence[Answer]
) -> Iterator[Rule]:
    """Rules that could be broken, the weakest first. query: SQLite's answer to the query alone."""
    if finding.kind.partition(":")[0] not in ("wrong", "error"):
        yield {"is": "answers"}
    for at, answer in enumerate(right):
        yield from _fixed(at, answer)
    if len(answers) == 1:
        for answer in query:  # of another dialect, whose types are its own
            yield from (rule for rule in _fixed(0, answer) if "exact" not in rule)
    yield from _related(finding.oracle, answers)
    for answer in answers:
        if answer[0] == "error" and finding.oracle == "crash":
            yield {"is": "answers", "never": _beginning(str(answer[2]))}


def _fixed(at: int, answer: Answer) -> Iterator[Rule]:
    """A statement must have these rows, or be refused."""
    if answer[0] == "error":
        yield {"is": "error", "at": at}
    if answer[0] == "rows":
        rows = [list(map(literal, row)) for row in answer[2]]
        for how in ({}, {"exact": True}, {"ordered": True}, {"exact": True, "ordered": True}):
            yield {"is": "rows", "at": [at], "rows": rows, **how}


def _related(oracle: str, answers: Sequence[Answer]) -> Iterator[Rule]:
    """The answers belong together."""
    first, *others = [at for at, answer in enumerate(answers) if answer[0] == "rows"] or [0]
    together = {"is": "rows", "at": [first], "as": others}
    if oracle == "norec" and others:
        *counted, flagged = others
        for how in ({}, {"exact": True}):
            yield {"is": "rows", "at": [first], "as": [flagged], "holds": True, **how}
        yield from ({"is": "count", "at": [first], "as": [at]} for at in counted)
        return
    if oracle == "tlp" and others:
        yield together
        yield {**together, "sets": True}
    for other in others:
        yield {"is": "rows", "at": [first], "as": [other]}
    if not others and oracle == "pqs":
        yield {"is": "some", "at": [first]}
    for how in ({"exact": True}, {"exact": True, "sets": True}):
        if oracle == "tlp" and others:
            yield {**together, **how}
        for other in others:
            yield {"is": "rows", "at": [first], "as": [other], **how}


def _beginning(message: str) -> str:
    """The first words of a message."""
    return message.split("\n", 1)[0][:SAID]
