"""The job of a proof for every size: induction with the machine's own invariants, then with lemmas.

What the machine states may be enough, and is asked first. Where some invariant is left, lemmas are
sought that make it inductive; with these the induction is repeated, so that what is reported as
needed is what that proof leans on. Nothing here is believed before another process repeats it.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence

from refute import machine
from refute.plain import Plain
from refute.specs.machine.ir import MachineIR, Property
from refute.specs.machine.statement import DEADLOCK_FREE, WELL_DEFINED
from refute.specs.machine.types import pack
from refute.verifiers.symbolic.bounded import Bounded, Found
from refute.verifiers.symbolic.forms import Outside
from refute.verifiers.symbolic.goals import Goals
from refute.verifiers.symbolic.induction import Induction
from refute.verifiers.symbolic.moving import can_move, unused
from refute.verifiers.symbolic.reading import universe_of
from refute.verifiers.symbolic.rewriting import sorts_of
from refute.verifiers.symbolic.solving import Queries
from refute.verifiers.symbolic.starting import raising
from refute.verifiers.symbolic.strengthening import Strengthened, Strengthening
from refute.verifiers.symbolic.telling import told_induction
from refute.verifiers.symbolic.transition import Encoding
from refute.verifiers.symbolic.unparsing import imports_of, method_of
from refute.verifiers.symbolic.unparsing_values import Unprintable

OWN_SHARE = 0.2  # of the time, for the machine's own invariants
BASE_SHARE = 0.4  # of the time of an induction, for the steps that it begins with
LEMMA_SHARE = 0.85  # of what is then left, for lemmas
BROKEN = "formulas break it within {} steps, at some size that was not searched"


class Proof:
    """order: "props", names; "small", instances of closed sizes as plain data, small first;
    "induct", the largest k; "query_s", "wall_s", "seed"."""

    def __init__(self, ir: MachineIR, order: Mapping[str, Plain]) -> None:
        self.ir = ir
        self.order = order
        self.until = time.monotonic() + float(order["wall_s"])
        self.doing = "writing formulas"
        self.stopped = ""
        self.vacuous = False
        self.goals = Goals(ir, order["props"])
        self.induction: Induction | None = None
        self.lemmas: tuple[Property, ...] = ()
        self.told: dict[str, Plain] = {}
        self.texts: list[str] = []
        self.broken: dict[str, str] = {}
        self.unanswered: dict[str, tuple[int, str]] = {}  # by the steps that induction begins with
        self.breaking: list[dict[str, int]] = []  # sizes at which formulas break something
        self.found: Strengthened | None = None
        self._queries: list[Queries] = []

    def run(self) -> None:
        """Prove what can be proved within the limits."""
        try:
            now = time.monotonic()
            self.stopped = raising(Encoding(self.ir), self._new(), OWN_SHARE * (self.until - now))
            if self.stopped:
                self.goals.limited[WELL_DEFINED] = self.stopped
                return
            self._own(now + OWN_SHARE * (self.until - now))
            moving = self._moving()
            if self._open_invariants() or moving:
                self._strengthen(moving)
            if self._undecided() and not self.lemmas:
                self._own(self.until)
        except Outside as reason:
            self.stopped = f"outside what formulas say here: {reason}"

    def _own(self, until: float) -> None:
        """Induction with the invariants and lemmas that are known."""
        ir = dataclasses.replace(self.ir, properties=(*self.ir.properties, *self.lemmas))
        encoding = Encoding(ir)
        invariants = [p.name for p in ir.of_kind("invariant")]
        goals = Goals(ir, dict.fromkeys((*self.order["props"], *invariants)))
        goals.outside |= self.goals.outside
        base = Bounded(encoding, goals, self._new(), self._tell)
        made = Induction(encoding, goals, ir.of_kind("invariant"), self._new, self._tell)
        for k in range(1, max(1, int(self.order["induct"])) + 1):
            now = time.monotonic()
            base.deeper(now + BASE_SHARE * (until - now))
            self.broken = {n: BROKEN.format(f.length) for n, f in base.found.items()}
            self.breaking = [_sizes(encoding, f) for f in base.found.values()]
            self.vacuous = base.vacuous
            if base.depth < k - 1 or base.vacuous:
                self.stopped = base.stopped if k == 1 else ""
                break
            self.unanswered = dict(base.unanswered)
            made.run(k, until, {*base.found, *base.unanswered})
            self.told = {n: told_induction(ir, s) for n, s in made.steps.items()}
            self.induction, self.goals = made, goals
            if not made.left or time.monotonic() > until:
                break

    def _open_invariants(self) -> list[Property]:
        if self.induction is None or self.stopped or self.vacuous:
            return []
        known = {*self.induction.proved, *self.unanswered}
        return [p for p in self._sayable().of_kind("invariant") if p.name not in known]

    def _sayable(self) -> MachineIR:
        """The machine without invariants that are outside what formulas say."""
        kept = (p for p in self.ir.properties if p.kind != "invariant" or self._said(p.name))
        return dataclasses.replace(self.ir, properties=tuple(kept))

    def _said(self, name: str) -> bool:
        return name not in self.goals.outside

    def _undecided(self) -> bool:
        """Whether something is open that no answer came to, and may come with more time."""
        return self.induction is not None and bool(self.unanswered or self.induction.open)

    def _moving(self) -> list[Property]:
        """That some step can be taken, where no deadlock is claimed and not proved yet."""
        if self.induction is None or self.stopped or DEADLOCK_FREE not in self.induction.left:
            return []
        if DEADLOCK_FREE in self.unanswered:
            return []  # nor would that some start can move be answered
        found = can_move(self.ir)
        return [] if found is None else [found]

    def _strengthen(self, moving: Sequence[Property]) -> None:
        """Lemmas for the invariants that are left, and the induction again with them."""
        small = [MachineIR.from_plain(data) for data in self.order["small"]]
        seconds = LEMMA_SHARE * (self.until - time.monotonic())
        if not small or seconds < 1:
            return
        self.doing = "sampling small sizes"
        ir = self._sayable()
        self.found = Strengthening(ir, small, seconds, self._tell).run(
            (*ir.of_kind("invariant"), *moving)
        )
        if self.found.proved:
            count = len(self.found.lemmas)
            names = [unused(f"lemma_{n}", self.ir) for n in range(1, count + 1)]
            pairs = zip(self.found.lemmas, names, strict=True)
            own = tuple(p for p in moving if p.name in self.found.proved)
            self.lemmas = (*(lemma.as_property(name) for lemma, name in pairs), *own)
            self.texts = _texts(self.lemmas)
            self._own(self.until)

    def _new(self) -> Queries:
        made = Queries(float(self.order["query_s"]), int(self.order["seed"]))
        self._queries.append(made)
        return made

    def _tell(self, doing: str) -> None:
        self.doing = doing

    def report(self) -> dict[str, Plain]:
        """As that of a search, with "lemmas", packed, "lemmas_text" and "tried".

        Z3 is not touched here: another thread may be in the middle of a query.
        """
        induction, found = self.induction, self.found
        proved = {} if induction is None else dict(induction.proved)
        own = {p.name for p in self.lemmas}
        return {
            "doing": self.doing,
            "stopped": self.stopped,
            "vacuous": self.vacuous,
            "outside": {n: w for n, w in self.goals.outside.items() if w},
            "limited": dict(self.goals.limited),
            "parted": dict(self.broken),
            "proved": {n: {"k": p.k, "needed": list(p.needed)} for n, p in proved.items()},
            "inductions": {n: t for n, t in self.told.items() if n not in {*own, *proved}},
            "open": {} if induction is None else dict(induction.open),
            "unanswered": {n: {"depth": d, "why": w} for n, (d, w) in self.unanswered.items()},
            "no_induction": "",
            "breaking": list(self.breaking),
            "queries": sum(q.asked for q in self._queries),
            "solver_s": sum(q.spent_s for q in self._queries),
            "lemmas": [pack(lemma) for lemma in self.lemmas],
            "lemmas_text": list(self.texts),
            "tried": [] if found is None else [*found.tried, *([found.why] if found.why else [])],
        }


def _sizes(encoding: Encoding, found: Found) -> dict[str, int]:
    """The numbers of members in a model of a behaviour."""
    universe = universe_of(found.model, sorts_of(encoding.flat))
    return {name: len(members) for name, members in universe.items()}


def _texts(lemmas: Sequence[Property]) -> list[str]:
    """The lemmas as methods, line by line, and what they need to be imported."""
    names = {name for lemma in lemmas for name in _needed(lemma)}
    found = [f"    # from refute.machine import {', '.join(sorted(names))}"] if names else []
    for lemma in lemmas:
        try:
            found += ["", *method_of(lemma).rstrip("\n").split("\n")]
        except Unprintable as why:
            found.append(f"    # {lemma.name}: {why}")
    return found


def _needed(lemma: Property) -> set[str]:
    """The names of the language that a lemma's text needs."""
    try:
        return {*imports_of(lemma)} & {*machine.__all__}
    except Unprintable:
        return set()
