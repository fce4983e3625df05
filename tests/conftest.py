"""Fixtures that tests in several folders share."""

from __future__ import annotations

import compileall
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Statement, claim
from refute.evidence import Evidence
from refute.site import Site
from refute.verifiers import reduction
from refute.verifiers.model.native import building, graph_building
from refute.verifiers.model.native.compiler import QUICK
from refute.verifiers.sql import conform_case

Judge = Callable[..., Evidence]


def pytest_configure(config: pytest.Config) -> None:
    """Compile the package once: workers may not write, and each would compile what it imports."""
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(reduction.__file__.rpartition("verifiers")[0], quiet=2)


@pytest.fixture(autouse=True, scope="session")
def own_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Ledgers made by tests are authenticated with a key of their own, never the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REFUTE_KEY_FILE", str(tmp_path_factory.mktemp("key") / "key"))
        yield


@pytest.fixture(autouse=True, scope="session")
def own_builds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Builds of tests are made quickly, once for all processes of a run, and not kept with the
    user's. A test of what a build is made with, or of the cache, sets that itself."""
    base = tmp_path_factory.getbasetemp()
    place = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "builds"))
        patch.setattr(building, "FLAGS", QUICK)
        patch.setattr(graph_building, "FLAGS", QUICK)
        yield


@pytest.fixture(autouse=True, scope="session")
def tries_alone_end_reductions() -> Iterator[None]:
    """However slow the machine is, a test gets the same small counterexample."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reduction, "SHRINK_S", 600.0)
        patch.setattr(conform_case, "REDUCE_S", 600.0)
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
