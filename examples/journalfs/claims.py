"""What journalfs claims to be: the contract of fs.py, as statements that can be refuted.

Four kinds. The crash claims say what is left after a crash or an error of the device, whatever the
code does in between. The agreements say what every operation answers: what a directory of the
kernel answers, and how much room it takes (space.py). The contracts say where a block, a bit or a
record lies; they stand above the functions themselves, in journalfs_arithmetic.py. The rest says
what the bytes on the device are, so that an image of today is still read tomorrow.
"""

from __future__ import annotations

import zlib

from space import BLOCK_SIZE, BLOCKS

from refute import PROVED, SURVIVED, claim
from refute.specs.contract import MeetsContract
from refute.specs.crash import CrashConsistent
from refute.specs.domains import Ints, Lists, OneOf, Text
from refute.specs.function import Holds
from refute.specs.reference import AgreesWith

FS = "journalfs:JournalFS"
PACKAGE = ("journalfs/**",)
DEVICE = {"block_count": BLOCKS, "block_size": BLOCK_SIZE}

PATHS = OneOf("/a", "/b", "/d", "/d/a")
claim(
    "operations answer as a directory does",
    AgreesWith(
        FS,
        "directory",
        {
            "create": {"path": OneOf("/a", "/d/a", "/", "relative")},
            "mkdir": {"path": OneOf("/d", "/b", "/")},
            "write": {"path": PATHS, "offset": OneOf(0, 500), "data": OneOf(b"x", b"y" * 30)},
            "read": {"path": PATHS, "offset": OneOf(0, 500), "size": OneOf(0, 3000)},
            "truncate": {"path": PATHS, "size": OneOf(0, 600, 2600)},
            "link": {"source": OneOf("/a", "/d"), "target": OneOf("/b", "/d/a", "/a")},
            "rename": {"source": OneOf("/a", "/d", "/b"), "target": OneOf("/a", "/b", "/d/a")},
            "unlink": {"path": PATHS},
            "rmdir": {"path": PATHS},
            "readdir": {"path": OneOf("/", "/d", "/a")},
            "stat": {"path": PATHS},
            "fsync": {"path": OneOf("/a", "/d")},
        },
        observe=[("readdir", "/"), ("stat", "/"), ("stat", "/a"), ("read", "/a", 0, 9000)],
        device={"block_count": 128, "block_size": 512},
        ignore={"stat": {"ino": {}, "size": {"kind": "dir"}}},
        setup=[("mkdir", "/d"), ("create", "/a"), ("write", "/a", 0, b"before")],
    ),
    covers=PACKAGE,
    need=SURVIVED(cases=100),
)

claim(
    "room is taken and refused exactly as designed",
    AgreesWith(
        FS,
        "space:Space",
        {
            "create": {"path": OneOf("/a", "/b")},
            "write": {
                "path": OneOf("/a", "/b"),
                "offset": OneOf(0, 1000, 4096, 266000),
                "data": OneOf(b"x", b"y" * 3000, b"z" * 9000),
            },
            "truncate": {"path": OneOf("/a", "/b"), "size": OneOf(0, 1, 5000, 300000)},
            "unlink": {"path": OneOf("/a", "/b")},
            "maximum_write": {},
            "unmount": {},
        },
        observe=[("statfs",)],
        device=DEVICE,
    ),
    covers=PACKAGE,
    need=SURVIVED(cases=100),
)


for function, says in {
    "blocks_for": "as many blocks as it takes, and no more",
    "part_of_block": "a write changes its own bytes of a block and no others",
    "pointer_offset": "a block's number has its own place in the inode or its indirect block",
    "blocks_in_file": "all blocks of the largest file can be named",
    "inode_place": "each inode has a place of its own in the table",
    "bit_place": "each bit has a place of its own in the bitmap",
    "without_bit": "one bit is cleared and no other",
    "capacity_of": "a record can name every block of the largest transaction",
    "table_blocks": "there are inodes for a quarter of the blocks",
    "slot_start": "the two slots of the journal do not overlap",
}.items():
    claim(
        says,
        MeetsContract(f"journalfs_arithmetic:{function}"),
        covers=["journalfs_arithmetic.py"],
        need=PROVED(),
    )

# Arithmetic on the bits of numbers of any size, and bytes joined: beyond the prover, so many cases.
for function, says in {
    "lowest_clear": "the lowest clear bit is found",
    "checksum_of": "the checksum is over the record and all bodies, in order",
}.items():
    claim(
        says,
        MeetsContract(f"journalfs_arithmetic:{function}"),
        covers=["journalfs_arithmetic.py"],
        need=SURVIVED(cases=100),
    )


def packs_as_documented(used, size, block_size, pack_bitmap):
    """The first bits and those past the end are set, all others clear, in whole blocks."""
    blocks = pack_bitmap(used, size, block_size)
    bits = [byte >> i & 1 for byte in b"".join(blocks) for i in range(8)]
    right = [int(i < used or i >= size) for i in range(len(bits))]
    whole = all(len(block) == block_size for block in blocks)
    return whole and bits == right and len(bits) - size < 8 * block_size


claim(
    "a new bitmap marks what is in use",
    Holds(
        "journalfs.bitmap:pack_bitmap",
        "claims:packs_as_documented",
        {"used": Ints(0, 40), "size": Ints(41, 9000), "block_size": OneOf(512, 1024)},
    ),
    covers=["journalfs/bitmap.py"],
)


