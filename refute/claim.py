"""Claims: statements about a subject that could be false, and the evidence they need.

A claim is plain data. It names its subject and the code that judges it as `"module:qualname"`
strings, so that it can be read out of a `claims.py` in a worker, sent to the parent, and compared
between two revisions without anything of the judged tree running in the parent.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
from collections.abc import Iterable, Mapping

from refute import plain
from refute.errors import IllegalClaim
from refute.frozen import frozen
from refute.plain import Plain


class Verdict(enum.Enum):
    """The grade of a piece of evidence; see docs/verdicts.md. Calling a grade makes a Need."""

    PROVED = "PROVED"
    EXHAUSTED = "EXHAUSTED"
    SURVIVED = "SURVIVED"
    UNKNOWN = "UNKNOWN"
    REFUTED = "REFUTED"

    def __call__(
        self,
        *,
        cases: int = 1,
        max_discard_rate: float = 0.9,
        allow: Iterable[str] | None = None,
        **bounds: Plain,
    ) -> Need:
        """The need for evidence of this grade or better, within these bounds."""
        return Need(
            grade=self,
            bounds=tuple(sorted(bounds.items())),
            cases=cases,
            max_discard_rate=max_discard_rate,
            allow=None if allow is None else tuple(allow),
        )

    @property
    def strength(self) -> int:
        """How much the grade establishes: PROVED 3, EXHAUSTED 2, SURVIVED 1, the others 0."""
        return _STRENGTH.get(self.value, 0)


_STRENGTH = {"PROVED": 3, "EXHAUSTED": 2, "SURVIVED": 1}


@frozen
class Need:
    """What evidence must reach: grade and bounds, cases, discard rate, allowed assumptions.

    bounds: names and values that the evidence's scope must include, e.g. RM=3 or depth=2.
    cases: the least number of cases tried (for SURVIVED). max_discard_rate: discarded / generated.
    allow: the assumptions the evidence may rest on; None allows any that are listed.
    """

    grade: Verdict = Verdict.SURVIVED
    bounds: tuple[tuple[str, Plain], ...] = ()
    cases: int = 1
    max_discard_rate: float = 0.9
    allow: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.grade.strength == 0:
            raise IllegalClaim(
                f"a claim cannot need {self.grade.value}",
                thing="need",
                value=self.grade.value,
                possible=tuple(_STRENGTH),
                next_step="need one of the establishing grades",
            )
        if type(self.cases) is not int or self.cases < 1:
            raise IllegalClaim(f"a need's cases must be an int of at least 1, got {self.cases!r}")
        if not 0 <= self.max_discard_rate <= 1:
            raise IllegalClaim(f"a discard rate lies in 0..1, got {self.max_discard_rate!r}")

    def to_json(self) -> dict[str, object]:
        """The need as JSON data."""
        return {
            "grade": self.grade.value,
            "bounds": {k: plain.encode(v) for k, v in self.bounds},
            "cases": self.cases,
            "max_discard_rate": self.max_discard_rate,
            "allow": None if self.allow is None else list(self.allow),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Need:
        """The inverse of `to_json`."""
        raw: Plain = data
        return cls(
            grade=Verdict(raw["grade"]),
            bounds=tuple(sorted((k, plain.decode(v)) for k, v in raw["bounds"].items())),
            cases=raw["cases"],
            max_discard_rate=raw["max_discard_rate"],
            allow=None if raw["allow"] is None else tuple(raw["allow"]),
        )

    def __str__(self) -> str:
        inside = [f"{k}={v}" for k, v in self.bounds]
        if self.cases > 1:
            inside.append(f"cases={self.cases}")
        return f"{self.grade.value}({', '.join(inside)})"


@frozen
class Where:
    """file: path relative to the tree, line: from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


REFERENCE = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*\Z")


def is_command(subject: str) -> bool:
    """Whether the subject is a command that speaks JSON lines, not a Python object."""
    return subject.startswith("cmd:")


def check_reference(reference: str, thing: str) -> str:
    """`reference` if it reads `module:qualname` or `cmd:…`. Raises IllegalClaim otherwise."""
    if type(reference) is str and (REFERENCE.match(reference) or is_command(reference)):
        return reference
    raise IllegalClaim(
        f"{thing} {reference!r} names nothing",
        thing=thing,
        value=reference,
        possible=('"module:qualname"', '"cmd:program argument …"'),
        next_step="name the object as a string; the parent never imports it",
    )


