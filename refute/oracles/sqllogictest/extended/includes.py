"""Files that an extended file includes: found by pattern, read once each, never in a circle."""

from __future__ import annotations

import glob
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from refute.oracles.sqllogictest.extended.lines import Lines, text_of

LARGEST = 64 * 2**20  # bytes of an included file
DEEPEST = 32  # files that include one another
MOST = 10_000  # files that a file is made of, one that is included twice counted twice


class Including:
    """What a file may include. reads: SHA-256 by path, kept up. above: itself and its includers."""

    def __init__(
        self, reads: dict[str, str], above: tuple[str, ...], count: list[None] | None = None
    ) -> None:
        self._reads = reads
        self._above = above
        self._count: list[None] = [] if count is None else count  # an item for each file so far
        self._real = {os.path.realpath(path) for path in above}

    def files(self, lines: Lines, pattern: str) -> Iterator[tuple[Lines, Including]]:
        """The files that the pattern names, from the including file's directory, in order.

        lines: of the including file, at the directive. Raises UnreadableInput.
        """
        whole = str(Path(lines.path).parent / pattern)
        found = glob.iglob(whole, recursive=True, include_hidden=True)  # noqa: PTH207 absolute ones
        paths = sorted(path for path in found if not Path(path).is_dir())
        if not paths:
            raise lines.error(f"include: no file is named {whole}")
        for path in paths:
            if os.path.realpath(path) in self._real or len(self._above) >= DEEPEST:
                raise lines.error(f"include: {path} includes itself")
            self._count.append(None)
            if len(self._count) > MOST:
                raise lines.error(f"include: more than {MOST} files are included")
            data = _bytes(lines, path)
            self._reads[path] = hashlib.sha256(data).hexdigest()
            above = (*self._above, path)
            yield Lines(text_of(data, path), path), Including(self._reads, above, self._count)


def _bytes(lines: Lines, path: str) -> bytes:
    try:
        status = Path(path).stat()
        if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST:
            return Path(path).read_bytes()
        problem = f"it is no regular file of at most {LARGEST} bytes"
    except OSError as error:
        problem = error.strerror or str(error)
    raise lines.error(f"include: {path} cannot be read: {problem}")
