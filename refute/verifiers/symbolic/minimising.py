"""Few lemmas instead of all that are inductive.

First what the proofs of the goals lean on, and what the proofs of that lean on, until nothing new
is needed: such a set is inductive by itself. Then one lemma after the other is left out, the
largest first, as long as the rest still is inductive. What then holds of equal values too is said
of them too, for a reader's sake.
"""

from __future__ import annotations

import dataclasses
import time

from refute.verifiers.symbolic.clauses import apart
from refute.verifiers.symbolic.houdini import Clauses, Judge
from refute.verifiers.symbolic.pool import complexity


def leaned_on(clauses: Clauses, judge: Judge, until: float) -> Clauses:
    """The goals (negative numbers) and the lemmas that their proofs need, in turn.

    All of the clauses if time ends.
    """
    kept = {n for n in clauses if n < 0}
    open_ = sorted(kept)
    while open_:
        found = judge.needed(clauses, open_.pop(), until)
        if found is None:
            return clauses
        fresh = found - kept
        kept |= fresh
        open_ += sorted(fresh)
    return {n: clauses[n] for n in clauses if n in kept}


def minimised(clauses: Clauses, judge: Judge, until: float) -> Clauses:
    """An inductive subset with the same goals from which no one lemma can be left out.

    Less was tried where time ended. The clauses have to be inductive for this judge.
    """
    kept = leaned_on(clauses, judge, until)
    if not judge.inductive(kept, until):
        kept = clauses
    return _without_each(kept, judge, until)


def _without_each(kept: Clauses, judge: Judge, until: float) -> Clauses:
    lemmas = sorted((n for n in kept if n >= 0), key=lambda n: complexity(kept[n]), reverse=True)
    for number in lemmas:
        if time.monotonic() > until:
            break
        fewer = {n: clause for n, clause in kept.items() if n != number}
        if judge.inductive(fewer, until):
            kept = fewer
    return kept


def loosened(clauses: Clauses, judge: Judge, until: float) -> Clauses:
    """The set with lemmas for equal values of their variables too, where it stays inductive so.

    Then one lemma often says what two or three said, and those are left out.
    """
    kept = dict(clauses)
    for number in clauses:
        for a, b in apart(clauses[number]):
            loose = (*kept[number].loose, (a.name, b.name))
            made = {**kept, number: dataclasses.replace(kept[number], loose=loose)}
            if time.monotonic() < until and judge.inductive(made, until):
                kept = made
    return kept if kept == clauses else _without_each(kept, judge, until)
