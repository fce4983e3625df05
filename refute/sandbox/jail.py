"""The jail: new namespaces and a root filesystem that holds only what was declared.

The order differs with who we are. Root can mount in its own right, so the mounts come first and
the worker then becomes nobody in a user namespace of its own; that way files which only root may
traverse to (an interpreter under /root, say) still appear. Everyone else must enter a user
namespace first, which is what gives the right to mount. Either way the subject ends without
capabilities, as uid 65534, in a namespace where it is the only user (so RLIMIT_NPROC counts its
processes alone, from Linux 5.14 on).
"""

from __future__ import annotations

import os
from typing import Any

from refute.sandbox import kernel
from refute.sandbox.materialise import copy_files

NOBODY = 65534
TREE = "/tree"
_OLD = "/.old"
_DEVICES = ("null", "zero", "full", "random", "urandom")
_SPACES = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC


def enter_namespaces() -> None:
    """Move into new user (unless root), mount, pid, net and ipc namespaces. Raises OSError."""
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0:
        kernel.unshare(_SPACES)
    else:
        kernel.unshare(_SPACES | kernel.CLONE_NEWUSER)
        map_nobody(uid, gid)


def map_nobody(uid: int, gid: int) -> None:
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
    """Build the new root and move into it; the old one still hangs at `_OLD`. Raises OSError."""
    kernel.mount("", "/", "", kernel.MS_PRIVATE | kernel.MS_REC)
    base = "/tmp"
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    kernel.mount("tmpfs", base, "tmpfs", flags, "mode=755,size=512m")
    os.mkdir(base + _OLD)
    os.chdir(base)
    kernel.pivot_root(".", "." + _OLD)
    os.chdir("/")
    os.umask(0o022)
    for target, source in config["links"]:
        os.symlink(source, target)
    for target, source in config["binds"]:
        _show(_OLD + source, target)
    os.mkdir("/dev")
    for name in _DEVICES:
        _show(f"{_OLD}/dev/{name}", f"/dev/{name}", read_only=False)
    os.mkdir(TREE)
    if config["files"] is None:
        kernel.bind_read_only(_OLD + config["tree"], TREE)
    else:
        copy_files(_OLD + config["tree"], config["files"], TREE)
    for path in ("/tmp", "/proc"):
        os.mkdir(path)


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


def finish_root(config: dict[str, Any]) -> bool:
    """Mount /proc and /tmp, let go of the old root, close the new one; whether /proc is there.

    Runs as the first process of the pid namespace, whose /proc this is. The old root goes last,
    because an unprivileged mount of /proc is allowed only beside a full one.
    """
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    has_proc = True
    try:
        kernel.mount("proc", "/proc", "proc", flags)
    except OSError:
        has_proc = False
    size = 4 * config["file_size"]
    kernel.mount("tmpfs", "/tmp", "tmpfs", flags, f"mode=1777,size={size},nr_inodes=10000")
    kernel.unmount(_OLD)
    os.rmdir(_OLD)
    kernel.mount("", "/", "", kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | flags)
    return has_proc


def become_nobody() -> None:
    """Leave root for uid 65534 in a user namespace of its own; no change for others."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
        kernel.unshare(kernel.CLONE_NEWUSER)
        map_nobody(NOBODY, NOBODY)
    kernel.drop_capabilities()
