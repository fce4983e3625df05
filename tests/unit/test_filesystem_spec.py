"""The filesystem spec says what POSIX says; its answers are also compared with a real directory."""

from __future__ import annotations

import errno
import os
import random
from pathlib import Path

import pytest

from refute.fuzz.operations import filesystem_alphabet
from refute.specs.library.filesystem import FileError, Filesystem


def test_a_file_is_made_written_and_read() -> None:
    fs = Filesystem()
    fs.create("/a")
    assert fs.write("/a", 3, b"xyz") == 3
    assert fs.read("/a", 0, 99) == b"\0\0\0xyz"
    assert fs.stat("/a") == {"kind": "file", "size": 6, "nlink": 1, "ino": 2}
    fs.truncate("/a", 4)
    assert fs.read("/a", 2, 9) == b"\0x"
    assert fs.read("/a", 9, 9) == b""


def test_an_empty_write_does_not_lengthen() -> None:
    fs = Filesystem()
    fs.create("/a")
    assert fs.write("/a", 100, b"") == 0
    assert fs.stat("/a")["size"] == 0


def test_links_share_a_file_until_the_last_name_goes() -> None:
    fs = Filesystem()
    fs.create("/a")
    fs.link("/a", "/b")
    fs.write("/b", 0, b"q")
    assert fs.view()["/a"] == ("file", 1, 2, b"q", "/a")
    assert fs.view()["/b"] == ("file", 1, 2, b"q", "/a")
    fs.rename("/a", "/b")  # two names of one file: nothing happens
    assert fs.readdir("/") == ["a", "b"]
    fs.unlink("/a")
    assert fs.view()["/b"] == ("file", 1, 1, b"q", "/b")


def test_rename_replaces_and_drops_what_was_there() -> None:
    fs = Filesystem()
    fs.create("/a")
    fs.create("/b")
    fs.link("/b", "/c")
    fs.rename("/a", "/b")
    assert fs.readdir("/") == ["b", "c"]
    assert fs.stat("/c")["nlink"] == 1


def test_directories_count_their_subdirectories() -> None:
    fs = Filesystem()
    fs.mkdir("/d")
    fs.mkdir("/d/e")
    assert (fs.stat("/")["nlink"], fs.stat("/d")["nlink"]) == (3, 3)
    fs.rename("/d/e", "/e")
    assert (fs.stat("/")["nlink"], fs.stat("/d")["nlink"]) == (4, 2)
    fs.rename("/d", "/e/d")
    assert (fs.stat("/")["nlink"], fs.stat("/e")["nlink"]) == (3, 3)


WRONG = [
    (("create", "/f"), errno.EEXIST),
    (("create", "/f/x"), errno.ENOTDIR),
    (("create", "/x/y"), errno.ENOENT),
    (("write", "/d", 0, b"x"), errno.EISDIR),
    (("write", "/f", -1, b"x"), errno.EINVAL),
    (("truncate", "/f", -1), errno.EINVAL),
    (("unlink", "/d"), errno.EISDIR),
    (("unlink", "/x"), errno.ENOENT),
    (("rmdir", "/d"), errno.ENOTEMPTY),
    (("rmdir", "/f"), errno.ENOTDIR),
    (("rmdir", "/"), errno.EBUSY),
    (("mkdir", "/f"), errno.EEXIST),
    (("link", "/d", "/x"), errno.EPERM),
    (("link", "/f", "/d"), errno.EEXIST),
    (("rename", "/d", "/d/s"), errno.EINVAL),
    (("rename", "/d/s", "/d"), errno.ENOTEMPTY),
    (("rename", "/f", "/d"), errno.EISDIR),
    (("rename", "/d", "/f"), errno.ENOTDIR),
    (("rename", "/x", "/y"), errno.ENOENT),
    (("readdir", "/f"), errno.ENOTDIR),
    (("create", "/" + "n" * 256), errno.ENAMETOOLONG),
    (("create", "a"), errno.EINVAL),
]


@pytest.mark.parametrize(("operation", "number"), WRONG, ids=lambda v: str(v)[:40])
def test_errors_leave_the_tree(operation: tuple[object, ...], number: int) -> None:
    fs = Filesystem()
    fs.create("/f")
    fs.mkdir("/d")
    fs.mkdir("/d/s")
    before = fs.view()
    with pytest.raises(FileError) as caught:
        fs.apply(str(operation[0]), operation[1:])
    assert caught.value.errno == number
    assert fs.view() == before


def test_two_wrong_paths_allow_either_error() -> None:
    fs = Filesystem()
    fs.create("/f")
    with pytest.raises(FileError) as caught:
        fs.rename("/x", "/f/y")
    assert {caught.value.errno, *caught.value.also} == {errno.ENOENT, errno.ENOTDIR}


def test_a_copy_is_independent() -> None:
    fs = Filesystem()
    fs.create("/a")
    twin = fs.copy()
    twin.write("/a", 0, b"x")
    twin.mkdir("/d")
    assert fs.view() == {"/": ("dir", 2), "/a": ("file", 0, 1, b"", "/a")}


def _really(root: Path, operation: str, args: tuple[object, ...]) -> object:
    """The operation on a real directory, as plainly as the system call allows."""
    paths = [str(root) + str(a) if isinstance(a, str) else a for a in args]
    path = str(paths[0])
    if operation == "create":
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    elif operation == "write":
        fd = os.open(path, os.O_WRONLY)
        try:
            return os.pwrite(fd, bytes(args[2]), int(str(args[1])))  # type: ignore[call-overload]
        finally:
            os.close(fd)
    elif operation == "truncate":
        os.truncate(path, int(str(args[1])))
    elif operation == "fsync":
        Path(path).stat()
    else:
        getattr(os, operation)(*paths)
    return None


def _tree(root: Path) -> dict[str, tuple[object, ...]]:
    tree: dict[str, tuple[object, ...]] = {}
    first: dict[int, str] = {}
    for path in sorted([root, *root.rglob("*")], key=str):
        name = "/" + str(path.relative_to(root)) if path != root else "/"
        found = path.stat()
        if path.is_dir():
            subdirectories = sum(p.is_dir() for p in path.iterdir())
            tree[name] = ("dir", 2 + subdirectories)
        else:
            twin = first.setdefault(found.st_ino, name)
            tree[name] = ("file", found.st_size, found.st_nlink, path.read_bytes(), twin)
    return tree


@pytest.mark.parametrize("seed", range(6))
def test_it_agrees_with_a_real_directory(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    alphabet = [o for o in filesystem_alphabet(("a", "b", "c"), (1, 3), 512) if o != ("sync",)]
    fs = Filesystem()
    for _ in range(60):
        operation = rng.choice(alphabet)
        results: list[object] = []
        for act in (
            lambda o=operation: fs.apply(o[0], o[1:]),
            lambda o=operation: _really(tmp_path, o[0], o[1:]),
        ):
            try:
                results.append(act())
            except OSError as error:
                results.append(error)
        spec, real = results
        if isinstance(spec, FileError):
            assert isinstance(real, OSError), (operation, spec)
            assert real.errno in {spec.errno, *spec.also}, (operation, spec, real)
        else:
            assert spec == real, operation
    assert fs.view() == _tree(tmp_path)
