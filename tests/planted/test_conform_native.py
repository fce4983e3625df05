"""The compiled helper passes what the plain path passes, nothing wrong, and liars are caught."""

from __future__ import annotations

import importlib.util
import random
import signal
from pathlib import Path
from types import FrameType, ModuleType

import pytest

from refute.oracles.sql.sqlite import SQLite
from refute.verifiers.model.native import builds
from refute.verifiers.sql import conform_native
from refute.verifiers.sql.conform_file import Embedded, FileResult, FileRun, Run, run_file
from refute.verifiers.sql.conform_native import (
    NAME,
    WORTH_BUILDING,
    Assisted,
    Helper,
    Wrong,
    check_helper,
    loaded,
    prepare,
)
from refute.verifiers.sql.conform_run import Choice, run_files

CASES = Path(__file__).parents[1] / "cases" / "sqllogictest"
ENDLESS = "WITH RECURSIVE t(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM t) SELECT sum(x) FROM t"


def _module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generated", CASES / "generated.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generator = _module()


@pytest.fixture(scope="module")
def helper() -> Helper:
    prepare(WORTH_BUILDING)
    found = loaded()
    if found is None:
        pytest.skip("no C compiler (cc, gcc, clang), or a Python with SQLite built in")
    return found


def ignored(_: object) -> None:
    """For what a run tells."""


def plain(data: bytes) -> FileResult:
    return FileRun(Run(Embedded(30.0), "sqlite"), "f", 0).all_of(data)


def agrees(helper: Helper, data: bytes) -> bool:
    """Whether the helper passes it. The plain path must say the same then, in all it says."""
    result = helper.run("f", data, "sqlite", 30.0)
    if result is None:
        return False
    result.native = False
    assert plain(data) == result
    return True


@pytest.mark.parametrize("seed", range(25))
def test_it_passes_what_the_plain_path_passes(helper: Helper, seed: int) -> None:
    assert agrees(helper, generator.generated(seed).encode())


@pytest.mark.parametrize("seed", range(25))
def test_it_passes_nothing_that_the_plain_path_does_not(helper: Helper, seed: int) -> None:
    rng = random.Random(seed)
    text = generator.generated(seed)
    passed = [agrees(helper, wrong.encode()) for wrong in generator.wrong(text, rng)]
    passed += [agrees(helper, generator.scrambled(text, rng)) for _ in range(6)]
    assert not all(passed)


@pytest.mark.parametrize(
    "record",
    [
        "statement ok\nSELECT ?\n",
        "query I\nSELECT ?\n----\nNULL\n",
        "query I\nSELECT 1; SELECT 2\n----\n1\n",
        "query I\nSELECT 2; SELECT 1\n----\n1\n",
        "query I\nSELECT 1, 1\n----\n1\n",
        "query II\nSELECT 1\n----\n1\n",
        "query I\nCREATE TABLE t(a)\n----\n",
        "query I\nSELECT abs(-9223372036854775807 - x) FROM (SELECT 1 AS x)\n----\n1\n",
        "query I\nSELECT 1\n----\n1\n1\n",
        "query I\nSELECT 1 UNION ALL SELECT 1\n----\n1\n",
        "query I\nSELECT 1 WHERE 0\n----\n1\n",
        "query I\nSELECT 1\n----\n",
        "query I nosort x\nSELECT 1\n\nquery I nosort x\nSELECT 2\n",
        "skipif sqlite\nquery I nosort x\nSELECT 1\n----\n1\n\nquery I nosort x\nSELECT 2\n",
        "query T\nSELECT 'a' || char(10)\n----\na\n",
        "query R\nSELECT 9.9995\n----\n10.000\n",
        "statement ok\nATTACH 'other.db' AS other\n",
        "statement ok\nVACUUM INTO 'other.db'\n",
        "statement ok\nSELECT zeroblob(100000001)\n",
        "statement error\nVACUUM\n",
        "statement error\nATTACH ':memory:' AS other\n",
        "statement error\nSELECT 1\n",
        "statement error\n-- nothing\n",
        "statement ok\nSELECT 1\n\nstatemint ok\nSELECT 1\n",
        "query I\nSELECT 1\n---- \n2\n",
        "query I nosort x y\nSELECT 1\n----\n1\n",
        "statement ok\nSELECT 1\nstatement ok\nSELECT 1\n",
        "statement ok\nSELECT 'a\0'\n",
        "statement ok\nSELECT 1",
        "skipif sqlite\n\n",
        "",
    ],
)
def test_what_fails_or_is_odd_is_declined(helper: Helper, record: str) -> None:
    assert helper.run("f", record.encode(), "sqlite", 30.0) is None


