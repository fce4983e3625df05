"""journalfs mounted through FUSE, used by ordinary programs, unmounted, and checked."""

from __future__ import annotations

import contextlib
import ctypes.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "journalfs"
PATIENCE_S = 20.0


def missing() -> str:
    """What mounting needs and this machine lacks; empty when nothing."""
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "/dev/fuse is missing or not accessible"
    if not (ctypes.util.find_library("fuse3") or ctypes.util.find_library("fuse")):
        return "libfuse is missing (Debian: fuse3, libfuse3-3)"
    if not shutil.which("fusermount3"):
        return "fusermount3 is missing (Debian: fuse3)"
    with contextlib.suppress(ImportError, OSError):
        import mfusepy  # noqa: F401

        return ""
    return "mfusepy is missing (the extra `fuse`)"


REASON = missing()
needs_fuse = pytest.mark.skipif(bool(REASON), reason=REASON)


def journalfs(*arguments: object) -> subprocess.Popen[str]:
    """The command line of journalfs, started."""
    return subprocess.Popen(
        [sys.executable, "-m", "journalfs", *map(str, arguments)],
        cwd=EXAMPLE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(*arguments: object) -> str:
    """The output of a program that must succeed."""
    command = list(map(str, arguments))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextlib.contextmanager
def mounted(image: Path, directory: Path) -> Iterator[Path]:
    """The image mounted; unmounted and the server gone at the end."""
    server = journalfs("mount", image, directory)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not directory.is_mount():
            if server.poll() is not None or time.monotonic() > deadline:
                server.kill()
                pytest.fail(f"not mounted: {server.communicate()[0]}")
            time.sleep(0.02)
        yield directory
    finally:
        subprocess.run(["fusermount3", "-u", str(directory)], check=False, capture_output=True)
        try:
            server.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            subprocess.run(["fusermount3", "-uz", str(directory)], check=False)
            server.kill()
        output = server.communicate()[0]
    assert server.returncode == 0, output


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "disk.img"
    run(sys.executable, "-c", _MKFS.format(example=str(EXAMPLE), path=str(path)))
    return path


_MKFS = """
import sys
sys.path.insert(0, {example!r})
from journalfs.__main__ import main
sys.exit(main(["mkfs", {path!r}, "--blocks", "4096"]))
"""


def check_structure(image: Path) -> None:
    assert run(sys.executable, EXAMPLE / "fsck.py", image).strip() == "sound"


@needs_fuse
def test_ordinary_programs_work_and_everything_is_there_after_a_remount(
    image: Path, tmp_path: Path
) -> None:
    directory = tmp_path / "mnt"
    directory.mkdir()
    content = os.urandom(100_000)
    source = tmp_path / "source"
    source.write_bytes(content)
    with mounted(image, directory) as root:
        run("cp", source, root / "copy")
        run("ln", root / "copy", root / "twin")
        run("mkdir", "-p", root / "one" / "two")
        run("mv", root / "copy", root / "one" / "two" / "moved")
        run("dd", f"if={source}", f"of={root / 'twin'}", "bs=1k", "count=3", "conv=notrunc")
        (root / "one" / "text").write_text("long text to be replaced")
        (root / "one" / "text").write_text("short")  # O_TRUNC arrives inside open
        with (root / "one" / "text").open("a") as file:
            file.write(" and more")
            file.flush()
            os.fsync(file.fileno())
        (root / "gone").write_bytes(b"x" * 5000)
        run("rm", root / "gone")
        os.truncate(root / "twin", 50_000)
    check_structure(image)
    with mounted(image, directory) as root:
        assert sorted(path.name for path in root.iterdir()) == ["one", "twin"]
        assert (root / "one" / "two" / "moved").read_bytes() == content[:50_000]
        assert (root / "twin").stat().st_nlink == 2
        assert (root / "twin").stat().st_ino == (root / "one" / "two" / "moved").stat().st_ino
        assert (root / "one" / "text").read_text() == "short and more"
    check_structure(image)


@needs_fuse
@pytest.mark.skipif(not shutil.which("git"), reason="git is missing")
def test_git_commits_into_a_repository_on_it(image: Path, tmp_path: Path) -> None:
    directory = tmp_path / "mnt"
    directory.mkdir()
    with mounted(image, directory) as root:
        git = [
            "git",
            "-C",
            root / "work",
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.invalid",
        ]
        run("git", "init", "--quiet", root / "work")
        (root / "work" / "file").write_text("content\n")
        run(*git, "add", "file")
        run(*git, "commit", "--quiet", "--message", "first")
        assert run(*git, "status", "--short") == ""
        run(*git, "fsck", "--strict")
    check_structure(image)


@needs_fuse
def test_errors_of_the_filesystem_reach_the_program(image: Path, tmp_path: Path) -> None:
    directory = tmp_path / "mnt"
    directory.mkdir()
    with mounted(image, directory) as root:
        (root / "d").mkdir()
        (root / "d" / "f").touch()
        with pytest.raises(OSError, match="not empty"):
            (root / "d").rmdir()
        with pytest.raises(OSError, match="Invalid argument"):
            (root / "d").rename(root / "d" / "e")
        with pytest.raises(FileExistsError):
            os.link(root / "d" / "f", root / "d" / "f")
        with pytest.raises(OSError, match="File too large"):
            os.truncate(root / "d" / "f", 10**7)
        assert os.statvfs(root).f_bsize == 1024
    check_structure(image)


def test_mounting_what_is_no_filesystem_fails_with_a_message(tmp_path: Path) -> None:
    image = tmp_path / "zeros.img"
    image.write_bytes(bytes(64 * 1024))
    if REASON:
        pytest.skip(REASON)
    server = journalfs("mount", image, tmp_path)
    output, _ = server.communicate(timeout=PATIENCE_S)
    assert server.returncode == 1
    assert output.startswith("journalfs: ") and "not a journalfs" in output
