"""Reader of DuckDB's sqllogictest dialect.

Written after DuckDB's own parser (test/sqlite/sqllogic_parser.cpp and sqllogic_test_runner.cpp):
a record ends at an empty line, its SQL also at a line that begins with `#`; a directive of one line
is followed by an empty line or a comment. Where that parser drops or misreads something in silence
(words left over, a comment between SQL and result, a loop over no values), this one refuses the
line: a test that is not run must not look like one that passed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from refute.oracles.sqllogictest.extended.duckdb_directives import INTEGER, Directives
from refute.oracles.sqllogictest.extended.duckdb_nodes import (
    SKIPPED,
    Continue,
    Guarded,
    Tags,
    comparison,
)
from refute.oracles.sqllogictest.extended.program import (
    Either,
    Fails,
    Halt,
    Include,
    Node,
    Place,
    Program,
    Query,
    Returns,
    Sign,
    Statement,
    Succeeds,
)
from refute.oracles.sqllogictest.reader import Conditions, decoded, refuse

NAME = "duckdb"
RULE = "----"
SORTS = {
    "nosort": "nosort",
    "none": "nosort",
    "rowsort": "rowsort",
    "sort": "rowsort",
    "valuesort": "valuesort",
}
DEPTH = 16  # of files that include files

_GLUED = re.compile(
    r"statement\s+(?:ok|error|maybe)(?:\s+\w+)?\s*|query\s+[TIR]+(?:\s+\w+){0,2}\s*"
)
_ONLY_HERE = re.compile(
    r"(loop|foreach|concurrentloop|concurrentforeach|endloop|require|require-env|test-env|load"
    r"|restart|reconnect|mode|unzip|tags|reset|set|continue|statement\s+(?:maybe|debug|debug_skip))"
    r"(?:\s|$)"
)
_HEADER = re.compile(r"#\s*(name|group):\s*(\S.*?)\s*$")


def read(data: bytes, path: str) -> Program:
    """The file as a program. Raises UnreadableInput with file and line."""
    reader = _Reader(path, _lines(data, path), root_of(data, path), 0)
    nodes = tuple(reader.nodes())
    tags = [*(node.words for node in nodes if isinstance(node, Tags)), *_tags_of_name(path)]
    words = tuple(word for tag in tags for word in tag)
    return Program(path, NAME, nodes, reads=tuple(reader.reads.items()), tags=words)


def signs(data: bytes) -> list[Sign]:
    """Lines that only this dialect has: its directives, and the header that its files begin with.

    A directive is looked for after an empty line or a comment, as the words also occur in SQL.
    """
    found, free = [], True
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        header = _HEADER.match(line) if line.startswith("#") else None
        if header and (header[1] == "group") == header[2].startswith("["):
            found.append(Sign(number, f"# {header[1]}:"))
        match = _ONLY_HERE.match(line) if free else None
        if match:
            found.append(Sign(number, match[1]))
        free = not line.strip() or line.startswith("#")
    return found


def root_of(data: bytes, path: str) -> str:
    """The folder that paths in the file start from: where its header's name begins, else here."""
    for line in data[:2000].decode("utf-8", "replace").split("\n"):
        header = _HEADER.match(line)
        if header and header[1] == "name":
            whole = Path(path).absolute().as_posix()
            if whole.endswith(f"/{header[2]}"):
                return whole[: -len(header[2])]
    return ""


def _tags_of_name(path: str) -> Iterator[tuple[str, ...]]:
    """The tags that a file has by its name, as in DuckDB's runner."""
    for ending in ("slow", "coverage"):
        if path.endswith(f".test_{ending}"):
            yield (ending,)


def _lines(data: bytes, path: str) -> list[str]:
    return decoded(data, path).replace("\r", "").split("\n")


