"""How long obligations take, and how long `refute prove` takes on one small function.

    python benchmarks/bench_prove.py [repeats]

The loop-free functions are those of right_scalars.py and prover_right.py in tests/cases/contracts;
the bar is 0.1 s for each of their obligations after start-up (execution shared out over them, and
the query). The second bar is 2 s from the shell for one small function. Medians over the repeats;
CPU seconds beside them, because a busy machine shows in the wall clock only.
"""

from __future__ import annotations

import ast
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from refute.verifiers.contracts.inside import prove

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "cases" / "contracts"
LOOPS = ast.For | ast.While
SMALL = """
from icontract import ensure, require


@require(lambda low, high: low <= high)
@ensure(lambda x, low, high, result: low <= result <= high)
def clamp(x: int, low: int, high: int) -> int:
    return max(low, min(x, high))
"""


def names(path: Path, loops: bool) -> list[str]:
    """The functions of a module that have decorators, those with loops or those without."""
    nodes = ast.parse(path.read_text()).body
    held = [n for n in nodes if isinstance(n, ast.FunctionDef) and n.decorator_list]
    return [n.name for n in held if loops == any(isinstance(p, LOOPS) for p in ast.walk(n))]


def obligations(path: Path, repeats: int, loops: bool) -> list[tuple[float, str]]:
    """(median seconds of the slowest obligation, function) for each function of a module."""
    sources = {path.stem: [path.name, path.read_text()]}
    found = []
    for name in names(path, loops):
        order = {"subject": f"{path.stem}:{name}", "raises": [], "wall_s": 30.0}
        order |= {"subject_sources": sources, "spec_sources": sources}
        slowest = []
        for _ in range(repeats):
            started = time.process_time()
            said = prove(order)
            execution = time.process_time() - started - said["solver_s"]
            share = max(0.0, execution) / max(1, len(said["obligations"]))
            slowest.append(share + max((o[4] for o in said["obligations"]), default=0.0))
        found.append((statistics.median(slowest), name))
    return sorted(found, reverse=True)


def shell(repeats: int) -> tuple[float, float]:
    """Median (wall, CPU) seconds of `refute prove` on one small function."""
    walls, cpus = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.py"
        path.write_text(SMALL)
        for _ in range(repeats):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            started = time.monotonic()
            command = [sys.executable, "-m", "refute.cli.main", "prove", "small.py"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            walls.append(time.monotonic() - started)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            assert done.returncode == 0, done.stdout + done.stderr
    return statistics.median(walls), statistics.median(cpus)


def main() -> int:
    """Print both figures beside their bars."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    files = ("right_scalars.py", "prover_right.py")
    scalars = [pair for file in files for pair in obligations(CORPUS / file, repeats, False)]
    scalars.sort(reverse=True)
    slow = [f"{name} {seconds:.3f}" for seconds, name in scalars if seconds > 0.1]
    middle = statistics.median(s for s, _ in scalars)
    print(f"loop-free: {len(scalars)} functions, median of the slowest obligation {middle:.3f} s")
    slowest = ", ".join(f"{name} {seconds:.3f}" for seconds, name in scalars[:3])
    print(f"  slowest: {slowest}; bar 0.100 s; above: {', '.join(slow) or 'none'}")
    loops = obligations(CORPUS / "right_loops.py", 1, True)
    print(f"with loops: {len(loops)} functions, largest {loops[0][0]:.3f} s ({loops[0][1]})")
    wall, cpu = shell(repeats)
    print(f"refute prove, one small function: {wall:.2f} s wall, {cpu:.2f} s CPU; bar 2 s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
