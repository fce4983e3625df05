"""The sqllogictest engine keeps the promises of the protocol; its counts are the C runner's."""

from __future__ import annotations

import csv
import sqlite3
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refute.budget import Budget
from refute.claim import claim
from refute.oracles.sqllogictest.render import texts
from refute.site import Site
from refute.specs.conformance import Conforms
from refute.verifiers.conformance import Kit, conform
from refute.verifiers.sql.conform import Conformance
from refute.verifiers.sql.conform_run import Choice, run_files

TREE = Path(__file__).parents[1] / "cases" / "sqllogictest"
CORPUS = Path(__file__).parents[3] / "shared" / "sqllogictest"
ARCHIVE = CORPUS / "public.tar.zst"
COST_S = 0.095  # CPU seconds of the C runner for the dearest file that is tried here
EACH = 6  # files of one folder at most, the cheapest ones


def test_the_engine_conforms() -> None:
    made = [
        claim(name, Conforms(f"engines:{name}", [files], name="sqlite"), covers=["*"])
        for name, files in (
            ("one_wrong", "basics.test"),
            ("sound", "*s.test"),
            ("broken", "*s.test"),
        )
    ]
    false, sound, unfit = made
    site = Site(TREE, TREE, (".",))
    kit = Kit(site, false=[false], sound=[sound], unfit=[unfit], budget=Budget(wall_s=30.0))
    assert conform(Conformance(), kit) == []


values = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.floats(-1e6, 1e6),
    st.integers(-(10**6), 10**6).map(lambda n: n / 2**13),
    st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=8),
    st.from_regex(r"\A ?[+-]?[0-9]{0,12}(\.[0-9]{0,4})?([eE][+-]?[0-9]{1,2})?x?\Z"),
)


def near_a_tie(difference: float, shown: float) -> bool:
    """Some releases of SQLite round up what lies less than a few units below half a digit."""
    return abs(abs(difference) - 0.001) < 1e-6 * max(1.0, abs(shown))


@settings(max_examples=600, deadline=None, database=None, derandomize=True)
@given(value=values)
def test_values_read_as_sqlite_itself_converts_them(value: int | float | str | None) -> None:
    row = sqlite3.connect(":memory:").execute(
        "SELECT CAST(?1 AS INTEGER), printf('%.3f', ?1), CAST(?1 AS TEXT)", [value]
    )
    integer, real, text = row.fetchone()
    if value is None:
        assert texts("IRT", [[None] * 3], "nosort") == ["NULL"] * 3
        return
    low = integer & 0xFFFFFFFF
    shown = texts("IRT", [[value] * 3], "nosort")
    assert shown[0] == str(low - 2**32 if low >= 2**31 else low)
    if abs(float(shown[1])) < 1e12:  # beyond, SQLite before 3.42 cuts digits instead of rounding
        assert shown[1] == real or near_a_tie(float(real) - float(shown[1]), float(shown[1]))
    tie = type(value) is float and f"{value:.44e}".partition("e")[0].endswith("5" + "0" * 29)
    if tie or (type(value) is float and value and not 1e-9 < abs(value) < 2**48):
        return  # releases of SQLite differ in the fifteenth digit
    plain = "".join(chr(b) if 0x20 <= b <= 0x7E else "@" for b in text.encode())
    assert shown[2] == (plain or "(empty)")


@pytest.mark.skipif(not ARCHIVE.is_file(), reason="the sqllogictest corpus is not beside this tree")
def test_counts_are_those_of_the_c_runner(tmp_path: Path) -> None:
    with (CORPUS / "c_runner.tsv").open(encoding="utf-8") as file:
        known = {row["file"]: row for row in csv.DictReader(file, delimiter="\t")}
    cost = {name: float(row["cpu_s"]) for name, row in known.items()}
    by_folder: dict[str, list[str]] = {}
    for name in sorted(cost, key=lambda name: (cost[name], name)):
        if cost[name] <= COST_S:
            by_folder.setdefault(name.rpartition("/")[0], []).append(name)
    names = [name for folder in by_folder.values() for name in folder[:EACH]]
    assert len(names) >= 20
    unpack = ["tar", "--use-compress-program=zstd -d --long=27", "-xf", str(ARCHIVE)]
    subprocess.run([*unpack, "-C", str(tmp_path), *names], check=True)
    paths = [str(tmp_path / name) for name in names]
    run = run_files(Choice("sqlite", "sqlite", 60.0), paths, 1, lambda _: None, lambda _: None)
    counts = {
        name: (file.run, file.skipped, 0)
        for name, file in zip(names, run.files, strict=True)
        if not (file.failures or file.error)
    }
    # SQLite 3.40's own %.3f differs in two records of aggfunc; this renders as newer ones do.
    wanted = {name: (int(known[name]["run"]), int(known[name]["skipped"]), 0) for name in names}
    assert counts == wanted
