"""Compilers that hang, crash or are not there, caches that others write to: no harm is done."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Verdict
from refute.specs.machine.asking import find_machines
from refute.verifiers.model import exploring
from refute.verifiers.model.choice import Choice
from refute.verifiers.model.engine import ModelChecker
from refute.verifiers.model.native import compiler
from refute.verifiers.model.native.builds import cache_directory
from refute.verifiers.model.native.compiler import QUICK, built
from refute.verifiers.model.native.forms import Unsuited

CASES = Path(__file__).parents[1] / "cases" / "machines"
TEXT = "int answer(void) { return 42; }\n"


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    return tmp_path / "refute" / "native"


def as_compiler(monkeypatch: pytest.MonkeyPatch, place: Path, script: str) -> None:
    """Make CC a shell script."""
    program = place / "mycc"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("CC", str(program))


def answer(path: Path) -> int:
    return int(ctypes.CDLL(str(path)).answer())


def test_a_compiler_that_hangs_is_given_up_with_all_it_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    as_compiler(monkeypatch, tmp_path, f"sleep 77 & echo $! > {tmp_path}/child; wait")
    with pytest.raises(Unsuited, match=r"took more than"), built(TEXT, QUICK, 3.0):
        pass
    child = int((tmp_path / "child").read_text())
    state = Path(f"/proc/{child}/stat")
    until = time.monotonic() + 10  # it was killed; a busy machine takes a while to end it
    while (alive := state.exists() and state.read_text().split()[2] != "Z") and (
        time.monotonic() < until
    ):
        time.sleep(0.02)
    assert not alive


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("kill -SEGV $$", "ended by SIGSEGV"),
        ("echo 'fatal error: no room' >&2; exit 4", "gave status 4 .*: fatal error: no room"),
        ("exit 0", "made no file"),
    ],
)
def test_a_compiler_that_fails_is_quoted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, said: str
) -> None:
    as_compiler(monkeypatch, tmp_path, script)
    with pytest.raises(Unsuited, match=said), built(TEXT, QUICK):
        pass


def test_a_compiler_has_so_much_memory_and_no_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    as_compiler(monkeypatch, tmp_path, "echo error: $(ulimit -v) $(ulimit -s); exit 1")
    said = f"4 GiB.*error: {4 * 2**20} {2**20}"  # gcc 12 dies of 8 MiB of stack in long steps
    with pytest.raises(Unsuited, match=said), built(TEXT, QUICK):
        pass


def test_the_plain_engine_goes_on_and_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    as_compiler(monkeypatch, tmp_path, "kill -SEGV $$")
    monkeypatch.setattr(exploring, "PLAIN_FIRST_S", 0.0)
    found = find_machines(CASES / "native_machines.py", CASES, (".",), {}, "Tokens")
    claims = [c for c in found.claims if c.statement.params["prop"] == "bounded"]
    (evidence,) = check(claims, site=found.site, engines=lambda _: (ModelChecker(),))
    assert evidence.verdict is Verdict.EXHAUSTED
    assert "ended by SIGSEGV" in evidence.scope.text


def test_a_compiler_that_hangs_leaves_the_plain_engine_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    as_compiler(monkeypatch, tmp_path, "sleep 99")
    monkeypatch.setattr(exploring, "PLAIN_FIRST_S", 0.0)
    found = find_machines(CASES / "native_machines.py", CASES, (".",), {}, "Overflows")
    claims = [c for c in found.claims if c.statement.params["prop"] == "positive"]
    budget = Budget(cpu_s=20.0, wall_s=6.0)
    (evidence,) = check(claims, budget, found.site, engines=lambda _: (ModelChecker(),))
    assert evidence.verdict is Verdict.EXHAUSTED
    assert "the C compiler took more than" in evidence.scope.text


def test_cc_may_have_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "cc -DANSWER=7")
    with built("int answer(void) { return ANSWER; }\n", QUICK) as path:
        assert answer(path) == 7


@pytest.mark.parametrize(
    ("value", "said"), [("nowhere-cc", "is no program here"), ("'cc", "cannot be read")]
)
def test_a_wrong_cc_is_named(monkeypatch: pytest.MonkeyPatch, value: str, said: str) -> None:
    monkeypatch.setenv("CC", value)
    with pytest.raises(Unsuited, match=f"CC={value} {said}"), built(TEXT, QUICK):
        pass


@pytest.mark.parametrize("harm", ["cut", "changed", "empty"])
def test_a_cached_build_that_was_harmed_is_made_anew(own_cache: Path, harm: str) -> None:
    with built(TEXT, QUICK) as path:
        whole = path.read_bytes()
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    path.write_bytes({"cut": whole[:-1], "changed": changed, "empty": b""}[harm])
    with built(TEXT, QUICK) as again:
        assert again == path
        assert answer(again) == 42
    assert len(list(own_cache.iterdir())) == 1


def test_two_runs_may_build_the_same_at_once(own_cache: Path) -> None:
    def make(_: int) -> bytes:
        with built(TEXT, QUICK) as path:
            return path.read_bytes()

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(make, range(4)))
    assert all(b"refute built this:" in data for data in made)
    assert [p.suffix for p in own_cache.iterdir()] == [".so"]


def test_what_a_killed_run_left_is_removed(own_cache: Path) -> None:
    own_cache.mkdir(parents=True, mode=0o700)
    for name, age in (("old.so.1.new", 7200.0), ("young.so.1.new", 0.0)):
        left = own_cache / name
        left.write_bytes(b"x")
        os.utime(left, (left.stat().st_atime - age, left.stat().st_mtime - age))
    with built(TEXT, QUICK):
        pass
    assert {p.suffix for p in own_cache.iterdir()} == {".so", ".new"}
    assert not (own_cache / "old.so.1.new").exists()


def test_without_room_in_the_cache_nothing_is_kept(
    monkeypatch: pytest.MonkeyPatch, own_cache: Path
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    assert cache_directory() == own_cache
    monkeypatch.setattr(Path, "replace", full)
    with built(TEXT, QUICK) as path:
        assert answer(path) == 42
        assert path.parent != own_cache
    assert list(own_cache.iterdir()) == []


@pytest.mark.skipif(
    importlib.util.find_spec("ziglang") is None,
    reason="the package ziglang is not installed: pip install refute[native]",
)
def test_zig_compiles_where_there_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert compiler.compiler()[:3] == (sys.executable, "-m", "ziglang")
    found = find_machines(CASES / "native_machines.py", CASES, (".",), {}, "Tokens")
    claims = [c for c in found.claims if c.statement.params["prop"] == "bounded"]
    budget = Budget(cpu_s=60.0, wall_s=300.0)  # its first build takes several seconds of CPU
    engine = ModelChecker(Choice("native"))
    (evidence,) = check(claims, budget, found.site, engines=lambda _: (engine,))
    assert evidence.verdict is Verdict.EXHAUSTED, evidence.reason
    assert evidence.statistics["engine"] == "native"
