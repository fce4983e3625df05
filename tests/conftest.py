"""Fixtures that tests in several folders share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Statement, claim
from refute.evidence import Evidence
from refute.site import Site

Judge = Callable[..., Evidence]


@pytest.fixture(autouse=True, scope="session")
def own_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Ledgers made by tests are authenticated with a key of their own, never the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REFUTE_KEY_FILE", str(tmp_path_factory.mktemp("key") / "key"))
        yield


@pytest.fixture
def judged() -> Judge:
    """A function that has `check` judge a statement about the tree `tests/cases/functions`."""
    tree = Path(__file__).parent / "cases" / "functions"
    site = Site(tree, tree, (".",))

    def judge(statement: Statement, **limits: float) -> Evidence:
        budget = Budget(**{"cases": 120, "wall_s": 30.0, "cpu_s": 30.0, **limits})
        [evidence] = check(claim("it", statement), budget, site)
        return evidence

    return judge
