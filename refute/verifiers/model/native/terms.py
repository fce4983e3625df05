"""Expressions of the IR as C.

Every term gives a `Val` of its actual type, which may be wider than the node says (locals are held
in the union of all they get). Arithmetic is checked for overflow wherever the types do not bound
it; a step that would overflow is left to the plain engine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr
from refute.specs.machine.types import show
from refute.specs.machine.values import Tag, domain, is_instance, members, unpack_value
from refute.verifiers.model.native.bunches import KEPT
from refute.verifiers.model.native.forms import Unsuited, form
from refute.verifiers.model.native.numeric import Numbers
from refute.verifiers.model.native.text import LIMIT, RAISED, Place, Val

BOOL = t.Bool()
_ORDER = ("<", "<=", ">", ">=")


class Terms(Numbers):
    """Text of expressions. env: what the locals in sight stand for."""

    def __init__(self) -> None:
        super().__init__()
        self.env: dict[str, Val] = {}
        self.places: dict[str, tuple[t.Type, Place]] = {}
        self.next: dict[str, tuple[t.Type, Place]] = {}

    def term(self, expr: Expr) -> Val:
        """The expression's value. Raises Unsuited for what has no C."""
        op = expr.op
        if op in _ORDER:
            return self._order(expr)
        if op in ("+", "-", "*"):
            return self._arithmetic(expr)
        if op in ("|", "&", "^") and isinstance(expr.type, t.Int):
            return self._bits(expr)
        if op in ("|", "&", "^", "diff", "subset", "disjoint"):
            return self._sets(expr)
        method = getattr(self, f"_{_NAMES.get(op, op)}", None)
        if method is None:
            raise Unsuited(f"the operation {op}")
        made: Val = method(expr)
        return made

    def text(self, expr: Expr) -> str:
        """The expression's C text."""
        return self.value(self.term(expr))

    def held(self, val: Val) -> Val:
        """The value in a temporary of its own, so that later writes do not change it."""
        if val.parts is not None:
            return Val(val.type, parts=tuple(map(self.held, val.parts)))
        return Val(val.type, self.simple(val.type, self.value(val)))

    def _const(self, expr: Expr) -> Val:
        return self.constant(unpack_value(expr.data), expr.type)

    def _read(self, expr: Expr) -> Val:
        kind, place = self.places[expr.data]
        return Val(kind, place=place)

    def _next(self, expr: Expr) -> Val:
        kind, place = self.next[expr.data]
        return Val(kind, place=place)

    def _local(self, expr: Expr) -> Val:
        return self.env[expr.data]

    def _let(self, expr: Expr) -> Val:
        value = self.term(expr.args[0])
        self.env[expr.data] = value if value.place is not None else self.held(value)
        return self.term(expr.args[1])

    def _not(self, expr: Expr) -> Val:
        return Val(BOOL, f"!{self.text(expr.args[0])}")

    def _and(self, expr: Expr) -> Val:
        return self._chained(expr, "&&", "0")

    def _or(self, expr: Expr) -> Val:
        return self._chained(expr, "||", "1")

    def _chained(self, expr: Expr, operator: str, ends: str) -> Val:
        """Left to right, and no further than Python goes."""
        found = self.text(expr.args[0])
        for arg in expr.args[1:]:
            lines, text = self.captured(partial(self.text, arg))
            if not lines:
                found = f"({found} {operator} {text})"
                continue
            result = self.temp("L", found)
            self.put(f"if ({'' if ends == '0' else '!'}{result}) {{")
            self.lines += lines
            self.put(f"{result} = {text};")
            self.put("}")
            found = result
        return Val(BOOL, found)

    def _if(self, expr: Expr) -> Val:
        test = self.text(expr.args[0])
        branches: list[tuple[list[str], Val]] = []
        for arg in expr.args[1:]:
            found: list[Val] = []
            lines, _ = self.captured(partial(self._noted, arg, found))
            branches.append((lines, found[0]))
        kind = t.join((expr.type, *(val.type for _, val in branches)))
        form(kind)
        result = self.fresh("x")
        texts = []
        for lines, val in branches:
            more, text = self.captured(partial(self.converted, val, kind, LIMIT))
            texts.append(([*lines, *more], text))
        if not texts[0][0] and not texts[1][0]:
            return Val(kind, f"({test} ? {texts[0][1]} : {texts[1][1]})")
        self.put(f"{self.ctype(kind)} {result};")
        for head, (lines, text) in zip((f"if ({test}) {{", "} else {"), texts, strict=True):
            self.put(head)
            self.lines += lines
            self.put(f"{result} = {text};")
        self.put("}")
        return Val(kind, result)

    def _noted(self, expr: Expr, found: list[Val]) -> str:
        found.append(self.term(expr))
        return ""

    def _equal(self, expr: Expr) -> Val:
        left, right = map(self.term, expr.args)
        text = self.equal(left, right)
        return Val(BOOL, f"!{text}" if expr.op == "!=" else text)

    def _order(self, expr: Expr) -> Val:
        left, right = (self.value(self._rankable(self.term(a))) for a in expr.args)
        return Val(BOOL, f"({left} {expr.op} {right})")

    def _sets(self, expr: Expr) -> Val:
        if expr.op in ("|", "diff") and expr.args[1].op == "setof":
            return self._by_elements(expr)
        left, right = map(self.term, expr.args)
        if not isinstance(left.type, t.SetOf) or not isinstance(right.type, t.SetOf):
            raise Unsuited(f"{expr.op} of {show(left.type)}")
        if expr.op in ("|", "^"):
            kind = t.join((left.type, right.type))
            texts = [self.converted(v, kind, LIMIT) for v in (left, right)]
            return self._together(expr.op, kind, texts)
        if expr.op == "subset":
            return self._subset(left, right)
        text = self.value(right)
        if right.type != left.type:
            text = self.set_converted(text, right.type, left.type, "")
        texts = [self.value(left), text]
        if expr.op == "disjoint":
            return self._empty(self._together("&", left.type, texts))
        return self._together(expr.op, left.type, texts)

    def _by_elements(self, expr: Expr) -> Val:
        """A set with some elements more or less."""
        left = self.term(expr.args[0])
        elems = list(map(self.term, expr.args[1].args))
        if not isinstance(left.type, t.SetOf):
            raise Unsuited(f"{expr.op} of {show(left.type)}")
        more = expr.op == "|"
        kinds = (left.type.elem, *(e.type for e in elems if more))
        kind = type(left.type)(t.join(kinds))
        result = self.temp(self.ctype(kind), self.converted(left, kind, LIMIT))
        (elem,) = form(kind).parts
        for val in elems:
            if more:
                self.added_to(result, kind, self.converted(val, elem, LIMIT))
                continue
            other = self.fresh("d")
            self.put("{")
            self.taken_from(result, kind, self.converted(val, elem, f"goto {other};"))
            self.put("}")
            self.put(f"{other}:;")
        return Val(kind, result)

    def _together(self, op: str, kind: t.Type, texts: list[str]) -> Val:
        """Two sets of one type."""
        if form(kind).kind == "bunch":
            return Val(kind, self.walked_together(kind, KEPT[op], *texts))
        operator = "& ~" if op == "diff" else op
        if form(kind).count <= 64:
            return Val(kind, f"({texts[0]} {operator} {texts[1]})")
        left, right = (self.simple(kind, x) for x in texts)
        result = self.variable(kind)
        for at in range(-(-form(kind).count // 64)):
            self.put(f"{result}.w[{at}] = {left}.w[{at}] {operator} {right}.w[{at}];")
        return Val(kind, result)

    def _empty(self, val: Val) -> Val:
        if form(val.type).kind == "bunch":
            return Val(BOOL, f"({val.text}.n == 0)")
        return Val(BOOL, self.same(self.value(val), self.zero(val.type), val.type))

    def _subset(self, left: Val, right: Val) -> Val:
        result, done = self.temp("L", "0"), self.fresh("d")
        self.put("{")
        text = self.value(left)
        if left.type != right.type:
            text = self.set_converted(text, left.type, right.type, f"goto {done};")
        over = self._together("diff", right.type, [text, self.value(right)])
        self.put(f"{result} = {self._empty(over).text};")
        self.put("}")
        self.put(f"{done}:;")
        return Val(BOOL, result)

    def _removed(self, expr: Expr) -> Val:
        base = self.held(self.term(expr.args[0]))
        (elem,) = form(base.type).parts
        count = form(base.type).count
        if form(base.type).kind == "bunch":
            found = self.converted(self.term(expr.args[1]), elem, RAISED)
            gone = self.temp(self.ctype(elem), found)
            result = self.temp(self.ctype(base.type), base.text)
            self.put(f"if (!{self.bunch(base.type)}_drop(&{result}, &{gone})) {RAISED}")
            return Val(base.type, result)
        code = self.rank(self.converted(self.term(expr.args[1]), elem, RAISED), elem)
        code = self.temp("L", code)
        result = self.temp(self.ctype(base.type), base.text)
        self.put(f"if (!{self.bit_test(result, count, code)}) {RAISED}")
        word = result if count <= 64 else f"{result}.w[{code} / 64]"
        self.put(f"{word} &= ~(1ull << ({code} % 64));")
        return Val(base.type, result)

    def _fail(self, expr: Expr) -> Val:
        self.put(RAISED)
        return Val(expr.type, self.zero(expr.type))

    def _only(self, expr: Expr) -> Val:
        base = self.term(expr.args[0])
        wanted = [_told_by(o) for o in t.options(expr.type)]
        kind = t.join(o for o in t.options(base.type) if _told_by(o) in wanted)
        return Val(kind, self.converted(base, kind, RAISED))

    def _tuple(self, expr: Expr) -> Val:
        parts = tuple(map(self.term, expr.args))
        return Val(t.Tuple(tuple(p.type for p in parts)), parts=parts)

    def _make(self, expr: Expr) -> Val:
        if not isinstance(expr.type, t.Rec):
            raise Unsuited("a record of no record type")
        parts = tuple(map(self.term, expr.args))
        names = (name for name, _ in expr.type.fields)
        kind = t.Rec(expr.type.name, tuple((n, p.type) for n, p in zip(names, parts, strict=True)))
        form(kind)
        return Val(kind, parts=parts)

    def _field(self, expr: Expr) -> Val:
        base = self.term(expr.args[0])
        name = expr.data
        if isinstance(base.type, t.Rec):
            return self.part(base, _position(base.type, name))
        kinds = [f for o in t.options(base.type) for n, f in _fields(o) if n == name]
        kind = t.join(kinds)
        if form(base.type).kind == "code":
            return self._looked_up(base, kind, lambda v: _field_of(v, name))
        text = self.simple(base.type, self.value(base))
        result = self.variable(kind)
        self.put(f"switch ({text}.tag) {{")
        for at, option in enumerate(t.options(base.type)):
            self.put(f"case {at}: {{")
            if name in dict(_fields(option)):
                inner = self.part(Val(option, f"{text}.f{at}"), _position(option, name))
                self.put(f"{result} = {self.converted(inner, kind, LIMIT)};")
            else:
                self.put(RAISED)
            self.put("break; }")
        self.put("}")
        return Val(kind, result)

    def _looked_up(self, base: Val, kind: t.Type, entry: Callable[[object], object]) -> Val:
        """A function of a small type as a table; it raises where the entry is `_NONE`."""
        text = self.simple(base.type, self.value(base))
        found = [entry(v) for v in domain(base.type)]
        if _NONE in found:
            self.put(f"if (!{self.among([v is not _NONE for v in found], text)}) {RAISED}")
        ctype = self.ctype(kind)
        blank = "0" if ctype in ("L", "U") else "{0}"
        literals = [blank if v is _NONE else self.literal(v, kind) for v in found]
        return Val(kind, self.table(ctype, literals, text))

    def _ordinal(self, expr: Expr) -> Val:
        base = self.term(expr.args[0])
        (kind,) = [o for o in t.options(base.type) if isinstance(o, t.Atoms)]
        return Val(t.Int(0, len(kind.members) - 1), self.converted(base, kind, RAISED))

    def _successor(self, expr: Expr) -> Val:
        (kind,) = [o for o in t.options(expr.type) if isinstance(o, t.Atoms)]
        after: dict[object, object] = dict(
            zip(members(kind), (*members(kind)[1:], None), strict=True)
        )
        base = Val(kind, self.converted(self.term(expr.args[0]), kind, RAISED))
        return self._looked_up(base, t.join((kind, t.Nothing())), lambda v: after[v])

    def _isa(self, expr: Expr) -> Val:
        base, kinds = self.term(expr.args[0]), tuple(expr.data)
        if form(base.type).kind == "code":
            inside = [is_instance(v, kinds) for v in domain(base.type)]
            return Val(BOOL, self.among(inside, self.simple(base.type, self.value(base))))
        options = t.options(base.type)
        if any(isinstance(o, t.Int) for o in options) and t.Bool() in kinds:
            raise Unsuited("isinstance of a number and bool")
        fits = [at for at, option in enumerate(options) if _is_one(option, kinds)]
        if len(options) == 1:
            return Val(BOOL, str(len(fits)))
        text = self.simple(base.type, self.value(base))
        tests = " || ".join(f"{text}.tag == {at}" for at in fits)
        return Val(BOOL, f"({tests})" if fits else "0")


def _is_one(option: t.Type, kinds: tuple[t.Type, ...]) -> bool:
    """Whether all values of the type are instances of the classes."""
    match option:
        case t.Rec(name) | t.Atoms(name):
            named = [k.name for k in kinds if isinstance(k, t.Rec | t.Atoms)]
            return name in named
        case t.Int() | t.Bool():
            return any(isinstance(k, t.Int) or k == option for k in kinds)
    return False


class _Nothing:
    """Where a table has no entry."""


_NONE = _Nothing()
_NAMES = {"==": "equal", "!=": "equal", "//": "divided", "%": "divided", "least": "several"}
_NAMES |= {"most": "several", "any": "quantified", "all": "quantified", "set": "listed"}
_NAMES |= {"list": "listed", "sum": "total", "min": "extreme", "max": "extreme", "dict": "mapping"}
_NAMES |= dict.fromkeys(("toset", "toseq", "range", "domain"), "collected")
_NAMES |= dict.fromkeys(("values", "items", "keys"), "collected")


def _fields(kind: t.Type) -> tuple[tuple[str, t.Type], ...]:
    return kind.fields if isinstance(kind, t.Rec) else ()


def _position(kind: t.Type, name: str) -> int:
    return [n for n, _ in _fields(kind)].index(name)


def _field_of(value: object, name: str) -> object:
    if type(value) is tuple and value and type(value[0]) is Tag and name in value[0].position:
        return value[value[0].position[name]]
    return _NONE


def _told_by(kind: t.Type) -> tuple[type, str]:
    """What tells an option of a union from others."""
    return type(kind), kind.name if isinstance(kind, t.Rec | t.Atoms) else ""
