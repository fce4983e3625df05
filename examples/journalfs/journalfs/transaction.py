"""A transaction: the blocks that one operation has changed so far.

Nothing of it reaches the device before `commit`; an operation that fails half way is undone by
forgetting the transaction. That is the whole of the rollback, so no part of the filesystem may
keep changed metadata anywhere else.
"""

from __future__ import annotations

from journalfs.journal import Journal


class Transaction:
    """The device as the running operation sees it: committed blocks under its own changes."""

    def __init__(self, journal: Journal) -> None:
        self.layout = journal.layout
        self._journal = journal
        self._changed: dict[int, bytes] = {}

    def read(self, block: int) -> bytes:
        """The block with this operation's changes."""
        data = self._changed.get(block)
        return self._journal.read(block) if data is None else data

    def write(self, block: int, data: bytes) -> None:
        """Change the block, for this operation until `commit`, for everybody after it."""
        self._changed[block] = data

    def patch(self, block: int, offset: int, data: bytes) -> None:
        """Change a part of the block."""
        old = self.read(block)
        self.write(block, old[:offset] + data + old[offset + len(data) :])

    def commit(self) -> None:
        """Hand all changes to the journal as one atomic step. Raises OSError, with no effect."""
        if self._changed:
            self._journal.commit(self._changed)
