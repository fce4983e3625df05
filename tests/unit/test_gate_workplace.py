"""The directory of a run: gone afterwards, and what a killed run left goes with the next one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from refute.gate.workplace import PREFIX, workplace


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def aged(directory: Path) -> Path:
    os.utime(directory, (1, 1))
    return directory


def test_it_is_gone_whatever_happens(temporary: Path) -> None:
    with pytest.raises(KeyboardInterrupt), workplace() as work:
        (work / "head").mkdir()
        raise KeyboardInterrupt
    assert list(temporary.iterdir()) == []


def test_what_a_killed_run_left_is_removed_and_nothing_else(temporary: Path) -> None:
    left = temporary / f"{PREFIX}left"
    young, other = temporary / f"{PREFIX}young", temporary / "other"
    for directory in (left, young, other):
        (directory / "base").mkdir(parents=True)
        (directory / "base" / "a.py").write_text("")
        (directory / "base" / "a.py").chmod(0o444)
    link = temporary / f"{PREFIX}link"
    link.symlink_to(other)
    aged(left), aged(other)
    with workplace() as live:
        aged(live)
        with workplace():
            assert {p.parent for p in temporary.glob("*/base")} == {link, other, young}
            assert live.is_dir()  # as old, but its run holds it
