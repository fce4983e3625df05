"""Reports of shards as the report of one run.

What is merged are the JSON documents that the shards wrote. They must be parts of one partition,
run on one engine under the same options by the same refute; a shard that is not among them, or that
did not run all its files, leaves the whole not established.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from refute.errors import UnreadableInput, UsageError
from refute.verifiers.sql.conform_data import as_data, result_of
from refute.verifiers.sql.conform_file import Failure, FileResult
from refute.verifiers.sql.conform_run import Choice, ConformRun
from refute.verifiers.sql.conform_shard import Shard

SCHEMA = "refute.conform/1"
LARGEST = 2**30  # bytes of one document
_SAME = ("refute", "engine", "version", "name")
_OTHER_NAMES = {"cut": "interrupted"}  # field of a result → its name in a document


def merged(paths: Sequence[str]) -> ConformRun:
    """The run that these reports are of. Raises UnreadableInput or UsageError."""
    documents = [(path, _document(path)) for path in dict.fromkeys(paths)]
    first_path, first = documents[0]
    shards: dict[int, str] = {}
    for path, document in documents:
        shard = document["scope"]["shard"]
        for name in (*_SAME, "of", "partition", "options"):
            ours, theirs = ({**d, **d["scope"]["shard"]}[name] for d in (first, document))
            if ours != theirs:
                raise _unlike(first_path, path, name, ours, theirs)
        if shard["number"] in shards:
            raise UsageError(
                f"{path} and {shards[shard['number']]} are both shard {shard['number']}",
                thing="--merge",
                value=path,
                next_step="give one report for each shard",
            )
        shards[shard["number"]] = path
    return _run(first, [document for _, document in documents], sorted(shards))


def _run(first: Mapping[str, Any], documents: Sequence[Any], numbers: Sequence[int]) -> ConformRun:
    shard = first["scope"]["shard"]
    files = [result_of(_result(entry)) for document in documents for entry in document["files"]]
    files.sort(key=lambda file: file.path)
    for failure in (failure for file in files for failure in file.failures):
        failure.cause = 0  # each shard has numbers of its own
    run = ConformRun(Choice(first["engine"], first["name"], 0.0), shard["files"], files)
    run.told_version = first["version"]
    run.interrupted = any(document["interrupted"] for document in documents)
    run.wall_s = max(document["wall_s"] for document in documents)
    scopes = [document["scope"] for document in documents]
    run.kept = sum(scope["kept_files"] for scope in scopes)
    run.stopped = next((scope["stopped"] for scope in scopes if scope["stopped"]), "")
    left_out = [words for scope in scopes for words in scope["left_out"]]
    run.narrowed = list(dict.fromkeys(w for w in left_out if "(shard " not in w))
    missing = sorted(set(range(1, shard["of"] + 1)) - set(numbers))
    if missing:
        run.missing = f"no report of shards {_listed(missing)} of {shard['of']}"
        run.shard = Shard(numbers[0], shard["of"], shard["files"], shard["partition"])
    elif len(files) < shard["files"]:
        run.missing = f"{shard['files'] - len(files)} of {shard['files']} files are in no report"
    return run


def _document(path: str) -> dict[str, Any]:
    """A report of a shard, its form checked as far as it is used. Raises UnreadableInput."""
    problem = ""
    document: Any = None
    try:
        if Path(path).stat().st_size > LARGEST:
            problem = f"it is larger than {LARGEST} bytes"
        else:
            document = json.loads(Path(path).read_bytes())
            problem = _problem(document)
    except OSError as error:
        problem = error.strerror or str(error)
    except (ValueError, RecursionError) as error:
        problem = f"no JSON: {error}"
    if problem:
        raise UnreadableInput(
            f"{path}: no report of a shard: {problem}",
            thing="--merge",
            value=path,
            next_step="give files that `refute conform … --shard K/N --json FILE` wrote",
        )
    checked: dict[str, Any] = document
    return checked


def _problem(document: Any) -> str:
    """What keeps it from being merged; "" for nothing."""
    if type(document) is not dict or document.get("schema") != SCHEMA:
        return f"it is no document of the schema {SCHEMA}"
    try:
        scope = document["scope"]
        shard = scope["shard"]
        if shard is None:
            return "it is of a whole run"
        if document["known"] is not None:
            return "known failures are judged for the whole: give --known to --merge instead"
        numbers = [shard[name] for name in ("number", "of", "files")] + [scope["kept_files"]]
        texts = [document[name] for name in _SAME] + [shard["partition"], shard["options"]]
        texts += [scope["stopped"], *scope["left_out"]]
        fits = all(type(n) is int and n >= 0 for n in numbers)
        fits = fits and all(type(text) is str for text in texts)
        fits = fits and type(document["interrupted"]) is bool
        if not (fits and 1 <= shard["number"] <= shard["of"] and float(document["wall_s"]) >= 0):
            return "its fields have other types than they should"
        for entry in document["files"]:
            result_of(_result(entry))
    except (KeyError, TypeError, AttributeError) as error:
        return f"a field is missing: {error}"
    except ValueError as error:
        return f"a result is wrong: {error}"
    return ""


def _result(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A file of a document as the data of a result; what documents do not have is as if unset."""
    base: dict[str, Any] = as_data(FileResult(entry["path"]))
    for name in base:
        given = _OTHER_NAMES.get(name, name)
        if given in entry and name not in ("failures", "interrupted"):
            base[name] = entry[given]
    base["failures"] = [_failure(entry["path"], failure) for failure in entry["failures"]]
    return base


def _failure(path: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    base: dict[str, Any] = as_data(Failure(entry["line"], entry["sql"], "", ""))
    unset = {field.name: field.default for field in dataclasses.fields(Failure)}
    for name in base:
        if name in entry:
            base[name] = unset[name] if entry[name] is None else entry[name]
    if base["path"] == path:
        base["path"] = ""
    return base


def _unlike(first: str, other: str, name: str, ours: object, theirs: object) -> UsageError:
    what = {"partition": "files", "of": "number of shards"}.get(name, name)
    return UsageError(
        f"{first} and {other} are not of one run: their {what} differ: {ours} and {theirs}",
        thing="--merge",
        value=other,
        next_step="run all shards on the same files and engine, with the same options and refute",
    )


def _listed(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:20]))
    return f"{shown} and {len(numbers) - 20} more" if len(numbers) > 20 else shown
