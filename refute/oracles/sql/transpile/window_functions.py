"""Window functions written for another engine: their names, what they are over, and frames."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from refute.fuzz.sql.nodes import make, put
from refute.fuzz.sql.text import Node
from refute.oracles.sql.transpile.functions import Functions, aggregate, aggregates, filtered
from refute.oracles.sql.transpile.kinds import INT, REAL, Inexpressible, Typed
from refute.oracles.sql.transpile.scopes import Scope
from refute.oracles.sql.transpile.writer import call, cast, integer, named

_RANKS: dict[type[Node], tuple[str, str]] = {
    exp.RowNumber: ("ROW_NUMBER", INT),
    exp.Rank: ("RANK", INT),
    exp.DenseRank: ("DENSE_RANK", INT),
    exp.PercentRank: ("PERCENT_RANK", REAL),
    exp.CumeDist: ("CUME_DIST", REAL),
}
_SHOWN: dict[type[Node], str] = {
    exp.FirstValue: "FIRST_VALUE",
    exp.LastValue: "LAST_VALUE",
    exp.NthValue: "NTH_VALUE",
    exp.Lag: "LAG",
    exp.Lead: "LEAD",
}
_PARTS = ("partition_by", "order", "spec")


class WindowFunctions(Functions):
    """Rewrites window functions."""

    def function(self, node: Node, scope: Scope) -> Typed:
        """Anything that is no operator. Raises Inexpressible and Unresolved."""
        if not isinstance(node, exp.Window):
            return super().function(node, scope)
        if scope.groups is not None:
            raise Inexpressible("a window function over groups")
        of = filtered(node.this) if isinstance(node.this, exp.Filter) else node.this
        inside = [*of.iter_expressions(), *node.iter_expressions()]
        if any(aggregates(part) for part in inside if part is not node.this):
            raise Inexpressible("a window function over groups")
        if aggregate(of):
            return self.aggregated(of, scope, lambda made: self._over(node, made, scope))
        typed = self._ranked(of, scope)
        return typed._replace(node=self._over(node, typed.node, scope))

    def windows(self, node: exp.Select, scope: Scope) -> list[Node]:
        """The windows of a WINDOW clause."""
        return [
            make(exp.Window, this=named(window.this.name), **self._parts(window, scope))
            for window in node.args.get("windows") or []
        ]

    def _ranked(self, node: Node, scope: Scope) -> Typed:
        """The call of a function that is no aggregate."""
        rank = _RANKS.get(type(node))
        if rank is not None:
            if rank[1] == REAL and self.target.quote == "`":
                raise Inexpressible("a share of rows")  # MariaDB shows ten digits of it
            return Typed(call(rank[0]), rank[1])
        if isinstance(node, exp.Ntile):
            return Typed(call("NTILE", integer(self._number(node.this, scope))), INT)
        if type(node) not in _SHOWN:
            raise Inexpressible("window function")
        typed = self.value(node.this, scope)._replace(affinity="", constant=None)
        arguments = [typed.node]
        offset, default = node.args.get("offset"), node.args.get("default")
        if offset is not None:
            arguments.append(integer(self._number(offset, scope)))
        if default is not None:
            if self.target.quote == "`":
                raise Inexpressible("a default of LAG and LEAD")
            other = self.value(default, scope)
            kind = self.joined((typed.kind, other.kind))
            if kind not in (typed.kind, other.kind):
                raise Inexpressible("values of several types in one place")
            typed = typed._replace(kind=kind)
            arguments = [self.as_kind(typed, kind), arguments[1], self.as_kind(other, kind)]
        return typed._replace(node=call(_SHOWN[type(node)], *arguments))

    def _number(self, node: Node, scope: Scope) -> int:
        known = self.value(node, scope).constant
        if not isinstance(known, int):
            raise Inexpressible("a window function with a number that is computed")
        return known

    def _over(self, node: exp.Window, made: Node, scope: Scope) -> Node:
        word = node.args.get("alias")
        if word is not None:
            if any(node.args.get(part) for part in _PARTS):
                raise Inexpressible("a window that changes a named one")
            return make(exp.Window, this=made, alias=named(word.name), over="OVER")
        return make(exp.Window, this=made, over="OVER", **self._parts(node, scope))

    def _parts(self, node: Node, scope: Scope) -> dict[str, object]:
        parts: dict[str, object] = {}
        partition = node.args.get("partition_by")
        if partition:
            parts["partition_by"] = [self.value(key, scope).node for key in partition]
        order, spec = node.args.get("order"), node.args.get("spec")
        kinds: list[str] = []
        if order is not None:
            terms = []
            for term in order.expressions:
                typed = self.value(term.this, scope)
                if typed.constant is not None:
                    raise Inexpressible("a window in the order of a constant")
                kinds.append(typed.kind)
                terms.append(self.ordered(term, typed.node))
            parts["order"] = make(exp.Order, expressions=terms)
        if spec is not None:
            parts["spec"] = self._frame(spec, kinds)
        return parts

    def ordered(self, term: Node, this: Node) -> Node:
        """A term of ORDER BY, of what is written for it."""
        first, desc = bool(term.args.get("nulls_first")), bool(term.args.get("desc"))
        if not self.target.nulls and first == desc:
            raise Inexpressible("NULLS FIRST or NULLS LAST")
        return make(exp.Ordered, this=this, desc=desc, nulls_first=first)

    def _frame(self, node: Node, kinds: Sequence[str]) -> Node:
        made = make(exp.WindowSpec, kind=node.args["kind"], exclude=node.args.get("exclude"))
        ranged = self.target.name == "postgresql" and node.args["kind"] == "RANGE"
        for end in ("start", "end"):
            bound = node.args.get(end)
            if isinstance(bound, exp.Literal):
                bound = integer(int(bound.name))
                if ranged and REAL in kinds:
                    bound = cast(bound, self.target.types[REAL])
            elif bound is not None and not isinstance(bound, str):
                raise Inexpressible("a frame with a bound that is computed")
            put(made, end, bound)
            put(made, f"{end}_side", node.args.get(f"{end}_side"))
        if node.args.get("exclude") is not None:
            put(made, "exclude", make(exp.Var, this=node.args["exclude"].name))
        return made
