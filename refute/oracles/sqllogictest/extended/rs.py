"""The dialect of sqllogictest-rs: its reader.

The format is that of https://github.com/risinglightdb/sqllogictest-rs, by its README and its
parser; docs/conform.md lists where this reader is stricter. A directive holds for what follows,
conditions and `connection` for the next record, and `#` begins a comment only where a directive
could begin.
"""

from __future__ import annotations

import dataclasses
import re

from refute.oracles.sqllogictest.extended.includes import Including
from refute.oracles.sqllogictest.extended.lines import RULE, Lines, seconds_of, text_of
from refute.oracles.sqllogictest.extended.patterns import pattern_of
from refute.oracles.sqllogictest.extended.program import (
    Control,
    Fails,
    Halt,
    HashThreshold,
    Include,
    Let,
    Node,
    Program,
    Query,
    Retry,
    Returns,
    Sign,
    Sleep,
    Statement,
    Subtest,
    Succeeds,
    System,
)
from refute.oracles.sqllogictest.reader import SORTS, Conditions
from refute.oracles.sqllogictest.render import whole

DIRECTIVES = (
    *("statement", "query", "let", "system", "skipif", "onlyif", "connection", "control"),
    *("include", "sleep", "subtest", "hash-threshold", "halt"),
)
CONTROLS = {
    "sortmode": SORTS,
    "resultmode": ("rowwise", "valuewise"),
    "substitution": ("on", "off"),
}

