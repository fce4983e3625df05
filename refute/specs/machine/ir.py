"""The intermediate representation of a machine: what all engines take, and nothing else.

One IR, several meanings: the tree walk in `meaning` is its definition, `verifiers.model` compiles
it to Python, and C and Z3 follow the same nodes. Names, constants, Sorts, Enums, dataclasses and
helpers are resolved, types are on every expression, and the whole is plain data (`to_plain`).

Expressions are uniform nodes, `Expr(op, type, args, data)`:

    const       data: a packed value              read, next    data: a variable, before/after
    local       data: a name                      let           data: a name; value, body
    not and or if(test, a, b)                     + - * // % neg abs
    == != < <= > >= in                            | & ^ diff subset disjoint   on sets
    index(container, key)   slice(seq, lo, hi)    field         data: a name
    tuple seq setof         elements              make          record type is the node's type
    cat(seq, seq)  range(lo, hi, step)            toset toseq sorted   of anything iterable
    values items keys       of a map              dict          a map from key, value, key, …
    only      the value without the option None; TypeError there
    len min max sum         of one container      least most    of several arguments
    ordinal successor       of an OrderedSort     isa           data: types
    only                    the value, an error if it is of another type     fail   an error
    domain                  all values of the type that the node's SeqOf names
    fold      data: names of an element and of locals; source, first values, values after a round
    loop      data: names of locals; first values, values after a round: the last says if it goes on
    rec       data: a name and its parameters; arguments, body   again  data: that name; arguments
    all any set list total mapping                comprehensions over a chain:
       for  data: a name; source, chain    if  condition, chain    let  data: a name; value, chain
       item elements (two, key and value, for mapping)

Iteration over a set follows the canonical order of `values`. Anything Python would answer with an
exception is an error of the step here too. A step starts at a process's block or an action's body,
runs to a yield or the end, and is undone by a false `When` or an empty `Choose`.
"""

from __future__ import annotations

from typing import TypeAlias

from refute import plain
from refute.frozen import frozen
from refute.plain import Plain
from refute.specs.machine.types import Type, pack, register, unpack


@frozen
class Expr:
    """One expression node; see the table above."""

    op: str
    type: Type
    args: tuple[Expr, ...] = ()
    data: Plain = None


@frozen
class When:
    """The step goes on only if the condition holds."""

    condition: Expr
    line: int = 0


@frozen
class Choose:
    """One outcome for each element of the source."""

    name: str
    source: Expr
    type: Type
    line: int = 0


@frozen
class Assign:
    """A local gets a value."""

    name: str
    value: Expr
    line: int = 0


@frozen
class Write:
    """A variable, or the element of it that the path of keys names, gets a value.

    target is the type of the place written; a value outside it is an error of the step.
    """

    var: str
    path: tuple[Expr, ...]
    value: Expr
    target: Type
    line: int = 0


@frozen
class Check:
    """An `assert`: a false condition is an error of the step."""

    condition: Expr
    line: int = 0


@frozen
class If:
    """Two ways to go on."""

    condition: Expr
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]
    line: int = 0


@frozen
class For:
    """The body once for each element, in canonical order; no choice inside."""

    name: str
    source: Expr
    body: tuple[Stmt, ...]
    line: int = 0


@frozen
class While:
    """A loop of a process, with a yield. Only before lowering to blocks.

    bounded: it ends by itself; in any other every round passes a yield.
    """

    condition: Expr
    body: tuple[Stmt, ...]
    line: int = 0
    bounded: bool = False


@frozen
class Leave:
    """`break`, `continue`, `return` or `yield`, by its word; process yields are lowered away."""

    word: str
    line: int = 0


@frozen
class Meet:
    """One end of a rendezvous, until `meeting` has made one action of both ends.

    word: "send" (of a value) or "receive" (into a local); type: of the message.
    """

    var: str
    word: str
    keys: tuple[Expr, ...]
    value: Expr | None
    name: str
    type: Type
    line: int = 0


CRASH = "crash"  # the name of the action that a machine with crashes has more
UNIVERSAL = ("invariant", "transition", "observe")  # kinds that are claimed to hold always
STEP_KINDS = ("transition", "weak", "strong")  # kinds of a step: its second state is `after`


@frozen
class Die:
    """All processes end; in the action of a crash alone."""

    line: int = 0


Stmt: TypeAlias = When | Choose | Assign | Write | Check | If | For | While | Leave | Die | Meet


@frozen
class Jump:
    """On to a block in the same step."""

    target: int


@frozen
class Branch:
    """On to one of two blocks in the same step."""

    condition: Expr
    then: int
    orelse: int


@frozen
class Yield:
    """The step ends; the next one of this process starts at the target with these locals."""

    target: int
    live: tuple[str, ...]


@frozen
class Done:
    """The process returns."""


@frozen
class Block:
    """Straight code of a process and how it ends."""

    body: tuple[Stmt, ...]
    end: Jump | Branch | Yield | Done


