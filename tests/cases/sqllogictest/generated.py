"""Random sqllogictest files whose records pass on the embedded SQLite, and files made wrong.

A file is text with odd values in every type, sort and form of expectation, with comments, labels,
conditions and records that fail as they should. What is expected is what SQLite answers, shown by
`render`; whether that is right is tested elsewhere, here two readers of one file are compared.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sqllogictest.render import digest, joined

_VALUES = (
    *("NULL", "0", "1", "-1", "7", "2147483648", "-2147483649", "9223372036854775807"),
    *("0.5", "-0.0", "0.0625", "-2.1875", "9.9995", "1e13", "123456789012345.5", "-1.5e300"),
    *("9e999", "1234567.0001", "0.2115", "-0.0004", "100000000000000.5", "3e-7"),
    *("''", "'a'", "'Zz top'", "' 12x'", "'-3.5e2y'", "'+.5'", "'1e'", "'99999999999999999999'"),
    *("'tab\there'", "'äöü'", "'a' || char(0) || 'b'", "char(127, 10, 31)", "'NULL'", "'----x'"),
    *("x''", "x'00ff41'", "x'3132'", "zeroblob(3)", "'no # comment'", "'2 values hashing'"),
)
_WHERE = (
    "",
    " WHERE a IS NOT NULL",
    " WHERE a > 0",
    " WHERE 0",
    " WHERE b < a",
    " WHERE typeof(c)='real'",
)
_FAILING = (
    *(
        "SELECT * FROM nothing",
        "INSERT INTO t VALUES(1)",
        "CREATE TABLE t(a)",
        "SELEC 1",
        "SELECT (1",
    ),
    *(
        "INSERT INTO u VALUES(1, 1), (1, 2)",
        "SELECT abs(-9223372036854775807 - 1)",
    ),
    *("INSERT INTO u VALUES(NULL, NULL); SELECT 1",),
)


def generated(seed: int) -> str:
    """The file of a seed."""
    return _Writer(random.Random(seed)).file()


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.database = SQLite()
        self.labels: dict[str, str] = {}

    def file(self) -> str:
        """All records."""
        parts = [
            self._ok("CREATE TABLE t(a, b, c)"),
            self._ok("CREATE TABLE u(k INTEGER NOT NULL UNIQUE, v)"),
        ]
        for _ in range(self.rng.randint(5, 25)):
            make = self.rng.choice(
                (
                    self._insert,
                    self._insert,
                    self._fails,
                    self._query,
                    self._query,
                    self._query,
                    self._control,
                )
            )
            parts.append(make())
        parts.append(self._ok("SELECT 1"))
        blank = self.rng.choice(("\n", "\n", "\n\n", "\n  \t\n"))
        text = blank.join(parts) + self.rng.choice(("", "\n", "\n\n# the end\n", "\n\n \n"))
        self.database.close()
        return text.replace("\n", "\r\n") if self.rng.random() < 0.1 else text

    def _ok(self, sql: str) -> str:
        self.database.answer(sql)
        return f"statement ok\n{sql}\n"

    def _insert(self) -> str:
        rows = ", ".join(
            f"({', '.join(self.rng.choices(_VALUES, k=3))})" for _ in range(self.rng.randint(1, 6))
        )
        sql = f"INSERT INTO t VALUES {rows}"
        if self.rng.random() < 0.2:
            sql += f";\nINSERT INTO u VALUES({self.rng.randrange(10**9)}, 'v');"
        return self._ok(sql)

    def _fails(self) -> str:
        sql = self.rng.choice(_FAILING)
        self.database.answer(sql)
        return f"statement error{self.rng.choice(('', ' # why'))}\n{sql}\n"

    def _control(self) -> str:
        return self.rng.choice(
            (
                "hash-threshold 8\n",
                "# a comment\n# and more\n",
                "skipif sqlite\nhalt\n",
                "onlyif mssql\nstatement ok\nNONSENSE\n",
            )
        )

    def _query(self) -> str:
        rng = self.rng
        types = "".join(rng.choices("TIR", k=rng.randint(1, 4)))
        columns = ", ".join(
            rng.choices(("a", "b", "c", "a + 1", "b || 'x'", "count(*) OVER ()"), k=len(types))
        )
        sql = f"SELECT {columns}\nFROM t{rng.choice(_WHERE)}"
        sort = rng.choice(("nosort", "rowsort", "valuesort"))
        kind, *rest = self.database.answer(sql)
        assert kind == "rows", (sql, rest)
        text = joined(types, rest[1], sort)
        words = (
            f"query {types} {sort}" if sort != "nosort" or rng.random() < 0.7 else f"query {types}"
        )
        number = text.count("\n") + 1 if text else 0
        if rng.random() < 0.3 and words.count(" ") == 2:
            words += f" l-{digest(text)[:6]}"
        form = rng.random()
        if form < 0.4:
            expected = f"----\n{number} values hashing to {digest(text)}\n"
        elif form < 0.9:
            expected = f"----\n{text}\n" if text else "----\n"
        else:
            expected = ""
        if expected.count("\n") > 3 and rng.random() < 0.2:
            expected = expected.replace("\n", "\n# a comment\n", 2)
        condition = rng.choice(
            ("",) * 6
            + ("onlyif sqlite\n", "skipif SQLite # why\n", "skipif mysql\nonlyif SQLITE\n")
        )
        return f"{condition}{words}\n{sql}\n{expected}"


def wrong(text: str, rng: random.Random) -> Iterator[str]:
    """The file with one thing made wrong each."""
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.split(end)
    for _ in range(6):
        at = rng.randrange(len(lines))
        line, changed = lines[at], list(lines)
        change = rng.randrange(5)
        if change == 0:
            changed[at] = _other(line)
        elif change == 1:
            del changed[at]
        elif change == 2:
            changed.insert(at, line)
        elif change == 3:
            other = rng.randrange(len(lines))
            changed[at], changed[other] = changed[other], line
        else:
            changed[at] = (
                line.replace("ok", "error") if "ok" in line else line.replace("error", "ok")
            )
        yield end.join(changed)


def scrambled(text: str, rng: random.Random) -> bytes:
    """The file with a few bytes changed, which may leave it well formed or not."""
    data = bytearray(text.encode())
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        change = rng.randrange(4)
        if change == 0:
            data[at : at + 1] = (rng.choice(b" \n\t#-;'0aTIR\r\0\xff\x0b"),)
        elif change == 1:
            del data[at : at + rng.choice((1, 1, 2, 10, 100))]
        elif change == 2:
            data[at:at] = rng.choice(
                (b"\n", b"\n\n", b"#", b"----\n", b"query I\n", b"halt\n\n", b" ")
            )
        else:
            data = data[: max(1, at)]
    return bytes(data)


def _other(line: str) -> str:
    """A line that says something else: another digit, letter or count."""
    if re.search(r"\d", line):
        return re.sub(r"\d", lambda m: str((int(m[0]) + 1) % 10), line, count=1)
    return f"{line}x"
