"""Random machines with Sorts: most treat the members alike, some single them out or order them."""

from __future__ import annotations

import random
import textwrap

HEAD = """
from __future__ import annotations
import enum
from dataclasses import dataclass
from typing import Annotated, Self
from refute.machine import *

class P(Sort, size={p}):
    pass

class Q(Sort, size=2):
    pass

class C(enum.Enum):
    X = 1
    Y = 2

@dataclass(frozen=True)
class To:
    who: P
    c: C

@dataclass(frozen=True)
class Bid:
    who: P
    what: Q

@dataclass(frozen=True)
class Big:
    who: P
    n: Annotated[int, Range(0, 300)]
    c: C

FIRST = P(0)
PAIR = Set([P(0), P(1)])
EVERY = Set([Q(0), Q(1)])

"""

VARIABLES = {
    "at": ("Map[P, C]", "var(each=C.X)"),
    "holder": ("P | None", "var(None)"),
    "some": ("Set[P]", "var(empty_set)"),
    "queue": ("Annotated[Seq[P], Upto(2)]", "var(())"),
    "knows": ("Map[P, Set[Q]]", "var(each=empty_set)"),
    "owner": ("Map[Q, P | None]", "var(each=None)"),
    "net": ("Set[To | Bid]", "var(empty_set)"),
    "likes": ("Map[P, P | None]", "var(each=None)"),
    "n": ("Annotated[int, Range(0, 2)]", "var(0)"),
    "picked": ("Q", "var(one_of=Q)"),
    "box": ("Set[Big]", "var(empty_set)"),
    "heap": ("Annotated[Bag[To], Upto(2)]", "var(Bag())"),
    "edge": ("Map[P, Map[P, bool]]", "var(each=False)"),
    "last": ("Big | Bid | None", "var(None)"),
    "trail": ("Annotated[Seq[Big], Upto(2)]", "var(())"),
}
# variables that a line uses → the line; `p` is the parameter, `q` too
STATEMENTS = {
    "at": ["self.at[p] = C.Y", "self.at[p] = C.X if self.at[p] == C.Y else C.Y"],
    "holder": [
        "self.holder = p",
        "when(self.holder is None)\nself.holder = p",
        "self.holder = None",
    ],
    "some": [
        "self.some.add(p)",
        "self.some.discard(p)",
        "x = any_of(self.some)\nself.some.remove(x)",
    ],
    "queue": [
        "when(len(self.queue) < 2 and p not in self.queue)\nself.queue.append(p)",
        "when(len(self.queue) > 0 and self.queue[0] == p)\nself.queue = self.queue[1:]",
    ],
    "knows": ["self.knows[p].add(q)", "when(q in self.knows[p])\nself.knows[p] = Set()"],
    "owner": ["when(self.owner[q] is None)\nself.owner[q] = p", "self.owner[q] = None"],
    "net": [
        "self.net.add(To(p, C.X))",
        "self.net.add(Bid(p, q))",
        "m = any_of([m for m in self.net if isinstance(m, Bid) and m.who == p])\n"
        "self.net = Set(o for o in self.net if o != m)",
    ],
    "likes": [
        "self.likes[p] = any_of(P)",
        "x = self.likes[p]\nwhen(x is not None)\nself.likes[p] = None",
    ],
    "n": ["when(self.n < 2)\nself.n += 1", "self.n = 0"],
    "picked": ["self.picked = q"],
    "box": [
        "self.box.add(Big(p, 7, C.X))",
        "self.box.add(Big(p, 250, C.Y))",
        "self.box.discard(Big(p, 7, C.X))",
    ],
    "heap": [
        "when(self.heap.total() < 2)\nself.heap.add(To(p, C.X))",
        "when(To(p, C.X) in self.heap)\nself.heap.remove(To(p, C.X))",
    ],
    "edge": ["x = any_of(P)\nself.edge[p][x] = True", "self.edge[p][p] = not self.edge[p][p]"],
    "last": ["self.last = Big(p, 300, C.X)", "self.last = Bid(p, q)", "self.last = None"],
    "trail": [
        "when(len(self.trail) < 2)\nself.trail.append(Big(p, 1, C.X))",
        "when(len(self.trail) > 0)\nself.trail = self.trail[1:]",
    ],
}
LOOPS = {
    "at": [
        "for x in P:\n    self.at[x] = C.X",
        "for x in P:\n    if self.at[x] == C.Y:\n        self.at[x] = C.X",
    ],
    "some": ["for x in P:\n    if x != p:\n        self.some.add(x)"],
    "likes": [
        "for x in P:\n    self.likes[x] = p",
        "for x in P:\n    if self.likes[x] is None:\n        self.likes[x] = p",
    ],
    "owner": ["for x in Q:\n    if self.owner[x] == p:\n        self.owner[x] = None"],
    "holder": ["for x in P:\n    self.holder = x"],
}
BREAKING = {
    "holder": ["self.holder = FIRST", "when(p != FIRST)\nself.holder = p"],
    "some": [
        "x = list(self.some)\nwhen(len(x) > 0)\nself.some.discard(x[0])",
        "when(p in PAIR)\nself.some.add(p)",
    ],
    "queue": ["when(len(self.queue) < 2)\nself.queue = sorted_by(self.queue, p)"],
    "likes": ["self.likes[p] = choose(x for x in P if x != p)"],
    "owner": ["for x in P:\n    if self.owner[q] is None:\n        self.owner[q] = x"],
    "at": ["self.at[FIRST] = C.Y"],
}
PREDICATES = {
    "at": ["self.at[p] == C.X", "sum(1 for x in P if self.at[x] == C.Y) <= {k}"],
    "holder": ["self.holder != p", "self.holder is None"],
    "some": ["len(self.some) <= {k}", "p not in self.some", "not self.some <= Set([p])"],
    "queue": ["len(self.queue) < 2", "p not in self.queue", "list(self.queue) != [p]"],
    "knows": ["len(self.knows[p]) < 2", "any(q in self.knows[x] for x in P) <= (q in EVERY)"],
    "owner": ["self.owner[q] != p", "all(self.owner[y] is not None for y in Q)"],
    "net": [
        "len(self.net) <= {k}",
        "Bid(p, q) not in self.net",
        "sum(m.c == C.X for m in self.net if isinstance(m, To)) <= {k}",
    ],
    "likes": ["self.likes[p] != p", "len(Set(self.likes.values())) <= {k}"],
    "n": ["self.n < 2"],
    "picked": ["self.picked == q"],
    "box": ["len(self.box) <= {k}", "Big(p, 7, C.X) not in self.box"],
    "heap": ["self.heap.count(To(p, C.X)) < 2"],
    "edge": ["not all(self.edge[p][x] for x in P)", "self.edge[p][p] or self.edge[p][p] == False"],
    "last": ["self.last != Big(p, 300, C.X)"],
    "trail": ["len(Set(b.who for b in self.trail)) < 2", "Big(p, 1, C.X) not in self.trail"],
}
HELPER = """
def sorted_by(items: Seq[P], p: P) -> Seq[P]:
    rest = [x for x in P if x in items]
    return Seq(rest[:1]) + [p] if len(rest) > 0 and p != rest[0] else Seq([p])

"""


