"""4,000 random machines: searches by formulas must find what explicit search finds, as early.

    python benchmarks/bench_symbolic_machines.py [MACHINES [FIRST_SEED]]

Half of the machines are drawn over all types, half over the whole language; one action of each is
compared alone too. Both searches go as deep as six steps, and whatever both looked at must be the
same; see `tests/conformance/symbolic_searches.py`. What was compared is kept in the user's cache,
by content of the engines and generators, and a run that was stopped goes on there. It takes about
half a CPU second for each machine. Exit 1 when anything differs.
"""

from __future__ import annotations

import collections
import concurrent.futures
import hashlib
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "conformance"))

from symbolic_searches import WHOLE, built, compared, variants  # noqa: E402

from refute.errors import Unsupported  # noqa: E402

MACHINES = 4_000
BATCH = 25
KINDS = ("typed", "wide")
SECONDS = 4.0  # of one search
LONGEST_S = 120.0  # for one machine, formulas and all, after which it is left out
Found = tuple[str, int, collections.Counter[str], dict[int, str]]


def compare(pipe: Connection, kind: str, seeds: range) -> None:
    """Tell of one machine after the other, in a process of its own: seed, counts, differences."""
    with tempfile.TemporaryDirectory() as directory:
        for seed in seeds:
            signal.alarm(int(2 * LONGEST_S))  # should nobody be there any more to end this process
            pipe.send((seed, *_one(Path(directory), kind, seed)))


def _one(directory: Path, kind: str, seed: int) -> tuple[dict[str, int], str]:
    counts: collections.Counter[str] = collections.Counter()
    wrong = []
    try:
        with built(directory, kind, seed) as ir:
            for one in variants(ir, seed):
                found = compared(one, seconds=SECONDS)
                deep = f"to depth {found.depth}" if found.depth < WHOLE else "whole"
                counts.update({"compared": 1, deep: 1})
                counts.update({"found": found.found, "proved": found.proved})
                wrong += [found.wrong] if found.wrong else []
    except Unsupported:
        counts["refused"] += 1
    except Exception:  # whatever stops a comparison is a finding
        wrong.append(traceback.format_exc(limit=-3))
    return counts, "; ".join(wrong)


def batch(kind: str, first: int) -> Found:
    """One batch; a process that dies is a finding, and one that takes too long is left out."""
    counts: collections.Counter[str] = collections.Counter()
    wrong: dict[int, str] = {}
    left = range(first, first + BATCH)
    while left:
        ours, theirs = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("spawn").Process(
            target=compare, args=(theirs, kind, left), daemon=True
        )
        process.start()
        theirs.close()
        while left:
            row: Any = None
            why = f"the process died at {kind} seed {left[0]}, or at its start"
            try:
                row = ours.recv() if ours.poll(LONGEST_S) else None
                why = "" if row is None else row[2]
            except EOFError:
                pass
            counts.update(row[1] if row else {"" if why else "too long": 1})
            wrong |= {left[0]: why} if why else {}
            left = left[1:]
            if row is None:
                break
        process.kill()
        process.join()
    return kind, first, counts, wrong


def _state_file() -> Path:
    """Where a run goes on: named by the content of what is compared."""
    files = sorted((ROOT / "refute" / "specs" / "machine").rglob("*.py"))
    files += sorted((ROOT / "refute" / "verifiers" / "model").glob("*.py"))
    files += sorted((ROOT / "refute" / "verifiers" / "symbolic").glob("*.py"))
    names = ("typed_machines", "wide_machines", "symbolic_searches")
    files += [ROOT / "tests" / "conformance" / f"{name}.py" for name in names]
    whole = hashlib.sha256(b"".join(f.read_bytes() for f in files))
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "refute" / f"symbolic-machines-{whole.hexdigest()[:12]}.json"


def _judged(wanted: list[tuple[str, int]]) -> Iterator[Found]:
    """Every batch, as it ends."""
    cores = int(os.environ.get("REFUTE_CORES", os.cpu_count() or 1))
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        running = [pool.submit(batch, *one) for one in wanted]
        for ended in concurrent.futures.as_completed(running):
            yield ended.result()


def main(machines: int, begin: int) -> int:
    """Compare them; 1 when anything differs."""
    kept = _state_file()
    kept.parent.mkdir(parents=True, exist_ok=True)
    done = set(map(tuple, json.loads(kept.read_text()))) if kept.is_file() else set()
    seeds = range(begin, begin + machines // len(KINDS), BATCH)
    wanted = [(kind, first) for first in seeds for kind in KINDS if (kind, first) not in done]
    print(f"{len(seeds) * BATCH * len(KINDS)} machines; {len(wanted) * BATCH} are to be compared")
    totals: collections.Counter[str] = collections.Counter()
    wrong: list[str] = []
    for number, (kind, first, counts, found) in enumerate(_judged(wanted), 1):
        totals.update(counts)
        for seed, what in found.items():
            wrong.append(f"{kind} {seed}")
            print(f"{kind} seed {seed}: {what}", flush=True)
        if not found:
            done.add((kind, first))
            kept.write_text(json.dumps(sorted(done)))
        if number % 4 == 0 or number == len(wanted):
            print(f"{number * BATCH} machines: {dict(sorted(totals.items()))}", flush=True)
    print(f"{len(wrong)} differ{': ' + ', '.join(wrong) if wrong else ''}")
    return 1 if wrong else 0


if __name__ == "__main__":
    given = [int(a) for a in sys.argv[1:]]
    sys.exit(main(given[0] if given else MACHINES, given[1] if len(given) > 1 else 0))
