"""Running files of sqllogictest-rs: what its directives and variables mean."""

from __future__ import annotations

from refute.verifiers.sql.conform_script import ScriptRun


class RsRun(ScriptRun):
    """One run of one sqllogictest-rs file."""
