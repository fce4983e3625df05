"""`refute doctor`: says what is here, makes nothing, and is 3 when something is wrong."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from refute.cli import doctor
from refute.cli.doctor import Finding, examine, run


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REFUTE_KEY_FILE", str(tmp_path / "key"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor, "_isolation", lambda: Finding("isolation", "ok", "namespaces"))
    return tmp_path


def of(findings: list[Finding], name: str) -> Finding:
    (found,) = [f for f in findings if f.name == name]
    return found


def test_everything_is_named_and_nothing_is_made(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run([]) == 0
    shown = capfd.readouterr().out
    for name in ("python", "isolation", "git", "C compiler", "FUSE", "ledger key", "ledger"):
        assert f" {name} " in shown
    for name in ("hypothesis", "z3-solver", "crosshair-tool", "sqlglot"):
        assert name in shown
    assert list(place.iterdir()) == []


def test_a_missing_requirement_is_3_and_says_what_it_is_for(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(place))
    assert run([]) == 3
    shown = capfd.readouterr().out
    assert "MISSING  git" in shown
    assert "for: the gate reads changes from it" in shown
    assert "required, and not right: git" in shown
    assert "missing  C compiler" in shown


def test_a_key_that_others_can_read_and_a_foreign_ledger_are_broken(place: Path) -> None:
    subprocess.run(["git", "init", "-q", "."], check=True, capture_output=True)
    (place / "key").write_bytes(b"k" * 32)
    (place / "key").chmod(0o644)
    assert of(examine(place), "ledger key").status == "broken"
    (place / "key").chmod(0o600)
    assert of(examine(place), "ledger key").status == "ok"
    (place / ".refute").mkdir()
    (place / ".refute" / "ledger.db").write_bytes(b"not a ledger at all" * 100)
    before = (place / ".refute" / "ledger.db").read_bytes()
    assert of(examine(place), "ledger").status == "broken"
    assert (place / ".refute" / "ledger.db").read_bytes() == before


def test_the_isolation_is_that_of_a_real_worker() -> None:
    found = doctor._isolation()
    assert found.required
    assert found.status in ("ok", "limited")
    assert found.value.startswith(("namespaces", "process only"))