@frozen
class Statement:
    """What a claim says, as plain data that an engine of its kind understands.

    kind: names the family ("holds", "agrees-with", "crash-consistent", "machine", …).
    text: the sentence a person reads. subject: the code judged. params: everything else.
    spec: references to the code that judges, taken from the base revision.
    existential: a replayed witness establishes it and a complete search without one refutes it.
    """

    kind: str
    text: str
    subject: str
    params: Mapping[str, Plain] = dataclasses.field(default_factory=dict)
    spec: tuple[str, ...] = ()
    existential: bool = False

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9-]*", self.kind):
            raise IllegalClaim(f"statement kind {self.kind!r} is not a lower-case name")
        check_reference(self.subject, "subject")
        for reference in self.spec:
            check_reference(reference, "spec")
        plain.encode(dict(self.params))

    @property
    def judged(self) -> tuple[str, ...]:
        """References to all judged code: the subject, then those that `params["subjects"]` adds."""
        named = self.params.get("subjects", ())
        return tuple(dict.fromkeys((self.subject, *(reference for _, reference in named))))

    @property
    def spec_files(self) -> tuple[str, ...]:
        """Globs of the files that judge without being code: what `params["spec_files"]` names."""
        return tuple(self.params.get("spec_files", ()))

    def to_json(self) -> dict[str, object]:
        """The statement as JSON data."""
        return {
            "kind": self.kind,
            "text": self.text,
            "subject": self.subject,
            "params": plain.encode(dict(self.params)),
            "spec": list(self.spec),
            "existential": self.existential,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Statement:
        """The inverse of `to_json`."""
        raw: Plain = data
        return cls(
            kind=raw["kind"],
            text=raw["text"],
            subject=raw["subject"],
            params=plain.decode(raw["params"]),
            spec=tuple(raw["spec"]),
            existential=bool(raw["existential"]),
        )


@frozen
class Claim:
    """A named statement with what it covers, what it needs and what must refute it.

    covers: globs over paths of the tree, selecting the code it is about. controls: known-wrong
    variants that the claim must refute, as paths of patches (`changes/x.patch`) in the tree.
    """

    name: str
    statement: Statement
    where: Where
    covers: tuple[str, ...] = ()
    need: Need = Need()
    controls: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.name or self.name != self.name.strip() or "\n" in self.name:
            raise IllegalClaim(
                f"a claim's name must be one non-empty line, got {self.name!r}", thing="claim.name"
            )

    @property
    def subject(self) -> str:
        """The code judged, as `module:qualname` or `cmd:…`."""
        return self.statement.subject

    def to_json(self) -> dict[str, object]:
        """The claim as JSON data."""
        return {
            "name": self.name,
            "statement": self.statement.to_json(),
            "where": {"file": self.where.file, "line": self.where.line},
            "covers": list(self.covers),
            "need": self.need.to_json(),
            "controls": list(self.controls),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Claim:
        """The inverse of `to_json`. Raises IllegalClaim when it is not a claim's data."""
        raw: Plain = data
        try:
            return cls(
                name=raw["name"],
                statement=Statement.from_json(raw["statement"]),
                where=Where(raw["where"]["file"], raw["where"]["line"]),
                covers=tuple(raw["covers"]),
                need=Need.from_json(raw["need"]),
                controls=tuple(raw["controls"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise IllegalClaim(f"not the data of a claim: {error!r}", thing="claim") from error

    def digest(self) -> str:
        """Hex digest of everything but the place: a moved claim is the same claim."""
        data = {k: v for k, v in self.to_json().items() if k != "where"}
        return plain.digest(data)


_collected: list[Claim] | None = None


def claim(
    name: str,
    statement: Statement,
    *,
    covers: Iterable[str] = (),
    need: Need | None = None,
    controls: Iterable[str] = (),
) -> Claim:
    """State a claim in a `claims.py`; returns it. Raises IllegalClaim for a meaningless one."""
    if not isinstance(statement, Statement):
        raise IllegalClaim(
            f"claim {name!r} needs a Statement, got {plain.type_name(statement)}",
            thing=f"claim {name!r}",
            next_step="use Holds(…), AgreesWith(…), CrashConsistent(…) or Satisfies(…)",
        )
    caller = inspect.stack(context=0)[1]
    made = Claim(
        name=name,
        statement=statement,
        where=Where(caller.filename, caller.lineno),
        covers=_strings(covers, f"covers of claim {name!r}"),
        need=need if need is not None else Need(),
        controls=_strings(controls, f"controls of claim {name!r}"),
    )
    if _collected is not None:
        _collected.append(made)
    return made


def _strings(values: Iterable[str], thing: str) -> tuple[str, ...]:
    if isinstance(values, str):
        raise IllegalClaim(f"{thing} must be a list of strings, not one string", thing=thing)
    result = tuple(values)
    if not all(type(v) is str for v in result):
        raise IllegalClaim(f"{thing} must be strings, got {result!r}", thing=thing)
    return result


class collecting:
    """Context in which every `claim(…)` call is also appended to the list it yields."""

    def __enter__(self) -> list[Claim]:
        global _collected
        self._before = _collected
        _collected = []
        return _collected

    def __exit__(self, *_: object) -> None:
        global _collected
        _collected = self._before