def superblock_as_documented(block_size, count, number, damage, pack_superblock, unpack_superblock):
    """Two checked copies; either alone is enough, and a block without any is refused."""
    block = pack_superblock(block_size, count, number)
    copy = b"JOURNLFS" + b"".join(
        value.to_bytes(width, "little")
        for value, width in ((1, 4), (block_size, 4), (count, 4), (number, 8))
    )
    copy += zlib.crc32(copy).to_bytes(4, "little")
    assert block == copy.ljust(block_size // 2, b"\0") * 2
    half = block_size // 2
    hurt = bytearray(block)
    hurt[damage] ^= 0x10
    for whole in (block, bytes(hurt)):
        layout, found = unpack_superblock(whole)
        size = dict(layout.fields)
        assert (size["block_size"], size["block_count"], found) == (block_size, count, number)
    hurt[half + damage] ^= 0x10
    try:
        unpack_superblock(bytes(hurt))
    except OSError:
        return True
    return False


claim(
    "the superblock is read back, also from its second copy",
    Holds(
        "journalfs.layout:pack_superblock",
        "claims:superblock_as_documented",
        {
            "block_size": OneOf(512, 1024, 4096),
            "count": Ints(64, 9000),
            "number": Ints(0, 2**40),
            "damage": Ints(0, 31),
        },
        subjects={"unpack_superblock": "journalfs.layout:unpack_superblock"},
    ),
    covers=["journalfs/layout.py"],
)


def arranged_as_documented(block_size, count, arrange):
    """The parts follow each other, and each is as large as layout.py says."""
    capacity = min(max(12, count // 8), (block_size - 28) // 4)
    inode_bitmap = 3 + 2 * capacity
    table = inode_bitmap + 1 + -(-count // (8 * block_size))
    table_length = min(-(-(count // 4) // (block_size // 32)), 256)
    try:
        found = dict(arrange(block_size, count).fields)
    except OSError:
        return table + table_length >= count
    return table + table_length < count and found == {
        "block_size": block_size,
        "block_count": count,
        "capacity": capacity,
        "inode_count": table_length * (block_size // 32),
        "journal": 1,
        "inode_bitmap": inode_bitmap,
        "block_bitmap": inode_bitmap + 1,
        "inode_table": table,
        "data": table + table_length,
    }


claim(
    "the device is arranged as documented",
    Holds(
        "journalfs.layout:arrange",
        "claims:arranged_as_documented",
        {"block_size": OneOf(512, 1024, 4096), "count": Ints(1, 20000)},
    ),
    covers=["journalfs/layout.py"],
)


def components_as_given(names, slashes, split):
    """Empty components do not count, others are kept in order, in UTF-8."""
    path = "/" * slashes + ("/" * slashes).join(names)
    fine = all(name not in (".", "..") and "\0" not in name for name in names)
    try:
        return split(path) == [name.encode() for name in names if name] and fine
    except OSError:
        return not fine or any(len(name.encode()) > 59 for name in names)


claim(
    "a path is split into its components",
    Holds(
        "journalfs.paths:split",
        "claims:components_as_given",
        {"names": Lists(Text(max=61, alphabet="ab.é\0"), max=3), "slashes": Ints(1, 3)},
    ),
    covers=["journalfs/paths.py"],
)


class Blocks:
    """Sixty-four blocks of zeros; a block past the end cannot be read."""

    def __init__(self):
        self._blocks = [bytes(1024)] * 64

    def read(self, block):
        """The block's bytes."""
        return self._blocks[block]

    def write(self, block, data):
        """All of the data is written."""
        self._blocks[block] = data
        return len(data)

    def flush(self):
        """Nothing to see."""


claim(
    "a block in memory reads as written",
    AgreesWith(
        "journalfs:MemoryDevice",
        "claims:Blocks",
        {
            "read": {"block": OneOf(0, 1, 63)},
            "write": {"block": OneOf(0, 1, 63), "data": OneOf(b"a" * 1024, b"bc" * 512)},
            "flush": {},
        },
        observe=[("read", 0), ("read", 63)],
    ),
    covers=["journalfs/device.py"],
)


claim(
    "many commits in a row stay durable",
    CrashConsistent(
        FS,
        property="durability",
        structure="fsck:problems",
        operations=[("create", "/a"), ("unlink", "/a"), ("fsync", "/")],
        setups={},
        near_full=False,
        depth=5,
        subsets=0,
        samples=0,
    ),
    covers=["journalfs/journal.py"],
)

# The crash claims share one search and come last: they take what time is left.
OPERATIONS = [
    ("create", "/a"),
    ("rename", "/a", "/b"),
    ("write", "/a", 0, b"A" * 700),
    ("write", "/a", 512, b"B" * 2048),
    ("unlink", "/a"),
    ("truncate", "/a", 100),
    ("link", "/a", "/b"),
    ("create", "/b"),
    ("mkdir", "/d"),
    ("rename", "/b", "/a"),
    ("rename", "/a", "/d/a"),
    ("create", "/d/a"),
    ("rmdir", "/d"),
    ("rename", "/d", "/b"),
    ("fsync", "/a"),
    ("sync",),
]
TREE = [
    ("create", "/a"),
    ("write", "/a", 0, b"a" * 3000),
    ("create", "/b"),
    ("write", "/b", 0, b"b" * 500),
    ("mkdir", "/d"),
    ("sync",),
]
CONTROLS = {
    "atomicity": ["changes/01-rename-two-transactions.patch"],
    "structure": ["changes/02-inode-freed-first.patch"],
    "durability": ["changes/10-fsync-skips-clean-files.patch"],
}
for name in ("atomicity", "durability", "structure", "recovery", "errors", "fsync", "behaviour"):
    claim(
        f"crash {name}",
        CrashConsistent(
            FS,
            property=name,
            structure="fsck:problems",
            operations=OPERATIONS,
            setups={"a small tree": TREE},
            samples=20,
        ),
        covers=PACKAGE,
        need=SURVIVED(cases=100),
        controls=CONTROLS.get(name, ()),
    )
