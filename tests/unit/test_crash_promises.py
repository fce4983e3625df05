"""What a sync of everything promises, when the view after a crash is otherwise wrong."""

from __future__ import annotations

import pytest

from refute.plain import Plain
from refute.verifiers.crash.judge import holds_common

A1, A2, B = {"size": 1}, {"size": 2}, {"size": 9}


@pytest.mark.parametrize(
    ("view", "allowed", "kept"),
    [
        # a rename in flight: neither name is promised, so two names lose nothing
        ({"/a": A1, "/b": A1}, [{"/a": A1}, {"/b": A1}], True),
        # a bystander is in every allowed view
        ({"/a": A1, "/b": A1}, [{"/a": A1, "/c": B}, {"/b": A1, "/c": B}], False),
        ({"/c": B}, [{"/a": A1, "/c": B}, {"/b": A1, "/c": B}], True),
        # it must also be unchanged, exactly
        ({"/c": {"size": 9.0}}, [{"/c": B}], False),
        # a write in flight: the file is promised in neither size
        ({"/a": B}, [{"/a": A1}, {"/a": A2}], True),
        # views without parts
        (["x"], [["x"], ["y"]], True),
        (["z"], [["x"], ["y"]], False),
    ],
)
def test_what_all_allowed_views_share_must_be_there(
    view: Plain, allowed: list[Plain], kept: bool
) -> None:
    assert holds_common(view, allowed) is kept
