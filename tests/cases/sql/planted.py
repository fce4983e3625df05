"""SQL engines with one planted defect each: sqlite3 behind a rewriting of queries or of rows.

`planted:left_as_inner` is a factory of DB-API connections, made from the class of that name.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Any

Error = sqlite3.Error


def _inside(text: str, start: int) -> int:
    """The end of the parenthesis that opens at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return len(text)


def _wrap(sql: str, word: str, after: Callable[[str], str]) -> str:
    """`sql` with every `word(…)` replaced by what `after` makes of it."""
    done, place = "", 0
    for found in re.finditer(rf"\b{re.escape(word)}\(", sql):
        if found.start() < place:
            continue
        end = _inside(sql, found.end() - 1)
        done += sql[place : found.start()] + after(sql[found.start() : end])
        place = end
    return done + sql[place:]


class Sound:
    """No defect: sqlite3 as it is."""

    setup: Sequence[str] = ()

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        for statement in self.setup:
            self._connection.execute(statement)

    def cursor(self) -> Cursor:
        return Cursor(self)

    def commit(self) -> None:
        self._connection.commit()

    def close(self) -> None:
        self._connection.close()

    def rewrite(self, sql: str) -> str:
        return sql

    def rows(self, sql: str, rows: list[Any]) -> list[Any]:
        return rows


class Cursor:
    """What PEP 249 asks of a cursor, as far as the driver uses it."""

    def __init__(self, engine: Sound) -> None:
        self._engine = engine
        self._sql = ""
        self._cursor = engine._connection.cursor()

    def execute(self, sql: str) -> None:
        self._sql = sql
        self._cursor.execute(self._engine.rewrite(sql))

    @property
    def description(self) -> Any:
        return self._cursor.description

    def fetchall(self) -> list[Any]:
        return self._engine.rows(self._sql, self._cursor.fetchall())

    def close(self) -> None:
        self._cursor.close()


class Reorders(Sound):
    """Sound: rows come in another order where the query leaves it open."""

    setup = ("PRAGMA reverse_unordered_selects = ON",)

    def rows(self, sql: str, rows: list[Any]) -> list[Any]:
        return rows if "ORDER BY" in sql else rows[::-1]


class NullInNotIn(Sound):
    """A NULL in the list of IN is passed over."""

    def rewrite(self, sql: str) -> str:
        if sql.startswith("SELECT"):
            return sql.replace(", NULL)", ")").replace("IN (NULL, ", "IN (")
        return sql


class FloatDivision(Sound):
    """Integers are divided as floats."""

    def rewrite(self, sql: str) -> str:
        return sql.replace(" / ", " * 1.0 / ")


class NullsJoin(Sound):
    """NULL equals NULL in ON."""

    def rewrite(self, sql: str) -> str:
        return re.sub(r"ON (\(?)(\w+\.\w+) = (\w+\.\w+)", r"ON \1\2 IS \3", sql)


class LeftAsInner(Sound):
    """LEFT JOIN drops the rows without a partner."""

    def rewrite(self, sql: str) -> str:
        return sql.replace("LEFT JOIN", "INNER JOIN")


class CountsNulls(Sound):
    """COUNT(x) counts the rows where x is NULL too."""

    def rewrite(self, sql: str) -> str:
        return re.sub(r"COUNT\((?!DISTINCT)\w+\.\w+\)", "COUNT(*)", sql)


class DistinctDropsNulls(Sound):
    """DISTINCT drops rows with a NULL."""

    def rows(self, sql: str, rows: list[Any]) -> list[Any]:
        if sql.startswith("SELECT DISTINCT") and "LIMIT" not in sql:
            return [row for row in rows if None not in row]
        return rows


class DistinctKeepsNulls(Sound):
    """DISTINCT holds two NULLs for different."""

    def rewrite(self, sql: str) -> str:
        return re.sub(r"^SELECT DISTINCT", "SELECT", sql)

    def rows(self, sql: str, rows: list[Any]) -> list[Any]:
        if not sql.startswith("SELECT DISTINCT") or "LIMIT" in sql:
            return rows
        kept: list[Any] = []
        for row in rows:
            if None in row or row not in kept:
                kept.append(row)
        return kept


