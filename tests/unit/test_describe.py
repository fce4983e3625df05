"""Claims and configuration of a tree, read without running any of it in this process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scratch_repo import CLAIMS, LIB

from refute.config import (
    Config,
    all_exemptions,
    needs_no_claim,
    read_config,
    read_exemptions,
    read_policy,
    render,
)
from refute.describe import describe
from refute.errors import IllegalClaim, RefuteError, UnreadableInput, UsageError


def make(tree: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tree


def test_claims_come_back_with_their_places(tmp_path: Path) -> None:
    make(tmp_path, {"lib.py": LIB, "claims.py": CLAIMS, "sub/more_claims.py": "import claims\n"})
    found = describe(tmp_path)
    assert [c.name for c in found] == ["clamp", "total"]
    line = (
        CLAIMS.split("\n").index(next(x for x in CLAIMS.split("\n") if x.startswith('claim("t')))
        + 1
    )
    assert str(found[1].where) == f"claims.py:{line}"
    assert found[0].statement.params["rows"][0] == [[-3], 0]
    assert "claims" not in sys.modules and describe(tmp_path, files=()) == ()


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("x = 1\nimport nowhere_at_all\n", "claims.py:2", "ModuleNotFoundError"),
        ("x = (\n", "claims.py:1", "SyntaxError"),
        ("import sys\n\nsys.exit(0)\n", "claims.py:3", "SystemExit"),
        ("from refute import claim\nclaim('a', 7)\n", "claims.py:2", "needs a Statement"),
    ],
)
def test_what_cannot_be_loaded_is_named_with_its_place(
    tmp_path: Path, text: str, place: str, said: str
) -> None:
    make(tmp_path, {"claims.py": text})
    with pytest.raises(UnreadableInput, match=said) as caught:
        describe(tmp_path)
    assert caught.value.value == place


def test_what_would_have_been_possible_is_passed_on(tmp_path: Path) -> None:
    wrong = "AgreesWithSQLite('e:c', features=['joins'])\n"
    make(tmp_path, {"claims.py": f"from refute.specs.sql import AgreesWithSQLite\n{wrong}"})
    with pytest.raises(UnreadableInput, match=r"claims\.py:2: .*'joins' is no feature") as caught:
        describe(tmp_path)
    assert "left-join" in caught.value.possible and "FEATURES" in caught.value.next_step


def test_an_undeclared_file_does_not_exist_for_claims(tmp_path: Path) -> None:
    make(tmp_path, {"claims.py": "open('data.txt').read()\n", "data.txt": "x"})
    with pytest.raises(UnreadableInput, match="FileNotFoundError"):
        describe(tmp_path)


def test_a_claims_module_that_forges_its_answer_is_refused(tmp_path: Path) -> None:
    forged = "import refute.claim_modules as m\nm._data = lambda claim, tree: {'name': 7}\n"
    make(tmp_path, {"claims.py": CLAIMS + forged})
    with pytest.raises(RefuteError):
        describe(tmp_path)


def test_two_claims_of_one_name_are_refused(tmp_path: Path) -> None:
    make(tmp_path, {"claims.py": CLAIMS + 'claim("total", table("lib:total", []))\n'})
    with pytest.raises(IllegalClaim, match="two claims are called 'total'"):
        describe(tmp_path)


def test_configuration_and_policy(tmp_path: Path) -> None:
    assert read_config(tmp_path) == Config()
    make(tmp_path, {"pyproject.toml": '[tool.refute]\nroots = ["lib"]\nexclude = ["x/**"]\n'})
    config = read_config(tmp_path)
    assert (config.roots, config.exclude, config.source) == (("lib",), ("x/**",), "pyproject.toml")
    make(
        tmp_path, {"policy.toml": "exclude = []\n", "nested.toml": "[tool.refute]\nexclude = []\n"}
    )
    for name in ("policy.toml", "nested.toml"):
        stricter = read_policy(tmp_path / name, config)
        assert (stricter.roots, stricter.exclude) == (("lib",), ())
    assert render({"roots": ["."], "exemptions": "e.txt"}) == (
        '[tool.refute]\nroots = ["."]\nexemptions = "e.txt"\n'
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.refute]\nrots = []\n", "unknown key 'rots'"),
        ("[tool.refute]\nroots = 'x'\n", "must be a list of strings"),
        ("[tool.refute]\nroots = ['../x']\n", "inside the tree"),
        ("[tool.refute]\nexemptions = ''\n", "a path relative"),
        ("[tool\n", "not TOML"),
        ("[tool]\nrefute = 1\n", "no table"),
    ],
)
def test_wrong_configuration_is_an_error(tmp_path: Path, text: str, said: str) -> None:
    make(tmp_path, {"pyproject.toml": text})
    with pytest.raises((UsageError, UnreadableInput), match=said):
        read_config(tmp_path)


def test_an_unreadable_policy_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_policy(tmp_path / "none.toml", Config())


def test_exemptions_list_all_code_but_tests_and_claims(tmp_path: Path) -> None:
    make(
        tmp_path,
        {
            "lib.py": "X = 1\n\ndef f():\n    pass\n\nclass C:\n    def m(self):\n        pass\n",
            "tests/test_lib.py": "def test():\n    pass\n",
            "claims.py": "",
            "refute-exempt.txt": "# why\n\nlib.py:f\n",
        },
    )
    assert all_exemptions(tmp_path, Config()) == ("lib.py:X", "lib.py:f", "lib.py:C", "lib.py:C.m")
    assert read_exemptions(tmp_path, Config()) == {"lib.py:f"}


def test_what_needs_no_claim() -> None:
    config = Config(exclude=("gen/**",))
    for path in ("README.md", "docs/x.py", "tests/test_x.py", "gen/a.py", "a/LICENSE", "claims.py"):
        assert needs_no_claim(path, config)
    for path in ("lib.py", "data.json", "pyproject.toml", "setup.cfg"):
        assert not needs_no_claim(path, config)
    assert not needs_no_claim("tests/helper.py", config, read=["tests/helper.py"])
