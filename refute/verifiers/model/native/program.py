"""The whole C program of a machine: its text put into the search that all of them share."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from refute.specs.machine.commuting import may_raise
from refute.specs.machine.fairness import observed_moves
from refute.specs.machine.ir import Action, MachineIR, Param, Process
from refute.specs.machine.symmetry import Symmetry
from refute.specs.machine.values import Value, domain, unpack_value
from refute.verifiers.model.native.branches import branch_lines, words_of
from refute.verifiers.model.native.choosing import chooses, loops_over_choices
from refute.verifiers.model.native.forms import Unsuited, count
from refute.verifiers.model.native.guards import Guard, guards_of, looped
from refute.verifiers.model.native.layout import Layout, bits_of, family
from refute.verifiers.model.native.permuted import Permuted
from refute.verifiers.model.native.steps import Steps
from refute.verifiers.model.native.text import Place

CONSTANTS, MACHINE = "/*CONSTANTS*/", "/*MACHINE*/"  # lines of search.c and graph.c
_SHARED = {"/*VALUES*/": "values.c", "/*CHOICES*/": "choices.c"}  # lines, and files put there
_SHARED |= {"/*CYCLES*/": "cycles.c", "/*ORBITS*/": "orbits.c"}
SHAPE = re.compile(r"void rf_shape.*\n")  # a line that says for what room a program is
Move = tuple[str, tuple[Value, ...]]
MAX_INSTANCES = 100_000
MAX_STARTS = 100_000  # values that the variables start with, together
_LISTS = {
    "constraint": "CONSTRAINTS",
    "invariant": "INVARIANTS",
    "reachable": "REACHABLES",
    "transition": "TRANSITIONS",
    "terminal": "TERMINALS",
    "initial": "INITIALS",
}
# What of a machine the search decides, or may leave to others; anything else has to be declined.
_KNOWN_FIELDS = {"name", "module", "file", "line", "doc", "constants", "variables", "actions"}
_KNOWN_FIELDS |= {"processes", "properties", "temporals", "refinements", "crashes"}
_KINDS = {*_LISTS, "observe", "weak", "strong"}


def layout_of(ir: MachineIR) -> Layout:
    """How the machine's states are packed. Raises Unsuited."""
    families = [family(p, _members(p.params)) for p in ir.processes]
    return Layout(ir, families)


def _members(params: Sequence[Param]) -> tuple[tuple[object, ...], ...]:
    total = 1
    for param in params:
        total *= count(param.type)
    if total > MAX_INSTANCES:
        raise Unsuited(f"{total} instances of one step")
    return tuple(itertools.product(*(domain(p.type) for p in params)))


def step_names(ir: MachineIR) -> list[str]:
    """The names of the steps, in the order of their numbers in C."""
    movers: list[Action | Process] = [*ir.actions, *ir.processes]
    return list(dict.fromkeys(m.name for m in movers))


def program(
    ir: MachineIR, layout: Layout, hashed: bool = False, symmetry: Symmetry | None = None
) -> str:
    """The C text. Raises Unsuited for what the native engine does not have.

    hashed: of states wider than a word, only hashes are kept. symmetry: for a search of orbits.
    """
    text = Steps(layout) if symmetry is None else Permuted(layout, symmetry)
    head = [*written(text, ir, layout), f"#define HASHED {int(hashed)}"]
    head += text.permutations() if isinstance(text, Permuted) else ["#define SYMMETRIC 0"]
    return composed("search.c", head, text)


def written(text: Steps, ir: MachineIR, layout: Layout) -> list[str]:
    """Put the functions of a machine into the text; gives its constants. Raises Unsuited."""
    _check_known(ir)
    for at, prop in enumerate(ir.properties):
        if prop.kind in _LISTS or prop.kind == "observe":
            text.property(at, prop)
    names = step_names(ir)
    guarded = [guards_of(text, action) for action in ir.actions]
    for at, (_, action) in enumerate(guarded):
        text.action(at, names.index(action.name), action)
    for at, made in enumerate(layout.families):
        slot = len(ir.variables) + at
        text.process(at, names.index(made.process.name), made, slot)
    _expand(text, ir, [guards for guards, _ in guarded])
    _starts(text, ir, layout)
    _returned(text, ir, layout)
    shape = layout.words, layout.room.bits, layout.room.items
    sets = " ".join(f"out[{at}] = {number};" for at, number in enumerate(shape))
    text.prelude.append(f"void rf_shape(U *out) {{ {sets} }}")
    return _constants(ir, layout, names)


def composed(file: str, head: Sequence[str], text: Steps) -> str:
    """A file of C with these constants and this machine in their places."""
    parts = {CONSTANTS: "\n".join(head), MACHINE: "\n".join(text.prelude)}
    made = _read(file)
    for line, shared in _SHARED.items():
        made = made.replace(line, _read(shared)) if line in made else made
    for line, part in parts.items():
        made = made.replace(line, part)
    return made


def _read(file: str) -> str:
    return Path(__file__).with_name(file).read_text("utf-8")


def _check_known(ir: MachineIR) -> None:
    """Refuse a machine that says more than is read here. Raises Unsuited."""
    for field in dataclasses.fields(ir):
        if field.name not in _KNOWN_FIELDS and getattr(ir, field.name):
            raise Unsuited(f"a machine with {field.name}")
    for prop in ir.properties:
        if prop.kind not in _KINDS:
            raise Unsuited(f"the {prop.kind} {prop.name}")


