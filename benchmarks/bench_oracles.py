"""Which oracle of `refute fuzz sql` sees which planted class of wrong results.

    python benchmarks/bench_oracles.py             prints the table
    python benchmarks/bench_oracles.py --write     puts it into docs/fuzz.md
    python benchmarks/bench_oracles.py --draw      draws the queries anew from the generator first

The classes are in tests/planted/planted_results.py, the measurement in measured_oracles.py there.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "planted"))

from measured_oracles import FILE, QUERIES, SOUND, Engine, measured, shows, table  # noqa: E402
from planted_results import CLASSES, Class  # noqa: E402

from refute.fuzz.sql.grammar import Grammar  # noqa: E402
from refute.fuzz.sql.program import program  # noqa: E402
from refute.fuzz.sql.queries import PRODUCTIONS  # noqa: E402
from refute.fuzz.sql.schema import Shape  # noqa: E402
from refute.fuzz.sql.text import write  # noqa: E402
from refute.specs.sql import FEATURES  # noqa: E402

DOCS = ROOT / "docs" / "fuzz.md"
BEGIN = "<!-- oracles and planted defects: begin -->"
END = "<!-- oracles and planted defects: end -->"
SEED = 7
MOST_PROGRAMS = 500
MOST_ROWS = 60
RARE = frozenset(
    {  # what some classes need and most queries do not have
        *("column-collate", "cast", "coalesce", "aggregate", "aggregate-distinct", "except"),
        *("trigger", "upsert", "update", "index", "unique", "inner-join", "in-list", "like"),
    }
)
LARGEST = 900  # letters of a query, and of a setup three times as many


def once(planted: Class) -> bool:
    """Whether one query of a database is enough, since what is wrong is the database."""
    return planted.setup is not None or (planted.answer is not None and not planted.nodes)


def draw(seed: int = SEED, few: frozenset[str] = frozenset()) -> None:
    """Keep the first queries that each class answers wrongly, beside those that are kept.

    few: features that queries and tables may have; all by default.
    """
    shape = Shape(few or frozenset(FEATURES) - {"fts5", "rtree"}, 3, 8)
    grammar = Grammar(PRODUCTIONS, shape.features)
    data = json.loads(FILE.read_text(encoding="utf-8")) if few else {"shown": {}, "programs": []}
    places: dict[str, list[int]] = {name: data["shown"].get(name, []) for name in CLASSES}
    programs: list[dict[str, Any]] = data["programs"]
    count = sum(len(kept["queries"]) for kept in programs)
    for number in range(MOST_PROGRAMS):
        wanted = [name for name, found in places.items() if len(found) < QUERIES]
        if not wanted:
            break
        made = program(seed, number, shape, grammar, 8)
        setup = [write(tree) for tree in made.setup]
        if sum(map(len, setup)) > 3 * LARGEST:
            continue
        engine = Engine(SOUND, setup)
        kept: list[str] = []
        stored = False
        for tree in made.queries:
            text = write(tree)
            answer = engine.ask(text)
            if answer[0] != "rows" or len(answer[2]) > MOST_ROWS or len(text) > LARGEST:
                continue
            shown = []
            for name in wanted:
                per_database = once(CLASSES[name])
                if len(places[name]) < QUERIES and not (per_database and stored):
                    shown += [name] if shows(CLASSES[name], setup, text, engine) else []
            if shown:
                stored = stored or any(once(CLASSES[name]) for name in shown)
                for name in shown:
                    places[name].append(count)
                kept.append(text)
                count += 1
        engine.close()
        if kept:
            programs.append({"setup": setup, "queries": kept})
    text = json.dumps({"shown": places, "programs": programs}, ensure_ascii=False, indent=0)
    FILE.write_text(text + "\n", encoding="utf-8")
    few = {name: len(found) for name, found in places.items() if len(found) < QUERIES}
    print(f"{count} queries of {len(programs)} databases; fewer than {QUERIES}: {few}")


def main() -> None:
    """Measure, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.draw:
        draw()
        draw(SEED + 1, RARE)
    begun = time.process_time()
    lines = table(measured())
    if options.write:
        text = DOCS.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        after = rest.split(END)[1]
        of = f"Measured on SQLite {sqlite3.sqlite_version}."
        made = "\n".join([BEGIN, "", of, "", *lines, "", END])
        DOCS.write_text(before + made + after, encoding="utf-8")
    else:
        print(*lines, sep="\n")
    print(f"{time.process_time() - begun:.1f} CPU seconds", file=sys.stderr)


if __name__ == "__main__":
    main()
