"""The prover finds inputs for wrong functions, and says what it could not prove of others.

The corpus is data (tests/cases/contracts); that its tables are right is shown by brute force in
tests/sound/test_contract_bruteforce.py. What the prover proposes is judged on CPython here.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "sound"))
from contract_bruteforce import broken, load

from refute.budget import Budget
from refute.check import check
from refute.claim import Verdict, claim
from refute.evidence import Evidence, Finding
from refute.site import Site
from refute.specs.contract import MeetsContract
from refute.verifiers.conformance import Kit, conform
from refute.verifiers.contracts.engine import Prover
from refute.verifiers.contracts.inside import prove

CASES = Path(__file__).parents[1] / "cases" / "contracts"
SITE = Site(CASES, CASES, (".",))
BUDGET = Budget(cases=60, cpu_s=20.0, wall_s=60.0)
# Only strings of unknown length are beyond it; CrossHair finds that one.
BEYOND = {"secret_word"}
SLOW = {"removes_while_walking", "search_misses_end", "gcd_of_zero"}


def table(path: Path, name: str) -> dict[str, Any]:
    """The table of that name in the file, which is not imported; empty when it has none."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return dict(ast.literal_eval(node.value))
    return {}


def answer(path: Path, name: str, wall_s: float = 20.0) -> dict[str, Any]:
    """What the prover says of a function of the corpus, in this process."""
    sources = {path.stem: [str(path.name), path.read_text()]}
    order = {"subject": f"{path.stem}:{name}", "raises": [], "wall_s": wall_s}
    return prove({**order, "subject_sources": sources, "spec_sources": sources})


WRONG = [
    (path, name)
    for path in (CASES / "wrong_scalars.py", CASES / "wrong_loops.py")
    for name, verdict in table(path, "EXPECTED").items()
    if verdict == "REFUTED" and name not in BEYOND | SLOW
]


@pytest.mark.parametrize(("path", "name"), WRONG, ids=[name for _, name in WRONG])
def test_inputs_that_break_the_contract_are_found(path: Path, name: str) -> None:
    said = answer(path, name)
    assert said["status"] == "unknown"
    assert any(broken(getattr(load(path), name), case) for case in said["cases"])


UNKNOWN = [
    name
    for name, verdict in table(CASES / "unknown.py", "EXPECTED").items()
    if verdict == "UNKNOWN" and name != "cubes"
]


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_not_proved_names_its_reason_and_place(name: str) -> None:
    path = CASES / "unknown.py"
    said = answer(path, name, 4.0)
    assert said["status"] == "unknown"
    if name in table(path, "REASONS"):
        assert table(path, "REASONS")[name] in said["reason"]
        return
    lines = path.read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"def {name}("))
    marked = [i + 1 for i, line in enumerate(lines) if line.endswith("# here") and i >= begin]
    assert f"unknown.py:{marked[0]}" in said["reason"] or "not proved" in said["reason"]


@pytest.mark.parametrize("name", sorted(table(CASES / "unknown.py", "ASSUMPTIONS")))
def test_what_a_proof_rests_on_is_listed(name: str) -> None:
    said = answer(CASES / "unknown.py", name)
    word = table(CASES / "unknown.py", "ASSUMPTIONS")[name]
    assert any(word in assumption for assumption in said["assumptions"])


TRAPS = CASES / "prover_traps.py"
RIGHT = {"new_row", "itself", "keeps", "bump", "push", "twice"}
TRAPPED = [
    node.name
    for node in ast.parse(TRAPS.read_text()).body
    if isinstance(node, ast.FunctionDef) and node.name not in RIGHT
]


@pytest.mark.parametrize("name", TRAPPED)
def test_a_trap_is_never_proved(name: str) -> None:
    said = answer(TRAPS, name, 8.0)
    assert said["status"] == "unknown"
    assert said["reason"]


