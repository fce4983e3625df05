"""A key-value store on a block device with a redo log; sound, and the stem of planted defects.

Block 0 says which transaction was the last to be in place, block 1 is the record of the next one,
blocks 2 and 3 hold its bodies, block 4 the index (key → block) and the others one value each.
A record counts when its number is the next one and its checksum fits its bodies.
"""

import errno
import json
import zlib

SUPER, RECORD, BODIES, INDEX, VALUES = 0, 1, 2, 4, 5
CACHE = {}


def pack(device, data):
    return json.dumps(data).encode().ljust(device.block_size)


class Store:
    def __init__(self, device):
        self.device = device
        self.failed = False

    @staticmethod
    def format(device):
        store = Store(device)
        store.write(SUPER, pack(device, 0))
        store.write(RECORD, pack(device, [0, [], 0]))
        store.write(INDEX, pack(device, {}))
        device.flush()

    @classmethod
    def mount(cls, device):
        store = cls(device)
        store.done = json.loads(device.read(SUPER))
        store.recover()
        store.index = json.loads(device.read(INDEX))
        store.items = {k: json.loads(device.read(b)) for k, b in store.index.items()}
        return store

    def recover(self):
        try:
            number, targets, checksum = json.loads(self.device.read(RECORD))
        except ValueError:
            return
        bodies = [self.device.read(BODIES + n) for n in range(len(targets))]
        if number == self.done + 1 and checksum == zlib.crc32(b"".join(bodies)):
            self.apply(number, dict(zip(targets, bodies, strict=True)))

    def write(self, block, data):
        if self.device.write(block, data) != len(data):
            raise OSError(errno.EIO, "short write")

    def commit(self, blocks):
        if self.failed:
            raise OSError(errno.EIO, "the device failed before")
        number = self.done + 1
        try:
            for place, body in enumerate(blocks.values(), start=BODIES):
                self.write(place, body)
            checksum = zlib.crc32(b"".join(blocks.values()))
            self.write(RECORD, pack(self.device, [number, list(blocks), checksum]))
            self.device.flush()  # committed
            self.apply(number, blocks)
        except OSError:
            self.failed = True
            raise

    def apply(self, number, blocks):
        for block, body in blocks.items():
            self.write(block, body)
        self.device.flush()  # in place
        self.write(SUPER, pack(self.device, number))
        self.device.flush()  # forgotten
        self.done = number

    def put(self, key, value):
        block = self.index.get(key)
        if block is None:
            taken = set(self.index.values())
            block = next(b for b in range(VALUES, self.device.block_count) if b not in taken)
        index = {**self.index, key: block}
        self.commit({block: pack(self.device, value), INDEX: pack(self.device, index)})
        self.index, self.items = index, {**self.items, key: value}

    def delete(self, key):
        if key not in self.index:
            raise OSError(errno.ENOENT, key)
        index = {k: b for k, b in self.index.items() if k != key}
        self.commit({INDEX: pack(self.device, index)})
        self.index, self.items = index, {k: v for k, v in self.items.items() if k != key}

    def view(self):
        return dict(self.items)
