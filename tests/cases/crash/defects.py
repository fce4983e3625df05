"""Planted defects of the key-value store: the property that must break, and one change of text.

Each is (name, property that is refuted, old text, new text).
"""

DEFECTS = [
    (
        "no barrier between the record and the data in place",
        "atomicity",
        "            self.device.flush()  # committed\n",
        "",
    ),
    (
        "no barrier between the data in place and forgetting the record",
        "atomicity",
        "        self.device.flush()  # in place\n",
        "",
    ),
    (
        "value written in place before the transaction",
        "atomicity",
        "        index = {**self.index, key: block}\n",
        "        index = {**self.index, key: block}\n"
        "        self.write(block, pack(self.device, value))\n",
    ),
    (
        "superblock never advanced, so that later records do not count",
        "durability",
        "        self.write(SUPER, pack(self.device, number))\n",
        "",
    ),
    (
        "checksum not checked",
        "atomicity",
        'if number == self.done + 1 and checksum == zlib.crc32(b"".join(bodies)):',
        "if number == self.done + 1:",
    ),
    (
        "recovery gives up on a torn log",
        "atomicity",
        "        bodies = [self.device.read(BODIES + n) for n in range(len(targets))]\n",
        "        bodies = [self.device.read(BODIES + n) for n in range(len(targets))]\n"
        '        if number > self.done and checksum != zlib.crc32(b"".join(bodies)):\n'
        "            raise ValueError('torn')\n",
    ),
    (
        "recovery forgets the record before its data is in place",
        "recovery",
        "            self.apply(number, dict(zip(targets, bodies, strict=True)))\n",
        "            self.write(SUPER, pack(self.device, number))\n"
        "            self.device.flush()\n"
        "            self.apply(number, dict(zip(targets, bodies, strict=True)))\n",
    ),
    (
        "device errors swallowed",
        "fsync",
        "            self.failed = True\n            raise\n",
        "            pass\n",
    ),
    (
        "short writes ignored",
        "fsync",
        "        if self.device.write(block, data) != len(data):\n"
        '            raise OSError(errno.EIO, "short write")\n',
        "        self.device.write(block, data)\n",
    ),
    (
        "memory changed before the transaction, and kept when it fails",
        "errors",
        "        index = {**self.index, key: block}\n",
        "        index = {**self.index, key: block}\n"
        "        self.items = {**self.items, key: value}\n",
    ),
    (
        "deleting a missing key succeeds",
        "behaviour",
        "            raise OSError(errno.ENOENT, key)\n",
        "            return\n",
    ),
    (
        "an exception that is no OSError",
        "errors",
        "            raise OSError(errno.ENOENT, key)\n",
        "            raise KeyError(key)\n",
    ),
    (
        "two keys share a block",
        "structure",
        "if b not in taken)",
        "if b - 1 not in taken)",
    ),
    (
        "items kept in a module global between mounts",
        "recovery",
        "        return store\n\n    def recover",
        "        for key, value in store.items.items():\n"
        "            CACHE.setdefault(key, value)\n"
        "        store.items = {**CACHE}\n"
        "        return store\n\n    def recover",
    ),
    (
        "recovery remembers the images it has seen",
        "recovery",
        "        return store\n\n    def recover",
        "        store.items = CACHE.setdefault(store.done, store.items)\n"
        "        return store\n\n    def recover",
    ),
]
