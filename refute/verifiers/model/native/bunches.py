"""Sets without a bit for each element: sorted arrays, and the canonical order that sorts them.

The functions of a type are written once and shared by all that use them. An element is inserted
where binary search finds its place, and two sets are joined by one walk through both; so equal sets
are equal arrays, and walking through one is walking through the set in canonical order.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence

from refute.specs.machine import types as t
from refute.specs.machine.types import show
from refute.specs.machine.values import Value, order
from refute.verifiers.model.native.forms import Unsuited, code_of, codes, form
from refute.verifiers.model.native.places import Places
from refute.verifiers.model.native.text import LIMIT, Val

LEFT, BOTH, RIGHT = 1, 2, 4  # which elements a walk through two sets keeps
KEPT = {"|": LEFT | BOTH | RIGHT, "&": BOTH, "diff": LEFT, "^": LEFT | RIGHT}
_BITS = """static int %s(const U *a, const U *b, int words)
{
    int at = 0;
    while (at < words && a[at] == b[at]) at++;
    if (at == words) return 0;
    U low = (a[at] ^ b[at]) & -(a[at] ^ b[at]), above = ~(low | (low - 1));
    const U *other = a[at] & low ? b : a;
    int sign = a[at] & low ? -1 : 1, more = (other[at] & above) != 0;
    for (at++; at < words; at++) more |= other[at] != 0;
    return more ? sign : -sign;
}"""
_FIND = """static L {name}(const {set} *s, const {elem} *x)
{{
    L low = 0, high = s->n;
    while (low < high) {{
        L middle = (low + high) / 2;
        if ({order}(&s->v[middle], x) < 0) low = middle + 1; else high = middle;
    }}
    return low;
}}
static int {name}_has(const {set} *s, const {elem} *x)
{{
    L at = {name}(s, x);
    return at < s->n && !{order}(&s->v[at], x);
}}
static int {name}_add(L most, {set} *s, const {elem} *x)
{{
    L at = {name}(s, x);
    if (at < s->n && !{order}(&s->v[at], x)) return 1;
    if (s->n == most) return 0;
    for (L i = s->n++; i > at; i--) s->v[i] = s->v[i - 1];
    s->v[at] = *x;
    return 1;
}}
static int {name}_drop({set} *s, const {elem} *x)
{{
    L at = {name}(s, x);
    if (at == s->n || {order}(&s->v[at], x)) return 0;
    for (s->n--; at < s->n; at++) s->v[at] = s->v[at + 1];
    return 1;
}}
static int {name}_walk(L most, {set} *r, const {set} *a, const {set} *b, int kept)
{{
    L i = 0, k = 0;
    r->n = 0;
    while (i < a->n || k < b->n) {{
        int c = i == a->n ? 1 : k == b->n ? -1 : {order}(&a->v[i], &b->v[k]);
        const {elem} *x = c <= 0 ? &a->v[i] : &b->v[k];
        i += c <= 0;
        k += c >= 0;
        if (!(kept & (c < 0 ? 1 : c ? 4 : 2))) continue;
        if (r->n == most) return 0;
        r->v[r->n++] = *x;
    }}
    return 1;
}}"""


class Bunches(Places, abc.ABC):
    """Text of orders, and of sets that are sorted arrays."""

    @abc.abstractmethod
    def converted(self, val: Val, to: t.Type, fail: str) -> str:
        """The value's text in the form of another type."""

    @abc.abstractmethod
    def rank(self, text: str, kind: t.Type) -> str:
        """The code of a value of a small type."""

    @abc.abstractmethod
    def unrank(self, code: str, kind: t.Type) -> str:
        """The value of a small type with this code."""

    @abc.abstractmethod
    def zero(self, kind: t.Type) -> str:
        """Some text of a type."""

    def _shared(self, key: object, text: Callable[[str], str]) -> str:
        """The name of a function at file level that is written when it is first asked for."""
        if key not in self._names:
            name = self.fresh("f")
            self.prelude.append(text(name))
            self._names[key] = name
        return self._names[key]

    def order_of(self, kind: t.Type) -> str:
        """The function that compares two values by the canonical order: below, at or above 0."""
        ctype = self.ctype(kind)

        def text(name: str) -> str:
            lines = "\n".join(self._compared(kind))
            return f"static int {name}(const {ctype} *a, const {ctype} *b)\n{{\n{lines}\n}}"

        return self._shared(("order", kind, form(kind)), text)

    def _compared(self, kind: t.Type) -> list[str]:
        made = form(kind)
        if made.kind in ("int", "code"):
            return ["return (*a > *b) - (*a < *b);"]
        if made.kind == "set":
            bits = self._shared("order of bits", lambda name: _BITS % name)
            words = -(-made.count // 64)
            a, b = ("a", "b") if made.count <= 64 else ("a->w", "b->w")
            return [f"return {bits}({a}, {b}, {max(words, 1)});"]
        if made.kind in ("map", "seq", "bunch"):
            inner = self.order_of(made.parts[0])
            loop = f"if ((c = {inner}(&a->v[i], &b->v[i]))) return c;"
            if made.kind == "map":
                return ["int c;", f"for (L i = 0; i < {made.count}; i++) {loop}", "return 0;"]
            shorter = "for (L i = 0; i < a->n && i < b->n; i++)"
            return ["int c;", f"{shorter} {loop}", "return (a->n > b->n) - (a->n < b->n);"]
        inner_orders = [self.order_of(p) for p in made.parts]
        calls = [f"{f}(&a->f{at}, &b->f{at})" for at, f in enumerate(inner_orders)]
        if made.kind == "struct":
            return ["int c;", *(f"if ((c = {call})) return c;" for call in calls), "return 0;"]
        ranks = ", ".join(map(str, _ranks(kind)))
        lines = [f"static const int rank[] = {{{ranks}}};"]
        lines.append("if (a->tag != b->tag) return rank[a->tag] < rank[b->tag] ? -1 : 1;")
        cases = [f"case {at}: return {call};" for at, call in enumerate(calls)]
        return [*lines, "switch (a->tag) {", *cases, "}", "return 0;"]

    def bunch(self, kind: t.Type) -> str:
        """The name that the functions of a set that is a sorted array begin with."""
        (elem,) = form(kind).parts
        given = {"set": self.ctype(kind), "elem": self.ctype(elem), "order": self.order_of(elem)}
        key = ("bunch", given["set"], given["order"])
        return self._shared(key, lambda name: _FIND.format(name=name, **given))

    def empty(self, name: str, kind: t.Type) -> None:
        """Declare a set or sequence without elements; what lies behind its end is not written."""
        if form(kind).kind in ("seq", "bunch"):
            self.put(f"{self.ctype(kind)} {name}; {name}.n = 0;")
        else:
            self.put(f"{self.ctype(kind)} {name} = {self.zero(kind)};")

    def taken_from(self, name: str, kind: t.Type, elem: str) -> None:
        """Take an element of the right type out of the set variable, if it is there."""
        made = form(kind)
        if made.kind == "set":
            code = self.temp("L", self.rank(elem, made.parts[0]))
            word = name if made.count <= 64 else f"{name}.w[{code} / 64]"
            self.put(f"{word} &= ~(1ull << ({code} % 64));")
            return
        held = self.temp(self.ctype(made.parts[0]), elem)
        self.put(f"{self.bunch(kind)}_drop(&{name}, &{held});")

    def added_to(self, name: str, kind: t.Type, elem: str) -> None:
        """Put an element of the right type into the set variable."""
        made = form(kind)
        if made.kind == "set":
            code = self.temp("L", self.rank(elem, made.parts[0]))
            self.put(f"{self.bit_set(name, made.count, code)};")
            return
        held = self.temp(self.ctype(made.parts[0]), elem)
        self.put(f"if (!{self.bunch(kind)}_add({made.count}, &{name}, &{held})) {LIMIT}")

    def walked_together(self, kind: t.Type, kept: int, left: str, right: str) -> str:
        """What a walk through two sorted arrays of a type keeps."""
        a, b = self.temp(self.ctype(kind), left), self.temp(self.ctype(kind), right)
        result = self.variable(kind)
        call = f"{self.bunch(kind)}_walk({form(kind).count}, &{result}, &{a}, &{b}, {kept})"
        self.put(f"if (!{call}) {LIMIT}")
        return result

    def set_converted(self, text: str, kind: t.Type, to: t.Type, fail: str) -> str:
        """A set as one of another element type. fail "": elements outside are left out."""
        source, target = form(kind), form(to)
        if source.kind == target.kind == "set":
            return self._bits_converted(text, kind, to, fail)
        result, skip = self.fresh("x"), self.fresh("d")
        self.empty(result, to)
        text = self.simple(kind, text)
        if source.kind == "set":
            code = self.bits_loop(text, source.count)
            item, depth = self.unrank(code, source.parts[0]), self.loop_depth(source.count)
        else:
            index, depth = self.fresh("i"), 1
            self.put(f"for (L {index} = 0; {index} < {text}.n; {index}++) {{")
            item = f"{text}.v[{index}]"
        wanted = target.parts[0]
        found = self.converted(Val(source.parts[0], item), wanted, fail or f"goto {skip};")
        if target.kind == "set":
            self.added_to(result, to, found)
        else:
            self.put(f"if ({result}.n == {target.count}) {LIMIT}")
            self.put(f"{result}.v[{result}.n++] = {found};")
        self.put(f"{skip}:;" + "}" * depth)
        return result

    def _bits_converted(self, text: str, kind: t.Type, to: t.Type, fail: str) -> str:
        (elem,), (wanted,) = form(kind).parts, form(to).parts
        into = [code_of(v, wanted) for v in codes(elem)]
        if not into:
            return self.zero(to)
        start = into[0]
        narrow = form(kind).count <= 64 and form(to).count <= 64
        if narrow and start >= 0 and into == list(range(start, start + len(into))):
            return f"({text} << {start})" if start else text
        result = self.temp(self.ctype(to), self.zero(to))
        name = self.bits_loop(text, form(kind).count)
        entry = self.temp("L", self.table("L", [str(i) for i in into], name))
        drop = fail or "continue;"
        if -1 in into:
            self.put(f"if ({entry} < 0) {drop}")
        self.put(f"{self.bit_set(result, form(to).count, entry)};")
        self.put("}" * self.loop_depth(form(kind).count))
        return result


def in_order(values: Sequence[Value] | frozenset[Value]) -> list[Value]:
    """The elements of a set in canonical order."""
    return sorted(values, key=order)


def _ranks(kind: t.Type) -> list[int]:
    """Where each option of a union stands in the canonical order."""
    groups = [_group(option) for option in t.options(kind)]
    if len(set(groups)) < len(groups):
        raise Unsuited(f"the order of {show(kind)}, whose options are alike")
    return [sorted(groups).index(group) for group in groups]


def _group(option: t.Type) -> tuple[int, str]:
    """As `values.order` begins: None, numbers, atoms, tuples, records, sets."""
    match option:
        case t.Nothing():
            return (0, "")
        case t.Bool() | t.Int():
            return (1, "")
        case t.Atoms(name):
            return (2, name)
        case t.Text():
            return (2, "")
        case t.Rec(name):
            return (4, name)
        case t.SetOf():
            return (5, "")
    return (3, "")
