"""Reaches for what is outside: files, network, processes, the parent."""

import contextlib
import ctypes
import os
import socket


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def write(path: str) -> str:
    with open(path, "w") as file:
        file.write("was here")
    return path


def see(name: str) -> list[str]:
    """Where a file of that name can be seen, outside of /proc and /sys."""
    found = []
    for path, directories, files in os.walk("/"):
        directories[:] = [d for d in directories if d not in ("proc", "usr", "lib")]
        found += [f"{path}/{f}" for f in files if f == name]
    return found


def environment() -> dict[str, str]:
    return dict(os.environ)


def connect(host: str, port: int) -> None:
    socket.create_connection((host, port), timeout=1).close()


def connect_abstract(name: str) -> None:
    with socket.socket(socket.AF_UNIX) as local:
        local.connect("\0" + name)


def interfaces() -> list[str]:
    return [name for _, name in socket.if_nameindex() if name != "lo"]


def visible_processes() -> int:
    return sum(name.isdigit() for name in os.listdir("/proc"))


def kill_everything() -> None:
    """Only ever called in a pid namespace: it spares nothing it can see."""
    for pid in (os.getppid(), 1, -1):
        if pid != 0:
            with contextlib.suppress(OSError):
                os.kill(pid, 9)


def kill_group() -> None:
    os.kill(0, 9)


def look_into_init() -> list[str]:
    readable = []
    for name in ("environ", "mem", "maps", "root", "cwd", "fd"):
        path = f"/proc/1/{name}"
        try:
            if name in ("root", "cwd"):
                os.readlink(path)
            elif name == "fd":
                os.listdir(path)
            else:
                with open(path, "rb") as file:
                    file.read(1)
        except OSError:
            continue
        readable.append(name)
    return readable


def become_root() -> int:
    with contextlib.suppress(OSError):
        os.setuid(0)
    return os.getuid()


def new_user_namespace() -> int:
    """The errno of the attempt, 0 when it worked."""
    libc = ctypes.CDLL(None, use_errno=True)
    return 0 if libc.unshare(0x10000000) == 0 else ctypes.get_errno()


def descriptors() -> list[int]:
    return sorted(int(name) for name in os.listdir("/proc/self/fd"))
