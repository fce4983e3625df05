"""`Conforms`: which engines a claim takes, and what is said of the others."""

from __future__ import annotations

from typing import Any

import pytest

from refute.errors import IllegalClaim
from refute.specs.conformance import Conforms


@pytest.mark.parametrize("engine", ["sqlite", "duckdb", "cmd:shim", "cmd:./shim", "m:f x", 3])
def test_other_kinds_of_engine_are_refused_and_not_offered(engine: Any) -> None:
    with pytest.raises(IllegalClaim) as refused:
        Conforms(engine, ["*.test"])
    assert refused.value.possible == ("module:function",)
    assert repr(engine) in str(refused.value) and "refute conform" in str(refused.value)


def test_a_function_of_the_tree_is_taken() -> None:
    statement = Conforms("minidb.api:connect", ["*.test"])
    assert (statement.subject, statement.params["name"]) == ("minidb.api:connect", "minidb")
