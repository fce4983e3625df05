"""Directives of DuckDB's sqllogictest dialect that stand on one line: what their words mean."""

from __future__ import annotations

import abc
import re
from collections.abc import Callable

from refute.oracles.sqllogictest.extended.duckdb_lists import LISTS, expanded
from refute.oracles.sqllogictest.extended.duckdb_nodes import (
    Continue,
    Each,
    Load,
    Messages,
    Reconnect,
    Require,
    RequireEnvironment,
    ResetLabel,
    Restart,
    Seed,
    Tags,
    TestEnvironment,
    Unzip,
    Variable,
)
from refute.oracles.sqllogictest.extended.program import (
    Control,
    Halt,
    HashThreshold,
    Node,
    Place,
    Sleep,
)
from refute.oracles.sqllogictest.reader import refuse
from refute.oracles.sqllogictest.render import whole

MODES = ("skip", "unskip", "output_hash", "output_result", "no_output", "debug")
INTEGER = re.compile(r"[+-]?\d{1,18}")
_UNITS = {
    **dict.fromkeys(("second", "seconds", "sec"), 1.0),
    **dict.fromkeys(("millisecond", "milliseconds", "milli"), 1e-3),
    **dict.fromkeys(("microsecond", "microseconds", "micro"), 1e-6),
    **dict.fromkeys(("nanosecond", "nanoseconds", "nano"), 1e-9),
}


class OpenLoop:
    """A loop that is being read: what it is, and its body so far."""

    def __init__(self, place: Place, name: str, values: tuple[str, ...], parallel: bool) -> None:
        self.place, self.name, self.values, self.parallel = place, name, values, parallel
        self.body: list[Node] = []

    def node(self) -> Each:
        """The whole loop."""
        return Each(self.place, self.name, self.values, tuple(self.body), self.parallel)


