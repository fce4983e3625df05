"""Commands as subjects: any program that speaks JSON lines on standard input and output.

Each request is one line, `{"id": n, …}`, and each answer is one line with the same `id`:

    {"id": 1, "call": "area", "args": [2, 3]}             -> {"id": 1, "return": 6}
    {"id": 2, "create": "Stack", "args": []}              -> {"id": 2, "handle": 7}
    {"id": 3, "on": 7, "invoke": "push", "args": ["x"]}   -> {"id": 3, "return": null}
    any of them                                           -> {"id": 3, "raise": {"type": "KeyError",
                                                              "message": "x", "errno": null}}

`kwargs` (an object) is added when there are keyword arguments, and an argument that is a created
object is `{"!handle": 7}`. Values are in the encoding of `refute.plain`: JSON as it is, with
`{"!bytes": base64}`, `{"!tuple": […]}`, `{"!float": "nan"}` and so on for what JSON lacks.
Whatever the program prints to standard error is kept as an excerpt and never read as an answer.
Another id, a line that is not JSON, or one over the cap, is the outcome "protocol".
"""

from __future__ import annotations

import os
import shlex
from typing import NoReturn


def execute(command: str, tree: str, wire: int) -> NoReturn:
    """Replace this process by the program that `command` names; its tree's own come first."""
    words = shlex.split(command)
    inside = os.path.join(tree, words[0])
    program = inside if os.access(inside, os.X_OK) else words[0]
    os.dup2(wire, 0)
    os.dup2(wire, 1)
    os.close(wire)
    try:
        os.execvp(program, words)
    except OSError as error:
        os.write(2, f"{words[0]}: {error.strerror}\n".encode())
        os._exit(127)