class HavingAlone(Sound):
    """HAVING without GROUP BY is ignored."""

    def rewrite(self, sql: str) -> str:
        if "GROUP BY" in sql or sql.count("SELECT") > 1:
            return sql
        return re.sub(r" HAVING .*?(?= ORDER BY| LIMIT|$)", "", sql)


class TwoValuedNot(Sound):
    """NOT of an unknown condition is true."""

    def rewrite(self, sql: str) -> str:
        return _wrap(sql, "NOT ", lambda call: f"NOT COALESCE({call[4:]}, 0)")


class UnknownAndFalse(Sound):
    """Unknown AND false is unknown."""

    def rewrite(self, sql: str) -> str:
        sides = r"\((\w+\.\w+ [<>=]+ [^()]*?)\) AND \((\w+\.\w+ [<>=]+ [^()]*?)\)"
        return re.sub(sides, r"(CASE WHEN (\1) IS NULL THEN NULL ELSE (\1) AND (\2) END)", sql)


class NocaseAsBinary(Sound):
    """The collation of a column is forgotten."""

    def rewrite(self, sql: str) -> str:
        return sql.replace(" COLLATE NOCASE", "") if sql.startswith("CREATE") else sql


class LimitOffByOne(Sound):
    """LIMIT with OFFSET gives a row too many."""

    def rewrite(self, sql: str) -> str:
        return re.sub(r"LIMIT (\d+) OFFSET", lambda m: f"LIMIT {int(m[1]) + 1} OFFSET", sql)


class NullsLast(Sound):
    """ORDER BY puts NULL at the end."""

    def rewrite(self, sql: str) -> str:
        return re.sub(r"ORDER BY (\w+)(?= LIMIT|$)", r"ORDER BY \1 NULLS LAST", sql)


class SumOfNothing(Sound):
    """SUM of no rows is 0."""

    def rewrite(self, sql: str) -> str:
        if "FILTER" in sql:
            return sql
        return _wrap(sql, "SUM", lambda call: f"COALESCE({call}, 0)")


class UnionKeeps(Sound):
    """UNION keeps duplicates."""

    def rewrite(self, sql: str) -> str:
        return sql.replace(" UNION SELECT", " UNION ALL SELECT")


class TextAsNumber(Sound):
    """A column without a type converts text that looks like a number."""

    def rewrite(self, sql: str) -> str:
        if not sql.startswith("CREATE"):
            return sql
        return re.sub(r"\b([a-f])(?=[,)])", r"\1 NUMERIC", sql)


class CaseWithoutElse(Sound):
    """CASE without ELSE gives 0 where no arm fits."""

    def rewrite(self, sql: str) -> str:
        return re.sub(r"(CASE (?:(?!CASE|ELSE| END).)*) END", r"\1 ELSE 0 END", sql)


class CaseSensitiveLike(Sound):
    """LIKE tells cases apart."""

    setup = ("PRAGMA case_sensitive_like = ON",)


class AverageOfIntegers(Sound):
    """AVG gives an integer."""

    def rewrite(self, sql: str) -> str:
        if "FILTER" in sql:
            return sql
        return _wrap(sql, "AVG", lambda call: f"CAST({call} AS INTEGER)")


class ConcatOfNull(Sound):
    """NULL beside || is the empty text."""

    def rewrite(self, sql: str) -> str:
        return re.sub(r"(\w+\.\w+) \|\|", r"COALESCE(\1, '') ||", sql)


class ExceptKeeps(Sound):
    """EXCEPT takes nothing away."""

    def rewrite(self, sql: str) -> str:
        return sql.replace(" EXCEPT SELECT", " UNION SELECT")


