"""Indexing, slicing, joining and membership as C: the last layer of expressions."""

from __future__ import annotations

from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr
from refute.specs.machine.types import show
from refute.specs.machine.values import domain
from refute.verifiers.model.native.folds import MAX_CAP
from refute.verifiers.model.native.forms import Unsuited, form
from refute.verifiers.model.native.recursion import Recursions
from refute.verifiers.model.native.sizes import may_raise
from refute.verifiers.model.native.terms import BOOL
from refute.verifiers.model.native.text import LIMIT, RAISED, Val


class Expressions(Recursions):
    """Text of every expression that the native engine has."""

    def _index(self, expr: Expr) -> Val:
        base, key = self.term(expr.args[0]), expr.args[1]
        if isinstance(base.type, t.Tuple):
            return self.part(base, int(key.data))
        if isinstance(base.type, t.MapOf):
            kind = base.type.key
            code = self.rank(self.converted(self.term(key), kind, RAISED), kind)
            return self.item(base, self.simple(t.Int(), code))
        if isinstance(base.type, t.SeqOf):
            if base.place is None:
                base = self.held(base)
            return self.item(base, self.position(self.term(key), self.count_of(base)))
        raise Unsuited(f"an index into {show(base.type)}")

    def position(self, key: Val, count: str) -> str:
        """A place in a sequence, counted from its end when negative; IndexError outside it."""
        number = self._number(key)
        at = self.temp("L", self.value(number))
        assert isinstance(number.type, t.Int)
        if number.type.lo is None or number.type.lo < 0:
            self.put(f"if ({at} < 0) {at} += {count};")
        low = "" if number.type.lo is not None and number.type.lo >= 0 else f"{at} < 0 || "
        self.put(f"if ({low}{at} >= {count}) {RAISED}")
        return at

    def _slice(self, expr: Expr) -> Val:
        base = self.held(self.term(expr.args[0]))
        if not isinstance(base.type, t.SeqOf):
            raise Unsuited(f"a slice of {show(base.type)}")
        ends = []
        for arg, missing in ((expr.args[1], "0"), (expr.args[2], f"{base.text}.n")):
            if arg.type == t.Nothing():
                ends.append(missing)
            else:
                text = self.value(self._number(self.term(arg)))
                ends.append(self.temp("L", f"sliced({text}, {base.text}.n)"))
        return self._copied(base, ends[0], ends[1])

    def _copied(self, base: Val, low: str, high: str) -> Val:
        result, index = self.variable(base.type), self.fresh("i")
        self.put(f"{result}.n = 0;")
        self.put(f"for (L {index} = {low}; {index} < {high}; {index}++)")
        self.put(f"{result}.v[{result}.n++] = {base.text}.v[{index}];")
        return Val(base.type, result)

    def _popped(self, expr: Expr) -> Val:
        base = self.held(self.term(expr.args[0]))
        at = self.position(self.term(expr.args[1]), f"{base.text}.n")
        result, index = self.variable(base.type), self.fresh("i")
        self.put(f"{result}.n = 0;")
        self.put(f"for (L {index} = 0; {index} < {base.text}.n; {index}++) if ({index} != {at})")
        self.put(f"{result}.v[{result}.n++] = {base.text}.v[{index}];")
        return Val(base.type, result)

    def _cat(self, expr: Expr) -> Val:
        left, right = map(self.term, expr.args)
        if not isinstance(left.type, t.SeqOf) or not isinstance(right.type, t.SeqOf):
            raise Unsuited(f"+ of {show(left.type)} and {show(right.type)}")
        caps = [form(k).count for k in (left.type, right.type)]
        kind = t.SeqOf(t.join((left.type.elem, right.type.elem)), min(sum(caps), MAX_CAP))
        whole = t.SeqOf(kind.elem, caps[0])
        first = self.simple(whole, self.converted(left, whole, LIMIT))
        other = t.SeqOf(kind.elem, caps[1])
        second = self.simple(other, self.converted(right, other, LIMIT))
        result, index = self.variable(kind), self.fresh("i")
        self.put(f"{result}.n = {first}.n + {second}.n;")
        self.put(f"if ({result}.n > {form(kind).count}) {LIMIT}")
        self.put(f"for (L {index} = 0; {index} < {first}.n; {index}++)")
        self.put(f"{result}.v[{index}] = {first}.v[{index}];")
        self.put(f"for (L {index} = 0; {index} < {second}.n; {index}++)")
        self.put(f"{result}.v[{first}.n + {index}] = {second}.v[{index}];")
        return Val(kind, result)

    def _fold(self, expr: Expr) -> Val:
        """A walk that carries values from round to round; all of them are replaced at once."""
        source, start, after = expr.args
        item, *names = expr.data
        first, carried = self._carried(expr, start, after)

        def body(element: Val) -> None:
            self.env[item] = self._still(element)
            self.env.update(zip(names, carried, strict=True))
            self._replace(carried, self.term(after))

        self.put("{")
        self._replace(carried, first)
        self.put("}")
        self.each(source, body)
        return Val(t.Tuple(tuple(val.type for val in carried)), parts=tuple(carried))

    def _in(self, expr: Expr) -> Val:
        item, container = self.term(expr.args[0]), expr.args[1]
        if container.op == "domain" and isinstance(container.type, t.SeqOf):
            return self._member(item, container.type.elem, "1")
        base = None if container.op in _WALKED else self.term(container)
        if base is None or isinstance(base.type, t.SeqOf):
            return self._found(self._still(item), container, base)
        if isinstance(base.type, t.SetOf):
            elem, count = base.type.elem, form(base.type).count
            if form(base.type).kind == "bunch":
                return self._among(item, base)
            if base.place is None:
                base = Val(base.type, self.simple(base.type, self.value(base)))
            elif count > 64:
                return self._member(item, elem, self.packed_bit_test(base.place, "{code}"))
            text = self.value(base)
            return self._member(item, elem, self.bit_test(text, count, "{code}"))
        if isinstance(base.type, t.MapOf):
            return self._member(item, base.type.key, "1")
        if isinstance(base.type, t.Tuple):
            held, still = self._still(base), self._still(item)
            tests = [self.equal(still, self.part(held, n)) for n in range(len(base.type.items))]
            return Val(BOOL, "(" + " || ".join(tests) + ")" if tests else "0")
        raise Unsuited(f"in {show(base.type)}")

    def _among(self, item: Val, base: Val) -> Val:
        """Whether a set that is a sorted array has the element."""
        kind = form(base.type).parts[0]
        result, done = self.temp("L", "0"), self.fresh("d")
        self.put("{")
        found = self.temp(self.ctype(kind), self.converted(item, kind, f"goto {done};"))
        held = self.temp(self.ctype(base.type), self.value(base))
        self.put(f"{result} = {self.bunch(base.type)}_has(&{held}, &{found});")
        self.put("}")
        self.put(f"{done}:;")
        return Val(BOOL, result)

    def _member(self, item: Val, kind: t.Type, test: str) -> Val:
        """Whether the value is of the type and the test holds of its code."""
        if not domain(kind):
            return Val(BOOL, "0")
        done = self.fresh("d")
        fail = f"goto {done};"
        lines, code = self.captured(lambda: self.rank(self.converted(item, kind, fail), kind))
        if not any(fail in line for line in lines):
            self.lines += lines
            return Val(BOOL, test.replace("{code}", code))
        result = self.temp("L", "0")
        self.put("{")
        self.lines += lines
        self.put(f"{result} = {test.replace('{code}', code)};")
        self.put("}")
        self.put(f"{done}:;")
        return Val(BOOL, result)

    def _found(self, item: Val, container: Expr, base: Val | None) -> Val:
        result, done = self.temp("L", "0"), self.fresh("d")

        def body(val: Val) -> None:
            test = self.equal(item, val)
            self.put(f"if ({test}) {{ {result} = 1; goto {done}; }}")

        self.put("{")
        if base is not None:
            self.each_of(base, body)
        elif may_raise(container):
            self.each_of(self.term(container), body)
        else:
            self.each(container, body)
        self.put("}")
        self.put(f"{done}:;")
        return Val(BOOL, result)


_WALKED = ("list", "range", "values", "items", "keys", "toseq")
