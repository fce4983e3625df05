"""Whether the gate decides or only advises.

Whoever can choose the base or the policy can choose the answer. The gate decides only when both
come from outside the judged tree: a policy file that lies outside the repository, and a base that
was named and that a remote-tracking ref contains. Everything else is advisory and says why. Refs of
a local clone can be forged by whoever can write to it, so a deciding gate runs where the author of
the change cannot write, such as a CI job with its own clone; see docs/cli.md.
"""

from __future__ import annotations

from pathlib import Path

from refute.change.git import Repository

DECIDING, ADVISORY = "deciding", "advisory"


def mode_of(
    repository: Repository, base: str | None, base_commit: str, policy: Path | None
) -> tuple[str, str]:
    """(mode, reason). base: as the user named it; base_commit: what it is, "" for an empty tree."""
    if policy is None:
        return ADVISORY, "no policy file from outside the judged repository (--policy)"
    place = policy.resolve()
    for inside in (repository.root.resolve(), repository.common_dir):
        if place.is_relative_to(inside):
            return ADVISORY, f"the policy file lies inside the judged repository ({policy})"
    if base is None or not base_commit:
        return ADVISORY, "the base was chosen here, not named (--base)"
    refs = repository.remote_refs_with(base_commit)
    if not refs:
        return ADVISORY, f"no remote-tracking ref contains the base {base_commit[:12]}"
    return DECIDING, f"policy {policy}, base {base_commit[:12]} in {refs[0]}"
