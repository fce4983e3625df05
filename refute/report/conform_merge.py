"""Reports of shards as the report of one run.

What is merged are the JSON documents that the shards wrote. They must be parts of one partition,
run on one engine under the same options by the same refute; a shard that is not among them, or that
did not run all its files, leaves the whole not established.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from refute.errors import UnreadableInput, UsageError
from refute.oracles.sqllogictest.reader import read
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
    parts = [[result_of(_result(entry)) for entry in d["files"]] for d in documents]
    files = sorted((file for part in parts for file in part), key=lambda file: file.path)
    run = ConformRun(Choice(first["engine"], first["name"], 0.0), shard["files"], files)
    run.told_version = first["version"]
    run.causes = _causes(documents, parts)
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


def _causes(documents: Sequence[Any], parts: Sequence[Sequence[FileResult]]) -> Any:
    """The causes that the shards found, those of one title and kind together; None without any.

    The failures' numbers become those of the whole.
    """
    if all(document.get("causes") is None for document in documents):
        return None
    module = importlib.import_module("refute.verifiers.sql.conform_causes")
    whole = module.Causes()
    joined: dict[tuple[str, str], Any] = {}
    of: list[dict[int, Any]] = []
    for document in documents:
        told = document.get("causes") or {"causes": [], "unknown": 0, "ended": ""}
        whole.unknown += told["unknown"]
        whole.ended = whole.ended or told["ended"]
        of.append(
            {entry["number"]: _joined(joined, module.Cause, entry) for entry in told["causes"]}
        )
    whole.causes = sorted(joined.values(), key=lambda c: (c.follow == c.count, -c.count, c.title))
    for number, cause in enumerate(whole.causes, 1):
        cause.number = number
        cause.places.sort(key=_place)
    for part, by_number in zip(parts, of, strict=True):
        for failure in (failure for file in part for failure in file.failures):
            failure.cause = by_number[failure.cause].number if failure.cause in by_number else 0
    return whole


def _place(place: str) -> tuple[str, int]:
    path, _, line = place.rpartition(":")
    return path, int(line) if line.isdecimal() else 0


def _joined(joined: dict[tuple[str, str], Any], kind: Any, entry: Mapping[str, Any]) -> Any:
    """The cause that this one of a shard is, with its failures counted; the smaller script."""
    key = entry["title"], entry["kind"]
    cause = joined.get(key)
    if cause is None:
        cause = joined[key] = kind(0, *key)
    for name in ("count", "reduced", "by_signature", "files"):
        setattr(cause, name, getattr(cause, name) + entry[name])
    cause.located += entry.get("located", 0)  # documents of before have none
    cause.follow += entry.get("follow", 0)
    cause.note = cause.note or entry.get("note", "")
    cause.places += entry["places"]
    if entry["script"] and (not cause.script or len(entry["script"]) < len(cause.script)):
        for name in ("script", "expected", "got", "verified"):
            setattr(cause, name, entry[name])
        cause.oracle = entry["oracle"] == "sqlite"
        cause.statements = _statements(entry["script"])
    return cause


def _statements(script: str) -> tuple[str, ...]:
    """The statements of a script; none of one that is not in SQLite's dialect."""
    try:
        records = read(script.encode("utf-8", "surrogateescape"), "script")
        return tuple(getattr(record, "sql", "") for record in records)
    except UnreadableInput:
        return ()


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
        if not all(map(_is_cause, (document.get("causes") or {"causes": ()})["causes"])):
            return "a cause has other fields than it should"
    except (KeyError, TypeError, AttributeError) as error:
        return f"a field is missing: {error}"
    except ValueError as error:
        return f"a result is wrong: {error}"
    return ""


def _is_cause(entry: Any) -> bool:
    numbers = [entry[name] for name in ("number", "count", "reduced", "by_signature", "files")]
    numbers.append(entry.get("follow", 0))
    texts = [entry[name] for name in ("title", "kind", "script", "expected", "got", "oracle")]
    texts.append(entry.get("note", ""))
    numbers.append(entry.get("located", 0))
    fits = all(type(number) is int for number in numbers) and type(entry["verified"]) is bool
    return fits and all(type(text) is str for text in [*texts, *entry["places"]])


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
