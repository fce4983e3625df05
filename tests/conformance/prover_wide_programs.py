"""Random functions with what the other ones lack: iterators, effects in odd places, more slices.

Iterators that look at changing lists, functions with effects inside comprehensions, assignment
expressions, slices with steps and signs, tuples with lists inside, aliases in tuples, `del`,
`finally`, callees with a contract.
"""

from __future__ import annotations

from prover_programs import Writer

CONTRACTED = """

@require(lambda p: p >= 0)
@ensure(lambda p, zs, result: result == p + len(zs))
@ensure(lambda zs: len(zs) >= 1)
def push(zs: list[int], p: int) -> int:
    zs.append(p)
    return p + len(zs)


@ensure(lambda p, result: (result is None) == (p < 0))
@ensure(lambda p, result: result is None or result * result <= p)
def root(p: int) -> int | None:
    if p < 0:
        return None
    n = 0
    while (n + 1) * (n + 1) <= p and n < 20:
        n += 1
    return n
"""


class WideWriter(Writer):
    """Writes functions of more constructs; the same for the same seed."""

    def function(self) -> str:
        """The source text, with the imports and the callees that have contracts."""
        return "from icontract import ensure, require\n\n\n" + super().function() + CONTRACTED

    def integer(self, depth: int) -> str:
        """An expression that is mostly an int."""
        if depth <= 0 or self.rng.random() < 0.6:
            return super().integer(depth)
        e, c = (lambda: self.integer(depth - 1)), (lambda: self.rng.choice(self.lists))
        return self.pick(
            lambda: f"sum({self.listing()})",
            lambda: f"len({self.listing()})",
            lambda: f"sum(touch({c()}, x) for x in {c()})",
            lambda: f"len([touch({c()}, x) for x in {c()}[:3]])",
            lambda: f"sum(x * y for x, y in zip({c()}, {c()}))",
            lambda: f"sum(i * x for i, x in enumerate({c()}))",
            lambda: f"(w := {e()})",
            lambda: f"max({e()}, {e()}, {e()})",
            lambda: f"max([{e()}, *{c()}])",
            lambda: f"(({e()}, {c()}), {e()})[0][0]",
            lambda: f"len((({e()}, {c()}), {e()})[0][1])",
            lambda: f"push({c()}, abs({e()}))",
            lambda: f"(root({e()}) or {e()})",
            lambda: f"({e()} // {e()}) % ({e()} or 3)",
            lambda: f"(-{e()} // 4 - -{e()} % -3)",
            lambda: f"({e()} << abs({e()}) % 4)",
            lambda: f"{c()}.index({e()})",
            lambda: f"min({c()}, default={e()})",
            lambda: f"pow({e()}, 2, 7)",
        )

    def boolean(self, depth: int) -> str:
        """A condition."""
        if depth <= 0 or self.rng.random() < 0.7:
            return super().boolean(depth)
        e, c = (lambda: self.integer(depth - 1)), (lambda: self.rng.choice(self.lists))
        return self.pick(
            lambda: f"any(touch({c()}, x) > 2 for x in {c()}[:2])",
            lambda: f"all({c()}[i] < {e()} for i in range({e()} % 5))",
            lambda: f"any(x // {e()} == 1 for x in {c()})",
            lambda: f"{e()} in ({e()}, {e()})",
            lambda: f"({e()}, {c()}) == ({e()}, {c()})",
            lambda: f"{c()} < {c()}",
            lambda: f"(w := {e()}) > 1",
            lambda: f"root({e()}) is None",
        )

    def slice(self) -> str:
        """The inside of a slice; mostly with ends of either sign, at times with a step."""
        if self.rng.random() < 0.5:
            return super().slice()
        ends = [self.rng.choice(("", "-1", "-2", "1", "2", "5", "-9", "a")) for _ in range(2)]
        return ":".join([*ends, *self.rng.choice(([], [], ["-1"], ["2"], ["-2"]))])

    def listing(self) -> str:
        """An expression that is a new list."""
        if self.rng.random() < 0.5:
            return super().listing()
        c, e = (lambda: self.rng.choice(self.lists)), (lambda: self.integer(1))
        return self.pick(
            lambda: f"[x for x in {c()} if x > {e()}]",
            lambda: f"[x // {e()} for x in {c()} if x]",
            lambda: f"[x + y for x, y in zip({c()}, {c()}[1:])]",
            lambda: f"[i + x for i, x in enumerate({c()}, {e()})]",
            lambda: f"[*{c()}, {e()}]",
            lambda: f"list(reversed({c()}))",
            lambda: f"{c()}.copy()",
            lambda: f"sorted({c()}, reverse=True)",
            lambda: f"[x for p in ({c()}, {c()}) for x in p]",
            lambda: f"({c()} if flag else {c()})[:]",
            lambda: f"[{e()} for _ in range({e()} % 4)]",
        )

    def change(self, depth: int) -> None:
        """A statement that changes a list."""
        if self.rng.random() < 0.5:
            super().change(depth)
            return
        c, e = (lambda: self.rng.choice(self.lists)), (lambda: self.integer(1))
        alias = self.name("zs")
        text = self.pick(
            lambda: f"del {c()}[{e()}]",
            lambda: f"{c()}.sort()",
            lambda: f"{c()} *= 2",
            lambda: f"{alias} = {c()}; {alias} += [{e()}]",
            lambda: f"{alias} = {c()}; {alias} = {alias} + [{e()}]",
            lambda: f"{alias}, w = {c()}, {e()}; {alias}.append(w)",
            lambda: f"{alias} = {c()} if flag else {c()}; {alias}.append({e()})",
            lambda: f"{alias} = (1, {c()}); w = {alias}[1][0]",
            lambda: f"{c()}[{e()}], {c()}[{e()}] = {e()}, {e()}",
            lambda: f"{c()}[{e()}] *= {e()}",
            lambda: f"{c()}.extend(x for x in {c()}[:2] if x)",
        )
        for line in text.split("; "):
            self.line(depth, line)

    def repeat(self, depth: int) -> None:
        """A loop over something."""
        if self.rng.random() < 0.4:
            super().repeat(depth)
            return
        first, second = self.name("i"), self.name("x")
        c = lambda: self.rng.choice(self.lists)  # noqa: E731
        over = self.pick(
            lambda: f"enumerate({c()})",
            lambda: f"zip({c()}, {c()})",
            lambda: f"enumerate({c()}[:])",
            lambda: f"zip(range({self.integer(1)} % 4), {c()})",
            lambda: f"((x, x + {self.rng.choice(self.ints)}) for x in {c()})",
            lambda: f"enumerate(reversed({c()}))",
            lambda: f"zip({c()}, {c()}[1:])",
        )
        self.line(depth, f"for {first}, {second} in {over}:")
        if self.rng.random() < 0.7:  # else a list may grow without an end
            self.line(depth + 1, f"if len({c()}) > 7:")
            self.line(depth + 2, "break")
        self.ints.append(second)
        self._loop(depth, first)

    def guarded(self, depth: int) -> None:
        """A try statement, at times with a `finally`."""
        super().guarded(depth)
        if self.rng.random() < 0.2:
            self.line(depth, "finally:")
            self.line(depth + 1, f"{self.rng.choice(self.ints)} = {self.integer(1)}")
