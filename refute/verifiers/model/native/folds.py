"""Containers of the IR as C: walking through them, comprehensions, folds, indexing.

What is only walked through is not built first, unless an early end could hide an exception that
Python would have met while building it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr
from refute.specs.machine.types import show
from refute.specs.machine.values import domain
from refute.verifiers.model.native.forms import Unsuited, form
from refute.verifiers.model.native.numeric import SAFE
from refute.verifiers.model.native.sizes import may_raise, most
from refute.verifiers.model.native.terms import BOOL, Terms
from refute.verifiers.model.native.text import LIMIT, RAISED, Val

MAX_CAP = 4096  # elements of a sequence that is built

Body = Callable[[Val], None]


class Folds(Terms):
    """Text of containers."""

    def each(self, expr: Expr, body: Body) -> None:
        """A loop over the elements in canonical order."""
        if expr.op == "domain" and isinstance(expr.type, t.SeqOf):
            self._each_code(expr.type.elem, body)
        elif expr.op == "range":
            self._each_number(expr, body)
        elif expr.op in ("values", "items", "keys"):
            self._each_entry(expr, body)
        elif expr.op == "toseq":
            self.each(expr.args[0], body)
        elif expr.op == "list" and not may_raise(expr):
            self.chain(expr.args[0], lambda found: body(found[0]))
        else:
            self.each_of(self.term(expr), body)

    def each_of(self, val: Val, body: Body) -> None:
        """A loop over the elements of a value in canonical order."""
        made = form(val.type)
        match val.type:
            case t.SetOf(elem) if made.kind == "set":
                code = self.bits_loop(self.value(val), made.count)
                body(Val(elem, self.unrank(code, elem)))
                self.put("}" * self.loop_depth(made.count))
            case t.MapOf(key, _):
                self._each_code(key, body)
            case t.SeqOf() | t.SetOf():
                index = self.fresh("i")
                count = self.temp("L", self.count_of(val))
                self.put(f"for (L {index} = 0; {index} < {count}; {index}++) {{")
                body(self.item(val, index))
                self.put("}")
            case t.Tuple(items):
                self._each_item(val, t.join(items), body)
            case _:
                raise Unsuited(f"a walk through {show(val.type)}")

    def _each_code(self, kind: t.Type, body: Body) -> None:
        code = self.fresh("i")
        self.put(f"for (L {code} = 0; {code} < {len(domain(kind))}; {code}++) {{")
        body(Val(kind, self.unrank(code, kind)))
        self.put("}")

    def _each_item(self, val: Val, kind: t.Type, body: Body) -> None:
        """Through a tuple, whose items are brought to one type."""
        row, index = self.fresh("x"), self.fresh("i")
        assert isinstance(val.type, t.Tuple)
        count = len(val.type.items)
        self.put(f"{self.ctype(kind)} {row}[{max(count, 1)}];")
        held = self.held(val)
        for at in range(count):
            self.put(f"{row}[{at}] = {self.converted(self.part(held, at), kind, LIMIT)};")
        self.put(f"for (L {index} = 0; {index} < {count}; {index}++) {{")
        body(Val(kind, f"{row}[{index}]"))
        self.put("}")

    def _each_number(self, expr: Expr, body: Body) -> None:
        vals = [self._number(self.term(a)) for a in expr.args]
        low, high, step = (self.temp("L", self.value(v)) for v in vals)
        name = self.fresh("i")
        one = expr.args[2].op == "const" and expr.args[2].data == 1
        if not one:
            self.put(f"if ({step} == 0) {RAISED}")
        for end in (low, high, *(() if one else (step,))):
            self.put(f"if ({end} > {SAFE} || {end} < -{SAFE}) {LIMIT}")
        test = f"{name} < {high}" if one else f"({step} > 0 ? {name} < {high} : {name} > {high})"
        self.put(f"for (L {name} = {low}; {test}; {name} += {step}) {{")
        kind: t.Type = t.Int()
        if one and isinstance(vals[0].type, t.Int) and isinstance(vals[1].type, t.Int):
            top = vals[1].type.hi
            kind = t.Int(vals[0].type.lo, None if top is None else top - 1)
        body(Val(kind, name))
        self.put("}")

    def _each_entry(self, expr: Expr, body: Body) -> None:
        base = self._still(self.term(expr.args[0]))
        if not isinstance(base.type, t.MapOf):
            raise Unsuited(f"{expr.op} of {show(base.type)}")
        key, index = base.type.key, self.fresh("i")
        self.put(f"for (L {index} = 0; {index} < {form(base.type).count}; {index}++) {{")
        name = Val(key, self.unrank(index, key))
        if expr.op == "keys":
            body(name)
        else:
            entry = self.item(base, index)
            pair = t.Tuple((key, entry.type))
            body(entry if expr.op == "values" else Val(pair, parts=(name, entry)))
        self.put("}")

    def _still(self, val: Val) -> Val:
        return val if val.place is not None else self.held(val)

    def item(self, val: Val, index: str) -> Val:
        """An entry of a map or element of a sequence, by its number."""
        (kind,) = form(val.type).parts
        if val.place is not None:
            inner = Val(kind, place=self.item_place(val.place, val.type, index))
            plain = self.ctype(kind) in ("L", "U")
            return Val(kind, self.temp(self.ctype(kind), self.value(inner))) if plain else inner
        return Val(kind, f"{self.simple(val.type, self.value(val))}.v[{index}]")

    def count_of(self, val: Val) -> str:
        """How many elements a value has."""
        made = form(val.type)
        if made.kind == "set":
            text = self.value(val)
            if made.count <= 64:
                return f"(L)__builtin_popcountll({text})"
            text = self.simple(val.type, text)
            words = (f"__builtin_popcountll({text}.w[{w}])" for w in range(-(-made.count // 64)))
            return f"(L)({' + '.join(words)})"
        if made.kind in ("seq", "bunch"):
            if val.place is not None:
                return self.length(val.place, val.type)
            return f"{self.simple(val.type, self.value(val))}.n"
        if isinstance(val.type, t.Tuple):
            return str(len(val.type.items))
        if made.kind == "map":
            return str(made.count)
        raise Unsuited(f"the length of {show(val.type)}")

    def chain(self, expr: Expr, item: Callable[[tuple[Val, ...]], None]) -> None:
        """The loops of a comprehension around its element."""
        if expr.op == "item":
            item(tuple(map(self.term, expr.args)))
        elif expr.op == "if":
            self.put(f"if ({self.text(expr.args[0])}) {{")
            self.chain(expr.args[1], item)
            self.put("}")
        elif expr.op == "for":
            self.each(expr.args[0], partial(self._inner, expr, item))
        elif expr.op == "let":
            self._inner(expr, item, self.term(expr.args[0]))
        else:
            raise Unsuited(f"{expr.op} in a comprehension")

    def _inner(self, expr: Expr, item: Callable[[tuple[Val, ...]], None], val: Val) -> None:
        self.env[expr.data] = self._still(val)
        self.chain(expr.args[1], item)

    def _quantified(self, expr: Expr) -> Val:
        ends = "1" if expr.op == "any" else "0"
        result, done = self.temp("L", "1" if ends == "0" else "0"), self.fresh("d")

        def item(found: tuple[Val, ...]) -> None:
            sign = "" if ends == "1" else "!"
            self.put(f"if ({sign}{self.value(found[0])}) {{ {result} = {ends}; goto {done}; }}")

        self.put("{")
        self.chain(expr.args[0], item)
        self.put("}")
        self.put(f"{done}:;")
        return Val(BOOL, result)

    def _gathered(self, kind: t.Type, walk: Callable[[Body], None]) -> Val:
        """A set or sequence of what a walk meets; its element type is joined with what comes."""
        name = self.fresh("x")
        made: list[t.Type] = []

        def body(val: Val) -> None:
            made.append(_with_elem(kind, val.type))
            elem = form(made[0]).parts[0]
            text = self.converted(val, elem, LIMIT)
            if isinstance(kind, t.SetOf):
                self.added_to(name, made[0], text)
            else:
                self.put(f"if ({name}.n >= {form(made[0]).count}) {LIMIT}")
                self.put(f"{name}.v[{name}.n++] = {text};")

        lines, _ = self.captured(partial(_walked, walk, body))
        found = made[0] if made else kind
        self.empty(name, found)
        self.lines += lines
        return Val(found, name)

    def _listed(self, expr: Expr) -> Val:
        """A set or list comprehension."""
        kind = expr.type
        if isinstance(kind, t.SeqOf) and kind.upto is None:
            kind = t.SeqOf(kind.elem, _cap(most(expr)))
        return self._gathered(
            kind, lambda body: self.chain(expr.args[0], lambda found: body(found[0]))
        )

    def _collected(self, expr: Expr) -> Val:
        """A sequence built of what the expression walks through."""
        source = expr if expr.op in ("range", "domain", "values", "items", "keys") else expr.args[0]
        elem = expr.type.elem if isinstance(expr.type, t.SeqOf | t.SetOf) else t.NEVER
        kind: t.Type = t.SetOf(elem)
        if expr.op != "toset":
            kind = t.SeqOf(elem, _cap(most(expr)))
        return self._gathered(kind, lambda body: self.each(source, body))

    def _sorted(self, expr: Expr) -> Val:
        """Insertion sort by the canonical order, which for codes is their own."""
        found = self._collected(expr)
        (elem,) = form(found.type).parts
        ctype = self.ctype(elem)
        name, at, to, kept = found.text, self.fresh("i"), self.fresh("i"), self.fresh("x")
        before = f"{name}.v[{to} - 1]"
        order = "" if ctype == "L" else self.order_of(elem)
        later = f"{order}(&{before}, &{kept}) > 0" if order else f"{before} > {kept}"
        self.put(f"for (L {at} = 1; {at} < {name}.n; {at}++) {{")
        self.put(f"{ctype} {kept} = {name}.v[{at}]; L {to} = {at};")
        self.put(f"for (; {to} > 0 && {later}; {to}--) {name}.v[{to}] = {before};")
        self.put(f"{name}.v[{to}] = {kept}; }}")
        return found

    def _setof(self, expr: Expr) -> Val:
        vals = list(map(self.term, expr.args))
        made = t.BagOf if isinstance(expr.type, t.BagOf) else t.SetOf
        kind = made(t.join(v.type for v in vals))
        elem, count = kind.elem, form(kind).count
        if form(kind).kind == "set" and count <= 64:
            codes = [self.rank(self.converted(v, elem, LIMIT), elem) for v in vals]
            return Val(kind, "(" + " | ".join(f"1ull << {c}" for c in codes) + ")" if vals else "0")
        result = self.fresh("x")
        self.empty(result, kind)
        for val in vals:
            self.added_to(result, kind, self.converted(val, elem, LIMIT))
        return Val(kind, result)

    def _seq(self, expr: Expr) -> Val:
        vals = list(map(self.term, expr.args))
        kind = t.SeqOf(t.join(v.type for v in vals), len(vals))
        texts = [self.converted(v, kind.elem, LIMIT) for v in vals] or ["0"]
        return Val(kind, f"(({self.ctype(kind)}){{{len(vals)}, {{{', '.join(texts)}}}}})")

    def _len(self, expr: Expr) -> Val:
        (source,) = expr.args
        if source.op in ("list", "toseq", "values", "items", "keys", "range", "domain"):
            result = self.temp("L", "0")
            self.each(source, lambda _: self.put(f"{result}++;"))
            return Val(t.Int(0, most(source)), result)
        val = self.term(source)
        text = self.count_of(val)
        return Val(t.Int(0, int(text) if text.isdigit() else form(val.type).count), text)

    def _total(self, expr: Expr) -> Val:
        """sum(… for …) and sum(collection)."""
        result = self.temp("L", "0")
        times = most(expr.args[0])
        kinds: list[t.Int] = []

        def add(val: Val) -> None:
            number = self._number(val)
            assert isinstance(number.type, t.Int)
            kinds.append(_times(number.type, times))
            text = self.value(number)
            if kinds[0].lo is None or kinds[0].hi is None:
                self.put(f"if (__builtin_add_overflow({result}, {text}, &{result})) {LIMIT}")
            else:
                self.put(f"{result} += {text};")

        if expr.op == "total":
            self.chain(expr.args[0], lambda found: add(found[0]))
        else:
            self.each(expr.args[0], add)
        return Val(kinds[0] if kinds else t.Int(0, 0), result)

    def _extreme(self, expr: Expr) -> Val:
        result, found = self.temp("L", "0"), self.temp("L", "0")
        kinds: list[t.Type] = []

        def body(val: Val) -> None:
            kinds.append(self._rankable(val).type)
            text = self.temp("L", self.value(val))
            sign = "<" if expr.op == "min" else ">"
            test = f"!{found} || {text} {sign} {result}"
            self.put(f"if ({test}) {{ {result} = {text}; {found} = 1; }}")

        self.each(expr.args[0], body)
        self.put(f"if (!{found}) {RAISED}")
        return Val(kinds[0] if kinds else expr.type, result)

    def _mapping(self, expr: Expr) -> Val:
        """A total map; KeyError unless its entries are those of the key type."""
        assert isinstance(expr.type, t.MapOf)
        name, seen = self.fresh("x"), self.fresh("x")
        key, made = expr.type.key, [expr.type]
        count = len(domain(key))

        def entry(found: tuple[Val, ...]) -> None:
            made[0] = t.MapOf(key, t.join((made[0].value, found[1].type)))
            code = self.temp("L", self.rank(self.converted(found[0], key, RAISED), key))
            self.put(f"{name}.v[{code}] = {self.converted(found[1], made[0].value, LIMIT)};")
            self.put(f"{seen}[{code} / 64] |= 1ull << ({code} % 64);")

        lines, _ = self.captured(lambda: self._entries(expr, entry))
        self.put(f"{self.ctype(made[0])} {name}; U {seen}[{-(-count // 64) or 1}] = {{0}};")
        self.lines += lines
        for word in range(-(-count // 64)):
            full = 2 ** min(64, count - 64 * word) - 1
            self.put(f"if ({seen}[{word}] != {full}ull) {RAISED}")
        return Val(made[0], name)

    def _entries(self, expr: Expr, entry: Callable[[tuple[Val, ...]], None]) -> str:
        if expr.op == "mapping":
            self.chain(expr.args[0], entry)
        else:
            kinds = t.join(a.type for a in expr.args[1::2])
            for key, value in zip(expr.args[::2], expr.args[1::2], strict=True):
                found = self.term(key), self.term(value)
                entry((found[0], Val(kinds, self.converted(found[1], kinds, LIMIT))))
        return ""


def _walked(walk: Callable[[Body], None], body: Body) -> str:
    walk(body)
    return ""


def _cap(count: int | None) -> int | None:
    return count if count is not None and count <= MAX_CAP else None


def _with_elem(kind: t.Type, elem: t.Type) -> t.Type:
    """The type found in C says more than the node's."""
    if isinstance(kind, t.SetOf):
        return type(kind)(elem)
    assert isinstance(kind, t.SeqOf)
    return t.SeqOf(elem, kind.upto)


def _times(kind: t.Int, times: int | None) -> t.Int:
    """The range of a sum of at most so many numbers of this range."""
    if times is None or kind.lo is None or kind.hi is None:
        return t.Int()
    most_lo, most_hi = min(0, kind.lo * times), max(0, kind.hi * times)
    return t.Int(most_lo, most_hi) if most_lo > -SAFE and most_hi < SAFE else t.Int()
