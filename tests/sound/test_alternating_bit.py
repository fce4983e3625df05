"""The alternating bit protocol: published counts over channels that lose, right where messages are
delivered twice, wrong where they overtake each other.
"""

from __future__ import annotations

from typing import Any

import pytest

from refute.machine import Model, Part, action, part
from refute.specs.library.alternating_bit import (
    AlternatingBit,
    Duplicating,
    Receiver,
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


@pytest.mark.parametrize("model", [AlternatingBit.build(), Duplicating.build()], ids=repr)
def test_arrives_and_implements_reliable_channels(model: Model) -> None:
    assert judged(model).hits == {}


class Impatient(Receiver):
    """Planted: takes a message only where one waits for good."""

    @action(fair="weak")
    def take(self) -> None:
        message = self.into.receive()
        self.bit = message.bit
        self.received = message.data


class Unfair(AlternatingBit):
    receiver: Part[Impatient] = part(Impatient, into=lambda self: self.data)


def test_messages_that_are_always_lost_before_they_are_taken() -> None:
    hits: Any = judged(Unfair.build()).hits
    assert set(hits) == {"arrives"}
    assert Play(Unfair, {}, hits["arrives"]["case"]).judge()["broke"] is True


def test_wrong_where_messages_overtake_each_other() -> None:
    model = Reordering.build()
    hits: Any = judged(model).hits
    assert set(hits) == {"reliable", "arrives"} and len(hits["reliable"]["case"]["steps"]) == 6
    for hit in hits.values():
        assert Play(model.cls, model.constants, hit["case"]).judge()["broke"] is True
