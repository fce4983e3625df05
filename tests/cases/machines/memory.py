"""A memory, and a write-through cache that implements it, with what has to happen.

Source: L. Lamport, "Specifying Systems", chapter 5 and 8; tlaplus/Examples,
specifications/SpecifyingSystems/CachingMemory: InternalMemory has 4408 distinct states and 21400
generated (three addresses, two values), WriteThroughCache 5196 and 28170 (one address, a queue of
one).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from refute.machine import (
    Const,
    Formula,
    Machine,
    Map,
    Seq,
    Sort,
    Upto,
    Var,
    action,
    anything,
    const,
    fair,
    invariant,
    leads_to,
    refines,
    temporal,
    var,
    when,
)


class Proc(Sort, size=2):
    """P"""


class Adr(Sort, size=1):
    """A"""


class Val(Sort, size=2):
    """V"""


class Ctl(enum.Enum):
    RDY = 0
    BUSY = 1
    WAITING = 2
    DONE = 3


@dataclass(frozen=True)
class Rd:
    adr: Adr


@dataclass(frozen=True)
class Wr:
    adr: Adr
    val: Val


class Ack(enum.Enum):
    NO_VAL = 0


MReq = Rd | Wr


class InternalMemory(Machine):
    mem: Var[Map[Adr, Val]] = var(one_of=anything)
    ctl: Var[Map[Proc, Ctl]] = var(each=Ctl.RDY)
    buf: Var[Map[Proc, MReq | Val | Ack]] = var(each=Ack.NO_VAL)
    mem_int: Var[tuple[Proc, MReq | Val | Ack]] = var((Proc(0), Ack.NO_VAL))

    @action
    def req(self, p: Proc, m: MReq) -> None:
        when(self.ctl[p] == Ctl.RDY)
        self.buf[p] = m
        self.ctl[p] = Ctl.BUSY
        self.mem_int = (p, m)

    @action(fair="weak")
    def do(self, p: Proc) -> None:
        when(self.ctl[p] == Ctl.BUSY)
        match self.buf[p]:
            case Wr(a, v):
                self.mem[a] = v
                self.buf[p] = Ack.NO_VAL
            case Rd(a):
                self.buf[p] = self.mem[a]
        self.ctl[p] = Ctl.DONE

    @action(fair="weak")
    def rsp(self, p: Proc) -> None:
        when(self.ctl[p] == Ctl.DONE)
        self.ctl[p] = Ctl.RDY
        self.mem_int = (p, self.buf[p])

    @temporal
    def liveness(self, p: Proc) -> Formula:
        return leads_to(lambda: self.ctl[p] == Ctl.BUSY, lambda: self.ctl[p] == Ctl.RDY)


class WriteThroughCache(Machine):
    QLen: Const[int] = const(2)
    mem: Var[Map[Adr, Val]] = var(one_of=anything)
    ctl: Var[Map[Proc, Ctl]] = var(each=Ctl.RDY)
    buf: Var[Map[Proc, MReq | Val | Ack]] = var(each=Ack.NO_VAL)
    mem_int: Var[tuple[Proc, MReq | Val | Ack]] = var((Proc(0), Ack.NO_VAL))
    cache: Var[Map[Proc, Map[Adr, Val | None]]] = var(each=None)
    mem_q: Var[Annotated[Seq[tuple[Proc, MReq]], Upto("QLen")]] = var(())

    @action
    def req(self, p: Proc, m: MReq) -> None:
        when(self.ctl[p] == Ctl.RDY)
        self.buf[p] = m
        self.ctl[p] = Ctl.BUSY
        self.mem_int = (p, m)

    @action(fair="weak")
    def rsp(self, p: Proc) -> None:
        when(self.ctl[p] == Ctl.DONE)
        self.ctl[p] = Ctl.RDY
        self.mem_int = (p, self.buf[p])

    @action
    def rd_miss(self, p: Proc) -> None:
        m = self.buf[p]
        when(self.ctl[p] == Ctl.BUSY and isinstance(m, Rd))
        assert isinstance(m, Rd)
        when(self.cache[p][m.adr] is None and len(self.mem_q) < self.QLen)
        self.mem_q.append((p, m))
        self.ctl[p] = Ctl.WAITING

    @action(fair="weak")
    def do_rd(self, p: Proc) -> None:
        m = self.buf[p]
        when(self.ctl[p] in {Ctl.BUSY, Ctl.WAITING} and isinstance(m, Rd))
        assert isinstance(m, Rd)
        v = self.cache[p][m.adr]
        when(v is not None)
        assert v is not None
        self.buf[p] = v
        self.ctl[p] = Ctl.DONE

    @action
    def do_wr(self, p: Proc) -> None:
        m = self.buf[p]
        when(self.ctl[p] == Ctl.BUSY and isinstance(m, Wr) and len(self.mem_q) < self.QLen)
        assert isinstance(m, Wr)
        for q in Proc:
            if p == q or self.cache[q][m.adr] is not None:
                self.cache[q][m.adr] = m.val
        self.mem_q.append((p, m))
        self.buf[p] = Ack.NO_VAL
        self.ctl[p] = Ctl.DONE

    @fair("strong")
    def queues(self, after: WriteThroughCache, p: Proc) -> bool:
        return len(after.mem_q) > len(self.mem_q) and after.mem_q[-1][0] == p

    def v_mem(self) -> Map[Adr, Val]:
        mem = self.mem
        for _, m in self.mem_q:
            if isinstance(m, Wr):
                mem = Map({**mem, m.adr: m.val})
        return mem

    @action(fair="weak")
    def mem_q_wr(self) -> None:
        when(len(self.mem_q) > 0)
        _, m = self.mem_q[0]
        when(isinstance(m, Wr))
        assert isinstance(m, Wr)
        self.mem[m.adr] = m.val
        self.mem_q.pop(0)

    @action(fair="weak")
    def mem_q_rd(self) -> None:
        when(len(self.mem_q) > 0)
        p, m = self.mem_q[0]
        when(isinstance(m, Rd))
        self.cache[p][m.adr] = self.v_mem()[m.adr]
        self.mem_q.pop(0)

    @action
    def evict(self, p: Proc, a: Adr) -> None:
        m = self.buf[p]
        when(not (self.ctl[p] == Ctl.WAITING and isinstance(m, Rd) and m.adr == a))
        self.cache[p][a] = None

    @invariant
    def coherence(self, p: Proc, q: Proc, a: Adr) -> bool:
        v, w = self.cache[p][a], self.cache[q][a]
        return v is None or w is None or v == w

    @temporal
    def liveness(self, p: Proc) -> Formula:
        return leads_to(lambda: self.ctl[p] == Ctl.BUSY, lambda: self.ctl[p] == Ctl.RDY)

    @refines(InternalMemory)
    def memory(self) -> Mapping[str, object]:
        return {
            "mem": self.v_mem(),
            "ctl": {p: Ctl.BUSY if self.ctl[p] == Ctl.WAITING else self.ctl[p] for p in Proc},
            "buf": self.buf,
            "mem_int": self.mem_int,
        }
