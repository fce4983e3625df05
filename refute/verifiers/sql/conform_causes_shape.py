"""When two reduced scripts show one cause.

A shape is the kind of failure, the error's words, and the constructs of the script. Reduction ends
at a script that no single step makes smaller, and different records end at different ones: `a = b`
here, `a <> b` there, or something more that happens to be in the way. So shapes are taken as one
where they differ in the spelling of one thing (comparisons; a list or a subquery of IN), in words
that rather say where the value stood, or where one has all constructs of the other and some more;
and in all these cases the answers must be wrong in the same way. Errors with the same words are one
unless their scripts have no construct in common.
"""

from __future__ import annotations

from typing import NamedTuple

from refute.verifiers.sql.conform_causes_title import outcome
from refute.verifiers.sql.conform_causes_words import Words, words_of, words_of_all
from refute.verifiers.sql.conform_reduce import Reduced

_FAMILIES = {
    "=": "comparison", "!=": "comparison", "<": "comparison", ">": "comparison",
    "<=": "comparison", ">=": "comparison", "IN (SELECT)": "IN", "setup NULL": "NULL",
    "IS NULL": "NULL",
}  # fmt: skip
SAYING = frozenset({"error", "crash", "unfit"})  # kinds whose message tells causes apart
_PLACES = frozenset({"subquery", "text", "empty text", "float", "large number"})
_OUTSIDE = frozenset({"WHERE", "join"})  # of what a value is wrong in; not of a join itself
_JOINS = frozenset({"LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "NATURAL JOIN", "CROSS", "USING"})


class Shape(NamedTuple):
    """kind, message: of the difference. words: constructs. wrong: how the answer is wrong."""

    kind: str
    message: str
    words: Words
    wrong: str

    @property
    def plain(self) -> Words:
        """The constructs with one word for each family, and without those of places."""
        words = frozenset(_FAMILIES.get(word, word) for word in self.words)
        places = _PLACES if words & _JOINS else _PLACES | _OUTSIDE
        return words - places or words

    def covers(self, other: Shape) -> bool:
        """Whether a script of the other shape shows what this one shows, and maybe more."""
        if (self.kind, self.message, self.wrong) != (other.kind, other.message, other.wrong):
            return False
        if self.kind in SAYING:
            return not (self.words and other.words) or bool(self.plain & other.plain)
        return bool(self.words) and self.plain <= other.plain


def shape_of(reduced: Reduced) -> Shape:
    """The shape of a reduced script."""
    found = reduced.difference
    words = words_of(reduced.script.sql) | words_of_all(reduced.script.setup)
    return Shape(found.kind, found.message, words, outcome(found))
