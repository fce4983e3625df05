"""Triggers: a change of one table changes another.

They end, because a trigger writes only to tables that come after its own. They do the same in every
engine, because those that run for many rows in no certain order only add and delete rows, and add
them where no key could refuse some.
"""

from __future__ import annotations

from sqlglot import exp

from refute.fuzz.sql.definitions import Trigger, name, table
from refute.fuzz.sql.drafts import Draft, Drafting, column_of, insert
from refute.fuzz.sql.schema import Column, literal
from refute.fuzz.sql.tables import value_for
from refute.fuzz.sql.text import Node

TRIES = 4
EVENTS = ("INSERT", "INSERT", "UPDATE", "DELETE")


def add_trigger(drafting: Drafting) -> None:
    """Adds a CREATE TRIGGER on a table that has another one after it."""
    rng = drafting.rng
    tables = [draft for draft in drafting.drafts if draft.kind == "table"]
    if len(tables) < 2:
        return
    place = rng.randrange(len(tables) - 1)
    own, other = tables[place], rng.choice(tables[place + 1 :])
    event = rng.choice(EVENTS)
    drawn = (_body(drafting, own, other, event) for _ in range(TRIES))
    body = next(filter(None, drawn), None)
    if body is None:
        return
    made = Trigger(
        this=name(drafting.fresh("g")),
        timing=rng.choice(("AFTER", "AFTER", "BEFORE")),
        event=event,
        table=table(own.name),
        expressions=[body],
    )
    if event == "UPDATE" and rng.random() < 0.4:
        made.set("columns", [name(rng.choice(own.plain()).name)])
    if rng.random() < 0.4:
        made.set("condition", _condition(drafting, own, event))
    drafting.statements.append(made)


def _row(drafting: Drafting, event: str) -> str:
    """Which of the two rows of an event to name."""
    both = {"INSERT": ("NEW",), "DELETE": ("OLD",), "UPDATE": ("NEW", "OLD")}[event]
    return drafting.rng.choice(both)


def _value(drafting: Drafting, own: Draft, event: str) -> Node:
    column = drafting.rng.choice(own.plain())
    return exp.Column(this=name(column.name), table=name(_row(drafting, event)))


def _condition(drafting: Drafting, own: Draft, event: str) -> Node:
    rng = drafting.rng
    value = _value(drafting, own, event)
    if rng.random() < 0.5:
        return exp.Not(this=exp.Is(this=value, expression=exp.Null()))
    kind = rng.choice((exp.EQ, exp.NEQ, exp.GT, exp.LTE))
    column = next(c for c in own.columns if c.name == value.name)
    return kind(this=value, expression=literal(value_for(drafting, own, column)))


def _body(drafting: Drafting, own: Draft, other: Draft, event: str) -> Node | None:
    rng = drafting.rng
    drawn = rng.random()
    ordered = event == "INSERT"  # its rows come in the order of VALUES
    free = [c for c in other.plain() if c.name not in other.keyed() and not c.not_null]
    features = drafting.shape.features
    if drawn < 0.2 and "delete" in features:
        column = rng.choice(other.plain())
        match = exp.EQ(this=column_of(column), expression=_value(drafting, own, event))
        other.settled = False
        return exp.Delete(this=table(other.name), where=exp.Where(this=match))
    if other.picky or other.strict or not free:
        return None
    if drawn < 0.4 and "update" in features and ordered and not other.constraints:
        column = rng.choice(free)
        made = exp.EQ(this=column_of(column), expression=_value(drafting, own, event))
        return exp.Update(this=table(other.name), expressions=[made])
    if other.keyed() or other.constraints or any(c.not_null for c in other.plain()):
        return None
    other.settled = other.settled and ordered
    return _copied(drafting, own, other, event, rng.sample(free, rng.randint(1, len(free))))


def _copied(drafting: Drafting, own: Draft, other: Draft, event: str, into: list[Column]) -> Node:
    """INSERT of values of the row that was changed."""
    values = [
        _value(drafting, own, event)
        if place == 0 or drafting.rng.random() < 0.6
        else literal(value_for(drafting, other, column))
        for place, column in enumerate(into)
    ]
    made = insert(other.name, [column.name for column in into], [])
    made.set("expression", exp.Values(expressions=[exp.Tuple(expressions=values)]))
    return made
