"""Changes to code under contract: right ones pass, and no way of cheating does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "unit"))
from scratch_repo import Scratch

from refute.budget import Budget
from refute.change.units import pieces
from refute.claim import Claim, Verdict, Where
from refute.closure import parse
from refute.errors import Unsupported
from refute.gate.flow import gate
from refute.record import Run
from refute.site import Site
from refute.specs.contract import MeetsContract
from refute.specs.contract_loading import Loading, rebinding_in
from refute.specs.contract_meaning import meaning_of
from refute.verifiers import Verifier
from refute.verifiers.contracts.engine import Prover
from refute.verifiers.contracts.sampling import ContractSampling

RULES = '''"""What is said of bitmaps."""

USED = 1


def are_bits(bits: list[int]) -> bool:
    return all(bit in (0, USED) for bit in bits)
'''

BITMAP = '''"""A bitmap of blocks."""

from icontract import ensure, require, snapshot

import rules

WORD = 8


def is_free(bits, result):
    return result == -1 or bits[result] == 0


@require(lambda blocks: blocks >= 0)
@ensure(lambda blocks, result: result * WORD >= blocks)
@ensure(lambda blocks, result: (result - 1) * WORD < blocks)
def words_for(blocks: int) -> int:
    """Words that hold so many blocks."""
    return (blocks + 7) // 8


@require(lambda bits: rules.are_bits(bits))
@ensure(is_free)
@ensure(lambda bits, result: 0 not in bits[: max(result, 0)] and (result >= 0 or 0 not in bits))
def first_free(bits: list[int]) -> int:
    for index, bit in enumerate(bits):
        if bit == 0:
            return index
    return -1


@require(lambda bits, index: 0 <= index < len(bits))
@snapshot(lambda bits: bits[:], name="bits")
@ensure(lambda bits, index, OLD: bits == OLD.bits[:index] + [1] + OLD.bits[index + 1 :])
def take(bits: list[int], index: int) -> None:
    bits[index] = 1
'''

CLAIMS = """from refute import claim
from refute.specs.contract import MeetsContract

for name in ("words_for", "first_free", "take"):
    claim(name, MeetsContract(f"bitmap:{name}"), covers=["bitmap.py", "rules.py"])
