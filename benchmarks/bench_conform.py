"""What `refute conform --engine sqlite` costs over running the same statements with sqlite3.

    python benchmarks/bench_conform.py [--corpus DIR] [--repeat 9] [--share 0.05] [--seed 0]

CPU seconds of whole processes, children and start-up included, in pairs one after the other; a
figure is the median of the pairs' ratios. The loop reads the statements that SQLite runs from a
JSON file, executes each on one in-memory connection per file and fetches all rows: no reading of
the format, no rendering, no comparison. Measured with compiled code and without (`--no-native`), on
select1 to select3 in one process and on a share of each folder of the corpus. The bar is for
the path that a user gets; the other one runs other engines, too. At the end the sample runs in
as many processes as there are cores: how busy they were, and the largest process. Without a corpus
nothing is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from refute.oracles.sqllogictest.reader import read
from refute.verifiers.sql.conform_file import selected
from refute.verifiers.sql.conform_native import WORTH_BUILDING, loaded, prepare

NAMES = ("select1.test", "select2.test", "select3.test")
ARCHIVE = Path(__file__).parents[2] / "shared" / "sqllogictest" / "public.tar.zst"
BAR, STRETCH = 1.25, 1.05
MOST_MB = 300
RUNNER = (str(Path(sys.executable).with_name("refute")), "conform")

LOOP = """
import json, sqlite3, sys
for path in sys.argv[1:]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    with open(path) as file:
        for statement in json.load(file):
            try:
                connection.execute(statement).fetchall()
            except (sqlite3.Error, sqlite3.Warning):
                pass
"""


def main() -> None:
    """Measure and print the figures beside their bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="holds select1.test …")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--share", type=float, default=0.05, help="of each folder's files")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="refute-bench-") as name:
        corpus = given.corpus or unpacked(Path(name))
        if corpus is None:
            print("skipped: the sqllogictest corpus is not there; give --corpus")
            return
        started = time.process_time()
        prepare(WORTH_BUILDING)
        there = "compiled code" if loaded() else "no compiled code here"
        print(f"{there}, ready after {time.process_time() - started + children_s():.2f} s CPU")
        files = [str(corpus / name) for name in NAMES]
        compare("select1 to select3", files, Path(name), given.repeat)
        sample = sampled(corpus, given.share, random.Random(given.seed))
        compare(f"{len(sample)} files of all folders", sample, Path(name), -(-given.repeat // 3))
        whole_machine(sample)


def compare(title: str, files: Sequence[str], place: Path, repeat: int) -> None:
    """Both paths in one process against the loop, in turn."""
    loop = [sys.executable, "-c", LOOP, *[statements(path, place) for path in files]]
    paths = {
        "with compiled code": [*RUNNER, *files, "--jobs", "1"],
        "--no-native": [*RUNNER, *files, "--jobs", "1", "--no-native"],
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in paths}
    for _ in range(repeat):
        for name, command in paths.items():
            times[name].append((cpu_s(loop), cpu_s(command)))
    for name, pairs in times.items():
        bare, whole = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(w / b for b, w in pairs)
        bar = f"   (bar {BAR}, stretch {STRETCH})" if name == "with compiled code" else ""
        print(f"{title}, {name}: {whole:.3f} s CPU, sqlite3 alone {bare:.3f} s")
        print(f"  ratio, median of {len(pairs)} pairs: {ratio:.2f}{bar}")


def whole_machine(files: Sequence[str]) -> None:
    """How busy all cores are, and the largest process."""
    cores = os.cpu_count() or 1
    started = time.monotonic()
    spent = cpu_s([*RUNNER, *files])
    wall = time.monotonic() - started
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    busy = 100 * spent / wall / cores
    print(f"all {cores} cores: {wall:.2f} s wall, {spent:.2f} s CPU, {busy:.0f} % busy")
    print(f"  largest process {largest:.0f} MB   (bar {MOST_MB} MB)")


def sampled(corpus: Path, share: float, rng: random.Random) -> list[str]:
    """So many of each folder's files, one at least."""
    folders: dict[Path, list[str]] = {}
    for path in sorted(corpus.rglob("*.test")):
        folders.setdefault(path.parent, []).append(str(path))
    return [p for f in folders.values() for p in rng.sample(f, max(1, round(share * len(f))))]


def unpacked(place: Path) -> Path | None:
    """The files out of the archive beside the checkout, if there is one."""
    if not ARCHIVE.is_file():
        return None
    command = ["tar", "--use-compress-program=zstd -d --long=27", "-xf", str(ARCHIVE)]
    subprocess.run([*command, "-C", str(place)], check=True)
    return place / "test"


def statements(path: str, place: Path) -> str:
    """The path of a JSON list of the statements that SQLite runs of a file."""
    pairs = selected(read(Path(path).read_bytes(), path), "sqlite")
    target = place / f"{path.replace('/', '_')}.json"
    target.write_text(json.dumps([record.sql for record, runs in pairs if runs]))  # type: ignore[union-attr]
    return str(target)


def cpu_s(command: Sequence[str]) -> float:
    """User and system seconds of the command and its children."""
    before = children_s()
    quiet = subprocess.DEVNULL
    subprocess.run(command, check=True, stdout=quiet, stderr=quiet)
    return children_s() - before


def children_s() -> float:
    """User and system seconds of all children so far."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


if __name__ == "__main__":
    main()
