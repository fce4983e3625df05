"""The wire between parent and worker: frames of a JSON header and raw blobs.

A frame is two 32-bit lengths (header, number of blobs), the length of each blob, the header and
the blobs. JSON because parsing hostile JSON runs no code; blobs because images of disks go through
here thousands of times a second and base64 would cost more than the calls. Lengths are checked
before anything is kept, so a worker cannot make the parent hold more than `MAX_FRAME`.

The encoder and decoder are made when this module is loaded, before any code of the tree runs.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any, NoReturn

MAX_HEADER = 8 * 2**20
MAX_BLOBS = 2**16
MAX_FRAME = 64 * 2**20

_LENGTHS = struct.Struct(">II")


class WireError(Exception):
    """What came over the wire is not a frame."""


def _refuse(constant: str) -> NoReturn:
    raise WireError(f"{constant} in a header")


_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False).encode
_decode = json.JSONDecoder(parse_constant=_refuse).decode
_pack_lengths = _LENGTHS.pack
_unpack_lengths = _LENGTHS.unpack_from
_struct = struct.Struct


def pack(header: Any, blobs: Sequence[bytes] = ()) -> bytes:
    """One frame of `header` (JSON data) and `blobs`. Raises WireError when it is over a cap."""
    text = _encode(header).encode("ascii")
    size = len(text) + sum(map(len, blobs))
    if len(text) > MAX_HEADER or len(blobs) > MAX_BLOBS or size > MAX_FRAME - 8 - 4 * MAX_BLOBS:
        raise WireError(f"{size} bytes in {len(blobs)} blobs and a header are over the cap")
    lengths = _struct(f">{len(blobs)}I").pack(*map(len, blobs))
    return b"".join([_pack_lengths(len(text), len(blobs)), lengths, text, *blobs])


class Frames:
    """Cuts a stream of bytes into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Bytes as they arrived."""
        self._buffer += data

    @property
    def pending(self) -> bool:
        """Whether bytes are left that no frame has taken."""
        return bool(self._buffer)

    def take(self) -> tuple[dict[str, Any], list[bytes]] | None:
        """The next header and its blobs, or None until all of it has come. Raises WireError."""
        buffer = self._buffer
        if len(buffer) < _LENGTHS.size:
            return None
        header, count = _unpack_lengths(buffer)
        if header > MAX_HEADER or count > MAX_BLOBS:
            raise WireError(f"a header of {header} bytes with {count} blobs is over the cap")
        start = _LENGTHS.size + 4 * count
        if len(buffer) < start:
            return None
        sizes = _struct(f">{count}I").unpack_from(buffer, _LENGTHS.size)
        total = start + header + sum(sizes)
        if total > MAX_FRAME:
            raise WireError(f"a frame of {total} bytes is over the cap of {MAX_FRAME}")
        if len(buffer) < total:
            return None
        parsed = _parse(bytes(buffer[start : start + header]))
        blobs, at = [], start + header
        for size in sizes:
            blobs.append(bytes(buffer[at : at + size]))
            at += size
        del buffer[:total]
        return parsed, blobs


def _parse(text: bytes) -> dict[str, Any]:
    try:
        parsed = _decode(text.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise WireError(f"a header that is not JSON: {error}") from error
    if type(parsed) is not dict:
        raise WireError("a header that is not an object")
    return parsed
