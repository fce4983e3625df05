"""What stands in the place of this module in a script: one case, and what is right about it."""

from __future__ import annotations

from typing import Any

ENGINE: str = ""
ROOTS: list[str] = []
SETUP: list[str] = []
ASKED: list[str] = []
RIGHT: dict[str, Any] = {}
TIMEOUT_S: float = 60.0
