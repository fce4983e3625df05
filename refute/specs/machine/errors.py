"""What can go wrong while a machine's own code runs; engines turn each into a verdict."""

from __future__ import annotations


class Disabled(Exception):
    """A false `when`, or an `any_of` of nothing: the whole atomic step is undone."""


class IllDefined(Exception):
    """A step or predicate that has no meaning in some state."""


class OutOfRange(ValueError):
    """A value outside the declared type was written."""


class NotAPlace(TypeError):
    """A mutating method was called on a value that was not read from a variable."""
