"""Failures on their way to causes: what is cheap to know of each, and what was found to be one.

What a failure shows is known of those that were reduced, and of those whose smallest wrong part was
looked at. The others are guessed from these: by the kind of failure, an error's words, whether
there are more or fewer values than expected, and the constructs of the statement, each of which
tells the more the more often it came with one cause and the less often with others (a naive Bayes
classifier). No failure goes to a cause whose constructs it has not.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from refute.verifiers.sql.conform_causes_shape import SAYING, Shape
from refute.verifiers.sql.conform_causes_words import Words, normal_message, words_of
from refute.verifiers.sql.conform_file import Failure, FileResult
from refute.verifiers.sql.conform_reduce import Reduced

NEAR = 0.6  # how alike failures must be where none of the constructs of one is in its script
_NUMBER = re.compile(r"(?:(\d+)|no) values?\b")

Signature = tuple[str, str, str, Words]
"""Kind, an error's words, whether there are more or fewer values than expected, constructs."""
Need = tuple[str, str, str, Words, Words]
"""Of a failure whose cause is known: its signature, and those of its constructs that make it."""


@dataclasses.dataclass
class Item:
    """A failure that needs a cause."""

    file: FileResult
    failure: Failure
    signature: Signature

    @property
    def place(self) -> str:
        """path:line."""
        return f"{self.failure.path or self.file.path}:{self.failure.line}"


@dataclasses.dataclass
class Group:
    """What reductions found to be one. items: reduced. located: by their smallest wrong part.
    assigned: guessed."""

    shape: Shape
    best: Reduced
    item: Item
    needs: list[Need]
    verified: bool = False
    items: list[Item] = dataclasses.field(default_factory=list)
    located: list[Item] = dataclasses.field(default_factory=list)
    assigned: list[Item] = dataclasses.field(default_factory=list)

    @property
    def count(self) -> int:
        """Of all its failures."""
        return len(self.items) + len(self.located) + len(self.assigned)

    def take(self, other: Group) -> None:
        """Have the failures of a group that shows the same."""
        self.items += other.items
        self.located += other.located
        self.needs += [need for need in other.needs if need not in self.needs]

    def locate(self, item: Item) -> None:
        """Have a failure whose smallest wrong part shows the same."""
        self.located.append(item)
        self.learn(item)

    def learn(self, item: Item) -> None:
        """Know what a failure of the group looks like."""
        need = (*item.signature, item.signature[3] & words_of(self.best.script.sql))
        if need not in self.needs:
            self.needs.append(need)

    def fits(self, signature: Signature) -> float:
        """How like a failure is to the most alike of its own, up to 1; 0 when it can be none."""
        kind, message, size, words = signature
        alike = [
            ((1 + len(words & had)) / (1 + len(words | had)), need)
            for of, said, sized, had, need in self.needs
            if (of, said, sized) == (kind, message, size) and need <= words
        ]
        return max((near for near, need in alike if need or near >= NEAR), default=0.0)

    def says(self, signature: Signature) -> bool:
        """Whether it ends in the same error, be it with other constructs."""
        return bool(signature[1]) and any(need[:2] == signature[:2] for need in self.needs)


class Likely:
    """Which group a failure is of, as far as its signature tells."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self._groups = groups
        self._needs = [_least(group.needs) for group in groups]
        known = [[i.signature for i in (*g.items, *g.located)] for g in groups]
        total = sum(map(len, known))
        vocabulary = frozenset(word for own in known for s in own for word in _features(s))
        self._base: list[float] = []
        self._gain: list[dict[str, float]] = []
        for own in known:
            count = Counter(word for signature in own for word in _features(signature))
            base, gain = math.log((len(own) + 1) / (total + len(groups))), {}
            for word in sorted(vocabulary):
                share = (count[word] + 0.5) / (len(own) + 1)
                base += math.log(1 - share)
                gain[word] = math.log(share) - math.log(1 - share)
            self._base.append(base)
            self._gain.append(gain)

    def of(self, signature: Signature) -> Group | None:
        """The likeliest group; None where a failure can be of none."""
        best, most = None, -math.inf
        features = _features(signature)
        for place, group in enumerate(self._groups):
            if not self._can_be(place, signature):
                continue
            gain = self._gain[place]
            score = self._base[place] + sum(gain.get(word, 0.0) for word in features)
            if score > most:
                best, most = group, score
        if best is None:
            near = max(self._groups, key=lambda g: g.fits(signature), default=None)
            if near is not None and near.fits(signature):
                return near
            best = next((group for group in self._groups if group.says(signature)), None)
        return best

    def _can_be(self, place: int, signature: Signature) -> bool:
        """Whether a failure has constructs that make the group's, or is much like one of them."""
        needs = self._needs[place].get(signature[:2], ())
        if not all(needs):
            return self._groups[place].fits(signature) > 0
        return any(need <= signature[3] for need in needs)


def _features(signature: Signature) -> Words:
    return signature[3] | {f"size {signature[2]}"}


def _least(needs: Sequence[Need]) -> dict[tuple[str, str], list[Words]]:
    """The smallest sets of constructs, by kind and message, that one of a group's failures had."""
    found: dict[tuple[str, str], list[Words]] = {}
    for need in sorted(needs, key=lambda n: len(n[4])):
        least = found.setdefault(need[:2], [])
        if need[4] and not any(other <= need[4] for other in least):
            least.append(need[4])
    return found


def items_of(files: Sequence[FileResult]) -> Iterator[Item]:
    """All failures that need a cause: neither known nor following from others, and seen twice."""
    for file in files:
        for failure in file.failures:
            if failure.confirmed is not False and not (failure.follows or failure.known):
                yield Item(file, failure, _signature(failure))


def _signature(failure: Failure) -> Signature:
    message = ""
    if failure.kind in SAYING or failure.kind == "hang":
        message = normal_message(failure.got, [failure.sql])
    expected, got = (_NUMBER.match(text) for text in (failure.expected, failure.got))
    size = ""
    if expected and got:
        a, b = (int(found[1] or 0) for found in (expected, got))
        size = "fewer" if b < a else "more" if b > a else "same"
    return failure.kind, message, size, words_of(failure.sql)
