"""The prover on every function of tests/cases/contracts: how many come out as their tables say.

Each file's EXPECTED table names the verdicts that are right; brute force checks the tables
(tests/sound/test_contract_bruteforce.py). Printed are those that differ, the CPU seconds of the
workers for each kind of verdict as a median, and the sum. Run with
`python benchmarks/bench_corpus.py [FOLDER]`; bar: nothing wrong is proved, nothing right refuted.
"""

from __future__ import annotations

import ast
import statistics
import sys
from pathlib import Path

from refute.budget import Budget
from refute.check import check
from refute.claim import Verdict, claim
from refute.evidence import Evidence
from refute.site import Site
from refute.specs.contract import MeetsContract
from refute.verifiers.contracts.engine import Prover

CASES = Path(__file__).resolve().parents[1] / "tests" / "cases" / "contracts"
BUDGET = Budget(cases=200, cpu_s=10.0, wall_s=60.0)


def main() -> int:
    """Print the figures; 1 when a verdict was wrong, rather than merely weaker than expected."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else CASES
    spent: dict[str, list[float]] = {}
    total = as_expected = wrong = 0
    for path in sorted(folder.glob("*.py")):
        for name, want in expected(path).items():
            evidence = judged(folder, path.stem, name)
            verdict = evidence.verdict.value
            total += 1
            as_expected += verdict in want.split("|")
            spent.setdefault(verdict, []).append(evidence.cost.cpu_s)
            if verdict not in want.split("|"):
                wrong += evidence.verdict is not Verdict.UNKNOWN
                print(f"{path.stem}:{name}: {want} expected, {verdict}: {evidence.reason}")
    print(f"{as_expected} of {total} as expected, {wrong} wrong verdicts (bar: 0)")
    for verdict, seconds in spent.items():
        median = statistics.median(seconds)
        print(f"  {verdict}: {len(seconds)}, median {median:.2f} CPU s, all {sum(seconds):.0f}")
    return int(wrong > 0)


def expected(path: Path) -> dict[str, str]:
    """Function → the verdicts that are right, with `|` between them; empty without a table."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "EXPECTED":
            return dict(ast.literal_eval(node.value))
    return {}


def judged(folder: Path, module: str, name: str) -> Evidence:
    """What the prover alone says, with its counterexamples replayed."""
    site = Site(folder, folder, (".",))
    about = claim(name, MeetsContract(f"{module}:{name}"))
    [evidence] = check(about, BUDGET, site, engines=lambda _: (Prover(),))
    return evidence


if __name__ == "__main__":
    sys.exit(main())
