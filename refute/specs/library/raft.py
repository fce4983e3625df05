"""Raft: leaders are elected by term, and their logs are copied; election and log safety.

After D. Ongaro and J. Ousterhout, "In Search of an Understandable Consensus Algorithm" (2014),
figure 2, without snapshots and membership changes. Messages stay in the set of those sent, so they
may arrive late, twice, in any order, or never. An entry is the term it was made in. A leader sends
any entry of its log with what is before it; which one comes next is left open.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated

from refute.machine import (
    Const,
    Machine,
    Map,
    Range,
    Seq,
    Set,
    Sort,
    Upto,
    Var,
    action,
    any_of,
    const,
    empty_set,
    every,
    invariant,
    reachable,
    terminal,
    var,
    when,
)


class Server(Sort, size=3):
    """Who votes and keeps a log."""


Term = Annotated[int, Range(0, "MAX_TERM")]
Index = Annotated[int, Range(0, "MAX_LOG")]


class Role(enum.Enum):
    """What a server is in its term."""

    FOLLOWER = enum.auto()
    CANDIDATE = enum.auto()
    LEADER = enum.auto()


@dataclass(frozen=True)
class RequestVote:
    """A candidate asks for votes, and says how far its log goes."""

    src: Server
    term: Term
    last_term: Term
    last_index: Index


@dataclass(frozen=True)
class Vote:
    """A vote that was granted."""

    src: Server
    dst: Server
    term: Term


@dataclass(frozen=True)
class Append:
    """A leader's entry at prev_index + 1, and how far it has committed."""

    src: Server
    dst: Server
    term: Term
    prev_index: Index
    prev_term: Term
    entry: Term
    commit: Index


@dataclass(frozen=True)
class Appended:
    """A follower's log agrees with the leader's up to there."""

    src: Server
    dst: Server
    term: Term
    match: Index