def _constants(ir: MachineIR, layout: Layout, names: list[str]) -> list[str]:
    lines = [f"#define W {layout.words}", f"#define NAMES {len(names)}"]
    lines += _crashes(ir, names)
    ran = sum(map(words_of, branch_lines(ir)))
    lines.append(f"#define RAN {ran}")
    total = len(ir.properties)
    lines += [f"#define PROPERTIES {total}", f"#define WELL_DEFINED {total}"]
    lines.append(f"#define DEADLOCK {total + 1}")
    risky = [at for at, p in enumerate(ir.properties) if may_raise(p.predicate, {})]
    if any(ir.properties[at].kind == "terminal" for at in risky):
        risky.append(total + 1)  # of a state without a step, the terminals are asked
    tests = " || ".join(f"(k) == {at}" for at in risky)
    lines.append(f"#define RISKY(k) ({tests or '0'})")
    for kind, name in _LISTS.items():
        found = "".join(f" X({at})" for at, p in enumerate(ir.properties) if p.kind == kind)
        lines.append(f"#define {name}(X){found}")
    return lines


def _crashes(ir: MachineIR, names: Sequence[str]) -> list[str]:
    """Which steps are crashes, and after which of their instances each `@observe` is judged."""
    asks = any(prop.kind == "observe" for prop in ir.properties)
    numbers = {move: at for at, move in enumerate(instances_of(ir) if asks else ())}
    every, tests = set(), []
    for at, prop in enumerate(ir.properties):
        if prop.kind == "observe":
            moves = observed_moves(ir, prop)
            every |= {names.index(name) for name, _ in moves}
            own = sorted(numbers[move] for move in moves if move in numbers)
            test = " || ".join(f"instance == {number}ull" for number in own)
            tests.append(f" X({at}, {test or '0'})")
    crash = " || ".join(f"(name) == {number}" for number in sorted(every))
    return [f"#define CRASHES(name) ({crash or '0'})", f"#define OBSERVED(X){''.join(tests)}"]


def instances_of(ir: MachineIR) -> Iterator[Move]:
    """Every action and process with its parameters, in the order of their numbers in C."""
    movers: tuple[Action | Process, ...] = (*ir.actions, *ir.processes)
    for mover in movers:
        for params in itertools.product(*(domain(p.type) for p in mover.params)):
            yield mover.name, params


def _expand(text: Steps, ir: MachineIR, guards: Sequence[Sequence[Guard]]) -> None:
    """The function that takes every step of a state, instance by instance."""
    lines = ["static void expand(Thread *t, const U *s)", "{", "U i = 0; int r; (void)r;"]
    for at, action in enumerate(ir.actions):
        choosing = chooses(action.body) and not loops_over_choices(action)
        lines += _calls(text, f"a{at}(t, s, i", action.params, choosing, guards=guards[at])
    for at, process in enumerate(ir.processes):
        choosing = any(chooses(b.body) for b in process.blocks)
        lines.append("{ L me = 0;")
        lines += _calls(text, f"p{at}(t, s, i, me", process.params, choosing, "me++; ")
        lines.append("}")
    text.prelude += [*lines, "}"]


def _calls(
    text: Steps,
    call: str,
    params: Sequence[Param],
    choosing: bool,
    after: str = "",
    guards: Sequence[Guard] = (),
) -> list[str]:
    _members(params)
    given = "".join(f", v{at}" for at in range(len(params)))
    run = f"r = {call}{given});"
    if choosing:
        run = f"start_picks(t); do {{ {run} }} while (r >= 0 && again(t));"
    judged = f"{run} if (r < 0) {{ if (r == RAISED) raised_step(t, s, i); else limited(); }}"
    return looped(text, params, guards, [judged, f"{after}i++;"])


def _starts(text: Steps, ir: MachineIR, layout: Layout) -> None:
    """The function that starts every product of starting values."""
    total = sum(len(v.initial) for v in ir.variables)
    if total > MAX_STARTS:
        raise Unsuited(f"{total} starting values")
    lines = ["static void starts(Thread *t)", "{"]
    for at, (variable, offset) in enumerate(zip(ir.variables, layout.offsets, strict=False)):
        rows = [bits_of(unpack_value(v), variable.type) << offset for v in variable.initial]
        inside = ", ".join(_words(row, layout.words) for row in rows)
        lines.append(f"static const U g{at}[][W] = {{{inside or '{0}'}}};")
        lines.append(f"for (L c{at} = 0; c{at} < {len(rows)}; c{at}++) {{")
    parts = "".join(f" | g{at}[c{at}][n]" for at in range(len(ir.variables)))
    lines.append(f"U s[W]; for (int n = 0; n < W; n++) s[n] = 0ull{parts};")
    lines.append("start(t, s);")
    text.prelude += [*lines, "}" * len(ir.variables), "}"]


def _words(bits: int, count: int) -> str:
    return "{" + ", ".join(f"{bits >> 64 * at & (2**64 - 1)}ull" for at in range(count)) + "}"


def _returned(text: Steps, ir: MachineIR, layout: Layout) -> None:
    """The function that says whether there are processes and all have returned."""

    lines = ["static int returned(const U *s)", "{", "(void)s;"]
    for made, offset in zip(layout.families, layout.offsets[len(ir.variables) :], strict=True):
        start = Place("s", str(offset // 64), str(offset % 64))
        place = start.element(len(made.members), made.width, "me")
        found = text.bits(place, made.place_width)
        lines.append(f"for (L me = 0; me < {len(made.members)}; me++)")
        lines.append(f"if ({found} != {len(made.stops)}) return 0;")
    text.prelude += [*lines, f"return {int(bool(ir.processes))};", "}"]
