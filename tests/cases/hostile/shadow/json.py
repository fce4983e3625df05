"""Not the library."""

raise SystemExit("json of the tree")
