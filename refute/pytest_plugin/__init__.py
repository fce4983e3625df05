"""The pytest plugin: claims as test items. It reports; the gate decides.

pytest loads this module in every run of everybody who has refute installed, so it only adds the
option. Nothing else happens until `--refute` is given or the ini file says `refute = true`.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--refute`, `--refute-budget` and their ini values."""
    group = parser.getgroup("refute", "claims as test items")
    group.addoption(
        "--refute",
        action="store_true",
        default=None,
        help="collect claims.py and *_claims.py and check their claims (ini: refute = true)",
    )
    group.addoption(
        "--refute-budget",
        metavar="DURATION",
        default=None,
        help="wall-clock budget of all claims of one file, e.g. 60s (ini: refute_budget)",
    )
    parser.addini("refute", "collect claims as test items", type="bool", default=False)
    parser.addini("refute_budget", "budget of the claims of one file", default="60s")


def pytest_configure(config: pytest.Config) -> None:
    """Load the collector, only where claims are wanted."""
    wanted = config.getoption("--refute")
    if config.getini("refute") if wanted is None else wanted:
        config.pluginmanager.import_plugin("refute.pytest_plugin.items")
