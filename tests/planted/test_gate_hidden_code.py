"""Changes that hide from the comparison itself: code that is no unit, a judge that lost a part."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "unit"))
from scratch_repo import CLAIMS, LIB, Scratch

from refute.change.units import changed_units, same_syntax
from refute.gate.additive import not_additive

USER = "def size(x):\n    return abs(x)\n"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scratch:
    monkeypatch.setenv("REFUTE_KEY_FILE", str(tmp_path / "key"))
    return Scratch(tmp_path / "repo")


def changed(before: str, after: str) -> set[str]:
    return {unit.qualname for unit in changed_units("lib.py", before.encode(), after.encode())}


@pytest.mark.parametrize(
    "hidden",
    [
        "if not TYPE_CHECKING:\n    print('runs')\n",
        "if NO_TYPE_CHECKING:\n    print('runs')\n",
        "@overload\ndef alone(x):\n    return x * 7\n",
        "@mine.overload\ndef twice(x): ...\ndef twice(x):\n    return x\n",
        "__all__ = LIMIT = ['x']\n",
        "__all__ = [print('runs')]\n",
        "__all__: print('runs') = ['x']\n",
        "total: print('runs')\n",
        "from __future__ import division\n",
    ],
)
def test_what_runs_is_a_unit(hidden: str) -> None:
    assert changed(LIB, LIB + hidden)


@pytest.mark.parametrize(
    "silent",
    [
        "if TYPE_CHECKING:\n    import lib\n",
        "@typing.overload\ndef total(x: int) -> int: ...\n" + LIB[LIB.index("def total") :],
        "__all__ = ['total']\n",
        "limit: int\n",
        "from __future__ import annotations\n",
    ],
)
def test_what_does_not_run_is_none(silent: str) -> None:
    before = LIB[: LIB.index("def total")] if "def total" in silent else LIB
    assert changed(before, before + silent) <= {"total"}
    assert "def total" in silent or not changed(before, before + silent)


def test_a_name_that_means_something_else_charges_its_users() -> None:
    shadowed = "from operator import neg as abs\n" + USER
    assert changed(USER, shadowed) == {"size"}  # a builtin no more
    assert changed(shadowed, USER) == {"size"}  # a builtin again
    assert changed("def abs(x):\n    return -x\n" + USER, USER) == {"size"}
    replaced = "from operator import neg as abs\n" + USER
    assert changed("def abs(x):\n    return x\n" + USER, replaced) == {"size"}


def test_a_class_that_lost_a_method_is_charged() -> None:
    before = "class A(dict):\n    x = 1\n    def get(self, k):\n        return 0\n"
    assert changed(before, before[: before.index("    def")]) == {"A"}


def test_deleted_and_moved_statements_are_other_syntax() -> None:
    first, second = "LIMITS = [1]\n", "LIMITS.append(2)\n"
    assert not changed(first + second, first)  # nothing is left that could be knocked out
    assert not same_syntax((first + second).encode(), first.encode())
    assert not same_syntax(b"def f(): pass\nf = g\n", b"f = g\ndef f(): pass\n")
    assert same_syntax(b"def f():\n    '''x'''\n", b"def f():  # y\n    pass\n")


@pytest.mark.parametrize(
    "change", [{"judge.py": "rows = [1]\n"}, {"judge.py": "rows.append(2)\nrows = [1]\n"}]
)
def test_a_judge_that_lost_a_part_is_a_spec_change(repo: Scratch, change: dict[str, str]) -> None:
    claims = CLAIMS.replace('"""What', 'from judge import rows\n"""What', 1)
    repo.commit({"claims.py": claims, "judge.py": "rows = [1]\nrows.append(2)\n"})
    run = repo.gate(dict(change))
    assert run.exit_code == 3
    assert ("changed", "judge.py") in [(e.kind, e.thing) for e in run.spec_events]


DEAD = "def added(x):\n    return sum(x)\n\n\ndef dead(x):\n    return x * 9\n"


@pytest.mark.parametrize("place", ["adding_claims", "LICENSE_adding", "claims"])
def test_code_stays_code_under_another_name(repo: Scratch, place: str) -> None:
    text = f"from {place} import added\n" + LIB.replace("sum(prices)", "added(prices)")
    added = CLAIMS + "\n\n" + DEAD if place == "claims" else DEAD
    run = repo.gate({"lib.py": text, f"{place}.py": added})
    assert run.exit_code == 3
    assert {c.unit: c.status for c in run.coverage} == {
        "total": "covered",
        "added": "covered",
        "dead": "uncovered",
    }


def test_a_document_that_the_subject_may_open_is_code(repo: Scratch) -> None:
    wide = CLAIMS.replace('covers=["lib.py"]', 'covers=["*"]')
    repo.commit({"claims.py": wide})
    assert repo.gate({"notes.txt": "a\n"}).decision == "accepted"  # nothing here opens files
    opening = LIB.replace("LIMIT = 100", "LIMIT = int(open('limit.txt').read())")
    repo.commit({"lib.py": opening, "limit.txt": "100\n"})
    covered = repo.gate({"limit.txt": "100 \n"})
    assert covered.decision == "accepted", covered.reasons
    assert {c.unit: c.status for c in covered.coverage} == {"limit.txt": "covered"}
    unread = repo.gate({"other.txt": "a\n"})
    assert {c.unit: c.status for c in unread.coverage if c.unit == "other.txt"} == {
        "other.txt": "uncovered"
    }


CLAIM = 'claim("z", table("lib:total", []), covers=%s)\n'


@pytest.mark.parametrize(
    "added",
    [
        CLAIM % 'sorted(["lib.py"], key=lambda x: exec("table = print") or x)',
        CLAIM % 'sorted(["lib.py"], key=late)',
        CLAIM % "(lambda: 1,)",
        "from refute.gate.parallel import at_once\n" + CLAIM % "list(at_once([late]))",
        "from refute import check\n" + CLAIM % "check([])",
        CLAIM % "[0 for table.rows in [1]]",
        "class A:\n    def __init_subclass__(cls):\n        print()\n",
        "class A:\n    __init_subclass__ = table\n",
        "class A:\n    def __class_getitem__(cls, k):\n        print()\n",
        "class A:\n    import sys\n    sys.modules['claims'].table = print\n",
        "class A:\n    global table\n    table = print\n",
        "class A:\n    table.x = 1\n",
        "class A:\n    class B:\n        del table\n",
        'z: print() = claim("z", table("lib:total", []))\n',
        "from refute.plain import table\n",
    ],
)
def test_nothing_added_to_the_claims_runs_code(added: str) -> None:
    line, why = not_additive(CLAIMS.encode(), (CLAIMS + added).encode(), {"claims"})
    assert why and line > CLAIMS.count("\n")


def test_what_the_base_runs_when_loaded_is_no_licence() -> None:
    base = "import sys\nsys.path.insert(0, 'x')\n" + CLAIMS
    added = base + CLAIM % 'sys.path.insert(0, "y")'
    assert "calls sys.path.insert" in not_additive(base.encode(), added.encode(), {"claims"})[1]


def test_models_and_known_imports_may_be_added() -> None:
    added = (
        "from refute import EXHAUSTED, claim\nfrom refute.specs.domains import Ints\n"
        'class Model:\n    """A model."""\n\n    size: int = 3\n    names = ("a",)\n\n'
        "    class Inner:\n        pass\n\n    def f(self):\n        return sorted([], key=len)\n"
        + CLAIM
        % "[f'{x}.py' for x in ('lib',)]"
    )
    assert not_additive(CLAIMS.encode(), (CLAIMS + added).encode(), {"claims"}) == (0, "")
