"""A tree that has files named like modules of the harness, of the library and of installed ones."""

from typing import Any

import hypothesis
import z3


def attack() -> Any:
    import json

    import refute

    return [z3.WHO, hypothesis.WHO, json.__name__, refute.__version__ != "tree"]


def what_the_judge_imports() -> str:
    from refute.fuzz import strategies

    imported = strategies.hypothesis
    return f"{imported.__name__} has {'a' if hasattr(imported, 'WHO') else 'no'} WHO"
