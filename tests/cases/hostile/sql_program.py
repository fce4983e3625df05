"""A program of the `cmd:` protocol that misbehaves at the statement `bad`, as it is told to."""

import json
import os
import sys
import time

MODE = sys.argv[1]
ODD = {
    "width": {"columns": ["a"], "rows": [[1, 2]]},
    "twice": {"columns": ["a"], "rows": [[1]], "more": True},
    "value": {"columns": ["a"], "rows": [[{"blob": "?"}]]},
    "list": {"columns": ["a"], "rows": [[[1]]]},
    "rows": {"columns": ["a"], "rows": {"1": 1}},
    "columns": {"columns": [1], "rows": []},
    "unnamed": {"rows": []},
    "state": {"error": {"message": "no", "sqlstate": "4260"}},
    "key": {"columns": ["a"], "row": [[1]]},
    "more": {"columns": ["a"], "rows": [[1]], "more": 1.5},
    "timeout": {"error": {"message": "ended", "timeout": True}},
    "internal": {"error": {"message": "assertion", "internal": True, "type": "Bug"}},
}


def say(answer):
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def misbehave(number):
    """What a bad statement brings."""
    if MODE in ODD:
        say({"id": number, **ODD[MODE]})
        if MODE == "twice":
            say({"id": number, "columns": ["a"], "rows": [[1]]})
    elif MODE == "text":
        print("Segmentation fault?", flush=True)
    elif MODE == "id":
        say({"id": number + 1, "rows": [[1]]})
    elif MODE == "no_id":
        say({"columns": ["a"], "rows": [[1]]})
    elif MODE == "extra":
        say({"id": number, "columns": ["a"], "rows": [[1]]})
        say({"id": number, "columns": ["a"], "rows": [[1]]})
        time.sleep(0.2)
    elif MODE == "die":
        print("assertion failed: sqrt", file=sys.stderr, flush=True)
        os._exit(3)
    elif MODE == "hang":
        time.sleep(60)
    elif MODE == "fork":
        while True:
            os.fork()
    elif MODE == "print":
        while True:
            sys.stderr.write("x" * 100_000)
    elif MODE == "eat":
        kept = [b"x" * 2**20]
        while True:
            kept.append(kept[0] * 64)
    elif MODE == "pieces":
        say({"id": number, "columns": ["a"], "rows": [], "more": True})
        while True:
            say({"id": number, "rows": [], "more": True})
    elif MODE == "endless":
        while True:
            sys.stdout.write('{"id": ' * 10_000)


def main():
    for line in sys.stdin:
        asked = json.loads(line)
        sql = asked.get("execute", "")
        if "hello" in asked:
            say({"id": asked["id"], "name": "it", "version": "1", "can": ["reset", "nonsense"]})
        elif sql == "bad":
            misbehave(asked["id"])
        else:
            say({"id": asked["id"], "columns": ["a"], "rows": [[sql]]})


main()
