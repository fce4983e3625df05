"""Engines over sqlite3 for tests of `refute conform`: a sound one, and others that are not."""

import hashlib
import os
import sqlite3
import sys
import time


def sound():
    return sqlite3.connect(":memory:")


class Cursor:
    """A sqlite3 cursor that may answer otherwise."""

    def __init__(self, cursor):
        self.cursor = cursor
        self.sql = ""

    @property
    def description(self):
        return self.cursor.description

    def execute(self, sql):
        self.sql = sql
        self.cursor.execute(sql)

    def fetchall(self):
        return self.cursor.fetchall()

    def close(self):
        self.cursor.close()


class Connection:
    """A connection with cursors of another kind."""

    def __init__(self, kind):
        self.kind = kind
        self.connection = sqlite3.connect(":memory:", isolation_level=None)

    def cursor(self):
        return self.kind(self.connection.cursor())


class Dropping(Cursor):
    def fetchall(self):
        return super().fetchall()[:-1]


class OneWrong(Cursor):
    def fetchall(self):
        rows = super().fetchall()
        return [(10,)] if "sum(a)" in self.sql else rows


class Swapping(Cursor):
    def fetchall(self):
        return super().fetchall()[::-1]


class Forgiving(Cursor):
    def execute(self, sql):
        try:
            super().execute(sql)
        except sqlite3.Error:
            super().execute("SELECT 1 WHERE 0")


class Refusing(Cursor):
    def execute(self, sql):
        if sql.startswith("SELECT"):
            raise sqlite3.OperationalError("not today")
        super().execute(sql)


class Crashing(Cursor):
    def execute(self, sql):
        try:
            super().execute(sql)
        except sqlite3.Error:
            raise AttributeError("no such method") from None


class Exiting(Cursor):
    def execute(self, sql):
        if "sum(a)" in sql:
            os._exit(0)
        super().execute(sql)


class Leaving(Cursor):
    def execute(self, sql):
        if "sum(a)" in sql:
            sys.exit(0)
        super().execute(sql)


class Hanging(Cursor):
    def execute(self, sql):
        while "sum(a)" in sql:
            time.sleep(1)
        super().execute(sql)


class Wide(Cursor):
    def fetchall(self):
        return [(*row, 0) for row in super().fetchall()]


class Letters(Cursor):
    """Rows of one value are that value as a text, not a row."""

    def fetchall(self):
        rows = super().fetchall()
        return [str(row[0]) if len(row) == 1 else row for row in rows]


class Objects(Cursor):
    def fetchall(self):
        return [[object() for _ in row] for row in super().fetchall()]


class Silent(Cursor):
    description = None


def connector(kind):
    return lambda: Connection(kind)


dropping = connector(Dropping)
one_wrong = connector(OneWrong)
swapping = connector(Swapping)
forgiving = connector(Forgiving)
refusing = connector(Refusing)
crashing = connector(Crashing)
exiting = connector(Exiting)
leaving = connector(Leaving)
hanging = connector(Hanging)
wide = connector(Wide)
letters = connector(Letters)
objects = connector(Objects)
silent = connector(Silent)


def patching():
    """Patches what a judge in the same process would use, and answers nothing right."""

    class Always(str):
        def __eq__(self, other):
            return True

        __hash__ = str.__hash__

    class Digest:
        def __init__(self, *args, **kwargs):
            pass

        def update(self, data):
            pass

        def hexdigest(self):
            return Always("d41d8cd98f00b204e9800998ecf8427e")

    hashlib.md5 = Digest
    sqlite3.connect = None
    time.monotonic = lambda: 0.0
    for name, module in list(sys.modules.items()):
        if name.startswith("refute") and hasattr(module, "judge"):
            module.judge = lambda *args: None
    print("----\n9\n" * 1000)
    made = Connection.__new__(Connection)
    made.kind = Dropping
    made.connection = sqlite3.dbapi2.Connection(":memory:", isolation_level=None)
    return made


def forging():
    """Replaces the driver's method, and answers with what is no answer."""
    session = sys.modules["refute.oracles.sql.engines.session"]
    session.Session.answer = lambda self, statements, *_: b'[["pass"]]'
    return sound()


def unsteady():
    """Answers wrongly, but only under the hash seed of the first run."""
    return Connection(OneWrong) if os.environ["PYTHONHASHSEED"] == "0" else sound()


def broken():
    raise ZeroDivisionError("no connection today")
