"""Which members of a machine's Sorts may be exchanged without changing what it does.

For every Sort of the state: where the machine depends on the order of its members, the Sort is left
out, with the reason. Otherwise members are alike if exchanging them changes no constant that the
machine names and no set of starting values; being alike is an equivalence, and any permutation
within its classes takes steps to steps and keeps every predicate. So one state of each orbit needs
to be searched, which is exact for everything except behaviours: temporal properties and refinements
are not decided in this way, as a cycle of orbits is not always a cycle of states.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from refute.frozen import frozen
from refute.specs.machine import types as t
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.ordering import Named, Ordering
from refute.specs.machine.permuting import mentions, mover
from refute.specs.machine.values import Atom, cardinality, members, unpack_value

NO_SORT = "its state has no Sort with two members or more"


@frozen
class Symmetry:
    """classes: members that may be exchanged, each class with two or more, of any Sort.

    left_out: for each Sort that is not reduced at all, why. lazy: places where it may depend on
    the order whether something raises, so that a reduced search does not establish that nothing
    does; unsure: the properties there. fixed: for each Sort with members in no class, which.
    """

    classes: tuple[tuple[Atom, ...], ...]
    left_out: tuple[str, ...] = ()
    lazy: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()

    @property
    def sorts(self) -> frozenset[str]:
        """The names of the Sorts whose members are permuted."""
        return frozenset(group[0].kind for group in self.classes)

    @property
    def text(self) -> str:
        """What is permuted, as evidence says it."""
        names = sorted(self.sorts)
        said = " and ".join((", ".join(names[:-1]), names[-1])) if names[1:] else "".join(names)
        split = [g for g in self.classes if len(self._of(g[0].kind)) > 1]
        if split:
            rows = (" ".join(a.name for a in group) for group in split)
            said += f" within {', '.join('{' + row + '}' for row in rows)}"
        return said + "".join(f", {reason}" for reason in (*self.fixed, *self.left_out))

    def _of(self, sort: str) -> list[tuple[Atom, ...]]:
        return [group for group in self.classes if group[0].kind == sort]


def symmetry_of(ir: MachineIR) -> Symmetry:
    """The symmetry of a machine; without classes when nothing can be permuted."""
    classes: list[tuple[Atom, ...]] = []
    left_out: list[str] = []
    lazy: list[str] = []
    fixed: list[str] = []
    unsure: list[str] = []
    where = Path(ir.file).name
    for sort in _sorts(ir):
        ordering = Ordering(ir, sort.name)
        if ordering.problems:
            left_out.append(f"not of {sort.name} ({where}, {ordering.problems[0]})")
            continue
        found = _classes(sort, ordering.named)
        alike = [group for group in found if len(group) > 1]
        single = [group[0] for group in found if len(group) == 1]
        if not alike:
            left_out.append(f"not of {sort.name} ({where}, {_naming(sort, ordering.named)})")
            continue
        classes += alike
        unsure += ordering.unsure
        lazy += [f"{where}, line {line}" for line in sorted(ordering.lazy)]
        if single:
            names = ", ".join(a.name for a in single)
            fixed.append(f"except {names} ({where}, {_naming(sort, ordering.named)})")
    known = tuple(dict.fromkeys(lazy)), tuple(fixed), tuple(dict.fromkeys(unsure))
    return Symmetry(tuple(classes), tuple(left_out), *known)


def refused(symmetry: Symmetry) -> str:
    """Why a machine cannot be searched up to permutations; "" when it can."""
    return "" if symmetry.classes else "; ".join(symmetry.left_out) or NO_SORT


def _sorts(ir: MachineIR) -> list[t.Atoms]:
    """The Sorts that a state can hold, with two members or more."""
    kinds: list[t.Type] = [v.type for v in ir.variables]
    for process in ir.processes:
        kinds += [p.type for p in (*process.params, *process.locals)]
    found = dict.fromkeys(a for kind in kinds for a in _atoms(kind))
    return [a for a in found if a.kind == "sort" and len(a.members) > 1]


def _atoms(kind: t.Type) -> list[t.Atoms]:
    match kind:
        case t.Atoms():
            return [kind]
        case t.Tuple():
            return [a for k in kind.items for a in _atoms(k)]
        case t.Rec():
            return [a for _, k in kind.fields for a in _atoms(k)]
        case t.Union():
            return [a for k in kind.options for a in _atoms(k)]
        case t.SetOf() | t.SeqOf():
            return _atoms(kind.elem)
        case t.MapOf():
            return [*_atoms(kind.key), *_atoms(kind.value)]
    return []


def _classes(sort: t.Atoms, named: Sequence[Named]) -> list[tuple[Atom, ...]]:
    """The members in classes of those that are alike."""
    every = members(sort)
    pairs = list(itertools.pairwise(every))
    telling = [n for n in named if not all(_keeps(n, sort, a, b) for a, b in pairs)]
    if not telling:
        return [every]
    found: list[list[Atom]] = []
    for member in every:
        for group in found:
            if all(_keeps(n, sort, group[0], member) for n in telling):
                group.append(member)
                break
        else:
            found.append([member])
    return [tuple(group) for group in found]


def _keeps(named: Named, sort: t.Atoms, one: Atom, other: Atom) -> bool:
    """Whether exchanging two members leaves the values as they are, taken together."""
    names = frozenset({sort.name})
    if not mentions(named.type, names) or len(named.data) == cardinality(named.type):
        return True
    values = frozenset(map(unpack_value, named.data))
    move = mover(named.type, names)
    return values == {move(v, {one: other, other: one}) for v in values}


def _naming(sort: t.Atoms, named: Sequence[Named]) -> str:
    """What tells members apart first, and where."""
    pairs = list(itertools.pairwise(members(sort)))
    telling = (n for n in named if not all(_keeps(n, sort, a, b) for a, b in pairs))
    return next((f"{n.where} some of its members" for n in telling), "")
