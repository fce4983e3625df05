"""Scripts that fuzzing begins from: SQL, sqllogictest files, and JSON, as bug reports come.

Every script has a database of its own. Its statements run in their order; each query is then asked
of every oracle on the database that the statements before it made. What a file expects of them is
not read: a query is there to be asked, and the oracles say what is wrong.

| file | is |
|---|---|
| `*.test`, `*.slt` | the statements and queries of its records, as one script |
| `*.json` | a list of statements, or of objects that have them as `sql` |
| `*.jsonl` | the same, an object on each line |
| any other | SQL, statements between semicolons |
| a directory | those files of it whose names end as above or in `.sql` |
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from refute.errors import UnreadableInput
from refute.oracles.sqllogictest.reader import QueryRecord, StatementRecord, decoded, read
from refute.verifiers.sql.conform_task import read_file
from refute.verifiers.sql.fuzz_seeds_text import NotClosed, is_query, statements

ENDINGS = (".sql", ".test", ".slt", ".json", ".jsonl")
_NAMES = ("id", "name", "title")  # what tells one object of a JSON file from the others
_STEP = 'docs/fuzz.md describes such files ("Scripts of your own")'


@dataclasses.dataclass(frozen=True)
class SeedScript:
    """The statements of one database, in order. name: of its file, and of its place in there."""

    name: str
    statements: tuple[str, ...]

    def cases(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Each query with the statements before it that are none; the last has all of them.

        A script without a query has its statements, and "" for the query.
        """
        setup: list[str] = []
        asked = False
        for sql in self.statements:
            if is_query(sql):
                asked = True
                yield tuple(setup), sql
            else:
                setup.append(sql)
        if not asked:
            yield tuple(setup), ""


def read_seeds(targets: Sequence[str], engine: str = "sqlite") -> tuple[SeedScript, ...]:
    """The scripts in files and directories. engine: its name for `skipif` and `onlyif`.

    Raises UnreadableInput, with the line where there is one.
    """
    paths: dict[str, str] = {}
    for path in (path for target in targets for path in _files(target)):
        paths.setdefault(str(Path(path).absolute()), path)
    return tuple(script for path in paths.values() for script in _scripts(path, engine))


def _files(target: str) -> list[str]:
    """The files that are meant, those of a directory in order of their names."""
    if not Path(target).is_dir():
        return [target]
    found = [
        str(Path(folder, name))
        for folder, _, names in os.walk(target, onerror=_unreadable)
        for name in names
        if name.lower().endswith(ENDINGS)
    ]
    if not found:
        raise UnreadableInput(
            f"{target} has no script",
            thing="--seed-sql",
            value=target,
            possible=tuple(f"*{ending}" for ending in ENDINGS),
            next_step="name a directory with such files, or the file itself",
        )
    return sorted(found)


def _unreadable(error: OSError) -> None:
    raise UnreadableInput(
        f"{error.filename} cannot be read: {error.strerror or error}",
        thing="--seed-sql",
        value=error.filename,
        next_step="name files that can be read",
    ) from error


def _scripts(path: str, engine: str) -> Iterator[SeedScript]:
    try:
        data = read_file(path)
    except OSError as error:
        error.filename = path
        _unreadable(error)
    except ValueError as error:
        raise _wrong(path, 0, str(error)) from error
    ending = path.lower().rpartition(".")[2]
    if ending in ("test", "slt"):
        made = iter([SeedScript(path, tuple(_of_records(data, path, engine)))])
    elif ending in ("json", "jsonl"):
        made = _of_json(data, path, by_line=ending == "jsonl")
    else:
        made = iter([SeedScript(path, tuple(_of_text(decoded(data, path), path)))])
    empty = True
    for script in made:
        if script.statements:
            empty = False
            yield script
    if empty:
        raise _wrong(path, 0, "there is no statement in it")


def _wrong(path: str, line: int, problem: str) -> UnreadableInput:
    where = f"{path}:{line}" if line else path
    return UnreadableInput(f"{where}: {problem}", thing=where, value=problem, next_step=_STEP)


def _of_text(text: str, path: str, first: int = 1, entry: str = "") -> Iterator[str]:
    """first: the line that the text begins on. entry: where in the file, if no line says it."""
    try:
        for found in statements(text):
            yield found.sql
    except NotClosed as error:
        if entry:
            raise _wrong(path, 0, f"{entry}: line {error.line} of the text: {error}") from error
        raise _wrong(path, first + error.line - 1, str(error)) from error


def _of_records(data: bytes, path: str, engine: str) -> Iterator[str]:
    """The SQL of a sqllogictest file, in whichever dialect it is."""
    for line, sql in _records(data, path, engine):
        yield from _of_text(sql, path, line + 1)


def _records(data: bytes, path: str, engine: str) -> Iterator[tuple[int, str]]:
    try:
        records = list(read(data, path))
    except UnreadableInput as refused:
        module = importlib.import_module("refute.oracles.sqllogictest.extended.dialects")
        script = importlib.import_module("refute.verifiers.sql.conform_script")
        for record in script.records_of(module.detected(data, path, refused).nodes):
            if getattr(record, "sql", "") and _runs(record.conditions, engine):
                yield record.place.line, record.sql
        return
    for plain in records:
        if isinstance(plain, StatementRecord | QueryRecord) and _runs(plain.conditions, engine):
            yield plain.line, plain.sql


def _runs(conditions: Sequence[tuple[str, str]], engine: str) -> bool:
    return not any((kind == "skipif") == (who == engine) for kind, who in conditions)


def _of_json(data: bytes, path: str, *, by_line: bool) -> Iterator[SeedScript]:
    text = decoded(data, path)
    given: Any
    if by_line:
        lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
        given = [_json(line, path, number) for number, line in lines]
    else:
        given = _json(text, path, 1)
    if isinstance(given, dict):
        given = [given]
    if not isinstance(given, list):
        raise _wrong(path, 0, f"a {type(given).__name__} where statements should be")
    if all(isinstance(item, str) for item in given):
        yield SeedScript(path, tuple(_of_json_texts(given, path, "statement")))
        return
    for number, item in enumerate(given, 1):
        where = f"entry {number}"
        if isinstance(item, list):
            item = {"sql": item}
        if not isinstance(item, dict):
            raise _wrong(path, 0, f"{where} is no object with `sql`, as others are")
        name = next((str(item[key]) for key in _NAMES if item.get(key)), where)
        yield SeedScript(f"{path}: {name}", tuple(_of_object(item, path, where)))


def _json(text: str, path: str, first: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise _wrong(path, first + error.lineno - 1, f"no JSON: {error.msg}") from error
    except (RecursionError, ValueError) as error:
        raise _wrong(path, first, f"no JSON that can be read: {error}") from error


def _of_object(item: dict[str, Any], path: str, where: str) -> Iterator[str]:
    """The statements of `sql`, or of `setup` and `query` as witnesses of claims have them."""
    keys = [key for key in ("sql", "setup", "query") if key in item]
    if "sql" not in keys and "query" not in keys:
        raise _wrong(path, 0, f"{where} has no `sql`, nor `setup` and `query`")
    for key in keys:
        given = [item[key]] if isinstance(item[key], str) else item[key]
        yield from _of_json_texts(given, path, f"{where}: {key}")


def _of_json_texts(given: Any, path: str, where: str) -> Iterator[str]:
    if not isinstance(given, list):
        raise _wrong(path, 0, f"{where} is no list of statements")
    for number, text in enumerate(given, 1):
        if not isinstance(text, str):
            raise _wrong(path, 0, f"{where}: item {number} is no text")
        yield from _of_text(text, path, entry=f"{where} {number}")
