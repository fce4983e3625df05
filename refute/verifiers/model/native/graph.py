"""The native state graph: the library of a machine, and questions about its behaviours."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

from refute.frozen import frozen
from refute.verifiers.model.automaton import Automaton
from refute.verifiers.model.components import components

NONE = 0xFFFFFFFF
OUTER = 0x80000000  # of the number of a state outside the constraint
MORE, DONE, FULL, UNFIT, RAISES, ABOVE = range(6)  # how a piece of work ended
NOTHING, ATOMS, CONDITION = range(3)  # what is true in a state
_COUNTS = ("distinct", "generated", "expanded", "outside", "edges", "raised", "bytes", "starts")
_WORD = ctypes.c_ulonglong
_NUMBER = ctypes.c_uint32
_ROW = ctypes.POINTER(_WORD)
_TABLES = ["must", "must_not", "kept", "capable", "stays", "behind", "next", "initial", "numbers"]
_NUMBERS = ("nodes", "promises", "initials", "idle", "source", "given", "atoms")


class _Question(ctypes.Structure):
    _fields_ = [
        *((n, _WORD) for n in _NUMBERS),
        *((n, _ROW) for n in _TABLES),
    ]


class _Above(ctypes.Structure):
    _fields_ = [
        *((n, ctypes.c_void_p) for n in ("number", "step", "enabled", "has", "labels")),
        ("start_count", _WORD),
        ("conditions", _WORD),
    ]


class _Goals(ctypes.Structure):
    _fields_ = [("at", _WORD), ("kept", _WORD), ("weak", _ROW), ("strong", _ROW)]


@frozen
class Source:
    """What is true in a state: nothing, the predicates of these numbers in a case, or whether a
    condition of the refined machine is enabled, which is then not taken."""

    kind: int = NOTHING
    given: int = 0
    predicates: tuple[int, ...] = ()


@frozen
class Answer:
    """standing: the pair at which the machine may stay for ever; first: that of a fair set of
    `count` pairs which is nearest to a start; -1 for none. ever: the conditions enabled in it."""

    pairs: int
    edges: int
    standing: int
    first: int
    count: int
    ever: int


def _words(numbers: Sequence[int]) -> ctypes.Array[_WORD]:
    return (_WORD * max(len(numbers), 1))(*numbers)


def _row(bits: int, words: int) -> ctypes.Array[_WORD]:
    return _words([bits >> 64 * at & (2**64 - 1) for at in range(words)])


def _bits(words: Sequence[int]) -> int:
    return sum(word << 64 * at for at, word in enumerate(words))


class GraphLibrary:
    """One graph per library that is loaded. words: of a state; conditions: of its fairness."""

    def __init__(self, path: Path, words: int, conditions: int) -> None:
        self.words = words
        self.conditions = conditions
        self.sets = max(1, -(-conditions // 64))
        self.c = ctypes.CDLL(str(path))
        self.c.rf_open.argtypes = (_WORD,)
        self.c.rf_limit.argtypes = (_WORD,)
        self.c.rf_limit.restype = None
        self.c.rf_used.restype = _WORD
        self.c.rf_state.argtypes = (_NUMBER, _ROW)
        self.c.rf_state.restype = _WORD
        self.c.rf_counts.argtypes = (_ROW,)
        self.c.rf_counts.restype = None
        self.c.rf_grow.argtypes = (ctypes.c_double,)

    def open(self, memory: int) -> bool:
        """Start; whether there was memory for it."""
        return bool(self.c.rf_open(memory))

    def grow(self, seconds: float) -> int:
        """Expand states for about so long."""
        return int(self.c.rf_grow(seconds))

    def limit(self, memory: int) -> None:
        """Set the bytes that the library may use."""
        self.c.rf_limit(memory)

    def used(self) -> int:
        """The bytes that the library uses."""
        return int(self.c.rf_used())

    def status(self) -> int:
        """FULL, UNFIT, or MORE where nothing is wrong."""
        return int(self.c.rf_status())

    def counts(self) -> dict[str, int]:
        """The numbers that the library keeps, by name."""
        row = (_WORD * len(_COUNTS))()
        self.c.rf_counts(row)
        return dict(zip(_COUNTS, row, strict=True))

    def state(self, number: int) -> tuple[tuple[int, ...], int]:
        """A state by its number, and its parent's, or NONE."""
        row = (_WORD * self.words)()
        parent = int(self.c.rf_state(number, row))
        return tuple(row), parent


