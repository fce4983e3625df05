"""DataFusion: pip install datafusion."""

from __future__ import annotations

from typing import Any

import datafusion


class Error(Exception):
    """What DataFusion refuses; it has no class of its own for that."""


def opened(engine: str) -> Any:
    """A context with one partition."""
    settings = {"datafusion.execution.target_partitions": "1"}
    context: Any = datafusion.SessionContext(datafusion.SessionConfig(settings))

    def ask(sql: str) -> Any:
        try:
            frame = context.sql(sql)
            names = frame.schema().names
            batches = frame.collect()
        except Exception as error:
            if "Internal error" in str(error):
                raise
            raise Error(str(error)) from error
        columns = [
            [value for batch in batches for value in batch.column(at).to_pylist()]
            for at in range(len(names))
        ]
        return list(zip(*columns, strict=True)) if names else None

    return ask
