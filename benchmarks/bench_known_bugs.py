"""Known bugs of old SQL engines: which oracles of `refute fuzz sql` flag them, given their SQL.

    python benchmarks/bench_known_bugs.py BUGS.json DIRECTORY --prepare
    python benchmarks/bench_known_bugs.py BUGS.json DIRECTORY [--only TEXT] [--oracle NAMES]

Every bug's SQL is given with `--seed-sql` and nothing is generated, once to the version that has
the bug and once to one that has not; the latter is to flag nothing. DIRECTORY holds the versions
(`sql_environments` says how they are made); one that cannot be made is named and not counted.
Bar: at least 36 of 43 are flagged, none on the fixed version.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import importlib.metadata
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sql_environments import Engine, Unavailable, engine_of, newest_library, prepare

REFUTE = (sys.executable, "-c", "from refute.cli.main import main; raise SystemExit(main())")
SHARE = 36 / 43  # of the bugs that is to be flagged
MOST_S = 300


class Flagged(NamedTuple):
    """What a run found: oracle → why. problem: why it says nothing."""

    oracles: dict[str, str]
    problem: str = ""
    open: str = ""


def main() -> int:
    """Print the table; 1 when the bar is missed."""
    given = _parser().parse_args()
    bugs = [b for b in json.loads(Path(given.bugs).read_text()) if given.only in _name(b)]
    place = Path(given.directory).resolve()
    if given.prepare:
        return _prepare(bugs, place)
    began = time.monotonic()
    found = missed = false = 0
    absent: list[str] = []
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        runs = pool.map(lambda bug: _both(bug, place, given), bugs)
        for bug, (old, new) in zip(bugs, runs, strict=True):
            absent += [_name(bug)] if old is None else []
            print(_line(bug, old, new), flush=True)
            if old is not None:
                found += bool(old.oracles)
                missed += not old.oracles
                false += bool(new.oracles)
    for name in absent:
        print(f"not counted, its version is not here: {name}")
    print(f"{found} of {found + missed} flagged; {false} flagged on a version without the bug")
    print(f"{time.monotonic() - began:.0f} s")
    return int(found < SHARE * (found + missed) or false > 0)


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description="known bugs given as --seed-sql")
    made.add_argument("bugs")
    made.add_argument("directory")
    made.add_argument("--prepare", action="store_true")
    made.add_argument("--only", default="")
    made.add_argument("--oracle", default="all")
    made.add_argument("--jobs", type=int, default=1)
    made.add_argument("--keep", default="", help="a directory for the runs' JSON")
    return made


def _prepare(bugs: Sequence[Any], place: Path) -> int:
    place.mkdir(parents=True, exist_ok=True)
    for install, kind in sorted({(bug["install"], bug["engine"]) for bug in bugs}):
        print(f"{install}: {prepare(install, kind, place)}", flush=True)
    return 0


def _name(bug: Any) -> str:
    return f"{bug['engine']} {bug['id']}"


def _both(bug: Any, place: Path, given: argparse.Namespace) -> tuple[Flagged | None, Flagged]:
    """What is found on the version that has the bug, None if it is not here, and on the other."""
    try:
        old = engine_of(bug["install"], bug["engine"], place)
    except Unavailable as error:
        return None, Flagged({}, str(error))
    return _flagged(bug, old, given, "old"), _flagged(bug, _fixed(bug), given, "new")


def _fixed(bug: Any) -> Engine:
    """The version without the bug: the installed one, for SQLite and those that have none apsw's.

    The bugs of Turso are in its newest release, too; SQLite stands for a fixed one.
    """
    kind: str = bug["engine"]
    if kind in ("sqlite", "turso"):
        return Engine(f"sqlite:{newest_library()}")
    name, _, version = bug["reference"].split()[0].partition("==")
    if importlib.metadata.version(name) != version:
        raise SystemExit(f"{name} is {importlib.metadata.version(name)}, not {version}")
    return Engine(kind)


def _flagged(bug: Any, engine: Engine, given: argparse.Namespace, which: str) -> Flagged:
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory, "bug.json")
        script.write_text(json.dumps(bug["sql"]), encoding="utf-8")
        command = [*REFUTE, "fuzz", "sql", "--engine", engine.engine, "--seed-sql", str(script)]
        command += ["--programs", "0", "--oracle", given.oracle, "--jobs", "1", "--json", "-"]
        command += ["--as", engine.dialect] if engine.dialect else []
        done = subprocess.run(
            command, cwd=directory, capture_output=True, text=True, check=False, timeout=MOST_S
        )
    if given.keep:
        kept = Path(given.keep, f"{_name(bug).replace('/', '_')}.{which}.json")
        kept.write_text(done.stdout + done.stderr, encoding="utf-8")
    try:
        run = json.loads(done.stdout)
    except ValueError:
        run = {}
    if "findings" not in run:
        return Flagged({}, f"exit {done.returncode}: {' '.join(done.stderr.split())[:200]}")
    found: dict[str, str] = {}
    for finding in run["findings"]:
        found.setdefault(finding["oracle"], finding["why"] or finding["kind"])
    counts = run["counts"]
    why = "" if done.returncode in (0, 1) else "; ".join(run["reasons"])
    return Flagged(found, why, ", ".join({**counts["open"], **counts["rejected"]}))


def _line(bug: Any, old: Flagged | None, new: Flagged) -> str:
    told = f"{_name(bug):45.45} {bug['oracle']:18.18} "
    if old is None:
        return f"{told}not here: {new.problem}"
    told += ", ".join(old.oracles) or f"MISSED ({old.problem or old.open or 'nothing broke'})"
    if new.oracles:
        told += f"; FIXED VERSION FLAGGED: {new.oracles}"
    elif new.problem:
        told += f"; fixed version: {new.problem}"
    return told


if __name__ == "__main__":
    sys.exit(main())
