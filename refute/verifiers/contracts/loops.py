"""Loops: unrolled where their length is known, abstracted by their invariants otherwise.

`invariant(…)` stands at the top of a body and so holds at the start of every iteration, not at the
exit; the rule here is the exact counterpart. It holds when the loop is first entered; from any
state in which it and the test hold, the body leads to one where, if the test holds again, it does
again; and behind the loop execution comes either from the entry or from the end of a body. What a
body changes is found by executing it, so changes through aliases and calls are seen.
"""

from __future__ import annotations

import ast
import dataclasses

from refute.verifiers.contracts.errors import HINT_BROKEN
from refute.verifiers.contracts.havoc import Changed, changes, forget
from refute.verifiers.contracts.inlining import CUT
from refute.verifiers.contracts.loop_candidates import Candidate, guesses
from refute.verifiers.contracts.loop_parts import For, Hints, Shape, While, measures, split
from refute.verifiers.contracts.operators import number, truth
from refute.verifiers.contracts.run import Run, Sinks
from refute.verifiers.contracts.state import State, merge_states
from refute.verifiers.contracts.terms import Term, conj, neg

UNROLLED = 16
ROUNDS = 4


def while_loop(run: Run, state: State, node: ast.While) -> State | None:
    """The state after a while loop."""
    body, hints = split(run, node.body)
    return _loop(run, state, While(node, body, hints))


def for_loop(run: Run, state: State, node: ast.For) -> State | None:
    """The state after a for loop."""
    body, hints = split(run, node.body)
    shape = For.over(run, state, node, body, hints)
    return None if state.dead else _loop(run, state, shape)


def _loop(run: Run, state: State, shape: Shape) -> State | None:
    frozen = shape.freeze(state)
    count = shape.count(state)
    if run.mode.unroll or (count is not None and count <= UNROLLED):
        limit = run.mode.unroll if count is None else max(count, run.mode.unroll)
        normal, broken = _unrolled(run, state, shape, limit)
    else:
        normal, broken = _abstracted(run, state, shape)
    for left in (*normal, *broken):
        for address in frozen:
            left.heap[address] = dataclasses.replace(left.heap[address], frozen="")
    ended = merge_states(normal)
    if ended is not None:
        ended = run.execute(ended, shape.node.orelse)
    return merge_states([s for s in (ended, *broken) if s is not None])


def _part(run: Run, state: State, shape: Shape) -> tuple[State | None, list[State]]:
    """The body once: (the state at its end, the states that left by break)."""
    with run.apart() as sinks:
        end = run.execute(state, shape.body)
    run.keep(sinks, lambda kind: kind not in ("break", "continue"))
    return _ends(sinks, end)


def _ends(sinks: Sinks, end: State | None) -> tuple[State | None, list[State]]:
    again = [e.state for e in sinks.exits if e.kind == "continue"]
    broken = [e.state for e in sinks.exits if e.kind == "break"]
    return merge_states([*again, *([end] if end is not None else [])]), broken


def _unrolled(run: Run, state: State, shape: Shape, limit: int) -> tuple[list[State], list[State]]:
    """The loop, its iterations one after the other, as many as the limit."""
    normal: list[State] = []
    broken: list[State] = []
    current: State | None = state
    before: Term = None
    for iteration in range(limit + 1):
        if current is None or current.dead:
            break
        test = shape.test(run, current)
        decided = current.decided(test)
        if decided is not True:
            normal.append(current.branch(neg(test)))
        if decided is False:
            break
        inner = current.branch(test)
        if iteration == limit:
            if run.mode.unroll:
                run.leave(inner, CUT, shape.node)
            else:
                run.unsupported(inner, "a list that grows while a loop goes over it", shape.node)
            break
        shape.start(run, inner)
        before = _assert_hints(run, inner, shape.hints, before)
        current, out = _part(run, inner, shape)
        broken += out
    return normal, broken


def _assert_hints(run: Run, state: State, hints: Hints, before: Term) -> Term:
    """What the hints do when the code runs; the measure of this iteration."""
    for invariant in hints.invariants:
        holds = truth(run, state, run.evaluate(state, invariant))
        run.may_raise(state, neg(holds), HINT_BROKEN, invariant, ast.unparse(invariant))
    if hints.measure is None:
        return None
    measure = number(run.evaluate(state, hints.measure))
    if measure is None:
        run.may_raise(state, True, "TypeError", hints.measure, "a measure is an int")
        return None
    falls = [measure >= 0] + ([] if before is None else [measure < before])
    run.may_raise(state, neg(conj(falls)), HINT_BROKEN, hints.measure, ast.unparse(hints.measure))
    return measure


