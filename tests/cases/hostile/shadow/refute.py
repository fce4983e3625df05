"""Not the judge."""

__version__ = "tree"
