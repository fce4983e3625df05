"""From spec file to verdict: whole processes of `refute check` on small machines.

    python benchmarks/bench_latency.py [ROUNDS]

Every round runs each command once, so that all meet the same noise, and medians are shown: wall
clock, and CPU seconds of all processes together. Verdicts and counts are asserted. Some plain
Python runs in every round too: where it takes longer than usual, so does everything else, and the
figures are those of a busy machine. Exit 1 when a bar is missed.
"""

from __future__ import annotations

import ast
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

LIBRARY = Path(__file__).parent.parent / "refute" / "specs" / "library"
FIRST_S, CACHED_S = 1.5, 0.4
PARSED = 20
BROKEN = '''
from __future__ import annotations

from typing import Self

from refute.machine import Machine, Set, Sort, Steps, Var, empty_set, invariant, process, var, when


class P(Sort):
    """Processes."""


class Lock(Machine):
    """Test, then take."""

    held: Var[bool] = var(False)
    inside: Var[Set[P]] = var(empty_set)

    @process
    def worker(self, p: P) -> Steps[Self]:
        while True:
            when(not self.held)
            self = yield
            self.held = True
            self.inside.add(p)
            self = yield
            self.inside.discard(p)
            self.held = False
            self = yield

    @invariant
    def exclusive(self) -> bool:
        return len(self.inside) <= 1
'''


@dataclass
class Command:
    """What is run, what has to come out, and the seconds seen. bar: of the wall clock."""

    name: str
    target: str
    options: tuple[str, ...]
    refuted: frozenset[str] = frozenset()
    distinct: int = 288
    fresh: bool = False
    bar: float | None = None
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


def children_s() -> float:
    """CPU seconds of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command: Command, place: Path, round_: int) -> None:
    """One run, its verdict asserted."""
    cache = place / (f"fresh-{round_}-{command.options[0]}" if command.fresh else "kept")
    words = [sys.executable, "-m", "refute.cli.program", "check", command.target, *command.options]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    cpu, started = children_s(), time.perf_counter()
    done = subprocess.run(
        [*words, "--json", "-"],
        capture_output=True,
        text=True,
        env=environment,
        cwd=place / "specs",
        check=False,
    )
    command.wall.append(time.perf_counter() - started)
    command.cpu.append(children_s() - cpu)
    results = json.loads(done.stdout)["results"]
    names = {r["claim"]["name"]: r["verdict"] for r in results}
    refuted = {n.rpartition(".")[2] for n, verdict in names.items() if verdict == "REFUTED"}
    assert refuted == command.refuted and "UNKNOWN" not in names.values(), names
    counts = {r["evidence"]["statistics"]["distinct"] for r in results}
    assert counts == {command.distinct}, counts


def commands() -> list[Command]:
    """All commands."""
    one, whole, lock = "commit.py:agreement", "commit.py:TwoPhase", "lock.py"
    native, auto = ("--engine=native", "--set=RM=3"), ("--engine=auto", "--set=RM=3")
    two = ("--engine=auto", "--set=P=2")
    broken = frozenset({"exclusive"})
    return [
        Command("two-phase commit RM=3, one claim, auto", one, auto, bar=CACHED_S),
        Command("  native, compiled first", one, native, fresh=True, bar=FIRST_S),
        Command("  native, cached", one, native, bar=CACHED_S),
        Command("all of its claims, traces replayed, auto", whole, auto),
        Command("  native, cached", whole, native),
        Command("a lock that fails, with its trace", lock, two, refuted=broken, distinct=13),
    ]


def pace_s() -> float:
    """CPU seconds of work that is always the same, and of the kind that is measured."""
    text = (LIBRARY / "two_phase_commit.py").read_text("utf-8")
    started = time.process_time()
    for _ in range(PARSED):
        ast.dump(ast.parse(text))
    return time.process_time() - started


def main(rounds: int) -> int:
    """Measure everything."""
    every, pace = commands(), []
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        (place / "specs").mkdir()
        (place / "specs" / "lock.py").write_text(BROKEN, encoding="utf-8")
        shutil.copy(LIBRARY / "two_phase_commit.py", place / "specs" / "commit.py")
        for command in every:  # builds and bytecode are there when it counts
            run(command, place, -1)
            command.wall.clear()
            command.cpu.clear()
        for round_ in range(rounds):
            pace.append(pace_s())
            for command in every:
                run(command, place, round_)
    missed = 0
    for command in every:
        wall, cpu = statistics.median(command.wall), statistics.median(command.cpu)
        late = command.bar is not None and wall > command.bar
        missed += late
        bar = f"bar {command.bar} s" if command.bar else ""
        print(f"{command.name:44} {wall:6.2f} s {cpu:6.2f} CPU s   {bar:12}{'MISSED' * late}")
    print(f"{'a syntax tree, 20 times (the pace)':44} {statistics.median(pace):17.2f} CPU s")
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 7))
