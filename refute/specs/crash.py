"""What may be claimed of a system that keeps its state on a block device and must survive crashes.

The subject is a class written over the block-device interface: `format(device)` makes an empty
system, `mount(device)` recovers and returns an object whose methods are the operations. What it
should do is an executable model: a class with `apply(operation, args)` and `view()`, by default the
filesystem spec of `refute.specs.library.filesystem`. Nothing here knows how crashes are explored.
"""

from __future__ import annotations

import dataclasses
import errno
from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict, Unpack

from refute import plain
from refute.claim import Statement, check_reference
from refute.errors import IllegalClaim
from refute.plain import Plain

KIND = "crash-consistent"
PROPERTIES = {
    "atomicity": "after a crash and recovery the view is one the operations passed through,"
    " before or after the one in flight",
    "durability": "what a completed sync promised is there after a crash",
    "structure": "after a crash and recovery the structure on the device is consistent",
    "recovery": "recovery gives the same result again, in any process, also when it crashes itself",
    "errors": "an operation does its work or reports an OSError; then the view and the free space"
    " are as before, also when the device fails",
    "fsync": "after a failed device write or flush no later sync reports success for lost data",
    "behaviour": "without a crash every operation returns what the model returns",
}
DURABILITY = {
    "prefix": "operations are lost only from the end, and none before the last completed sync",
    "immediate": "an operation that returned is durable",
}
PERSISTENCE = {
    "block": "writes since the last flush persist in any subset, torn at 512 bytes",
    "dropped-flush": "as block, but flushes do nothing (a lying disk)",
}
REFUSALS = ("ENOSPC", "EFBIG", "EDQUOT", "EMLINK", "ENAMETOOLONG")


class Options(TypedDict, total=False):
    """The options of `CrashConsistent`; each is a field of `Configuration`, explained there."""

    model: str
    operations: Iterable[Sequence[Plain]]
    names: Sequence[str]
    sizes: Sequence[int]
    depth: int
    blocks: int
    block_size: int
    setups: Mapping[str, Iterable[Sequence[Plain]]]
    near_full: bool
    view: str
    structure: str
    durability: str
    syncs: Sequence[str]
    persistence: str
    subsets: int
    fault_depth: int
    samples: int
    sample_length: int
    refusals: Sequence[str]
    space: str


