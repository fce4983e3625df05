"""Refinement as a formula: a start or a step that the other machine does not have.

The other machine's state is what the mapping makes of this one's. A step that leaves it as it is
may always be taken there; any other one must be a step of the other machine, for some parameters
and choices. Where that machine has a state of its own behind the mapping, it would have to be
guessed, and what it does fairly is about whole behaviours: neither is said here.
"""

from __future__ import annotations

from refute.specs.machine.ir import Action, Process, Refinement, hides, visible
from refute.verifiers.symbolic.comparing import fits
from refute.verifiers.symbolic.context import Context
from refute.verifiers.symbolic.enabling import leads
from refute.verifiers.symbolic.evaluating import environment, evaluate
from refute.verifiers.symbolic.folding import Bit, Term, all_of, and_, any_of, not_, or_
from refute.verifiers.symbolic.forms import Outside
from refute.verifiers.symbolic.transition import Encoding
from refute.verifiers.symbolic.unrolling import Path
from refute.verifiers.symbolic.world import World

Departure = tuple[Bit, str, tuple[Term, ...]]  # the formula, why, and what is to be asserted


class Refining:
    """One refinement. Raises Outside where it is not judged by formulas.

    fair: whether the other machine is fair, which is not judged.
    """

    def __init__(self, refinement: Refinement) -> None:
        above = refinement.abstract
        if hides(above):
            raise Outside(f"{refinement.name}: {above.name} has processes or hidden variables")
        self.refinement = refinement
        self.above = Encoding(above)
        movers: list[Action | Process] = [*above.actions, *above.processes]
        promised = any(m.fair or m.fair_any for m in movers)
        self.fair = promised or bool(above.of_kind("weak") or above.of_kind("strong"))

    def departs(self, path: Path) -> Departure:
        """That a path ends where the other machine does not: by its last step, or its start."""
        image, inside, facts = self._image(path.last)
        name = self.above.ir.name
        if not path.moves:
            starts = self.above.initial(image)
            found = or_(not_(inside), not_(starts.holds))
            return found, f"{name} does not start so", (*facts, *starts.facts)
        before, admitted, more = self._image(path.worlds[-2])
        same = self.above.equated(before, image)
        actions = self.above.flat.actions
        taken = any_of(leads(self.above, action, before, image) for action in actions)
        kept = path.encoding.admitted(path.last)
        found = and_(admitted, kept.holds, or_(not_(inside), and_(not_(same), not_(taken))))
        return found, f"{name} has no such step", (*facts, *more, *kept.facts)

    def _image(self, world: World) -> tuple[World, Bit, tuple[Term, ...]]:
        """The other machine's state, and whether it is within its types and nothing raises."""
        context = Context()
        kinds = {v.name: v.type for v in visible(self.above.ir)}
        pairs = zip(kinds, self.refinement.mapping, strict=True)
        values = {n: evaluate(expr, environment(world.values), context) for n, expr in pairs}
        inside = all_of(fits(values[n], kind) for n, kind in kinds.items())
        facts = tuple(context.facts)
        return World(values, facts), and_(inside, not_(context.error)), facts
