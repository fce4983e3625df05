"""Crash: whatever an engine is asked, it stays alive, answers in time, and is not at odds with
itself.

Sees: a process that ends; an exception that is no SQL error (PEP 249 knows those); an answer that
is none; no answer in time where SQLite needs next to nothing for the same; and errors by which an
engine says itself that it is broken: failed assertions, panics, `internal error`, a malformed
database, SQLSTATE XX.

Does not see: a wrong answer; any error by which an engine only refuses something, be it for good
reasons or not; a crash that needs another process or another connection. A slow answer, and a
process that used up its memory, say nothing where SQLite is slow as well or cannot be asked.

Only what the engine itself says counts: what stands in quotes is left out before a message is
looked at, and so is a message that the statements themselves contain (RAISE, and names).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from refute.oracles.sql.partial.question import HELD, Answer, Case, Judged, Question
from refute.oracles.sql.partial.written import writes
from refute.oracles.sql.said import said
from refute.oracles.sql.sqlite import UNFINISHED, SQLite

QUICK = 200_000  # instructions of SQLite, a few milliseconds: what takes longer may be slow
SLOW = "did not answer in time"
RESOURCES = re.compile(r"memory|SIGKILL|disk is full|no space", re.IGNORECASE)
EXPECTED = "an answer or an SQL error"

_QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"")
_INTERNAL = re.compile(
    r"""
      \binternal[ ](?:error|exception|inconsistency|failure)
    | \bpanicked\b | \bpanic:
    | \bassert(?:ion)?s?\b.{0,80}?\b(?:fail|violat)
    | \bfail\w*[ ](?:an?[ ])?assert | \bdebug_assert\b
    | likely[ ]caused[ ]by[ ]a[ ]bug | this[ ]is[ ]a[ ]bug | \ba[ ]bug[ ]in\b
    | \bshould(?:n't|[ ]never|[ ]not[ ]have)[ ]\w+ | \bshould[ ]not[ ]happen
    | \bcan(?:'t|not)[ ]happen | \bunreachable\b | \bimpossible\b.{0,20}\bstate
    | \bmalformed\b.{0,20}\b(?:database|disk|image|page|record)
    | \b(?:database|disk|image|schema|page)\b.{0,20}\bmalformed\b
    | \b(?:database|disk|schema|page|index|table|data)\b.{0,20}\bcorrupt(?:ed|ion)?\b
    | \bcorrupt(?:ed|ion)?\b.{0,20}\b(?:database|disk|schema|page|index|table|data|block)\b
    | \bindex[ ]out[ ]of[ ]bounds:[ ]the[ ]len\b | \bout[ ]of[ ]range[ ]for[ ]slice
    | \bOption::unwrap\b | \bResult::unwrap\b | \bunwrap\(\) | \bnull[ ]pointer\b
    | \battempt(?:ed)?[ ]to[ ](?:access|dereference|unwrap)\b
    | \battempt[ ]to[ ]\w+[ ]with[ ]overflow\b
    | \bsegmentation[ ]fault\b | \bSIG(?:SEGV|ABRT|BUS|ILL|FPE)\b
    | \bstd::\w+ | \bbad_(?:alloc|cast|optional_access|variant_access)\b
    | \bbad[ ]parameter[ ]or[ ]other[ ]API[ ]misuse\b
    | \bcache[ ]lookup[ ]failed\b | \bnot[ ]found[ ]in[ ](?:sub)?plan\b
    | \bunrecogni[sz]ed[ ]node\b | \bunexpected[ ](?:node|plan|operator|state)\b
    | \bfailed[ ]to[ ]bind[ ]column[ ]reference\b
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_INTERNAL_STATE = "XX"  # SQLSTATE class of internal errors, PostgreSQL's documentation, appendix A
_CODE = re.compile(r"::unwrap|unwrap\(\)", re.IGNORECASE)


class Crash:
    """The oracle `crash`."""

    name = "crash"

    def questions(self, case: Case) -> Iterator[Question]:
        """The query as it is."""
        text = case.text
        yield Question(
            self.name,
            (case.asked,),
            lambda answers: judged(answers[0], text, case.setup),
            changes=writes(case.query),
        )


def judged(answer: Answer, statement: str, setup: Sequence[str] = ()) -> Judged:
    """What an answer to any statement says by itself.

    statement, setup: in SQLite's dialect; SQLite is asked them where the engine was too slow.
    """
    kind = answer[0]
    if kind in ("rows", "done"):
        return HELD
    if kind == "error":
        why = _internal(answer, (*setup, statement))
        return Judged("broken", why, EXPECTED, said(answer)) if why else HELD
    if kind == "lost" and (SLOW in answer[1] or RESOURCES.search(answer[1])):
        if not is_quick(setup, statement):
            return Judged("open", "slow, or used much memory, and so does SQLite")
        return Judged("broken", "hang" if SLOW in answer[1] else "lost", EXPECTED, said(answer))
    if kind == "unfit" and answer[1] == UNFINISHED and not is_quick(setup, statement):
        return Judged("open", UNFINISHED)
    if kind == "unfit" and "too large" in answer[1]:
        return Judged("open", "a result that is too large")
    return Judged("broken", kind if kind in ("lost", "crash") else "unfit", EXPECTED, said(answer))


def is_quick(setup: Sequence[str], statement: str) -> bool:
    """Whether SQLite answers the statement with next to no work."""
    database = SQLite(QUICK)
    answers = database.run([*setup, statement])
    database.close()
    return all(answer[0] in ("rows", "done") for answer in answers)


def _internal(answer: Answer, statements: Sequence[str]) -> str:
    """Why an error is one that an engine must never give; empty for any other."""
    if len(answer) > 3 and str(answer[3]).startswith(_INTERNAL_STATE):
        return "internal error"
    message = str(answer[2])
    bare = message if _CODE.search(message) else _QUOTED.sub("''", message)
    found = _INTERNAL.search(bare)
    if found is None or any(found[0].casefold() in s.casefold() for s in statements):
        return ""
    return "internal error"
