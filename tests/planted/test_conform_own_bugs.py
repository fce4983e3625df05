"""A defect of refute itself in one file costs that file, and is told as what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from refute.verifiers.sql.conform_file import FileResult, Run, run_file
from refute.verifiers.sql.conform_run import Choice, run_files


def test_an_unforeseen_exception_costs_its_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def defective(run: Run, path: str, data: bytes, confirm: int) -> FileResult:
        if path.endswith("b.test"):
            raise IndexError("a planted defect")
        return run_file(run, path, data, confirm)

    monkeypatch.setattr("refute.verifiers.sql.conform_task.run_file", defective)
    paths = [str(tmp_path / name) for name in ("a.test", "b.test", "c.test")]
    for path in paths:
        Path(path).write_text("query I\nSELECT 1\n----\n1\n")
    run = run_files(Choice("sqlite", "sqlite", 30.0), paths, 1, lambda _: None, lambda _: None)
    assert [file.run for file in run.files] == [1, 0, 1]
    assert run.files[1].lost == "a bug of refute: IndexError: a planted defect"
    assert run.exit_code == 3 and any("a bug of refute" in reason for reason in run.reasons)
