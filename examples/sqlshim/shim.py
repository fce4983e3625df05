"""A shim: any DB-API 2.0 module as an engine of `refute conform`, in the protocol of its docs.

    refute conform FILES --engine "cmd:python3 examples/sqlshim/shim.py sqlite3 :memory:"

The arguments are a module and what its `connect` takes: values, or NAME=VALUE for names. To put an
engine that is not in Python behind `refute conform`, write this program in its language: docs/
engines.md describes every line that it reads and writes.
"""

import base64
import importlib
import json
import sys


def value_of(value):
    """A value as the protocol writes it; what JSON has no word for is tagged."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"blob": base64.b64encode(value).decode("ascii")}
    if value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, float):
        return value if abs(value) < float("inf") else {"real": repr(value)}
    return str(value)


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
                setattr(self.connection, name, value)
                break

    def execute(self, statement):
        """The answer to a statement."""
        cursor = self.connection.cursor()
        try:
            cursor.execute(statement)
            if cursor.description is None:
                return {"affected": cursor.rowcount} if cursor.rowcount >= 0 else {}
            columns = [column[0] for column in cursor.description]
            rows = [[value_of(value) for value in row] for row in cursor.fetchall()]
            return {"columns": columns, "rows": rows}
        except self.module.Error as error:
            return {"error": {"message": str(error), "type": type(error).__name__}}
        finally:
            cursor.close()


def main():
    """Answer each line of standard input with one line."""
    module = importlib.import_module(sys.argv[1])
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
