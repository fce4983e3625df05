"""The keeper of databases on a server: a process that makes them, and drops those it made.

It lives beside the process that runs files, and outlives it: when that one ends in whatever way,
the end of standard input says so, and all databases that are left are dropped. Names are made here
and no other database is ever touched; the worker where the driver runs cannot ask for a drop.

Started as a module, with requests and answers as JSON lines of one `id`:

    {"module": …, "url": …, "environment": {…}}  -> {"version": …}
    {"create": true}                             -> {"name": …}
    {"drop": name}                               -> {"dropped": name}
    {"adopt": name}                              -> {"adopted": name}, one of a keeper that died
    any of them                                  -> {"error": type, "message": …, "missing": bool}
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import secrets
import signal
import sys
from typing import Any

PREFIX = "refute_"


class Databases:
    """Those that were made here and not dropped yet."""

    def __init__(self) -> None:
        self._keeper: Any = None
        self._names: list[str] = []

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what is asked. Raises whatever the driver raises."""
        if "module" in request:
            os.environ.update(request["environment"])
            make = importlib.import_module(request["module"]).Keeper
            self._keeper = make(request["url"], request["environment"])
            return {"version": self._keeper.version}
        if "create" in request:
            name = PREFIX + secrets.token_hex(8)
            self._names.append(name)  # first, since an answer may get lost
            self._keeper.create(name)
            return {"name": name}
        if "adopt" in request:
            self._names.append(request["adopt"])
            return {"adopted": request["adopt"]}
        name = request["drop"]
        if name in self._names:
            self._keeper.drop(name)
            self._names.remove(name)
        return {"dropped": name}

    def drop_all(self) -> None:
        """Drop what is left, as far as the server lets us."""
        for name in self._names:
            with contextlib.suppress(Exception):
                self._keeper.drop(name)


def main() -> None:
    """Answer requests until standard input ends, then drop what is left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    databases = Databases()
    try:
        for line in sys.stdin:
            request = json.loads(line)
            try:
                answer = databases.answer(request)
            except Exception as error:  # the driver's, told to whoever asked
                missing = isinstance(error, ImportError)
                answer = {"error": type(error).__name__, "message": str(error), "missing": missing}
            print(json.dumps({"id": request["id"], **answer}), flush=True)
    except OSError:  # nobody reads answers any more
        pass
    finally:
        databases.drop_all()


if __name__ == "__main__":
    main()