class Asking(GraphLibrary):
    """The library of the machine that is judged."""

    def __init__(self, path: Path, words: int, conditions: int) -> None:
        super().__init__(path, words, conditions)
        self.c.rf_refine.argtypes = (ctypes.c_int, ctypes.POINTER(_Above))
        self.c.rf_refine.restype = None
        for name in ("rf_map", "rf_answer"):
            getattr(self.c, name).argtypes = (ctypes.c_double,)
        for name in ("rf_departed", "rf_answered"):
            getattr(self.c, name).argtypes = (_ROW,)
            getattr(self.c, name).restype = None
        self.c.rf_ask.argtypes = (ctypes.POINTER(_Question),)
        for name in ("rf_pair", "rf_label"):
            getattr(self.c, name).argtypes = (_NUMBER, _ROW)
            getattr(self.c, name).restype = None
        self.c.rf_nearest.argtypes = (_NUMBER, ctypes.POINTER(_Goals), _ROW, _WORD)
        self.c.rf_nearest.restype = _WORD
        self._question = _Question()

    def refine(self, number: int, above: GraphLibrary) -> None:
        """Begin to judge the mapping with this number into that machine."""
        names = ("rf_number", "rf_step", "rf_enabled", "rf_has", "rf_labels")
        pointers = [ctypes.cast(getattr(above.c, n), ctypes.c_void_p) for n in names]
        starts = above.counts()["starts"]
        self.c.rf_refine(number, ctypes.byref(_Above(*pointers, starts, above.conditions)))

    def map(self, seconds: float) -> int:
        """Map states and check steps for about so long."""
        return int(self.c.rf_map(seconds))

    def departed(self) -> tuple[int, int, int]:
        """What is wrong (0 nothing, 1 a start, 2 a step), the state, and the next state."""
        row = (_WORD * 3)()
        self.c.rf_departed(row)
        return row[0], row[1], row[2]

    def ask(self, automaton: Automaton, source: Source) -> bool:
        """Begin to look for a fair run that the automaton accepts; whether there was memory."""
        tables = _tables(automaton)
        tables["numbers"] = list(source.predicates)
        self._arrays = {name: _words(tables[name]) for name in _TABLES}  # C reads them later
        self._question = _Question(
            len(automaton.nodes),
            (1 << len(automaton.promises)) - 1,
            len(automaton.initial),
            _idle(automaton),
            source.kind,
            source.given,
            len(source.predicates),
            *(ctypes.cast(self._arrays[name], _ROW) for name in _TABLES),
        )
        return bool(self.c.rf_ask(ctypes.byref(self._question)))

    def answer(self, seconds: float) -> int:
        """Look for about so long."""
        return int(self.c.rf_answer(seconds))

    def answered(self) -> Answer:
        """What was found so far."""
        row = (_WORD * (6 + self.sets))()
        self.c.rf_answered(row)
        pairs, edges, standing, first, count, _, *ever = row
        standing, first = (-1 if at == NONE else at for at in (standing, first))
        return Answer(pairs, edges, standing, first, count, _bits(ever))

    def raised_at(self) -> int:
        """The state in which a predicate raised."""
        row = (_WORD * (6 + self.sets))()
        self.c.rf_answered(row)
        return int(row[5])

    def pair(self, number: int) -> tuple[int, int, int, int]:
        """Its state, node and parent, or NONE, and the conditions enabled."""
        row = (_WORD * (3 + self.sets))()
        self.c.rf_pair(number, row)
        return row[0], row[1], row[2], _bits(row[3:])

    def taken(self, label: int) -> int:
        """The conditions that a label stands for."""
        row = (_WORD * self.sets)()
        self.c.rf_label(label, row)
        return _bits(list(row))

    def nearest(
        self, start: int, most: int, at: int = -1, kept: int = 0, weak: int = 0, strong: int = 0
    ) -> list[tuple[int, int]]:
        """The shortest way, of at least one edge, to the pair `at`, or to where one of these
        promises is kept or conditions fulfilled: pairs, each with the label of the edge to it.

        most: the pairs of the fair set. Empty when there was no memory.
        """
        out = (_WORD * (2 * most + 4))()
        rows = (ctypes.cast(_row(bits, self.sets), _ROW) for bits in (weak, strong))
        goals = _Goals(at + 1, kept, *rows)
        length = self.c.rf_nearest(start, ctypes.byref(goals), out, most + 2)
        return [(out[2 * n], out[2 * n + 1]) for n in range(length)][::-1]


def _idle(automaton: Automaton) -> int:
    """A node that a run may begin at and stay at in any state, and that nothing else leads to."""
    for at in automaton.initial:
        node = automaton.nodes[at]
        before = [n for n in range(len(automaton.nodes)) if at in automaton.next(n)]
        if not node.must | node.must_not and before == [at]:
            return at
    return NONE


def _tables(automaton: Automaton) -> dict[str, list[int]]:
    """The automaton as rows of numbers; `capable` are nodes on cycles that keep all promises."""
    behind: list[tuple[int, ...]] = []
    while len(behind) < len(automaton.nodes):
        behind.append(automaton.next(len(behind)))
    every = (1 << len(automaton.promises)) - 1
    capable = [0] * len(behind)
    for group in components(range(len(behind)), lambda node: iter(behind[node])):
        kept = 0
        for node in group:
            kept |= automaton.nodes[node].kept
        for node in group:
            capable[node] = int(kept == every)
    offsets = [sum(map(len, behind[:at])) for at in range(len(behind) + 1)]
    return {
        "must": [node.must for node in automaton.nodes],
        "must_not": [node.must_not for node in automaton.nodes],
        "kept": [node.kept for node in automaton.nodes],
        "capable": capable,
        "stays": [int(at in nexts) for at, nexts in enumerate(behind)],
        "behind": offsets,
        "next": [node for nexts in behind for node in nexts],
        "initial": list(automaton.initial),
    }