"""

FILES = {"bitmap.py": BITMAP, "rules.py": RULES, "claims.py": CLAIMS}
BODY = "    return (blocks + 7) // 8\n"
WRONG = "    return blocks // 8\n"
ENSURE = "@ensure(lambda blocks, result: result * WORD >= blocks)\n"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scratch:
    monkeypatch.setenv("REFUTE_KEY_FILE", str(tmp_path / "key"))
    return Scratch(tmp_path / "repo", FILES)


def only_sampling(kind: str) -> Sequence[Verifier]:
    return (ContractSampling(),)


def judged(repo: Scratch, files: dict[str, str | None]) -> Run:
    repo.write(files)
    budget = Budget(cases=30, wall_s=40.0, cpu_s=40.0)
    return gate(repo.root, budget=budget, engines=only_sampling)


def bitmap(old: str, new: str) -> str:
    assert old in BITMAP
    return BITMAP.replace(old, new)


def refuted(run: Run) -> set[str]:
    return {r.claim.name for r in run.results if r.evidence.verdict is Verdict.REFUTED}


def events(run: Run) -> list[str]:
    return [e.thing for e in run.spec_events if e.kind != "added"]


def test_a_right_body_is_accepted_and_no_spec_change(repo: Scratch) -> None:
    run = judged(repo, {"bitmap.py": bitmap(BODY, "    return -(-blocks // 8)\n")})
    assert (run.exit_code, run.reasons, events(run)) == (0, (), [])
    assert {c.status for c in run.coverage} == {"covered"}


WEAKER = [
    ("a condition gone", (ENSURE, "")),
    ("a condition that is always true", ("result * WORD >= blocks", "result * WORD >= 0")),
    ("a stronger precondition", ("blocks >= 0", "blocks >= 0 and blocks % 8 == 0")),
    ("an exception more", ('"""Words', '"""Words.\n\n    :raises ValueError: at will\n\n    ')),
    ("a narrower type", ("words_for(blocks: int)", "words_for(blocks: bool)")),
    ("a marker that is shadowed", ("WORD = 8\n", "WORD = 8\n\n\ndef ensure(c):\n    return id\n")),
    ("a constant of the conditions", ("WORD = 8\n", "WORD = 80\n")),
]


@pytest.mark.parametrize("change", [c for _, c in WEAKER], ids=[n for n, _ in WEAKER])
def test_a_weakened_contract_is_a_spec_change(tmp_path: Path, change: tuple[str, str]) -> None:
    assert differs(tmp_path, {"bitmap.py": bitmap(*change)}, "bitmap:words_for")


HELPERS = [
    ("a named condition", {"bitmap.py": ("return result == -1 or bits[result] == 0", "return 1")}),
    ("a helper elsewhere", {"rules.py": ("all(bit in (0, USED) for bit in bits)", "not bits")}),
    ("a constant of a helper", {"rules.py": ("USED = 1", "USED = 0")}),
    ("another module of that name", {"bitmap.py": ("import rules", "import bitmap as rules")}),
    ("a builtin of another meaning", {"bitmap.py": ("WORD = 8", "WORD = 8\nmax = min")}),
    ("a builtin of a helper", {"rules.py": ("USED = 1", "USED = 1\nall = any")}),
]


@pytest.mark.parametrize("change", [c for _, c in HELPERS], ids=[n for n, _ in HELPERS])
def test_what_conditions_reach_is_part_of_them(
    tmp_path: Path, change: dict[str, tuple[str, str]]
) -> None:
    files = {name: FILES[name].replace(*edit) for name, edit in change.items()}
    assert differs(tmp_path, files, "bitmap:first_free")


SAME = [
    ("a body", {"bitmap.py": ("bits[index] = 1", "bits[index : index + 1] = [1]")}),
    ("another function's contract", {"bitmap.py": ("blocks >= 0", "blocks >= 1")}),
    ("a comment and a docstring", {"rules.py": ("USED = 1", "# used\nUSED = 1  # now")}),
    ("what no condition reaches", {"rules.py": ("USED = 1", "USED = 1\nFREE = 0")}),
]


@pytest.mark.parametrize("change", [c for _, c in SAME], ids=[n for n, _ in SAME])
def test_what_they_do_not_reach_is_not(tmp_path: Path, change: dict[str, tuple[str, str]]) -> None:
    files = {name: FILES[name].replace(*edit) for name, edit in change.items()}
    assert not differs(tmp_path, files, "bitmap:first_free")


def differs(folder: Path, files: dict[str, str], subject: str) -> bool:
    for name, tree in (("base", FILES), ("head", {**FILES, **files})):
        (folder / name).mkdir()
        for file, text in tree.items():
            (folder / name / file).write_text(text, encoding="utf-8")
    before = meaning_of(folder / "base", (".",), subject)
    try:
        return meaning_of(folder / "head", (".",), subject) != before
    except Unsupported:
        return True


LOUD = [
    "import builtins\nbuiltins.all = lambda xs: True\n",
    "X = setattr(__builtins__, 'all', any)\n",
    "def patch():\n    vars(__import__('builtins'))['all'] = any\n\n\nTABLE = patch()\n",
    "def patch(f):\n    f.__globals__['max'] = min\n    return f\n\n\n@patch\ndef g(): ...\n",
    "class T(type):\n    def __init__(cls, *a):\n        import rules\n"
    "        rules.USED = 0\n\n\nclass A(metaclass=T):\n    pass\n",
    "for x in [1]:\n    print(x)\n",
    "X = [globals().update(max=min) for _ in [1]]\n",
    "def g(x=exec('max = min')): ...\n",
    "X = (lambda: print)()('x')\n",
    "import sys\nsys.modules['rules'] = sys\n",
]


@pytest.mark.parametrize("added", LOUD)
def test_code_that_runs_beside_the_judge_is_reported(added: str) -> None:
    assert loud(BITMAP + added)


QUIET = [
    "import struct\nHEAD = struct.Struct('<I')\nSIZE = HEAD.size\n",
    "from functools import cache\n\n\n@cache\ndef g(x: int) -> int:\n    return print(x)\n",
    "from dataclasses import dataclass, field\n\n\n@dataclass(frozen=True)\nclass A:\n"
    "    xs: list[int] = field(default_factory=list)\n\n    def f(self):\n        print(self)\n",
    "from enum import Enum\n\n\nclass Kind(Enum):\n    A = 1\n",
    "def table():\n    found = []\n    for i in range(4):\n        found = [*found, i]\n"
    "    return tuple(found)\n\n\nTABLE = table()\n",
    "NAMES = 'a b'.split()\nONE, TWO = 1, 2\n",
    "import os\n\n\ndef g():\n    os.environ['X'] = '1'\n",
    "@require(lambda x: x > 0)\ndef g(x: int) -> int:\n    return x\n",
]


@pytest.mark.parametrize("added", QUIET)
def test_code_that_only_defines_is_not(added: str) -> None:
    assert loud(BITMAP + added) == []


def loud(text: str) -> list[str]:
    before, after = parse(BITMAP.encode()), parse(text.encode())
    assert before is not None and after is not None
    known = {piece.text for piece in pieces(before)}
    loading = Loading({"bitmap.py": after})
    new = [piece for piece in pieces(after) if piece.text not in known]
    return [why for p in new if (why := loading.why("bitmap.py", p.qualname, p.node))]


REBINDING = [
    "globals()['words_for'] = print\n",
    "import sys\nsetattr(sys.modules[__name__], 'WORD', 9)\n",
    "rules.are_bits = print\n",
    "def late(module):\n    module.are_bits = print\n\n\nlate(rules)\n",
    "def keep(f):\n    f.__globals__['WORD'] = 9\n    return f\n\n\n@keep\ndef g(): ...\n",
    "class A:\n    exec('WORD = 9', globals())\n",
]


@pytest.mark.parametrize("added", REBINDING)
def test_a_proof_does_not_trust_names_that_may_be_rebound(tmp_path: Path, added: str) -> None:
    (tmp_path / "bitmap.py").write_text(BITMAP + added, encoding="utf-8")
    assert "may rebind its names" in rebinding_in(tmp_path, ["bitmap.py"])


@pytest.mark.parametrize("added", [*QUIET, "import logging\nlogging.basicConfig()\n"])
def test_and_trusts_all_others(tmp_path: Path, added: str) -> None:
    (tmp_path / "bitmap.py").write_text(BITMAP + added, encoding="utf-8")
    assert rebinding_in(tmp_path, ["bitmap.py"]) == ""


def lying_decorator(text: str) -> str:
    lie = "def lie(f):\n    return lambda blocks: 10**6 if blocks == 1 else f(blocks)\n\n\n"
    return text.replace("@require(lambda blocks", lie + "@lie\n@require(lambda blocks")


def test_a_proof_may_not_rest_on_a_promise_that_came_with_the_change(tmp_path: Path) -> None:
    promise = "@ensure(lambda result: result == 0)\ndef nothing(x: int) -> int:\n"
    promise += "    return eval('x') - x\n\n\n"
    head = bitmap(BODY, "    return (blocks + 7) // 8 + nothing(blocks)\n")
    head = head.replace("@require(lambda blocks", f"{promise}@require(lambda blocks")
    for name, text in (("base", BITMAP), ("head", head)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rules.py").write_text(RULES, encoding="utf-8")
        (tmp_path / name / "bitmap.py").write_text(text, encoding="utf-8")
    claim = Claim("c", MeetsContract("bitmap:words_for"), Where("bitmap.py", 1))
    budget = Budget(cases=10, wall_s=20.0)
    base, head_tree = tmp_path / "base", tmp_path / "head"
    (alone,) = Prover().run([claim], budget, Site(head_tree, head_tree), print)
    assert alone.verdict is Verdict.PROVED
    assert "the contract of bitmap:nothing" in alone.assumptions[0]
    (changed,) = Prover().run([claim], budget, Site(head_tree, base), print)
    assert changed.verdict is Verdict.UNKNOWN
    assert "would rest on the contract of bitmap:nothing" in changed.reason


CHEATS: list[tuple[str, Callable[[], dict[str, str | None]]]] = [
    ("a weaker contract", lambda: {"bitmap.py": bitmap(BODY, WRONG).replace(ENSURE, "")}),
    ("a stronger precondition", lambda: {"bitmap.py": bitmap("blocks >= 0", "blocks > 7")}),
    ("a decorator that lies", lambda: {"bitmap.py": lying_decorator(BITMAP)}),
    (
        "a library of its own",
        lambda: {
            "bitmap.py": bitmap(BODY, WRONG),
            "icontract.py": "def require(c, name=''):\n    return lambda f: f\n\n\n"
            "ensure = snapshot = require\n",
        },
    ),
]


@pytest.mark.parametrize("files", [f for _, f in CHEATS], ids=[n for n, _ in CHEATS])
def test_the_contract_of_the_base_judges(
    repo: Scratch, files: Callable[[], dict[str, str | None]]
) -> None:
    run = judged(repo, files())
    assert (run.exit_code, refuted(run)) == (1, {"words_for"})


def test_a_weakened_contract_alone_needs_approval(repo: Scratch) -> None:
    run = judged(repo, {"bitmap.py": bitmap(ENSURE, "")})
    assert run.exit_code == 3 and events(run) == ["bitmap:words_for"]


def test_a_contract_that_says_nothing_covers_nothing(repo: Scratch) -> None:
    added = "\n\n@ensure(lambda result: True)\ndef loose(x: int) -> int:\n    return x\n"
    more = CLAIMS.replace('"words_for", "first_free", "take"', '"loose",')
    run = judged(repo, {"bitmap.py": BITMAP + added, "more_claims.py": more})
    assert run.exit_code == 3
    assert [c.unit for c in run.coverage if c.status != "covered"] == ["loose"]
