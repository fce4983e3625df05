"""A shim: any DB-API 2.0 module as an engine of refute, in the protocol of its docs.

    refute conform FILES --engine "cmd:python3 examples/sqlshim/shim.py sqlite3 :memory:"

The arguments are a module and what its `connect` takes: values, or NAME=VALUE for names. It needs
nothing but Python 3.7, so that old versions of an engine, in an environment of their own, run
behind it, too; DataFusion, which has no connections, is given some. To put an engine that is not in
Python behind refute, write this program in its language: docs/engines.md describes every line that
it reads and writes.
"""

import base64
import importlib
import json
import os
import sys
import tempfile


def value_of(value):
    """A value as the protocol writes it; what JSON has no word for is tagged."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"blob": base64.b64encode(value).decode("ascii")}
    if value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, float):
        return value if abs(value) < float("inf") else {"real": repr(value)}
    return str(value)


def column_of(described):
    """A column with its name, and its type where the module says one."""
    name, kind = described[:2]
    return str(name) if kind is None else {"name": str(name), "type": str(kind)}


def is_bug(kind, error):
    """Whether an error is what the engine itself calls a bug of its own, as DuckDB does."""
    return kind in ("FatalException", "InternalException") or "Internal error" in str(error)


class Contexts:
    """What a module like DataFusion has, as DB-API 2.0 would have it."""

    def __init__(self, module):
        self.__name__, self.__version__ = module.__name__, module.__version__
        self.connect = lambda: Context(module.SessionContext())


class Context:
    """A context as a connection, which is its own cursor."""

    def __init__(self, made):
        self.made = made
        self.description, self.rowcount, self.rows = None, -1, []

    def cursor(self):
        """Itself."""
        return self

    def execute(self, statement):
        """Run a statement."""
        frame = self.made.sql(statement)
        columns = [[c.to_pylist() for c in batch.columns] for batch in frame.collect()]
        self.rows = [row for batch in columns for row in zip(*batch)]  # noqa: B905 - Python 3.7
        self.description = [(f.name, f.type) for f in frame.schema()] or None

    def fetchall(self):
        """All rows of the last statement."""
        return self.rows

    def close(self):
        """Nothing is to be closed."""


class Shim:
    """One connection of a module, and a new one for every reset."""

    def __init__(self, module, arguments):
        self.module = module
        self.values = [a for a in arguments if "=" not in a]
        self.names = dict(a.split("=", 1) for a in arguments if "=" in a)
        self.connection = None
        self.reset()

    def reset(self):
        """Begin with an empty database."""
        if self.connection is not None:
            self.connection.close()
        self.connection = self.module.connect(*self.values, **self.names)
        for name, value in (("autocommit", True), ("isolation_level", None)):
            if hasattr(self.connection, name):  # each statement commits by itself
                try:
                    setattr(self.connection, name, value)
                except Exception:  # it can only be read
                    continue
                break

    def execute(self, statement):
        """The answer to a statement."""
        cursor = self.connection.cursor()
        try:
            cursor.execute(statement)
            if cursor.description is None:
                affected = cursor.rowcount
                return {"affected": affected} if affected is not None and affected >= 0 else {}
            columns = [column_of(column) for column in cursor.description]
            rows = [[value_of(value) for value in row] for row in cursor.fetchall()]
            return {"columns": columns, "rows": rows}
        except getattr(self.module, "Error", Exception) as error:
            kind = type(error).__name__
            return {"error": {"message": str(error), "type": kind, "internal": is_bug(kind, error)}}
        finally:
            cursor.close()


def main():
    """Answer each line of standard input with one line."""
    module = importlib.import_module(sys.argv[1])
    if not hasattr(module, "connect"):
        module = Contexts(module)
    if not os.access(".", os.W_OK):
        os.chdir(tempfile.gettempdir())  # some engines need room for files
    shim = Shim(module, sys.argv[2:])
    for line in sys.stdin:
        request = json.loads(line)
        if "hello" in request:
            version = getattr(module, "sqlite_version", getattr(module, "__version__", ""))
            answer = {"name": module.__name__, "version": version, "can": ["reset"]}
        elif "reset" in request:
            shim.reset()
            answer = {}
        elif "execute" in request:
            answer = shim.execute(request["execute"])
        else:
            answer = {"error": "this shim has one connection"}
        print(json.dumps({"id": request["id"], **answer}), flush=True)


if __name__ == "__main__":
    main()
