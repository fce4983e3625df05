"""A small git repository made for one test, and a cheap engine for the claims in it.

The engine `Tables` judges statements of kind "table": the subject gives these answers to these
inputs. It is as small as an engine can be, so that tests of the gate spend their time on the gate.
"""

from __future__ import annotations

import subprocess
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path

from refute import plain
from refute.budget import Budget
from refute.claim import Claim, Verdict
from refute.evidence import Finding, Scope
from refute.gate.flow import gate
from refute.record import Run
from refute.replay import Counterexample, Playback
from refute.sandbox import Limits
from refute.site import Site
from refute.verifiers import Progress

LIB = '''"""Arithmetic for prices."""

LIMIT = 100


def clamp(x: int) -> int:
    """x, but not outside 0..LIMIT."""
    return max(0, min(LIMIT, x))


def total(prices: list) -> int:
    return sum(prices)
'''

CLAIMS = '''"""What is claimed of the price library."""

from refute import EXHAUSTED, claim
from refute.claim import Statement


def table(subject, rows):
    return Statement("table", f"{subject} follows its table", subject, {"rows": rows},
                     spec=("claims:table",))


claim("clamp", table("lib:clamp", [[[-3], 0], [[7], 7], [[300], 100]]), covers=["lib.py"],
      need=EXHAUSTED(rows=3), controls=["controls/no_low.patch"])
claim("total", table("lib:total", [[[[1, 2]], 3], [[[5, 5, 5]], 15]]), covers=["lib.py"])
'''

CONTROL = """--- a/lib.py
+++ b/lib.py
@@ -5,7 +5,7 @@

 def clamp(x: int) -> int:
     \"\"\"x, but not outside 0..LIMIT.\"\"\"
-    return max(0, min(LIMIT, x))
+    return min(LIMIT, x)


 def total(prices: list) -> int:
"""

FILES = {
    "lib.py": LIB,
    "claims.py": CLAIMS,
    "controls/no_low.patch": CONTROL,
    "README.md": "Prices.\n",
    ".gitignore": "build/\n",
}
LIMITS = Limits(cpu_s=5.0, wall_s=10.0)


class Scratch:
    """A repository with one commit on main, judged with a ledger of its own."""

    def __init__(self, root: Path, files: Mapping[str, str] = FILES) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main", "--template=")
        self.commit(files)

    def git(self, *arguments: str) -> str:
        """Output of a git command in the repository, with an identity of its own."""
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=0"]
        done = subprocess.run(
            ["git", *identity, *arguments],
            cwd=self.root,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def write(self, files: Mapping[str, str | None]) -> None:
        """Write files; None deletes one."""
        for name, text in files.items():
            path = self.root / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def commit(self, files: Mapping[str, str | None]) -> str:
        """Write files and commit everything that git shows."""
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "--quiet", "--allow-empty", "-m", "change")
        return self.git("rev-parse", "HEAD")

    def gate(self, files: Mapping[str, str | None] | None = None, **options: object) -> Run:
        """Write files, then judge the worktree against HEAD, or what the options name."""
        self.write(files or {})
        budget = options.pop("budget", Budget(cases=20, wall_s=30.0, cpu_s=30.0))
        return gate(self.root, budget=budget, engines=engines, **options)  # type: ignore[arg-type]


def engines(kind: str) -> Sequence[Tables]:
    """The engines of these tests."""
    return (Tables(),) if kind == "table" else ()


class Tables:
    """Asks the subject for every row in one worker; replays one row in a fresh one."""

    name = "tables"
    version = "1"
    cost = 1

    def declines(self, claim: Claim) -> str:
        return ""

    def group(self, claim: Claim) -> Hashable:
        return claim.name

    def run(
        self, claims: Sequence[Claim], budget: Budget, site: Site, progress: Progress
    ) -> list[Finding]:
        return [self._run(claim, site) for claim in claims]

    def _run(self, claim: Claim, site: Site) -> Finding:
        rows = claim.statement.params["rows"]
        with site.subject_worker(claim, LIMITS) as worker:
            for number, row in enumerate(rows):
                outcome = worker.call(claim.subject, *row[0])
                if not plain.same(outcome.value, row[1]):
                    case = Counterexample(self.name, row, observed=str(outcome.value))
                    return Finding(
                        self.name, "1", Verdict.UNKNOWN, "?", tried=number, counterexamples=(case,)
                    )
        scope = Scope(f"{len(rows)} rows", {"rows": len(rows)})
        return Finding(self.name, "1", Verdict.EXHAUSTED, scope=scope, tried=len(rows))

    def replayer(self, claim: Claim, site: Site, budget: Budget) -> TableReplayer:
        return TableReplayer(claim, site)


class TableReplayer:
    def __init__(self, claim: Claim, site: Site) -> None:
        self.claim = claim
        self.site = site

    def play(self, counterexample: Counterexample, hash_seed: int) -> Playback:
        given, expected = counterexample.inputs
        with self.site.subject_worker(self.claim, LIMITS, hash_seed) as worker:
            outcome = worker.call(self.claim.subject, *given)
        return Playback(not plain.same(outcome.value, expected), outcome.value)
