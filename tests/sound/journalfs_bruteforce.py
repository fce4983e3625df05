"""A second, simpler crash explorer for journalfs alone, to judge both it and refute's engine.

It shares no code with refute: its own device, its own model of a filesystem (a dictionary), its own
enumeration of crash states. Run as a script it explores the journalfs of the tree named on the
command line and prints, as JSON, the shortest violation of each property it finds:

    python journalfs_bruteforce.py TREE DEPTH SAMPLES
    python journalfs_bruteforce.py TREE given '[["create", "/a"], ["sync"]]' …
"""

from __future__ import annotations

import copy
import errno
import importlib
import itertools
import json
import random
import sys

BLOCK_SIZE, SECTOR = 1024, 512
BLOCKS = 38


class Device:
    """Records writes and flushes with the number of the running operation; injects one fault."""

    def __init__(self, blocks, fault=None):
        self.block_size, self.block_count = BLOCK_SIZE, len(blocks)
        self.blocks, self.fault = list(blocks), fault
        self.log, self.calls, self.op, self.struck = [], [], 0, None

    def _strike(self, kind):
        self.calls.append(kind)
        if self.fault and self.fault[0] == len(self.calls) - 1:
            self.struck = self.op
            return self.fault[1]
        return None

    def read(self, block):
        if self._strike("read"):
            raise OSError(errno.EIO, "read")
        return self.blocks[block]

    def write(self, block, data):
        assert type(data) is bytes and len(data) == BLOCK_SIZE and 0 <= block < self.block_count
        fault = self._strike("write")
        if isinstance(fault, int) and fault >= 1000:
            written = fault - 1000
            data = data[:written] + self.blocks[block][written:]
        elif fault:
            raise OSError(fault, "write")
        else:
            written = BLOCK_SIZE
        self.blocks[block] = data
        self.log.append(("write", block, data, self.op))
        return written

    def flush(self):
        if self._strike("flush"):
            self.log.append(("lost", 0, b"", self.op))
            raise OSError(errno.EIO, "flush")
        self.log.append(("flush", 0, b"", self.op))


class Model:
    """A filesystem as nested dictionaries; files are one-element lists, shared by their names."""

    def __init__(self):
        self.root = {}

    def _find(self, path):
        node = self.root
        for part in path.split("/")[1:]:
            if path == "/":
                break
            if not isinstance(node, dict):
                raise OSError(errno.ENOTDIR, path)
            if part not in node:
                raise OSError(errno.ENOENT, path)
            node = node[part]
        return node

    def _parent(self, path):
        head, _, name = path.rpartition("/")
        parent = self._find(head or "/")
        if not isinstance(parent, dict):
            raise OSError(errno.ENOTDIR, path)
        return parent, name

    def _file(self, path):
        node = self._find(path)
        if isinstance(node, dict):
            raise OSError(errno.EISDIR, path)
        return node

    def create(self, path):
        parent, name = self._parent(path)
        if name in parent:
            raise OSError(errno.EEXIST, path)
        parent[name] = [b""]

    def mkdir(self, path):
        parent, name = self._parent(path)
        if name in parent:
            raise OSError(errno.EEXIST, path)
        parent[name] = {}

    def write(self, path, offset, data):
        node = self._file(path)
        old = node[0].ljust(offset, b"\0") if data else node[0]
        node[0] = old[:offset] + data + old[offset + len(data) :] if data else old
        return len(data)

    def truncate(self, path, size):
        node = self._file(path)
        node[0] = node[0][:size].ljust(size, b"\0")

    def unlink(self, path):
        parent, name = self._parent(path)
        if name not in parent:
            raise OSError(errno.ENOENT, path)
        if isinstance(parent[name], dict):
            raise OSError(errno.EISDIR, path)
        del parent[name]

    def rmdir(self, path):
        parent, name = self._parent(path)
        if name not in parent:
            raise OSError(errno.ENOENT, path)
        if not isinstance(parent[name], dict):
            raise OSError(errno.ENOTDIR, path)
        if parent[name]:
            raise OSError(errno.ENOTEMPTY, path)
        del parent[name]

    def link(self, source, target):
        node = self._find(source)
        parent, name = self._parent(target)
        if name in parent:
            raise OSError(errno.EEXIST, target)
        if isinstance(node, dict):
            raise OSError(errno.EPERM, target)
        parent[name] = node

    def rename(self, source, target):
        old, old_name = self._parent(source)
        new, new_name = self._parent(target)
        if old_name not in old:
            raise OSError(errno.ENOENT, source)
        node, victim = old[old_name], new.get(new_name)
        if source != target and (target + "/").startswith(source + "/"):
            raise OSError(errno.EINVAL, target)
        if source != target and (source + "/").startswith(target + "/"):
            raise OSError(errno.ENOTEMPTY, target)
        if node is victim:
            return
        if victim is not None:
            if isinstance(node, dict) and not isinstance(victim, dict):
                raise OSError(errno.ENOTDIR, target)
            if isinstance(victim, dict) and not isinstance(node, dict):
                raise OSError(errno.EISDIR, target)
            if isinstance(victim, dict) and victim:
                raise OSError(errno.ENOTEMPTY, target)
        del old[old_name]
        new[new_name] = node

    def fsync(self, path):
        self._find(path)

    def sync(self):
        pass

    def view(self):
        entries, groups = [], {}

        def walk(path, node):
            if isinstance(node, dict):
                links = 2 + sum(isinstance(child, dict) for child in node.values())
                entries.append((path or "/", "dir", links, None))
                for name in sorted(node):
                    walk(f"{path}/{name}", node[name])
            else:
                groups.setdefault(id(node), []).append(path)
                entries.append((path, "file", node, node[0]))

        walk("", self.root)
        return tuple(
            (p, k, len(groups[id(n)]), c, tuple(groups[id(n)])) if k == "file" else (p, k, n, c, ())
            for p, k, n, c in entries
        )