class Raft(Machine):
    """At most one leader a term; what is committed stays."""

    MAX_TERM: Const[int] = const(2)
    MAX_LOG: Const[int] = const(1)
    term: Var[Map[Server, Term]] = var(each=0)
    voted: Var[Map[Server, Server | None]] = var(each=None)
    role: Var[Map[Server, Role]] = var(each=Role.FOLLOWER)
    votes: Var[Map[Server, Set[Server]]] = var(each=empty_set)
    log: Var[Map[Server, Annotated[Seq[Term], Upto("MAX_LOG")]]] = var(each=())
    commit: Var[Map[Server, Index]] = var(each=0)
    match: Var[Map[Server, Map[Server, Index]]] = var(each=0)
    msgs: Var[Set[RequestVote | Vote | Append | Appended]] = var(empty_set)
    elected: Var[Map[Term, Set[Server]]] = var(each=empty_set)
    committed: Var[Set[tuple[Index, Term]]] = var(empty_set)

    def last_term(self, i: Server) -> int:
        """The term of the last entry of a log; 0 of an empty one."""
        return self.log[i][len(self.log[i]) - 1] if len(self.log[i]) > 0 else 0

    def up_to_date(self, m: RequestVote, i: Server) -> bool:
        """Whether the candidate's log goes at least as far as that of i."""
        if m.last_term == self.last_term(i):
            return m.last_index >= len(self.log[i])
        return m.last_term > self.last_term(i)

    def majority(self, count: int) -> bool:
        """Whether so many are more than half."""
        return 2 * count > len(Server)

    @action
    def timeout(self, i: Server) -> None:
        """Nothing was heard of a leader: begin a term, vote for oneself, ask the others."""
        when(self.role[i] != Role.LEADER and self.term[i] < self.MAX_TERM)
        self.term[i] += 1
        self.role[i] = Role.CANDIDATE
        self.voted[i] = i
        self.votes[i] = Set([i])
        self.msgs.add(RequestVote(i, self.term[i], self.last_term(i), len(self.log[i])))

    @action
    def grant(self, i: Server) -> None:
        """Vote for a candidate of this or a later term, once a term."""
        m = any_of(m for m in self.msgs if isinstance(m, RequestVote) and m.term >= self.term[i])
        if m.term > self.term[i]:
            self.term[i] = m.term
            self.role[i] = Role.FOLLOWER
            self.voted[i] = None
        when(self.voted[i] is None and m.src != i and self.up_to_date(m, i))
        self.voted[i] = m.src
        self.msgs.add(Vote(i, m.src, m.term))

    @action
    def collect(self, i: Server) -> None:
        """A vote arrives."""
        m = any_of(m for m in self.msgs if isinstance(m, Vote) and m.dst == i)
        when(self.role[i] == Role.CANDIDATE and m.term == self.term[i])
        when(m.src not in self.votes[i])
        self.votes[i].add(m.src)

    @action
    def lead(self, i: Server) -> None:
        """More than half have voted: lead."""
        when(self.role[i] == Role.CANDIDATE and self.majority(len(self.votes[i])))
        self.role[i] = Role.LEADER
        for j in Server:
            self.match[i][j] = 0
        self.elected[self.term[i]].add(i)

    @action
    def client(self, i: Server) -> None:
        """A leader takes an entry."""
        when(self.role[i] == Role.LEADER and len(self.log[i]) < self.MAX_LOG)
        self.log[i].append(self.term[i])

    @action
    def send(self, i: Server, j: Server) -> None:
        """A leader sends any entry of its log."""
        when(self.role[i] == Role.LEADER and i != j)
        at = any_of(range(len(self.log[i])))
        before = self.log[i][at - 1] if at > 0 else 0
        m = Append(i, j, self.term[i], at, before, self.log[i][at], self.commit[i])
        when(m not in self.msgs)
        self.msgs.add(m)

    @action
    def accept(self, i: Server) -> None:
        """Take an entry if what is before it agrees; what is behind a conflict goes."""
        m = any_of(m for m in self.msgs if isinstance(m, Append) and m.dst == i)
        when(m.term >= self.term[i])
        if m.term > self.term[i]:
            self.term[i] = m.term
            self.voted[i] = None
        self.role[i] = Role.FOLLOWER
        at = m.prev_index
        when(len(self.log[i]) >= at)
        when(at == 0 or self.log[i][at - 1] == m.prev_term)
        if len(self.log[i]) > at and self.log[i][at] != m.entry:
            self.log[i] = self.log[i][:at]
        if len(self.log[i]) == at:
            self.log[i].append(m.entry)
        self.commit[i] = max(self.commit[i], min(m.commit, at + 1))
        self.msgs.add(Appended(i, m.src, m.term, at + 1))

    @action
    def acknowledged(self, i: Server) -> None:
        """A leader learns how far a follower is."""
        m = any_of(m for m in self.msgs if isinstance(m, Appended) and m.dst == i)
        when(self.role[i] == Role.LEADER and m.term == self.term[i])
        when(m.match > self.match[i][m.src])
        self.match[i][m.src] = m.match

    @action
    def advance(self, i: Server) -> None:
        """An entry of the leader's own term that more than half have is committed."""
        when(self.role[i] == Role.LEADER)
        at = any_of(range(self.commit[i] + 1, len(self.log[i]) + 1))
        when(self.log[i][at - 1] == self.term[i])
        when(self.majority(1 + sum(1 for j in Server if j != i and self.match[i][j] >= at)))
        self.commit[i] = at
        self.committed = self.committed | Set((p, self.log[i][p - 1]) for p in range(1, at + 1))

    @terminal
    def anywhere(self) -> bool:
        """Terms and logs are bounded: there is an end everywhere."""
        return True

    @invariant
    def election_safety(self, t: Term) -> bool:
        """At most one leader in a term."""
        return len(self.elected[t]) <= 1

    @invariant
    def log_matching(self, i: Server, j: Server) -> bool:
        """Entries of one term at one index are the same, and so is all before them."""
        return all(
            self.log[i][:p] == self.log[j][:p]
            for p in range(len(self.log[i]))
            if p < len(self.log[j]) and self.log[i][p] == self.log[j][p]
        )

    @invariant
    def leader_completeness(self, i: Server) -> bool:
        """A leader has every entry that was committed in earlier terms."""
        return self.role[i] != Role.LEADER or all(
            len(self.log[i]) >= p and self.log[i][p - 1] == t
            for p, t in self.committed
            if t < self.term[i]
        )

    @invariant
    def state_machine_safety(self) -> bool:
        """No two different entries are committed at one index."""
        return all(t == u for p, t in self.committed for q, u in self.committed if p == q)

    @reachable
    def can_commit(self) -> bool:
        """An entry can be committed, and a follower can know."""
        return any(self.commit[i] > 0 and self.role[i] == Role.FOLLOWER for i in every(Server))
