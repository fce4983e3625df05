"""Asking and judging: one engine, the oracles, and a database that both know.

All that is to be asked about some cases goes to the engine in one batch, because a message costs as
much as a query; the answers are judged afterwards. A statement that two oracles ask about one case
is asked once. What a statement does to the database is never shared: a question that changes it
comes alone, on a new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from refute.fuzz.sql.text import remembering
from refute.oracles.sql.partial.across import in_kinds
from refute.oracles.sql.partial.question import Answer, Case, Judged, Oracle, Question
from refute.oracles.sql.partial.written import text_of, tree_of, writes
from refute.oracles.sql.sqlite import UNFINISHED
from refute.verifiers.sql.conform_engine import EngineLost
from refute.verifiers.sql.conform_names import SQLITE
from refute.verifiers.sql.fuzz_database import MOST_LOST, OFTEN, UNWRITTEN, Asked, Database
from refute.verifiers.sql.fuzz_failure import SAID, Failure, kind_of, plain_reason, reason_of
from refute.verifiers.sql.fuzz_plans import Plans
from refute.verifiers.sql.fuzz_writing import Refused

BUG = "a bug of refute"
BAD = ("error", "lost", "crash", "unfit")


class Desk(Database):
    """An engine with the oracles that judge it, asked about cases."""

    def ask(self, cases: Sequence[tuple[int, Case]]) -> list[tuple[Case, Question]]:
        """All questions about the cases that leave the database as it is; `failures` grow.

        cases: with their places in the program. The questions that change it are given back.
        """
        batch: list[str] = []
        asked: list[Asked] = []
        changing = []
        for place, case in cases:
            shared: dict[str, int] = {}
            for question in self._all_questions(case):
                if question.changes:
                    changing.append((case, question))
                    continue
                slots = self._slots(question, batch, shared)
                if slots is not None:
                    asked.append(Asked(place, case, question, slots))
        self._judge(asked, batch)
        return changing

    def _all_questions(self, case: Case) -> list[Question]:
        with remembering():
            return [q for oracle in self.oracles.values() for q in self._questions(oracle, case)]

    def says_nothing(self, query: str) -> bool:
        """Whether SQLite does not finish a query of the database in use, which is noted.

        Nothing can be said of such a query, and each oracle would wait for it.
        """
        unfinished = self._own(query) == ["unfit", UNFINISHED]
        if unfinished:
            self.counts.open[UNFINISHED] += 1
        return unfinished

    def explained(self, plans: Plans, cases: Sequence[tuple[int, Case]]) -> None:
        """Have the engine tell its plans of some of the queries."""
        texts = [self.written(case.asked) for _, case in plans.chosen(cases)]
        wanted = [plans.asked(text) for text in texts if isinstance(text, str)]
        answers = list(self.engine.answers(wanted)) if wanted else []
        plans.take(answers)

    def ask_alone(self, questions: Sequence[tuple[Case, Question]], place: int = 0) -> None:
        """Questions in a row, on the database that is there, whatever they change."""
        batch: list[str] = []
        asked = []
        for case, question in questions:
            slots = self._slots(question, batch, {})
            if slots is not None:
                asked.append(Asked(place, case, question, slots))
        self._judge(asked, batch)

    def breaks(
        self, name: str, setup: Sequence[str], query: str, seed: int, *, fresh: bool = False
    ) -> Sequence[Failure]:
        """What breaks when one oracle asks about a query on a new database. Raises EngineLost."""
        oracle, tree = self.oracles[name], tree_of(query)
        self.failures, self.losses = [], 0
        if writes(tree) and hasattr(oracle, "setup_judged"):
            self.begin([*setup, query], fresh=fresh)
            return [failure for failure in self.failures if failure.query == query]
        self.begin(setup, fresh=fresh)
        self.failures = []
        case = Case(self.setup, tree, seed, self.dialect)
        questions = self._questions(oracle, case)
        plain = [(case, question) for question in questions if not question.changes]
        changing = [(case, question) for question in questions if question.changes]
        self.ask_alone(plain)
        for number, one in enumerate(changing):
            if self.failures:
                break
            if plain or number:
                self.begin(setup)
                self.failures = []
            self.ask_alone([one])
        return self.failures

    def _questions(self, oracle: Oracle, case: Case) -> Sequence[Question]:
        try:
            return list(oracle.questions(case))
        except Exception as error:  # of refute's own: it must not end the run, and is told
            self._bug(oracle.name, error)
            return ()

    def _bug(self, oracle: str, error: Exception) -> None:
        self.counts.open[f"{BUG} in {oracle}: {type(error).__name__}: {error}"[:SAID]] += 1

    def _slots(
        self, question: Question, batch: list[str], shared: dict[str, int]
    ) -> tuple[int, ...] | None:
        """Put the question's statements into the batch; None where one cannot be written."""
        texts, kinds = [], []
        for statement in (*question.statements, *question.undo):
            text = self.written(statement)
            if isinstance(text, Refused):
                self.counts.open[f"{UNWRITTEN}{text.construct}"] += 1
                return None
            texts.append(text)
            kinds.append(getattr(self._writing, "kinds", ()))
        if question.undo or question.changes:
            shared = {}
        slots = []
        for text, kind in zip(texts, kinds, strict=True):
            slot = shared.get(text) if not (question.undo or question.changes) else None
            if slot is None:
                slot = shared[text] = len(batch)
                batch.append(text)
                if kind:
                    self._kinds[slot] = kind
            slots.append(slot)
        return tuple(slots[: len(question.statements)])

    def _judge(self, asked: Sequence[Asked], batch: Sequence[str]) -> None:
        answers: dict[int, Answer] = {}
        try:
            self._answer(asked, batch, answers)
        finally:
            for slot, kinds in self._kinds.items():
                if slot in answers:
                    answers[slot] = in_kinds(answers[slot], kinds)
            self._kinds = {}
            self._count(batch, answers)
            for one in asked:
                if all(slot in answers for slot in one.slots):
                    self._one(one, [answers[slot] for slot in one.slots])
            self._note_refused(asked, answers)
            if self.log is not None:
                self.log += asked

    def _answer(
        self, asked: Sequence[Asked], batch: Sequence[str], answers: dict[int, Answer]
    ) -> None:
        """The engine's answers to the batch, by place.

        Over a case that the engine is lost at, or that it does not finish, nothing more is asked;
        and it is not lost often.
        """
        todo = list(range(len(batch)))
        while todo:
            lost = -1
            given = self.engine.answers([batch[slot] for slot in todo])
            for slot, answer in zip(todo, given, strict=False):
                answers[slot] = answer
                if answer[0] == "lost" or (answer[0] == "unfit" and answer[1] == UNFINISHED):
                    lost = slot
                    break
            if lost < 0:
                return
            self.losses += answers[lost][0] == "lost"
            cases = {id(one.case) for one in asked if lost in one.slots}
            self.ended |= {one.place for one in asked if lost in one.slots and one.place >= 0}
            gone = {slot for one in asked if id(one.case) in cases for slot in one.slots}
            if self.losses >= MOST_LOST:
                raise EngineLost(f"{OFTEN} {MOST_LOST} times in one program")
            todo = [slot for slot in todo if slot > lost and slot not in gone]

    def _note_refused(self, asked: Sequence[Asked], answers: Mapping[int, Answer]) -> None:
        """Which of the program's queries were refused, in whatever form."""
        places = {one.place for one in asked if one.place >= 0}
        wrong = {slot for slot, answer in answers.items() if answer[0] in BAD}
        if wrong:
            refused = {one.place for one in asked if not wrong.isdisjoint(one.slots)} & places
            self.refused |= refused
            self.counts.accepted -= len(refused)
        self.counts.accepted += len(places)

    def _count(self, batch: Sequence[str], answers: Mapping[int, Answer]) -> None:
        counts = self.counts
        counts.statements += len(answers)
        for slot, answer in answers.items():
            if answer[0] == "error":
                if self.dialect == SQLITE and self._own(batch[slot])[0] == "error":
                    counts.refused_by_sqlite[reason_of(answer)] += 1
                else:
                    counts.rejected[reason_of(answer)] += 1
            elif answer[0] == "lost":
                counts.lost += 1

    def _one(self, one: Asked, answers: Sequence[Answer]) -> None:
        """Judge one question."""
        counts, name = self.counts, one.question.oracle
        try:
            judged = one.question.judge(answers)
        except Exception as error:  # as in `_questions`
            self._bug(name, error)
            return
        counts.questions[name] += 1
        if judged.status == "held":
            counts.held[name] += 1
            counts.compared += 1
        elif judged.status == "open":
            counts.open[plain_reason(judged.why)] += 1
        else:
            counts.broken[name] += 1
            counts.compared += 1
            self.failures.append(self._failure(one, judged, answers))

    def _failure(self, one: Asked, judged: Judged, answers: Sequence[Answer]) -> Failure:
        return Failure(
            oracle=one.question.oracle,
            setup=one.case.setup,
            query=text_of(one.case.query),
            seed=one.case.seed,
            program=self.program,
            kind=kind_of(answers),
            why=judged.why,
            expected=judged.expected,
            observed=judged.observed,
            asked_setup=self.asked_setup,
            asked=tuple(str(self.written(s)) for s in one.question.statements),
            place=one.place,
        )
