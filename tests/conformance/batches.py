"""The C of many machines in one library, asked for single steps: cheap enough for very many.

The compiler takes as long for the search that all machines share as for a machine of its own text.
Here that text stands alone, with one function that takes all steps of a state and one that asks a
predicate, so what is compared is everything that differs from machine to machine.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from refute.specs.machine.ir import STEP_KINDS, MachineIR
from refute.verifiers.model.compiled import Compiled, StepRaised, expand
from refute.verifiers.model.native.compiler import QUICK, built
from refute.verifiers.model.native.forms import ROOMS, Cramped, Room, Unsuited, with_room
from refute.verifiers.model.native.layout import Layout
from refute.verifiers.model.native.program import layout_of, written
from refute.verifiers.model.native.steps import Steps
from refute.verifiers.model.search import Search

RAISED, LIMIT, MOST = -1, -2, 4096
_OWN = re.compile(
    r"\b(?:[qapSc]\d+|f\d+(?:_[a-z]+)?|expand|starts|returned|rf_shape|rf_take|rf_begin|rf_ask|Thread|emit|start"
    r"|pick|again|start_picks|raised_step|limited|only|unfit|put)\b"
)
_HEAD = """
typedef struct Thread Thread;
struct Thread { U ran[RAN + 1]; int depth, known; L trail[64][2]; U *out, count; };
static int unfit;
static void put(Thread *t, U instance, U kind, const U *w)
{
    U *row = t->out + t->count * (W + 2);
    if (t->count == 4096) { unfit = 1; return; }
    row[0] = instance; row[1] = kind; memcpy(row + 2, w, 8 * W); t->count++;
}
static void limited(void) { unfit = 1; }
static void raised_step(Thread *t, const U *s, U i) { put(t, i, 1, s); }
static void emit(Thread *t, const U *s, const U *w, U i, int name) { put(t, i, 0, w); }
static void start(Thread *t, const U *s) { put(t, 0, 0, s); }
"""
_TINY = """
#ifdef __TINYC__
static int tiny_ctz(U x) { int n = 0; while (!(x & 1)) { x >>= 1; n++; } return n; }
static int tiny_count(U x) { int n = 0; for (; x; x &= x - 1) n++; return n; }
static int tiny_add(L a, L b, L *r)
{
    *r = (L)((U)a + (U)b);
    return (a < 0) == (b < 0) && (*r < 0) != (a < 0);
}
static int tiny_sub(L a, L b, L *r)
{
    *r = (L)((U)a - (U)b);
    return (a < 0) != (b < 0) && (*r < 0) != (a < 0);
}
static int tiny_mul(L a, L b, L *r)
{
    *r = (L)((U)a * (U)b);
    if (a == -1) return b < 0 && *r == b;
    return a && (b == -1 ? a < 0 && *r == a : *r / a != b);
}
#define __builtin_ctzll tiny_ctz
#define __builtin_popcountll tiny_count
#define __builtin_add_overflow tiny_add
#define __builtin_sub_overflow tiny_sub
#define __builtin_mul_overflow tiny_mul
#endif
"""
_TAIL = """
static Thread only;
L rf_take(const U *s, U *out)
{
    only.out = out; only.count = 0; unfit = 0;
    if (s) expand(&only, s); else starts(&only);
    return unfit ? -1 : (L)only.count;
}
int rf_ask(int number, const U *s, const U *n) { switch (number) { %s } return -3; }
"""


@dataclasses.dataclass
class Asked:
    """A machine's C, asked for steps of states as the plain engine holds them."""

    layout: Layout
    number: int
    library: Any = None

    def steps(self, state: Any) -> list[tuple[int, int, tuple[int, ...]]] | None:
        """Instance, 1 if it raised, packed state behind; None: it has no room. None: starts."""
        words = self.layout.words
        rows = (ctypes.c_ulonglong * (MOST * (words + 2)))()
        take = self.library[f"rf_take_{self.number}"]
        take.restype = ctypes.c_longlong
        count = take(None if state is None else self._row(state), rows)
        if count < 0:
            return None
        size = words + 2
        found = [rows[at * size : (at + 1) * size] for at in range(count)]
        return [(r[0], r[1], tuple(r[2:])) for r in found]

    def holds(self, number: int, *states: Any) -> int:
        """What a predicate answers: 0, 1, RAISED or LIMIT."""
        rows = [self._row(s) for s in states]
        return int(self.library[f"rf_ask_{self.number}"](number, rows[0], rows[-1]))

    def _row(self, state: Any) -> Any:
        words = self.layout.pack(state)
        return (ctypes.c_ulonglong * len(words))(*words)