_STATE = re.compile(r"\(([0-9A-Z]{5})\)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TYPES = re.compile(r"[A-Za-z?]+")
_NAMED = re.compile(r"([^:,\s]+):([A-Za-z?])")
_GLUED = re.compile(
    r"\s*(?:statement\s+(?:ok|error|count\s+\d+)"
    r"|query\s+[A-Z?]+(?:\s+(?:nosort|rowsort|valuesort)(?:\s+\S+)?)?)\s*"
)


def read(data: bytes, path: str) -> Program:
    """The file as a program. Raises UnreadableInput with file and line.

    Files that it includes are looked for from its own directory.
    """
    reads: dict[str, str] = {}
    nodes = _Reader(Lines(text_of(data, path), path), Including(reads, (path,))).nodes()
    return Program(path, "rs", tuple(nodes), reads=tuple(reads.items()))


def signs(data: bytes) -> list[Sign]:
    """Lines that only this dialect has, of a file that any dialect may be able to read."""
    found: list[Sign] = []
    types = ""  # of the query whose results the line may be in
    results: list[str] | None = None
    for number, line in enumerate([*data.decode("utf-8", "replace").splitlines(), ""], 1):
        words = line.split()
        if not words:
            if results and _by_row(types, results):
                found.append(Sign(number - len(results), "a row on one line"))
            types, results = "", None
        elif results is not None:
            results.append(line)
        elif line == RULE:
            results = []
        elif words[0] == "query" and len(words) > 1:
            types = words[1]
        what = "" if results is not None else _only_here(words)
        if what:
            found.append(Sign(number, what))
    return found


def _by_row(types: str, lines: list[str]) -> bool:
    """Whether the lines can only be rows, with spaces between their values."""
    width = len(types)
    if width < 2 or not _TYPES.fullmatch(types):
        return False
    if not all(len(line.split()) >= width and "\t" not in line for line in lines):
        return False
    numbers = [line for at in range(width) if types[at] in "IR" for line in lines[at::width]]
    return len(lines) % width != 0 or bool(numbers)


def _only_here(words: list[str]) -> str:
    """The words of a directive line that only this dialect has."""
    match words:
        case ["control", ("sortmode" | "resultmode" | "substitution") as name, _]:
            return f"control {name}"
        case [("let" | "system" | "connection" | "subtest") as name, *_]:
            return name
        case ["statement", "count", *_]:
            return "statement count"
        case ["query"] | ["query", "error", *_]:
            return " ".join(words[:2])
        case ["query", types, *_] if ":" in types:
            return "names of columns"
        case ["statement", "error", _, *_]:
            return "statement error with a pattern"
        case ["statement" | "query", *rest] if "retry" in rest and "backoff" in rest:
            return "retry"
    return ""


@dataclasses.dataclass
class _Pending:
    """What the next record gets. line: of the first of these directives; 0 for none."""

    conditions: Conditions = ()
    connection: str = ""
    line: int = 0


class _Reader:
    """Reads one file."""

    def __init__(self, lines: Lines, including: Including) -> None:
        self.lines = lines
        self._including = including
        self._pending = _Pending()

    def nodes(self) -> list[Node]:
        """Everything that the file says."""
        found: list[Node] = []
        while not self.lines.over:
            line = self.lines.next()
            words = line.split()
            if not words or line.startswith("#"):
                continue
            node = self._node(words, line)
            if node is not None:
                found.append(node)
        if self._pending.line:
            raise self.lines.error("this stands before nothing", line=self._pending.line)
        return found

    def _node(self, words: list[str], line: str) -> Node | None:
        """The node that the directive begins; None for one that the next record keeps."""
        match words[0]:
            case "skipif" | "onlyif" | "connection":
                self._before(words)
                return None
            case "statement":
                return self._statement(words)
            case "query":
                return self._query(words)
            case "let":
                return self._let(words)
            case "system":
                return self._system(words)
        if words[0] not in DIRECTIVES:
            raise self.lines.error(f"unknown directive {words[0]!r}", *DIRECTIVES)
        if self._pending.line:
            raise self.lines.error(
                f"this must stand before a record, and {words[0]!r} is none",
                line=self._pending.line,
            )
        return self._setting(words)

    def _before(self, words: list[str]) -> None:
        """Keep a condition or connection for the next record."""
        if len(words) != 2:
            raise self.lines.error(f"{words[0]} takes one name")
        pending = self._pending
        pending.line = pending.line or self.lines.at
        if words[0] != "connection":
            pending.conditions += ((words[0], words[1].lower()),)
        else:
            pending.connection = "" if words[1] == "default" else words[1]

    def _taken(self) -> _Pending:
        taken, self._pending = self._pending, _Pending()
        return taken

    def _setting(self, words: list[str]) -> Node:
        """A directive of one line that is no record."""
        place = self.lines.place()
        match words:
            case ["control", name, value] if value in CONTROLS.get(name, ()):
                return Control(place, name, value)
            case ["control", name, *_]:
                raise self.lines.error(
                    f"unknown {' '.join(words)!r}", *CONTROLS.get(name, CONTROLS)
                )
            case ["include", pattern]:
                found: list[Node] = []
                for lines, including in self._including.files(self.lines, pattern):
                    found += _Reader(lines, including).nodes()
                return Include(place, pattern, tuple(found))
            case ["sleep", duration]:
                return Sleep(place, self._seconds(duration))
            case ["subtest", name]:
                return Subtest(place, name)
            case ["halt"]:
                return Halt(place)
            case ["hash-threshold", number] if number.isdecimal():
                return HashThreshold(place, whole(number))
            case _:
                raise self.lines.error(f"{' '.join(words)!r} is not understood")

    # Records.

    def _statement(self, words: list[str]) -> Statement:
        place = self.lines.place()
        expects: Succeeds | Fails
        retry: Retry | None = None
        match words[1:]:
            case ["ok", *rest]:
                expects, retry = Succeeds(), self._retry(rest)
            case ["count", number, *rest] if number.isdecimal():
                expects, retry = Succeeds(whole(number)), self._retry(rest)
            case ["error", *rest]:
                expects, retry = self._error(rest)
            case _:
                raise self.lines.error(f"{' '.join(words)!r}", "ok", "error", "count N")
        sql, ruled = self._sql("statement")
        if ruled:
            expects = self._message(expects, "a statement has no results: `query` has")
        if expects == Fails() and self.lines.cut and not sql.endswith(";"):
            # Half a statement is an error, too, so this one would pass whatever the engine does.
            problem = "the file may end within this statement: it has no line end there"
            raise self.lines.error(problem, line=place.line)
        taken = self._taken()
        return Statement(place, taken.conditions, taken.connection, retry, sql, expects)

    def _query(self, words: list[str]) -> Query:
        place = self.lines.place()
        types, sort, label, retry = "", "", "", None
        names: tuple[str, ...] = ()
        expects: Returns | Fails = Returns(())
        if words[1:2] == ["error"]:
            expects, retry = self._error(words[2:])
        elif len(words) > 1:
            types, names = self._types(words[1])
            rest = words[2:]
            if rest and rest[0] in SORTS:
                sort, rest = rest[0], rest[1:]
            if rest and rest[0] != "retry":
                label, rest = rest[0], rest[1:]
                if label.endswith("sort"):
                    raise self.lines.error(f"unknown sort method {label!r}", *SORTS)
            retry = self._retry(rest)
        sql, ruled = self._sql("query")
        if ruled and isinstance(expects, Fails):
            expects = self._message(expects, "")
        elif ruled:
            expects = Returns(tuple(self._unglued(self.lines.results())))
        taken = self._taken()
        return Query(
            *(place, taken.conditions, taken.connection, retry, sql),
            *(types, sort, label, expects, names),
        )

    def _let(self, words: list[str]) -> Let:
        place = self.lines.place()
        names = tuple(n for name in " ".join(words[1:]).split(",") if (n := name.strip()))
        if not names:
            raise self.lines.error("let names no variable")
        for name in names:
            if not _NAME.fullmatch(name):
                raise self.lines.error(f"{name!r} is no name of a variable")
        sql, ruled = self._sql("let")
        if ruled:
            raise self.lines.error("let has no results", line=place.line)
        taken = self._taken()
        return Let(place, taken.conditions, taken.connection, None, names, sql)

    def _system(self, words: list[str]) -> System:
        place = self.lines.place()
        if words[1:2] != ["ok"]:
            raise self.lines.error(f"{' '.join(words)!r}", "system ok")
        retry = self._retry(words[2:])
        if self._pending.connection:
            raise self.lines.error("system runs on no connection", line=self._pending.line)
        command, ruled = self._sql("system")
        stdout = "\n".join(self._unglued(self.lines.message())).strip() if ruled else None
        return System(place, self._taken().conditions, "", retry, command, stdout)

    def _sql(self, what: str) -> tuple[str, bool]:
        """The text below a directive, and whether `----` follows it."""
        place = self.lines.place()
        body, ruled = self.lines.body()
        if not any(line.strip() for line in body):
            raise self.lines.error(f"this {what} is cut off: nothing follows it", line=place.line)
        self._unglued(body)
        return "\n".join(body), ruled

    def _unglued(self, body: list[str]) -> list[str]:
        """The lines, if none is a directive, which would be a test that is never run."""
        for number, line in enumerate(body, self.lines.began):
            if _GLUED.fullmatch(line):
                problem = f"{line.strip()!r} stands in a record: no empty line before it"
                raise self.lines.error(problem, line=number)
        return body

    def _error(self, words: list[str]) -> tuple[Fails, Retry | None]:
        """What stands behind `error`."""
        if len(words) == 4 and (words[0], words[2]) == ("retry", "backoff"):
            return Fails(), self._retry(words)
        text = " ".join(words)
        state = _STATE.fullmatch(text)
        if state:
            return Fails(state=state[1]), None
        if text and (problem := pattern_of(text)[1]):
            raise self.lines.error(f"{text!r} is no regular expression: {problem}")
        return Fails(pattern=text), None

    def _message(self, expects: Succeeds | Fails, problem: str) -> Fails:
        """The whole message under `----`."""
        at = self.lines.at
        if isinstance(expects, Succeeds):
            raise self.lines.error(problem, line=at)
        if expects != Fails():
            raise self.lines.error("an error is expected twice: behind `error` and below `----`")
        return Fails(message="\n".join(self._unglued(self.lines.message())).strip())

    def _types(self, word: str) -> tuple[str, tuple[str, ...]]:
        """The letters of the column types, and the columns' names where they have some."""
        if ":" not in word:  # any letter is a type there, so `query rowsort` has seven columns
            return word, ()
        named = [_NAMED.fullmatch(part) for part in word.split(",")]
        if not all(named):
            raise self.lines.error(f"column types {word!r}", "letters", "?", "NAME:LETTER,…")
        pairs = [(match[1], match[2]) for match in named if match]
        return "".join(kind for _, kind in pairs), tuple(name for name, _ in pairs)

    def _retry(self, words: list[str]) -> Retry | None:
        match words:
            case []:
                return None
            case ["retry", number, "backoff", duration] if number.isdecimal() and whole(number):
                return Retry(whole(number), self._seconds(duration))
            case _:
                possible = "retry N backoff DURATION"
                raise self.lines.error(f"{' '.join(words)!r} is not understood", possible)

    def _seconds(self, duration: str) -> float:
        seconds = seconds_of(duration)
        if seconds is None:
            raise self.lines.error(f"{duration!r} is no duration", "500ms", "5s", "1m30s")
        return seconds