def test_what_depends_on_the_release_is_named(helper: Helper) -> None:
    record = b"query R rowsort\nSELECT 9.9995 UNION SELECT 1.5\n----\n1.500\n9.999\n"
    found = helper.run("f", record, "sqlite", 30.0)
    own = SQLite().answer("SELECT printf('%.3f', 9.9995)")[2] == [("9.999",)]
    assert found is not None
    assert found.by_release == plain(record).by_release == ([] if own else [1])


def test_a_statement_that_takes_too_long_is_declined(helper: Helper) -> None:
    assert helper.run("f", f"query I\n{ENDLESS}\n".encode(), "sqlite", 0.05) is None


def test_an_interrupt_ends_the_file(helper: Helper) -> None:
    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        result = helper.run("f", f"query I\n{ENDLESS}\n".encode(), "sqlite", 30.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert result is not None and result.cut and result.interrupted


def test_a_run_that_is_stopped_tells_what_was_run(helper: Helper) -> None:
    asked = iter((False, True))
    slow = "SELECT count(*) FROM t AS a, t AS b, t AS c, t AS d, t AS e, t AS f"
    setup = "CREATE TABLE t(a); INSERT INTO t VALUES(1), (2), (3), (4), (5), (6), (7), (8)"
    records = [f"statement ok\n{setup}\n", *[f"query I\n{slow}\n----\n262144\n"] * 2000]
    told: list[int] = []
    data = "\n".join(records).encode()
    result = helper.run("f", data, "sqlite", 30.0, told.append, lambda: next(asked))
    assert result is not None and result.cut and not result.interrupted
    assert sum(told) == result.run < 2001


class Liar(Helper):
    """Says of everything that it passed."""

    def __init__(self) -> None:
        pass

    def run(self, path: str, *_: object, **__: object) -> FileResult:
        return FileResult(path, 6, 1, native=True)


def test_a_helper_that_lies_is_not_used() -> None:
    with pytest.raises(Wrong, match="passes a wrong file"):
        check_helper(Liar())


@pytest.mark.usefixtures("helper", "nothing_loaded")
def test_a_helper_that_lies_is_told_by_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(conform_native, "Helper", lambda _: Liar())
    file = tmp_path / "a.test"
    file.write_text("query I\nSELECT 1\n----\n2\n\n" + "statement ok\nSELECT 1\n\n" * 4000)
    run = run_files(Choice("sqlite", "sqlite", 30.0), [str(file)], 1, ignored, ignored)
    assert run.notes == [f"{NAME} passes a wrong file, with 't((', and is not used"]
    assert run.files[0].failures and not run.files[0].native


def test_a_helper_that_lies_later_is_caught_by_name() -> None:
    wrong = b"query I\nSELECT 1\n----\n2\n"
    engine = Assisted(30.0, doubt=1, find=Liar)
    run = Run(engine, "sqlite")
    first = run_file(run, "a.test", wrong, confirm=1)
    assert first.unstable.startswith(f"{NAME} said of a.test that all 6 records passed")
    assert [f.line for f in first.failures] == [1]
    second = run_file(run, "b.test", wrong, confirm=1)  # it is not asked any more
    assert not second.unstable and second.failures[0].confirmed and not second.native


def test_a_helper_that_is_doubted_and_right_is_used(helper: Helper) -> None:
    engine = Assisted(30.0, doubt=1, find=lambda: helper)
    result = run_file(Run(engine, "sqlite"), "f", generator.generated(1).encode(), confirm=1)
    assert result.native and result.doubted and not result.unstable and result.run


@pytest.fixture
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conform_native, "_tried", conform_native._tried.__wrapped__)


@pytest.mark.usefixtures("nothing_loaded")
@pytest.mark.parametrize("defect", ["no compiler", "no cache", "no functions", "torn"])
def test_everything_works_without_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, defect: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if defect == "no compiler":
        monkeypatch.setenv("CC", str(tmp_path / "nothing"))
    elif defect == "no cache":
        monkeypatch.setattr(conform_native, "cache_directory", lambda: None)
    elif defect == "no functions":
        monkeypatch.setattr(conform_native, "_SQLITE", ("prepare_v9",))
    else:
        place = builds.cache_directory()
        assert place is not None
        name = conform_native._build_name(conform_native._SOURCE.read_text(encoding="utf-8"))
        (place / name).write_bytes(b"no library")
    file = tmp_path / "a.test"
    file.write_text("statement ok\nSELECT 1\n\n" * 4000)
    found: list[FileResult] = []
    run_files(Choice("sqlite", "sqlite", 30.0), [str(file)], 1, found.append, ignored)
    assert (found[0].run, found[0].native, found[0].failures) == (4000, False, [])
