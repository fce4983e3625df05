"""What `--set` names that a machine does not have is told as that, whatever the machine reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from refute.errors import UsageError
from refute.specs.machine.asking import find_machines

SPEC = """
from refute.machine import Machine, Sort, Var, action, invariant, var

class A(Sort): "Read."
class B(Sort): "Not read."

SECOND = A(1)

class M(Machine):
    last: Var[A | None] = var(None)

    @action
    def take(self, x: A) -> None:
        self.last = x

    @invariant
    def never(self) -> bool:
        return self.last != SECOND
"""


def test_a_sort_that_no_machine_has_is_told_beside_a_member_of_another(tmp_path: Path) -> None:
    file = tmp_path / "spec.py"
    file.write_text(SPEC)
    assert find_machines(file, tmp_path, (".",), {"A": (3,)}).claims
    with pytest.raises(UsageError, match="constant or Sort called B") as caught:
        find_machines(file, tmp_path, (".",), {"A": (3,), "B": (2,)})
    assert list(caught.value.possible) == ["A"]
