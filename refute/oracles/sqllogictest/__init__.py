"""sqllogictest files: what they say, and whether an engine's answer is what they expect.

The format is the one of the SQLite project's C runner ("About Sqllogictest",
https://www.sqlite.org/sqllogictest/doc/trunk/about.wiki); docs/conform.md lists where this reader
is stricter. What other runners added to it is refused by name, never skipped.
"""
