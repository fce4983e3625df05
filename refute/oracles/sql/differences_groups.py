"""Bare columns: can the rows of a query with GROUP BY be one of each group?

A column that is not grouped by may have the value of any row of its group, so a right answer need
not be SQLite's. But there is one row for each group, and a lost group with another one shown twice
is no such choice. SQLite says which rows each group can show: the query without GROUP BY has them,
numbered by their group, and the aggregates are those of the query itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from sqlglot import exp

from refute.fuzz.sql.text import Node, write
from refute.oracles.sql.sqlite import SQLite

LARGEST = 20_000  # rows before grouping that are looked at
_HERE = "refute_outputs"

Row = Sequence[Any]


def each_has_a_group(
    database: SQLite, query: Node, key: Callable[[Row], Hashable], rows: Sequence[Row]
) -> bool:
    """Whether each row can be of a group of its own; also where that cannot be told.

    key: what a row looks like. It cannot be told of HAVING, LIMIT, DISTINCT, of outputs with
    subqueries, windows, group_concat, or an aggregate beside a column, of aggregates beside `*`,
    and of queries that do not group at their top.
    """
    texts = _by_group(query)
    if texts is None:
        return True
    answers = [database.answer(text) for text in texts]
    if any(answer[0] != "rows" or len(answer[2]) > LARGEST for answer in answers):
        return True
    plain, grouped = (answer[2] for answer in answers)
    totals = [at for at, output in enumerate(query.expressions) if _aggregates(output)]
    groups: dict[Hashable, set[int]] = {}  # what a row looks like → groups that can show it
    for number, *values in plain:
        for at in totals:
            values[at] = grouped[number - 1][at]
        groups.setdefault(key(values), set()).add(number)
    return _matched([sorted(groups.get(key(row), ())) for row in rows])


def _by_group(query: Node) -> tuple[str, str] | None:
    """Queries for the rows with the number of their group, and for the groups in that order."""
    group = query.args.get("group")
    told = ("having", "limit", "offset", "distinct")
    if not isinstance(query, exp.Select) or group is None or any(map(query.args.get, told)):
        return None
    outputs = [output.unalias() for output in query.expressions]
    keys = [_key(given, query.expressions) for given in group.expressions]
    if not keys or None in keys or not all(map(_is_plain, outputs)):
        return None
    if any(map(_aggregates, outputs)) and any(map(_of_all, outputs)):
        return None
    order = ", ".join(write(key) for key in keys if key is not None)
    base = query.copy()
    base.set("expressions", [exp.column(_HERE)])
    base.set("order", None)
    grouped = write(base).replace(_HERE, ", ".join(map(write, outputs)), 1)
    base.set("group", None)
    shown = ["NULL" if _aggregates(output) else write(output) for output in outputs]
    ranked = f"DISTINCT dense_rank() OVER (ORDER BY {order}), {', '.join(shown)}"
    limited = f"{write(base).replace(_HERE, ranked, 1)} LIMIT {LARGEST + 1}"
    return limited, f"{grouped} ORDER BY {order}"


def _aggregates(output: Node) -> bool:
    """Whether it has an aggregate; MIN and MAX of several values are none."""
    return any(not found.expressions for found in output.find_all(exp.AggFunc))


def _of_all(output: Node) -> bool:
    """Whether it is `*` or `t.*`."""
    column = isinstance(output, exp.Column) and isinstance(output.this, exp.Star)
    return column or isinstance(output, exp.Star)


def _is_plain(output: Node) -> bool:
    """Whether it is an aggregate and no more of the group's columns, or has none."""
    if output.find(exp.Subquery, exp.Exists, exp.Window, exp.GroupConcat):
        return False
    columns = output.find_all(exp.Column)
    return not _aggregates(output) or all(c.find_ancestor(exp.AggFunc) for c in columns)


def _key(given: Node, outputs: Sequence[Node]) -> Node | None:
    """What is grouped by, without a place in the outputs; None for what may be an output's name."""
    if isinstance(given, exp.Literal):
        place = int(given.name) - 1 if not given.is_string and given.name.isdigit() else -1
        return outputs[place].unalias() if 0 <= place < len(outputs) else None
    aliases = {output.alias.lower() for output in outputs if output.alias}
    names = {column.name.lower() for column in given.find_all(exp.Column) if not column.table}
    return None if aliases & names else given


def _matched(choices: Sequence[Sequence[int]]) -> bool:
    """Whether each has one of its choices to itself (augmenting paths, after Kuhn)."""
    taken: dict[int, int] = {}  # choice → who has it
    has: dict[int, int] = {}  # the other way round
    for start in range(len(choices)):
        came: dict[int, int] = {}  # choice → by whom it was reached
        todo = [start]
        free = None
        while todo and free is None:
            who = todo.pop()
            for choice in choices[who]:
                if choice not in came:
                    came[choice] = who
                    if choice not in taken:
                        free = choice
                        break
                    todo.append(taken[choice])
        while free is not None:
            who = came[free]
            before = has.get(who)
            taken[free], has[who] = who, free
            free = before if who != start else None
        if start not in has:
            return False
    return True