class Directives(abc.ABC):
    """A file that is read, line by line. at: index of the line; depth: of files that include it."""

    def __init__(self, path: str, lines: list[str], root: str, depth: int) -> None:
        self.path, self.lines, self.root, self.depth = path, lines, root, depth
        self.at = 0
        self.loops: list[OpenLoop] = []
        self.skipping: list[str] = []  # reasons
        self.tagged = self.tested = False

    def one_line(self) -> dict[str, Callable[[Place, list[str]], Node | None]]:
        """What reads each directive from its place and the words behind it."""
        return {
            "hash-threshold": self._threshold,
            "halt": self._halt,
            "mode": self._mode,
            "set": self._set,
            "reset": self._reset,
            "loop": self._loop,
            "concurrentloop": self._loop,
            "foreach": self._foreach,
            "concurrentforeach": self._foreach,
            "endloop": self._endloop,
            "require": self._require,
            "require-env": self._require_env,
            "test-env": self._test_env,
            "load": self._load,
            "restart": self._restart,
            "reconnect": self._reconnect,
            "sleep": self._sleep,
            "unzip": self._unzip,
            "tags": self._tags,
            "continue": self._continue,
        }

    @abc.abstractmethod
    def add(self, node: Node) -> None:
        """Put a node where it belongs."""

    def refuse(self, problem: str, *possible: str) -> None:
        """Raise UnreadableInput for the line that is read."""
        refuse(self.path, self.at + 1, problem, *possible)

    def words(self) -> list[str]:
        """Those of the line that is read."""
        words = self.lines[self.at].split()
        if not words:
            self.refuse("a line of white space alone where a directive should be")
        return words

    def most(self, what: str, words: list[str], number: int, least: int = 0) -> None:
        """Refuse more words than `number`, or fewer than `least`."""
        if len(words) > number:
            self.refuse(f"{words[number]!r} is not understood after {what!r}")
        if len(words) < least:
            self.refuse(f"{what} takes {least} word{'s' if least > 1 else ''}, here {len(words)}")

    def _threshold(self, place: Place, words: list[str]) -> Node:
        self.most("hash-threshold", words, 1, 1)
        if not words[0].isdecimal():
            self.refuse("hash-threshold takes a number of values")
        return HashThreshold(place, whole(words[0]))

    def _halt(self, place: Place, words: list[str]) -> Node:
        self.most("halt", words, 0)
        if self.loops:
            self.refuse("halt stands in a loop")
        return Halt(place)

    def _mode(self, place: Place, words: list[str]) -> Node | None:
        if not words or words[0] not in MODES:
            self.refuse(f"mode {words[0] if words else '(nothing)'}", *MODES)
        if words[0] == "skip":
            self.skipping.append(" ".join(["mode", *words]))
            return None
        self.most("mode", words, 1)
        if words[0] == "unskip":
            if not self.skipping:
                self.refuse("mode unskip without mode skip before it")
            self.skipping.pop()
            return None
        return None if self.skipping else Control(place, "mode", words[0])

    def _set(self, place: Place, words: list[str]) -> Node:
        kinds = ("ignore_error_messages", "always_fail_error_messages", "seed", "variable")
        if not words or words[0] not in kinds:
            self.refuse(f"set {words[0] if words else '(nothing)'}", *kinds)
        if words[0] == "seed":
            self.most("set seed", words[1:], 1, 1)
            try:
                float(words[1])
            except ValueError:
                self.refuse("set seed takes a number")
            return Seed(place, words[1])
        if words[0] == "variable":
            self.most("set variable", words[1:], 2, 2)
            return Variable(place, words[1], words[2])
        parts = [part.strip() for part in " ".join(words[1:]).split(",")]
        return Messages(place, words[0] == kinds[0], tuple(filter(None, parts)))

    def _reset(self, place: Place, words: list[str]) -> Node:
        self.most("reset", words, 2, 2)
        if words[0].lower() != "label":
            self.refuse(f"reset {words[0]}", "label")
        return ResetLabel(place, words[1])

    def _loop(self, place: Place, words: list[str]) -> None:
        kind = self.words()[0]
        self.most(kind, words, 3, 3)
        if not all(map(INTEGER.fullmatch, words[1:])):
            self.refuse(f"{kind} takes a name and two whole numbers, as in {kind} i 0 10")
        start, end = int(words[1]), int(words[2])
        if start >= end:
            # DuckDB's runner goes round once there, with the first number.
            self.refuse(f"a loop from {start} to {end} has no values")
        values = tuple(map(str, range(start, end)))
        self.loops.append(OpenLoop(place, words[0], values, kind == "concurrentloop"))

    def _foreach(self, place: Place, words: list[str]) -> None:
        kind = self.words()[0]
        if len(words) < 2:
            self.refuse(f"{kind} takes a name and values, as in {kind} type integer varchar")
        values = expanded(words[1:])
        if not values:
            self.refuse("a loop over no values")
        names = words[0].count(",") + 1
        for value in values:
            known = value.lower() in LISTS or value.startswith("<variable:")
            if value.startswith("<") and value.endswith(">") and not known:
                self.refuse(f"there is no list {value}", *LISTS, "<variable:name>")
            if names > 1 and not known and value.count(",") + 1 != names:
                self.refuse(f"{names} names, but {value.count(',') + 1} values in {value!r}")
        self.loops.append(OpenLoop(place, words[0], values, kind == "concurrentforeach"))

    def _endloop(self, place: Place, words: list[str]) -> None:
        self.most("endloop", words, 0)
        if not self.loops:
            self.refuse("endloop without a loop before it")
        self.add(self.loops.pop().node())

    def _continue(self, place: Place, words: list[str]) -> Node:
        self.most("continue", words, 0)
        return Continue(place)

    def _require(self, place: Place, words: list[str]) -> Node:
        if not words:
            self.refuse("require takes the name of an extension or of a property")
        return Require(place, tuple(words))

    def _require_env(self, place: Place, words: list[str]) -> Node:
        self.most("require-env", words, 2, 1)
        self._not_in_loop("require-env")
        return RequireEnvironment(place, words[0], words[1] if len(words) > 1 else None)

    def _test_env(self, place: Place, words: list[str]) -> Node:
        self.most("test-env", words, 2, 2)
        self._not_in_loop("test-env")
        return TestEnvironment(place, words[0], words[1])

    def _not_in_loop(self, what: str) -> None:
        if self.loops:
            self.refuse(f"{what} stands in a loop")

    def _load(self, place: Place, words: list[str]) -> Node:
        self.most("load", words, 3)
        access = words[1].lower() if len(words) > 1 else "readwrite"
        if access not in ("readonly", "readwrite"):
            self.refuse(f"load … {words[1]}", "readonly", "readwrite")
        version = words[2] if len(words) > 2 else ""
        return Load(place, words[0] if words else "", access == "readonly", version)

    def _restart(self, place: Place, words: list[str]) -> Node:
        self.most("restart", words, 1)
        if words and words[0] != "no_extension_load":
            self.refuse(f"restart {words[0]}", "no_extension_load")
        return Restart(place, not words)

    def _reconnect(self, place: Place, words: list[str]) -> Node:
        self.most("reconnect", words, 0)
        return Reconnect(place)

    def _sleep(self, place: Place, words: list[str]) -> Node:
        self.most("sleep", words, 2, 2)
        if not words[0].isdecimal() or words[1] not in _UNITS:
            self.refuse("sleep takes a number and a unit", *_UNITS)
        return Sleep(place, whole(words[0]) * _UNITS[words[1]])

    def _unzip(self, place: Place, words: list[str]) -> Node:
        self.most("unzip", words, 2, 1)
        if not words[0].endswith(".gz"):
            self.refuse(f"unzip takes a file that ends with .gz, not {words[0]!r}")
        target = words[1] if len(words) > 1 and words[1] != "NULL" else ""
        return Unzip(place, words[0], target)

    def _tags(self, place: Place, words: list[str]) -> Node:
        if self.tagged or self.tested:
            self.refuse("tags stands once in a file, before its records")
        if not words:
            self.refuse("tags takes words")
        self.tagged = True
        return Tags(place, tuple(words))