def test_a_function_whose_parameters_changed_places_is_called_by_name_too() -> None:
    spec = """
from icontract import ensure
@ensure(lambda a, b, result: result == a - b)
def minus(a: int, b: int) -> int:
    return a - b
"""
    for body, status in (("x: int, y: int", "unknown"), ("a: int, b: int", "proved")):
        first, second = (part.partition(":")[0] for part in body.split(", "))
        head = f"def minus({body}) -> int:\n    return {first} - {second}\n"
        said = prove(
            {
                "subject": "m:minus",
                "raises": [],
                "wall_s": 5.0,
                "subject_sources": {"m": ["m.py", head]},
                "spec_sources": {"m": ["m.py", spec]},
            }
        )
        assert said["status"] == status


def about(reference: str, **more: Any) -> Any:
    return claim(reference, MeetsContract(reference), **more)


def judged(reference: str, engine: Any, budget: Budget = BUDGET) -> Evidence:
    [evidence] = check(about(reference), budget, SITE, engines=lambda _: (engine,))
    return evidence


def test_it_keeps_the_promises_of_an_engine() -> None:
    kit = Kit(
        site=SITE,
        false=[about("wrong_scalars:magic_number")],
        sound=[about("right_loops:total")],
        unfit=[about("unknown:of_nothing"), about("unknown:of_a_library")],
        budget=BUDGET,
    )
    assert conform(Prover(), kit) == []


class Lying(Prover):
    """Says that everything is proved."""

    def run(self, claims: Any, budget: Any, site: Any, progress: Any) -> list[Finding]:
        return [Finding(self.name, self.version, Verdict.PROVED, tried=1) for _ in claims]


def test_a_prover_that_proves_everything_breaks_its_promises() -> None:
    kit = Kit(
        site=SITE,
        false=[about("wrong_scalars:magic_number")],
        sound=[],
        unfit=[about("unknown:of_nothing")],
        budget=BUDGET,
    )
    promises = {breach.promise for breach in conform(Lying(), kit)}
    assert "establishes nothing that is false" in promises
    assert "judges nothing it cannot judge" in promises


class Lost(Prover):
    """A solver whose process ends."""

    target = "os:abort"


def test_a_solver_that_does_not_answer_is_unknown() -> None:
    evidence = judged("right_loops:total", Lost())
    assert evidence.verdict is Verdict.UNKNOWN
    assert "the solver's worker" in evidence.reason


def test_a_solver_that_takes_too_long_is_unknown_within_the_budget() -> None:
    evidence = judged("unknown:cubes", Prover(), Budget(cases=10, cpu_s=3.0, wall_s=6.0))
    assert evidence.verdict is Verdict.UNKNOWN
    assert evidence.cost.wall_s < 12


UNFIT = {
    "a condition that changes an object": """
@require(lambda xs: xs.append(1) is None)
@ensure(lambda xs, result: result > 0)
def f(xs: list[int]) -> int:
    return len(xs)
""",
    "the snapshot": """
@snapshot(lambda xs: xs.pop() if xs else 0, name="last")
@ensure(lambda xs, OLD, result: result >= 0)
def f(xs: list[int]) -> int:
    return len(xs)
""",
}


@pytest.mark.parametrize("text", UNFIT.values(), ids=list(UNFIT))
def test_conditions_that_change_what_they_speak_of_prove_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "unfit.py"
    path.write_text("from icontract import ensure, require, snapshot\n" + text)
    said = answer(path, "f")
    assert said["status"] == "unknown"
    assert "a condition that changes an object is not supported, at unfit.py:3" in said["reason"]


@pytest.mark.parametrize(
    ("first", "verdict", "told"),
    [
        ("raise SystemExit(3)", Verdict.UNKNOWN, "cannot be loaded: SystemExit: 3"),
        ("import not_installed_here", Verdict.PROVED, "No module named 'not_installed_here'"),
    ],
)
def test_a_module_that_cannot_be_loaded_has_no_proved_functions(
    tmp_path: Path, first: str, verdict: Verdict, told: str
) -> None:
    text = f"from icontract import ensure\n{first}\n\n\n"
    text += "@ensure(lambda x, result: result == x)\ndef f(x: int) -> int:\n    return x\n"
    (tmp_path / "late.py").write_text(text)
    made = claim("late", MeetsContract("late:f"))
    finding = Prover().run([made], BUDGET, Site(tmp_path, tmp_path, (".",)), lambda _: None)[0]
    assert finding.verdict is verdict
    assert told in f"{finding.reason} {finding.assumptions}"
