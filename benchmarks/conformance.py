"""The whole sqllogictest corpus on SQLite, file by file beside what the C runner counted.

    python benchmarks/conformance.py [--corpus DIR] [--counts TSV] [--jobs N] [--only GLOB]

`make conformance` runs this. The corpus is a directory, or the archive beside this tree, which is
unpacked for the run (tar and zstd). The counts have a line for each file: its path, CPU seconds,
records run, skipped and failed. Printed are differences, and how busy the cores were; the exit code
is 1 for a difference that no note explains, and 0 with a word where there is no corpus.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PLACE = Path(__file__).parents[2] / "shared" / "sqllogictest"
ARCHIVE = PLACE / "public.tar.zst"
COUNTED = ("run", "skipped", "errors")


def main() -> int:
    """Run and compare; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="the directory of the files")
    parser.add_argument("--counts", type=Path, default=PLACE / "c_runner.tsv", metavar="TSV")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", metavar="GLOB")
    given = parser.parse_args()
    if not given.counts.is_file():
        print(f"skipped: there are no counts to compare with at {given.counts}; give --counts")
        return 0
    with _corpus(given.corpus) as corpus:
        if corpus is None:
            print(f"skipped: there is no corpus; give --corpus, or put one at {ARCHIVE}")
            return 0
        document, spent = _run(corpus, given.jobs, given.only)
    known = _counts(given.counts)
    differences, notes = compare(document["files"], corpus, known)
    for line in (*notes, *differences):
        print(line)
    records = document["records"]
    print(
        f"{len(document['files'])} files, {records['run']:,} records run, "
        f"{records['skipped']:,} skipped, {records['failed']:,} failed; "
        f"{len(differences)} files differ from the C runner"
    )
    in_work = sum(file["wall_s"] for file in document["files"]) / given.jobs
    print(
        f"{spent['wall']:.1f} s wall, {spent['cpu']:.1f} s CPU; {given.jobs} processes had a file "
        f"in work {100 * in_work / spent['wall']:.0f} % of the time; the largest took "
        f"{spent['rss']} MB"
    )
    return 1 if differences or document["exit_code"] else 0


def compare(
    files: list[dict[str, Any]], corpus: Path, known: dict[str, dict[str, int]]
) -> tuple[list[str], list[str]]:
    """Lines for files whose counts are not the C runner's, and lines for what is explained.

    files: of the JSON document. known: by the end of a path, run, skipped and errors.
    """
    differences, notes = [], []
    left = dict(known)
    for file in files:
        path = Path(file["path"])
        name = next((n for n in _ends(path) if n in known), path.relative_to(corpus).as_posix())
        wanted = left.pop(name, None)
        if wanted is None:
            notes.append(f"{name}: the C runner has no counts of it")
            continue
        found = {name: file[name] for name in COUNTED[:2]} | {"errors": len(file["failures"])}
        by_release = len(file.get("by_release", ()))
        if found == wanted:
            continue
        line = f"{name}: {_shown(found)}; the C runner {_shown(wanted)}"
        if by_release and found | {"errors": wanted["errors"]} == wanted:
            notes.append(f"{line}: {by_release} records depend on the release of SQLite")
        else:
            differences.append(f"{line} {file['error'] or file['lost']}".rstrip())
    if left:
        notes.append(f"not run, and in the counts: {len(left)}, such as {min(left)}")
    return differences, notes


def _shown(counts: dict[str, int]) -> str:
    return ", ".join(f"{counts[name]:,} {name}" for name in COUNTED)


def _ends(path: Path) -> Iterator[str]:
    """The path's ends, the longest first."""
    for i in range(len(path.parts)):
        yield "/".join(path.parts[i:])


def _counts(path: Path) -> dict[str, dict[str, int]]:
    with path.open(encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {row["file"]: {name: int(row[name]) for name in COUNTED} for row in rows}


def _run(corpus: Path, jobs: int, only: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The document of the run, and what it took."""
    command = [sys.executable, "-m", "refute.cli.main", "conform", str(corpus), "--progress"]
    command += ["--jobs", str(jobs), "--json", "-", *(["--only", only] if only else [])]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    wall = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    spent = {"wall": wall, "cpu": cpu, "rss": after.ru_maxrss // 1024}
    return json.loads(done.stdout), spent


@contextlib.contextmanager
def _corpus(named: Path | None) -> Iterator[Path | None]:
    """The directory of the files; None where there is none."""
    if named is not None or not ARCHIVE.is_file():
        yield named
        return
    with tempfile.TemporaryDirectory(prefix="refute-corpus-") as name:
        unpack = ["tar", "--use-compress-program=zstd -d --long=27", "-xf", str(ARCHIVE)]
        subprocess.run([*unpack, "-C", name], check=True)
        yield Path(name)


if __name__ == "__main__":
    sys.exit(main())