def view(fs):
    """The mounted filesystem in the form of `Model.view`."""
    entries, groups = [], {}

    def walk(path):
        stat = fs.stat(path or "/")
        if stat["kind"] == "dir":
            entries.append((path or "/", "dir", stat["nlink"], None, 0))
            for name in fs.readdir(path or "/"):
                walk(f"{path}/{name}")
        else:
            groups.setdefault(stat["ino"], []).append(path)
            data = fs.read(path, 0, stat["size"] + 1)
            assert len(data) == stat["size"]
            entries.append((path, "file", stat["nlink"], data, stat["ino"]))

    walk("")
    return tuple((p, k, n, c, tuple(groups[i]) if k == "file" else ()) for p, k, n, c, i in entries)


def crash_states(base, log, bound, rng):
    """(blocks, last operation whose write is in it, index in the log up to which it ran)."""
    durable, epoch, start = list(base), [], 0
    for index, event in enumerate([*log, ("flush", 0, b"", log[-1][3] if log else 0)]):
        if event[0] == "write":
            epoch.append((index, event))
        elif event[0] == "flush":
            yield from _subsets(durable, epoch, start, bound, rng)
            for _, (_, block, data, _) in epoch:
                durable[block] = data
            epoch, start = [], index + 1


def _subsets(durable, epoch, start, bound, rng):
    halves = [(position, half) for position in range(len(epoch)) for half in (0, 1)]
    count = len(halves)
    chosen = {frozenset(range(n)) for n in range(count + 1)}
    everything = frozenset(range(count))
    if count <= bound:
        for size in range(count + 1):
            chosen.update(map(frozenset, itertools.combinations(range(count), size)))
    else:
        blocks = [frozenset((2 * i, 2 * i + 1)) for i in range(len(epoch))]
        for unit in [*blocks, *(frozenset((i,)) for i in range(count))]:
            chosen.update((everything - unit, unit))
        for one, two in itertools.combinations(blocks, 2):
            chosen.update((everything - one - two, one | two))
        for _ in range(20):
            chosen.add(frozenset(i for i in range(count) if rng.random() < 0.5))
    for subset in chosen:
        blocks, last = list(durable), start - 1
        for number in sorted(subset):
            position, half = halves[number]
            index, (_, block, data, _) = epoch[position]
            low = half * SECTOR
            old = blocks[block]
            blocks[block] = old[:low] + data[low : low + SECTOR] + old[low + SECTOR :]
            last = max(last, index)
        yield blocks, last


