"""`frozen` against `dataclasses.dataclass(frozen=True)`: the same class but for how it is made."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from refute.frozen import frozen


def made(decorate: Callable[[type], Any]) -> dict[str, Any]:
    @decorate
    class Point:
        """A place."""

        x: int
        y: int = 2
        tags: list[str] = dataclasses.field(default_factory=list)

        def total(self) -> int:
            return self.x + self.y

    @decorate
    class Named(Point):
        """A place with a name."""

        name: str = "a"

        def __repr__(self) -> str:
            return "own"

    @decorate
    class Checked:
        """Positive."""

        size: int

        def __post_init__(self) -> None:
            if self.size < 1:
                raise ValueError("too small")

    @decorate
    class Empty:
        """Nothing."""

    return {"Point": Point, "Named": Named, "Checked": Checked, "Empty": Empty}


OURS, THEIRS = made(frozen), made(dataclasses.dataclass(frozen=True))
DID: dict[str, Callable[[dict[str, Any]], object]] = {
    "positional": lambda c: c["Point"](1, 3, ["t"]),
    "defaults": lambda c: c["Point"](1),
    "keywords": lambda c: c["Point"](y=5, x=1),
    "mixed": lambda c: c["Point"](1, tags=[]),
    "too many": lambda c: c["Point"](1, 2, [], 4),
    "missing": lambda c: c["Point"](y=1),
    "unknown": lambda c: c["Point"](1, z=1),
    "twice": lambda c: c["Point"](1, x=1),
    "fields": lambda c: [(f.name, f.type) for f in dataclasses.fields(c["Named"])],
    "is dataclass": lambda c: dataclasses.is_dataclass(c["Empty"]),
    "inherited": lambda c: c["Named"](1, 2, [], "b").total(),
    "own repr": lambda c: c["Named"](1),
    "match args": lambda c: (c["Point"].__match_args__, c["Named"].__match_args__),
    "replace": lambda c: dataclasses.replace(c["Point"](1), y=9),
    "as dict": lambda c: dataclasses.asdict(c["Point"](1)),
    "post init": lambda c: c["Checked"](0),
    "equal": lambda c: (c["Checked"](1) == c["Checked"](1), c["Checked"](1) == c["Checked"](2)),
    "other class": lambda c: c["Point"](1) == c["Named"](1),
    "other value": lambda c: (c["Checked"](1) == 1, c["Checked"](1) == (1,)),
    "hash": lambda c: hash(c["Checked"](1)) == hash(c["Checked"](1)) == hash((1,)),
    "hash of a list": lambda c: hash(c["Point"](1)),
    "empty": lambda c: (c["Empty"](), c["Empty"]() == c["Empty"](), hash(c["Empty"]())),
    "assign": lambda c: setattr(c["Point"](1), "x", 2),
    "assign new": lambda c: setattr(c["Point"](1), "z", 2),
    "delete": lambda c: delattr(c["Point"](1), "x"),
    "copy": lambda c: copy.copy(c["Point"](1)),
    "deep copy": lambda c: copy.deepcopy(c["Named"](1, tags=["t"])).tags,
    "class default": lambda c: (c["Point"].y, hasattr(c["Point"], "x"), c["Point"].__doc__),
    "names": lambda c: (c["Point"].__init__.__name__, c["Point"].__eq__.__name__),
}


@pytest.mark.parametrize("what", DID)
def test_it_is_as_the_original(what: str) -> None:
    seen = []
    for classes in (OURS, THEIRS):
        try:
            seen.append(repr(DID[what](classes)))
        except Exception as error:
            seen.append(type(error).__name__)
    assert seen[0] == seen[1]


def test_a_default_factory_is_asked_each_time() -> None:
    assert OURS["Point"](1).tags is not OURS["Point"](1).tags


@frozen
class Kept:
    """At the top of a module, where pickle finds it."""

    x: int


def test_it_is_pickled() -> None:
    assert pickle.loads(pickle.dumps(Kept(3))) == Kept(3)
