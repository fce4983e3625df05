"""What `refute conform --engine sqlite` costs over running the same statements with sqlite3.

    python benchmarks/bench_conform.py [--corpus DIR] [--repeat 9]

CPU seconds of whole processes, children and start-up included, in pairs one after the other; the
figure is the median of the pairs' ratios. The loop reads the statements that SQLite runs from a
JSON file, executes each on one in-memory connection per file and fetches all rows: no reading of
the format, no rendering, no comparison. The bar is 1.6. Without a corpus nothing is measured.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from refute.oracles.sqllogictest.reader import read
from refute.verifiers.sql.conform_file import selected

NAMES = ("select1.test", "select2.test", "select3.test")
ARCHIVE = Path(__file__).parents[2] / "shared" / "sqllogictest" / "public.tar.zst"
BAR = 1.6

LOOP = """
import json, sqlite3, sys
for path in sys.argv[1:]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    with open(path) as file:
        for statement in json.load(file):
            connection.execute(statement).fetchall()
"""


def main() -> None:
    """Measure and print the figure beside its bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="holds select1.test …")
    parser.add_argument("--repeat", type=int, default=9)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="refute-bench-") as name:
        corpus = given.corpus or unpacked(Path(name))
        if corpus is None:
            print("skipped: the sqllogictest corpus is not there; give --corpus")
            return
        files = [str(corpus / name) for name in NAMES]
        lists = [statements(path, Path(name)) for path in files]
        loop = [sys.executable, "-c", LOOP, *lists]
        runner = [str(Path(sys.executable).with_name("refute")), "conform", *files]
        pairs = [(cpu_s(loop), cpu_s(runner)) for _ in range(given.repeat)]
    bare, whole = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = statistics.median(r / b for b, r in pairs)
    print(f"select1 to select3, sqlite3 alone    {bare:6.3f} s CPU")
    print(f"select1 to select3, refute conform   {whole:6.3f} s CPU")
    print(f"ratio, median of {len(pairs)} pairs             {ratio:6.2f}   (bar {BAR})")


def unpacked(place: Path) -> Path | None:
    """The files out of the archive beside the checkout, if there is one."""
    if not ARCHIVE.is_file():
        return None
    wanted = [f"test/{name}" for name in NAMES]
    command = ["tar", "--use-compress-program=zstd -d --long=27", "-xf", str(ARCHIVE)]
    subprocess.run([*command, "-C", str(place), *wanted], check=True)
    return place / "test"


def statements(path: str, place: Path) -> str:
    """The path of a JSON list of the statements that SQLite runs of a file."""
    pairs = selected(read(Path(path).read_bytes(), path), "sqlite")
    target = place / f"{Path(path).name}.json"
    target.write_text(json.dumps([record.sql for record, runs in pairs if runs]))  # type: ignore[union-attr]
    return str(target)


def cpu_s(command: list[str]) -> float:
    """User and system seconds of the command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
