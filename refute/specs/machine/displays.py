"""Tuples, lists, sets and dicts as they are written out, and what is read out of them by `[…]`."""

from __future__ import annotations

import ast

from refute.specs.machine import overlaying, sugar
from refute.specs.machine import types as t
from refute.specs.machine.expressions import comparable, constant, number
from refute.specs.machine.ir import Expr
from refute.specs.machine.operators import Operators
from refute.specs.machine.values import cardinality


class Displays(Operators):
    """Expressions with displays and subscripts."""

    def _Subscript(self, node: ast.Subscript, want: t.Type | None) -> Expr:
        base = sugar.solid(self.expr(node.value))
        if isinstance(node.slice, ast.Slice):
            return self._slice(base, node.slice, node)
        return self.index(base, self.expr(node.slice), node)

    def index(self, base: Expr, key: Expr, node: ast.AST) -> Expr:
        """One element of a map, sequence or tuple."""
        if not isinstance(base.type, t.MapOf):
            key, _ = sugar.numbers(key, number(0))
        match base.type:
            case t.MapOf(wanted, value):
                if not comparable(wanted, key.type):
                    raise self.scope.refuse(
                        node, f"{t.show(key.type)} as a key of {t.show(base.type)}", "its key type"
                    )
                return Expr("index", value, (base, key))
            case t.SeqOf(elem, _) if isinstance(key.type, t.Int | t.Bool):
                return Expr("index", elem, (base, key))
            case t.Tuple(items) if key.op == "const" and type(key.data) is int:
                if -len(items) <= key.data < len(items):
                    return Expr("index", items[key.data], (base, number(key.data % len(items))))
            case t.Tuple(items) if isinstance(key.type, t.Int | t.Bool):
                row = Expr("toseq", t.SeqOf(t.join(items), len(items)), (base,))
                return self.index(row, key, node)
        raise self.scope.refuse(
            node,
            f"an index of type {t.show(key.type)} into {t.show(base.type)}",
            "a key of a Map, an int for a Seq, a fixed number for a tuple",
        )

    def _slice(self, base: Expr, part: ast.Slice, node: ast.AST) -> Expr:
        backwards = part.step is not None and ast.unparse(part.step) == "-1"
        if isinstance(base.type, t.SeqOf) and backwards and not (part.lower or part.upper):
            return sugar.backwards(self, base)
        if not isinstance(base.type, t.SeqOf) or part.step is not None:
            raise self.scope.refuse(node, f"a slice of {t.show(base.type)}", "seq[lo:hi]")
        ends = [
            self.expr(e) if e else constant(None, t.Nothing()) for e in (part.lower, part.upper)
        ]
        return Expr("slice", base.type, (base, *ends))

    def _Tuple(self, node: ast.Tuple, want: t.Type | None) -> Expr:
        if any(isinstance(e, ast.Starred) for e in node.elts):
            return sugar.listed(self, node.elts, "tuple")
        found = tuple(map(self.expr, node.elts))
        return Expr("tuple", t.Tuple(tuple(e.type for e in found)), found)

    def _List(self, node: ast.List, want: t.Type | None) -> Expr:
        if any(isinstance(e, ast.Starred) for e in node.elts):
            return sugar.listed(self, node.elts, "list")
        found = tuple(map(self.expr, node.elts))
        return Expr("seq", t.SeqOf(t.join(e.type for e in found), len(found)), found)

    def _Set(self, node: ast.Set, want: t.Type | None) -> Expr:
        self.scope.hashable(ast.Tuple(node.elts))
        if any(isinstance(e, ast.Starred) for e in node.elts):
            return sugar.listed(self, node.elts, "set")
        found = tuple(map(self.expr, node.elts))
        return Expr("setof", t.SetOf(t.join(e.type for e in found)), found)

    def _Dict(self, node: ast.Dict, want: t.Type | None) -> Expr:
        if None in node.keys:
            made = overlaying.updated(self, node, want)
            if made is not None:
                return made
            raise self.scope.refuse(
                node, "** in a dict, other than {**a_map, key: value},", "the entries"
            )
        keys = [self.expr(k) for k in node.keys if k is not None]
        values = [self.expr(v) for v in node.values]
        kind = self.map_type(keys, values, want, node)
        if want is None and len(keys) < cardinality(kind.key):
            what = f"a dict of fewer entries than {t.show(kind.key)} has values"
            raise self.scope.refuse(
                node, what, "an entry for each, {k: … for k in …}; or if and else"
            )
        flat = [e for pair in zip(keys, values, strict=True) for e in pair]
        return Expr("dict", kind, tuple(flat))

    def map_type(
        self, keys: list[Expr], values: list[Expr], want: t.Type | None, node: ast.AST
    ) -> t.MapOf:
        """The type of a map with these entries; its key type is that of the place it goes to."""
        value = t.join(v.type for v in values)
        wanted = [o for o in t.options(want) if isinstance(o, t.MapOf)] if want else []
        key = wanted[0].key if wanted else t.join(k.type for k in keys)
        if isinstance(key, t.Union) and not key.options:
            raise self.scope.refuse(node, "an empty dict", "a total map, {k: … for k in Sort}")
        return t.MapOf(key, value)
