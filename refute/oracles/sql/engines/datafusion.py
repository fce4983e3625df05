"""DataFusion as an engine: an adapter, since its Python API has neither connections nor cursors.

Integers, floating-point numbers (the shortest double that is the same Float32 or Float16), texts
and binaries are Arrow's values; booleans are 1 and 0. All others are DataFusion's own texts, as of
`arrow_cast(…, 'Utf8')`, since Python's values lose nanoseconds, months and more, but for decimals,
lists, structs and maps (`refute.oracles.sql.engines.values`). Each column's Arrow type comes with
the answer. One partition, so that answers have one order.

Errors have no class of their own there: whatever it raises while it plans or runs a statement is an
SQL error, but for what it calls an internal error itself, and panics.
"""

from __future__ import annotations

import importlib.metadata
from typing import Any

import datafusion
import pyarrow

from refute.oracles.sql.driver import MESSAGE, failed
from refute.oracles.sql.engines.session import Gone, Session
from refute.oracles.sql.engines.values import is_panic, shortest

_SETTINGS = {
    "datafusion.execution.target_partitions": "1",
    "datafusion.catalog.information_schema": "true",
}
_PLAIN = frozenset(
    (
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
        *(f"{size}{kind}" for kind in ("string", "binary") for size in ("", "large_")),
        *("string_view", "binary_view", "float", "double", "halffloat", "bool", "null"),
    )
)
_BY_PYTHON = (
    "decimal",
    "list",
    "large_list",
    "fixed_size_list",
    "struct",
    "map",
    "dense",
    "sparse",
)
_SHORT = {"float": "f", "halffloat": "e"}
_BUGS = ("Internal error", "This issue was likely caused by a bug in DataFusion")


class DataFusion(Session):
    """A session with DataFusion; its context is the only connection."""

    version = f"DataFusion {importlib.metadata.version('datafusion')}"

    def __init__(self) -> None:
        self._casts = datafusion.SessionContext()
        super().__init__()

    def connected(self) -> Any:
        """A fresh context, which is a fresh database."""
        return datafusion.SessionContext(datafusion.SessionConfig(_SETTINGS))

    def close(self, connection: str) -> None:
        """Let a context go."""
        self._connections.pop(connection, None)

    def fetched(self, connection: Any, statement: str) -> list[Any]:
        """The answer; a statement without columns has no result."""
        frame = connection.sql(statement)
        schema = frame.schema()
        batches = frame.collect()
        if not len(schema):
            return ["done"]
        columns = [self._values(field.type, batches, at) for at, field in enumerate(schema)]
        rows = list(zip(*columns, strict=True))
        return ["rows", list(schema.names), rows, [str(field.type) for field in schema]]

    def refused(self, error: BaseException) -> list[Any]:
        """An SQL error, or a crash for what DataFusion itself calls a bug."""
        if is_panic(error):
            raise Gone(f"panicked: {error}"[:500])
        kind, name, message = failed(error)[:3]
        if type(error) in (Exception, ValueError):  # what its bindings raise for any refusal
            kind = "crash" if any(bug in str(error) for bug in _BUGS) else "error"
            name, message = "datafusion.Error", str(error)[:MESSAGE]
        return [kind, name, message]

    def _values(self, kind: Any, batches: list[Any], at: int) -> list[Any]:
        """The values of one column."""
        name = str(kind)
        values: list[Any] = []
        for batch in batches:
            array = batch.column(at)
            if name not in _PLAIN and not name.startswith(_BY_PYTHON):
                array = self._as_texts(array)
            values += array.to_pylist()
        return [shortest(v, _SHORT[name]) for v in values] if name in _SHORT else values

    def _as_texts(self, array: Any) -> Any:
        """The column as DataFusion's own texts, made in a context where nothing else is."""
        batch = pyarrow.record_batch([array], names=["value"])
        self._casts.register_record_batches("value", [[batch]])
        try:
            texts = self._casts.sql("SELECT arrow_cast(value, 'Utf8') FROM value").collect()
        finally:
            self._casts.deregister_table("value")
        return pyarrow.chunked_array([b.column(0) for b in texts], pyarrow.string())
