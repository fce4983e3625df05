"""Proofs for every size by lemmas that are found, doubted in three ways; and what is no proof.

The lemmas are judged again by a solver that has seen nothing else, pasted into the class as they
are printed, and looked at in every reachable state of a small instance.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from pathlib import Path

import pytest

from refute.machine import (
    Machine,
    Set,
    Sort,
    Var,
    action,
    anything,
    empty_set,
    invariant,
    var,
    when,
)
from refute.specs.library.lock_service import Client, LockService
from refute.specs.library.ricart_agrawala import RicartAgrawala
from refute.specs.library.token_ring import TokenRing
from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.machine.ir import MachineIR
from refute.verifiers.model.search import Search
from refute.verifiers.symbolic.alternation import chosen_by, goes_round
from refute.verifiers.symbolic.clauses import goal
from refute.verifiers.symbolic.inductive import SolverJudge
from refute.verifiers.symbolic.strengthening import Strengthened, Strengthening
from refute.verifiers.symbolic.unparsing import imports_of, method_of

SECONDS = 120.0  # of patience on a busy machine; a proof takes some of them
NEVER = float("inf")

PROOFS: list[tuple[type[Machine], tuple[str, ...], str]] = [
    (TwoPhase, ("RM",), "agreement"),
    (LockService, ("Client",), "exclusive"),
    (TokenRing, ("Node",), "mutual_exclusion"),
    (RicartAgrawala, ("Node",), "mutual_exclusion"),
]  # the others are proved in benchmarks/bench_symbolic.py


def only(ir: MachineIR, name: str) -> MachineIR:
    """The machine with one invariant: those that somebody wrote to help are no help here."""
    kept = tuple(p for p in ir.properties if p.kind != "invariant" or p.name == name)
    return dataclasses.replace(ir, properties=kept, temporals=(), refinements=())


def strengthened(
    cls: type[Machine],
    sorts: tuple[str, ...],
    name: str,
    sizes: tuple[int, ...] = (2, 3, 4),
    seconds: float = SECONDS,
) -> tuple[MachineIR, Strengthened]:
    small = [only(cls.build(**dict.fromkeys(sorts, n)).ir, name) for n in sizes]
    ir = only(cls.build(**dict.fromkeys(sorts, "any")).ir, name)
    return ir, Strengthening(ir, small, seconds).run(ir.of_kind("invariant"))


def pasted(cls: type[Machine], found: Strengthened, folder: Path) -> type[Machine]:
    lemmas = [c.as_property(f"lemma_{n}") for n, c in enumerate(found.lemmas)]
    names = sorted({name for lemma in lemmas for name in imports_of(lemma)})
    text = "from __future__ import annotations\n"
    text += f"from {cls.__module__} import *\nfrom refute.machine import *\n"
    text += f"from {cls.__module__} import {cls.__name__}\n\n\nclass Pasted({cls.__name__}):\n"
    text += f'    """With lemmas, which need {", ".join(names)}."""\n\n'
    text += "\n".join(map(method_of, lemmas))
    file = folder / f"pasted_{cls.__name__}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    made: type[Machine] = module.Pasted
    return made


@pytest.mark.parametrize(("cls", "sorts", "name"), PROOFS, ids=lambda x: getattr(x, "__name__", ""))
def test_proved_without_any_help(
    cls: type[Machine], sorts: tuple[str, ...], name: str, tmp_path: Path
) -> None:
    ir, found = strengthened(cls, sorts, name)
    assert found.proved == (name,)
    clauses = dict(enumerate((goal(ir.of_kind("invariant")[0]), *found.lemmas)))
    assert SolverJudge(ir).ruling(clauses, NEVER).inductive
    del clauses[1]  # no lemma is there for nothing
    assert not SolverJudge(ir).ruling(clauses, NEVER).inductive
    search = Search(pasted(cls, found, tmp_path).build(**dict.fromkeys(sorts, 3)).ir)
    assert search.advance(60.0)["finished"]
    assert not [hit for hit in search.hits if hit.startswith("lemma_")]


class Forgetful(LockService):
    """The release stays on its way."""

    @action
    def take_back(self, c: Client) -> None:
        self.free = self.free or c in self.releases


class Member(Sort):
    """Who may come in."""


class Room(Machine):
    """Nothing keeps anybody out; with three members there are never four inside."""

    inside: Var[Set[Member]] = var(empty_set)

    @action
    def enter(self, m: Member) -> None:
        self.inside.add(m)

    @invariant
    def at_most_three(self, a: Member, b: Member, c: Member, d: Member) -> bool:
        same = a in (b, c, d) or b in (c, d) or c == d
        return same or not all(m in self.inside for m in (a, b, c, d))


class Host(Sort):
    """Sends packets."""


class Firewall(Machine):
    """Lets those in that were written to from inside: "for every host … there is a host"."""

    inside: Var[Set[Host]] = var(one_of=anything)
    sent: Var[Set[tuple[Host, Host]]] = var(empty_set)
    allowed: Var[Set[Host]] = var(empty_set)

    @action
    def leave(self, a: Host, b: Host) -> None:
        when(a in self.inside and b not in self.inside)
        self.sent.add((a, b))
        self.allowed.add(b)

    @action
    def enter(self, a: Host, b: Host) -> None:
        when(a not in self.inside and b in self.inside and a in self.allowed)
        self.sent.add((a, b))

    @invariant
    def asked_for(self, a: Host, b: Host) -> bool:
        entered = (a, b) in self.sent and a not in self.inside and b in self.inside
        return not entered or any((c, a) in self.sent and c in self.inside for c in Host)


def test_a_lemma_whose_quantifiers_go_round_is_found() -> None:
    ir, found = strengthened(Firewall, ("Host",), "asked_for", (1, 2, 3))
    assert found.proved == ("asked_for",)
    [lemma] = found.lemmas
    assert goes_round(chosen_by(lemma))
    clauses = {0: goal(ir.of_kind("invariant")[0]), 1: lemma}
    assert SolverJudge(ir).ruling(clauses, NEVER).inductive


def test_what_is_false_at_a_small_size_is_not_proved() -> None:
    _, found = strengthened(Forgetful, ("Client",), "exclusive")
    assert found.proved == () and "false at a small size: exclusive" in found.why


def test_what_is_true_of_all_samples_only_is_not_proved() -> None:
    _, found = strengthened(Room, ("Member",), "at_most_three", (2, 3), 5.0)
    assert found.proved == ()
    assert found.tried
