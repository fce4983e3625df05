"""The engines for functions and objects keep every promise of the protocol."""

from __future__ import annotations

from pathlib import Path

from refute.budget import Budget
from refute.claim import claim
from refute.site import Site
from refute.specs.domains import Ints, Lists
from refute.specs.function import Equals, Holds
from refute.specs.reference import AgreesWith
from refute.verifiers.conformance import Kit, conform
from refute.verifiers.differential import Differential
from refute.verifiers.sampling import Sampling

TREE = Path(__file__).parents[1] / "cases" / "functions"
SITE = Site(TREE, TREE, (".",))
BUDGET = Budget(cases=100, wall_s=20.0)
NUMBERS = {"x": Ints(0, 60)}
QUEUE = {"put": {"x": Ints(0, 1)}, "get": {}}


def test_sampling_conforms() -> None:
    kit = Kit(
        SITE,
        false=[
            claim("wrong", Holds("subjects:wrong_above", "specs:doubles", NUMBERS)),
            claim("lossy", Equals("subjects:drops_twins", "specs:in_order", {"v": Lists(Ints())})),
        ],
        sound=[
            claim("few", Holds("subjects:double", "specs:doubles", NUMBERS)),
            claim("many", Equals("subjects:double", "specs:twice", {"x": Ints()})),
        ],
        unfit=[
            claim("none", Holds("subjects:double", "specs:returns_none", NUMBERS)),
            claim("idle", Holds("subjects:double", "specs:never_asks", NUMBERS)),
        ],
        budget=BUDGET,
    )
    assert conform(Sampling(), kit) == []


def test_differential_conforms() -> None:
    kit = Kit(
        SITE,
        false=[claim("stack", AgreesWith("queues:Stack", "queues:Reference", QUEUE, depth=3))],
        sound=[claim("queue", AgreesWith("queues:Sound", "queues:Reference", QUEUE, depth=3))],
        unfit=[claim("odd", AgreesWith("queues:Odd", "queues:Reference", QUEUE))],
        budget=BUDGET,
    )
    assert conform(Differential(), kit) == []