@frozen
class Variable:
    """A state variable and the packed values it may start with.

    hidden: of the IR alone, such as the place of a process; a run of the class does not know it.
    start: where there are too many values to list, or any number of them, a predicate over `read`
    of the variable that is true of those; `initial` is empty. For the symbolic engine alone.
    """

    name: str
    type: Type
    initial: tuple[Plain, ...]
    line: int = 0
    hidden: bool = False
    start: Expr | None = None


@frozen
class Param:
    """A parameter: existential in actions, an identity in processes, universal in properties."""

    name: str
    type: Type


@frozen
class Action:
    """A step that any state may offer, once for every choice of its parameters.

    fair, fair_any: "", "weak" or "strong", for each choice by itself and for all together. place,
    lines: of a process that became an action, the variable with its place and the source line of
    each place. meets: of a rendezvous, the two movers and how many parameters belong to each.
    """

    name: str
    params: tuple[Param, ...]
    body: tuple[Stmt, ...]
    fair: str = ""
    line: int = 0
    fair_any: str = ""
    place: str = ""
    lines: tuple[int, ...] = ()
    meets: tuple[tuple[str, int], ...] = ()


@frozen
class Process:
    """One process for every value of its parameters; `locals` are kept across yields."""

    name: str
    params: tuple[Param, ...]
    blocks: tuple[Block, ...]
    entry: int
    locals: tuple[Param, ...] = ()
    fair: str = ""
    line: int = 0
    fair_any: str = ""


@frozen
class Property:
    """A predicate: "invariant", "reachable", "transition", "terminal", "initial", "constraint".

    "observe" is of the states right after a crash. "weak" and "strong" are of a step, as
    "transition" is: fairness of the steps it is true of. crash, keys: of an `@observe`, the action
    of the crash, and constants that say which part's. inductive: an invariant that is to be proved
    by induction; None of all others.
    """

    name: str
    kind: str
    params: tuple[Param, ...]
    predicate: Expr
    line: int = 0
    crash: str = ""
    keys: tuple[Expr, ...] = ()
    inductive: bool | None = None


@frozen
class LTL:
    """A temporal formula; see `formulas.Formula`. predicate: of a "holds" node."""

    op: str
    args: tuple[LTL, ...] = ()
    predicate: Expr | None = None


def atoms(formula: LTL) -> tuple[Expr, ...]:
    """The different predicates of a formula, in the order of the source."""
    found = [] if formula.predicate is None else [formula.predicate]
    found += [predicate for part in formula.args for predicate in atoms(part)]
    return tuple(dict.fromkeys(found))


@frozen
class Temporal:
    """A formula that every fair behaviour satisfies, for all values of its parameters."""

    name: str
    params: tuple[Param, ...]
    formula: LTL
    line: int = 0


@frozen
class Refinement:
    """Every behaviour is one of another machine.

    mapping: its variables that are not hidden, from this one's state. The other machine may have
    processes; where they are is not mapped, nor are hidden variables: some values of them will do.
    """

    name: str
    abstract: MachineIR
    mapping: tuple[Expr, ...]
    line: int = 0


@frozen
class MachineIR:
    """A machine with its constants resolved. constants: name → value, as given or defaulted; the
    size of a Sort may be `ANY`.

    crashes: the last action is `CRASH`, which a run of the class carries out itself.
    """

    name: str
    module: str
    file: str
    line: int
    doc: str
    constants: tuple[tuple[str, int | str], ...]
    variables: tuple[Variable, ...]
    actions: tuple[Action, ...]
    processes: tuple[Process, ...]
    properties: tuple[Property, ...]
    temporals: tuple[Temporal, ...] = ()
    refinements: tuple[Refinement, ...] = ()
    crashes: bool = False

    def of_kind(self, kind: str) -> tuple[Property, ...]:
        """The properties of one kind, in source order."""
        return tuple(p for p in self.properties if p.kind == kind)

    def to_plain(self) -> Plain:
        """The machine as plain data."""
        return pack(self)

    @classmethod
    def from_plain(cls, data: Plain) -> MachineIR:
        """The inverse of `to_plain`. Raises UnreadableInput."""
        made: MachineIR = unpack(data)
        return made

    def digest(self) -> str:
        """Hex digest of the whole machine."""
        return plain.digest(self.to_plain())


def visible(ir: MachineIR) -> tuple[Variable, ...]:
    """The variables that a user declared, in order."""
    return tuple(v for v in ir.variables if not v.hidden)


def hides(ir: MachineIR) -> bool:
    """Whether a state has more than its visible variables."""
    return bool(ir.processes) or len(visible(ir)) < len(ir.variables)


register(Expr, When, Choose, Assign, Write, Check, If, For, While, Leave, Jump, Branch, Yield)
register(Variable, later=1)
register(Property, later=1)
register(Done, Block, Param, Action, Process, MachineIR)
register(LTL, Temporal, Refinement, Die, Meet)
