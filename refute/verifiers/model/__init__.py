"""Explicit-state model checking of machines: breadth-first, exhaustive, shortest counterexamples."""
