"""Not the solver."""

WHO = "tree"