class Explorer:
    """Explores sequences and keeps the first violation of each property."""

    def __init__(self, package, problems, bound=8, seed=1):
        self.fs_class, self.problems = package.JournalFS, problems
        self.bound, self.rng = bound, random.Random(seed)
        self.violations, self.states = {}, 0
        self.seen, self.recovered = set(), {}
        device = Device([bytes(BLOCK_SIZE)] * BLOCKS)
        self.fs_class.format(device)
        self.empty = device.blocks

    def report(self, prop, sequence, detail):
        old = self.violations.get(prop)
        if old is None or len(old[0]) > len(sequence):
            self.violations[prop] = (list(sequence), detail)

    def run(self, sequence, nested=True, base=None):
        """Run without a fault, compare with the model, then crash everywhere."""
        device = Device(self.empty if base is None else base)
        fs = self.fs_class.mount(device)
        model, views, synced = Model(), [Model().view()], {0: 0}
        for number, (name, *args) in enumerate(sequence, start=1):
            device.op = number
            before = fs.statfs()
            result, expected = _apply(fs, name, args), _apply(model, name, args)
            refused = type(result) is int and result < 0
            if result != expected and result in (-errno.ENOSPC, -errno.EFBIG):
                model = copy.deepcopy(self.before)
            elif result != expected:
                self.report("behaviour", sequence[:number], f"{result} for {expected}")
                return device
            if refused and fs.statfs() != before:
                self.report("P5", sequence[:number], f"free {before} then {fs.statfs()}")
            self.before = copy.deepcopy(model)
            views.append(model.view())
            if _view_or_error(fs) != views[-1]:
                self.report("behaviour", sequence[:number], "view differs from the model")
                return device
            if name in ("sync", "fsync") and not refused:
                synced[len(device.log)] = number
        self.check_crashes(sequence, device, base or self.empty, views, synced, nested)
        return device

    def check_crashes(self, sequence, device, base, views, synced, nested):
        for blocks, last in crash_states(base, device.log, self.bound, self.rng):
            newest = device.log[last][3] if last >= 0 else 0
            ended = [n for n in synced if n <= last + 1]
            low = synced[max(ended)] if ended else 0
            newest = max(newest, low)
            self.judge(sequence, blocks, views[low : newest + 1], views[: newest + 1], nested)

    def judge(self, sequence, blocks, allowed, older, nested):
        key = hash((tuple(blocks), tuple(allowed)))
        if key in self.seen:
            return
        self.seen.add(key)
        self.states += 1
        device = Device(blocks)
        found = self.recover(sequence, device)
        if found is None:
            return
        if found not in allowed:
            self.report("P2" if found in older else "P1", sequence, _short(found))
        again = Device(device.blocks)
        if self.recover(sequence, again) != found:
            self.report("P4", sequence, "second mount differs")
        if nested and device.log:
            for broken, _ in crash_states(blocks, device.log, self.bound, self.rng):
                self.states += 1
                if self.recover(sequence, Device(broken)) != found:
                    self.report("P4", sequence, "recovery that crashed differs")

    def recover(self, sequence, device):
        key = hash(tuple(device.blocks))
        if key in self.recovered:
            found, device.log, device.blocks = self.recovered[key]
            return found
        found = self._recover(sequence, device)
        self.recovered[key] = found, device.log, device.blocks
        return found

    def _recover(self, sequence, device):
        try:
            fs = self.fs_class.mount(device)
            found = view(fs)
            problems = self.problems(b"".join(device.blocks), BLOCK_SIZE)
            if problems:
                self.report("P3", sequence, problems[0])
            return found
        except Exception as error:
            self.report("P3", sequence, f"cannot mount or list: {error!r}")
            return None

    def run_faults(self, sequence):
        """Let each device call of the sequence fail in each way, in turn."""
        device = Device(self.empty)
        fs = self.fs_class.mount(device)
        for name, *args in sequence:
            _apply(fs, name, args)
        kinds = {
            "read": [errno.EIO],
            "write": [errno.EIO, errno.ENOSPC, 1512, 1000, 1030, 1100],
            "flush": [errno.EIO],
        }
        for call, kind in enumerate(device.calls):
            for fault in kinds[kind]:
                self.run_fault(sequence, (call, fault))

    def run_fault(self, sequence, fault):
        device = Device(self.empty, fault)
        try:
            fs = self.fs_class.mount(device)
        except OSError:
            return
        model, views, synced, where = Model(), [Model().view()], {0: 0}, f"fault {fault}"
        for number, (name, *args) in enumerate(sequence, start=1):
            device.op = number
            before = copy.deepcopy(model)
            expected, result = _apply(model, name, args), _apply(fs, name, args)
            if result != expected and type(result) is int and result < 0:
                model = before
                if device.struck is None and result not in (-errno.ENOSPC, -errno.EFBIG):
                    self.report("behaviour", sequence[:number], f"{result} without a fault")
            elif result != expected:
                self.report("P5", sequence[:number], f"{where}: returned {result}")
            elif device.struck == number:
                self.report("P5", sequence[:number], f"{where}: not reported")
            views.append(model.view())
            calm = device.struck is not None
            if _view_or_error(fs) != views[-1] and (calm or _view_or_error(fs) != views[-1]):
                self.report("P5", sequence[:number], f"{where}: view after the error")
            if name in ("sync", "fsync") and type(result) is not int:
                synced[len(device.log)] = number
            if device.struck is not None:
                for late, *late_args in (("fsync", "/"), ("sync",)):
                    if _apply(fs, late, late_args) is None:
                        synced[len(device.log)] = number
                    self.check_lost(sequence[:number], device, views, synced, where)
                return

    def check_lost(self, sequence, device, views, synced, where):
        """After the fault: what a sync promised is there, also when failed flushes lost data."""
        low = synced[max(synced)]
        kept = list(device.log)
        lost = list(self.empty)
        waiting = []
        for kind, block, data, _ in kept:
            if kind == "write":
                waiting.append((block, data))
            else:
                if kind == "flush":
                    for place, content in waiting:
                        lost[place] = content
                waiting = []
        for blocks in (device.blocks, lost):
            found = self.recover(sequence, Device(blocks))
            if found is not None and found not in views[low:]:
                prop = "P6" if found in views else "P1"
                self.report(prop, sequence, f"{where}: {_short(found)}")


