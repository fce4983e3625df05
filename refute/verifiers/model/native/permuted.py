"""What permutations do to a machine's states, as C: the part of `orbits.c` that is a machine's own.

What a state holds of members is unpacked into a struct, where members are exchanged, two neighbours
at a time, by tables: codes by the code they become, bits of sets and entries of maps by the pairs
that change places. Sorted arrays are sorted again. `seen` adds up hashes, so that the order of what
has none does not matter; members count by their labels, and all else as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from refute.specs.machine import types as t
from refute.specs.machine.permuting import mentions, mover, viewer
from refute.specs.machine.symmetry import Symmetry
from refute.specs.machine.values import Atom, Value, domain
from refute.verifiers.model.native.forms import Unsuited, form
from refute.verifiers.model.native.layout import Family, Layout
from refute.verifiers.model.native.steps import Steps
from refute.verifiers.model.native.text import Place

MOST = 250  # members of all classes together
_STIR = """static inline U stir(U x)
{
    x ^= x >> 32; x *= 0xd6e8feb86659fd93ull; x ^= x >> 29; x *= 0xff51afd7ed558ccdull;
    return x ^ x >> 32;
}"""


class Permuted(Steps):
    """Steps of a machine, and what permutations of its members do."""

    def __init__(self, layout: Layout, symmetry: Symmetry) -> None:
        super().__init__(layout)
        self.members = [a for group in symmetry.classes for a in group]
        self.classes = symmetry.classes
        self.sorts = symmetry.sorts
        self.order = math.prod(math.factorial(len(c)) for c in self.classes)
        if len(self.members) > MOST or self.order >> 63:
            raise Unsuited(f"permutations of {len(self.members)} members")
        self._labels = {a: at for at, group in enumerate(self.classes) for a in group}

    def permutations(self) -> list[str]:
        """Put the functions of permutations into the text; gives their constants."""
        self.prelude.append(_STIR)
        kinds = [v.type for v in self.layout.ir.variables]
        held = [at for at, kind in enumerate(kinds) if mentions(kind, self.sorts)]
        families = [at for at, made in enumerate(self.layout.families) if self._moves(made)]
        self._struct(held, families)
        see = self.seen("w")
        rows = [see[v.name] for v in self.layout.ir.variables]
        load = [*(self._loaded(at, *rows[at]) for at in held), *map(self._raw_in, families)]
        self._put_function("static void hold(Held *h, const U *w)", load)
        store = [*(self._stored(at, *rows[at]) for at in held), *map(self._raw_out, families)]
        self._put_function("static int put_back(const Held *h, U *w)", store, "return 0;")
        moves = [*(self._exchanged(at, kinds[at]) for at in held), *map(self._moved, families)]
        self._put_function("static void exchange(int k, Held *h)", moves)
        looks = [*(self._looked(at, kinds[at]) for at in held), *map(self._shown, families)]
        head = "static U seen(const Held *h, const U *lab)"
        self._put_function(head, [["U sum = 0;"], *looks], "return sum;")
        starts = [0]
        for group in self.classes:
            starts.append(starts[-1] + len(group))
        labels = ", ".join(f"{self._labels[a] + 1}" for a in self.members)
        self.prelude.append(f"static const int class_start[] = {{{', '.join(map(str, starts))}}};")
        self.prelude.append(f"static const U class_labels[] = {{{labels}}};")
        head_lines = [f"#define ELEMENTS {len(self.members)}", f"#define CLASSES {len(starts) - 1}"]
        return [*head_lines, f"#define GROUP {self.order}ull", "#define SYMMETRIC 1"]

    def _moves(self, made: Family) -> bool:
        kinds = [p.type for p in made.process.params] + list(made.types.values())
        return any(mentions(k, self.sorts) for k in kinds)

    def _put_function(self, head: str, parts: Sequence[Sequence[str]], end: str = "") -> None:
        lines = [line for part in parts for line in part]
        self.prelude += [head, "{", *lines, *([end] if end else []), "}"]

    def _struct(self, held: Sequence[int], families: Sequence[int]) -> None:
        variables = self.layout.ir.variables
        fields = [f"{self.ctype(variables[at].type)} x{at};" for at in held]
        for at in families:
            made = self.layout.families[at]
            fields.append(f"struct {{ U w[{_words(made)}]; }} p{at}[{len(made.members)}];")
        self.prelude.append(f"typedef struct {{ {' '.join(fields)} }} Held;")

    def _loaded(self, at: int, kind: t.Type, place: Place) -> list[str]:
        lines, found = self.captured(lambda: self.load(place, kind))
        return ["{", *lines, f"h->x{at} = {found};", "}"]

    def _stored(self, at: int, kind: t.Type, place: Place) -> list[str]:
        def work() -> str:
            self.store(place, kind, self.temp(self.ctype(kind), f"h->x{at}"))
            return ""

        return ["{", *self.captured(work)[0], "}"]

    def _member_place(self, at: int) -> tuple[Family, Place]:
        made = self.layout.families[at]
        offset = self.layout.offsets[len(self.layout.ir.variables) + at]
        start = Place("w", str(offset // 64), str(offset % 64))
        return made, start.element(len(made.members), made.width, "me")

    def _raw(self, at: int, copy: Callable[[Place, int, str], str]) -> list[str]:
        made, place = self._member_place(at)
        lines = [f"for (L me = 0; me < {len(made.members)}; me++) {{"]
        for word in range(_words(made)):
            width = min(64, made.width - 64 * word)
            held = f"h->p{at}[me].w[{word}]"
            lines.append(copy(place.shifted(64 * word), width, held))
        return [*lines, "}"]

    def _raw_in(self, at: int) -> list[str]:
        return self._raw(at, lambda place, width, held: f"{held} = {self.bits(place, width)};")

    def _raw_out(self, at: int) -> list[str]:
        def copy(place: Place, width: int, held: str) -> str:
            def work() -> str:
                self.put_bits(place, width, held)
                return ""

            return " ".join(self.captured(work)[0])

        return self._raw(at, copy)

    def _exchanged(self, at: int, kind: t.Type) -> list[str]:
        return [f"{self.exchange_of(kind)}(k, &h->x{at});"]

    def _looked(self, at: int, kind: t.Type) -> list[str]:
        return [f"sum += stir({self.view_of(kind)}(&h->x{at}, lab) + {at + 1});"]

    def _stops(self, at: int, work: Callable[[Place, t.Type], None], only: bool) -> list[str]:
        """A switch over where a process is, with code for each local that is kept there."""
        made = self.layout.families[at]
        place = Place(f"h->p{at}[me].w", "0", "0")
        lines = [f"switch ({self.bits(place, made.place_width)}) {{"]
        for number, stop in enumerate(made.stops):
            lines.append(f"case {number}: {{")
            for name, offset in zip(made.live.get(stop, ()), made.offsets(stop)[1:], strict=True):
                kind, here = made.types[name], place.shifted(offset)
                if mentions(kind, self.sorts) or not only:

                    def one(kind: t.Type = kind, here: Place = here) -> str:
                        work(here, kind)
                        return ""

                    lines += ["{", *self.captured(one)[0], "}"]
            lines.append("break; }")
        return [*lines, "}"]

    def _moved(self, at: int) -> list[str]:
        def work(place: Place, kind: t.Type) -> None:
            held = self.temp(self.ctype(kind), self.load(place, kind))
            self.put(f"{self.exchange_of(kind)}(k, &{held});")
            self.put_local(place, kind, held)

        made = self.layout.families[at]
        lines: list[str] = []
        if any(mentions(k, self.sorts) for k in made.types.values()):
            lines = [f"for (L me = 0; me < {len(made.members)}; me++) {{"]
            lines += [*self._stops(at, work, only=True), "}"]
        kind = t.Tuple(tuple(p.type for p in made.process.params))
        if mentions(kind, self.sorts):
            lines += self._swapped(self._targets(made.members, kind), f"h->p{at}")
        return lines

    def put_local(self, place: Place, kind: t.Type, held: str) -> None:
        """Store where a number that does not fit cannot be: it was loaded from there."""

        def work() -> str:
            self.store(place, kind, held)
            return ""

        lines, _ = self.captured(work)
        for line in lines:
            self.put(line.replace("return LIMIT;", "{}"))

    def _shown(self, at: int) -> list[str]:
        def work(place: Place, kind: t.Type) -> None:
            held = self.temp(self.ctype(kind), self.load(place, kind))
            self.put(f"own = stir(own) + {self.view_of(kind)}(&{held}, lab);")

        made = self.layout.families[at]
        kind = t.Tuple(tuple(p.type for p in made.process.params))
        place = Place(f"h->p{at}[me].w", "0", "0")
        lines = [f"for (L me = 0; me < {len(made.members)}; me++) {{"]
        lines.append(f"U own = {self._coded_view(made.members, kind)}(&me, lab);")
        lines.append(f"own = stir(own) + {self.bits(place, made.place_width)};")
        lines += self._stops(at, work, only=False)
        return [*lines, f"sum += stir(own + {at + 1}0001);", "}"]

    def _targets(self, values: Sequence[Value], kind: t.Type) -> list[list[int]]:
        """For each exchange where it puts each of the values, by their numbers."""
        numbers = {v: at for at, v in enumerate(values)}
        move = mover(kind, self.sorts)
        found = []
        for group in self.classes:
            for one, other in zip(group, (*group[1:], group[0]), strict=True):
                last = other is group[0]
                moved = {} if last else {one: other, other: one}
                row = range(len(values)) if last else (numbers[move(v, moved)] for v in values)
                found.append(list(row))
        return found

    def _swapped(self, targets: list[list[int]], array: str) -> list[str]:
        """Exchange the entries of an array."""
        pairs = [[(a, b) for a, b in enumerate(row) if a < b] for row in targets]
        starts = [sum(map(len, pairs[:at])) for at in range(len(pairs) + 1)]
        flat = [pair for row in pairs for pair in row] or [(0, 0)]
        start = self._table("int32_t", starts)
        first, second = (self._table("int32_t", [p[side] for p in flat]) for side in (0, 1))
        lines = [f"for (int i = {start}[k]; i < {start}[k + 1]; i++) {{"]
        lines.append(f"__typeof__({array}[0]) held = {array}[{first}[i]];")
        lines.append(f"{array}[{first}[i]] = {array}[{second}[i]];")
        return [*lines, f"{array}[{second}[i]] = held;", "}"]

    def _table(self, elem: str, values: Sequence[int]) -> str:
        body = ", ".join(f"{v}u" if elem[0] == "u" else str(v) for v in values)
        if elem == "U":
            body = ", ".join(f"{v}ull" for v in values)
        return self.declared("c", (elem, body), f"static const {elem} %s[] = {{{body}}};")

    def exchange_of(self, kind: t.Type) -> str:
        """The function that exchanges the members k and k + 1 in a value."""

        def text(name: str) -> str:
            lines = "\n".join(body)
            return f"static void {name}(int k, {self.ctype(kind)} *v)\n{{\n{lines}\n}}"

        key = ("exchange", kind, form(kind))
        if key not in self._names:
            body = self._exchange(kind)
            return self._shared(key, text)
        return self._names[key]

    def _exchange(self, kind: t.Type) -> list[str]:
        made = form(kind)
        if made.kind == "code":
            rows = self._targets(domain(kind), kind)
            table = self._table("uint16_t", [v for row in rows for v in row])
            return [f"*v = {table}[k * {made.count} + *v];"]
        if made.kind == "set":
            return self._exchange_bits(
                made.count, self._targets(domain(made.parts[0]), made.parts[0])
            )
        if made.kind == "map":
            assert isinstance(kind, t.MapOf)
            lines = []
            if mentions(kind.value, self.sorts):
                inner = self.exchange_of(kind.value)
                lines.append(f"for (int i = 0; i < {made.count}; i++) {inner}(k, &v->v[i]);")
            if mentions(kind.key, self.sorts):
                lines += self._swapped(self._targets(domain(kind.key), kind.key), "v->v")
            return lines
        if made.kind in ("seq", "bunch"):
            inner = self.exchange_of(made.parts[0])
            lines = [f"for (int i = 0; i < v->n; i++) {inner}(k, &v->v[i]);"]
            return lines + (self._sort_again(made.parts[0]) if made.kind == "bunch" else [])
        parts = [(at, p) for at, p in enumerate(made.parts) if mentions(p, self.sorts)]
        calls = [(at, f"{self.exchange_of(p)}(k, &v->f{at});") for at, p in parts]
        if made.kind == "struct":
            return [call for _, call in calls]
        return ["switch (v->tag) {", *(f"case {at}: {c} break;" for at, c in calls), "}"]

    def _sort_again(self, elem: t.Type) -> list[str]:
        """Put a sorted array in order."""
        order, ctype = self.order_of(elem), self.ctype(elem)
        return [
            "for (int i = 1; i < v->n; i++)",
            f"for (int j = i; j > 0 && {order}(&v->v[j - 1], &v->v[j]) > 0; j--)",
            f"{{ {ctype} held = v->v[j]; v->v[j] = v->v[j - 1]; v->v[j - 1] = held; }}",
        ]

    def _exchange_bits(self, count: int, targets: list[list[int]]) -> list[str]:
        """Pairs of bits at the same distance change places together."""
        if count > 64:
            pairs = [[(a, b) for a, b in enumerate(row) if a < b] for row in targets]
            starts = [sum(map(len, pairs[:at])) for at in range(len(pairs) + 1)]
            flat = [pair for row in pairs for pair in row]
            start = self._table("int32_t", starts)
            one, other = (self._table("int32_t", [p[side] for p in flat]) for side in (0, 1))
            return [
                f"for (int i = {start}[k]; i < {start}[k + 1]; i++) {{",
                f"int a = {one}[i], b = {other}[i];",
                "U x = (v->w[a / 64] >> a % 64 ^ v->w[b / 64] >> b % 64) & 1;",
                "v->w[a / 64] ^= x << a % 64; v->w[b / 64] ^= x << b % 64; }",
            ]
        rows: list[dict[int, int]] = []
        for row in targets:
            masks: dict[int, int] = {}
            for a, b in enumerate(row):
                if a < b:
                    masks[b - a] = masks.get(b - a, 0) | 1 << a
            rows.append(masks)
        starts = [sum(map(len, rows[:at])) for at in range(len(rows) + 1)]
        start = self._table("int32_t", starts)
        shift = self._table("int32_t", [d for masks in rows for d in masks])
        mask = self._table("U", [m for masks in rows for m in masks.values()])
        return [
            f"for (int i = {start}[k]; i < {start}[k + 1]; i++) {{",
            f"U x = (*v >> {shift}[i] ^ *v) & {mask}[i]; *v ^= x | x << {shift}[i]; }}",
        ]

    def view_of(self, kind: t.Type) -> str:
        """The function that gives a number for how a value looks."""

        def text(name: str) -> str:
            lines = "\n".join(body)
            head = f"static U {name}(const {self.ctype(kind)} *v, const U *lab)"
            return f"{head}\n{{\n(void)lab;\n{lines}\n}}"

        key = ("view", kind, form(kind))
        if key not in self._names:
            body = self._view(kind)
            return self._shared(key, text)
        return self._names[key]

    def _view(self, kind: t.Type) -> list[str]:
        made = form(kind)
        if made.kind == "int" or (made.kind == "code" and not mentions(kind, self.sorts)):
            return ["return stir((U)*v + 1);"]
        if made.kind == "code":
            return [f"return {self._coded_view(domain(kind), kind)}(v, lab);"]
        if made.kind == "set":
            return self._view_bits(made.count, made.parts[0])
        if made.kind == "map":
            assert isinstance(kind, t.MapOf)
            key = self._coded_view(domain(kind.key), kind.key)
            inner = self.view_of(kind.value)
            loop = f"for (L i = 0; i < {made.count}; i++)"
            add = f"sum += stir({key}(&i, lab) * 3 + {inner}(&v->v[i], lab));"
            return ["U sum = 0;", f"{loop} {add}", "return sum;"]
        if made.kind in ("seq", "bunch"):
            inner = self.view_of(made.parts[0])
            add = f"sum = stir(sum) + {inner}(&v->v[i], lab);"
            if made.kind == "bunch":
                add = f"sum += stir({inner}(&v->v[i], lab));"
            return ["U sum = (U)v->n;", f"for (L i = 0; i < v->n; i++) {add}", "return stir(sum);"]
        views = [f"{self.view_of(p)}(&v->f{at}, lab)" for at, p in enumerate(made.parts)]
        if made.kind == "struct":
            return ["U sum = 0;", *(f"sum = stir(sum) + {v};" for v in views), "return stir(sum);"]
        cases = [f"case {at}: return stir({v} + {at + 1});" for at, v in enumerate(views)]
        return ["switch (v->tag) {", *cases, "}", "return 0;"]

    def _view_bits(self, count: int, elem: t.Type) -> list[str]:
        view = self._coded_view(domain(elem), elem)
        if count <= 64:
            loop = "for (U b = *v; b; b &= b - 1) { L c = __builtin_ctzll(b);"
            return ["U sum = 0;", f"{loop} sum += stir({view}(&c, lab)); }}", "return sum;"]
        loop = "for (U b = v->w[i]; b; b &= b - 1) { L c = i * 64 + __builtin_ctzll(b);"
        return [
            "U sum = 0;",
            f"for (L i = 0; i < {-(-count // 64)}; i++)",
            f"{loop} sum += stir({view}(&c, lab)); }}",
            "return sum;",
        ]

    def _coded_view(self, values: Sequence[Value], kind: t.Type) -> str:
        """The function that views a value by its number; equal for what permutations join."""
        view = viewer(kind, self.sorts)
        plain = self._labels
        whole = [view(v, plain) & 0xFFFFFFFF for v in values]
        rows = [self._roles(v, kind) for v in values]
        most = max(map(len, rows), default=0)
        spare = (len(self.members), 0)
        filled = [(*row, *[spare] * (most - len(row))) for row in rows]
        looks = self._table("uint32_t", whole or [0])
        if not most:
            body = f"(void)lab; return stir({looks}[*v]);"
        else:
            who = self._table("uint8_t", [p[0] for row in filled for p in row])
            role = self._table("uint32_t", [p[1] for row in filled for p in row])
            add = f"sum += stir(lab[{who}[*v * {most} + i]] + {role}[*v * {most} + i]);"
            body = f"U sum = {looks}[*v]; for (int i = 0; i < {most}; i++) {add} return stir(sum);"
        line = f"static U %s(const L *v, const U *lab) {{ {body} }}"
        return self.declared("f", ("coded view", body), line)

    def _roles(self, value: Value, kind: t.Type) -> list[tuple[int, int]]:
        """The members that a value holds, and how it looks from each of them."""
        view = viewer(kind, self.sorts)
        found = []
        for at, member in enumerate(self.members):
            marked = {**self._labels, member: -1}
            if member in _atoms(value):
                found.append((at, view(value, marked) & 0xFFFFFFFF))
        return found


def _words(made: Family) -> int:
    return max(1, -(-made.width // 64))


def _atoms(value: Value) -> set[Atom]:
    if type(value) is Atom:
        return {value}
    if type(value) in (tuple, frozenset):
        return {a for part in value for a in _atoms(part)}
    return set()
