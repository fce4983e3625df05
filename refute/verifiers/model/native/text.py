"""C text in the making: lines, temporaries, constant tables, and the types that forms become.

Nothing of the user's reaches the text: variables, locals and types are numbered, and constants are
numbers. A statement that fails leaves the function: `RAISED` when Python would raise, `LIMIT` when
the native engine cannot go on and the plain engine has to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from refute.frozen import frozen
from refute.specs.machine import types as t
from refute.verifiers.model.native.forms import form

RAISED = "return RAISED;"
LIMIT = "return LIMIT;"
_SIMPLE = re.compile(r"[A-Za-z_]\w*\Z|-?\d+\Z|[a-z]\w*\.f\d+\Z")


@frozen
class Place:
    """Bits of a packed state: the array of words, and C expressions of the word and the bit."""

    array: str
    word: str
    bit: str

    def shifted(self, offset: int) -> Place:
        """The place so many bits further."""
        return Place(self.array, plus(self.word, offset // 64), plus(self.bit, offset % 64))

    def element(self, count: int, width: int, index: str) -> Place:
        """An element of an array that begins here; see `layout.element_offset`."""
        if index.isdigit() and width * count <= 64:
            return self.shifted(int(index) * width)
        if count * width <= 64:
            return Place(self.array, self.word, f"{self.bit} + {index} * {width}")
        if width <= 64:
            per = 64 // width
            return Place(self.array, f"{self.word} + {index} / {per}", f"{index} % {per} * {width}")
        return Place(self.array, f"{self.word} + {index} * {-(-width // 64)}", "0")


def plus(text: str, number: int) -> str:
    """`text + number`, folded when both are numbers."""
    if text.isdigit():
        return str(int(text) + number)
    return f"{text} + {number}" if number else text


@frozen
class Val:
    """A value: C text of its form, or a place it lies at, or the parts of a tuple or record."""

    type: t.Type
    text: str = ""
    place: Place | None = None
    parts: tuple[Val, ...] | None = None


class Text:
    """Lines of one C program."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.prelude: list[str] = []
        self._names: dict[object, str] = {}
        self._fresh = 0

    def put(self, line: str) -> None:
        """Append one line."""
        self.lines.append(line)

    def fresh(self, letter: str) -> str:
        """A name not used before."""
        self._fresh += 1
        return f"{letter}{self._fresh}"

    def temp(self, kind: str, text: str) -> str:
        """A new variable of a C type that holds the expression."""
        name = self.fresh("x")
        self.put(f"{kind} {name} = {text};")
        return name

    def simple(self, kind: t.Type, text: str) -> str:
        """The text, or a temporary for it, so that it may be written more than once."""
        return text if _SIMPLE.match(text) else self.temp(self.ctype(kind), text)

    def variable(self, kind: t.Type) -> str:
        """A new variable without a value."""
        name = self.fresh("x")
        self.put(f"{self.ctype(kind)} {name};")
        return name

    def captured(self, work: Callable[[], str]) -> tuple[list[str], str]:
        """What the work gives, and the lines it put, taken out of the text."""
        outer, self.lines = self.lines, []
        try:
            found = work()
            return self.lines, found
        finally:
            self.lines = outer

    def ctype(self, kind: t.Type) -> str:
        """The C type of a form."""
        made = form(kind)
        if made.kind in ("int", "code"):
            return "L"
        if made.kind == "set":
            return "U" if made.count <= 64 else self._once(f"U w[{-(-made.count // 64)}];")
        if made.kind == "map":
            return self._once(f"{self.ctype(made.parts[0])} v[{max(made.count, 1)}];")
        if made.kind in ("seq", "bunch"):
            return self._once(f"L n; {self.ctype(made.parts[0])} v[{max(made.count, 1)}];")
        fields = "".join(f" {self.ctype(p)} f{at};" for at, p in enumerate(made.parts))
        return self._once(("L tag;" if made.kind == "union" else "") + fields)

    def _once(self, fields: str) -> str:
        return self.declared("S", ("struct", fields), f"typedef struct {{{fields}}} %s;")

    def declared(self, letter: str, key: object, line: str) -> str:
        """The name of something at file level; `line` has %s for it. Equal keys share one."""
        if key not in self._names:
            self._names[key] = self.fresh(letter)
            self.prelude.append(line % self._names[key])
        return self._names[key]

    def table(self, kind: str, values: Sequence[str], index: str) -> str:
        """The entry of a constant table; short tables of a plain pattern become arithmetic."""
        if not values:
            return "0"
        if kind == "L":
            first, last = int(values[0]), int(values[-1])
            if all(int(v) == first for v in values):
                return str(first)
            if last - first == len(values) - 1 and _counting(values):
                return f"({index} + {first})" if first else index
        elem = "int32_t" if kind == "L" and all(abs(int(v)) < 2**31 for v in values) else kind
        body = ", ".join(values)
        name = self.declared("c", (elem, body), f"static const {elem} %s[] = {{{body}}};")
        found = f"{name}[{index}]"
        return f"(L){found}" if elem == "int32_t" else found


def _counting(values: Sequence[str]) -> bool:
    first = int(values[0])
    return all(int(v) == first + at for at, v in enumerate(values))
