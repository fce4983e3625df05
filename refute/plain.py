"""Plain data: the only values that cross from a worker to the parent.

A subject may return an object whose `__eq__` always says yes, an int subclass that lies, or a NaN.
So values are rebuilt from a closed set of exact types on the way out, and everything else arrives
as `Opaque`, which equals nothing. JSON is the carrier because parsing hostile JSON cannot run code
(unlike pickle) nor crash the interpreter (unlike marshal).
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import hashlib
import json
import math
from collections.abc import Sequence
from typing import Any

from refute.errors import NotPlainData
from refute.frozen import frozen

# Any: a recursive union over containers of itself; `encode` checks it at run time.
Plain = Any

MAX_DEPTH = 200
MAX_COLLISIONS = 1_000


@frozen
class Record:
    """A dataclass instance, named tuple or enum member, by the name of its type."""

    type_name: str
    fields: tuple[tuple[str, Plain], ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Opaque:
    """A value that is not plain data. It equals nothing, not even itself, under `same`."""

    type_name: str


def encode(value: Plain, *, opaque: bool = False, blobs: list[bytes] | None = None) -> Any:
    """`value` as JSON-able data; exact builtin types only, subclasses are not what they seem.

    Raises NotPlainData for anything else, unless `opaque`, which stands an `Opaque` in its place.
    With `blobs`, bytes are appended to that list and stand as their place in it, so that a carrier
    can send them raw; `decode` takes the same list.
    """
    return _Encoder(opaque, blobs).encode(value, 0)


def type_name(value: object) -> str:
    """The full name of the value's type."""
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


class _Encoder:
    """canonical: dicts are sorted, so that equal ones encode alike; else they keep their order."""

    def __init__(
        self, opaque: bool, blobs: list[bytes] | None = None, *, canonical: bool = False
    ) -> None:
        self.opaque = opaque
        self.canonical = canonical
        self.blobs = blobs
        self.met_opaque = False

    def encode(self, value: Plain, depth: int) -> Any:
        if depth > MAX_DEPTH:
            return self.refuse(value, f"nested deeper than {MAX_DEPTH}")
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if -(2**53) < value < 2**53 else {"!int": hex(value)}
        if kind is float:
            return value if math.isfinite(value) else {"!float": repr(value)}
        if kind is list:
            return self.row(value, depth + 1)
        if kind is bytes:
            if self.blobs is not None:
                self.blobs.append(value)
                return {"!blob": len(self.blobs) - 1}
            return {"!bytes": base64.b64encode(value).decode("ascii")}
        return self.tagged(value, depth + 1)

    def row(self, values: Sequence[Plain], depth: int) -> list[Any]:
        if depth > MAX_DEPTH:
            return [self.encode(v, depth) for v in values]
        # Most parts of large values are these; a call for each takes most of the time.
        return [v if type(v) is str or v is None else self.encode(v, depth) for v in values]

    def tagged(self, value: Plain, depth: int) -> Any:
        kind = type(value)
        if kind is tuple:
            return {"!tuple": self.row(value, depth)}
        if kind is dict:
            if all(type(k) is str and not k.startswith("!") for k in value):
                return {k: self.encode(v, depth) for k, v in value.items()}
            pairs = [[self.inline(k, depth), self.inline(v, depth)] for k, v in value.items()]
            return {"!dict": sorted(pairs, key=_sort_key) if self.canonical else pairs}
        if kind is set or kind is frozenset:
            items = sorted((self.inline(v, depth) for v in value), key=_sort_key)
            return {"!set" if kind is set else "!frozenset": items}
        if kind is bytearray:
            return {"!bytearray": base64.b64encode(value).decode("ascii")}
        if kind is complex:
            return {"!complex": [self.encode(value.real, depth), self.encode(value.imag, depth)]}
        if kind is Record:
            fields = [[k, self.encode(v, depth)] for k, v in value.fields]
            return {"!record": value.type_name, "fields": fields}
        if kind is Opaque:
            self.met_opaque = True
            return {"!opaque": value.type_name}
        return self.record(value, depth)

    def inline(self, value: Plain, depth: int) -> Any:
        """`value` without blobs, whose numbering would spoil the sorted order of a set."""
        blobs, self.blobs = self.blobs, None
        try:
            return self.encode(value, depth)
        finally:
            self.blobs = blobs

    def record(self, value: Plain, depth: int) -> Any:
        try:
            fields = _fields(value)
        except Exception:  # a hostile object's own attributes may raise anything
            return self.refuse(value, "its attributes cannot be read")
        if fields is None:
            return self.refuse(value, "")
        return {
            "!record": type_name(value),
            "fields": [[k, self.encode(v, depth)] for k, v in fields],
        }

    def refuse(self, value: Plain, why: str) -> Any:
        name = type_name(value)
        if self.opaque:
            self.met_opaque = True
            return {"!opaque": name}
        raise NotPlainData(
            f"a value of type {name} is not plain data" + (f": {why}" if why else ""),
            thing="value",
            value=name,
            possible=("None", "bool", "int", "float", "str", "bytes", "list", "tuple", "dict"),
            next_step="return builtin values, dataclasses, named tuples or enum members",
        )


