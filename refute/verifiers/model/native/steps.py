"""Actions, processes and properties of the IR as C functions.

A step copies the packed state, writes into the copy, and emits it where it ends; a false `when`
just returns, so there is nothing to undo. A step with choices is run again for every vector of
them, as in the plain engine, so that both meet the same successors in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence

from refute.specs.machine import types as t
from refute.specs.machine.ir import (
    Action,
    Assign,
    Block,
    Branch,
    Check,
    Choose,
    Die,
    Done,
    Expr,
    For,
    If,
    Jump,
    Leave,
    Param,
    Property,
    Stmt,
    When,
    Write,
    Yield,
)
from refute.specs.machine.types import show
from refute.specs.machine.values import domain
from refute.verifiers.model.native.branches import branch_lines, words_of
from refute.verifiers.model.native.choosing import early, loops_over_choices
from refute.verifiers.model.native.forms import Unsuited, form
from refute.verifiers.model.native.indexing import Expressions
from refute.verifiers.model.native.layout import Family, Layout
from refute.verifiers.model.native.text import LIMIT, RAISED, Place, Val

_STILL = ("domain", "range")


class Steps(Expressions):
    """Text of the functions of one machine."""

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        self.layout = layout
        self._locals: dict[str, t.Type] = {}
        self._loops: list[tuple[str, str]] = []
        self._finish: list[str] = []
        self._onward = ""  # a label at the end of the loop over a choice's options
        self._lines = branch_lines(layout.ir)
        self._function_number = 0
        self._ran = 0  # the first word of the branches of the step in hand
        self._branch = 0  # the next branch of it

    def seen(self, array: str) -> dict[str, tuple[t.Type, Place]]:
        """Where the variables lie in a state held in this array."""
        pairs = zip(self.layout.ir.variables, self.layout.offsets, strict=False)
        return {v.name: (v.type, Place(array, str(at // 64), str(at % 64))) for v, at in pairs}

    def _function(self, head: str, params: Sequence[Param], lines: Sequence[str]) -> None:
        given = "".join(f", {self.ctype(p.type)} p{at}" for at, p in enumerate(params))
        self.prelude.append(f"{head}{given})\n{{")
        self.prelude += lines
        self.prelude.append("}")

    def _bind(self, params: Sequence[Param]) -> None:
        self.env = {p.name: Val(p.type, f"p{at}") for at, p in enumerate(params)}

    def property(self, number: int, prop: Property) -> None:
        """The function `q<number>(s, n)`: 1, 0, RAISED or LIMIT."""
        self.places, self.next = self.seen("s"), self.seen("n")
        self._locals, self.env = {}, {}

        def work() -> str:
            for param in prop.params:
                code = self.fresh("i")
                self.put(f"for (L {code} = 0; {code} < {len(domain(param.type))}; {code}++) {{")
                self.env[param.name] = Val(param.type, self.unrank(code, param.type))
            self.put(f"if (!{self.simple(t.Bool(), self.text(prop.predicate))}) return 0;")
            self.put("}" * len(prop.params) + " return 1;")
            return ""

        lines, _ = self.captured(work)
        self._function(f"static int q{number}(const U *s, const U *n", (), lines)

    def action(self, number: int, name: int, action: Action) -> None:
        """The function `a<number>`, which emits where the action ends."""

        def work() -> str:
            self._begin(number, action.params, action.body)
            self._open_locals()
            self.places, start = self.seen("s"), early(action.body)
            looped = loops_over_choices(action)
            nexts = [self._statement(stmt, looped) for stmt in action.body[:start]]
            self.put("memcpy(w, s, sizeof w);")
            self.places = self.seen("w")
            self._finish = self._emitted(name)
            self.body(action.body[start:])
            self.lines += self._finish
            self.lines += [f"{label}:; }}" for label in reversed(nexts) if label]
            self.put("return TAKEN;")
            self._onward = ""
            return ""

        lines, _ = self.captured(work)
        head = f"static inline int a{number}(Thread *t, const U *s, U i"
        self._function(head, action.params, lines)

    def _emitted(self, name: int) -> list[str]:
        """The lines that end a step: its branches have run, and there is a successor."""
        words = words_of(self._lines[self._function_number])
        noted = [f"t->ran[{self._ran + at}] |= r{at};" for at in range(words)]
        return [*noted, f"emit(t, s, w, i, {name}); {self._run_over()}"]

    def _run_over(self) -> str:
        """The C that ends a run of a step: of the next option of a choice, if it is a loop."""
        return f"goto {self._onward};" if self._onward else "return DISABLED;"

    def _taken(self, body: Sequence[Stmt]) -> None:
        """A branch of the step begins here."""
        if body:
            self.put(f"r{self._branch // 64} |= {1 << self._branch % 64}ull;")
            self._branch += 1

    def _begin(self, function: int, params: Sequence[Param], *bodies: Sequence[Stmt]) -> None:
        """function: the number of the action, or of the process after all actions."""
        self._function_number, self._branch = function, 0
        self._ran = sum(map(words_of, self._lines[:function]))
        for at in range(words_of(self._lines[function])):
            self.put(f"U r{at} = 0;")
        self.places, self.next = self.seen("w"), {}
        self._bind(params)
        self._locals = {}
        self._loops = []
        for body in bodies:
            self._declare(body)
        self.put("(void)t; (void)i; U w[W];")

    def _declare(self, body: Sequence[Stmt]) -> None:
        """Find the type of every local: all that it gets and is read as."""
        for stmt in body:
            match stmt:
                case Assign():
                    self._hold(stmt.name, stmt.value.type)
                case Choose():
                    self._hold(stmt.name, stmt.type)
                case For():
                    self._hold(stmt.name, _element(stmt.source.type))
                    self._declare(stmt.body)
                case If():
                    self._declare((*stmt.then, *stmt.orelse))

    def _hold(self, name: str, kind: t.Type) -> None:
        known = self._locals.get(name)
        self._locals[name] = kind if known is None else t.join((known, kind))

    def _open_locals(self) -> None:
        """Declare the locals; a parameter that is assigned to begins with what was given."""
        for at, (name, kind) in enumerate(self._locals.items()):
            given = self.env.get(name)
            kind = kind if given is None else t.join((kind, given.type))
            self.put(f"{self.ctype(kind)} l{at};")
            if given is not None:
                self.put(f"l{at} = {self.converted(given, kind, LIMIT)};")
            self.env[name] = Val(kind, f"l{at}")

    def process(self, number: int, name: int, made: Family, slot: int) -> None:
        """The function `p<number>`: one step of the process with the number `me`."""
        process = made.process
        offset = self.layout.offsets[slot]

        def work() -> str:
            function = len(self.layout.ir.actions) + number
            self._begin(function, process.params, *(b.body for b in process.blocks))
            for param in process.locals:
                if param.name not in self.env:
                    self._hold(param.name, param.type)
            self.put("memcpy(w, s, sizeof w);")
            self._open_locals()
            start = Place("w", str(offset // 64), str(offset % 64))
            place = start.element(len(made.members), made.width, "me")
            self._resume(made, place)
            done = self._ended(made, place, len(made.stops), (), name)
            for at, block in enumerate(process.blocks):
                self._finish = done
                self.put(f"B{at}:; {{")
                self._block(made, place, block, name)
                self.put("}")
            return ""

        lines, _ = self.captured(work)
        head = f"static inline int p{number}(Thread *t, const U *s, U i, L me"
        self._function(head, process.params, lines)

    def _resume(self, made: Family, place: Place) -> None:
        """Go on at the block that the process stopped before, with the locals it kept."""
        self.put(f"switch ({self.bits(place, made.place_width)}) {{")
        for at, stop in enumerate(made.stops):
            self.put(f"case {at}: {{")
            names = made.live.get(stop, ())
            for name, start in zip(names, made.offsets(stop)[1:], strict=True):
                kept = Val(made.types[name], place=place.shifted(start))
                local = self.env[name]
                self.put(f"{local.text} = {self.converted(kept, local.type, LIMIT)};")
            self.put(f"goto B{stop}; }}")
        self.put("}")
        self.put(self._run_over())

    def _block(self, made: Family, place: Place, block: Block, name: int) -> None:
        self._taken(block.body)
        self.body(block.body)
        match block.end:
            case Jump(target):
                self.put(f"goto B{target};")
            case Branch(condition, then, orelse):
                self.put(f"if ({self.text(condition)}) goto B{then}; goto B{orelse};")
            case Yield(target, live):
                stop = made.stops.index(target)
                self.lines += self._ended(made, place, stop, live, name)
            case Done():
                self.lines += self._finish

    def _ended(
        self, made: Family, place: Place, stop: int, live: Sequence[str], name: int
    ) -> list[str]:
        """The lines that put the process at a stop and emit the state."""

        def work() -> str:
            values = [
                self.held(Val(made.types[n], self.converted(self.env[n], made.types[n], LIMIT)))
                for n in live
            ]
            self.clear(place, made.width)
            self.put_bits(place, made.place_width, str(stop))
            if live:
                offsets = made.offsets(made.stops[stop])[1:]
                for value, start in zip(values, offsets, strict=True):
                    self.store(place.shifted(start), value.type, value.text)
            self.lines += self._emitted(name)
            return ""

        return self.captured(work)[0]

    def body(self, body: Sequence[Stmt]) -> None:
        """The statements in order."""
        for stmt in body:
            self._statement(stmt)

    def _statement(self, stmt: Stmt, looped: bool = False) -> str:
        """Its lines. looped: a choice opens a loop, and the label at its end is given."""
        match stmt:
            case When(condition):
                self.put(f"if (!{self.simple(t.Bool(), self.text(condition))}) {self._run_over()}")
            case Check(condition):
                self.put(f"if (!{self.simple(t.Bool(), self.text(condition))}) {RAISED}")
            case Assign(name, value):
                local = self.env[name]
                self.put(f"{local.text} = {self.converted(self.term(value), local.type, LIMIT)};")
            case Write():
                self._write(stmt)
            case Choose():
                self._choose(stmt, looped)
                return self._onward
            case If(condition, then, orelse):
                self.put(f"if ({self.text(condition)}) {{")
                self._taken(then)
                self.body(then)
                self.put("} else {")
                self._taken(orelse)
                self.body(orelse)
                self.put("}")
            case For():
                self._for(stmt)
            case Die():
                self._die()
            case Leave(word="return"):
                self.lines += self._finish
            case Leave(word="break" | "continue" as word):
                self.put(f"goto {self._loops[-1][word == 'continue']};")
            case _:
                raise Unsuited(f"the statement {type(stmt).__name__}")
        return ""

    def _die(self) -> None:
        """All processes have ended."""
        count = len(self.layout.ir.variables)
        offsets = self.layout.offsets[count:]
        for made, offset in zip(self.layout.families, offsets, strict=True):
            index = self.fresh("i")
            self.put(f"for (L {index} = 0; {index} < {len(made.members)}; {index}++) {{")
            start = Place("w", str(offset // 64), str(offset % 64))
            place = start.element(len(made.members), made.width, index)
            self.clear(place, made.width)
            self.put_bits(place, made.place_width, str(len(made.stops)))
            self.put("}")

    def _write(self, stmt: Write) -> None:
        kind, place = self.places[stmt.var]
        value = self.term(stmt.value)
        target = kind
        for _ in stmt.path:
            target = form(target).parts[0]
        text = self.simple(target, self.converted(value, target, RAISED))
        for key in stmt.path:
            if isinstance(kind, t.MapOf):
                code = self.rank(self.converted(self.term(key), kind.key, RAISED), kind.key)
                index = self.simple(t.Int(), code)
            elif isinstance(kind, t.SeqOf):
                index = self.position(self.term(key), f"({self.length(place, kind)})")
            else:
                raise Unsuited(f"a write into {show(kind)}")
            place = self.item_place(place, kind, index)
            kind = form(kind).parts[0]
        self.store(place, kind, text)

    def _choose(self, stmt: Choose, looped: bool) -> None:
        local = self.env[stmt.name]
        found = self._options(stmt.source)
        count = self.temp("L", self.count_of(found))
        self.put(f"if ({count} == 0) {self._run_over()}")
        if looped:
            at = self._each_option(count)
        else:
            at = self.temp("L", f"pick(t, {count})")
            self.put(f"if ({at} < 0) {LIMIT}")
        chosen = self._nth(found, at)
        self.put(f"{local.text} = {self.converted(chosen, local.type, LIMIT)};")

    def _each_option(self, count: str) -> str:
        """Open the loop over so many options; the branches taken are those up to here."""
        at, self._onward = self.fresh("i"), self.fresh("d")
        words = range(words_of(self._lines[self._function_number]))
        kept = [self.temp("U", f"r{word}") for word in words]
        self.put(f"for (L {at} = 0; {at} < {count}; {at}++) {{")
        self.lines += [f"r{word} = {name};" for word, name in zip(words, kept, strict=True)]
        return at

    def _options(self, source: Expr) -> Val:
        """What is chosen from; a map's keys and a domain stand for the set of all of them."""
        if source.op == "domain" and isinstance(source.type, t.SeqOf):
            return Val(t.MapOf(source.type.elem, t.Nothing()))
        return self.held(self.term(source))

    def _nth(self, found: Val, at: str) -> Val:
        match found.type:
            case t.SetOf(elem) if form(found.type).kind == "set":
                wide = form(found.type).count > 64
                text = f"nth_bits({found.text}.w, {at})" if wide else f"nth_bit({found.text}, {at})"
                code = self.temp("L", text)
                return Val(elem, self.unrank(code, elem))
            case t.MapOf(key, _):
                return Val(key, self.unrank(at, key))
            case t.SeqOf() | t.SetOf():
                return self.item(found, at)
            case t.Tuple(items):
                kind, name = t.join(items), self.fresh("x")
                self.put(f"{self.ctype(kind)} {name}[{max(len(items), 1)}];")
                for number in range(len(items)):
                    text = self.converted(self.part(found, number), kind, LIMIT)
                    self.put(f"{name}[{number}] = {text};")
                return Val(kind, f"{name}[{at}]")
        raise Unsuited(f"a choice from {show(found.type)}")

    def _for(self, stmt: For) -> None:
        local = self.env[stmt.name]
        after, onward = self.fresh("d"), self.fresh("d")

        def body(val: Val) -> None:
            self.put(f"{local.text} = {self.converted(val, local.type, LIMIT)};")
            self._loops.append((after, onward))
            self.body(stmt.body)
            self._loops.pop()
            self.put(f"{onward}:;")

        self.put("{")
        if stmt.source.op in _STILL:
            self.each(stmt.source, body)
        else:
            self.each_of(self.held(self.term(stmt.source)), body)
        self.put("}")
        self.put(f"{after}:;")


def _element(kind: t.Type) -> t.Type:
    match kind:
        case t.SetOf(elem):
            return elem
        case t.SeqOf(elem, _):
            return elem
        case t.MapOf(key, _):
            return key
        case t.Tuple(items):
            return t.join(items)
    raise Unsuited(f"a walk through {show(kind)}")
