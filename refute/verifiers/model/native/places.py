"""Loads from and stores into packed states, and bit sets."""

from __future__ import annotations

from refute.specs.machine import types as t
from refute.verifiers.model.native.forms import form, parts_of
from refute.verifiers.model.native.layout import (
    arrange,
    array_width,
    base_of,
    union_fields,
    width_of,
)
from refute.verifiers.model.native.text import LIMIT, Place, Text


def mask(width: int) -> str:
    """A C constant with so many low bits set."""
    return f"{2**width - 1}ull"


class Places(Text):
    """Text that reads and writes packed bits."""

    def bits(self, place: Place, width: int) -> str:
        """The bits of a field of at most 64, as U."""
        if width == 0:
            return "0ull"
        word = f"{place.array}[{place.word}]"
        found = word if place.bit == "0" else f"({word} >> ({place.bit}))"
        return f"({found} & {mask(width)})" if width < 64 else found

    def put_bits(self, place: Place, width: int, text: str) -> None:
        """Write a field of at most 64 bits; the text fits into it."""
        if width == 0:
            return
        word = f"{place.array}[{place.word}]"
        if width == 64:
            self.put(f"{word} = {text};")
            return
        at = "" if place.bit == "0" else f" << ({place.bit})"
        self.put(f"{word} = ({word} & ~({mask(width)}{at})) | ((U)({text}){at});")

    def clear(self, place: Place, width: int) -> None:
        """Write zeros over a field of any width."""
        for offset in range(0, width, 64):
            self.put_bits(place.shifted(offset), min(64, width - offset), "0")

    def offsets(self, kind: t.Type) -> tuple[int, ...]:
        """Where the fields of a struct begin, or the length and elements of a sequence."""
        made = form(kind)
        if made.kind in ("seq", "bunch"):
            elements = array_width(made.packed, width_of(made.parts[0]))
            return arrange((made.packed.bit_length(), elements))[0]
        return arrange([width_of(p) for p in parts_of(kind)])[0]

    def length(self, place: Place, kind: t.Type) -> str:
        """How many elements a packed sequence or sorted array has."""
        return f"(L){self.bits(place, form(kind).packed.bit_length())}"

    def item_place(self, place: Place, kind: t.Type, index: str) -> Place:
        """The place of an entry of a packed map or an element of a packed sequence."""
        made = form(kind)
        if made.kind == "map":
            return place.element(made.count, width_of(made.parts[0]), index)
        start = place.shifted(self.offsets(kind)[1])
        return start.element(made.packed, width_of(made.parts[0]), index)

    def load(self, place: Place, kind: t.Type) -> str:
        """The value at a place."""
        made, width = form(kind), width_of(kind)
        if made.kind == "code":
            return f"(L){self.bits(place, width)}"
        if isinstance(kind, t.Int):
            base = base_of(kind)
            return (
                f"((L){self.bits(place, width)} + {base})"
                if base
                else (f"(L){self.bits(place, width)}")
            )
        if made.kind == "set" and made.count <= 64:
            return self.bits(place, width)
        result = self.variable(kind)
        if made.kind == "set":
            for word in range(-(-made.count // 64)):
                part = self.bits(place.shifted(64 * word), min(64, made.count - 64 * word))
                self.put(f"{result}.w[{word}] = {part};")
        elif made.kind in ("map", "seq", "bunch"):
            count = str(made.count)
            if made.kind != "map":
                self.put(f"{result}.n = {self.length(place, kind)};")
                count = f"{result}.n"
            index = self.fresh("i")
            self.put(f"for (L {index} = 0; {index} < {count}; {index}++) {{")
            item = self.load(self.item_place(place, kind, index), made.parts[0])
            self.put(f"{result}.v[{index}] = {item};")
            self.put("}")
        elif made.kind == "struct":
            for at, (inner, offset) in enumerate(zip(made.parts, self.offsets(kind), strict=True)):
                self.put(f"{result}.f{at} = {self.load(place.shifted(offset), inner)};")
        else:
            self._load_union(result, place, kind)
        return result

    def _load_union(self, result: str, place: Place, kind: t.Type) -> None:
        self.put(f"{result}.tag = (L){self.bits(place, union_fields(kind, 0)[0])};")
        self.put(f"switch ({result}.tag) {{")
        for at, part in enumerate(parts_of(kind)):
            start = arrange(union_fields(kind, at))[0][1]
            self.put(f"case {at}: {{")
            self.put(f"{result}.f{at} = {self.load(place.shifted(start), part)};")
            self.put("break; }")
        self.put("}")

    def store(self, place: Place, kind: t.Type, text: str) -> None:
        """Write a value of the type."""
        made, width = form(kind), width_of(kind)
        if made.kind == "code":
            self.put_bits(place, width, text)
        elif isinstance(kind, t.Int):
            self._store_int(place, kind, text)
        elif made.kind == "set" and made.count <= 64:
            self.put_bits(place, width, text)
        else:
            self._store_large(place, kind, self.simple(kind, text))

    def _store_int(self, place: Place, kind: t.Int, text: str) -> None:
        base, width = base_of(kind), width_of(kind)
        if kind.lo is None or kind.hi is None:
            text = self.temp("U", f"(U)({text}) - (U){base}ll")
            self.put(f"if ({text} >> {width}) {LIMIT}")
            self.put_bits(place, width, text)
        else:
            self.put_bits(place, width, f"{text} - ({base})" if base else text)

    def _store_large(self, place: Place, kind: t.Type, text: str) -> None:
        made = form(kind)
        if made.kind == "set":
            for word in range(-(-made.count // 64)):
                width = min(64, made.count - 64 * word)
                self.put_bits(place.shifted(64 * word), width, f"{text}.w[{word}]")
        elif made.kind in ("map", "seq", "bunch"):
            self._store_items(place, kind, text)
        elif made.kind == "struct":
            for at, (part, offset) in enumerate(zip(made.parts, self.offsets(kind), strict=True)):
                self.store(place.shifted(offset), part, f"{text}.f{at}")
        else:
            self.clear(place, width_of(kind))
            self.put_bits(place, union_fields(kind, 0)[0], f"{text}.tag")
            self.put(f"switch ({text}.tag) {{")
            for at, part in enumerate(made.parts):
                self.put(f"case {at}: {{")
                start = arrange(union_fields(kind, at))[0][1]
                self.store(place.shifted(start), part, f"{text}.f{at}")
                self.put("break; }")
            self.put("}")

    def _store_items(self, place: Place, kind: t.Type, text: str) -> None:
        made, index = form(kind), self.fresh("i")
        if made.count == 0:
            return
        count = str(made.count)
        if made.kind != "map":
            count = f"{text}.n"
            if made.count > made.packed:
                self.put(f"if ({count} > {made.packed}) {LIMIT}")
            self.put_bits(place, made.packed.bit_length(), count)
        self.put(f"for (L {index} = 0; {index} < {count}; {index}++) {{")
        item = self.item_place(place, kind, index)
        self.store(item, made.parts[0], f"{text}.v[{index}]")
        self.put("}")
        if made.kind != "map":
            rest = self.fresh("i")
            self.put(f"for (L {rest} = {count}; {rest} < {made.packed}; {rest}++) {{")
            self.clear(self.item_place(place, kind, rest), width_of(made.parts[0]))
            self.put("}")

    def bits_loop(self, text: str, count: int) -> str:
        """Open a loop over the elements of a set; gives the C name of the code.

        `loop_depth` says how many braces close it.
        """
        bits, code = self.fresh("b"), self.fresh("i")
        if count <= 64:
            self.put(f"for (U {bits} = {text}; {bits}; {bits} &= {bits} - 1) {{")
            self.put(f"L {code} = __builtin_ctzll({bits});")
            return code
        name, word = self.fresh("x"), self.fresh("i")
        words = -(-count // 64)
        self.put(f"{{ U {name}[{words}];")
        for at in range(words):
            self.put(f"{name}[{at}] = {text}.w[{at}];")
        self.put(f"for (L {word} = 0; {word} < {words}; {word}++)")
        self.put(f"for (U {bits} = {name}[{word}]; {bits}; {bits} &= {bits} - 1) {{")
        self.put(f"L {code} = {word} * 64 + __builtin_ctzll({bits});")
        return code

    def loop_depth(self, count: int) -> int:
        """How many braces `bits_loop` opened."""
        return 1 if count <= 64 else 2

    def bit_test(self, text: str, count: int, code: str) -> str:
        """Whether a set has the element with this code."""
        if count <= 64:
            return f"(L)({text} >> ({code}) & 1)"
        return f"(L)({text}.w[({code}) / 64] >> (({code}) % 64) & 1)"

    def packed_bit_test(self, place: Place, code: str) -> str:
        """Whether a packed set of more than a word, which begins at one, has the element."""
        word = f"{place.array}[{place.word} + ({code}) / 64]"
        return f"(L)({word} >> (({code}) % 64) & 1)"

    def bit_set(self, name: str, count: int, code: str) -> str:
        """A C expression that puts an element into the set variable."""
        if count <= 64:
            return f"{name} |= 1ull << ({code})"
        return f"{name}.w[({code}) / 64] |= 1ull << (({code}) % 64)"
