"""Crash counterexamples for people: operations, device calls and views in a few short lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from refute.fuzz.operations import Operation
from refute.oracles.device import SECTOR, Event
from refute.plain import Plain
from refute.replay import Step
from refute.verifiers.crash.cases import Case
from refute.verifiers.crash.recording import Run
from refute.verifiers.crash.states import Crash, open_writes

MAX_VIEW = 400


def operation_text(operation: Operation) -> str:
    """`write /a 0 768×A` for ("write", "/a", 0, b"AAA…")."""
    return " ".join(str(part) if type(part) is not bytes else data_text(part) for part in operation)


def data_text(data: bytes) -> str:
    """Bytes in short: runs of equal bytes are counted."""
    parts: list[str] = []
    start = 0
    for index in range(1, len(data) + 1):
        if index == len(data) or data[index] != data[start]:
            count, letter = index - start, data[start]
            sign = chr(letter) if 32 < letter < 127 else f"\\x{letter:02x}"
            parts.append(sign if count == 1 else f"{count}×{sign}")
            start = index
        if len(parts) > 8:
            return " ".join(parts) + " …"
    return "".join(parts) if all(len(p) == 1 for p in parts) else " ".join(parts)


def view_text(view: Plain) -> str:
    """A view on one line."""
    if isinstance(view, Mapping) and "/" in view and all(_is_node(n) for n in view.values()):
        nodes = [_node_text(path, node) for path, node in view.items() if path != "/"]
        root = view["/"]
        head = "" if root[1] == 2 + _top_directories(view) else f"/ nlink {root[1]}"
        text = ", ".join(([head] if head else []) + nodes) or "an empty tree"
    else:
        text = repr(view)
    return text if len(text) <= MAX_VIEW else text[: MAX_VIEW - 1] + "…"


def _is_node(node: Plain) -> bool:
    return isinstance(node, tuple) and len(node) in (2, 5)


def _top_directories(view: Mapping[str, Plain]) -> int:
    return sum(n[0] == "dir" and p.count("/") == 1 and p != "/" for p, n in view.items())


def _node_text(path: str, node: Plain) -> str:
    if node[0] == "dir":
        return f"{path}/" if node[1] == 2 else f"{path}/ (nlink {node[1]})"
    content = data_text(node[3]) if type(node[3]) is bytes else repr(node[3])
    parts = [f"{node[1]} bytes" + (f": {content}" if node[1] else "")]
    if node[2] != 1:
        parts.append(f"nlink {node[2]}")
    if node[4] != path:
        parts.append(f"same file as {node[4]}")
    return f"{path} ({', '.join(parts)})"


def steps(run: Run, crash: Crash | None, flushes: bool) -> tuple[Step, ...]:
    """The trace: one step for each operation, with what its device calls came to."""
    result = []
    if run.base.prior is not None:
        result.append(Step(f"before: {_prior_text(run.base.prior)}"))
    elif run.base.operations:
        done = "; ".join(operation_text(o) for o in run.base.operations)
        result.append(Step(f"before: {done if len(done) <= 160 else done[:157] + '...'}"))
    first = -1 if any(e.op == -1 for e in run.events) else 0
    for index in range(first, len(run.operations)):
        early = crash is not None and crash.point <= _start(run, index) and index > 0
        if early and crash is not None and crash.point < len(run.events):
            break
        name = "mount" if index < 0 else operation_text(run.operations[index])
        if 0 <= index < len(run.results):
            name += f" → {run.results[index].text()}"
        calls = device_text(run.events, index, crash, flushes)
        result.append(Step(name, {"device": calls} if calls else {}))
    return tuple(result)


def _prior_text(prior: Case) -> str:
    operations = (*prior.setup, *prior.operations)
    parts = [operation_text(o) for o in operations]
    if prior.crash is not None:
        parts.append(f"CRASH after {prior.crash.point} writes and flushes")
    return "; ".join(parts[-6:])


def _start(run: Run, index: int) -> int:
    return run.marks[index] if 0 <= index < len(run.marks) else 0


def device_text(events: Sequence[Event], op: int, crash: Crash | None, flushes: bool) -> str:
    """The writes and flushes of an operation; what the crash lost is marked."""
    parts = []
    point = len(events) if crash is None else crash.point
    waiting = set(open_writes(events, point, flushes)) if crash is not None else set()
    for index, event in enumerate(events):
        if event.op != op:
            continue
        if crash is not None and index == crash.point:
            parts.append("CRASH")
        if index >= point:
            parts.append(f"({_call(event)})")
            continue
        text = _call(event)
        if crash is not None and index in crash.lost:
            text += " LOST"
        elif crash is not None and crash.torn is not None and crash.torn[0] == index:
            text += f" TORN(sectors {_bits(crash.torn[1], event)} kept)"
        elif index in waiting:
            text += " kept"
        parts.append(text)
    if crash is not None and point == len(events) and events and events[-1].op == op:
        parts.append("CRASH")
    return ", ".join(parts)


def _call(event: Event) -> str:
    name = "flush" if event.kind == "flush" else f"{event.kind} {event.block}"
    return f"{name} [{event.fault}]" if event.fault else name


def _bits(bits: int, event: Event) -> str:
    return ",".join(str(i) for i in range(len(event.data) // SECTOR) if bits >> i & 1)


def point_text(run: Run, crash: Crash, flushes: bool) -> str:
    """Where the crash falls, in one sentence."""
    if not crash.point:
        return "before the first write"
    writes = [i for i, e in enumerate(run.events) if e.kind == "write"]
    event = run.events[crash.point - 1]
    done = crash.point >= len(run.events)
    name = "mount" if event.op < 0 else operation_text(run.operations[event.op])
    mine = [i for i in writes if run.events[i].op == event.op]
    happened = sum(i < crash.point for i in mine)
    where = f"after write {happened} of {len(mine)} of {name}"
    where += f" (block {event.block})" if event.kind == "write" else " and its flush"
    if done:
        where = (
            f"after {operation_text(run.operations[-1]) if run.operations else 'mount'} returned"
        )
    lost = [f"{run.events[i].block}" for i in sorted(crash.lost)]
    if lost:
        where += f"; lost: block{'s' * (len(lost) > 1)} {', '.join(lost)}"
    if crash.torn is not None:
        torn = run.events[crash.torn[0]]
        where += f"; of block {torn.block} only sectors {_bits(crash.torn[1], torn)} persisted"
    return where
