"""Frames and lines: what is cut out of a stream, and what is refused."""

from __future__ import annotations

import struct

import pytest

from refute.errors import NotPlainData
from refute.plain import MAX_COLLISIONS, decode
from refute.sandbox.dialect import MAX_LINE, Lines
from refute.sandbox.wire import MAX_BLOBS, MAX_FRAME, MAX_HEADER, Frames, WireError, pack


def frames(data: bytes) -> Frames:
    found = Frames()
    found.feed(data)
    return found


def test_a_frame_comes_back_with_its_blobs() -> None:
    cut = frames(pack({"a": [1, None, "é"]}, [b"", b"\x00" * 70_000]))
    assert cut.take() == ({"a": [1, None, "é"]}, [b"", b"\x00" * 70_000])
    assert not cut.pending


def test_frames_survive_any_cut_of_the_stream() -> None:
    data = pack({"n": 1}, [b"ab"]) + pack({"n": 2})
    cut, found = Frames(), []
    for byte in data:
        cut.feed(bytes([byte]))
        while (frame := cut.take()) is not None:
            found.append(frame)
    assert found == [({"n": 1}, [b"ab"]), ({"n": 2}, [])]


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">II", MAX_HEADER + 1, 0),
        struct.pack(">II", 2, MAX_BLOBS + 1),
        struct.pack(">III", 2, 1, MAX_FRAME),
        struct.pack(">II", 2, 0) + b"[]",
        struct.pack(">II", 3, 0) + b"{a}",
        struct.pack(">II", 2, 0) + b"\xff\xff",
        struct.pack(">II", 9, 0) + b'{"a":NaN}',
        struct.pack(">II", 100_000, 0) + b"[" * 100_000,
    ],
)
def test_what_is_no_frame_is_refused(data: bytes) -> None:
    with pytest.raises(WireError):
        frames(data).take()


def test_a_length_over_the_cap_is_refused_before_its_bytes_come() -> None:
    with pytest.raises(WireError):
        frames(struct.pack(">III", 2, 1, 0xFFFFFFFF)).take()


def test_a_frame_over_the_cap_is_not_packed() -> None:
    with pytest.raises(WireError):
        pack({"text": "x" * (MAX_HEADER + 1)})


@pytest.mark.parametrize("line", [b"nope\n", b"[]\n", b"\xff\n", b"[" * 100_000 + b"\n"])
def test_what_is_no_line_is_refused(line: bytes) -> None:
    lines = Lines()
    lines.feed(line)
    with pytest.raises(WireError):
        lines.take()


def test_a_line_without_end_is_refused() -> None:
    lines = Lines()
    lines.feed(b" " * (MAX_LINE + 1))
    with pytest.raises(WireError):
        lines.take()


def test_keys_that_hash_alike_are_refused() -> None:
    keys = [[hex(n * (2**61 - 1)), n] for n in range(1, MAX_COLLISIONS + 100)]
    with pytest.raises(NotPlainData, match="hash alike"):
        decode({"!dict": [[{"!int": key}, n] for key, n in keys]})
    assert len(decode({"!set": list(range(MAX_COLLISIONS + 100))})) == MAX_COLLISIONS + 100
