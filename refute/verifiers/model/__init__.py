"""Explicit-state model checking of machines: breadth-first, with shortest counterexamples."""
