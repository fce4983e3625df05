"""sqllogictest files with what other runners added to the format: syntax, readers, comparison.

A dialect is a module with two functions, named in `dialects.READERS`:

    read(data: bytes, path: str) -> Program      raises UnreadableInput with file and line
    signs(data: bytes) -> list[Sign]             lines that only this dialect has

What runs a program is `refute.verifiers.sql.conform_script`, which looks up a dialect's runner
in the same way. SQLite's own dialect is apart from all this, in `reader` and `expect`.
"""
