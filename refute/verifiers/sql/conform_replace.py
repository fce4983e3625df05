"""Replacing a file in one step: whoever reads it sees the old one or the new one, whole."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from refute.errors import UsageError


def replace_file(path: str, data: bytes, before: bytes | None = None) -> None:
    """Write the file anew, with the mode that it has; a link stays, its target is replaced.

    before: what it held when it was read; a file that holds something else by now is left alone.
    None for a file that may not be there. Raises UsageError.
    """
    place = Path(os.path.realpath(path))
    try:
        if before is not None and place.read_bytes() != before:
            raise UsageError(
                f"{path} was changed while it was run: it is left as it is",
                thing="file",
                value=path,
                next_step="run the command again",
            )
        _write(place, data)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror or error}",
            thing="file",
            value=path,
            next_step="make the file and its directory writable, and make room",
        ) from error


def _write(place: Path, data: bytes) -> None:
    mode = stat.S_IMODE(place.stat().st_mode) if place.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        Path(name).replace(place)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    """The process's mask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
