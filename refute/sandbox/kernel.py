"""System calls that Python's library lacks before 3.12: namespaces, mounts, capabilities.

Thin: each function is one call, raises OSError with its errno, and decides nothing. Loaded in the
supervisor of a worker before any code of the tree, never in the parent.
"""

from __future__ import annotations

import ctypes
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

CAP_SETFCAP = 1 << 31

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

_MOUNT_SETATTR = 442  # the same number on every architecture that Linux 5.12 added it to
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_MOUNT_ATTR_RDONLY = 1
_MOUNT_ATTR_NOSUID = 2
_CAPABILITY_VERSION_3 = 0x20080522
# statvfs(3) flags that a remount must repeat, or the kernel refuses it in a user namespace.
_KEPT_FLAGS = 2 | 4 | 8 | 1024 | 2048

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def unshare(flags: int) -> None:
    """Move this process (and, for a pid namespace, its next children) into new namespaces."""
    _check(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """mount(2)."""
    texts = [os.fsencode(t) for t in (source, target, kind)]
    _check(_libc.mount(*texts, ctypes.c_ulong(flags), os.fsencode(data)), f"mount {target}")


def bind_read_only(source: str, target: str) -> None:
    """Show `source` at `target`, with all mounted under it, unchangeable."""
    mount(source, target, "", MS_BIND | MS_REC)
    attributes = (ctypes.c_uint64 * 4)(_MOUNT_ATTR_RDONLY | _MOUNT_ATTR_NOSUID, 0, 0, 0)
    path = os.fsencode(target)
    done = _libc.syscall(
        _MOUNT_SETATTR, _AT_FDCWD, path, _AT_RECURSIVE, attributes, ctypes.c_size_t(32)
    )
    if done != 0:
        kept = os.statvfs(target).f_flag & _KEPT_FLAGS
        mount("", target, "", MS_REMOUNT | MS_BIND | MS_RDONLY | kept)


def unmount(target: str) -> None:
    """Take `target` out of the tree of mounts, even when it is in use."""
    _check(_libc.umount2(os.fsencode(target), MNT_DETACH), f"unmount {target}")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root of every process here, and hang the old root at `old`."""
    _check(_libc.pivot_root(os.fsencode(new), os.fsencode(old)), "pivot_root")


def prctl(option: int, value: int = 0) -> None:
    """prctl(2) with one argument."""
    zero = ctypes.c_ulong(0)
    _check(_libc.prctl(option, ctypes.c_ulong(value), zero, zero, zero), f"prctl {option}")


def drop_capabilities(kept: int = 0) -> None:
    """Give up every capability but those `kept` (a bit set), here and in whatever is executed."""
    for capability in range(64):
        try:
            if not kept >> capability & 1:
                prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            break  # past the last one, or not ours to drop
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    # Effective, permitted and inheritable sets of the first 32, then of the others.
    sets = (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0)
    _check(_libc.capset(header, sets), "capset")
    prctl(PR_SET_NO_NEW_PRIVS, 1)