def _abstracted(run: Run, state: State, shape: Shape) -> tuple[list[State], list[State]]:
    """The loop by its invariants."""
    test = shape.test(run, state)
    normal = [state.branch(neg(test))]
    entry = state.branch(test)
    if entry.dead or state.decided(test) is False:
        return normal, []
    first = entry.copy()
    shape.start(run, first)
    _oblige_invariants(run, first, shape, "when the loop is entered")
    if shape.hints.measure is not None:
        _oblige_measure(run, first, shape.hints.measure, None)
    run.sinks.loops[run.place(shape.node)] = None
    changed = changes(run, entry, shape)
    guessed = _inductive(run, entry, first, shape, changed)
    head = _head(run, entry, shape, changed, guessed)
    shape.begin_measures(run, head)
    measure = _measure(run, head, shape.hints.measure)
    before = measures(run, head, shape) if shape.hints.measure is None else []
    lengths = {address: head.heap[address].seq.length for address in changed.cells}
    end, broken = _part(run, head, shape)
    if end is not None:
        _memory(run, lengths, end, shape)
        again = shape.test(run, end)
        normal.append(end.branch(neg(again)))
        _next(run, end.branch(again), shape, measure, before, changed)
    return normal, broken


def _next(
    run: Run,
    state: State,
    shape: Shape,
    measure: Term,
    before: list[tuple[ast.expr, Term]],
    changed: Changed,
) -> None:
    """The next iteration starts in this state: what must hold of it."""
    if state.dead:
        return
    grown = shape.may_go_on_forever(run, state, changed)
    shape.start(run, state)
    _oblige_invariants(run, state, shape, "at the start of the next iteration")
    if measure is not None and shape.hints.measure is not None:
        _oblige_measure(run, state, shape.hints.measure, measure)
    elif grown and not _falls(run, state, before):
        place = run.place(shape.node)
        run.sinks.assumptions[f"termination of the loop at {place}"] = None


def _memory(run: Run, lengths: dict[int, Term], end: State, shape: Shape) -> None:
    """A list that grows by more than an element in an iteration may outgrow the memory."""
    for address, before in lengths.items():
        if not run.holds(end, end.heap[address].seq.length <= before + 1):
            place = run.place(shape.node)
            run.sinks.assumptions[f"enough memory for what grows in the loop at {place}"] = None


def _falls(run: Run, state: State, before: list[tuple[ast.expr, Term]]) -> bool:
    """Whether one of the guessed measures is shown to fall."""
    for expression, old in before:
        with run.apart():
            probe = state.copy()
            new = number(run.evaluate(probe, expression))
        if new is not None and run.holds(probe, conj([new < old, old >= 0])):
            return True
    return False


def _measure(run: Run, state: State, node: ast.expr | None) -> Term:
    if node is None:
        return None
    with run.apart():
        return number(run.evaluate(state, node))


def _oblige_measure(run: Run, state: State, node: ast.expr, before: Term) -> None:
    now = number(run.evaluate(state, node))
    if now is None:
        run.may_raise(state, True, "TypeError", node, "a measure is an int")
        return
    falls = [now >= 0] + ([] if before is None else [now < before])
    run.oblige("decreases", state, conj(falls), ast.unparse(node), run.place(node))


def _oblige_invariants(run: Run, state: State, shape: Shape, when: str) -> None:
    for node in shape.hints.invariants:
        holds = truth(run, state, run.evaluate(state, node))
        text = f"{ast.unparse(node)}, {when}"
        run.oblige("invariant", state, holds, text, run.place(node))


def _head(
    run: Run, entry: State, shape: Shape, changed: Changed, guessed: list[Candidate]
) -> State:
    """Any state at the start of an iteration, where all invariants are known to hold."""
    head = entry.copy()
    forget(run, head, changed)
    with run.apart():
        shape.assume_index(run, head)
        head.assume(shape.test(run, head))
        shape.start(run, head)
        for candidate in guessed:
            head.assume(candidate.holds(run, head))
        for node in shape.hints.invariants:
            head.assume(truth(run, head, run.evaluate(head, node)))
    return head


def _inductive(
    run: Run, entry: State, first: State, shape: Shape, changed: Changed
) -> list[Candidate]:
    """Those of the guessed invariants that hold at first and that the body preserves."""
    if not run.mode.infer or run.quiet:
        return []
    kept = [c for c in guesses(run, entry, shape, changed) if run.holds(first, c.holds(run, first))]
    for _ in range(ROUNDS):
        if not kept:
            break
        stay = _preserved(run, entry, shape, changed, kept)
        if len(stay) == len(kept):
            return kept
        kept = stay
    return []


def _preserved(
    run: Run, entry: State, shape: Shape, changed: Changed, kept: list[Candidate]
) -> list[Candidate]:
    """Those that hold again at the start of the next iteration if all held at this one's."""
    with run.apart() as sinks:
        run.quiet += 1
        head = _head(run, entry, shape, changed, kept)
        end, _ = _ends(sinks, run.execute(head, shape.body))
        run.quiet -= 1
        if end is None:
            return kept
        again = end.branch(shape.test(run, end))
        if again.dead:
            return kept
        shape.start(run, again)
        holds = [c.holds(run, again) for c in kept]
        if run.holds(again, conj(holds)):
            return kept
        return [c for c, h in zip(kept, holds, strict=True) if run.holds(again, h)]
