"""How conditions come out on the samples: columns of bits, and the different rows of them.

A condition is evaluated once for each state and each choice of the variables it reads itself, by
one comprehension that is compiled for it. What it is under other names of variables, or among more
variables, is a matter of taking every n-th byte. Most rows are alike: some hundreds are left of
some hundred thousand, and it is those that clauses are tried on.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr, Param
from refute.specs.machine.lower import used
from refute.specs.machine.values import domain
from refute.verifiers.model.emit import Emitter
from refute.verifiers.symbolic.rewriting import resized, resized_type, substituted
from refute.verifiers.symbolic.sampling_states import Sample

MOST_ROWS = 150_000  # states and choices of variables in all that one prefix looks at

Places = tuple[int, ...]  # for each variable the number of its value


class Columns:
    """The samples, and what conditions are on them; kept for all prefixes."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self.samples = tuple(samples)
        self._known: dict[Expr, list[bytes] | None] = {}

    def choices(self, params: Sequence[Param], sample: Sample) -> list[Places]:
        """The choices of values for variables, different ones of one Sort."""
        sizes = [len(_values(p.type, sample)) for p in params]
        alike = [
            (a, b)
            for a, b in itertools.combinations(range(len(params)), 2)
            if params[a].type == params[b].type
        ]
        every = itertools.product(*map(range, sizes))
        return [places for places in every if all(places[a] != places[b] for a, b in alike)]

    def column(
        self, condition: Expr, params: Sequence[Param], steps: Sequence[int]
    ) -> bytes | None:
        """The condition for all choices and every n-th state of each sample; None if it raises."""
        read = used(condition)
        own = [p for p in params if p.name in read]
        names = {p.name: Expr("local", p.type, (), f"{at}") for at, p in enumerate(own)}
        general = substituted(condition, names)
        if general not in self._known:
            self._known[general] = self._evaluated(general, [p.type for p in own])
        tables = self._known[general]
        if tables is None:
            return None
        parts = []
        for sample, table, step in zip(self.samples, tables, steps, strict=True):
            strides = _strides([len(_values(p.type, sample)) for p in own])
            width = strides.pop(0)
            at = [params.index(p) for p in own]
            for places in self.choices(params, sample):
                place = sum(places[a] * stride for a, stride in zip(at, strides, strict=True))
                parts.append(table[place :: width * step])
        return b"".join(parts)

    def _evaluated(self, condition: Expr, kinds: Sequence[t.Type]) -> list[bytes] | None:
        """For each sample one byte for each state and choice of values, equal ones included."""
        try:
            return [_table(condition, kinds, sample) for sample in self.samples]
        except Exception:
            return None


def _strides(sizes: Sequence[int]) -> list[int]:
    """How far apart states are, and the values of each variable, in a table."""
    strides = [1]
    for size in reversed(sizes):
        strides.insert(0, strides[0] * size)
    return strides


def _values(kind: t.Type, sample: Sample) -> tuple[Any, ...]:
    return domain(resized_type(kind, sample.sizes))


def _table(condition: Expr, kinds: Sequence[t.Type], sample: Sample) -> bytes:
    emit = Emitter([v.name for v in sample.ir.variables])
    slots = "".join(f"v{at}, " for at in range(len(sample.ir.variables)))
    clauses = [f"for ({slots}*_) in states"]
    for at, kind in enumerate(kinds):
        values = emit.domain(resized_type(kind, sample.sizes))
        clauses.append(f"for {emit.name(str(at))} in {values}")
    text = emit.text(resized(condition, sample.sizes))
    source = f"lambda states: bytes([True if {text} else False {' '.join(clauses)}])"
    function: Any = eval(compile(source, "<condition>", "eval"), dict(emit.constants))
    made: bytes = function(sample.states)
    return made


class Rows:
    """How conditions over some variables come out on the samples, each combination once.

    A condition that raises on a sample is left out.
    """

    def __init__(
        self, columns: Columns, params: Sequence[Param], conditions: Sequence[Expr]
    ) -> None:
        self.params = tuple(params)
        counts = [len(columns.choices(params, s)) * len(s.states) for s in columns.samples]
        share = MOST_ROWS / max(1, len(counts))
        steps = [max(1, -int(-count // share)) for count in counts]
        found = [(c, columns.column(c, params, steps)) for c in conditions]
        self.conditions = tuple(c for c, column in found if column is not None)
        rows = set(zip(*(column for _, column in found if column is not None), strict=True))
        self.found = frozenset(rows)

    def columns(self) -> list[int]:
        """For each condition the rows in which it is true, as bits of a number."""
        if not self.found:
            return [0] * len(self.conditions)
        texts = zip(*self.found, strict=True)
        return [int("".join("1" if bit else "0" for bit in column), 2) for column in texts]
