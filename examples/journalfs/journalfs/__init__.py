"""journalfs: a small inode filesystem whose operations are atomic across crashes.

Read layout.py for the on-disk format, journal.py for why a crash does no harm, fs.py for the
operations. The modules depend on each other in this order: arithmetic, layout, device, journal,
transaction, bitmap, inodes, content, directory, fs.
"""

from journalfs.device import FileDevice, MemoryDevice
from journalfs.fs import JournalFS

__all__ = ["FileDevice", "JournalFS", "MemoryDevice"]
