"""Between forms: packed bits and C values, types and wider or narrower types, equality.

A conversion to a type that may not hold the value takes the C statement to run then: for a write
that is leaving the step, for `==` it is going on with false.
"""

from __future__ import annotations

from collections.abc import Sequence

from refute.specs.machine import types as t
from refute.specs.machine.types import show
from refute.specs.machine.values import Value, conforms, domain
from refute.verifiers.model.native.bunches import Bunches, in_order
from refute.verifiers.model.native.forms import (
    Cramped,
    Unsuited,
    code_of,
    codes,
    form,
    option_of,
    parts_of,
)
from refute.verifiers.model.native.forms import is_small as small
from refute.verifiers.model.native.text import LIMIT, Val


class Convert(Bunches):
    """Text that converts, compares and ranks."""

    def value(self, val: Val) -> str:
        """The C text of a value, put together or loaded where it is not yet."""
        if val.parts is not None:
            kinds = parts_of(val.type)
            pairs = zip(val.parts, kinds, strict=True)
            return self.made(val.type, [self.converted(p, k, LIMIT) for p, k in pairs])
        return self.load(val.place, val.type) if val.place is not None else val.text

    def literal(self, value: Value, kind: t.Type) -> str:
        """A constant's C text, fit for an initialiser."""
        made = form(kind)
        if made.kind == "int":
            if abs(int(value)) >= 2**62:
                raise Unsuited("a number beyond 62 bits")
            return str(int(value))
        if made.kind == "code":
            return str(code_of(value, kind))
        if made.kind == "set":
            bits = sum(1 << codes(made.parts[0])[v] for v in value)
            if made.count <= 64:
                return f"{bits}ull"
            words = (bits >> at & (2**64 - 1) for at in range(0, made.count, 64))
            return "{{" + ", ".join(f"{w}ull" for w in words) + "}}"
        if made.kind in ("map", "seq", "bunch"):
            if made.kind != "map" and len(value) > made.count:
                raise Cramped(f"{len(value)} elements of {show(kind)}")
            held = in_order(value) if made.kind == "bunch" else value
            items = ", ".join(self.literal(v, made.parts[0]) for v in held) or "0"
            return f"{{{{{items}}}}}" if made.kind == "map" else f"{{{len(value)}, {{{items}}}}}"
        if made.kind == "struct":
            fields = value[1:] if isinstance(kind, t.Rec) else value
            pairs = zip(fields, made.parts, strict=True)
            return "{" + ", ".join(self.literal(v, p) for v, p in pairs) + "}"
        assert isinstance(kind, t.Union)
        at = option_of(value, kind)
        return f"{{.tag = {at}, .f{at} = {self.literal(value, kind.options[at])}}}"

    def constant(self, value: Value, kind: t.Type) -> Val:
        """A constant as a value."""
        text = self.literal(value, kind)
        return Val(kind, f"(({self.ctype(kind)}){text})" if text.startswith("{") else text)

    def made(self, kind: t.Type, parts: Sequence[str]) -> str:
        """A tuple or record of parts that are already of the types of its fields."""
        if form(kind).kind == "struct":
            return f"(({self.ctype(kind)}){{{', '.join(parts)}}})"
        text = "0"
        for part, inner in zip(parts, parts_of(kind), strict=True):
            own = self.rank(part, inner)
            text = own if text == "0" else f"({text} * {len(domain(inner))} + {own})"
        return text

    def part(self, val: Val, at: int) -> Val:
        """An item of a tuple, or a field of a record, by its number."""
        kinds = parts_of(val.type)
        if val.parts is not None:
            return val.parts[at]
        if form(val.type).kind == "struct":
            if val.place is not None:
                return Val(kinds[at], place=val.place.shifted(self.offsets(val.type)[at]))
            return Val(kinds[at], f"{self.simple(val.type, val.text)}.f{at}")
        text = self.value(val)
        stride = 1
        for kind in kinds[at + 1 :]:
            stride *= len(domain(kind))
        text = f"({text} / {stride})" if stride > 1 else text
        text = f"({text} % {len(domain(kinds[at]))})" if at else text
        return Val(kinds[at], self.unrank(text, kinds[at]))

    def converted(self, val: Val, to: t.Type, fail: str) -> str:
        """The value's text in the form of another type; `fail` runs when it is not one of its."""
        if val.type == to:
            return self.value(val)
        if val.parts is not None and self._alike(val.type, to):
            pairs = zip(val.parts, parts_of(to), strict=True)
            return self.made(to, [self.converted(p, k, fail) for p, k in pairs])
        kind, target = form(val.type).kind, form(to).kind
        if kind == "code" and not (val.parts is not None and isinstance(to, t.Union)):
            return self._from_code(val, to, fail)
        if kind == "union":
            return self._from_union(val, to, fail)
        if not self._alike(val.type, to):
            return self._into_option(val, to, fail)
        if kind == "int":
            return self._bounded(self.value(val), val.type, to, fail)
        if kind in ("set", "bunch"):
            return self.set_converted(self.value(val), val.type, to, fail)
        if kind == "struct":
            text = self.simple(val.type, self.value(val))
            parts = [Val(p, f"{text}.f{at}") for at, p in enumerate(parts_of(val.type))]
            pairs = zip(parts, parts_of(to), strict=True)
            return self.made(to, [self.converted(p, k, fail) for p, k in pairs])
        if kind in ("map", "seq") and target == kind:
            return self._items_converted(val, to, fail)
        raise Unsuited(f"a conversion of {show(val.type)} to {show(to)}")

    def _alike(self, kind: t.Type, to: t.Type) -> bool:
        match kind, to:
            case (t.Rec(name), t.Rec(other)) | (t.Atoms(name), t.Atoms(other)):
                return name == other
            case t.Tuple(), t.Tuple():
                return len(kind.items) == len(to.items)
            case t.MapOf(), t.MapOf():
                return kind.key == to.key
        return type(kind) is type(to) and not isinstance(kind, t.Union)

    def _into_option(self, val: Val, to: t.Type, fail: str) -> str:
        """Into the option of a union that may hold it; nothing holds a value of another kind."""
        if isinstance(val.type, t.Int) and isinstance(to, t.Bool):
            raise Unsuited("a number where a bool is wanted")
        found = [o for o in t.options(to) if isinstance(to, t.Union) and self._alike(val.type, o)]
        if not found:
            self.put(fail)
            return self.zero(to)
        (option,) = found
        text = self.converted(val, option, fail)
        if form(to).kind == "code":
            into = [str(code_of(v, to)) for v in domain(option)]
            return self.table("L", into, self.rank(text, option))
        at = t.options(to).index(option)
        return f"(({self.ctype(to)}){{.tag = {at}, .f{at} = {text}}})"

    def zero(self, kind: t.Type) -> str:
        """Some text of a type, where it does not matter which."""
        ctype = self.ctype(kind)
        return "0" if ctype in ("L", "U") else f"(({ctype}){{0}})"

    def _from_code(self, val: Val, to: t.Type, fail: str) -> str:
        text = self.value(val)
        values = domain(val.type)
        inside = [conforms(v, to) for v in values]
        if isinstance(val.type, t.Bool) and isinstance(to, t.Int) and all(inside):
            return text
        if not all(inside):
            text = self.simple(val.type, text)
            self.put(f"if (!{self.among(inside, text)}) {fail}")
        if not any(inside):
            return self.zero(to)
        ctype = self.ctype(to)
        literals = [self.literal(v, to) if i else "" for v, i in zip(values, inside, strict=True)]
        return self.table(ctype, _filled(literals, ctype), text)

    def among(self, inside: Sequence[bool], code: str) -> str:
        """Whether a code is one of those marked."""
        marked = [at for at, found in enumerate(inside) if found]
        if not marked or len(marked) == len(inside):
            return "1" if marked else "0"
        if marked == list(range(marked[0], marked[-1] + 1)):
            return f"((U)({code} - {marked[0]}) < {len(marked)})"
        return f"({self.table('L', [str(int(i)) for i in inside], code)} != 0)"

    def _from_union(self, val: Val, to: t.Type, fail: str) -> str:
        text = self.simple(val.type, self.value(val))
        result = self.variable(to)
        self.put(f"switch ({text}.tag) {{")
        for at, option in enumerate(parts_of(val.type)):
            self.put(f"case {at}: {{")
            inner = Val(option, f"{text}.f{at}")
            self.put(f"{result} = {self.converted(inner, to, fail)};")
            self.put("break; }")
        self.put("}")
        return result

    def _bounded(self, text: str, kind: t.Type, to: t.Type, fail: str) -> str:
        assert isinstance(kind, t.Int) and isinstance(to, t.Int)
        tests = []
        if to.lo is not None and (kind.lo is None or kind.lo < to.lo):
            tests.append(("<", to.lo))
        if to.hi is not None and (kind.hi is None or kind.hi > to.hi):
            tests.append((">", to.hi))
        if tests:
            text = self.simple(kind, text)
            self.put(f"if ({' || '.join(f'{text} {op} {n}' for op, n in tests)}) {fail}")
        return text

    def _items_converted(self, val: Val, to: t.Type, fail: str) -> str:
        source, target = form(val.type), form(to)
        text = self.simple(val.type, self.value(val))
        result, index = self.variable(to), self.fresh("i")
        count = str(source.count)
        if source.kind == "seq":
            count = f"{text}.n"
            if source.count > target.count:
                stated = isinstance(to, t.SeqOf) and to.upto is not None
                self.put(f"if ({count} > {target.count}) {fail if stated else LIMIT}")
            self.put(f"{result}.n = {count};")
        self.put(f"for (L {index} = 0; {index} < {count}; {index}++) {{")
        item = Val(source.parts[0], f"{text}.v[{index}]")
        self.put(f"{result}.v[{index}] = {self.converted(item, target.parts[0], fail)};")
        self.put("}")
        return result

    def equal(self, left: Val, right: Val) -> str:
        """Whether two values are equal, as Python finds them."""
        numbers = (t.Int, t.Bool)
        if isinstance(left.type, numbers) and isinstance(right.type, numbers):
            return f"({self.value(left)} == {self.value(right)})"
        if t.included(left.type, right.type) and not t.included(right.type, left.type):
            left, right = right, left
        if t.included(right.type, left.type):
            text = self.value(left)
            return self.same(text, self.converted(right, left.type, LIMIT), left.type)
        result, done = self.temp("L", "0"), self.fresh("d")
        self.put("{")
        text = self.converted(left, right.type, f"goto {done};")
        self.put(f"{result} = {self.same(text, self.value(right), right.type)};")
        self.put("}")
        self.put(f"{done}:;")
        return result

    def same(self, left: str, right: str, kind: t.Type) -> str:
        """Whether two values of one type are equal."""
        made = form(kind)
        if self.ctype(kind) in ("L", "U"):
            return f"({left} == {right})"
        left, right = self.simple(kind, left), self.simple(kind, right)
        result = self.temp("L", "1")
        if made.kind == "set":
            words = range(-(-made.count // 64))
            self.put(
                f"{result} = {' && '.join(f'{left}.w[{w}] == {right}.w[{w}]' for w in words)};"
            )
        elif made.kind in ("map", "seq", "bunch"):
            index, count = self.fresh("i"), str(made.count)
            if made.kind != "map":
                count = f"{left}.n"
                self.put(f"{result} = {left}.n == {right}.n;")
            self.put(f"for (L {index} = 0; {result} && {index} < {count}; {index}++) {{")
            items = f"{left}.v[{index}]", f"{right}.v[{index}]"
            self.put(f"{result} = {self.same(*items, made.parts[0])};")
            self.put("}")
        else:
            tagged = made.kind == "union"
            if tagged:
                self.put(f"{result} = {left}.tag == {right}.tag;")
            for at, part in enumerate(made.parts):
                own = f" && {left}.tag == {at}" if tagged else ""
                self.put(f"if ({result}{own}) {{")
                self.put(f"{result} = {self.same(f'{left}.f{at}', f'{right}.f{at}', part)};")
                self.put("}")
        return result

    def rank(self, text: str, kind: t.Type) -> str:
        """The code of a value of a small type."""
        made = form(kind)
        if not small(kind):
            raise Unsuited(f"a code for {show(kind)}")
        if isinstance(kind, t.Int):
            return f"({text} - {kind.lo})" if kind.lo else text
        if made.kind == "code":
            return text
        if made.kind == "set":
            by_bits = {
                sum(1 << codes(made.parts[0])[e] for e in v): at for v, at in codes(kind).items()
            }
            return self.table("L", [str(by_bits[bits]) for bits in range(len(by_bits))], text)
        text = self.simple(kind, text)
        result, index = self.temp("L", "0"), self.fresh("i")
        base = len(domain(made.parts[0]))
        count = f"{text}.n" if made.kind == "seq" else str(made.count)
        self.put(f"for (L {index} = 0; {index} < {count}; {index}++) {{")
        self.put(
            f"{result} = {result} * {base} + {self.rank(f'{text}.v[{index}]', made.parts[0])};"
        )
        self.put("}")
        if made.kind == "map":
            return result
        raw = {_raw(v, made.parts[0]): at for v, at in codes(kind).items()}
        starts = _starts(base, made.count)
        start = self.table("L", [str(s) for s in starts], f"{text}.n")
        return self.table("L", [str(raw[at]) for at in range(len(raw))], f"({result} + {start})")

    def unrank(self, code: str, kind: t.Type) -> str:
        """The value of a small type with this code."""
        made = form(kind)
        if isinstance(kind, t.Int):
            return f"({code} + {kind.lo})" if kind.lo else code
        if made.kind == "code":
            return code
        ctype = self.ctype(kind)
        return self.table(ctype, [self.literal(v, kind) for v in domain(kind)], code)


def _filled(literals: Sequence[str], ctype: str) -> list[str]:
    """Something for the codes that cannot come; numbers go on counting, for a plainer table."""
    if ctype != "L":
        return [text or ("0" if ctype == "U" else "{0}") for text in literals]
    first = next(at for at, text in enumerate(literals) if text)
    found: list[str] = []
    for at, text in enumerate(literals):
        found.append(
            text or str(int(found[-1]) + 1 if at > first else int(literals[first]) - first + at)
        )
    return found


def _starts(base: int, most: int) -> list[int]:
    """The first number of the sequences of each length, numbered by length, then by elements."""
    starts = [0]
    for length in range(most):
        starts.append(starts[-1] + base**length)
    return starts


def _raw(value: Sequence[Value], elem: t.Type) -> int:
    base, number = len(domain(elem)), 0
    for item in value:
        number = number * base + codes(elem)[item]
    return number + _starts(base, len(value))[-1]
