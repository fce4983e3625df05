"""The jail: new namespaces and a root filesystem that holds only what was declared.

The order differs with what we may do. With the right to mount, the mounts come first and the
subject then becomes nobody in a user namespace of its own; that way files which only root may
reach (an interpreter under /root, say) still appear. Without it, a user namespace comes first,
since that is what gives the right. Either way the subject ends without capabilities, as uid 65534.
"""

from __future__ import annotations

import contextlib
import errno
import os
from typing import Any

from refute.sandbox import kernel
from refute.sandbox.materialise import copy_files

NOBODY = 65534
TREE = "/tree"
_OLD = "/.old"
_DEVICES = ("null", "zero", "full", "random", "urandom")
_SPACES = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC
_ROOT_SIZE = 512 * 2**20
_TMP_FILES = 10_000
_MORE_NAMESPACES = "/proc/sys/user/max_user_namespaces"


def enter_namespaces() -> bool:
    """Move into new mount, pid, net and ipc namespaces; whether it took no user namespace.

    Raises OSError.
    """
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0 and _knows_nobody():
        try:
            kernel.unshare(_SPACES)
            return True
        except OSError as error:
            if error.errno != errno.EPERM:
                raise
    kernel.unshare(_SPACES | kernel.CLONE_NEWUSER)
    _map_nobody(uid, gid)
    return False


def _knows_nobody() -> bool:
    """Whether uid 65534 exists in the user namespace that we are in now (user_namespaces(7))."""
    with open("/proc/self/uid_map", encoding="ascii") as file:
        ranges = [line.split() for line in file]
    return any(int(first) <= NOBODY < int(first) + int(count) for first, _, count in ranges)


def _map_nobody(uid: int, gid: int) -> None:
    """Name the outer uid and gid 65534 in the user namespace just entered."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{NOBODY} {uid} 1"),
        ("gid_map", f"{NOBODY} {gid} 1"),
    ):
        fd = os.open(f"/proc/self/{name}", os.O_WRONLY)
        try:
            os.write(fd, text.encode("ascii"))
        finally:
            os.close(fd)


def build_root(config: dict[str, Any]) -> None:
    """Build the new root and move into it; the old one still hangs at `_OLD`.

    Raises OSError, or ValueError for a file that is not inside the tree.
    """
    kernel.mount("", "/", "", kernel.MS_PRIVATE | kernel.MS_REC)
    base = "/tmp"
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    kernel.mount("tmpfs", base, "tmpfs", flags, f"mode=755,size={_ROOT_SIZE}")
    os.umask(0o022)
    os.mkdir(base + _OLD)
    os.chdir(base)
    kernel.pivot_root(".", "." + _OLD)
    os.chdir("/")
    for path in (TREE, "/tmp", "/proc"):
        os.mkdir(path)
    # First, since what is shown may itself lie under it (an environment made in /tmp).
    limits = f"mode=1777,size={4 * config['file_size']},nr_inodes={_TMP_FILES}"
    kernel.mount("tmpfs", "/tmp", "tmpfs", flags, limits)
    for target, source in config["links"]:
        os.symlink(source, target)
    for target, source in config["binds"]:
        _show(_OLD + source, target)
    for name in _DEVICES:
        _show(f"{_OLD}/dev/{name}", f"/dev/{name}", read_only=False)
    if config["files"] is None:
        kernel.bind_read_only(_OLD + config["tree"], TREE)
    else:
        copy_files(_OLD + config["tree"], config["files"], TREE)


def _show(source: str, target: str, read_only: bool = True) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o444))
    if read_only:
        kernel.bind_read_only(source, target)
    else:
        kernel.mount(source, target, "", kernel.MS_BIND)


def finish_root() -> bool:
    """Mount /proc, let go of the old root, close the new one; whether /proc is there.

    Runs as the first process of the pid namespace, whose /proc this is. The old root goes last,
    because an unprivileged mount of /proc is allowed only beside a full one.
    """
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    has_proc = True
    try:
        kernel.mount("proc", "/proc", "proc", flags)
    except OSError:
        has_proc = False
    kernel.unmount(_OLD)
    os.rmdir(_OLD)
    kernel.mount("", "/", "", kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | flags)
    return has_proc


def settle(privileged: bool) -> bool:
    """Become nobody without capabilities; whether that is in a user namespace of its own."""
    own = True
    if privileged:
        become_nobody()
        try:
            kernel.unshare(kernel.CLONE_NEWUSER)
            _map_nobody(NOBODY, NOBODY)
        except OSError:  # some systems allow user namespaces to root alone
            own = False
    if own:  # no further namespaces, whose owner could reach much more of the kernel
        with contextlib.suppress(OSError), open(_MORE_NAMESPACES, "wb") as file:
            file.write(b"0")
    kernel.drop_capabilities()
    return own


def become_nobody() -> None:
    """Leave root for uid 65534."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # else /proc/self belongs to root
