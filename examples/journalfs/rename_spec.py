"""Rename, before any code: what an observer may see between two journal transactions.

A directory maps names to inodes. `RenameTwoSteps` commits the new name and then removes the old
one; between the two, after `self = yield`, anybody may look, and a crash may leave it so: the inode
has two names. `RenameOneStep` does both in one transaction.

    refute check examples/journalfs/rename_spec.py:RenameTwoSteps     refuted, with the trace
    refute check examples/journalfs/rename_spec.py:RenameOneStep      every state was searched
"""

from __future__ import annotations

from typing import Self

from refute.machine import (
    Machine,
    Map,
    Set,
    Sort,
    Steps,
    Var,
    action,
    any_of,
    empty_set,
    invariant,
    process,
    reachable,
    var,
    when,
)


class Name(Sort, size=2):
    """Names in the directory."""


class Inode(Sort, size=2):
    """Inodes."""


class Client(Sort, size=2):
    """Those who call rename."""


class _Directory(Machine):
    """A directory, files that appear in it, and what must hold whenever anybody looks."""

    entry: Var[Map[Name, Inode | None]] = var(each=None)
    used: Var[Set[Inode]] = var(empty_set)

    @action
    def create(self, name: Name, ino: Inode) -> None:
        """A new file under a free name."""
        when(self.entry[name] is None)
        when(ino not in self.used)
        self.entry[name] = ino
        self.used.add(ino)

    def names_of(self, ino: Inode) -> int:
        """How many names the inode has."""
        return sum(1 for found in self.entry.values() if found == ino)

    @invariant
    def exactly_one_name(self, ino: Inode) -> bool:
        """An inode in use has one name in every observable state, a free one none."""
        return self.names_of(ino) == (1 if ino in self.used else 0)

    @reachable
    def full(self) -> bool:
        """Every name can be taken, so that a rename replaces a file."""
        return all(found is not None for found in self.entry.values())


class RenameTwoSteps(_Directory):
    """Rename as two transactions."""

    @process
    def rename(self, client: Client) -> Steps[Self]:
        """Enter the new name; later, remove the old one."""
        while True:
            src, dst = any_of(Name), any_of(Name)
            ino = self.entry[src]
            when(ino is not None and src != dst)
            replaced = self.entry[dst]
            self.entry[dst] = ino
            if replaced is not None:
                self.used.discard(replaced)
            self = yield  # a crash here leaves two names
            self.entry[src] = None
            self = yield


class RenameOneStep(_Directory):
    """Rename as one transaction."""

    @process
    def rename(self, client: Client) -> Steps[Self]:
        """Enter the new name and remove the old one at once."""
        while True:
            src, dst = any_of(Name), any_of(Name)
            ino = self.entry[src]
            when(ino is not None and src != dst)
            replaced = self.entry[dst]
            self.entry[dst] = ino
            if replaced is not None:
                self.used.discard(replaced)
            self.entry[src] = None
            self = yield