@dataclasses.dataclass(frozen=True)
class Configuration:
    """What is explored, for all properties alike.

    model: `"module:Class"`, spec code; empty for the POSIX filesystem. operations: the alphabet, as
    `(method, *arguments)`; when empty made from `names` and file `sizes` in blocks. view: the
    subject's method that returns its state as the model's `view()` does (a filesystem is walked
    instead). setups: name → operations done before exploring starts, besides "empty" (None: a small
    tree, for filesystems). near_full: also start on a device that is nearly full (None: for
    filesystems).

    depth: all sequences of so many operations are tried. subsets: of the flush epochs of up to so
    many writes, every subset is lost. fault_depth: sequences up to this depth get a fault at every
    device call of their last operation. samples: so many longer sequences are drawn by seed, of up
    to sample_length operations.

    structure: `"module:function"`, spec code, `f(image: bytes, block_size: int) -> list[str]`, the
    problems found. durability: a key of DURABILITY; syncs: the operations that promise it, for a
    path when they take one (one named unmount is followed by a mount). persistence: a key of
    PERSISTENCE. refusals: errno names with which the subject may refuse what the model allows.
    space: the method that reports free space, if any.

    Raises IllegalClaim for values that mean nothing.
    """

    model: str = ""
    operations: tuple[tuple[Plain, ...], ...] = ()
    names: tuple[str, ...] = ("a", "b")
    sizes: tuple[int, ...] = (1, 3)
    depth: int = 2
    blocks: int = 64
    block_size: int = 1024
    setups: Mapping[str, tuple[tuple[Plain, ...], ...]] | None = None
    near_full: bool | None = None
    view: str = "view"
    structure: str = ""
    durability: str = "prefix"
    syncs: tuple[str, ...] = ("sync", "fsync", "unmount")
    persistence: str = "block"
    subsets: int = 6
    fault_depth: int = 1
    samples: int = 50
    sample_length: int = 8
    refusals: tuple[str, ...] = REFUSALS
    space: str = "statfs"

    def __post_init__(self) -> None:
        _one_of("durability", self.durability, DURABILITY)
        _one_of("persistence", self.persistence, PERSISTENCE)
        for thing in ("depth", "blocks", "block_size", "sample_length"):
            _at_least(thing, getattr(self, thing), 1)
        for thing in ("subsets", "fault_depth", "samples"):
            _at_least(thing, getattr(self, thing), 0)
        for thing in ("model", "structure"):
            if getattr(self, thing):
                check_reference(getattr(self, thing), thing)
        if self.block_size % 512:
            raise IllegalClaim(f"block_size must be a multiple of 512, got {self.block_size}")
        for name in self.refusals:
            if not hasattr(errno, name):
                raise IllegalClaim(f"refusals: {name!r} is not the name of an errno")
        if self.model and not self.operations:
            raise IllegalClaim(
                f"the model {self.model!r} needs its operations",
                thing="operations",
                next_step='give operations=[("put", "a", b"1"), …]',
            )

    @classmethod
    def of(cls, statement: Statement) -> Configuration:
        """The configuration inside a statement that `CrashConsistent` made."""
        fields = {f.name for f in dataclasses.fields(cls)}
        return cls(**{k: v for k, v in statement.params.items() if k in fields})

    @property
    def filesystem(self) -> bool:
        """Whether the model is the POSIX filesystem."""
        return not self.model

    def to_params(self) -> dict[str, Plain]:
        """The configuration as plain data, the inverse of `of`."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}


def CrashConsistent(
    subject: str, property: str = "atomicity", **options: Unpack[Options]
) -> Statement:
    """The subject keeps `property`, a key of PROPERTIES, under crashes and faults of its device.

    Statements that differ only in the property are judged in one exploration. The options are the
    fields of `Configuration`. Raises IllegalClaim.
    """
    _one_of("property", property, PROPERTIES)
    configuration = Configuration(**_normal(options))
    if property == "structure" and configuration.model and not configuration.structure:
        raise IllegalClaim(
            "the property structure needs code that reads the image",
            thing="structure",
            next_step='give structure="module:function" with f(image, block_size) -> list[str]',
        )
    text = f"{subject}: {PROPERTIES[property]}"
    if property in ("atomicity", "durability"):
        text += f"; {DURABILITY[configuration.durability]}"
    return Statement(
        kind=KIND,
        text=text,
        subject=subject,
        params={"property": property, **configuration.to_params()},
        spec=tuple(r for r in (configuration.model, configuration.structure) if r),
    )


def _normal(options: Options) -> dict[str, Plain]:
    known = {f.name for f in dataclasses.fields(Configuration)}
    result: dict[str, Plain] = {}
    for name, value in options.items():
        _one_of("option", name, dict.fromkeys(known, ""))
        if name == "operations":
            result[name] = _operations(value, name)
        elif name == "setups" and isinstance(value, Mapping):
            result[name] = {k: _operations(v, f"setup {k!r}") for k, v in value.items()}
        elif name in ("names", "sizes", "syncs", "refusals"):
            result[name] = _several(name, value)
        else:
            result[name] = value
    return result


def _several(thing: str, values: Plain) -> tuple[Plain, ...]:
    if isinstance(values, str):
        raise IllegalClaim(f"{thing} must be several values, not one string", thing=thing)
    return tuple(values)


def _one_of(thing: str, value: str, possible: Mapping[str, str]) -> None:
    if value not in possible:
        raise IllegalClaim(
            f"{thing} {value!r} is not known", thing=thing, value=value, possible=tuple(possible)
        )


def _at_least(thing: str, value: Plain, least: int) -> None:
    if type(value) is not int or value < least:
        raise IllegalClaim(f"{thing} must be an int of at least {least}, got {value!r}")


def _operations(operations: Plain, thing: str) -> tuple[tuple[Plain, ...], ...]:
    result = tuple(tuple(operation) for operation in operations)
    for operation in result:
        if not operation or type(operation[0]) is not str or operation[0].startswith("_"):
            raise IllegalClaim(
                f"{thing}: {operation!r} is not (method, *arguments)",
                thing=thing,
                possible=('("put", "a", b"1")',),
            )
        plain.encode(operation)
    return result
