"""Boolean and integer terms that fold what is known as they are made.

A truth is Python's `True` or `False` where it is known and a term of Z3 otherwise, so that a
formula has nothing in it that its builder knew. Terms are made by the C functions of Z3's binding
directly: its Python layer checks and converts every argument, which costs more than the term.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any, TypeAlias

import z3

Bit: TypeAlias = Any  # bool | z3.BoolRef
Term: TypeAlias = Any  # z3.ExprRef

_CONTEXT = z3.main_ctx()
_REF = _CONTEXT.ref()
# What was negated, both ways, by address; the terms in it stay alive, so addresses stay theirs.
_NEGATED: dict[int, tuple[Term, Term]] = {}

# What conjunctions and disjunctions are put together of, by address, and these terms alive.
_CONJUNCTS: dict[int, frozenset[int]] = {}
_DISJUNCTS: dict[int, frozenset[int]] = {}
_ALIVE: list[Term] = []
_MOST_PARTS = 16  # of what is remembered
_MOST_REMEMBERED = 200_000  # terms; then all are forgotten, which costs no more than size


def _array(terms: list[Term]) -> Any:
    made = (z3.Ast * len(terms))()
    for at, term in enumerate(terms):
        made[at] = term.ast
    return made


def address(term: Term) -> int:
    """What tells terms apart: equal terms have one address, as long as they are alive."""
    found: int = ctypes.cast(term.ast, ctypes.c_void_p).value or 0
    return found


def not_(bit: Bit) -> Bit:
    """Negation."""
    if bit is True or bit is False:
        return not bit
    key = bit.ast.value
    known = _NEGATED.get(key)
    if known is None:
        made = z3.BoolRef(z3.Z3_mk_not(_REF, bit.ast), _CONTEXT)
        known = _NEGATED[key] = (bit, made)
        _NEGATED[made.ast.value] = (made, bit)
    return known[1]


def _joined(bits: Iterable[Bit], neutral: bool) -> Bit | list[Term]:
    """The terms that count, each once; a bool where it is known already."""
    kept: dict[int, Term] = {}
    for bit in bits:
        if bit is neutral:
            continue
        if bit is (not neutral):
            return bit
        key = bit.ast.value
        if key in kept:
            continue
        negated = _NEGATED.get(key)
        if negated is not None and negated[1].ast.value in kept:
            return not neutral
        kept[key] = bit
    return list(kept.values()) if kept else neutral


def _impossible(kept: list[Term]) -> bool:
    """Whether one term is the opposite of a disjunction and another implies that disjunction."""
    for term in kept:
        negated = _NEGATED.get(term.ast.value)
        some = None if negated is None else _DISJUNCTS.get(negated[1].ast.value)
        if some is None:
            continue
        for other in kept:
            key = other.ast.value
            if key in some or not some.isdisjoint(_CONJUNCTS.get(key, ())):
                return True
            if key in _DISJUNCTS and _DISJUNCTS[key] <= some:
                return True
    return False


def all_of(bits: Iterable[Bit]) -> Bit:
    """Conjunction."""
    found = _joined(bits, True)
    if type(found) is not list:
        return found
    if len(found) == 1:
        return found[0]
    if _impossible(found):
        return False
    made = z3.BoolRef(z3.Z3_mk_and(_REF, len(found), _array(found)), _CONTEXT)
    _note(made, found, _CONJUNCTS)
    return made


def any_of(bits: Iterable[Bit]) -> Bit:
    """Disjunction."""
    found = _joined(bits, False)
    if type(found) is not list:
        return found
    if len(found) == 1:
        return found[0]
    made = z3.BoolRef(z3.Z3_mk_or(_REF, len(found), _array(found)), _CONTEXT)
    _note(made, found, _DISJUNCTS)
    return made


def _note(made: Term, parts: list[Term], known: dict[int, frozenset[int]]) -> None:
    """Remember what a term is put together of, through terms of its own kind."""
    key = made.ast.value
    if key not in known:
        own = [part.ast.value for part in parts]
        inner = [known[at] for at in own if at in known]
        found = frozenset(own).union(*inner)
        found = found if len(found) <= _MOST_PARTS else frozenset(own)
        if len(found) <= _MOST_PARTS:
            known[key] = found
            _ALIVE.append(made)
    if len(_ALIVE) > _MOST_REMEMBERED or len(_NEGATED) > 4 * _MOST_REMEMBERED:
        for memory in (_CONJUNCTS, _DISJUNCTS, _NEGATED, _ALIVE):
            memory.clear()


def and_(*bits: Bit) -> Bit:
    """Conjunction."""
    return all_of(bits)


def or_(*bits: Bit) -> Bit:
    """Disjunction."""
    return any_of(bits)


def implies(left: Bit, right: Bit) -> Bit:
    """Implication."""
    return or_(not_(left), right)


def iff(left: Bit, right: Bit) -> Bit:
    """Equality of two truths."""
    if left is True or left is False:
        return right if left else not_(right)
    if right is True or right is False:
        return left if right else not_(left)
    if left.ast.value == right.ast.value:
        return True
    return z3.BoolRef(z3.Z3_mk_eq(_REF, left.ast, right.ast), _CONTEXT)


def either(test: Bit, then: Bit, orelse: Bit) -> Bit:
    """One of two truths."""
    if test is True or test is False:
        return then if test else orelse
    if then is orelse:
        return then
    if then is True:
        return or_(test, orelse)
    if then is False:
        return and_(not_(test), orelse)
    if orelse is True:
        return or_(not_(test), then)
    if orelse is False:
        return and_(test, then)
    if then.ast.value == orelse.ast.value:
        return then
    return z3.BoolRef(z3.Z3_mk_ite(_REF, test.ast, then.ast, orelse.ast), _CONTEXT)


def term_of(bit: Bit) -> Term:
    """A truth as a term, also where it is known."""
    return z3.BoolVal(bit) if bit is True or bit is False else bit


def number_of(value: Term) -> Term:
    """An integer as a term, also where it is known."""
    return z3.IntVal(int(value)) if isinstance(value, int) else value


def chosen(pairs: list[tuple[Bit, Term]]) -> Term:
    """One of several terms of a sort; the last where no other's condition holds."""
    made = pairs[-1][1]
    for test, term in reversed(pairs[:-1]):
        if test is True:
            made = term
        elif test is not False and term.ast.value != made.ast.value:
            made = z3.If(test, term, made)
    return made


def equals(left: Term, right: Term) -> Bit:
    """Equality of two terms of one sort."""
    if left.ast.value == right.ast.value:
        return True
    return z3.BoolRef(z3.Z3_mk_eq(_REF, left.ast, right.ast), _CONTEXT)
