"""Somebody's script on an engine of another dialect than SQLite's, asked as it stands.

The run asks such a script twice: written for the engine, so that SQLite can be held beside it, and
here as it came. What the engine refuses of it is counted, and stays in: refused statements may be
what the script is about.
"""

from __future__ import annotations

from collections.abc import Sequence

from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.own import ORACLES, own_text, own_tree
from refute.oracles.sql.partial.question import Case
from refute.oracles.sql.partial.written import text_of
from refute.verifiers.sql.conform_engine import EngineLost
from refute.verifiers.sql.conform_names import SQLITE
from refute.verifiers.sql.fuzz_asking import Desk
from refute.verifiers.sql.fuzz_database import MOST_LOST, OFTEN
from refute.verifiers.sql.fuzz_failure import Failure, reason_of
from refute.verifiers.sql.fuzz_oracles import opened
from refute.verifiers.sql.fuzz_plan import Counts, Plan
from refute.verifiers.sql.fuzz_writing import dialect_of


class OwnDesk(Desk):
    """A desk whose statements are in the engine's own dialect throughout."""

    def begin(self, statements: Sequence[Node | str], *, fresh: bool = False) -> None:
        """A new database with this setup, as far as the engine takes it. Raises EngineLost."""
        self._start(fresh=fresh)
        self._forget()
        texts = tuple(s if isinstance(s, str) else text_of(s) for s in statements)
        self.setup, self.asked_setup = texts, texts
        for answer in self.engine.answers(texts) if texts else ():
            self.counts.statements += 1
            if answer[0] == "error":
                self.counts.rejected[reason_of(answer)] += 1
            elif answer[0] == "lost":
                self.losses += 1
        if self.losses >= MOST_LOST:
            raise EngineLost(f"{OFTEN} {MOST_LOST} times in one program")

    def written(self, statement: Node | str) -> str:
        """A statement as the engine is asked it."""
        return statement if isinstance(statement, str) else own_text(statement, self.dialect)

    def case(self, query: str, seed: int) -> Case:
        """A query of the database in use."""
        return Case(self.setup, own_tree(query, self.dialect), seed, self.dialect)

    def breaks(
        self, name: str, setup: Sequence[str], query: str, seed: int, *, fresh: bool = False
    ) -> Sequence[Failure]:
        """What breaks when one oracle asks about a query on a new database. Raises EngineLost."""
        self.failures, self.losses = [], 0
        self.begin(setup, fresh=fresh)
        case = self.case(query, seed)
        for number, question in enumerate(self._questions(self.oracles[name], case)):
            if number and question.changes:
                self.begin(setup)
            self.ask_alone([(case, question)])
            if self.failures:
                break
        return self.failures


def own_desk(plan: Plan) -> OwnDesk | None:
    """A desk for scripts as they stand; None where they are in SQLite's dialect anyway."""
    if dialect_of(plan.choice) == SQLITE or not plan.seeds:
        return None
    oracles = [name for name in plan.oracles if name in ORACLES]
    return OwnDesk(plan.choice, opened(oracles), Counts()) if oracles else None