def source(seed: int, members: int = 3) -> str:
    """The text of machine `M`, the same for a seed."""
    draw = random.Random(seed)
    names = draw.sample(sorted(VARIABLES), draw.randint(2, 4))
    lines = ["class M(Machine):"]
    lines += [f"    {n}: Var[{VARIABLES[n][0]}] = {VARIABLES[n][1]}" for n in names]
    for number in range(draw.randint(2, 4)):
        lines += ["", "    @action", f"    def a{number}(self, p: P, q: Q) -> None:"]
        for line in _statements(draw, names, number):
            lines.append(textwrap.indent(line, "        "))
    if draw.random() < 0.4:
        lines += _process(draw, names)
    for number in range(2):
        name = draw.choice(names)
        test = draw.choice(PREDICATES[name]).format(k=draw.randint(1, 2))
        kind, given = "invariant", ", p: P, q: Q"
        if draw.random() < 0.3:
            kind, given, test = "reachable", "", f"any({test} for p in P for q in Q)"
        lines += ["", f"    @{kind}", f"    def i{number}(self{given}) -> bool:"]
        lines.append(f"        return {test}")
    return HEAD.format(p=members) + HELPER + "\n".join(lines) + "\n"


def _statements(draw: random.Random, names: list[str], number: int) -> list[str]:
    """One or two lines; a local of one name is used by one of them only."""
    found: list[str] = []
    for name in draw.sample(names, draw.randint(1, 2)):
        rows = STATEMENTS[name]
        if name in LOOPS and draw.random() < 0.2:
            rows = LOOPS[name]
        elif name in BREAKING and draw.random() < 0.06:
            rows = BREAKING[name]
        line = draw.choice(rows)
        for local in ("x", "m", "o"):
            line = _renamed(line, local, f"{local}{number}{len(found)}")
        found.append(line)
    return found


def _renamed(line: str, local: str, fresh: str) -> str:
    words = line.replace("(", " ( ").replace(")", " ) ").split(" ")
    if local not in [w.strip("\n:,.[]") for w in words]:
        return line
    kept = "".join(c if c.isalnum() or c in "_'" else f"\0{c}\0" for c in line).split("\0")
    return "".join(fresh if part == local else part for part in kept)


def _process(draw: random.Random, names: list[str]) -> list[str]:
    lines = ["", "    @process", "    def run(self, p: P) -> Steps[Self]:"]
    lines += ["        q = any_of(Q)", "        other = any_of(P)"]
    for number in range(draw.randint(1, 2)):
        lines += [textwrap.indent(r, "        ") for r in _statements(draw, names, 7 + number)]
        lines.append("        self = yield")
    lines.append("        when(other != p or q == q)")
    for row in _statements(draw, names, 9):
        lines.append(textwrap.indent(row, "        "))
    return lines
