"""A case: everything needed to make a violation happen again, as plain data.

Images are not part of it. They are built anew from a new recording, so that a case shows what the
subject does today and not what it once wrote.
"""

from __future__ import annotations

import dataclasses

from refute.fuzz.operations import Operations
from refute.oracles.device import Fault
from refute.plain import Plain
from refute.verifiers.crash.states import Crash


@dataclasses.dataclass(frozen=True)
class Case:
    """setup: operations before the recording. operations: those recorded. watch: the one around
    which free space is compared, None for the last.

    fault: a device call that fails. crash: when the power fails; None judges the run itself. again:
    a second crash, in the first one's recovery (points count recovery's own writes and flushes).
    first: another case played before this one in the same process, which must not matter.
    prior: the case whose crash image is mounted instead of what setup gives.
    """

    property: str
    setup: Operations
    operations: Operations
    fault: Fault | None = None
    crash: Crash | None = None
    again: Crash | None = None
    first: Case | None = None
    watch: int | None = None
    prior: Case | None = None

    def to_plain(self) -> dict[str, Plain]:
        """As plain data."""
        return {
            "property": self.property,
            "setup": list(self.setup),
            "operations": list(self.operations),
            "fault": None
            if self.fault is None
            else [self.fault.call, self.fault.kind, self.fault.reads],
            "crash": None if self.crash is None else self.crash.to_plain(),
            "again": None if self.again is None else self.again.to_plain(),
            "first": None if self.first is None else self.first.to_plain(),
            "watch": self.watch,
            "prior": None if self.prior is None else self.prior.to_plain(),
        }

    @classmethod
    def from_plain(cls, data: Plain) -> Case:
        """The inverse of `to_plain`. Raises KeyError, TypeError or ValueError for other data."""
        return cls(
            property=data["property"],
            setup=tuple(tuple(o) for o in data["setup"]),
            operations=tuple(tuple(o) for o in data["operations"]),
            fault=None if data["fault"] is None else Fault(*data["fault"]),
            crash=None if data["crash"] is None else Crash.from_plain(data["crash"]),
            again=None if data["again"] is None else Crash.from_plain(data["again"]),
            first=None if data["first"] is None else cls.from_plain(data["first"]),
            watch=data["watch"],
            prior=None if data["prior"] is None else cls.from_plain(data["prior"]),
        )