def _fields(value: Plain) -> list[tuple[str, Plain]] | None:
    kind = type(value)
    if isinstance(value, enum.Enum):
        return [("name", str(object.__getattribute__(value, "_name_")))]
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return [(str(n), v) for n, v in zip(kind._fields, tuple.__iter__(value), strict=True)]
    if dataclasses.is_dataclass(kind):
        names = [f.name for f in dataclasses.fields(kind)]
        return [(n, object.__getattribute__(value, n)) for n in names]
    return None


def _sort_key(item: Any) -> str:
    return json.dumps(item, sort_keys=True)


def decode(data: Any, blobs: Sequence[bytes] = ()) -> Plain:
    """The value that `encode` wrote. Raises NotPlainData for data it never writes."""
    try:
        return _decode(data, blobs)
    except RecursionError as error:
        raise NotPlainData("encoded plain data is nested too deeply") from error


_ATOMS = frozenset((type(None), bool, int, float, str))


def _decode(data: Any, blobs: Sequence[bytes]) -> Plain:
    kind = type(data)
    if kind in _ATOMS:
        return data
    if kind is list:
        return [v if type(v) in _ATOMS else _decode(v, blobs) for v in data]
    if kind is not dict:
        raise NotPlainData(f"{kind.__name__} is not encoded plain data")
    tags = [k for k in data if k.startswith("!")]
    if not tags:
        return {k: _decode(v, blobs) for k, v in data.items()}
    try:
        return _decode_tagged(tags[0], data[tags[0]], data, blobs)
    except (NotPlainData, RecursionError):
        raise
    except Exception as error:
        raise NotPlainData(f"malformed {tags[0]} value: {error}") from error


def _decode_tagged(tag: str, body: Any, data: dict[str, Any], blobs: Sequence[bytes]) -> Plain:
    match tag:
        case "!blob":
            return blobs[_natural(body)]
        case "!int":
            return int(body, 16)
        case "!float":
            return float(body)
        case "!bytes":
            return base64.b64decode(body, validate=True)
        case "!bytearray":
            return bytearray(base64.b64decode(body, validate=True))
        case "!tuple":
            return tuple([v if type(v) in _ATOMS else _decode(v, blobs) for v in body])
        case "!dict":
            keys = _spread([_decode(k, blobs) for k, _ in body])
            return dict(zip(keys, (_decode(v, blobs) for _, v in body), strict=True))
        case "!set":
            return set(_spread([_decode(v, blobs) for v in body]))
        case "!frozenset":
            return frozenset(_spread([_decode(v, blobs) for v in body]))
        case "!complex":
            return complex(_decode(body[0], blobs), _decode(body[1], blobs))
        case "!record":
            return Record(str(body), tuple((str(k), _decode(v, blobs)) for k, v in data["fields"]))
        case "!opaque":
            return Opaque(str(body))
    raise NotPlainData(f"unknown tag {tag} in encoded plain data")


def _spread(keys: list[Plain]) -> list[Plain]:
    """`keys`, unless so many hash alike that a table of them would take hours to build."""
    if len(keys) > MAX_COLLISIONS and len({hash(k) for k in keys}) < len(keys) // 2:
        raise NotPlainData(f"{len(keys)} keys that hash alike")
    return keys


def _natural(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise NotPlainData(f"{number!r} is not the place of a blob")
    return number


def dumps(value: Plain, *, canonical: bool = True) -> str:
    """`value` as one line of JSON text. Canonical: equal values give equal text.

    Otherwise dicts keep their order, which a subject may see.
    """
    data = _Encoder(opaque=False, canonical=canonical).encode(value, 0)
    return json.dumps(data, sort_keys=canonical, separators=(",", ":"), allow_nan=False)


def loads(text: str | bytes) -> Plain:
    """The inverse of `dumps`. Raises NotPlainData on anything else."""
    try:
        return decode(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise NotPlainData(f"not encoded plain data: {error}") from error


def digest(value: Plain) -> str:
    """Hex SHA-256 of the canonical text of `value`."""
    return hashlib.sha256(dumps(value).encode()).hexdigest()


def digest_any(value: Plain) -> str:
    """As `digest`, with `Opaque` in place of what is not plain data."""
    data = _Encoder(opaque=True, canonical=True).encode(value, 0)
    text = json.dumps(data, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def same(left: Plain, right: Plain) -> bool:
    """Equality that a subject cannot influence: exact types, NaN equals NaN, -0.0 is not 0.0."""
    encoder = _Encoder(opaque=True, canonical=True)
    texts = [json.dumps(encoder.encode(v, 0), sort_keys=True) for v in (left, right)]
    return texts[0] == texts[1] and not encoder.met_opaque
