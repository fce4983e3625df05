"""SQLite's corpus on other engines, transpiled: what a seeded sample of its files shows.

    python benchmarks/bench_dialects.py CORPUS --engine duckdb --engine postgresql://…  [--share 5]

The sample has the given share of the files of each folder, at least one, chosen with the seed; the
largest are not preferred. With --queries N, so many queries of each file are kept, chosen with the
seed as well, and all its statements; lines keep their numbers. For each engine: records run and
passed, expected differences by class, what could not be asked by construct, failures by kind and
words, and records a second. A failure that is left is a wrong result, an error of the engine, or a
mistake of the translation.
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ENDING = "*.test"
DEPTH = 2  # folders that are told apart


def sample(corpus: Path, share: float, seed: int) -> list[Path]:
    """So many percent of the files of each folder, at least one."""
    folders: dict[tuple[str, ...], list[Path]] = collections.defaultdict(list)
    for path in sorted(corpus.rglob(ENDING)):
        folders[path.relative_to(corpus).parent.parts[:DEPTH]].append(path)
    chosen = random.Random(seed)
    found: list[Path] = []
    for folder in sorted(folders):
        number = max(1, round(len(folders[folder]) * share / 100))
        found += chosen.sample(folders[folder], number)
    return found


def cut(files: list[Path], corpus: Path, place: Path, queries: int, seed: int) -> list[Path]:
    """The files with so many of their queries at most; the others' lines are empty."""
    made = []
    for path in files:
        parts = re.split(
            r"(\n[ \t]*\n)", path.read_text(encoding="utf-8", errors="surrogateescape")
        )
        asked = [k for k in range(0, len(parts), 2) if re.search(r"^query\b", parts[k], re.M)]
        chosen = random.Random(f"{seed}{path.relative_to(corpus)}")
        kept = set(chosen.sample(asked, min(queries, len(asked))))
        for k in set(asked) - kept:
            parts[k] = "\n" * parts[k].count("\n")
        out = place / path.relative_to(corpus)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text("".join(parts), encoding="utf-8", errors="surrogateescape")
        made.append(out)
    return made


def run(engine: str, files: list[Path], jobs: int, transpile: bool) -> dict[str, Any]:
    """The run's JSON, with its CPU-independent rate as `rate`."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "run.json"
        command = [str(Path(sys.executable).with_name("refute")), "conform", *map(str, files)]
        command += ["--engine", engine, "--json", str(out), "--show", "0", "--jobs", str(jobs)]
        command += ["--transpile"] if transpile else []
        started = time.monotonic()
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        made: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    made["rate"] = made["records"]["run"] / (time.monotonic() - started)
    return made


def told(made: dict[str, Any]) -> str:
    """What a run shows, for people."""
    files = made["files"]
    records = made["records"]
    lines = [
        f"{made['engine'].partition('@')[0]}: {len(files)} files, {records['run']:,} records run, "
        f"{records['run'] - records['failed']:,} passed, {records['failed']:,} failed, "
        f"{made['rate']:,.0f} records/s"
    ]
    for title, key in (("expected difference", "differences"), ("not asked", "inexpressible")):
        totals: collections.Counter[str] = collections.Counter()
        for file in files:
            totals.update({name: len(found) for name, found in file[key].items()})
        lines += [f"  {title}: {name} {number:,}" for name, number in totals.most_common()]
    causes: dict[str, list[str]] = collections.defaultdict(list)
    for file in files:
        for failure in file["failures"]:
            words = re.sub(r"[\"'`].*?[\"'`]|-?\d+(?:\.\d+)?|[0-9a-f]{32}", "…", failure["got"])
            place = f"{Path(file['path']).parent.name}/{Path(file['path']).name}"
            causes[f"{failure['kind']}: {words[:70]}"].append(
                f"{place}:{failure['line']}: {failure['sql'][:160]}"
            )
    for cause, places in sorted(causes.items(), key=lambda item: -len(item[1])):
        lines.append(f"  failed {len(places):,}: {cause}\n      {min(places, key=len)}")
    for cause in (made["causes"] or {"causes": []})["causes"]:
        script = "".join(f"\n      | {line}" for line in cause["script"].splitlines())
        lines.append(f"  cause of {cause['count']:,}: {cause['title'][:160]}{script}")
    lines += [
        f"  {file['path']}: {file[k]}" for file in files for k in ("error", "lost") if file[k]
    ]
    return "\n".join(lines)


def main() -> None:
    """Run the sample on each engine and print what it shows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--engine", action="append", required=True)
    parser.add_argument("--share", type=float, default=5.0, help="percent of each folder's files")
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--as-is", action="store_true", help="without --transpile")
    parser.add_argument("--queries", type=int, default=0, help="at most so many of each file")
    given = parser.parse_args()
    files = sample(given.corpus, given.share, given.seed)
    with tempfile.TemporaryDirectory() as place:
        if given.queries:
            files = cut(files, given.corpus, Path(place), given.queries, given.seed)
        show(given, files)


def show(given: argparse.Namespace, files: list[Path]) -> None:
    """Run the files on each engine and print what is seen."""
    size = sum(path.stat().st_size for path in files)
    print(f"seed {given.seed}: {len(files)} files, {size / 1e6:.0f} MB", flush=True)
    for engine in given.engine:
        print(told(run(engine, files, given.jobs, not given.as_is)), flush=True)


if __name__ == "__main__":
    main()
