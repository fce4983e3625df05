"""The alternating bit protocol: published counts over channels that lose, right where messages are
delivered twice, wrong where they overtake each other.
"""

from __future__ import annotations

from typing import Any

import pytest

from refute.machine import Channel, Model, Var, channel
from refute.specs.library.alternating_bit import (
    AlternatingBit,
    Duplicating,
    Message,
    Reliable,
    Reordering,
)
from refute.specs.machine.play import Play
from refute.verifiers.model.confirm import Confirm
from refute.verifiers.model.liveness import Liveness

PUBLISHED = [  # tlaplus/Examples, SpecifyingSystems/TLC: ABCorrectness and MCAlternatingBit
    (Reliable.build(), (20, 36, 3)),
    (AlternatingBit.build(), (240, 1392, 10)),
]


@pytest.mark.parametrize(("model", "counts"), PUBLISHED, ids=repr)
def test_published_counts(model: Model, counts: tuple[int, int, int]) -> None:
    first, second = Liveness(model.ir).advance(20.0), Confirm(model.ir).advance(20.0)
    for found in (first, second):
        assert (found["distinct"], found["generated"], found["depth"]) == counts


def judged(model: Model) -> Liveness:
    liveness = Liveness(model.ir)
    while not liveness.advance(20.0)["finished"]:
        pass
    assert liveness.reasons == {}
    return liveness


@pytest.mark.parametrize("model", [AlternatingBit.build(), Duplicating.build(LEN=1)], ids=repr)
def test_arrives_and_implements_reliable_channels(model: Model) -> None:
    assert judged(model).hits == {}


class WithoutFairness(AlternatingBit):
    """Planted: delivered again and again, and nothing says that this ends."""

    data: Var[Channel[Message]] = channel(capacity="LEN", duplicating=True)


def test_a_message_that_is_delivered_for_ever() -> None:
    hits: Any = judged(WithoutFairness.build()).hits
    assert set(hits) == {"arrives"}
    assert Play(WithoutFairness, {}, hits["arrives"]["case"]).judge()["broke"] is True


def test_wrong_where_messages_overtake_each_other() -> None:
    model = Reordering.build()
    hits: Any = judged(model).hits
    assert set(hits) == {"reliable", "arrives"} and len(hits["reliable"]["case"]["steps"]) == 6
    for hit in hits.values():
        assert Play(model.cls, model.constants, hit["case"]).judge()["broke"] is True
