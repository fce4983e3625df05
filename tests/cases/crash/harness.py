"""The key-value store in a directory of its own, with claims about it; for the tests."""

from __future__ import annotations

import shutil
from pathlib import Path

from refute.budget import Budget
from refute.claim import Claim, Where
from refute.evidence import Finding
from refute.site import Site
from refute.specs.crash import PROPERTIES, CrashConsistent
from refute.verifiers.crash.engine import CrashExplorer

CASES = Path(__file__).resolve().parent
BUDGET = Budget(cases=4, cpu_s=60, wall_s=120)
OPERATIONS = [
    ("put", "a", "1" * 600),
    ("put", "b", "2" * 600),
    ("put", "a", "3" * 700),
    ("delete", "a"),
]


def site(tree: Path, old: str = "", new: str = "") -> Site:
    """A tree with the store, in which the text `old` is replaced."""
    text = (CASES / "store.py").read_text()
    if old:
        assert text.count(old) == 1, f"the defect's text is not once in the store: {old!r}"
        text = text.replace(old, new)
    (tree / "store.py").write_text(text)
    shutil.copy(CASES / "store_spec.py", tree)
    return Site(tree, tree)


def claims(*properties: str, **options: object) -> list[Claim]:
    """One claim for each property of the store (all by default)."""
    chosen: dict[str, object] = {
        "model": "store_spec:Model",
        "structure": "store_spec:problems",
        "operations": OPERATIONS,
        "durability": "immediate",
        "syncs": (),
        "blocks": 10,
        "depth": 2,
        "space": "",
        **options,
    }
    return [
        Claim(name, CrashConsistent("store:Store", name, **chosen), Where("claims.py", 1))  # type: ignore[arg-type]
        for name in properties or PROPERTIES
    ]


def explore(where: Site, asked: list[Claim], budget: Budget = BUDGET) -> dict[str, Finding]:
    """The findings by property."""
    findings = CrashExplorer().run(asked, budget, where, lambda _: None)
    return {c.name: f for c, f in zip(asked, findings, strict=True)}
