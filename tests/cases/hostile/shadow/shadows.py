"""A tree that has files named like modules of the harness, of the library and of installed ones."""

from typing import Any

import z3


def attack() -> Any:
    import json

    import refute

    return [z3.WHO, json.__name__, refute.__version__ != "tree"]
