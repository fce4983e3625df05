"""The engine for `AgreesWithSQLite` keeps every promise of the protocol."""

from __future__ import annotations

from pathlib import Path

from refute.budget import Budget
from refute.claim import claim
from refute.site import Site
from refute.specs.sql import AgreesWithSQLite
from refute.verifiers.conformance import Kit, conform
from refute.verifiers.sql.differential import SQLDifferential

TREE = Path(__file__).parents[1] / "cases" / "sql"
SITE = Site(TREE, TREE, (".",))


def test_sql_differential_conforms() -> None:
    kit = Kit(
        SITE,
        false=[
            claim("joins", AgreesWithSQLite("planted:left_as_inner")),
            claim("refuses", AgreesWithSQLite("planted:refuses_much", must_support=["case"])),
        ],
        sound=[claim("sound", AgreesWithSQLite("planted:sound", features=["like", "order-by"]))],
        unfit=[
            claim("silent", AgreesWithSQLite("planted:refuses_all")),
            claim("missing", AgreesWithSQLite("no_such_module:connect")),
        ],
        budget=Budget(cases=200, wall_s=60.0),
    )
    assert conform(SQLDifferential(), kit) == []
