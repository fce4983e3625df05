"""One-line bugs in the machines of every size: what is written instead of what, what that breaks.

Each is refuted at the sizes given here, and at no smaller ones; none can be proved for every size.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from refute.machine import Machine
from refute.specs import library


@dataclasses.dataclass(frozen=True)
class Defect:
    """module, machine: of the library. old, new: of its source. prop: broken at these sizes."""

    module: str
    machine: str
    name: str
    old: str
    new: str
    prop: str
    sizes: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return f"{self.machine}-{self.name}"

    def source(self) -> str:
        """The module with the bug. Raises ValueError where the old text is not there once."""
        text = (Path(library.__file__).parent / f"{self.module}.py").read_text()
        if text.count(self.old) != 1:
            raise ValueError(f"{self}: {text.count(self.old)} times {self.old!r}")
        return text.replace(self.old, self.new)

    def written(self, directory: Path) -> Path:
        """A file with the module and its bug."""
        file = directory / f"defect_{self.module}_{self.name}.py"
        file.write_text(self.source())
        return file

    def loaded(self, directory: Path) -> type[Machine]:
        """The machine with its bug."""
        file = self.written(directory)
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None and spec.loader is not None
        module: ModuleType = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = module
        spec.loader.exec_module(module)
        made: type[Machine] = getattr(module, self.machine)
        return made


def _defects(
    module: str, machine: str, *rows: tuple[str, str, str, str, dict[str, int]]
) -> tuple[Defect, ...]:
    return tuple(
        Defect(module, machine, name, old, new, prop, tuple(sizes.items()))
        for name, old, new, prop, sizes in rows
    )


TOKEN_RING = _defects(
    "token_ring",
    "TokenRing",
    (
        "passed_inside",
        "n in self.holding and n not in self.critical and",
        "n in self.holding and",
        "mutual_exclusion",
        {"Node": 2},
    ),
    ("kept", "        self.holding.discard(n)\n", "", "mutual_exclusion", {"Node": 2}),
    ("copied", "        self.coming.discard(n)\n", "", "mutual_exclusion", {"Node": 2}),
    ("several", "return alone and any(", "return any(", "mutual_exclusion", {"Node": 2}),
    (
        "without",
        "n in self.wanting and n in self.holding",
        "n in self.wanting",
        "mutual_exclusion",
        {"Node": 2},
    ),
)
LOCK_SERVICE = _defects(
    "lock_service",
    "LockService",
    ("still_free", "        self.free = False\n", "", "exclusive", {"Client": 2}),
    ("granted_again", "        self.grants.discard(c)\n", "", "exclusive", {"Client": 2}),
    ("kept", "        self.holding.discard(c)\n", "", "exclusive", {"Client": 2}),
    ("not_asked", "self.free and c in", "c in", "exclusive", {"Client": 2}),
    ("released_twice", "        self.releases.discard(c)\n", "", "exclusive", {"Client": 2}),
)
RICART_AGRAWALA = _defects(
    "ricart_agrawala",
    "RicartAgrawala",
    (
        "both_yield",
        "        when(to not in self.allowed[n])\n",
        "",
        "mutual_exclusion",
        {"Node": 2},
    ),
    (
        "one_is_enough",
        "when(all(n == m or m in self.allowed[n] for m in Node))",
        "when(any(n != m and m in self.allowed[n] for m in Node))",
        "mutual_exclusion",
        {"Node": 3},
    ),
    (
        "asked_is_enough",
        "n == m or m in self.allowed[n] for m in Node))",
        "n == m or m in self.asked[n] for m in Node))",
        "mutual_exclusion",
        {"Node": 2},
    ),
)
RING_ELECTION = _defects(
    "ring_election",
    "RingElection",
    ("all_pass", "elif self.ids[m] < i:", "else:", "one_leader", {"Node": 2, "Id": 2}),
    (
        "smaller_wins",
        "if i == self.ids[m]:",
        "if i <= self.ids[m]:",
        "one_leader",
        {"Node": 3, "Id": 3},
    ),
    (
        "same_names",
        "return all(n == m or self.ids[n] != self.ids[m] for n in Node for m in Node)",
        "return True",
        "one_leader",
        {"Node": 2, "Id": 1},
    ),
    (
        "sender_wins",
        "self.leaders.add(m)",
        "self.leaders.add(n)",
        "largest_wins",
        {"Node": 2, "Id": 2},
    ),
)
SHARDED_STORE = _defects(
    "sharded_store",
    "ShardedStore",
    (
        "still_owned",
        "        self.owners[k].discard(n)\n",
        "",
        "one_owner",
        {"Node": 2, "Key": 1, "Value": 1},
    ),
    (
        "arrives_twice",
        "        self.moving[n][k].discard(v)\n",
        "",
        "one_owner",
        {"Node": 2, "Key": 1, "Value": 1},
    ),
    (
        "anybody_writes",
        "        when(n in self.owners[k])\n",
        "",
        "one_value",
        {"Node": 2, "Key": 1, "Value": 1},
    ),
    (
        "two_values",
        "self.table[n][k] = Set([v])",
        "self.table[n][k].add(v)",
        "one_value",
        {"Node": 1, "Key": 1, "Value": 2},
    ),
)
TOY_CONSENSUS = _defects(
    "toy_consensus",
    "ToyConsensus",
    (
        "votes_twice",
        "when(not self.votes[n])",
        "when(v not in self.votes[n])",
        "agreement",
        {"Node": 1, "Value": 2, "Quorum": 1},
    ),
    (
        "one_is_enough",
        "when(all(v in self.votes[n] for n in self.members[q]))",
        "when(any(v in self.votes[n] for n in self.members[q]))",
        "agreement",
        {"Node": 2, "Value": 2, "Quorum": 1},
    ),
    (
        "absent",
        "when(all(v in self.votes[n] for n in self.members[q]))",
        "when(all(v in self.votes[n] or not self.votes[n] for n in self.members[q]))",
        "agreement",
        {"Node": 1, "Value": 2, "Quorum": 1},
    ),
    (
        "apart",
        "any(n in self.members[q] and n in self.members[r] for n in Node)\n            for q",
        "any(n in self.members[q] for n in Node)\n            for q",
        "agreement",
        {"Node": 2, "Value": 2, "Quorum": 2},
    ),
)
TWO_PHASE = _defects(
    "two_phase_commit",
    "TwoPhase",
    (
        "one_is_enough",
        "when(all(rm in self.prepared for rm in RM))",
        "when(any(rm in self.prepared for rm in RM))",
        "agreement",
        {"RM": 2},
    ),
    (
        "aborts_late",
        "        when(self.tm == TM.INIT)\n        self.tm = TM.ABORTED",
        "        self.tm = TM.ABORTED",
        "agreement",
        {"RM": 2},
    ),
    (
        "changes_its_mind",
        "        when(self.phase[rm] == Phase.WORKING)\n        self.phase[rm] = Phase.ABORTED",
        "        self.phase[rm] = Phase.ABORTED",
        "agreement",
        {"RM": 2},
    ),
    (
        "noted_unsaid",
        "        when(Prepared(rm) in self.msgs)\n",
        "",
        "agreement",
        {"RM": 2},
    ),
)
DEFECTS = (
    *TOKEN_RING,
    *LOCK_SERVICE,
    *RICART_AGRAWALA,
    *RING_ELECTION,
    *SHARDED_STORE,
    *TOY_CONSENSUS,
    *TWO_PHASE,
)
