"""The shape of a reduced case: what it is made of, in classes, and when two cases look like one.

One defect shows in cases that differ in what does not matter: MAX here and SUM there, `<` or `=`, a
text or a number, this oracle's question or that one's. So shapes have a word for each class, and a
key made of these. Where one case has all that another has and something more, the words alone do
not tell; `fuzz_confirm` asks the engine then.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Sequence

from refute.verifiers.sql.conform_causes_shape import Shape
from refute.verifiers.sql.conform_causes_title import uses_of
from refute.verifiers.sql.conform_causes_words import Words, words_of, words_of_all
from refute.verifiers.sql.fuzz_failure import plain_reason
from refute.verifiers.sql.fuzz_plan import Finding

_MADE = re.compile(
    r"\s*CREATE\s+(?:UNIQUE\s+|TEMP\s+)?(INDEX|VIEW|TRIGGER|VIRTUAL)\b", re.IGNORECASE
)
_TABLE = re.compile(r"\s*CREATE\s+(?:TEMP\s+)?TABLE\b", re.IGNORECASE)
_OF_TABLES = {
    "setup AS": re.compile(r"\bAS\s*\(", re.IGNORECASE),
    "setup CHECK": re.compile(r"\bCHECK\s*\(", re.IGNORECASE),
    "setup WITHOUT ROWID": re.compile(r"\bWITHOUT\s+ROWID\b", re.IGNORECASE),
    "setup STRICT": re.compile(r"\)[^)]*\bSTRICT\b", re.IGNORECASE),
}
_ROWS = re.compile(r"\bIN\s*\(\s*VALUES\b", re.IGNORECASE)
TITLE = 160  # characters
ENDS = frozenset({"lost", "crash"})
_COMMON = "NULL NOT OR WHERE ON = != < > <= >= + - * text float DISTINCT UNION join subquery"
_PLAIN = (
    "empty text",
    "large number",
    "IS NULL",
    "setup NULL",
    "setup PRIMARY KEY",
    "setup UNIQUE",
)
_QUIET = frozenset((*_COMMON.split(), *_PLAIN))  # in most statements; an engine ends over others
_CLASSES = {
    **dict.fromkeys(
        ("SUM()", "MIN()", "MAX()", "AVG()", "COUNT()", "COUNT(*)", "TOTAL()"), "aggregate"
    ),
    **dict.fromkeys("+-*", "arithmetic"),
}
_WEAK = frozenset({"aggregate", "arithmetic", "comparison", "NULL"})  # alone they tell nothing


def shape_of(finding: Finding) -> Shape:
    """The shape of a reduced case."""
    return _shape(finding.kind, finding.why, finding.setup, finding.query)


@functools.lru_cache(maxsize=512)
def _shape(kind: str, why: str, setup: tuple[str, ...], query: str) -> Shape:
    message = kind if kind not in ("wrong", "error") else ""
    wrong = plain_reason(why) if kind == "wrong" else ""
    return Shape(kind.partition(":")[0], message, words_in(setup, query), wrong)


def key_of(shape: Shape, oracle: str) -> str:
    """A name for a cause that is the same in every run: twelve digits.

    Where the constructs tell nothing, the oracle and what it says are part of it.
    """
    grouped = classes(shape.words)
    parts = (shape.kind, shape.message, *sorted(grouped))
    if grouped <= _WEAK:
        parts = (oracle, shape.kind, shape.message, shape.wrong, *sorted(shape.plain))
    return hashlib.sha256("\n".join(parts).encode(errors="surrogatepass")).hexdigest()[:12]


def title(finding: Finding) -> str:
    """One line for people, such as "LEFT JOIN, NULL: 1 row instead of 2"."""
    uses = uses_of(words_of(finding.query) | words_of_all(finding.setup))
    why = finding.why if finding.kind in ("wrong", "error") else finding.observed or finding.kind
    return ": ".join(filter(None, (uses, why)))[:TITLE]


def words_in(setup: Sequence[str], query: str) -> Words:
    """The constructs of a case, with those that its indexes, views and triggers are made of."""
    found = set(words_of(query) | words_of_all(setup))
    if _ROWS.search(query):
        found.add("rows of VALUES")
    for sql in setup:
        made = _MADE.match(sql)
        if made is not None:
            found |= {f"{made[1].lower()} {word}" for word in words_of(sql)}
        elif _TABLE.match(sql):
            found |= {word for word, pattern in _OF_TABLES.items() if pattern.search(sql)}
    return frozenset(found)


@functools.lru_cache(maxsize=4096)
def classes(words: Words) -> Words:
    """The constructs with one word for each class, and without those of values and places."""
    plain = Shape("", "", words, "").plain
    return frozenset(_CLASSES.get(word, word) for word in plain)


def needed(shape: Shape) -> Words:
    """What a failure must have to be taken for this cause without a look."""
    if shape.kind in ENDS:  # a crash reduces less well, and costs more
        return shape.words - _QUIET or shape.words
    return shape.words


def one(one_case: Finding, other_case: Finding) -> bool:
    """Whether two reduced cases show one cause, as far as their shapes tell."""
    some, other = shape_of(one_case), shape_of(other_case)
    if key_of(some, one_case.oracle) == key_of(other, other_case.oracle):
        return True
    if (some.kind, some.message) != (other.kind, other.message):
        return False
    texts = [(case.setup, case.query) for case in (one_case, other_case)]
    if texts[0] == texts[1] and classes(some.words):  # whatever oracle asked the same
        return True
    if some.kind in ENDS:
        mine, its = some.words - _QUIET, other.words - _QUIET
        return bool(mine and its) and (mine <= its or its <= mine)
    same_oracle = one_case.oracle == other_case.oracle
    return same_oracle and (some.covers(other) or other.covers(some))


def alike(some: Shape, other: Shape) -> bool:
    """Whether a question to the engine may tell that two cases show one cause."""
    if (some.kind, some.message) != (other.kind, other.message):
        return False
    mine, its = classes(some.words), classes(other.words)
    least = mine if len(mine) <= len(its) else its
    return not least <= _WEAK and (mine <= its or its <= mine)
