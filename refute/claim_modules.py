"""Loads claims modules inside a worker and tells what they claim.

This is the only place where a claims module runs, and it runs next to nothing: the answer is plain
data that `refute.describe` turns into claims in the parent.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from refute.claim import Claim, collecting
from refute.errors import RefuteError
from refute.plain import Plain


def load(files: list[tuple[str, str]]) -> list[Plain]:
    """The claims of each (path, module name), relative to the current directory.

    Each is {"claims": [...]} or {"error", "line", "file"} when loading it raised.
    """
    tree = Path.cwd()
    return [_load_one(tree, path, name) for path, name in files]


def _load_one(tree: Path, path: str, name: str) -> Plain:
    with collecting() as found:
        try:
            _run(tree / path, name)
            claims = [_data(claim, tree) for claim in found]
        except BaseException as error:  # SystemExit from a claims module is its failure as well
            return _failure(error, tree, path)
    return {"claims": claims}


def _run(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} cannot be loaded as a module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _data(claim: Claim, tree: Path) -> Plain:
    data: Plain = claim.to_json()
    data["where"]["file"] = _relative(claim.where.file, tree)
    return data


def _relative(file: str, tree: Path) -> str:
    try:
        return Path(file).resolve().relative_to(tree.resolve()).as_posix()
    except ValueError:
        return file


def _failure(error: BaseException, tree: Path, path: str) -> Plain:
    line, file = 0, path
    if isinstance(error, SyntaxError) and error.filename:
        file, line = _relative(error.filename, tree), error.lineno or 0
    else:
        for frame in traceback.extract_tb(error.__traceback__):
            if _relative(frame.filename, tree) == path:
                line = frame.lineno or 0
    message = error.message if isinstance(error, RefuteError) else str(error)
    step = error.next_step if isinstance(error, RefuteError) else ""
    possible = error.possible if isinstance(error, RefuteError) else ()
    return {
        "error": f"{type(error).__name__}: {message}",
        "file": file,
        "line": line,
        "next": step,
        "possible": [str(value) for value in possible],
    }