def machine_text(ir: MachineIR, number: int) -> tuple[str, Asked]:
    """The text of one machine, whose names end in its number. Raises Unsuited."""
    layout = layout_of(ir)
    text = Steps(layout)
    head = written(text, ir, layout)
    kinds = [(at, p) for at, p in enumerate(ir.properties) if p.kind not in ("weak", "strong")]
    cases = " ".join(f"case {at}: return q{at}(s, n);" for at, _ in kinds)
    defined = re.findall(r"^#define (\w+)", "\n".join(head), re.MULTILINE)
    choices = resources.files("refute.verifiers.model.native").joinpath("choices.c").read_text()
    parts = [*head, "enum { PICKS = 64 };" if number == 0 else "", _HEAD, choices]
    body = "\n".join([*parts, *text.prelude, _TAIL % cases])
    body = _OWN.sub(lambda found: f"{found[0]}_{number}", body)
    undone = "\n".join(f"#undef {name}" for name in defined)
    return f"{body}\n{undone}\n", Asked(layout, number)


@contextlib.contextmanager
def compiled(text: str, tiny: str = "") -> Iterator[Path]:
    """The library made of a text."""
    if not tiny:
        with built(text, QUICK) as path:
            yield path
        return
    with tempfile.TemporaryDirectory() as directory:
        source, path = Path(directory) / "machines.c", Path(directory) / "machines.so"
        source.write_text(text)
        subprocess.run([*tiny.split(), "-w", "-shared", "-o", path, source], check=True)
        yield path


@contextlib.contextmanager
def together(
    irs: Sequence[MachineIR], room: Room = ROOMS[1], tiny: str = ""
) -> Iterator[list[Asked | str]]:
    """The machines in one library; for those that have no C, why.

    tiny: the command of the Tiny C Compiler, which takes a fiftieth of the time.
    """
    made: list[Asked | str] = []
    folder = resources.files("refute.verifiers.model.native")
    texts = [
        folder.joinpath("values.c").read_text().replace("static inline", _TINY + "static inline", 1)
    ]
    for ir in irs:
        try:
            with with_room(room):
                text, asked = machine_text(ir, len(texts) - 1)
        except Unsuited as why:
            made.append(f"no room: {why}" if isinstance(why, Cramped) else str(why))
            continue
        texts.append(text)
        made.append(asked)
    with compiled("\n".join(texts), tiny) as path:
        library = ctypes.CDLL(str(Path(path)))
        for one in made:
            if isinstance(one, Asked):
                one.library = library
        yield made


def differences(ir: MachineIR, asked: Asked, states: int) -> str:
    """Where the C and the plain engine differ within so many states; "" if nowhere."""
    search, pack = Search(ir), asked.layout.pack
    machine: Compiled = search.machine
    begun = asked.steps(None)
    every = machine.initial_states()
    filtered = begun is None or ir.of_kind("initial")
    if not filtered and {r[2] for r in begun or ()} != {pack(s) for s in every}:
        return "starts"
    while search.at < min(len(search.states), states):
        state = search.states[search.at]
        try:
            found = _differs(ir, asked, machine, state)
        except Cramped:
            return ""
        if found:
            return f"{found} of state {search.at}"
        search.expand(search.at)
        search.at += 1
    return ""


def _differs(ir: MachineIR, asked: Asked, machine: Compiled, state: Any) -> str:
    taken = asked.steps(state)
    if taken is None:
        return ""
    theirs: dict[int, list[tuple[int, tuple[int, ...]]]] = defaultdict(list)
    for instance, raised, after in taken:
        theirs[instance].append((raised, () if raised else after))
    afters = []
    for number, mover in enumerate(machine.instances):
        ours: list[tuple[int, tuple[int, ...]]] = []
        try:
            for behind, _ in expand(mover, state):
                ours.append((0, asked.layout.pack(behind)))
                afters.append(behind)
        except StepRaised:
            ours.append((1, ()))
        if ours != theirs[number]:
            return f"{mover.name}{mover.params}"
    for number, predicate in enumerate(machine.predicates):
        kind = predicate.property.kind
        if kind in ("weak", "strong"):
            continue
        for after in afters[:6] if kind in STEP_KINDS else [None]:
            given = (state,) if after is None else (state, after)
            try:
                ours_too = int(bool(predicate.test(*given)))
            except Exception:
                ours_too = RAISED
            if asked.holds(number, *given) not in (ours_too, LIMIT):
                return predicate.property.name
    return ""
