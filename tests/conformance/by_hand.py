"""Transition relations of three machines of the library, written by hand for Z3.

They share nothing with how refute writes formulas: a state is a family of functions, a step relates
two such families with an equation for everything that stays, and sorts of a size are enumerations.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import z3

from refute.frozen import frozen

_NUMBER = itertools.count()
State = Mapping[str, Any]
Says = Callable[[State], Any]


class Domain:
    """A sort: of a size, or of any."""

    def __init__(self, name: str, size: int | None = None) -> None:
        own = f"{name}#{next(_NUMBER)}"
        self.members: list[Any] | None = None
        if size is None:
            self.sort = z3.DeclareSort(own)
        else:
            self.sort, self.members = z3.EnumSort(own, [f"{own}.{at}" for at in range(size)])

    def all(self, body: Callable[[Any], Any]) -> Any:
        """For all members."""
        if self.members is not None:
            return z3.And([body(m) for m in self.members])
        one = self.any()
        return z3.ForAll([one], body(one))

    def some(self, body: Callable[[Any], Any]) -> Any:
        """For some member."""
        if self.members is not None:
            return z3.Or([body(m) for m in self.members])
        one = self.any()
        return z3.Exists([one], body(one))

    def any(self) -> Any:
        """An unknown member."""
        return z3.FreshConst(self.sort)


@frozen
class ByHand:
    """start, says: about one state. step: from one to another. says: by names of the machine's
    invariants and examples."""

    state: Callable[[], State]
    start: Says
    step: Callable[[State, State], Any]
    says: Mapping[str, Says]


def _truths(*domains: Domain) -> Any:
    return z3.FreshFunction(*(d.sort for d in domains), z3.BoolSort())


def _kept(domain: Domain, before: State, after: State, *names: str) -> Any:
    """What stays, of functions over one sort and of constants."""
    same = []
    for name in names:
        if z3.is_func_decl(before[name]):
            same.append(domain.all(lambda m, n=name: before[n](m) == after[n](m)))
        else:
            same.append(before[name] == after[name])
    return z3.And(same)


def _set(domain: Domain, before: Any, after: Any, at: Any, value: Any) -> Any:
    """A function changes in one place."""
    return domain.all(lambda m: after(m) == z3.If(m == at, value, before(m)))


def two_phase(rms: Domain) -> ByHand:
    """Two-phase commit; `said` are the Prepared messages, `commit` and `abort` the others."""
    phase, (working, prepared, committed, aborted) = z3.EnumSort(
        f"Phase#{next(_NUMBER)}", ["working", "prepared", "committed", "aborted"]
    )
    manager, (first, commits, aborts) = z3.EnumSort(
        f"TM#{next(_NUMBER)}", ["first", "commits", "aborts"]
    )

    def state() -> State:
        return {
            "phase": z3.FreshFunction(rms.sort, phase),
            "noted": _truths(rms),
            "said": _truths(rms),
            "tm": z3.FreshConst(manager),
            "commit": z3.FreshBool(),
            "abort": z3.FreshBool(),
        }

    def start(s: State) -> Any:
        quiet = rms.all(
            lambda r: z3.And(s["phase"](r) == working, z3.Not(s["noted"](r)), z3.Not(s["said"](r)))
        )
        return z3.And(quiet, s["tm"] == first, z3.Not(s["commit"]), z3.Not(s["abort"]))

    def step(s: State, t: State) -> Any:
        r = rms.any()

        def kept(*names: str) -> Any:
            return _kept(rms, s, t, *names)

        def moved(to: Any) -> Any:
            return _set(rms, s["phase"], t["phase"], r, to)

        note = [s["tm"] == first, s["said"](r), _set(rms, s["noted"], t["noted"], r, True)]
        begins = [s["tm"] == first, t["tm"] == commits, rms.all(lambda m: s["noted"](m))]
        prepares = [s["phase"](r) == working, moved(prepared)]
        others = ("noted", "said", "tm", "commit", "abort")
        return z3.Or(
            z3.And(*note, kept("phase", "said", "tm", "commit", "abort")),
            z3.And(*begins, t["commit"], kept("phase", "noted", "said", "abort")),
            z3.And(
                s["tm"] == first,
                t["tm"] == aborts,
                t["abort"],
                kept("phase", "noted", "said", "commit"),
            ),
            z3.And(
                *prepares,
                _set(rms, s["said"], t["said"], r, True),
                kept("noted", "tm", "commit", "abort"),
            ),
            z3.And(s["phase"](r) == working, moved(aborted), kept(*others)),
            z3.And(s["commit"], moved(committed), kept(*others)),
            z3.And(s["abort"], moved(aborted), kept(*others)),
        )

    def every(body: Callable[[State, Any], Any]) -> Says:
        return lambda s: rms.all(lambda r: body(s, r))

    def done(s: State, r: Any) -> Any:
        return z3.Or(s["phase"](r) == prepared, s["phase"](r) == committed)

    def agree(s: State) -> Any:
        split = [rms.some(lambda r, p=p: s["phase"](r) == p) for p in (committed, aborted)]
        return z3.Not(z3.And(*split))

    return ByHand(
        state,
        start,
        step,
        {
            "agreement": agree,
            "commit_needs_all": every(lambda s, r: z3.Implies(s["commit"], done(s, r))),
            "can_commit": every(lambda s, r: s["phase"](r) == committed),
            "can_abort": every(lambda s, r: s["phase"](r) == aborted),
            "one_decision": lambda s: z3.Not(z3.And(s["commit"], s["abort"])),
            "undecided_at_first": lambda s: z3.Implies(
                s["tm"] == first, z3.Not(z3.Or(s["commit"], s["abort"]))
            ),
            "committed_says_so": lambda s: z3.Implies(s["tm"] == commits, s["commit"]),
            "aborted_says_so": lambda s: z3.Implies(s["tm"] == aborts, s["abort"]),
            "noted_was_said": every(lambda s, r: z3.Implies(s["noted"](r), s["said"](r))),
            "said_works_no_more": every(
                lambda s, r: z3.Implies(s["said"](r), s["phase"](r) != working)
            ),
            "committed_was_told": every(
                lambda s, r: z3.Implies(s["phase"](r) == committed, s["commit"])
            ),
            "commit_follows_all": every(lambda s, r: z3.Implies(s["commit"], s["said"](r))),
            "aborted_was_told": every(
                lambda s, r: z3.Implies(z3.And(s["phase"](r) == aborted, s["said"](r)), s["abort"])
            ),
        },
    )


def lock_service(clients: Domain) -> ByHand:
    """The lock service: four unary relations, and whether the server has the lock."""
    names = ("requests", "grants", "holding", "releases")

    def state() -> State:
        return {"free": z3.FreshBool(), **{name: _truths(clients) for name in names}}

    def start(s: State) -> Any:
        none = clients.all(lambda c: z3.Not(z3.Or([s[n](c) for n in names])))
        return z3.And(s["free"], none)

    def step(s: State, t: State) -> Any:
        c = clients.any()

        def moved(source: str, target: str, *more: Any) -> Any:
            changes = [_set(clients, s[target], t[target], c, True)] if target else []
            if source:
                changes += [s[source](c), _set(clients, s[source], t[source], c, False)]
            rest = [n for n in names if n not in (source, target)]
            return z3.And(*changes, *more, _kept(clients, s, t, *rest))

        stays = s["free"] == t["free"]
        return z3.Or(
            moved("", "requests", stays),
            moved("requests", "grants", s["free"], z3.Not(t["free"])),
            moved("grants", "holding", stays),
            moved("holding", "releases", stays),
            moved("releases", "", t["free"]),
        )

    def apart(name: str, other: str) -> Says:
        """Nobody is in one set while somebody is in the other."""
        return lambda s: clients.all(
            lambda c: clients.all(lambda d: z3.Not(z3.And(s[name](c), s[other](d))))
        )

    def one(name: str) -> Says:
        return lambda s: clients.all(
            lambda c: clients.all(lambda d: z3.Implies(z3.And(s[name](c), s[name](d)), c == d))
        )

    def away(name: str) -> Says:
        return lambda s: clients.all(lambda c: z3.Not(z3.And(s[name](c), s["free"])))

    def passed_on(s: State) -> Any:
        busy = clients.all(lambda c: z3.Or(s["holding"](c), s["requests"](c)))
        return z3.And(clients.some(lambda c: s["holding"](c)), busy)

    def returning(s: State) -> Any:
        return clients.some(lambda c: z3.And(s["releases"](c), s["requests"](c)))

    return ByHand(
        state,
        start,
        step,
        {
            "exclusive": one("holding"),
            "passed_on": passed_on,
            "returning": returning,
            "one_grant": one("grants"),
            "one_release": one("releases"),
            "held_not_granted": apart("holding", "grants"),
            "held_not_released": apart("holding", "releases"),
            "granted_not_released": apart("grants", "releases"),
            "granted_not_free": away("grants"),
            "held_not_free": away("holding"),
            "released_not_free": away("releases"),
        },
    )


def consensus(nodes: Domain, values: Domain, quorums: Domain) -> ByHand:
    """Consensus in one round: `in_` of quorums never changes, so it is one function for all."""
    in_ = _truths(nodes, quorums)

    def state() -> State:
        return {"vote": _truths(nodes, values), "decided": _truths(values)}

    def meet(s: State) -> Any:
        return quorums.all(
            lambda q: quorums.all(lambda r: nodes.some(lambda n: z3.And(in_(n, q), in_(n, r))))
        )

    def start(s: State) -> Any:
        silent = nodes.all(lambda n: values.all(lambda v: z3.Not(s["vote"](n, v))))
        return z3.And(meet(s), silent, values.all(lambda v: z3.Not(s["decided"](v))))

    def step(s: State, t: State) -> Any:
        n, v, q = nodes.any(), values.any(), quorums.any()
        votes = nodes.all(
            lambda m: values.all(
                lambda w: t["vote"](m, w) == z3.Or(s["vote"](m, w), z3.And(m == n, w == v))
            )
        )
        same = nodes.all(lambda m: values.all(lambda w: t["vote"](m, w) == s["vote"](m, w)))
        backed = nodes.all(lambda m: z3.Implies(in_(m, q), s["vote"](m, v)))
        return z3.Or(
            z3.And(
                values.all(lambda w: z3.Not(s["vote"](n, w))),
                votes,
                _kept(values, s, t, "decided"),
            ),
            z3.And(backed, same, _set(values, s["decided"], t["decided"], v, True)),
        )

    def agreement(s: State) -> Any:
        return values.all(
            lambda v: values.all(
                lambda w: z3.Implies(z3.And(s["decided"](v), s["decided"](w)), v == w)
            )
        )

    def one_vote(s: State) -> Any:
        return nodes.all(
            lambda n: values.all(
                lambda v: values.all(
                    lambda w: z3.Implies(z3.And(s["vote"](n, v), s["vote"](n, w)), v == w)
                )
            )
        )

    def backed(s: State) -> Any:
        def some(v: Any) -> Any:
            return quorums.some(
                lambda q: nodes.all(lambda n: z3.Implies(in_(n, q), s["vote"](n, v)))
            )

        return values.all(lambda v: z3.Implies(s["decided"](v), some(v)))

    return ByHand(
        state,
        start,
        step,
        {
            "agreement": agreement,
            "one_vote": one_vote,
            "backed": backed,
            "quorums": meet,
            "agreed": lambda s: values.some(lambda v: s["decided"](v)),
        },
    )