class _Reader(Directives):
    """One file. root: the folder of the paths in it. depth: of files that include it."""

    def __init__(self, path: str, lines: list[str], root: str, depth: int) -> None:
        super().__init__(path, lines, root, depth)
        self.out: list[Node] = []
        self.reads: dict[str, str] = {}  # SHA-256 of each file that is included, by path
        self.directives = self.one_line() | {"include": self._include}

    def nodes(self) -> list[Node]:
        """Everything in the file, in order."""
        while self.at < len(self.lines):
            if self._free(self.at):
                self.at += 1
            else:
                self._block()
        if self.loops:
            refuse(self.path, self.loops[-1].place.line, "this loop has no endloop")
        return self.out

    def _free(self, at: int) -> bool:
        """Whether a line is empty, a comment, or behind the last one."""
        return at >= len(self.lines) or not self.lines[at] or self.lines[at][0] == "#"

    def _block(self) -> None:
        """A record or a directive, with the conditions before it."""
        words = self.words()
        conditions: Conditions = ()
        while words[0] in ("skipif", "onlyif"):
            conditions += self._condition(words)
            self.at += 1
            if self._free(self.at):
                self.at -= 1
                self.refuse(f"{words[0]} stands before nothing")
            words = self.words()
        place = Place(self.path, self.at + 1)
        if self.skipping:
            conditions += ((SKIPPED, self.skipping[-1]),)
        if words[0] == "statement":
            self.add(self._statement(place, conditions, words[1:]))
        elif words[0] == "query":
            self.add(self._query(place, conditions, words[1:]))
        elif words[0] in self.directives:
            self._directive(place, conditions, words)
        else:
            known = ("statement", "query", "skipif", "onlyif", *self.directives)
            self.refuse(f"unknown directive {words[0]!r}", *known)

    def add(self, node: Node) -> None:
        """Put a node into the innermost loop, or behind those so far."""
        (self.loops[-1].body if self.loops else self.out).append(node)

    def _directive(self, place: Place, conditions: Conditions, words: list[str]) -> None:
        """A directive of one line; one that is skipped changes nothing."""
        if not self._free(self.at + 1):
            self.at += 1
            self.refuse(f"an empty line must follow {words[0]!r}")
        if self.skipping and words[0] != "mode":
            self.at += 1
            return
        if words[0] == "continue" and not self.loops:
            self.refuse("continue stands outside of a loop")
        node = self.directives[words[0]](place, words[1:])
        self.at += 1
        if not conditions or words[0] == "mode":
            if node is not None:
                self.add(node)
            return
        if isinstance(node, (Halt, Continue)):
            self.add(type(node)(place, conditions))
        elif node is None:
            refuse(self.path, place.line, f"{words[0]} cannot stand behind a condition")
        elif any(comparison(who) for _, who in conditions):
            problem = f"a condition on a loop cannot stand before {words[0]}"
            refuse(self.path, place.line, problem, "statement", "query", "continue")
        else:
            self.add(Guarded(place, conditions, node))

    def _condition(self, words: list[str]) -> Conditions:
        """`skipif` or `onlyif`, for an engine or for values of loops."""
        if len(words) != 2:
            self.refuse(f"{words[0]} takes one word: an engine's name, or a condition such as i>2")
        found: Conditions = ()
        for text in words[1].lower().split("&&"):
            found += ((words[0], text),)
            asked = comparison(text)
            if asked is None:
                continue
            if asked.name not in [loop.name.lower() for loop in self.loops]:
                self.refuse(f"{asked.name!r} is no loop around this", *[x.name for x in self.loops])
            if asked.operator not in ("=", "<>") and not INTEGER.fullmatch(asked.value):
                self.refuse(f"{asked.operator} compares numbers, not {asked.value!r}")
        return found

    # Records.

    def _sql(self, what: str) -> str:
        """The lines up to the result, a comment or an empty line."""
        self.at += 1
        start = self.at
        while not self._free(self.at) and self.lines[self.at] != RULE:
            if _GLUED.fullmatch(self.lines[self.at]):
                self.refuse("a directive inside of a record: no empty line before it")
            self.at += 1
        if start == self.at:
            self.at -= 1
            self.refuse(f"a {what} without SQL")
        return "\n".join(self.lines[start : self.at])

    def _listed(self) -> tuple[str, ...] | None:
        """The lines behind `----`, up to an empty one; None without it."""
        if self.at >= len(self.lines) or self.lines[self.at] != RULE:
            return None
        self.at += 1
        start = self.at
        while self.at < len(self.lines) and self.lines[self.at]:
            self.at += 1
        return tuple(self.lines[start : self.at])

    def _statement(self, place: Place, conditions: Conditions, words: list[str]) -> Statement:
        self.tested = True
        kinds = ("ok", "error", "maybe", "debug", "debug_skip")
        if not words or words[0] not in kinds:
            self.refuse(f"statement {words[0] if words else '(nothing)'}", *kinds)
        self.most("statement", words, 2)
        sql = self._sql("statement")
        lines = self._listed()
        message = "\n".join(lines or ())
        if lines is not None and words[0] in ("ok", "debug", "debug_skip"):
            refuse(self.path, place.line, f"statement {words[0]} with an expected error", "error")
        if words[0] == "error" and not message and self.at == len(self.lines) and sql[-1] != ";":
            # Half a statement is an error, too, so this one would pass whatever the engine does.
            problem = "the file may end within this statement: it has no line end there"
            refuse(self.path, place.line, problem)
        expects: Succeeds | Fails | Either = Succeeds()
        if words[0] == "error":
            expects = Fails(part=message)
        elif words[0] != "ok":
            expects = Either(Fails(part=message))
        if words[0] == "debug_skip":
            self.skipping.append("statement debug_skip")
        connection = words[1] if len(words) > 1 else ""
        return Statement(place, conditions, connection, sql=sql, expects=expects)

    def _query(self, place: Place, conditions: Conditions, words: list[str]) -> Query:
        self.tested = True
        if not words or words[0].strip("TIR"):
            self.refuse(f"column types {words[0] if words else '(none)'!r}", "T", "I", "R")
        self.most("query", words, 3)
        sort = connection = ""
        if len(words) > 1:
            sort = SORTS.get(words[1], "")
            connection = "" if sort else words[1]
        label = words[2] if len(words) > 2 else ""
        sql = self._sql("query")
        lines = self._listed()
        if lines is None and self.at < len(self.lines) and self.lines[self.at]:
            self.refuse("a comment between a query and its result")
        wanted = None if label and not lines else lines or ()
        if wanted and any(_GLUED.fullmatch(line) for line in wanted):
            refuse(self.path, place.line, "a directive among the values: no empty line before it")
        return Query(
            place,
            conditions,
            connection,
            sql=sql,
            types=words[0],
            sort=sort or "nosort",
            label=label,
            expects=Returns(wanted),
        )

    def _include(self, place: Place, words: list[str]) -> Node:
        """The nodes of another file, whose path starts from the root, or is beside this file."""
        self.most("include", words, 1, 1)
        beside = Path(self.path).parent
        for folder in (Path(self.root), Path(), beside):
            path = folder / words[0]
            if path.is_file():
                break
        else:
            self.refuse(f"there is no file {words[0]!r}")
        if self.depth >= DEPTH:
            self.refuse(f"files include each other more than {DEPTH} deep")
        try:
            data = path.read_bytes()
        except OSError as error:
            self.refuse(f"{words[0]} cannot be read: {error.strerror or error}")
            raise
        inner = _Reader(str(path), _lines(data, str(path)), self.root, self.depth + 1)
        nodes = tuple(inner.nodes())
        self.reads |= {str(path): hashlib.sha256(data).hexdigest()} | inner.reads
        return Include(place, words[0], nodes)
