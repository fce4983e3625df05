"""100,000 random machines: C, plain engine and tree walk must say the same of each.

    python benchmarks/bench_machines.py [MACHINES [FIRST_SEED]]

Every machine is drawn from its seed over the whole language. All steps and predicates of its first
states are asked of the C and of the plain engine; every fourth is walked by the tree walk and
played on its class too. What was compared is kept in the user's cache, by content of the engines
and the generator, and a run that was stopped goes on there. With the Tiny C Compiler on the path
(Debian: tcc) it takes about 0.1 CPU seconds for each machine, otherwise about twice that; every
eighth batch is compiled by the system's compiler in any case, and so is, again, one in which the
tiny one's code dies or differs: tcc 0.9.27 gets some correct C wrong. Exit 1 when anything differs.
"""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import hashlib
import json
import os
import resource
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "conformance"))

from random_batches import BATCH, judged  # noqa: E402

MACHINES = 100_000
FRESH = 40  # batches that a process judges
REAL = 8  # of so many batches, one is compiled by the system's compiler


def batch(first: int, real: bool = False) -> tuple[int, dict[str, int], dict[int, str], float]:
    """One batch: its first seed, counts, what differs by seed, and CPU seconds.

    real: by the system's compiler, as what the tiny one makes of correct C can differ too.
    """
    before = _cpu()
    tiny = os.environ.get("REFUTE_TCC") or shutil.which("tcc") or ""
    real = real or first // BATCH % REAL == 0
    with tempfile.TemporaryDirectory() as directory:
        os.environ["XDG_CACHE_HOME"] = directory
        seeds = range(first, first + BATCH)
        try:
            counts, wrong = judged(Path(directory), seeds, "" if real else tiny)
        except Exception:  # whatever stops a batch is a finding, and not the end of the others
            counts, wrong = {}, {first: f"or one after it: {traceback.format_exc(limit=-3)}"}
    if wrong and tiny and not real:
        return batch(first, real=True)
    return first, counts, wrong, _cpu() - before


def _cpu() -> float:
    used = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def _state_file() -> Path:
    """Where a run goes on: named by the content of what is compared."""
    files = sorted((ROOT / "refute" / "specs" / "machine").rglob("*.py"))
    model = (ROOT / "refute" / "verifiers" / "model").rglob("*")
    files += sorted(file for file in model if file.suffix in (".py", ".c", ".h"))
    names = ("typed_machines", "wide_machines", "batches", "random_batches")
    files += [ROOT / "tests" / "conformance" / f"{name}.py" for name in names]
    whole = hashlib.sha256(b"".join(f.read_bytes() for f in files if f.is_file()))
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "refute" / f"random-machines-{whole.hexdigest()[:12]}.json"


def _judged(wanted: list[int]) -> Iterator[tuple[int, dict[str, int], dict[int, str], float]]:
    """Every batch, as it ends. Processes are new from time to time, as they load libraries.

    The pool is new too: CPython 3.11's max_tasks_per_child may wait for ever (gh-115634).
    """
    cores = int(os.environ.get("REFUTE_CORES", os.cpu_count() or 1))
    left = dict.fromkeys(wanted)
    while left:
        given = list(left)[: FRESH * cores]
        with (
            contextlib.suppress(BrokenProcessPool),
            concurrent.futures.ProcessPoolExecutor(cores) as pool,
        ):
            running = [pool.submit(batch, first) for first in given]
            for ended in concurrent.futures.as_completed(running):
                del left[ended.result()[0]]
                yield ended.result()
        for first in [f for f in given if f in left][:cores]:  # a process died of one of these
            del left[first]
            yield _alone(first)


def _alone(first: int) -> tuple[int, dict[str, int], dict[int, str], float]:
    """A batch in a process of its own, by the system's compiler."""
    print(f"a process died; seeds {first} to {first + BATCH - 1} again by themselves", flush=True)
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        try:
            return pool.submit(batch, first, True).result()
        except BrokenProcessPool:
            return first, {}, {first: "or one after it: the process died"}, 0.0


def main(machines: int, begin: int) -> int:
    """Compare them; 1 when anything differs."""
    kept = _state_file()
    kept.parent.mkdir(parents=True, exist_ok=True)
    done = set(json.loads(kept.read_text())) if kept.is_file() else set()
    wanted = [at for at in range(begin, begin + machines, BATCH) if at not in done]
    print(f"seeds {begin} to {begin + machines - 1}; {len(wanted) * BATCH} are to be compared")
    totals: collections.Counter[str] = collections.Counter()
    wrong: dict[int, str] = {}
    seconds = 0.0
    for number, (first, counts, found, spent) in enumerate(_judged(wanted), 1):
        totals.update(counts)
        wrong |= found
        seconds += spent
        if not found:
            done.add(first)
        for seed, what in found.items():
            print(f"seed {seed}: {what}", flush=True)
        if number % 50 == 0 or number == len(wanted):
            kept.write_text(json.dumps(sorted(done)))
            rate = seconds / number / BATCH
            print(f"{number * BATCH} machines, {rate:.3f} CPU s each: {dict(totals)}", flush=True)
    print(f"{len(wrong)} differ{': ' + str(sorted(wrong)) if wrong else ''}")
    return 1 if wrong else 0


if __name__ == "__main__":
    given = [int(a) for a in sys.argv[1:]]
    sys.exit(main(given[0] if given else MACHINES, given[1] if len(given) > 1 else 0))
