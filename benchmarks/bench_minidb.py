"""Seconds that minidb takes for select1.test to select3.test of SQLite's own suite, in one process.

    python benchmarks/bench_minidb.py DIRECTORY

DIRECTORY holds the files; by default they are unpacked from ../shared/sqllogictest beside the
checkout. Bar: 60 s for the three together, every record passing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from refute.oracles.sql.driver import Session
from refute.oracles.sqllogictest.expect import Labels, judge
from refute.oracles.sqllogictest.reader import ControlRecord, read

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "sqllogictest" / "public.tar.zst"
NAMES = ("select1.test", "select2.test", "select3.test")
BAR = 60.0


def unpacked(place: Path) -> Path:
    """The three files, unpacked; raises CalledProcessError without zstd."""
    names = [f"test/{name}" for name in NAMES]
    command = ["tar", "-I", "zstd -d --long=27", "-xf", str(CORPUS), "-C", str(place), *names]
    subprocess.run(command, check=True)
    return place / "test"


def measured(path: Path) -> tuple[int, int, float]:
    """Records run, records failed, and CPU seconds."""
    session, labels = Session("minidb:connect"), Labels()
    ran = failed = 0
    started = time.process_time()
    for record in read(path.read_bytes(), path.name):
        conditions = getattr(record, "conditions", ())
        if isinstance(record, ControlRecord) or ("skipif", "sqlite") in conditions:
            continue
        if any(kind == "onlyif" and name != "sqlite" for kind, name in conditions):
            continue
        ran += 1
        [answer] = session.run([record.sql])
        failed += judge(record, answer, labels) is not None
    return ran, failed, time.process_time() - started


def main(directory: Path) -> int:
    """Measure; exit 1 when the bar is missed or a record fails."""
    sys.path.insert(0, str(ROOT / "examples" / "minidb"))
    total, bad = 0.0, 0
    for name in NAMES:
        ran, failed, seconds = measured(directory / name)
        total, bad = total + seconds, bad + failed
        print(f"{name:14} {ran:>5} records {failed:>3} failed {seconds:6.1f} s")
    print(f"together {total:.1f} s of CPU; bar {BAR:.0f} s")
    return int(bad > 0 or total > BAR)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1])))
    if not CORPUS.exists():
        print("not measured: no ../shared/sqllogictest beside the checkout, and no directory given")
        sys.exit(0)
    with tempfile.TemporaryDirectory() as scratch:
        sys.exit(main(unpacked(Path(scratch))))
