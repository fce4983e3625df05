"""Patches what a harness may use to compare, count, keep time and answer."""

import base64
import builtins
import dataclasses
import hashlib
import json
import math
import os
import struct
import sys
import time
from typing import Any


def _yes(*args: Any, **kwargs: Any) -> Any:
    return True


def attack() -> float:
    for module, names in (
        (math, ("isclose", "isfinite", "isnan")),
        (time, ("time", "monotonic", "perf_counter", "sleep")),
        (json, ("dumps", "loads", "JSONEncoder", "JSONDecoder")),
        (os, ("write", "read", "fork", "_exit", "waitpid")),
        (struct, ("pack", "unpack", "Struct")),
        (base64, ("b64encode", "b64decode")),
        (hashlib, ("sha256",)),
        (dataclasses, ("is_dataclass",)),
        (builtins, ("all", "any", "print", "__import__", "compile")),
    ):
        for name in names:
            setattr(module, name, _yes)
    sys.stdout = sys.stderr = None
    sys.modules.pop("refute.plain", None)
    return 1.5


def after() -> float:
    return 2.5
