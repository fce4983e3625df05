"""Command line: `python -m journalfs mkfs IMAGE`, `python -m journalfs mount IMAGE DIR`."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path

from journalfs.device import BLOCK_SIZE, FileDevice
from journalfs.fs import JournalFS
from journalfs.layout import arrange


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status: 0, 1 after an error of the system, 2 misuse."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except (OSError, RuntimeError, ImportError) as error:
        print(f"journalfs: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="journalfs", description="A small journaling filesystem.")
    parser.add_argument("--block-size", type=int, default=BLOCK_SIZE, help="bytes, default 1024")
    commands = parser.add_subparsers(required=True)
    mkfs = commands.add_parser("mkfs", help="make an empty filesystem in a file")
    mkfs.add_argument("image", type=Path)
    mkfs.add_argument("--blocks", type=int, help="size; default: what the file has, or 4096")
    mkfs.set_defaults(run=_mkfs)
    mount = commands.add_parser("mount", help="mount through FUSE, in the foreground")
    mount.add_argument("image", type=Path)
    mount.add_argument("directory", type=Path)
    mount.set_defaults(run=_mount)
    return parser


def _mkfs(options: argparse.Namespace) -> None:
    """Make the image of the size asked for, and the filesystem in it."""
    image: Path = options.image
    blocks = options.blocks
    if blocks is None and not image.exists():
        blocks = 4096
    if blocks is not None:
        arrange(options.block_size, blocks)
        with image.open("ab") as file:
            file.truncate(blocks * options.block_size)
    with FileDevice(image, options.block_size) as device:
        JournalFS.format(device)


def _mount(options: argparse.Namespace) -> None:
    """Serve until unmounted. The adapter is loaded here, as it needs libfuse."""
    adapter = importlib.import_module("journalfs.fuse")
    with FileDevice(options.image, options.block_size) as device:
        fs = JournalFS.mount(device)
        layout = arrange(device.block_size, device.block_count)
        adapter.mount(fs, layout, os.fspath(options.directory.resolve()))


if __name__ == "__main__":
    sys.exit(main())
