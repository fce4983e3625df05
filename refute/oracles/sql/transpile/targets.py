"""The engines that statements are written for: what each calls things, as data.

Sources: the engines' manuals, and the engines themselves, which the tests ask.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from refute.errors import UsageError
from refute.oracles.sql.transpile.kinds import BLOB, INT, NUM, REAL, TEXT

DOUBLE = "DOUBLE PRECISION"


@dataclasses.dataclass(frozen=True)
class Target:
    """How an engine writes what SQLite's statements mean.

    verbatim: statements go as they are. types: type name of each kind. narrow: integer literals
    have 32 bits unless cast. divide: the operator of integer division. quote: around identifiers.
    same: the operator that takes NULL as equal. any_value: function that takes any row's value of
    a group; "" when a bare column does. joins_texts: the function behind GROUP_CONCAT. blind_like:
    operator of LIKE that ignores the case of letters, "" when there is none. nulls: whether NULLS
    FIRST can be written. least: names of the smallest and the largest of several. boolean: its
    type of conditions, "" when those are integers. binary: collation to give to text columns.
    lacks: constructs that it refuses, or takes and does not keep. unique_names: whether result
    columns must have different names, and none that is a column's. cascades: a view that others
    show can only be dropped with them, which SQLite leaves to fail. analyzes: whether ANALYZE means
    all tables. ignore, replace: how INSERT OR
    IGNORE and INSERT OR REPLACE are said. begins: statements that a session begins with.
    """

    name: str
    verbatim: bool = False
    types: Mapping[str, str] = dataclasses.field(
        default_factory=lambda: {
            INT: "BIGINT",
            REAL: "DOUBLE",
            NUM: "DOUBLE",
            TEXT: "VARCHAR",
            BLOB: "BLOB",
        }
    )
    narrow: bool = False
    divide: str = "/"
    quote: str = '"'
    same: str = "IS NOT DISTINCT FROM"
    any_value: str = ""
    joins_texts: str = "STRING_AGG"
    blind_like: str = "ILIKE"
    nulls: bool = True
    least: tuple[str, str] = ("LEAST", "GREATEST")
    truncate: str = "TRUNC"
    boolean: str = "BOOLEAN"
    binary: str = ""
    lacks: frozenset[str] = frozenset()
    unique_names: bool = False
    cascades: bool = False
    analyzes: bool = False
    ignore: str = ""
    replace: str = ""
    begins: tuple[str, ...] = ()


_PG_TYPES = {INT: "BIGINT", REAL: DOUBLE, NUM: DOUBLE, TEXT: "TEXT", BLOB: "BYTEA"}
_MY_TYPES = {INT: "BIGINT", REAL: "DOUBLE", NUM: "DOUBLE", TEXT: "VARCHAR(700)", BLOB: "BLOB"}

TARGETS: dict[str, Target] = {
    made.name: made
    for made in (
        Target("sqlite", verbatim=True),
        Target("turso", verbatim=True),
        Target(
            "duckdb",
            narrow=True,
            divide="//",
            any_value="FIRST",
            lacks=frozenset({"REINDEX", "partial index"}),
            analyzes=True,
            ignore="OR IGNORE",
            replace="OR REPLACE",
        ),
        Target(
            "postgresql",
            types=_PG_TYPES,
            narrow=True,
            any_value="ARRAY_AGG",
            binary='COLLATE "C"',
            cascades=True,
            analyzes=True,
            ignore="ON CONFLICT DO NOTHING",
            replace="ON CONFLICT",
        ),
        Target(
            "datafusion",
            any_value="FIRST_VALUE",
            unique_names=True,
            lacks=frozenset({"index", "REINDEX", "key", "temporary", "row-in"}),
        ),
        Target(
            "mysql",
            types=_MY_TYPES,
            divide="DIV",
            quote="`",
            same="<=>",
            joins_texts="GROUP_CONCAT",
            unique_names=True,
            blind_like="",
            nulls=False,
            truncate="TRUNCATE",
            boolean="",
            binary="CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
            lacks=frozenset({"partial index", "expression index"}),
            ignore="IGNORE",
            replace="REPLACE",
            begins=("SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin",),  # or 'a' = 'A'
        ),
    )
}
_ALSO = {"postgres": "postgresql", "mariadb": "mysql"}


def target_of(name: str) -> Target:
    """The engine of this name. Raises UsageError."""
    found = TARGETS.get(_ALSO.get(name.lower(), name.lower()))
    if found is None:
        raise UsageError(
            f"statements cannot be written for {name!r}",
            thing="--transpile",
            value=name,
            possible=tuple(TARGETS),
            next_step="name the dialect that is nearest to the engine's",
        )
    return found