def _view_or_error(fs):
    try:
        return view(fs)
    except Exception as error:
        return repr(error)


def _apply(target, name, args):
    try:
        return getattr(target, name)(*args)
    except OSError as error:
        return -error.errno


def _short(found):
    return " ".join(f"{p}({n},{len(c) if c is not None else '-'})" for p, _, n, c, _ in found)


def block(letter, count, extra=0):
    return letter.encode() * (count * BLOCK_SIZE + extra)


ALPHABET = [
    ("create", "/a"),
    ("create", "/b"),
    ("write", "/a", 0, block("x", 1)),
    ("write", "/b", 512, block("y", 2)),
    ("write", "/a", 4500, block("z", 0, 100)),
    ("truncate", "/a", 100),
    ("truncate", "/b", 6000),
    ("unlink", "/a"),
    ("link", "/a", "/b"),
    ("rename", "/a", "/b"),
    ("rename", "/b", "/a"),
    ("mkdir", "/d"),
    ("rmdir", "/d"),
    ("create", "/d/a"),
    ("rename", "/a", "/d/a"),
    ("rename", "/d/a", "/b"),
    ("rename", "/d", "/a"),
    ("fsync", "/a"),
    ("sync",),
]
SETUPS = [
    (),
    (("create", "/a"), ("write", "/a", 0, block("s", 3)), ("create", "/b")),
    (("mkdir", "/d"), ("create", "/d/a"), ("mkdir", "/a"), ("sync",)),
    (
        ("create", "/a"),
        ("write", "/a", 0, block("f", 2)),
        ("create", "/b"),
        ("link", "/b", "/c"),
        ("write", "/b", 2048, block("g", 3)),
    ),
]


def sequences(depth, samples, seed=1, length=9):
    """All sequences of this depth after each setup, then random longer ones."""
    for setup in SETUPS:
        for tail in itertools.product(ALPHABET, repeat=depth):
            yield (*setup, *tail)
    rng = random.Random(seed)
    for _ in range(samples):
        yield tuple(rng.choice(ALPHABET) for _ in range(length))


def load(tree):
    """An explorer of the journalfs in this tree; one tree for each process."""
    sys.path.insert(0, str(tree))
    journalfs, fsck = importlib.import_module("journalfs"), importlib.import_module("fsck")
    return Explorer(journalfs, fsck.problems)


def explore(explorer, depth, samples):
    """All sequences of this depth with every crash, those of depth 1 with every fault."""
    for sequence in sequences(depth, samples):
        explorer.run(sequence)
    for setup in SETUPS:
        for tail in ALPHABET:
            explorer.run_faults((*setup, tail, ("fsync", "/"), ("sync",), ("create", "/e")))
    for tail in sequences(0, samples):
        explorer.run_faults((*tail, ("fsync", "/")))


def given(explorer, texts):
    """Judge only these sequences, as JSON lists of operations; contents are Latin-1 strings."""
    for text in texts:
        sequence = tuple(
            tuple(a.encode("latin-1") if o[0] == "write" and i == 3 else a for i, a in enumerate(o))
            for o in json.loads(text)
        )
        explorer.run(sequence)
        explorer.run_faults(sequence)


if __name__ == "__main__":
    explorer = load(sys.argv[1])
    if sys.argv[2] == "given":
        given(explorer, sys.argv[3:])
    else:
        explore(explorer, int(sys.argv[2]), int(sys.argv[3]))
    found = {"states": explorer.states, "violations": explorer.violations}
    print(json.dumps(found, default=str))
