"""Doubts about the formulas themselves, before a proof that rests on them is believed.

A second solver asked with the same formulas repeats their mistakes. So runs of the tree walk, the
machine's definition, are held against them: each must be a behaviour of the formulas too, step by
step, and a property must be as true of a state, reachable or not, as the tree walk says it is. An
encoding that has lost a step, or takes a property for another, is caught here and named.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Mapping

from refute.plain import Plain
from refute.specs.machine import types as t
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.meaning import Meaning, Taken, World
from refute.specs.machine.values import Value, cardinality, domain
from refute.verifiers.symbolic.comparing import equal
from refute.verifiers.symbolic.folding import all_of
from refute.verifiers.symbolic.forms import Outside
from refute.verifiers.symbolic.solving import Queries
from refute.verifiers.symbolic.transition import Encoding
from refute.verifiers.symbolic.unrolling import Path
from refute.verifiers.symbolic.world import World as Formulas

RUNS = 4
LONGEST = 10  # steps of a run
STATES = 100  # in which properties are compared
MOST_WAYS = 200  # steps out of a state that are looked at
MOST_VALUES = 1 << 16  # of a type that random ones are drawn from
SHARE = 0.3  # of the time of a recheck
WRONG = "a bug of refute: the formulas and the tree walk disagree"


def doubt(
    ir: MachineIR, encoding: Encoding, order: Mapping[str, Plain], compared: dict[str, int]
) -> str:
    """Why the formulas are not the machine's, empty where nothing speaks for that.

    compared: gets how many runs and states were looked at; none where Sorts are open.
    """
    kinds = [v.type for v in ir.variables]
    if any(t.open_sorts(kind) for kind in kinds) or any(v.start for v in ir.variables):
        return ""
    until = time.monotonic() + SHARE * float(order["wall_s"])
    drawn = random.Random(int(order["seed"]))
    meaning = Meaning(ir)
    try:
        starts = list(itertools.islice(meaning.starts(), MOST_WAYS))
    except Exception as error:  # formulas say that nothing raises there
        return f"{WRONG}: about the starts, {type(error).__name__}: {error}"
    if not starts:
        return f"{WRONG}: it has no start"
    compared |= {"runs": 0, "states": 0}
    seen: list[World] = []
    for _ in range(RUNS):
        if time.monotonic() > until:
            break
        worlds, taken = _run(meaning, starts, drawn)
        seen += worlds
        said = _admits(encoding, worlds, taken, until)
        if said:
            return said
        compared["runs"] += 1
    return _judges(ir, encoding, meaning, seen, drawn, until, compared)


def _run(
    meaning: Meaning, starts: list[World], drawn: random.Random
) -> tuple[list[World], list[Taken]]:
    """A random run that stays inside the constraint until its last state."""
    worlds = [drawn.choice(starts)]
    taken: list[Taken] = []
    filters = meaning.ir.of_kind("constraint")
    while len(taken) < LONGEST:
        try:
            if not all(meaning.holds(p, worlds[-1]) for p in filters):
                break
            ways = list(itertools.islice(meaning.steps(worlds[-1]), MOST_WAYS))
        except Exception:  # what raises is no step, and judged elsewhere
            break
        if not ways:
            break
        taken.append(drawn.choice([w for w in ways if w.after != worlds[-1]] or ways))
        worlds.append(taken[-1].after)
    return worlds, taken


def _admits(encoding: Encoding, worlds: list[World], taken: list[Taken], until: float) -> str:
    """Why a run is no behaviour of the formulas; empty where it is one."""
    queries = Queries(max(1.0, until - time.monotonic()))
    path = Path(encoding, queries, encoding.start("d0"), "d")
    names = [v.name for v in encoding.ir.variables]
    for at, world in enumerate(worlds):
        if at:
            path.extend()
            move = path.moves[-1]
            queries.add(
                *(
                    b
                    for s, b in zip(move.steps, move.taken, strict=True)
                    if s.name == taken[at - 1].name
                )
            )
        pairs = zip(names, world.variables, strict=True)
        queries.add(all_of(equal(path.last.values[n], value) for n, value in pairs))
    if queries.ask().said != "unsat":
        return ""
    return f"{WRONG}: they have no run {', '.join(t.name for t in taken)} that it takes"


def _judges(
    ir: MachineIR,
    encoding: Encoding,
    meaning: Meaning,
    seen: list[World],
    drawn: random.Random,
    until: float,
    compared: dict[str, int],
) -> str:
    """A property that formulas find true of some state and the tree walk does not, or reversely."""
    props = [p for p in ir.properties if p.kind in ("invariant", "constraint", "reachable")]
    for _ in range(STATES):
        if time.monotonic() > until or not seen:
            break
        world = _varied(ir, drawn.choice(seen), drawn)
        named = dict(zip((v.name for v in ir.variables), world.variables, strict=True))
        compared["states"] += 1
        for prop in props:
            try:
                meant = meaning.holds(prop, world)
            except Exception:
                continue
            try:
                found = encoding.holds(prop, Formulas(named))
            except Outside:
                continue  # nothing was proved of it
            if found.true in (True, False) and found.error is False and found.true != meant:
                return f"{WRONG}: about {prop.name} in a state"
    return ""


def _varied(ir: MachineIR, world: World, drawn: random.Random) -> World:
    """The state with some variables as they are nowhere, maybe."""
    values = list(world.variables)
    for at, variable in enumerate(ir.variables):
        if drawn.random() < 0.5:
            values[at] = _some(variable.type, values[at], drawn)
    return World(tuple(values), world.places)


def _some(kind: t.Type, value: Value, drawn: random.Random) -> Value:
    """A value of the type; of one with too many, this one with some part of it changed."""
    if cardinality(kind) <= MOST_VALUES:
        return drawn.choice(domain(kind)) if cardinality(kind) else value
    if isinstance(kind, t.MapOf) and value:
        at = drawn.randrange(len(value))
        return (*value[:at], _some(kind.value, value[at], drawn), *value[at + 1 :])
    few = isinstance(kind, t.SetOf) and cardinality(kind.elem) <= MOST_VALUES
    if few and isinstance(kind, t.SetOf) and not isinstance(kind, t.BagOf):
        return value ^ {drawn.choice(domain(kind.elem))}
    return value
