"""Not the library of that name."""

WHO = "tree"
