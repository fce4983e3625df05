"""The gate on a real change, end to end: what `make demo` runs.

In a scratch repository made from `examples/journalfs`, a change splits `rename` into two journal
transactions. The gate must refute it, accept the change once it is right, and `refute check` must
find the same bug in the design. In another one, made from `examples/minidb`, a change to an SQL
engine forgets the NULLs of NOT IN. The demo fails when an exit code differs from what it announces.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent
JOURNALFS, MINIDB = EXAMPLES / "journalfs", EXAMPLES / "minidb"
REFUTE = Path(sys.executable).with_name("refute")
SPEC = "rename_spec.py"

# git must behave the same whatever the user's own configuration, hooks and keys are
GIT_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "refute demo",
    "GIT_AUTHOR_EMAIL": "demo@example.invalid",
    "GIT_COMMITTER_NAME": "refute demo",
    "GIT_COMMITTER_EMAIL": "demo@example.invalid",
}


def environment() -> dict[str, str]:
    """The environment of every command: no inherited git redirection, no user configuration."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    return kept | GIT_ENVIRONMENT


def git(repository: Path, *arguments: str) -> None:
    """Run one git command in the scratch repository; raises CalledProcessError."""
    subprocess.run(
        ["git", "-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null", *arguments],
        cwd=repository,
        env=environment(),
        check=True,
        capture_output=True,
        text=True,
    )


def one_change(example: Path, pattern: str) -> Path:
    """The only patch in the example's `changes` that matches the pattern."""
    found = sorted((example / "changes").glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"demo: {len(found)} patches match {pattern}, wanted one")
    return found[0]


def build(example: Path, repository: Path) -> None:
    """A repository with the example and its claims on main."""
    leave_out = shutil.ignore_patterns("__pycache__", ".refute", "*.pyc")
    shutil.copytree(example, repository, ignore=leave_out)
    git(repository, "init", "--quiet", "--initial-branch=main")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", f"{example.name} with its claims")


def announce(words: str) -> None:
    """One paragraph of the story."""
    print(f"\n\033[1m── {words}\033[0m" if sys.stdout.isatty() else f"\n── {words}", flush=True)


def expect(code: int, repository: Path, *arguments: str) -> bool:
    """Run refute; whether it exits with `code`."""
    print("$ refute " + " ".join(arguments), flush=True)
    started = time.monotonic()
    done = subprocess.run([str(REFUTE), *arguments], cwd=repository, env=environment(), check=False)
    seconds = time.monotonic() - started
    well = done.returncode == code
    words = "as it must be" if well else f"but must be {code}: THE DEMO FAILED"
    print(f"[exit {done.returncode}, {words}; {seconds:.1f} s]", flush=True)
    return well


def story(repository: Path) -> list[bool]:
    """A change to a filesystem, and the spec of its design; whether each exit code was right."""
    wrong, right = one_change(JOURNALFS, "01-*.patch"), one_change(JOURNALFS, "right-rename*.patch")
    announce("main holds a journaling filesystem with claims about what a crash may leave behind.")
    build(JOURNALFS, repository)
    announce(f"A branch splits rename into two journal transactions ({wrong.name}).")
    git(repository, "switch", "--quiet", "--create", "faster-rename")
    git(repository, "apply", "--index", str(wrong))
    git(repository, "commit", "--quiet", "--message", "rename: link first, unlink after")
    results = [expect(1, repository, "gate", "--base", "main", "--budget", "300s")]
    announce(f"The branch is amended to the right change ({right.name}).")
    git(repository, "checkout", "--quiet", "main", "--", ".")
    git(repository, "apply", "--index", str(right))
    git(repository, "commit", "--quiet", "--amend", "--message", "rename: one transaction")
    results.append(expect(0, repository, "gate", "--base", "main", "--budget", "300s"))
    announce("The same bug in the design: rename in two steps, then in one.")
    results.append(expect(1, repository, "check", f"{SPEC}:RenameTwoSteps"))
    results.append(expect(0, repository, "check", f"{SPEC}:RenameOneStep"))
    return results


def story_of_minidb(repository: Path) -> list[bool]:
    """A change to an SQL engine; whether each exit code was right."""
    wrong, right = one_change(MINIDB, "01-*.patch"), one_change(MINIDB, "right-in-list*.patch")
    announce("Another main holds an SQL engine that claims to answer as SQLite does.")
    build(MINIDB, repository)
    announce(f"A branch makes IN faster, and forgets what NULL means there ({wrong.name}).")
    git(repository, "switch", "--quiet", "--create", "faster-in")
    git(repository, "apply", "--index", str(wrong))
    git(repository, "commit", "--quiet", "--message", "IN: NULL never equals anything")
    results = [expect(1, repository, "gate", "--base", "main", "--budget", "300s")]
    announce(f"The branch is amended to a change that keeps it ({right.name}).")
    git(repository, "checkout", "--quiet", "main", "--", ".")
    git(repository, "apply", "--index", str(right))
    git(repository, "commit", "--quiet", "--amend", "--message", "IN: a list becomes a set")
    results.append(expect(0, repository, "gate", "--base", "main", "--budget", "300s"))
    return results


def main() -> int:
    """Tell the story in a scratch directory that is removed afterwards."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="refute-demo-") as scratch:
        os.environ["REFUTE_KEY_FILE"] = str(Path(scratch, "key"))  # not the user's own key
        results = story(Path(scratch, "journalfs")) + story_of_minidb(Path(scratch, "minidb"))
    print(f"\n{sum(results)} of {len(results)} as announced, {time.monotonic() - started:.1f} s")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