class BetweenExcludes(Sound):
    """BETWEEN leaves out its lower bound."""

    def rewrite(self, sql: str) -> str:
        return re.sub(r"(\w+\.\w+) BETWEEN (\S+) AND", r"\1 > \2 AND \1 BETWEEN \2 AND", sql)


class FloatsForIntegers(Sound):
    """Numbers of a grouped query come as floats."""

    def rows(self, sql: str, rows: list[Any]) -> list[Any]:
        if "GROUP BY" not in sql:
            return rows
        return [tuple(float(v) if type(v) is int else v for v in row) for row in rows]


class WideIntegers(Sound):
    """Integers are not held to 64 bits, as in Python."""

    def rows(self, sql: str, rows: list[Any]) -> list[Any]:
        wide = [[int(v) if type(v) is float and abs(v) >= 2**63 else v for v in r] for r in rows]
        return [tuple(row) for row in wide]


class ForgetsUnique(Sound):
    """UNIQUE is not kept."""

    def rewrite(self, sql: str) -> str:
        return sql.replace(" UNIQUE", "") if sql.startswith("CREATE") else sql


class KeepsSome(Sound):
    """Of an INSERT that is refused, the rows before the bad one stay."""

    def rewrite(self, sql: str) -> str:
        return sql.replace("INSERT INTO", "INSERT OR FAIL INTO")


class SeparatesOtherwise(Sound):
    """GROUP_CONCAT without a separator uses another one than a comma."""

    def rewrite(self, sql: str) -> str:
        return re.sub(r"GROUP_CONCAT\((\w+\.\w+)\)", r"GROUP_CONCAT(\1, ', ')", sql)


class Remembers(Sound):
    """From the third query on a connection, the last row is missing."""

    asked = 0

    def rows(self, sql: str, rows: list[Any]) -> list[Any]:
        self.asked += sql.startswith("SELECT")
        return rows[:-1] if self.asked > 2 else rows


class RefusesMuch(Sound):
    """Everything but a few forms is refused."""

    def rewrite(self, sql: str) -> str:
        if re.search(r"JOIN|GROUP|CASE|LIKE|UNION|EXCEPT|INTERSECT|\(SELECT|TOTAL|FILTER", sql):
            raise sqlite3.OperationalError("not supported")
        return sql


class RefusesAll(Sound):
    """Every query is refused."""

    def rewrite(self, sql: str) -> str:
        if sql.startswith(("SELECT", "WITH")):
            raise sqlite3.OperationalError("not today")
        return sql


class Raises(Sound):
    """LIKE ends in an exception that is no SQL error."""

    def rewrite(self, sql: str) -> str:
        if " LIKE " in sql:
            raise KeyError("like")
        return sql


class Exits(Sound):
    """LIKE ends the process."""

    def rewrite(self, sql: str) -> str:
        if " LIKE " in sql:
            os._exit(3)
        return sql


class Hangs(Sound):
    """LIKE takes for ever."""

    def rewrite(self, sql: str) -> str:
        if " LIKE " in sql:
            time.sleep(3600)
        return sql


class PrintsAndForks(Sound):
    """Sound, and noisy: it prints, and leaves a process behind."""

    forked = False

    def rewrite(self, sql: str) -> str:
        print("hello " * 50)
        if not PrintsAndForks.forked and os.fork() == 0:
            time.sleep(3600)
        PrintsAndForks.forked = True
        return sql


class CannotConnect(Sound):
    """There is no connection."""

    def __init__(self) -> None:
        raise RuntimeError("no connection")


class Lies(Sound):
    """Claims to be equal to everything."""

    class Value(int):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = int.__hash__

    def rows(self, sql: str, rows: list[Any]) -> list[Any]:
        return [tuple(self.Value() for _ in row) for row in rows]


def __getattr__(name: str) -> Any:
    """The class whose name in snake case this is."""
    for kind in [*globals().values()]:
        if (
            isinstance(kind, type)
            and re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower() == name
        ):
            return kind
    raise AttributeError(name)
