"""Reduction of scripts: which statements a query needs, and simpler forms of each statement.

What a statement has to do with a query is guessed from names: those that create or change what the
query names, and what those name in turn. A guess costs one trial and is wrong rarely; what is wrong
with it shows in the trial.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from refute.fuzz.sql.reduction import finer
from refute.fuzz.sql.reduction_setup import simpler_setups, without_columns
from refute.fuzz.sql.text import Node, look, write

_NAME = re.compile(r"[A-Za-z_]\w*|\"[^\"]+\"|`[^`]+`|\[[^\]]+\]")
_MADE = re.compile(
    r"\s*CREATE\s+(?:TEMP(?:ORARY)?\s+)?(?:UNIQUE\s+|VIRTUAL\s+)?"
    r"(?P<kind>TABLE|VIEW|INDEX|TRIGGER)\s+"
    r"(?:IF\s+NOT\s+EXISTS\s+)?(?P<name>\"[^\"]+\"|\w+)",
    re.IGNORECASE,
)
_DROPPED = re.compile(
    r"\s*DROP\s+TABLE\s+(?:IF\s+EXISTS\s+)?(?P<name>\"[^\"]+\"|\w+)\s*;?\s*$", re.IGNORECASE
)
_INSERT = re.compile(r"\s*(?:INSERT|REPLACE)\b", re.IGNORECASE)
_CREATE = re.compile(r"\s*CREATE\s+(?:TEMP(?:ORARY)?\s+)?(?:TABLE|VIEW)\b", re.IGNORECASE)
_FEW = (0, 1, 2, 3, 4, 8, 16, 32)


def names_in(sql: str) -> frozenset[str]:
    """The words of a statement that may be names, without quotes, in lower case."""
    return frozenset(word.strip('"`[]').casefold() for word in _NAME.findall(sql))


def named(setup: Sequence[str], sql: str) -> list[int]:
    """Which statements of the setup have to do with what this statement names."""
    made = {}
    for statement in setup:
        match = _MADE.match(statement)
        if match and match["kind"].upper() in ("TABLE", "VIEW"):
            made[match["name"].strip('"').casefold()] = statement
    words = [names_in(statement) for statement in setup]
    wanted = set(names_in(sql) & made.keys())
    while True:
        more = set(wanted)
        for statement, own in zip(setup, words, strict=True):
            match = _MADE.match(statement)
            about = own & made.keys()
            view = match is not None and match["kind"].upper() in ("VIEW", "TRIGGER")
            writes = match is None and about & wanted
            if (view and about & wanted) or writes:
                more |= about
        if more == wanted:
            break
        wanted = more
    return [place for place, own in enumerate(words) if own & wanted]


def since_dropped(setup: Sequence[str]) -> list[str]:
    """Without what was done to tables before they were dropped for the last time."""
    last = {
        match["name"].strip('"').casefold(): place
        for place, statement in enumerate(setup)
        if (match := _DROPPED.match(statement))
    }
    return [
        statement
        for place, statement in enumerate(setup)
        if not any(place <= last.get(name, -1) for name in names_in(statement))
    ]


def fewer_rows(setup: Sequence[str]) -> Iterator[list[str]]:
    """The setup with only the first few INSERT statements of each table, fewest first."""
    most = 0
    for number in _FEW:
        count: dict[str, int] = {}
        kept = []
        for statement in setup:
            if _INSERT.match(statement):
                table = _into(statement)
                count[table] = count.get(table, 0) + 1
                if count[table] > number:
                    continue
            kept.append(statement)
        most = max(most, *count.values(), 0)
        if len(kept) < len(setup):
            yield kept
        if number >= most:
            return


def in_rows(setup: Sequence[str]) -> list[str]:
    """The setup with one INSERT for each row."""
    found: list[str] = []
    for statement in setup:
        tree = look(statement) if _INSERT.match(statement) and "," in statement else None
        if isinstance(tree, exp.Insert) and isinstance(tree.expression, exp.Values):
            rows = tree.expression.expressions
            if len(rows) > 1:
                for row in rows:
                    copy = tree.copy()
                    copy.expression.set("expressions", [row.copy()])
                    found.append(write(copy))
                continue
        found.append(statement)
    return found


def simpler_statements(setup: Sequence[str], sql: str, *, fine: bool) -> Iterator[list[str]]:
    """Setups whose statements are simpler one by one, for this last statement."""
    query = look(sql)
    if query is None:
        return
    yield from simpler_setups(setup, query, fine=fine)
    if not fine:
        if query.find(exp.Star):
            yield from without_columns(setup, query)
        return
    for place, statement in enumerate(setup):
        if _INSERT.match(statement) or _CREATE.match(statement):
            continue
        tree = look(statement)
        if isinstance(tree, exp.Update | exp.Delete):
            for text in _simpler_change(tree):
                yield [*setup[:place], text, *setup[place + 1 :]]


def _simpler_change(tree: Node) -> Iterator[str]:
    """An UPDATE or DELETE without its WHERE, with fewer columns, with simpler values."""
    if tree.args.get("where"):
        copy = tree.copy()
        copy.set("where", None)
        yield write(copy)
    if len(tree.expressions) > 1:
        for index in range(len(tree.expressions)):
            copy = tree.copy()
            copy.set("expressions", [copy.expressions[index]])
            yield write(copy)
    yield from finer(tree)


def tables_in(setup: Sequence[str]) -> list[str]:
    """Names of the tables that the setup creates."""
    found = [_MADE.match(statement) for statement in setup]
    return [m["name"] for m in found if m is not None and m["kind"].upper() == "TABLE"]


def _into(statement: str) -> str:
    words = statement.split(None, 6)
    at = next((i for i, word in enumerate(words) if word.upper() == "INTO"), -1)
    return re.split(r"[\s(]", words[at + 1])[0].casefold() if 0 <= at < len(words) - 1 else ""
