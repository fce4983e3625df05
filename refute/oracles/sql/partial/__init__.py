"""Oracles that ask an engine about a generated query: what each asks, and what must hold.

Each oracle is one module, whose docstring says what it can and cannot see. It turns a case into
questions, statements whose answers must stand in a relation to each other or to SQLite's answer.
It knows no engine and runs nothing: whoever runs it writes the trees for the engine.
"""
