"""What `refute check FILE[:NAME]` is about: the file's claims and its machines' properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from refute.claim import Claim
from refute.cli.place import Place
from refute.describe import describe
from refute.errors import UsageError
from refute.plain import Plain


def claims_of(
    place: Place, roots: Sequence[str], name: str, settings: Mapping[str, Sequence[Plain]]
) -> list[Claim]:
    """The claims to judge. Raises UsageError when NAME or a constant fits nothing in the file."""
    stated = list(describe(place.tree, roots, [place.file]))
    chosen = [c for c in stated if name in ("", c.name)]
    if not chosen:
        raise UsageError(
            f"{place.file} has nothing called {name!r}" if name else f"{place.file} claims nothing",
            thing="FILE[:NAME]",
            value=name or place.file,
            possible=tuple(dict.fromkeys(c.name for c in stated)),
            next_step="name a machine, a property or a claim of the file",
        )
    return chosen
