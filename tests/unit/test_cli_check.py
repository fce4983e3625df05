"""`refute check`, `replay` and the plugin on a real tree, in processes of their own.

One broken and one sound claim are judged once; the other tests use what that run left behind.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from refute.cli.check import run
from refute.cli.place import place_of, split_target
from refute.errors import RefuteError
from refute.report.document import schema
from refute.report.witness_file import load

REFUTE = Path(sys.executable).with_name("refute")

CLAIMS = """
from refute import claim
from refute.specs.domains import Ints
from refute.specs.function import Holds


def at_most_nine(x, digit):
    return 0 <= digit(x) <= 9


for name in ("good", "bad"):
    claim(
        f"{name} digits are digits",
        Holds(f"digits:{name}", prop="claims:at_most_nine", given={"x": Ints(0, 30)}, name="digit"),
        covers=("digits.py",),
    )
"""
DIGITS = """
def good(x):
    return x % 10


def bad(x):
    return x % 11
"""


def refute(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(REFUTE), *arguments],
        cwd=tree,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "COLUMNS": "100"},
    )


@dataclasses.dataclass(frozen=True)
class Judged:
    """A tree, the JSON and the text of one check of it, and the witness it left."""

    tree: Path
    code: int
    document: dict[str, object]
    text: str
    witness: Path


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    tree = tmp_path_factory.mktemp("project")
    (tree / "pyproject.toml").write_text("[tool.refute]\n")
    (tree / "claims.py").write_text(CLAIMS)
    (tree / "digits.py").write_text(DIGITS)
    done = refute(tree, "check", "claims.py", "--json", "-", "--cases", "40")
    (witness,) = (tree / ".refute" / "witnesses").glob("*.json")
    return Judged(tree, done.returncode, json.loads(done.stdout), done.stderr, witness)


def test_a_check_is_1_with_json_alone_on_stdout_and_text_on_stderr(judged: Judged) -> None:
    assert judged.code == 1
    jsonschema.Draft202012Validator(schema()).validate(judged.document)
    verdicts = {r["claim"]["name"]: r["verdict"] for r in judged.document["results"]}  # type: ignore[attr-defined]
    assert verdicts["bad digits are digits"] == "REFUTED"
    assert verdicts["good digits are digits"] in ("SURVIVED", "EXHAUSTED")
    assert judged.text.startswith("REFUTED  check: 1 of 2 claims broken")
    path = judged.witness.relative_to(judged.tree)
    assert f"refute replay {path}" in judged.text
    assert judged.document["results"][1]["witness_file"] == str(path)  # type: ignore[index]


def test_one_claim_by_name_is_0(judged: Judged) -> None:
    done = refute(judged.tree, "check", "claims.py:good digits are digits", "--cases", "40")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ESTABLISHED  check: 1 claim established")


def test_replay_is_1_while_the_bug_is_there_and_0_when_it_is_gone(
    judged: Judged, tmp_path: Path
) -> None:
    broken = refute(judged.tree, "replay", str(judged.witness), "--json", "-")
    assert broken.returncode == 1
    assert json.loads(broken.stdout)["broke"] == json.loads(broken.stdout)["runs"] == 2
    (tmp_path / "claims.py").write_text(CLAIMS)
    (tmp_path / "digits.py").write_text(DIGITS.replace("11", "10"))
    mended = refute(tmp_path, "replay", str(judged.witness), "--tree", ".")
    assert mended.returncode == 0
    assert mended.stdout.startswith("NOT BROKEN")
    assert "others may" in mended.stdout


def test_replay_on_a_tree_without_the_subject_is_not_established(
    judged: Judged, tmp_path: Path
) -> None:
    (tmp_path / "claims.py").write_text(CLAIMS)
    done = refute(tmp_path, "replay", str(judged.witness), "--tree", str(tmp_path))
    assert done.returncode == 3
    assert done.stdout.startswith("NOT ESTABLISHED")


def test_a_witness_becomes_a_test_that_fails_while_the_bug_is_there(judged: Judged) -> None:
    made = refute(judged.tree, "replay", str(judged.witness), "--to-test", "test_bug.py")
    assert made.returncode == 0, made.stderr
    again = refute(judged.tree, "replay", str(judged.witness), "--to-test", "test_bug.py")
    assert again.returncode == 2 and "exists already" in again.stderr
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_bug.py"],
        cwd=judged.tree,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 1, ran.stdout
    assert "is broken in 2 of 2 replays" in ran.stdout


SOURCES = {
    "missing.py": None,
    "empty.py": b"",
    "syntax_claims.py": b"def (:\n",
    "raises_claims.py": b"raise SystemExit(0)\n",
    "binary_claims.py": b"\0\1\2",
    "latin_claims.py": b"# \xff\xfe\nx = 1\n",
    "text.txt": b"words",
    "two words.py": b"x = 1\n",
}


@pytest.mark.parametrize("name", SOURCES)
def test_input_that_holds_no_claims_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    source = SOURCES[name]
    if source is not None:
        (tmp_path / name).write_bytes(source)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RefuteError) as caught:
        run([name])
    assert caught.value.exit_code == 2
    assert caught.value.next_step
    assert name in str(caught.value)


def test_a_refused_file_is_2_without_a_traceback(tmp_path: Path) -> None:
    done = refute(tmp_path, "check", "missing.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("refute: missing.py does not exist\n  next: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["claims.py:nobody"],
        ["claims.py", "--set", "RM=3"],
        ["claims.py", "--set", "RM"],
        ["claims.py", "--budget", "soon"],
        ["claims.py", "--cases", "0"],
        ["."],
        ["claims.py", "--json", "/nonexistent/x.json"],
    ],
    ids=" ".join,
)
def test_arguments_that_fit_nothing_are_refused(
    judged: Judged, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(judged.tree)
    with pytest.raises(RefuteError) as caught:
        run(arguments)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b'"x"',
        b'{"schema": "refute.witness/2"}',
        b'{"schema": "refute.witness/1"}',
        b'{"schema": "refute.witness/1", "claim": 5, "counterexample": {}, "roots": []}',
        b"[" * 100_000,
    ],
    ids=lambda c: repr(c[:40]),
)
def test_what_is_no_witness_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "w.json"
    path.write_bytes(content)
    with pytest.raises(RefuteError) as caught:
        load(path)
    assert caught.value.exit_code == 2
    assert str(path) in str(caught.value)


def test_every_part_of_a_witness_file_is_needed_and_typed(judged: Judged, tmp_path: Path) -> None:
    data = json.loads(judged.witness.read_text())
    path = tmp_path / "w.json"
    for key in data:
        for wrong in (None, [5], {"x": 1}, "words"):
            path.write_text(json.dumps({**data, key: wrong}))
            if (key, wrong) == ("versions", {"x": 1}):
                assert load(path).versions == (("x", "1"),)
                continue
            with pytest.raises(RefuteError):
                load(path)
    path.write_text(json.dumps(data))
    assert load(path).claim.name == "bad digits are digits"


def test_places(tmp_path: Path) -> None:
    package = tmp_path / "lib" / "pkg" / "inner"
    package.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "spec.py").touch()
    (tmp_path / "lib" / "alone.py").touch()
    inside = place_of(package / "spec.py")
    assert (inside.tree, inside.root, inside.module) == (tmp_path, "lib", "pkg.inner.spec")
    alone = place_of(tmp_path / "lib" / "alone.py")
    assert (alone.file, alone.root, alone.module) == ("lib/alone.py", "lib", "alone")
    assert alone.roots((".", "src")) == ("lib", ".", "src")
    assert place_of(package / "__init__.py").module == "pkg.inner"


def test_a_package_outside_of_any_project_is_imported_from_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("refute.cli.place._MARKS", (".no-such-mark",))
    (tmp_path / "pkg").mkdir()
    for name in ("__init__.py", "spec.py"):
        (tmp_path / "pkg" / name).touch()
    (tmp_path / "alone.py").touch()
    inside, alone = place_of(tmp_path / "pkg" / "spec.py"), place_of(tmp_path / "alone.py")
    assert (inside.tree, inside.file, inside.module) == (tmp_path, "pkg/spec.py", "pkg.spec")
    assert (alone.tree, alone.file, alone.module) == (tmp_path, "alone.py", "alone")


def test_targets_split_at_the_last_colon_unless_the_file_exists(tmp_path: Path) -> None:
    assert split_target("spec.py:Two") == (Path("spec.py"), "Two")
    assert split_target("spec.py") == (Path("spec.py"), "")
    odd = tmp_path / "a:b.py"
    odd.touch()
    assert split_target(str(odd)) == (odd, "")
