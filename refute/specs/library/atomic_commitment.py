"""Atomic commitment with a simple broadcast, after ACP_SB.tla.

Source: tlaplus/Examples, specifications/acp/ACP_SB.tla (from O. Babaoglu and S. Toueg,
"Non-Blocking Atomic Commitment", in "Distributed Systems", 1993). A broadcast is a series of
messages that a crash may interrupt, so the protocol may block. That repository's manifest gives
54,944 distinct states and 218,352 generated for three participants.
"""

from __future__ import annotations

import enum

from refute.machine import (
    Formula,
    Machine,
    Map,
    Sort,
    Var,
    action,
    any_of,
    anything,
    eventually,
    fair,
    invariant,
    temporal,
    terminal,
    transition,
    var,
    when,
)


class P(Sort):
    """Participants."""


class Vote(enum.Enum):
    """What a participant votes, and what the coordinator knows of it."""

    YES = enum.auto()
    NO = enum.auto()


class Decision(enum.Enum):
    """What is decided."""

    COMMIT = enum.auto()
    ABORT = enum.auto()


class AtomicCommitment(Machine):
    """A coordinator asks for votes, decides and tells; anybody may die."""

    vote: Var[Map[P, Vote]] = var(one_of=anything)
    alive: Var[Map[P, bool]] = var(each=True)
    decision: Var[Map[P, Decision | None]] = var(each=None)
    vote_sent: Var[Map[P, bool]] = var(each=False)
    requested: Var[Map[P, bool]] = var(each=False)
    known: Var[Map[P, Vote | None]] = var(each=None)
    told: Var[Map[P, Decision | None]] = var(each=None)
    decided: Var[Decision | None] = var(None)
    coordinator: Var[bool] = var(True)

    def awaits(self, i: P) -> bool:
        """Whether the coordinator has asked all, has not decided, and knows nothing of i."""
        asked = self.coordinator and self.decided is None and all(self.requested.values())
        return asked and self.known[i] is None

    @action
    def request(self, i: P) -> None:
        """The coordinator asks i for its vote."""
        when(self.coordinator and not self.requested[i])
        self.requested[i] = True

    @action
    def get_vote(self, i: P) -> None:
        """A vote arrives."""
        when(self.awaits(i) and self.vote_sent[i])
        self.known[i] = self.vote[i]

    @action
    def detect_fault(self, i: P) -> None:
        """i died without a vote: the coordinator aborts."""
        when(self.awaits(i) and not self.alive[i] and not self.vote_sent[i])
        self.decided = Decision.ABORT

    @action
    def decide_commit(self) -> None:
        """All votes are there and say yes."""
        when(self.coordinator and self.decided is None)
        when(all(v == Vote.YES for v in self.known.values()))
        self.decided = Decision.COMMIT

    @action
    def decide_abort(self) -> None:
        """All votes are there; TLC takes a step for each that says no."""
        when(self.coordinator and self.decided is None)
        when(all(v is not None for v in self.known.values()))
        against = any_of(P)
        when(self.known[against] == Vote.NO)
        self.decided = Decision.ABORT

    @action
    def broadcast(self, i: P) -> None:
        """The coordinator tells i what it decided."""
        when(self.coordinator and self.decided is not None and self.told[i] is None)
        self.told[i] = self.decided

    @action
    def coordinator_dies(self) -> None:
        """Without a word."""
        when(self.coordinator)
        self.coordinator = False

    @action
    def send_vote(self, i: P) -> None:
        """A participant that was asked answers; doing it again changes nothing."""
        when(self.alive[i] and self.requested[i])
        self.vote_sent[i] = True

    @action
    def abort_on_vote(self, i: P) -> None:
        """Who voted no need not wait."""
        when(self.alive[i] and self.decision[i] is None)
        when(self.vote_sent[i] and self.vote[i] == Vote.NO)
        self.decision[i] = Decision.ABORT

    @action
    def abort_on_timeout(self, i: P) -> None:
        """The coordinator died and will not ask."""
        when(self.alive[i] and self.decision[i] is None)
        when(not self.coordinator and not self.requested[i])
        self.decision[i] = Decision.ABORT

    @action
    def decide(self, i: P) -> None:
        """A participant does as it was told."""
        when(self.alive[i] and self.decision[i] is None and self.told[i] is not None)
        self.decision[i] = self.told[i]

    @action
    def dies(self, i: P) -> None:
        """A participant dies."""
        when(self.alive[i])
        self.alive[i] = False

    @fair("weak")
    def participant_works(self, after: AtomicCommitment, i: P) -> bool:
        """WF of parProg(i): all that a participant does but dying."""
        decides = self.decision[i] != after.decision[i]
        return decides or self.vote_sent[i] != after.vote_sent[i]

    @fair("weak")
    def coordinator_works(self, after: AtomicCommitment) -> bool:
        """WF of coordProgB: all that the coordinator does but dying."""
        asks = self.requested != after.requested or self.known != after.known
        return asks or self.decided != after.decided or self.told != after.told

    @terminal
    def anywhere(self) -> bool:
        """The published model does not look for deadlocks."""
        return True

    @invariant
    def ac1(self, i: P, j: P) -> bool:
        """Nobody decides differently from another."""
        return self.decision[i] != Decision.COMMIT or self.decision[j] != Decision.ABORT

    @invariant
    def ac2(self) -> bool:
        """Who commits does so because all voted yes."""
        commits = any(d == Decision.COMMIT for d in self.decision.values())
        return not commits or all(v == Vote.YES for v in self.vote.values())

    @invariant
    def ac3_1(self) -> bool:
        """Who aborts does so because of a vote or a death."""
        aborts = any(d == Decision.ABORT for d in self.decision.values())
        against = any(v == Vote.NO for v in self.vote.values())
        return not aborts or against or not all(self.alive.values()) or not self.coordinator

    @transition
    def ac4(self, after: AtomicCommitment, i: P) -> bool:
        """Nobody decides twice."""
        return self.decision[i] is None or self.decision[i] == after.decision[i]

    @temporal
    def ac3_2(self) -> Formula:
        """All decide in the end, or somebody dies."""
        return eventually(
            lambda: (
                all(d is not None for d in self.decision.values())
                or not all(self.alive.values())
                or not self.coordinator
            )
        )
