"""Claims as pytest items, loaded only where they are wanted.

A claims module is never imported here: `describe` loads it in a worker, and subjects run in workers
as well. All selected claims of one file are checked together, because claims often share a search.
REFUTED fails with the counterexample; a claim that is not established is an *error*, which pytest
counts apart and never paints green; nothing is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from refute.budget import Budget, parse_duration
from refute.check import check
from refute.claim import Claim, Verdict
from refute.cli.place import Place, place_of
from refute.describe import DEFAULT_ROOTS, describe
from refute.errors import RefuteError
from refute.evidence import Evidence
from refute.record import ClaimResult
from refute.report.text import Look, result_lines, scope_text
from refute.site import Site


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say when claims were asked for and none was met: silence would read as success."""
    session = terminalreporter._session
    items = session.items if session is not None else []
    if not any(isinstance(item, ClaimItem) for item in items):
        terminalreporter.write_line(
            "refute: no claim was collected; name the file (pytest --refute claims.py) or add its"
            " folder to testpaths",
            yellow=True,
        )


class NotEstablished(Exception):
    """A claim whose need is not met; what was found stands in the message."""


class Broken(Exception):
    """A refuted claim; the counterexample stands in the message."""


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect claims modules; `test_…_claims.py` stays an ordinary test module."""
    name = file_path.name
    if name != "claims.py" and (not name.endswith("_claims.py") or name.startswith("test_")):
        return None
    made: pytest.Collector = ClaimsFile.from_parent(parent, path=file_path)
    return made


class ClaimsFile(pytest.File):
    """One claims module; its claims are checked together, once."""

    _place: Place
    _evidence: dict[str, Evidence] | None = None

    def collect(self) -> Iterator[pytest.Item]:
        """One item per claim. A module that cannot be read is a collection error."""
        try:
            self._place = place_of(self.path)
            claims = describe(self._place.tree, self.roots, [self._place.file])
        except RefuteError as error:
            raise self.CollectError(str(error)) from error
        for claim in claims:
            yield ClaimItem.from_parent(self, name=claim.name, claim=claim)

    @property
    def roots(self) -> tuple[str, ...]:
        """Import roots: the file's own first."""
        return self._place.roots(DEFAULT_ROOTS)

    def evidence_on(self, claim: Claim) -> Evidence:
        """The evidence on one of the file's selected claims."""
        if self._evidence is None:
            items = [i for i in self.session.items if isinstance(i, ClaimItem) and i.parent is self]
            claims = [item.claim for item in items]
            tree = self._place.tree
            found = check(claims, self._budget(), Site(tree, tree, self.roots))
            self._evidence = {c.digest(): e for c, e in zip(claims, found, strict=True)}
        return self._evidence[claim.digest()]

    def _budget(self) -> Budget:
        asked = self.config.getoption("--refute-budget") or self.config.getini("refute_budget")
        return Budget(wall_s=parse_duration(str(asked)))


class ClaimItem(pytest.Item):
    """One claim. Its setup finds the evidence; its call fails when that refutes the claim."""

    parent: ClaimsFile

    def __init__(self, *, claim: Claim, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.claim = claim
        self.result: ClaimResult | None = None

    def setup(self) -> None:
        """Judge the claim; raises NotEstablished unless it is refuted or its need is met."""
        evidence = self.parent.evidence_on(self.claim)
        unmet = evidence.unmet(self.claim.need)
        self.result = ClaimResult(self.claim, evidence, unmet)
        self.user_properties.append(("verdict", evidence.verdict.value))
        self.user_properties.append(("scope", scope_text(evidence)))
        if unmet and evidence.verdict is not Verdict.REFUTED:
            raise NotEstablished(
                f"{evidence.verdict.value}, need {self.claim.need} is not met: {unmet}"
            )

    def runtest(self) -> None:
        """Raises Broken with the counterexample when the claim is refuted."""
        result = self.result
        if result is not None and result.evidence.verdict is Verdict.REFUTED:
            raise Broken("\n".join(result_lines(result, Look())))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The message alone for what is about the claim; a traceback for anything else."""
        if isinstance(excinfo.value, Broken | NotEstablished | RefuteError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """The place of the claim, lines counted from 0 as pytest does."""
        return self.path, max(0, self.claim.where.line - 1), f"claim {self.name}"
