"""Statements about functions: a property that holds for all inputs, or agreement with a reference.

    claim("decode undoes encode",
          Holds("codec:encode", prop="claims:round_trip", given={"x": Bytes(max=64)},
                subjects={"decode": "codec:decode"}))

    def round_trip(x, encode, decode):        # in claims.py, which the base revision owns
        return decode(encode(x)) == x

The property runs where the specs are and never in one process with the subject. Its parameters are
the given inputs and the subjects by name; a subject is a function that is answered by the worker it
lives in. An exception of the subject arrives as `SubjectRaised`, which is also an instance of the
exception's own type where that comes from the standard library, so `except ValueError` works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from refute.claim import Statement, check_reference, is_command
from refute.errors import IllegalClaim
from refute.plain import Plain
from refute.specs.answers import SubjectRaised
from refute.specs.domains import Domain, Records, from_plain, inputs

__all__ = ["Equals", "Holds", "SubjectRaised", "given_of"]

KIND = "holds"


def Holds(
    subject: str,
    prop: str,
    given: Mapping[str, Domain],
    subjects: Mapping[str, str] | None = None,
    assume: str | None = None,
    name: str = "",
) -> Statement:
    """`prop` returns True for every combination of the given inputs.

    subject: the code judged. prop: `module:function` in the specs; its parameters are names of
    `given` and of subjects; it returns True or False, or raises AssertionError. subjects: further
    judged functions by name. assume: a function of some of the inputs; a case for which it returns
    False is discarded. name: the subject's name in the property; by default the last part of its
    reference. For a command, the names are those of the functions that are called over its
    protocol, and all subjects must be the same command.
    """
    named = _named(subject, subjects or {}, name)
    domain = _given(given, named)
    return Statement(
        kind=KIND,
        text=f"{_short(prop)} holds for {subject}{_for_all(domain)}{_where(assume)}",
        subject=subject,
        params={
            "form": "property",
            "prop": prop,
            "given": [[k, d.to_plain()] for k, d in domain.of.items()],
            "subjects": [[k, r] for k, r in named.items()],
            "assume": assume,
        },
        spec=(check_reference(prop, "prop"), *_assumed(assume)),
    )


def Equals(
    subject: str,
    reference: str,
    given: Mapping[str, Domain],
    assume: str | None = None,
    name: str = "",
) -> Statement:
    """The subject does what the reference does: the same value, or an exception of the same type.

    Both are called with the inputs by position, in the order given. Values are compared exactly:
    types too, NaN equal to NaN, 0.0 unlike -0.0.
    """
    named = _named(subject, {}, name)
    domain = _given(given, named)
    return Statement(
        kind=KIND,
        text=f"{subject} equals {reference}{_for_all(domain)}{_where(assume)}",
        subject=subject,
        params={
            "form": "equals",
            "reference": reference,
            "given": [[k, d.to_plain()] for k, d in domain.of.items()],
            "subjects": [[k, r] for k, r in named.items()],
            "assume": assume,
        },
        spec=(check_reference(reference, "reference"), *_assumed(assume)),
    )


def given_of(statement: Statement) -> Records:
    """The inputs that a statement ranges over, as one domain of dicts. Raises IllegalClaim."""
    given: Sequence[tuple[str, Plain]] = statement.params.get("given", ())
    return inputs({k: from_plain(d) for k, d in given}, statement.text)


def _named(subject: str, others: Mapping[str, str], name: str) -> dict[str, str]:
    check_reference(subject, "subject")
    last = "subject" if is_command(subject) else subject.rpartition(":")[2].rpartition(".")[2]
    named = {name or last: subject}
    for other, reference in others.items():
        check_reference(reference, f"subject {other!r}")
        if named.setdefault(other, reference) != reference or not other.isidentifier():
            _refuse(f"the name {other!r} does not fit a subject", other, "use another name")
        mixed = is_command(reference) or is_command(subject)
        if mixed and reference != subject:
            _refuse(
                "subjects must be Python functions of one tree, or all the same command",
                reference,
                "state one claim for each",
            )
    return named


def _given(given: Mapping[str, Domain], named: Mapping[str, str]) -> Records:
    both = sorted({*named, "subject"} & set(given))
    if both:
        _refuse(f"{both[0]!r} names an input and a subject", both[0], "rename the input")
    return inputs(given, "given")


def _assumed(assume: str | None) -> tuple[str, ...]:
    return () if assume is None else (check_reference(assume, "assume"),)


def _for_all(domain: Records) -> str:
    shown = ", ".join(f"{k} in {d}" for k, d in domain.of.items())
    return f" for all {shown}" if shown else ""


def _where(assume: str | None) -> str:
    return f" where {_short(assume)}" if assume else ""


def _short(reference: str) -> str:
    return reference.rpartition(":")[2]


def _refuse(message: str, value: str, next_step: str) -> None:
    raise IllegalClaim(message, thing="statement", value=value, next_step=next_step)
